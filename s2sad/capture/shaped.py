"""Functions that take any arguments, as functions of the parameters that one call fills.

    def scaled(*args, **kwargs):                    def scaled(x, *, w):
        return 2.0 * f(*args, **kwargs)      ->         args = (x,)
                                                        kwargs = {"w": w}
                                                        return 2.0 * f(*args, **kwargs)

    np.sum, called as np.sum(x, axis=0)      ->     def sum(a, *, axis):
                                                        if axis != 0:
                                                            raise ValueError(...)
                                                        return np.sum(a, axis=0)

So each argument has a position and a name, and its own derivative. A setting of a library's
function decides what its rule is: it is written out.
"""

from __future__ import annotations

import ast
import functools
import inspect
import keyword
import operator
import sys
import threading
import types
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import gast
import numpy as np

from s2sad import registry
from s2sad.capture.read import C_CALLABLES, Callee, read, remember_at, unwrap
from s2sad.derivative import is_decorated, is_operator
from s2sad.known.generators import generator_of
from s2sad.names import Names

P = inspect.Parameter
At = int | str  # an argument: by its position, or by its name
_MANY = (P.VAR_POSITIONAL, P.VAR_KEYWORD)
_KEPT = 512


@dataclass(frozen=True)
class Shape:
    """How a function is called: arguments by position, by name, and settings that are known."""

    given: int
    keywords: tuple[str, ...] = ()
    settings: tuple[tuple[At, Any], ...] = ()


def is_library(f: Any) -> bool:
    """Say whether a callable is known by its rule alone, whatever its parameters."""
    if isinstance(f, functools.partial):
        return is_library(f.func)
    if is_decorated(f):
        return is_library(f.__s2sad_primal__)
    if generator_of(f) is not None or is_operator(f) or not callable(f):
        return False
    if unwrap(f) is None:
        return isinstance(f, C_CALLABLES) or registry.rule_for(f) is not None
    own = isinstance(f, types.FunctionType) and not registry.is_foreign(f)
    return not own and registry.rule_for(f) is not None


def takes_any(callee: Callee) -> bool:
    """Say whether a function gathers arguments, by position or by name."""
    return bool(callee.fn.__code__.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS))


def shape_of(
    f: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    moving: Callable[[At], bool],
) -> Shape:
    """Return how a call calls a library's function; `moving` tells what is differentiated.

    Without arguments it is given those that it must have.
    """
    if not args and not kwargs:
        return Shape(_required(f))
    every: list[tuple[At, Any]] = [*enumerate(args), *kwargs.items()]
    if isinstance(f, np.ufunc):
        every = [(at, value) for at, value in every if isinstance(at, str)]
    settings = [(at, v) for at, v in every if is_setting(v) and not moving(at)]
    return Shape(len(args), tuple(kwargs), tuple(settings))


def argument_names(f: Any, given: int, keywords: tuple[str, ...]) -> list[str]:
    """Return the names of the arguments that a call of a library's function gives by position."""
    if is_decorated(f):
        return argument_names(f.__s2sad_primal__, given, keywords)
    if isinstance(f, functools.partial):
        return argument_names(f.func, len(f.args) + given, keywords)[len(f.args) :]
    return _parameter_names(f, Shape(given, keywords))


def _required(f: Any) -> int:
    """Return how many arguments a library's function must be given by position."""
    if isinstance(f, functools.partial):
        return max(0, _required(f.func) - len(f.args))
    if isinstance(f, np.ufunc):
        return f.nin
    try:
        listed = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return 1
    places = (P.POSITIONAL_ONLY, P.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in places and p.default is p.empty for p in listed)


def is_setting(value: Any) -> bool:
    """Say whether a value may be written out: a word, a truth value, an integer, a tuple."""
    if type(value) is tuple:
        return all(map(is_setting, value))
    return value is None or type(value) in (bool, int, str)


_lock = threading.Lock()
_closed: OrderedDict[Any, tuple[Any, Any, list[Any]]] = OrderedDict()


def closed(f: Any, shape: Shape) -> Any:
    """Return a callable that takes just the arguments of a shape, and does what `f` does."""
    if isinstance(f, functools.partial) and is_library(f):
        return functools.partial(closed(f.func, _with_bound(f, shape)), *f.args, **f.keywords)
    if is_decorated(f) and is_library(f):
        made = closed(f.__s2sad_primal__, shape)
        return made if f.__s2sad_wrt__ is None else Declared(made, f.__s2sad_wrt__)
    callee = None if is_library(f) else unwrap(f)
    fn: Any = f if callee is None else callee.fn
    given = shape
    if callee is not None:
        bound = len(callee.args)
        given = Shape(bound + shape.given, _both(callee.kwargs, shape.keywords))
    kept = [getattr(fn, n, None) for n in ("__code__", "__defaults__", "__kwdefaults__")]
    key = id(fn), given.given, given.keywords, repr(given.settings)
    with _lock:
        known = _closed.get(key)
    if known is None or known[0] is not fn or not all(map(operator.is_, known[2], kept)):
        made = _calling(f, given) if callee is None else _filled(callee, given)
        if callee is not None:
            made.__s2sad_of__ = callee.fn
        known = fn, made, kept
        with _lock:
            _closed[key] = known
            while len(_closed) > _KEPT:
                _closed.popitem(last=False)
    found = known[1]
    if callee is None:
        return found
    if callee.args or callee.kwargs:
        found = functools.partial(found, *callee.args, **callee.kwargs)
    return found if callee.wrt is None else Declared(found, callee.wrt)


def _with_bound(f: functools.partial[Any], shape: Shape) -> Shape:
    """Return how a partial calls its function, where it is called in a shape."""
    count = len(f.args)
    bound: list[tuple[At, Any]] = [*enumerate(f.args)]
    bound += [(n, v) for n, v in f.keywords.items() if n not in shape.keywords]
    settings = [(at, v) for at, v in bound if is_setting(v)]
    settings += [(at + count if isinstance(at, int) else at, v) for at, v in shape.settings]
    return Shape(count + shape.given, _both(f.keywords, shape.keywords), tuple(settings))


@dataclass(frozen=True)
class Declared:
    """A function and the wrt that a decorator around it says."""

    __s2sad_primal__: Any
    __s2sad_wrt__: Any

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself."""
        return self.__s2sad_primal__(*args, **kwargs)


def inner(found: Any) -> Any:
    """Return the function behind what `closed` has returned, one for each function and shape."""
    while isinstance(found, Declared | functools.partial):
        found = found.__s2sad_primal__ if isinstance(found, Declared) else found.func
    return found


def _both(one: Iterable[str], other: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*one, *other)))


# --- the user's functions ------------------------------------------------------------------------


def _filled(callee: Callee, shape: Shape) -> Any:
    """Return a function of plain parameters, in which what is gathered is made of them."""
    fn = callee.fn
    source = read(fn)
    node: Any = gast.gast_to_ast(source.node)
    used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    used |= {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
    parameters = inspect.signature(fn, follow_wrapped=False).parameters
    plain = [p.name for p in parameters.values() if p.kind not in _MANY]
    extra = [n for n in shape.keywords if n not in plain]
    names = _names_of(callee, shape)
    if used & {*extra, *names[len(plain) :]}:
        return _calling(fn, shape, names)
    a = node.args
    own = len(a.posonlyargs) + len(a.args)
    more = names[own : shape.given]
    lines = []
    if a.vararg is not None:
        lines.append(f"{a.vararg.arg} = ({''.join(f'{n}, ' for n in more)})")
    if a.kwarg is not None:
        lines.append(f"{a.kwarg.arg} = {{{', '.join(f'{n!r}: {n}' for n in extra)}}}")
    if more:
        a.args += [ast.arg(n) for n in more]
        a.defaults = []
    a.kwonlyargs += [ast.arg(n) for n in extra]
    a.kw_defaults += [None] * len(extra)
    a.vararg = a.kwarg = None
    docs = 1 if ast.get_docstring(node) is not None else 0
    node.body[docs:docs] = [s for line in lines for s in ast.parse(line).body]
    for n in ast.walk(node):
        if isinstance(n, ast.stmt | ast.expr | ast.arg) and getattr(n, "lineno", None) is None:
            ast.copy_location(n, source.node)
    # Code that runs has its defaults from the function; the text has others.
    a.defaults = [ast.Constant(None) for _ in a.defaults]
    a.kw_defaults = [None if d is None else ast.Constant(None) for d in a.kw_defaults]
    ast.fix_missing_locations(node)
    made = _compiled(node, fn)
    made.__defaults__ = None if more else fn.__defaults__
    made.__kwdefaults__, made.__doc__ = fn.__kwdefaults__, fn.__doc__
    gathers: dict[Any, list[str]] = {P.VAR_POSITIONAL: more, P.VAR_KEYWORD: extra}
    for own_name, activity in fn.__annotations__.items():
        p = parameters.get(own_name)
        each = [own_name] if p is None else gathers.get(p.kind, [own_name])
        made.__annotations__.update(dict.fromkeys(each, activity))
    remember_at(made, node, source.lines)
    return made


def _compiled(node: Any, fn: types.FunctionType) -> Any:
    """Return the function of a definition, in the surroundings of another."""
    free = fn.__code__.co_freevars
    ret = ast.Return(ast.Name(node.name, ast.Load()))
    outer = ast.parse(f"def made({', '.join(free)}): pass").body[0]
    outer.body = [node, ret]  # type: ignore[attr-defined]
    node.decorator_list = []
    module = ast.fix_missing_locations(ast.Module([outer], []))
    whole = compile(module, fn.__code__.co_filename, "exec", dont_inherit=True)
    factory = next(c for c in whole.co_consts if isinstance(c, types.CodeType))
    code = next(c for c in factory.co_consts if isinstance(c, types.CodeType))
    code = code.replace(co_qualname=fn.__code__.co_qualname)
    cells = dict(zip(free, fn.__closure__ or (), strict=True))
    closure = tuple(cells[n] for n in code.co_freevars)
    made = types.FunctionType(code, fn.__globals__, fn.__name__, None, closure)
    made.__module__, made.__qualname__ = fn.__module__, fn.__qualname__
    return made


def _names_of(callee: Callee, shape: Shape) -> list[str]:
    """Return names of the arguments by position: those of the function, or that it wraps."""
    own = inspect.signature(callee.fn, follow_wrapped=False).parameters.values()
    plain = [p.name for p in own if p.kind in (P.POSITIONAL_ONLY, P.POSITIONAL_OR_KEYWORD)]
    star = next((p.name for p in own if p.kind is P.VAR_POSITIONAL), "args")
    wrapped = _wrapped_names(callee, shape)
    names = plain[: shape.given]
    taken = Names((*callee.fn.__code__.co_varnames, *plain, *shape.keywords))
    for i in range(len(names), shape.given):
        name = wrapped[i] if i < len(wrapped) else ""
        clash = not name or name in names or name in shape.keywords
        names.append(taken.fresh(f"{star}_{i - len(plain)}") if clash else name)
    return names


def _wrapped_names(callee: Callee, shape: Shape) -> list[str]:
    """Return the names of parameters of what functools.wraps says a function stands for."""
    if getattr(callee.fn, "__wrapped__", None) is None:
        return []
    try:
        found = inspect.signature(callee.fn)
        found.bind(*range(shape.given), **dict.fromkeys(shape.keywords))
    except (TypeError, ValueError):
        return []
    listed = found.parameters.values()
    return [p.name for p in listed if p.kind in (P.POSITIONAL_ONLY, P.POSITIONAL_OR_KEYWORD)]


# --- a library's functions -----------------------------------------------------------------------


@dataclass
class _Text:
    """The text of a call, and what its names mean."""

    names: Names
    shadowed: frozenset[str]
    means: dict[str, Any] = field(default_factory=dict)

    def word(self, base: str, value: Any) -> str:
        """Return a name for a value."""
        word = base if base.isidentifier() and not keyword.iskeyword(base) else "called"
        word = self.names.fresh(word)
        self.means[word] = value
        return word


def _calling(f: Any, shape: Shape, names: Sequence[str] | None = None) -> Any:
    """Return a function that calls `f` by its name with the arguments of a shape."""
    listed = _parameter_names(f, shape) if names is None else list(names)
    taken = frozenset((*listed, *shape.keywords))
    text = _Text(Names(taken), taken)
    settings = dict(shape.settings)
    lines = [_check(n, settings[at]) for at, n in _places(listed, shape) if at in settings]
    given = [repr(settings[i]) if i in settings else n for i, n in enumerate(listed)]
    passed = [f"{n}={settings[n]!r}" if n in settings else f"{n}={n}" for n in shape.keywords]
    lines.append(f"return {_call(f, text, given, passed)}")
    only = ["*", *shape.keywords] if shape.keywords else []
    own = getattr(f, "__name__", type(f).__name__)
    name = own if own.isidentifier() and not keyword.iskeyword(own) else "called"
    head = f"def {name}({', '.join([*listed, *only])}):"
    whole = "\n    ".join([head, *lines]) + "\n"
    home = str(getattr(f, "__module__", None) or type(f).__module__)
    file = f"<{home}>"
    space = {**text.means, "__name__": file}  # not of the library itself: it can be read
    tree = ast.parse(whole)
    made: Any = {}
    exec(compile(tree, file, "exec"), space, made)
    fn = made[name]
    fn.__doc__ = getattr(f, "__doc__", None)
    remember_at(fn, tree.body[0], tuple(whole.split("\n")))  # type: ignore[arg-type]
    return fn


def _places(listed: Sequence[str], shape: Shape) -> list[tuple[At, str]]:
    return [*enumerate(listed), *((n, n) for n in shape.keywords)]


def _check(name: str, value: Any) -> str:
    """Return the statement that refuses another setting than the one that is written out."""
    same = "is not" if value is None or isinstance(value, bool) else "!="
    message = f"this was derived for {name}={value!r}"
    return f"if {name} {same} {value!r}: raise ValueError({message!r})"


def _parameter_names(f: Any, shape: Shape) -> list[str]:
    """Return names of the arguments by position, as the function has them where it says so."""
    if isinstance(f, np.ufunc):
        own = ["x"] if f.nin == 1 else [f"x{i}" for i in range(1, f.nin + 1)]
    else:
        try:
            listed = inspect.signature(f).parameters.values()
        except (TypeError, ValueError):
            listed = {}.values()
        own = [p.name for p in listed if p.kind in (P.POSITIONAL_ONLY, P.POSITIONAL_OR_KEYWORD)]
    fallback = ["x", "y", "z"] if not own else []
    names = [*own, *fallback][: shape.given]
    taken = Names((*names, *shape.keywords))
    return [*names, *(taken.fresh(f"args_{i}") for i in range(len(names), shape.given))]


def _call(f: Any, text: _Text, given: Sequence[str], passed: Sequence[str]) -> str:
    """Return the text of a call, under the name that a reader knows the function by."""
    own = getattr(f, "__name__", "")
    if isinstance(f, types.MethodDescriptorType | types.WrapperDescriptorType) and given:
        return f"{given[0]}.{own}({', '.join([*given[1:], *passed])})"
    rest = ", ".join([*given, *passed])
    owner = getattr(f, "__self__", None)
    of_object = owner is not None and not isinstance(owner, types.ModuleType | type)
    if of_object and not isinstance(owner, np.ufunc):
        return f"{text.word('owner', owner)}.{own}({rest})"
    return f"{_path(f, text)}({rest})"


def _path(f: Any, text: _Text) -> str:
    """Return a dotted name for a function, which begins at a module where it has one."""
    owner = getattr(f, "__self__", None)
    if isinstance(owner, np.ufunc):
        return f"{_path(owner, text)}.{f.__name__}"
    home = str(getattr(f, "__module__", None) or "numpy")
    own = str(getattr(f, "__name__", ""))
    module = sys.modules.get(home)
    if home == "builtins" and own not in text.shadowed:
        return own
    if getattr(module, own, None) is not f or "._" in f".{home}":
        return text.word(own, f)
    if home.partition(".")[0] == "numpy":
        return ".".join([text.word("np", np), *home.split(".")[1:], own])
    return f"{text.word(home.rpartition('.')[2], module)}.{own}"
