"""Which functions are differentiated as one call calls them, and as what.

takes_shape(np.sum, None)              True: a library's function is known by its rule alone
takes_shape(f, None)                   True for def f(*args), whose first argument is meant
fitted(f, (x, y))                      def f(args_0, args_1), which does what f(x, y) does
plain_callee(obj.method)               Callee(Class.method, (obj,)), found out once
"""

from __future__ import annotations

import inspect
import types
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from s2sad import registry
from s2sad.activities import Const, annotated
from s2sad.capture.read import Callee, unwrap
from s2sad.capture.shaped import (
    Shape,
    argument_names,
    closed,
    is_library,
    shape_of,
    takes_any,
)

P = inspect.Parameter
_known: weakref.WeakKeyDictionary[types.FunctionType, registry.Unruled]
_known = weakref.WeakKeyDictionary()


def takes_shape(f: Any, wrt: Any, every: bool = False, skipped: int = 0) -> bool:
    """Say whether what is differentiated depends on how `f` is called.

    So it is for a library's function, and where an argument is meant that `*args` gathers: by its
    position, or by a name that is none of the function's own. `every` argument may be one. Of the
    arguments the first `skipped` are not differentiated.
    """
    known = plain_callee(f)
    if known is not None and not takes_any(known):
        return False
    if not callable(f):
        return False
    if is_of_any_shape(f) or is_library(f):
        return True
    callee = unwrap(f)
    if callee is None or not takes_any(callee):
        return False
    wrt = callee.wrt if wrt is None else wrt
    if wrt is not None:
        asked = wrt if isinstance(wrt, tuple) else (wrt,)
        return any(_is_gathered(callee, one) for one in asked)
    declared = annotated(callee.fn)
    if declared:
        active = {n for n, activity in declared.items() if activity is not Const}
        gathering = {p.name for p in _parameters(callee) if p.kind in _MANY}
        return bool(gathering & active) if active else not gathering <= declared.keys()
    plain = [p for p in _parameters(callee) if p.kind not in _MANY and p.name not in callee.kwargs]
    return every or len(plain) <= len(callee.args) + skipped


_MANY = (P.VAR_POSITIONAL, P.VAR_KEYWORD)


def is_of_any_shape(value: Any) -> bool:
    """Say whether an object is a derivative that is another one for each way to call it."""
    return getattr(type(value), "__s2sad_any_shape__", False) is True


def _parameters(callee: Callee) -> list[inspect.Parameter]:
    return [*inspect.signature(callee.fn, follow_wrapped=False).parameters.values()]


def _is_gathered(callee: Callee, wrt: Any) -> bool:
    """Say whether a position or a name is that of an argument that `*args` or `**kw` gathers."""
    parameters = _parameters(callee)
    if isinstance(wrt, str):
        return wrt.partition(".")[0] not in {p.name for p in parameters}
    plain = [p for p in parameters if p.kind in (P.POSITIONAL_ONLY, P.POSITIONAL_OR_KEYWORD)]
    return not isinstance(wrt, int) or not 0 <= wrt < len(plain) - len(callee.args)


def fitted(
    f: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    wrt: Any = None,
    every: bool = False,
    skipped: int = 0,
) -> Any:
    """Return a function that takes what a call gives, each argument by a name of its own."""
    if not takes_shape(f, wrt, every, skipped):
        return f
    return fit(f, args, {} if kwargs is None else kwargs, wrt, every)


def fit(
    f: Any, args: Sequence[Any], kwargs: Mapping[str, Any], wrt: Any = None, every: bool = False
) -> Any:
    """Return a function that takes what a call gives: of one that is known to take any."""
    if is_of_any_shape(f):
        return f.of(args, kwargs)
    if not is_library(f):
        return closed(f, Shape(len(args), tuple(kwargs)))
    args, kwargs = [*map(_bare, args)], {n: _bare(v) for n, v in kwargs.items()}
    return closed(f, shape_of(f, args, kwargs, _asked(f, args, kwargs, wrt, every)))


def _bare(value: Any) -> Any:
    return value.value if isinstance(value, Const) else value


def _asked(
    f: Any, args: Sequence[Any], kwargs: Mapping[str, Any], wrt: Any, every: bool
) -> Callable[[int | str], bool]:
    """Return what tells whether an argument is asked for, which a setting never is."""
    if wrt is None:
        first = 0 if args else next(iter(kwargs), None)
        return lambda at: not every and at == first
    asked = wrt if isinstance(wrt, tuple) else (wrt,)
    names = [*argument_names(f, len(args), tuple(kwargs)), *kwargs]
    chosen = {names.index(w) if w in names else w for w in asked}
    chosen = {w + len(names) if isinstance(w, int) and w < 0 else w for w in chosen}
    places = [*range(len(args)), *kwargs]
    found = {places[w] for w in chosen if isinstance(w, int) and w < len(places)}
    return lambda at: at in found


def plain_callee(f: Any) -> Callee | None:
    """Return what calling a plain function, or a method that is one, amounts to; else None."""
    if type(f) is types.FunctionType:
        return Callee(f) if _is_plain(f) else None
    if type(f) is not types.MethodType or type(f.__func__) is not types.FunctionType:
        return None
    ruled = registry.rule_for(f) is not None
    return None if ruled or not _is_plain(f.__func__) else Callee(f.__func__, (f.__self__,))


def _is_plain(fn: types.FunctionType) -> bool:
    """Say whether a function has no rule, carries no mark of s2sad's and stands for itself."""
    if fn.__dict__ and any(n.startswith("__s2sad") for n in fn.__dict__):
        return False
    known = _known.get(fn)
    if known is not None and known.fresh:
        return True
    unruled = registry.Unruled()
    plain = unwrap(fn) == Callee(fn) and unruled(fn)
    if plain:
        _known[fn] = unruled
    return plain
