"""Parameters: how a call's arguments are bound, and which of them are differentiated.

Parameters.of(callee)          names, defaults and what a method or partial binds already
choose(parameters, wrt)        which parameters `wrt` or the annotations name
settle(choice, kinds, ...)     the same for given kinds of the arguments, or an ActivityError
"""

from __future__ import annotations

import dis
import functools
import inspect
import operator
import re
import sys
import types
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2sad import kinds as K
from s2sad.activities import Activity, BatchDuplicated, Const, annotated
from s2sad.errors import ActivityError, CallError
from s2sad.kinds import Kind
from s2sad.operators.guard import UNSET
from s2sad.selected import Selected

Wrt = int | str | tuple[int | str, ...] | None
_LONG = 30
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True)
class Listed:
    """The parameters in a signature, of which the first `skipped` are bound already."""

    signature: inspect.Signature
    skipped: int = 0
    fixed: frozenset[str] = frozenset()
    chosen: dict[str, Choice] = field(default_factory=dict)  # what some wrt chooses of them

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """All parameters, those bound already included."""
        return tuple(self.signature.parameters)

    @functools.cached_property
    def open(self) -> tuple[str, ...]:
        """The parameters that a call gives arguments to."""
        bound = 0
        names = []
        for p in self.signature.parameters.values():
            if p.kind in _POSITIONAL and bound < self.skipped:
                bound += 1
            elif p.name not in self.fixed:
                names.append(p.name)
        return tuple(names)

    @functools.cached_property
    def is_simple(self) -> bool:
        """Say whether all parameters can be given by position, and none takes several."""
        listed = self.signature.parameters.values()
        return not self.fixed and all(p.kind in _POSITIONAL for p in listed)


class _InOrder(inspect.BoundArguments):
    """All arguments of a call, which can be given by position."""

    @property
    def args(self) -> tuple[Any, ...]:
        """The arguments."""
        return tuple(self.arguments.values())

    @property
    def kwargs(self) -> dict[str, Any]:
        """None are given by name."""
        return {}


# The signatures of functions, and what these were read from: they do not hold the functions.
_signatures: weakref.WeakKeyDictionary[
    types.FunctionType, tuple[tuple[Any, ...], dict[Any, Listed]]
]
_signatures = weakref.WeakKeyDictionary()


def _listed(fn: types.FunctionType, skipped: int, fixed: frozenset[str]) -> Listed:
    """Return the parameters of a function, read again where it has changed."""
    seen = (*_outside(fn), fn.__dict__.get("__signature__"), *fn.__annotations__.values())
    known = _signatures.get(fn)
    if known is None or len(known[0]) != len(seen) or not all(map(operator.is_, known[0], seen)):
        known = _signatures[fn] = seen, {}
    listed = known[1].get((skipped, fixed))
    if listed is None:
        signature = inspect.signature(fn, follow_wrapped=False)
        listed = known[1][skipped, fixed] = Listed(signature, skipped, fixed)
    return listed


@dataclass(frozen=True)
class Parameters:
    """The parameters of a function, of which some may be bound already."""

    fn: types.FunctionType
    listed: Listed
    made_from: tuple[Any, ...] = ()

    @classmethod
    def of(
        cls, fn: types.FunctionType, skipped: int = 0, fixed: frozenset[str] = frozenset()
    ) -> Parameters:
        """Return the parameters of a function that gets `skipped` arguments before the call's."""
        return cls(fn, _listed(fn, skipped, fixed), _outside(fn))

    def current(self) -> bool:
        """Say whether the function still has the parameters and defaults it had."""
        return all(map(operator.is_, _outside(self.fn), self.made_from))

    @property
    def name(self) -> str:
        """The function's name in messages."""
        return self.fn.__name__ if self.fn.__name__ != "<lambda>" else "the lambda"

    @property
    def signature(self) -> inspect.Signature:
        """The signature of the function."""
        return self.listed.signature

    @property
    def skipped(self) -> int:
        """How many of the first parameters are bound already."""
        return self.listed.skipped

    @property
    def fixed(self) -> frozenset[str]:
        """The parameters that are bound by name."""
        return self.listed.fixed

    @property
    def names(self) -> tuple[str, ...]:
        """All parameters, those bound already included."""
        return self.listed.names

    @property
    def open(self) -> tuple[str, ...]:
        """The parameters that a call gives arguments to."""
        return self.listed.open

    @property
    def is_simple(self) -> bool:
        """Say whether all parameters can be given by position, and none takes several."""
        return self.listed.is_simple

    @functools.cached_property
    def unread(self) -> frozenset[str]:
        """The parameters that the function's code never mentions: their kinds do not matter."""
        return frozenset(self.names) - _mentioned(self.fn.__code__)

    @functools.cached_property
    def unset_defaults(self) -> tuple[Any, ...]:
        """UNSET for each parameter that can be left out."""
        listed = [self.signature.parameters[n] for n in self.open]
        return (UNSET,) * sum(p.default is not p.empty for p in listed)

    def visible(self) -> inspect.Signature:
        """Return the signature of what is called: without the arguments bound already."""
        listed = [p for p in self.signature.parameters.values() if p.name in self.open]
        return inspect.Signature(listed)

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> inspect.BoundArguments:
        """Bind all arguments of a call as Python would, defaults included."""
        if self.is_simple and not kwargs and len(args) == len(self.names):
            by_name: Any = dict(zip(self.names, args, strict=True))
            return _InOrder(self.signature, by_name)
        handled = sys.exc_info()[1]
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            error.__context__ = handled
            taken = f"{self.name} takes {self.shown()}"
            raise CallError(f"{self._misfit(error, args, kwargs)}; {taken}") from error
        given = set(bound.arguments)
        bound.apply_defaults()
        for n, value in (self.fn.__kwdefaults__ or {}).items():
            if n not in given:
                bound.arguments[n] = value
        return bound

    def _misfit(
        self, error: TypeError, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> TypeError:
        """Return the error that Python raises, rather than that of a signature."""
        try:
            inspect.getcallargs(self.fn, *args, **kwargs)
        except TypeError as found:
            return found
        return error

    @functools.cached_property
    def gathering(self) -> Parameters | None:
        """Those of the function as it is written, where it gathers arguments without names."""
        of = getattr(self.fn, "__s2sad_of__", None)
        if of is None or self.called == self.open:
            return None
        return Parameters.of(of, self.skipped, self.fixed)

    @functools.cached_property
    def called(self) -> tuple[str, ...]:
        """What users call the open parameters: `args[0]` for one that `*args` gathers."""
        of = getattr(self.fn, "__s2sad_of__", None)
        if of is None or not of.__code__.co_flags & inspect.CO_VARARGS:
            return self.open
        star = of.__code__.co_varnames[of.__code__.co_argcount + of.__code__.co_kwonlyargcount]
        return tuple(re.sub(rf"^{star}_(\d+)$", rf"{star}[\1]", n) for n in self.open)

    def shown(self) -> str:
        """Return the parameters of what is called, as they are written: `(x, y=2.0)`."""
        listed = []
        for p in self.visible().parameters.values():
            default = p.default
            if default is not p.empty and len(repr(default)) > _LONG:
                default = ...
            listed.append(p.replace(annotation=p.empty, default=default))
        return str(inspect.Signature(listed)).replace("=Ellipsis", "=...")


def unfolded(
    parameters: Parameters, bound: int, args: tuple[Any, ...]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call that gives some in order, those left out as UNSET.

    The first `bound` parameters are not among them.
    """
    if all(arg is not UNSET for arg in args):
        return args, {}
    count = next(i for i, arg in enumerate(args) if arg is UNSET)
    rest = zip(parameters.names[bound + count :], args[count:], strict=True)
    return args[:count], {n: arg for n, arg in rest if arg is not UNSET}


@functools.lru_cache(1000)
def _mentioned(code: types.CodeType) -> frozenset[str]:
    """Return the variables that code reads or writes."""
    mentioned: set[str] = set()
    for instruction in dis.get_instructions(code):
        if any(word in instruction.opname for word in ("FAST", "DEREF", "CLOSURE", "CELL")):
            value: Any = instruction.argval
            mentioned.update(value if isinstance(value, tuple) else (value,))
    return frozenset(mentioned)


def _outside(fn: types.FunctionType) -> tuple[Any, ...]:
    return fn.__code__, fn.__defaults__, fn.__kwdefaults__


@dataclass(frozen=True)
class Choice:
    """The parameters to differentiate; unless `must`, those of them that can be."""

    names: tuple[str, ...]
    must: bool
    single: bool | None = None
    picked: tuple[Selected, ...] = ()  # parts of them in the order wanted, if wrt names any


def choose(
    parameters: Parameters,
    wrt: Wrt,
    every: bool = False,
    given: int | None = None,
    activities: Mapping[str, type[Activity]] | None = None,
) -> Choice:
    """Return which parameters are differentiated: `wrt` says, or the annotations, or custom.

    Custom is the first parameter, or with `every` all of the first `given` that can be.
    """
    activities = annotated(parameters.fn) if activities is None else activities
    if wrt is not None:
        known = parameters.listed.chosen.get(repr(wrt)) if not activities else None
        return _by_wrt(parameters, wrt, activities) if known is None else known
    active = tuple(n for n in parameters.names if _is_active(activities.get(n)))
    if active:
        return Choice(active, True)
    if activities:
        return Choice(tuple(n for n in parameters.open if n not in activities), False)
    if not parameters.open:
        raise ActivityError(
            f"{parameters.name} has no parameter to differentiate.",
            remedy="Make the value that it depends on a parameter.",
        )
    if every:
        return Choice(parameters.open[:given], False)
    return Choice(parameters.open[:1], True)


def _is_active(activity: type[Activity] | None) -> bool:
    if activity is BatchDuplicated:
        raise ActivityError(
            "BatchDuplicated is not an annotation: it wraps an argument together with its shadows.",
            remedy="Annotate the parameter Duplicated or Active.",
        )
    return activity is not None and activity is not Const


def _by_wrt(parameters: Parameters, wrt: Any, activities: Mapping[str, type[Activity]]) -> Choice:
    if isinstance(wrt, tuple):
        picked = tuple(_named(parameters, w) for w in wrt)
        if not picked:
            raise ActivityError(
                "wrt=() names no parameter.", remedy=f"{_told(parameters)}: name at least one."
            )
    else:
        picked = (_named(parameters, wrt),)
    for one in picked:
        if any(other is not one and other.holds(one) for other in picked):
            raise ActivityError(f"wrt={wrt!r} names {one} twice.", remedy="Name it once.")
    names = tuple(dict.fromkeys(one.parameter for one in picked))
    for n in names:
        if activities.get(n) is Const:
            raise ActivityError(
                f"wrt names {n}, which {parameters.name} declares Const.",
                remedy=f"Drop {n} from wrt, or annotate it Active.",
            )
    parts = picked if any(one.path for one in picked) else ()
    made = Choice(names, True, not isinstance(wrt, tuple), parts)
    parameters.listed.chosen[repr(wrt)] = made
    return made


def _named(parameters: Parameters, wrt: Any) -> Selected:
    if isinstance(wrt, str):
        if wrt.partition(".")[0] not in parameters.names:
            raise ActivityError(
                f"wrt={wrt!r} names no parameter of {parameters.name}.",
                remedy=f"{_told(parameters)}.",
            )
        return Selected.of(wrt)
    if not isinstance(wrt, int | np.integer) or isinstance(wrt, bool):
        raise ActivityError(
            f"wrt needs a position, a name, or a tuple of these, not {wrt!r}.",
            remedy=f"{_told(parameters)}.",
        )
    if not -len(parameters.open) <= wrt < len(parameters.open):
        if parameters.gathering is not None:
            raise ActivityError(
                f"{_given(parameters, parameters.gathering)}; wrt={wrt} is not one of their "
                f"positions {', '.join(map(str, range(len(parameters.open))))}.",
                remedy="Name one of these positions.",
            )
        raise ActivityError(
            f"wrt={wrt} names no parameter: {parameters.name} has {len(parameters.open)}.",
            remedy=f"{_told(parameters)}.",
        )
    return Selected(parameters.open[wrt])


def _given(parameters: Parameters, own: Parameters) -> str:
    count = len(parameters.open)
    return f"{own.name}{own.shown()} was given {count} argument{'s' if count > 1 else ''}"


def _told(parameters: Parameters) -> str:
    own = parameters.gathering
    if own is not None:
        return f"{_given(parameters, own)}: {', '.join(parameters.called)}"
    return f"The parameters of {parameters.name} are {', '.join(parameters.names) or 'none'}"


@dataclass(frozen=True)
class Settled:
    """What is derived for given kinds: kinds, parameters to differentiate, ints taken as floats."""

    params: tuple[tuple[str, Kind], ...]
    wrt: tuple[str, ...]
    single: bool
    as_float: tuple[str, ...]
    picked: tuple[Selected, ...] = ()

    def results(self) -> tuple[Selected, ...]:
        """Return what there are derivatives by, in their order."""
        return self.picked or tuple(map(Selected, self.wrt))


def settle(parameters: Parameters, choice: Choice, kinds: Mapping[str, Kind]) -> Settled:
    """Return which parameters are differentiated, given the kinds of all; raises ActivityError."""
    kinds = dict(kinds)
    for n, kind in kinds.items():
        _refuse_wrapper(n, kind)
    wrt = choice.names
    if not choice.must:
        wrt = tuple(n for n in wrt if can_be(kinds[n]))
        if not wrt:
            raise ActivityError(
                f"No argument of {parameters.name} can be differentiated.",
                remedy="Pass floats or arrays of floats.",
            )
    for one in choice.picked:
        _check(str(one), one.kind(kinds[one.parameter]))
    as_float = tuple(n for n in wrt if _is_int(kinds[n]))
    for n in as_float:
        kinds[n] = K.FLOAT
    for n in wrt:
        _check(n, kinds[n])
    single = len(wrt) == 1 if choice.single is None else choice.single
    return Settled(tuple(kinds.items()), wrt, single, as_float, choice.picked)


def can_be(kind: Kind) -> bool:
    """Say whether an argument of a kind can be differentiated."""
    return K.differentiable(kind) and not isinstance(kind, K.Unknown | K.Opaque)


def _is_int(kind: Kind) -> bool:
    return isinstance(kind, K.Num) and kind.type == "int" and kind.dtype is None


def _refuse_wrapper(name: str, kind: Kind) -> None:
    if isinstance(kind, K.Obj) and issubclass(kind.cls, Activity):
        word = kind.cls.__name__
        raise ActivityError(
            f"Argument {name} is wrapped in {word}(...), which only autodiff accepts.",
            remedy=(
                f"Pass the value itself, and use wrt= or an annotation `{name}: {word}` to "
                "say what is differentiated."
            ),
        )


def _check(name: str, kind: Kind) -> None:
    """Refuse an argument that cannot be active."""
    if isinstance(kind, K.Num) and kind.type == "bool":
        reason, remedy = "is a bool, which has no derivative.", "Pass a float, or leave it out."
    elif isinstance(kind, K.Num) and kind.type == "int":
        named = f" ({kind.dtype})" if kind.dtype else ""
        reason = f"is an integer{named}, which has no derivative."
        remedy = f"Pass float({name})."
    elif isinstance(kind, K.Array) and not K.is_float_dtype(kind.dtype):
        reason = f"is {K.describe(kind)}, which has no derivative."
        remedy = f"Pass {name}.astype(float)."
    elif isinstance(kind, K.Opaque):
        reason = f"is {K.describe(kind)}, which s2sad cannot differentiate."
        remedy = "Pass the array of its values, and make the object in the function."
    elif isinstance(kind, K.Unknown):
        reason = f"is {kind.why or 'of unknown type'}, which s2sad cannot differentiate."
        remedy = "Pass a float, a plain NumPy array, or a structure of these."
        if hasattr(kind.cls, "to_numpy"):
            remedy = f"Pass {name}.to_numpy()."
        elif hasattr(kind.cls, "__array__"):
            remedy = f"Pass np.asarray({name})."
    elif not K.differentiable(kind) and not (K.is_empty(kind) or kind == K.Tuple(())):
        reason = f"{_no_floats(kind)}."
        remedy = f"Leave {name} out of what is differentiated."
        if _holds_ints(kind):
            remedy = f"Pass floats: the integers in {name} carry no derivative."
    else:
        kept = _kept(kind)
        if kept is None:
            return
        cls, attr = kept
        reason = (
            f"holds `{attr}`, which `{cls.__name__}.{attr}` has already computed from other "
            "attributes and cached: the derivatives with respect to those attributes would "
            "be wrong."
        )
        remedy = (
            f"Delete the cached value first, as in `del {name}.{attr}`; it is then computed again."
        )
    raise ActivityError(f"Argument {name} {reason}", remedy=remedy)


def _kept(kind: Kind) -> tuple[type, str] | None:
    """Return a cached property that an object, or one in a structure, holds a value of."""
    if isinstance(kind, K.Obj):
        for n, part in kind.fields:
            static = inspect.getattr_static(kind.cls, n, None)
            if isinstance(static, functools.cached_property) and K.differentiable(part):
                return kind.cls, n
    return next((found for found in map(_kept, kind.inside) if found is not None), None)


def _holds_ints(kind: Kind) -> bool:
    """Say whether a structure holds integers, or arrays of them, where floats could stand."""
    if isinstance(kind, K.Num):
        return kind.type == "int"
    if isinstance(kind, K.Array):
        return not K.is_float_dtype(kind.dtype)
    return any(map(_holds_ints, kind.inside))


def _no_floats(kind: Kind) -> str:
    if kind.structure:
        return f"is {K.describe(kind)} that holds no floats: there is nothing to differentiate"
    if isinstance(kind, K.Known):
        shown = getattr(kind.value, "__name__", repr(kind.value))
        return f"is {shown}, a {type(kind.value).__name__}: it has no derivative"
    return f"is {K.describe(kind)}, which has no derivative"
