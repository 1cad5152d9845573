"""What autodiff is given: arguments in their activities, and shadows built like them.

unwrapped({"A": Duplicated(A, A_bar), "n": 3})     the values, and the shadows of some
pattern(...)                                       which parameters are Active, shadowed or Const
"""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2sad import kinds as K
from s2sad.activities import Active, Activity, BatchDuplicated, Const, Duplicated, annotated
from s2sad.errors import ActivityError, an
from s2sad.kinds import Kind
from s2sad.known.joined import joins
from s2sad.operators.cotangents import caster, holds_integers, mirror, needs_mirror
from s2sad.operators.parameters import Parameters, Wrt, can_be, choose
from s2sad.runtime import attributes, private
from s2sad.tree import is_array, leaves


class Mode(enum.Enum):
    """The mode of autodiff: `Reverse` accumulates cotangents, `Forward` propagates tangents."""

    REVERSE = "Reverse"
    FORWARD = "Forward"

    def __repr__(self) -> str:
        return self.value


Reverse = Mode.REVERSE
Forward = Mode.FORWARD


@dataclass(frozen=True)
class Pattern:
    """The activities of a function's parameters, and whether the result has a seed.

    A seed that is None is there where the result wants one.
    """

    active: tuple[str, ...]
    shadowed: tuple[str, ...]
    constant: frozenset[str]
    seeded: bool | None = None
    batch: bool = False


@dataclass
class Given:
    """Arguments without their activities: by parameter the value, the wrapper and the shadows."""

    values: dict[str, Any] = field(default_factory=dict)
    wrappers: dict[str, type[Activity]] = field(default_factory=dict)
    shadows: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    batch: bool = False

    @property
    def width(self) -> int:
        """In how many directions the reverse runs."""
        return max(map(len, self.shadows.values()), default=1)


def require_mode(mode: Any) -> None:
    """Raise for anything but a mode."""
    if mode not in (Forward, Reverse):
        raise ValueError(f"autodiff needs a mode, s2sad.Reverse or s2sad.Forward, not {mode!r}")


def pushed_pattern(parameters: Parameters, given: Given, kinds: Mapping[str, Kind]) -> Pattern:
    """Return the activities of a forward sweep: what is Duplicated has a tangent, nothing else."""
    declared = annotated(parameters.fn)
    for n, kind in kinds.items():
        wrapper = given.wrappers.get(n)
        if wrapper in (Duplicated, BatchDuplicated) and declared.get(n) is Const:
            raise ActivityError(
                f"Argument {n} is wrapped in {wrapper.__name__}(...), but {parameters.name} "
                "declares it Const.",
                remedy=f"Wrap it in Const, or annotate {n} Duplicated.",
            )
        bare = wrapper is None and n in parameters.open and declared.get(n) is not Const
        if wrapper is Active or (bare and can_be(kind) and not isinstance(kind, K.Known)):
            raise ActivityError(
                f"Argument {n} has no tangent.",
                remedy=f"Pass Duplicated({n}, {n}_dot), or Const({n}).",
            )
    if not given.shadows:
        raise ActivityError(
            f"No argument of {parameters.name} has a tangent.",
            remedy="Wrap one in Duplicated(..., tangent).",
        )
    moving = tuple(n for n in kinds if n in given.shadows)
    constant = frozenset(set(parameters.names) - set(moving))
    return Pattern((), moving, constant, batch=given.batch)


def unwrapped(arguments: Mapping[str, Any], forward: bool = False) -> Given:
    """Take arguments out of their activities, and check the shadows.

    In a `forward` sweep they are tangents, and those of numbers are numbers.
    """
    given = Given()
    for n, value in arguments.items():
        _refuse_inside(n, value)
        if not isinstance(value, Active | Const | Duplicated | BatchDuplicated):
            given.values[n] = value
            continue
        given.values[n] = value.value
        given.wrappers[n] = type(value)
        if isinstance(value, Duplicated):
            given.shadows[n] = (value.shadow,)
        elif isinstance(value, BatchDuplicated):
            given.batch = True
            given.shadows[n] = _listed_shadows(n, value.shadows)
    _same_width(given)
    for n, shadows in given.shadows.items():
        for i, shadow in enumerate(shadows):
            what = f"The shadow of {n}" if len(shadows) == 1 else f"Shadow {i} of {n}"
            if forward:
                _check_entry(what, given.values[n], shadow, forward)
            else:
                _check_shadow(what, given.values[n], shadow)
    return given


def let_integers_stand(value: Any, shadow: Any, within: bool = False) -> Any:
    """Return the shadow of a value in which integers among floats, `within`, do not move.

    To derived code they are floats: what a shadow holds there would be their tangents.
    """
    if within and isinstance(value, int | np.integer | np.bool_):
        return 0.0
    within = within or (joins(value) and bool(leaves(value)))
    if isinstance(value, tuple):
        pairs = zip(value, shadow, strict=True)
        parts = [let_integers_stand(part, part_shadow, within) for part, part_shadow in pairs]
        make: Any = getattr(type(value), "_make", tuple)
        return make(parts)
    if isinstance(value, list | dict):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            shadow[key] = let_integers_stand(part, shadow[key], within)
    else:
        for n, part in attributes(value).items():
            object.__setattr__(shadow, n, let_integers_stand(part, getattr(shadow, n), within))
    return shadow


def _refuse_inside(name: str, value: Any) -> None:
    parts: Any = ()
    if isinstance(value, list | tuple):
        parts = value
    elif isinstance(value, dict):
        parts = value.values()
    if any(isinstance(part, Activity) for part in parts):
        raise ActivityError(
            f"Argument {name} contains a value that is wrapped in an activity.",
            remedy=(
                "Put the activity around the whole argument, with a shadow of the same structure."
            ),
        )


def _listed_shadows(name: str, shadows: Any) -> tuple[Any, ...]:
    if not isinstance(shadows, tuple | list) or not shadows:
        raise ActivityError(
            f"BatchDuplicated needs a tuple of shadows for {name}.",
            remedy=f"Give BatchDuplicated({name}, (first, second)).",
        )
    return tuple(shadows)


def _same_width(given: Given) -> None:
    widths = {n: len(s) for n, s in given.shadows.items()}
    if given.batch and len(set(widths.values())) > 1:
        shown = ", ".join(f"{n} has {w}" for n, w in widths.items())
        raise ActivityError(
            f"The Duplicated arguments have different numbers of shadows: {shown}.",
            remedy="Give every Duplicated argument one shadow for each direction.",
        )


def pattern(parameters: Parameters, given: Given, kinds: Mapping[str, Kind], wrt: Wrt) -> Pattern:
    """Return the activities: the wrappers say them, for plain values wrt or the annotations.

    `wrt` is for source text: what it names is shadowed where it can be.
    """
    declared = annotated(parameters.fn)
    for n, wrapper in given.wrappers.items():
        if declared.get(n) is Const and wrapper is not Const:
            raise ActivityError(
                f"Argument {n} is wrapped in {wrapper.__name__}(...), but {parameters.name} "
                "declares it Const.",
                remedy=f"Wrap it in Const, or annotate {n} Active or Duplicated.",
            )
    constant = {n for n, c in declared.items() if c is Const}
    constant |= {n for n, c in given.wrappers.items() if c is Const}
    constant |= set(parameters.names) - set(parameters.open)
    active = [n for n, c in given.wrappers.items() if c is Active]
    shadowed = [n for n, c in given.wrappers.items() if c in (Duplicated, BatchDuplicated)]
    plain = [n for n in kinds if n not in given.wrappers]
    chosen = choose(parameters, wrt, True, None) if plain else None
    for n in plain:
        if chosen is None or n not in chosen.names or not can_be(kinds[n]):
            continue
        if given.values and declared.get(n) is Duplicated and wrt is None:
            raise ActivityError(
                f"{parameters.name} declares {n} Duplicated, but its argument has no shadow.",
                remedy=f"Pass Duplicated({n}, {n}_bar).",
            )
        scalar = isinstance(kinds[n], K.Num)
        in_text = not given.values and not scalar and declared.get(n) is not Active
        (shadowed if in_text else active).append(n)
    if not active and not shadowed:
        raise ActivityError(
            f"No argument of {parameters.name} is marked for differentiation.",
            remedy="Wrap one in Active(...), or in Duplicated(..., shadow).",
        )
    order = list(kinds)
    return Pattern(
        tuple(sorted(active, key=order.index)),
        tuple(sorted(shadowed, key=order.index)),
        frozenset(constant),
        batch=given.batch,
    )


def reverse(
    call: Callable[..., Any],
    bound: inspect.BoundArguments,
    given: Given,
    activity: Pattern,
    seed: Any,
    name: str,
) -> tuple[Any, dict[str, Any]]:
    """Call a derived reverse, once or for each direction; return the value and what is Active."""
    if not activity.batch:
        own = [given.shadows[n][0] for n in activity.shadowed]
        result = call(*bound.args, **bound.kwargs, **_named(call, own))
        if not activity.active:
            return result, {}
        value, *bars = result
        return value, dict(zip(activity.active, bars, strict=True))
    value, pullback = call(*bound.args, **bound.kwargs)
    seeds = _seeds(seed, value, given, name) if activity.seeded else [()] * given.width
    collected: dict[str, list[Any]] = {n: [] for n in activity.active}
    for i, first in enumerate(seeds):
        result = pullback(*first, *(given.shadows[n][i] for n in activity.shadowed))
        for n, bar in zip(activity.active, result[1:] if result else (), strict=True):
            collected[n].append(bar)
    if given.batch:
        return value, {n: tuple(bars) for n, bars in collected.items()}
    return value, {n: bars[0] for n, bars in collected.items()}


def as_given(given: Given, activity: Pattern, kinds: dict[str, K.Kind]) -> dict[str, Any]:
    """Return copies of what is Active and whose derivative is still to be built like it."""
    named = [
        n for n in activity.active if needs_mirror(kinds[n]) or holds_integers(given.values[n])
    ]
    return {n: private(given.values[n]) for n in named}


def bar_of(
    bars: dict[str, Any], given: Given, activity: Pattern, name: str, before: dict[str, Any]
) -> Any:
    """Return the derivative of one argument, built as that was `before` the call."""
    if name in activity.active:
        if name not in before:
            return bars[name]
        if given.batch:
            return tuple(mirror(bar, before[name]) for bar in bars[name])
        return mirror(bars[name], before[name])
    if name not in given.shadows:
        return None
    return given.shadows[name] if given.batch else given.shadows[name][0]


def _named(call: Any, shadows: list[Any]) -> dict[str, Any]:
    """Return the shadows by their parameters: the last ones of the derived function."""
    code = call.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return dict(zip(names[len(names) - len(shadows) :], shadows, strict=True))


def _seeds(seed: Any, value: Any, given: Given, name: str) -> list[tuple[Any]]:
    """Return a seed for each direction, checked and cast as the result wants it."""
    each = [seed]
    if given.batch:
        if not isinstance(seed, tuple) or len(seed) != given.width:
            raise ActivityError(
                f"There are {given.width} directions: seed must be a tuple of the same length.",
                remedy=(
                    "Give seed=(first, second, ...), with one cotangent of the result for "
                    "each direction."
                ),
            )
        each = list(seed)
    cast = caster(value, f"The seed of {name}")
    return [(cast(s),) for s in each]


# --- shadows -------------------------------------------------------------------------------------


def _check_shadow(what: str, primal: Any, shadow: Any) -> None:
    """Raise where a shadow is not built like its primal, or cannot be added to in place."""
    if isinstance(primal, float | complex | np.inexact):
        raise ActivityError(
            f"{what}: a plain number cannot be changed in place.",
            remedy="Use Active, which returns the derivative, or an array of shape ().",
        )
    _check_part(what, primal, shadow)


def _check_part(what: str, primal: Any, shadow: Any, forward: bool = False) -> None:
    if is_array(primal):
        if primal.dtype.kind in "fc":
            _check_array(what, primal, shadow)
    elif isinstance(primal, list | tuple):
        _same_class(what, primal, shadow)
        if len(primal) != len(shadow):
            raise _mismatch(what, f"has {len(shadow)} entries, its primal {len(primal)}")
        for i, (part, part_shadow) in enumerate(zip(primal, shadow, strict=True)):
            if isinstance(primal, tuple) and not forward:
                _check_shadow(f"{what} at [{i}]", part, part_shadow)
            else:
                _check_entry(f"{what} at [{i}]", part, part_shadow, forward)
    elif isinstance(primal, dict):
        _same_class(what, primal, shadow)
        if primal.keys() != shadow.keys():
            raise _mismatch(what, f"has the keys {list(shadow)}, its primal {list(primal)}")
        for key, part in primal.items():
            _check_entry(f"{what} at [{key!r}]", part, shadow[key], forward)
    elif attributes(primal):
        _same_class(what, primal, shadow)
        for n, part in attributes(primal).items():
            if not hasattr(shadow, n):
                raise _mismatch(what, f"has no attribute {n}")
            _check_entry(f"{what} at .{n}", part, getattr(shadow, n), forward)


def _check_entry(what: str, primal: Any, shadow: Any, forward: bool = False) -> None:
    """A number in a list, a dict or an object is replaced by the sum."""
    if not isinstance(primal, float | complex | np.inexact):
        _check_part(what, primal, shadow, forward)
    elif not isinstance(shadow, int | float | complex | np.number):
        raise _mismatch(what, f"is {an(type(shadow).__name__)}; it must be a number")


def _check_array(what: str, primal: Any, shadow: Any) -> None:
    if not is_array(shadow) or type(shadow) is not type(primal):
        raise _mismatch(
            what, f"is {an(type(shadow).__name__)}; it must be an array, as its primal is"
        )
    if shadow.shape != primal.shape:
        raise _mismatch(what, f"has the shape {shadow.shape}, its primal {primal.shape}")
    if shadow.dtype != primal.dtype:
        raise _mismatch(what, f"is of {shadow.dtype}, its primal of {primal.dtype}")
    if isinstance(shadow, np.ndarray) and not shadow.flags.writeable:
        raise _mismatch(what, "is read-only, but the derivative is added into it")


def _same_class(what: str, primal: Any, shadow: Any) -> None:
    if type(shadow) is not type(primal):
        expected, found = type(primal).__name__, type(shadow).__name__
        raise _mismatch(what, f"is {an(found)}; it must be {an(expected)}, as its primal is")


def _mismatch(what: str, why: str) -> ActivityError:
    return ActivityError(
        f"{what} {why}.",
        remedy=(
            "A shadow must have the structure, shapes and dtypes of its primal; "
            "s2sad.tree_map makes one."
        ),
    )
