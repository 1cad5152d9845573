"""Check a rule: compare it with differences and with its other mode, and try awkward inputs.

    >>> from s2sad.testing import check_rule
    >>> check_rule(np.cumsum, np.array([1.0, 2.0, 3.0]))

Run `check_rule` first when you write a rule of your own; every row of the tables in tests/rules
goes through it. `differences` is the oracle and may be used by itself.
"""

from __future__ import annotations

import inspect
import types
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from s2sad.registry import Rule, is_ours, objects_of, positional_names, rule_for
from s2sad.rulebook.rehearsed import READ_ONLY, asks_for_none
from s2sad.rulebook.rule_forms import own_default
from s2sad.tools.oracle import (
    differences,
    flat_cotangent,
    flattened,
    inner,
    is_number,
    leaves_of,
    mapped,
    paired,
    random_like,
    shifted,
    zeros_of,
)
from s2sad.tools.orders import FirstOrderOnly, array_names, check_second

__all__ = ["FirstOrderOnly", "check_rule", "differences"]

_NUMBERS = (int, float, complex, np.generic, np.ndarray)


def check_rule(fn: Callable[..., Any], *args: Any, **settings: Any) -> None:
    """Check the rule of `fn` at these arguments; an AssertionError says what is wrong.

    >>> def cube(x):
    ...     return np.power(x, 3)
    >>> @s2sad.elementwise(cube)
    ... def cube_partial(out, x):
    ...     return 3.0 * x * x
    >>> s2sad.testing.check_rule(cube, np.array([0.5, -2.0]))

    check_rule differentiates the call `fn(*args, **settings)`. Floats, complex numbers, arrays of
    them and sequences of those are active; all other arguments are constant. It checks

    - the pullback (or the partials of an elementwise rule) against `differences`,
    - the pushforward against the pullback by an inner product, to 1e-12,
    - for a function declared without derivative, that differences are zero,
    - that cotangents have the shapes of their arguments, and are float32 for float32 arguments,
    - that the rule does not write to arguments or cotangents, and that strided, reversed,
      Fortran-ordered and read-only arguments give the same result,
    - shapes and differences for arrays of length 1 and 0 and for 0-d arrays, if fn and the rule
      accept them,
    - that derived code computes the same value as the plain call, to the last bit,
    - second derivatives in both modes against differences of first derivatives. If a rule declares
      that it has none (`once="why"`), a refusal gives only a `FirstOrderOnly` warning.

    Call check_rule once for every keyword, and at boundaries of the domain. It does not check
    CuPy's arrays; for those, s2sad's own tables run on a strict stand-in (tests/rules/conftest.py).

    Cotangents of complex arguments follow JAX: the pullback of a holomorphic function multiplies
    by its derivative, without conjugate; the inner product is `Re(sum(cotangent * tangent))`.
    """
    check_first(fn, *args, **settings)
    check_second(fn, *args, **settings)


def check_first(fn: Callable[..., Any], *args: Any, **settings: Any) -> None:
    """Check a rule by itself, as `check_rule` does, without deriving anything."""
    rule = rule_for(fn)
    assert rule is not None, f"{_name(fn)}: s2sad has no rule for it"
    call = _Call(rule, fn, args, settings).by_rule()
    names = call.names()
    rng = np.random.default_rng(1982)
    out = call.primal()
    _refuse_dicts(call, out)
    out_bar = random_like(out, rng)
    bars = _check_shapes(call, names, out, out_bar)
    for index, value in enumerate(call.arrays(names)):
        if not leaves_of(value) or names[index] in rule.unknown:
            continue
        for _ in range(2):
            direction = random_like(value, rng)
            if rule.is_zero(any(map(np.iscomplexobj, leaves_of(value)))):
                _check_zero(call, names, index, direction)
            if bars is not None:
                _check_differences(call, names, index, direction, out_bar, bars)
            if rule.partials is not None or rule.pushforward is not None:
                _check_forward(call, names, index, direction, out, out_bar, bars)
    _check_layouts(call, names, out, out_bar, bars)
    _check_single_precision(call, names, rng)
    _check_sizes(call, names, rng)


@dataclass(frozen=True)
class _Call:
    """One call of a function that has a rule."""

    rule: Rule
    fn: Callable[..., Any]
    args: tuple[Any, ...]
    settings: dict[str, Any]

    def names(self) -> tuple[str, ...]:
        """Return the names of the arrays, as the rule calls them."""
        return array_names(self.rule, len(self.args))

    def by_rule(self) -> _Call:
        """Return the call with its arguments as the rule takes them: settings by keyword."""
        made = self.rule.pullback or self.rule.partials or self.rule.pushforward
        if made is None or is_ours(made):
            return self
        own = inspect.signature(made).parameters.values()
        listed = {p.name for p in own if p.kind is p.KEYWORD_ONLY}
        gathers = any(p.kind is p.VAR_POSITIONAL for p in own)
        names = self.names()[: len(self.names()) if gathers else _count_of(self.rule)]
        args, settings = self._apart(listed)
        extra = [n for n in self.settings if n not in listed and n not in names]
        if extra or (len(args) > len(names) and not gathers):
            what = f"`{extra[0]}`" if extra else f"argument {len(names) + 1}"
            raise AssertionError(
                f"{_name(self.fn)}: the rule {_name(made)} does not take {what}; it takes "
                f"({', '.join([*names, *sorted(listed)])})"
            )
        for p in own:
            default = own_default(self.fn, p.name)
            given = p.name in settings or p.name in names[: len(args)]
            if p.default is p.empty and default is not p.empty and not given:
                if p.name in listed or p.name in names:
                    settings[p.name] = default
        return replace(self, args=args, settings=settings)

    def _apart(self, listed: set[str]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arrays by position, and by keyword the arguments that are settings."""
        try:
            parameters = inspect.signature(self.fn).parameters.values()
        except (TypeError, ValueError):
            return self.args, dict(self.settings)
        by_position = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
        order = [p.name for p in parameters if p.kind in by_position]
        given = dict(zip(order, self.args, strict=False))
        settings = {n: v for n, v in given.items() if n in listed}
        kept = [v for n, v in given.items() if n not in listed]
        return (*kept, *self.args[len(given) :]), {**settings, **self.settings}

    def arrays(self, names: tuple[str, ...]) -> tuple[Any, ...]:
        """Return the arrays in the rule's order; None for an array that is not given."""
        rest = tuple(self.settings.get(name) for name in names[len(self.args) :])
        return self.args + rest

    def with_arrays(self, names: tuple[str, ...], arrays: Sequence[Any]) -> _Call:
        """Return the same call with other arrays."""
        settings = dict(self.settings)
        for name, value in zip(names[len(self.args) :], arrays[len(self.args) :], strict=True):
            if name in settings:
                settings[name] = value
        return replace(self, args=tuple(arrays[: len(self.args)]), settings=settings)

    def primal(self) -> Any:
        """Make the call."""
        return self.fn(*self.args, **self.settings)

    def settings_only(self, names: tuple[str, ...]) -> dict[str, Any]:
        """Return the keywords that are not arrays."""
        return {name: value for name, value in self.settings.items() if name not in names}

    def backward(self, names: tuple[str, ...], out: Any, out_bar: Any) -> tuple[Any, ...] | None:
        """Return one cotangent per array, or None where the rule has only a pushforward."""
        arrays = self.arrays(names)
        if self.rule.pullback is not None:
            settings = self.settings_only(names)
            bars = _without_writing(self.fn, self.rule.pullback, out_bar, out, *arrays, **settings)
            return self._as_tuple(self.rule.pullback, bars, arrays)
        if self.rule.partials is not None:
            partials = self._partials(names, out, arrays)
            return tuple(
                None if partial is None else _fit(out_bar * partial, value)
                for partial, value in zip(partials, arrays, strict=True)
            )
        return None

    def forward(
        self, names: tuple[str, ...], out: Any, index: int, direction: Any
    ) -> list[tuple[str, Any]]:
        """Return the tangents of the result for a tangent of one array, one for each method."""
        arrays = self.arrays(names)
        found: list[tuple[str, Any]] = []
        if self.rule.partials is not None:
            partial = self._partials(names, out, arrays)[index]
            tangent = zeros_of(out) if partial is None else partial * direction + zeros_of(out)
            found.append(("partials", tangent))
        if self.rule.pushforward is not None:
            tangents = [zeros_of(value) for value in arrays]
            tangents[index] = direction
            settings = self.settings_only(names)
            tangent = self.rule.pushforward(out, *arrays, *tangents, **settings)
            found.append(("pushforward", tangent))
            if len(tangents) > 1 and (
                is_ours(push := self.rule.pushforward) or asks_for_none(push)
            ):
                alone = [None] * index + [direction] + [None] * (len(tangents) - index - 1)
                tangent = self.rule.pushforward(out, *arrays, *alone, **settings)
                found.append(("pushforward with None for the other tangents", tangent))
        return found

    def _partials(
        self, names: tuple[str, ...], out: Any, arrays: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        assert self.rule.partials is not None
        defaults = [p.default for p in inspect.signature(self.rule.partials).parameters.values()]
        given = [
            default if value is None and default is not inspect.Parameter.empty else value
            for value, default in zip(arrays, defaults[1:], strict=False)
        ]
        settings = self.settings_only(names)
        with np.errstate(all="ignore"):
            partials = self.rule.partials(out, *given, *arrays[len(given) :], **settings)
        return self._as_tuple(self.rule.partials, partials, arrays)

    def _as_tuple(
        self, rule: Callable[..., Any], found: Any, arrays: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        kinds = [p.kind for p in inspect.signature(rule).parameters.values()]
        if inspect.Parameter.VAR_POSITIONAL not in kinds and len(arrays) == 1:
            return (found,)
        if isinstance(found, tuple | list) and len(found) == len(arrays):
            return tuple(found)
        if found is None:
            return (None,) * len(arrays)
        raise AssertionError(
            f"{_name(self.fn)}: the rule should return {len(arrays)} values, one per array, "
            f"and returned {type(found).__name__}"
            + (f" of {len(found)}" if isinstance(found, tuple | list) else "")
        )


def _refuse_dicts(call: _Call, out: Any) -> None:
    """Refuse dicts, because check_rule would not check their content.

    Objects of a library are allowed: some sparse matrices are also dicts.
    """
    for value, what in [(out, "the result"), *((a, "an argument") for a in call.args)]:
        if isinstance(value, dict) and objects_of(type(value)) is None:
            raise AssertionError(
                f"{_name(call.fn)}: {what} is a dict, which check_rule does not support; give "
                "s2sad.check_grads a function of arrays that calls it"
            )


def _count_of(rule: Rule) -> int:
    """Return the number of arrays that a rule takes; for rules without *args."""
    if rule.pullback is not None:
        return len(positional_names(rule.pullback, 2))
    if rule.partials is not None:
        return len(positional_names(rule.partials, 1))
    return len(positional_names(rule.pushforward, 1)) // 2 if rule.pushforward is not None else 0


class WritesError(AssertionError, ValueError):
    """A rule writes into its arguments."""


def _without_writing(fn: Any, rule: Callable[..., Any], *args: Any, **settings: Any) -> Any:
    """Call a rule; raise a WritesError if it writes into its arguments."""
    try:
        return rule(*args, **settings)
    except ValueError as error:
        if any(text in str(error) for text in READ_ONLY):
            raise WritesError(
                f"{_name(fn)}: the rule {_name(rule)} writes into one of its arguments, which "
                "are read-only; a rule returns new arrays"
            ) from error
        raise


def _check_shapes(
    call: _Call, names: tuple[str, ...], out: Any, out_bar: Any
) -> tuple[Any, ...] | None:
    """Call the backward rule with read-only arguments, and check the shapes of its result."""
    arrays = [mapped(_read_only, value) for value in call.arrays(names)]
    bars = call.with_arrays(names, arrays).backward(names, out, mapped(_read_only, out_bar))
    if bars is None:
        return None
    for name, value, bar in zip(names, call.arrays(names), bars, strict=True):
        for leaf, leaf_bar in paired(value, bar, f"{_name(call.fn)}, {name}"):
            if leaf_bar is not None and not isinstance(leaf_bar, _NUMBERS):
                raise AssertionError(
                    f"{_name(call.fn)}, {name}: the cotangent is a {type(leaf_bar).__name__}, and "
                    f"no {'array' if isinstance(leaf, np.ndarray) else 'number'}"
                )
            real = not any(map(np.iscomplexobj, [leaf, *leaves_of(out)]))
            if real and leaf_bar is not None and np.iscomplexobj(leaf_bar):
                raise AssertionError(
                    f"{_name(call.fn)}, {name}: the cotangent is complex, and the argument real"
                )
            if leaf_bar is not None and np.shape(leaf_bar) != np.shape(leaf):
                raise AssertionError(
                    f"{_name(call.fn)}, {name}: the cotangent has shape {np.shape(leaf_bar)}, "
                    f"the argument has shape {np.shape(leaf)}"
                )
    return bars


def _check_zero(call: _Call, names: tuple[str, ...], index: int, direction: Any) -> None:
    """Check that the value does not change over a step so small that it should contain no jump."""
    step = 2.0**-26
    arrays = list(call.arrays(names))
    value = arrays[index]
    ends = []
    for h in (step, -step):
        arrays[index] = shifted(value, direction, h)
        ends.append(flattened(call.with_arrays(names, arrays).primal()))
    change = np.abs(ends[0] - ends[1]) / (2.0 * step)
    if np.any(change > 0.0):
        raise AssertionError(
            f"{_name(call.fn)}, {names[index]}: declared to have derivative 0, but "
            f"differences give {np.max(change):.6g}"
        )


def _check_differences(
    call: _Call,
    names: tuple[str, ...],
    index: int,
    direction: Any,
    out_bar: Any,
    bars: tuple[Any, ...],
) -> None:
    where = f"{_name(call.fn)}, {names[index]}"
    change, error = _oracle(call, names, index, direction)
    weights = flattened(out_bar)
    expected = float(np.real(np.sum(weights * change)))
    bound = 10.0 * float(np.sum(np.abs(weights) * error))
    bound += 1e-14 * float(np.sum(np.abs(weights * change)))
    if not np.isfinite(bound):
        raise AssertionError(f"{where}: differences do not converge here; choose another point")
    found, _ = inner(call.arrays(names)[index], bars[index], direction, where)
    if not abs(found - expected) <= bound:
        raise AssertionError(
            f"{where}: the {_way(call.rule)} gives {found:.12g}, but differences give "
            f"{expected:.12g} +- {bound:.1g}"
        )


def _check_forward(
    call: _Call,
    names: tuple[str, ...],
    index: int,
    direction: Any,
    out: Any,
    out_bar: Any,
    bars: tuple[Any, ...] | None,
) -> None:
    where = f"{_name(call.fn)}, {names[index]}"
    for way, tangent in call.forward(names, out, index, direction):
        for leaf, leaf_dot in paired(out, tangent, f"{where}, {way}"):
            if leaf_dot is not None and np.shape(leaf_dot) != np.shape(leaf):
                raise AssertionError(
                    f"{where}: the tangent by {way} has shape {np.shape(leaf_dot)}, the result "
                    f"has shape {np.shape(leaf)}"
                )
        found, size = inner(out, tangent, out_bar, where)
        if bars is not None:
            other = f"the {_way(call.rule)}"
            expected, other_size = inner(call.arrays(names)[index], bars[index], direction, where)
            bound = 1e-12 * max(size, other_size)
        else:
            other = "differences"
            change, error = _oracle(call, names, index, direction)
            weights = flattened(out_bar)
            expected = float(np.real(np.sum(weights * change)))
            bound = 10.0 * float(np.sum(np.abs(weights) * error)) + 1e-14 * size
        if not abs(found - expected) <= bound:
            raise AssertionError(
                f"{where}: the {way} gives {found:.15g}, {other} {expected:.15g} (+- {bound:.1g})"
            )


def _check_layouts(
    call: _Call,
    names: tuple[str, ...],
    out: Any,
    out_bar: Any,
    bars: tuple[Any, ...] | None,
) -> None:
    if bars is None:
        return
    arrays = call.arrays(names)
    for layout, change in _LAYOUTS.items():
        twin = call.with_arrays(names, [mapped(change, value) for value in arrays])
        twin_out = twin.primal()
        twin_bars = twin.backward(names, twin_out, mapped(change, out_bar))
        assert twin_bars is not None
        for name, value, bar, twin_bar in zip(names, arrays, bars, twin_bars, strict=True):
            where = f"{_name(call.fn)}, {name}"
            one = flat_cotangent(value, bar, where)
            two = flat_cotangent(value, twin_bar, where)
            size = max(float(np.max(np.abs(one), initial=0.0)), 1e-300)
            if not np.allclose(one, two, rtol=1e-10, atol=1e-12 * size, equal_nan=True):
                worst = int(np.argmax(np.abs(one - two)))
                raise AssertionError(
                    f"{where}: {layout} arguments give the cotangent {two[worst]:.12g}, "
                    f"contiguous ones {one[worst]:.12g}"
                )


def _check_single_precision(call: _Call, names: tuple[str, ...], rng: np.random.Generator) -> None:
    arrays = call.arrays(names)
    leaves = [leaf for value in arrays for leaf in leaves_of(value)]
    if not any(isinstance(leaf, np.ndarray | np.generic) for leaf in leaves):
        return
    single = call.with_arrays(names, [mapped(_single, value) for value in arrays])
    out = single.primal()
    if not all(_is_single(leaf) for leaf in leaves_of(out)):
        return
    out_bar = random_like(out, rng)
    bars = single.backward(names, out, out_bar)
    for name, value, bar in zip(names, single.arrays(names), bars or (), strict=bars is not None):
        where = f"{_name(call.fn)}, {name}"
        for leaf, leaf_bar in paired(value, bar, where):
            if leaf_bar is None or not _is_single(leaf):
                continue
            if not _may_stand_for_single(leaf, leaf_bar):
                raise AssertionError(
                    f"{where}: the cotangent is {_dtype(leaf_bar)}, the argument {_dtype(leaf)}"
                )
    for index, value in enumerate(single.arrays(names)):
        if not leaves_of(value):
            continue
        where = f"{_name(call.fn)}, {names[index]}"
        if not all(isinstance(leaf, np.ndarray | np.generic) for leaf in leaves_of(value)):
            continue
        for way, tangent in single.forward(names, out, index, random_like(value, rng)):
            for leaf, leaf_dot in paired(out, tangent, where):
                if leaf_dot is not None and not _may_stand_for_single(leaf, leaf_dot):
                    raise AssertionError(
                        f"{where}: the tangent by {way} is {_dtype(leaf_dot)}, the result "
                        f"{_dtype(leaf)}"
                    )


def _check_sizes(call: _Call, names: tuple[str, ...], rng: np.random.Generator) -> None:
    """Check arrays of length 0 and 1 along every axis, and 0-d arrays, if fn takes them.

    A rule that raises an exception for them passes: it does not return a wrong derivative.
    """
    arrays = call.arrays(names)
    if not any(isinstance(leaf, np.ndarray) for value in arrays for leaf in leaves_of(value)):
        return
    if _sees_arrays(call):
        return  # their lengths stay as they are, and may decide what fits
    for way, cut in _SIZES.items():
        # What stands together in a sequence fits together, and compiled code may rely on that.
        alone = [cut(v) if is_number(v) else v for v in arrays]
        twin = call.with_arrays(names, alone)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                out = twin.primal()
                if way == _WITHOUT_AXES and not _keeps_rank(call, out):
                    continue
                out_bar = random_like(out, rng)
                bars = _check_shapes(twin, names, out, out_bar)
            except _NOT_TAKEN:
                continue
            except AssertionError as wrong:
                raise AssertionError(f"{wrong} ({way})") from None
            if bars is None or not np.all(np.isfinite(flattened(out))):
                continue
            for index, value in enumerate(twin.arrays(names)):
                if leaves_of(value) and names[index] not in call.rule.unknown:
                    _check_size(twin, names, index, way, out_bar, bars, rng)


def _sees_arrays(call: _Call) -> bool:
    """Return whether a function reads other arrays than its arguments: of objects, or globals."""
    if any(hasattr(value, "__dict__") and not callable(value) for value in call.args):
        return True
    code = getattr(call.fn, "__code__", None)
    if code is None:
        return False
    seen = [c.cell_contents for c in call.fn.__closure__ or () if c != types.CellType()]
    seen += [call.fn.__globals__[n] for n in code.co_names if n in call.fn.__globals__]
    return any(isinstance(value, np.ndarray) for value in seen)


def _keeps_rank(call: _Call, out: Any) -> bool:
    """Return whether a call is not a reduction; reductions accept axes of 0-d arrays."""
    reduces = isinstance(getattr(call.fn, "__self__", None), np.ufunc)
    along = call.settings.keys() & {"axis", "axes", "dim"}
    return not reduces and not along and bool(leaves_of(out)) and np.ndim(out) == 0


def _check_size(
    call: _Call,
    names: tuple[str, ...],
    index: int,
    way: str,
    out_bar: Any,
    bars: Any,
    rng: np.random.Generator,
) -> None:
    """Compare a cotangent with differences, where differences are conclusive."""
    direction = random_like(call.arrays(names)[index], rng)
    try:
        change, error = _oracle(call, names, index, direction)
    except _NOT_TAKEN:
        return
    weights = flattened(out_bar)
    expected = float(np.real(np.sum(weights * change)))
    bound = 1e2 * float(np.sum(np.abs(weights) * error)) + 1e-9 * (1.0 + abs(expected))
    where = f"{_name(call.fn)}, {names[index]}, {way}"
    found, _ = inner(call.arrays(names)[index], bars[index], direction, where)
    if np.isfinite(bound) and bound < 1e-4 and not abs(found - expected) <= bound:
        raise AssertionError(
            f"{where}: the {_way(call.rule)} gives {found:.12g}, differences give {expected:.12g}"
        )


def _oracle(call: _Call, names: tuple[str, ...], index: int, direction: Any) -> tuple[Any, Any]:
    arrays = list(call.arrays(names))
    here = call.primal()

    def moved(value: Any) -> Any:
        arrays[index] = value
        there = call.with_arrays(names, arrays).primal()
        parts = [np.ravel(part) for _, part in paired(here, there, _name(call.fn))]
        return np.concatenate(parts) if parts else np.zeros(0)

    return differences(moved, (arrays[index],), (direction,))


def _name(fn: Any) -> str:
    name = getattr(fn, "__name__", None) or repr(fn)
    owner = getattr(fn, "__objclass__", None) or getattr(fn, "__self__", None)
    module = getattr(fn, "__module__", None)
    if isinstance(owner, type | np.ufunc):
        return f"{owner.__name__}.{name}"
    if isinstance(fn, np.ufunc):
        return f"numpy.{name}"
    return f"{module}.{name}" if module and module != "builtins" else name


def _way(rule: Rule) -> str:
    return "pullback" if rule.pullback is not None else "rule (partials)"


def _fit(bar: Any, value: Any) -> Any:
    """Sum a cotangent to its argument's shape; drop its imaginary part for a real argument."""
    if not is_number(value):
        return None
    shape = np.shape(value)
    extra = np.ndim(bar) - len(shape)
    bar = np.sum(bar, axis=tuple(range(extra))) if extra > 0 else bar
    ones = tuple(i for i, n in enumerate(shape) if n == 1 and np.shape(bar)[i] != 1)
    bar = np.sum(bar, axis=ones, keepdims=True) if ones else bar
    return np.real(bar) if np.iscomplexobj(bar) and not np.iscomplexobj(value) else bar


def _dtype(value: Any) -> Any:
    return getattr(value, "dtype", type(value).__name__)


def _is_single(value: Any) -> bool:
    return _dtype(value) in (np.float32, np.complex64)


def _may_stand_for_single(leaf: Any, found: Any) -> bool:
    """Return whether a derivative keeps single precision; for a scalar a Python float does, too."""
    return _is_single(found) or (np.ndim(leaf) == 0 and type(found) in (int, float, complex))


def _single(value: Any) -> Any:
    """Return an array or NumPy scalar in single precision, a Python number unchanged."""
    if not isinstance(value, np.ndarray | np.generic):
        return value
    return value.astype(np.complex64 if value.dtype.kind == "c" else np.float32)


def _read_only(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    value = value.copy()
    value.flags.writeable = False
    return value


def _fortran(value: Any) -> Any:
    return np.array(value, order="F") if isinstance(value, np.ndarray) else value


def _strided(value: Any) -> Any:
    """Return an equal array whose entries lie two apart along every axis."""
    if not isinstance(value, np.ndarray):
        return value
    room: Any = np.full([2 * n for n in value.shape], np.nan, value.dtype)
    every_other: Any = (*(slice(None, None, 2),) * value.ndim, ...)
    view = room[every_other]
    view[...] = value
    return view


def _reversed(value: Any) -> Any:
    """Return an equal array that runs backward through memory along every axis."""
    if not isinstance(value, np.ndarray):
        return value
    back: Any = (*(slice(None, None, -1),) * value.ndim, ...)
    return value[back].copy()[back]


def _one_long(value: Any) -> Any:
    """Return the part of an array that has length 1 along every axis."""
    return value[(slice(0, 1),) * value.ndim] if isinstance(value, np.ndarray) else value


def _empty(value: Any) -> Any:
    return value[(slice(0, 0),) * value.ndim] if isinstance(value, np.ndarray) else value


def _no_axes(value: Any) -> Any:
    """Return the first entry of an array, as a 0-d array."""
    if not isinstance(value, np.ndarray) or not value.size:
        return value
    return value.ravel()[:1].reshape(())


_WITHOUT_AXES = "0-d arrays"
_SIZES: dict[str, Callable[[Any], Any]] = {
    "arrays of length 1": _one_long,
    "empty arrays": _empty,
    _WITHOUT_AXES: _no_axes,
}
_NOT_TAKEN = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
    np.linalg.LinAlgError,
)

_LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "read-only": _read_only,
    "Fortran-ordered": _fortran,
    "strided": _strided,
    "reversed": _reversed,
}
