"""Compare derivatives of a function with differences, and find the statement that is wrong.

check_grads(loss, (params, x))      passes, or raises an AssertionError that names the entry
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from s2sad.api import callee_of, grad, jvp, vjp
from s2sad.capture.fitted import fitted
from s2sad.errors import ActivityError, AliasError, Error, MissingRuleError, UnsupportedError
from s2sad.names import Names
from s2sad.operators.cotangents import mixes
from s2sad.operators.derived import kinds_of, place_of
from s2sad.operators.door import door
from s2sad.operators.parameters import Parameters, Wrt, choose, settle
from s2sad.syntax.snippets import defined
from s2sad.tools.culprit import Executed, executed
from s2sad.tools.oracle import differences
from s2sad.tree import is_array, leaves, map_leaves

__all__ = ["check_grads"]

_MODES = ("forward", "reverse")
_SEED = 1982
_SPREAD = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@door
def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    *,
    modes: Sequence[str] = _MODES,
    order: int = 2,
    wrt: Wrt = None,
) -> None:
    """Check the derivatives of f at `args` against finite differences.

    >>> s2sad.check_grads(lambda x, n: np.sum(np.sin(x) ** n), (np.ones(3), 2))

    `args` is the tuple of arguments; they may be structures. f may return any structure. Mode
    "forward" compares tangents (`jvp`) and mode "reverse" cotangents (`vjp`), along random
    directions, with finite differences that are extrapolated to step zero (Ridders 1982) and bound
    their own error. check_grads also compares the value with the value of the plain call. With
    `order=2`, mode "reverse" also compares the tangent of the gradient (forward over reverse, as in
    `hessian`); higher orders continue in the same way. All arguments that can carry a derivative
    are differentiated, unless `wrt` or annotations select some.

    If derivative and differences disagree, an AssertionError names the argument, the entry and both
    figures, and if possible the statement whose derivative is wrong. Differences are not conclusive
    at a kink, or if f returns another value at each call; that is an AssertionError, too. The
    errors of `grad` pass through.
    """
    wanted = _modes(modes)
    if not isinstance(args, tuple | list):
        raise TypeError(f"check_grads needs args as a tuple, not {type(args).__name__}.")
    if isinstance(order, bool) or not isinstance(order, int) or order < 1:
        raise ValueError(f"order must be 1 or more (1 means first derivatives); it is {order!r}.")
    f = fitted(f, args, None, wrt, every=True)
    case = _case(f, tuple(args), wrt)
    _check(case, wanted)
    # A derivative of a derivative takes integers in lists of floats for floats.
    once = "reverse" not in wanted or any(map(mixes, case.point))
    for gradient in _derivatives(case, 1 if once else order):
        try:
            _check(gradient, ("forward",), blame=False)
        except (AliasError, UnsupportedError, MissingRuleError) as error:
            raise _not_twice(f, case, error) from error


def _not_twice(f: Callable[..., Any], case: _Case, error: Error) -> Error:
    """Return the refusal of a second derivative as an error that says what can be checked."""
    place = error.place
    if place is None or place.file.startswith("<s2sad"):
        place = place_of(callee_of(f, "check_grads").fn)
    return type(error)(
        f"A higher derivative of {case.label} is refused. {error.reason}",
        remedy=f"{error.remedy} order=1 checks first derivatives alone.".strip(),
        place=place,
    )


def _modes(modes: Sequence[str]) -> tuple[str, ...]:
    given = (modes,) if isinstance(modes, str) else tuple(modes)
    for mode in given:
        if mode not in _MODES:
            raise ValueError(f'modes are "forward" and "reverse", not {mode!r}.')
    if not given:
        raise ValueError('modes is empty: name "forward", "reverse" or both.')
    return given


# what is checked


@dataclass(frozen=True)
class _Case:
    """A function and its arguments; some of them are differentiated."""

    f: Callable[..., Any]
    args: tuple[Any, ...]
    names: tuple[str, ...]  # of all arguments
    moving: tuple[int, ...]  # positions of those differentiated
    label: str

    def with_moving(self, parts: Sequence[Any]) -> tuple[Any, ...]:
        """Return fresh arguments, with new values for the differentiated arguments."""
        given = list(_copied(self.args))
        for position, part in zip(self.moving, parts, strict=True):
            given[position] = part
        return tuple(given)

    def run(self, parts: Sequence[Any]) -> Any:
        """Call the function at a point."""
        return self.f(*self.with_moving(parts))

    @property
    def point(self) -> tuple[Any, ...]:
        """The arguments that are differentiated."""
        return tuple(self.args[i] for i in self.moving)


def _case(f: Callable[..., Any], args: tuple[Any, ...], wrt: Wrt) -> _Case:
    callee = callee_of(f, "check_grads")
    parameters = Parameters.of(callee.fn, len(callee.args), frozenset(callee.kwargs))
    bound = parameters.bind((*callee.args, *args), callee.kwargs)
    try:
        choice = choose(parameters, callee.wrt if wrt is None else wrt, True, len(args))
        values = tuple(bound.arguments.values())
        settled = settle(parameters, choice, kinds_of(parameters, values))
    except ActivityError as error:
        raise error.at(place_of(callee.fn)) from None
    names = tuple(n for n in parameters.open if n in bound.arguments)[: len(args)]
    beyond = [n for n in settled.wrt if n not in names]
    if beyond and callee.args and not callee.kwargs:
        # By what a method is bound to: that is an argument like the others.
        return _case(callee.fn, (*callee.args, *args), settled.wrt)
    spread = [p.name for p in parameters.signature.parameters.values() if p.kind in _SPREAD]
    if beyond or len(names) != len(args) or set(spread) & set(names):
        raise ActivityError(
            f"check_grads needs an argument for each parameter of {parameters.name}.",
            remedy="Wrap it in a function of plain parameters: `lambda x: f(x, option=1)`.",
            place=place_of(callee.fn),
        )
    given = tuple(
        float(v) if n in settled.as_float else v for n, v in zip(names, args, strict=True)
    )
    moving = tuple(i for i, n in enumerate(names) if n in settled.wrt)
    return _Case(f, given, names, moving, parameters.name)


def _copied(value: Any) -> Any:
    """Return a copy of arguments, so that a call cannot change the arguments of the next one."""
    try:
        return copy.deepcopy(value)
    except TypeError:  # locks, modules, and what holds them
        return type(value)(map(_copied, value)) if type(value) in (tuple, list) else value


# vectors: the numbers of a structure, real and imaginary parts side by side


def _vector(structure: Any) -> Any:
    parts = [_real_parts(leaf.value) for leaf in leaves(structure)]
    return np.concatenate(parts) if parts else np.zeros(0)


def _real_parts(leaf: Any) -> Any:
    host = leaf.get() if is_array(leaf) and not isinstance(leaf, np.ndarray) else leaf
    flat = np.ravel(host)
    if not np.iscomplexobj(flat):
        return flat.astype(np.float64)
    return np.stack((flat.real, flat.imag), axis=1).ravel().astype(np.float64)


def _structure(vector: Any, like: Any) -> Any:
    """Return the structure that has the numbers of a vector."""
    at = 0

    def part(leaf: Any) -> Any:
        nonlocal at
        width = 2 if _dtype(leaf).kind == "c" else 1
        n = width * int(np.size(leaf))
        numbers = vector[at : at + n]
        at += n
        if width == 2:
            numbers = numbers[0::2] + 1j * numbers[1::2]
        return _shaped(numbers, leaf)

    return map_leaves(part, like)


def _shaped(numbers: Any, leaf: Any) -> Any:
    if not is_array(leaf):
        return type(leaf)(numbers[0])
    made = numbers.astype(leaf.dtype).reshape(leaf.shape)
    if isinstance(leaf, np.ndarray):
        return made
    import cupy  # type: ignore[import-not-found,import-untyped,unused-ignore]

    return cupy.asarray(made)


def _dtype(leaf: Any) -> Any:
    return leaf.dtype if hasattr(leaf, "dtype") else np.result_type(leaf)


def _epsilon(structure: Any) -> float:
    """Return the rounding unit of the least precise number in a structure."""
    found = [float(np.finfo(_dtype(leaf.value)).eps) for leaf in leaves(structure)]
    return max(found, default=float(np.finfo(np.float64).eps))


def _entry(structure: Any, names: Sequence[str], index: int) -> str:
    """Return the expression that reaches one of the numbers of several structures."""
    for name, part in zip(names, structure, strict=True):
        for leaf in leaves(part, name):
            width = 2 if _dtype(leaf.value).kind == "c" else 1
            n = width * int(np.size(leaf.value))
            if index < n:
                return _item(leaf.path, leaf.value, index // width, width == 2, index % 2)
            index -= n
    raise IndexError(index)


def _item(path: str, leaf: Any, flat: int, is_complex: bool, imaginary: int) -> str:
    if np.ndim(leaf):
        place = np.unravel_index(flat, np.shape(leaf))
        path += f"[{', '.join(str(int(i)) for i in place)}]"
    return f"{path}.{'imag' if imaginary else 'real'}" if is_complex else path


# the checks


@dataclass(frozen=True)
class _Gap:
    """A derivative and differences that disagree."""

    where: str
    found: float
    expected: float
    bound: float

    def __str__(self) -> str:
        return (
            f"{self.where}: s2sad gives {self.found:.10g}, differences give {self.expected:.10g} "
            f"(+- {self.bound:.1g})"
        )


Compare = Callable[[Any], _Gap | None]


def _derivatives(case: _Case, order: int) -> Iterator[_Case]:
    """Yield the gradients below an order, of weighted sums of results, as functions of args."""
    if order < 2:
        return
    y = case.run(_copied(case.point))
    if not leaves(y):
        return
    f = _by_reverse(case, y, np.random.default_rng(_SEED))
    made = replace(case, f=f, label=f"the gradient of {case.label}")
    yield made
    yield from _derivatives(made, order - 1)


def _by_reverse(case: _Case, y: Any, rng: np.random.Generator) -> Callable[..., Any]:
    """Return the gradient of a weighted sum of the result, as a function of the arguments."""
    given = ", ".join(case.names)
    names = Names(case.names)  # the function's parameters may have any name
    f, module, result = (names.fresh(name) for name in ("f", "np", "y"))
    weights, terms = {}, []
    for leaf in leaves(y, result):
        weight = names.fresh("w")
        weights[weight] = _cotangent(leaf.value, rng, False)
        product = f"{weight} * {leaf.path}"
        product = f"{module}.sum({product})" if np.ndim(leaf.value) else product
        terms.append(f"({product}).real" if np.iscomplexobj(leaf.value) else product)
    body = f"{result} = {f}({given})\n    return {' + '.join(terms)}"
    text = f"def weighted({given}):\n    {body}\n"
    summed = defined(text, {**weights, f: case.f, module: np}, "check")
    return grad(summed, case.moving)


def _check(case: _Case, modes: Sequence[str], blame: bool = True) -> None:
    y = case.run(_copied(case.point))
    aside = _vector(case.point) * (1.0 + 1e-3) + 1e-3
    once, again = (_vector(case.run(_structure(aside, case.point))) for _ in range(2))
    if not np.array_equal(once, again, equal_nan=True):
        raise AssertionError(
            f"{case.label} gives another value when it is called again, so differences cannot "
            "check it. Pass its random generator as an argument, or seed it inside."
        )
    for mode in modes:
        gap = _gap(case, y, mode)
        if gap is not None:
            said = _blame(case, mode) if blame else ""
            raise AssertionError(f"{case.label}, {mode} mode, {gap}{said}")


def _gap(case: _Case, y: Any, mode: str) -> _Gap | None:
    """Return the entry where one mode and differences disagree most clearly, or None."""
    rng = np.random.default_rng(_SEED)
    compare = (_reverse if mode == "reverse" else _forward)(case, y, rng)
    x = _vector(case.point)
    for _ in range(2):
        direction = rng.uniform(0.25, 1.0, len(x)) * rng.choice([-1.0, 1.0], len(x))
        gap = compare(direction)
        if gap is not None:
            return _narrowed(case, compare, direction) or gap
    return None


def _narrowed(case: _Case, compare: Compare, direction: Any) -> _Gap | None:
    """Return the disagreement along one entry, found by halving; None if it needs several."""
    low, high = 0, len(direction)
    while high - low > 1:
        middle = (low + high) // 2
        for start, stop in ((low, middle), (middle, high)):
            part = np.zeros_like(direction)
            part[start:stop] = direction[start:stop]
            if compare(part) is not None:
                low, high = start, stop
                break
        else:
            return None
    unit = np.zeros_like(direction)
    unit[low] = 1.0
    gap = compare(unit)
    if gap is None:
        return None
    names = [case.names[i] for i in case.moving]
    by = _entry(case.point, names, low)
    return replace(gap, where=f"{gap.where} by {by}" if gap.where else by)


def _reverse(case: _Case, y: Any, rng: np.random.Generator) -> Compare:
    """Return the comparison of cotangents with differences, for a random cotangent of the result.

    Cotangents follow JAX: for complex numbers the change is `Re(sum(bar * dot))`.
    """
    value, pullback = vjp(case.f, *_copied(case.args), wrt=case.moving)
    _same_value(case, value, y, "vjp")
    scalar = not leaves(y) or (_is_number(y) and not np.iscomplexobj(y))
    weights = map_leaves(lambda leaf: _cotangent(leaf, rng, scalar), y, other=lambda leaf: None)
    bars = pullback(_copied(weights))
    _same_structure(case, bars)
    found, w = _vector(_conjugate(bars)), _vector(_conjugate(weights))

    def weighted(vector: Any) -> Any:
        return np.sum(w * _result(case, vector, len(w)))

    def compare(direction: Any) -> _Gap | None:
        return _worst(case, y, weighted, direction, [found @ direction], lambda i: "")

    return compare


def _forward(case: _Case, y: Any, rng: np.random.Generator) -> Compare:
    """Return the comparison of tangents with differences."""
    n = len(_vector(y))

    def at(vector: Any) -> Any:
        return _result(case, vector, n)

    def compare(direction: Any) -> _Gap | None:
        tangents: list[Any] = [None] * len(case.args)
        parts = _structure(direction, case.point)
        for position, part in zip(case.moving, parts, strict=True):
            tangents[position] = map_leaves(lambda leaf: leaf, part, other=lambda leaf: None)
        value, tangent = jvp(case.f, _copied(case.args), tuple(tangents))
        _same_value(case, value, y, "jvp")
        found = _vector(tangent)
        if len(found) != n:
            raise AssertionError(f"{case.label}: the tangent is not built like the result.")
        where = "" if n == 1 and _is_number(y) else "the result"
        return _worst(case, y, at, direction, found, lambda i: where and _entry((y,), (where,), i))

    return compare


def _worst(
    case: _Case,
    y: Any,
    at: Callable[[Any], Any],
    direction: Any,
    found: Any,
    where: Callable[[int], str],
) -> _Gap | None:
    """Return the place where derivative and differences disagree most, or None."""
    epsilon = max(_epsilon(case.point), _epsilon(y))
    change, error = differences(at, (_vector(case.point),), (direction,), epsilon=epsilon)
    expected, error = np.atleast_1d(change), np.atleast_1d(error)
    found = np.asarray(found)
    bound = 10.0 * error + 50.0 * epsilon * (np.abs(expected) + np.abs(found))
    size = 1.0 + float(np.max(np.abs(_vector(y)), initial=0.0))
    lost = (error > 0.3 * np.abs(expected)) & (error > 1e-2 * size)
    if not np.all(np.isfinite(bound)) or np.any(lost):
        raise AssertionError(
            f"{case.label}: differences do not converge here; choose another point."
        )
    excess = np.abs(found - expected) - bound
    if found.size == 0 or np.all(excess <= 0.0):
        return None
    i = int(np.argmax(np.where(np.isnan(excess), np.inf, excess)))
    return _Gap(where(i), float(found[i]), float(expected[i]), float(bound[i]))


def _result(case: _Case, vector: Any, n: int) -> Any:
    """Return the numbers that the function returns at a nearby point."""
    found = _vector(case.run(_structure(vector, case.point)))
    if len(found) != n:
        raise AssertionError(f"{case.label} returns another structure near this point.")
    return found


def _same_value(case: _Case, value: Any, y: Any, operator: str) -> None:
    one, two = _vector(value), _vector(y)
    rtol = 1e3 * _epsilon(y)
    if one.shape != two.shape or not np.allclose(one, two, rtol=rtol, atol=0.0, equal_nan=True):
        raise AssertionError(f"{case.label}: {operator} returns another value than the plain call.")


def _same_structure(case: _Case, bars: Any) -> None:
    shapes = [[np.shape(leaf.value) for leaf in leaves(s)] for s in (bars, case.point)]
    if shapes[0] != shapes[1]:
        raise AssertionError(f"{case.label}: the cotangents are not built like the arguments.")


def _is_number(value: Any) -> bool:
    return bool(leaves(value)) and leaves(value)[0].value is value and np.ndim(value) == 0


def _cotangent(leaf: Any, rng: np.random.Generator, one: bool) -> Any:
    """Return random numbers in place of a leaf; the number 1 with `one`."""
    n = (2 if _dtype(leaf).kind == "c" else 1) * int(np.size(leaf))
    numbers = np.ones(n) if one else rng.uniform(0.25, 1.0, n) * rng.choice([-1.0, 1.0], n)
    return _structure(numbers, leaf)


def _conjugate(structure: Any) -> Any:
    return map_leaves(lambda leaf: leaf.conjugate(), structure)


# the statement to blame


def _blame(case: _Case, mode: str) -> str:
    """Return the message about the statement whose own derivative is wrong, if there is one."""
    worst: tuple[int, Executed, _Gap] | None = None
    for one in executed(case.f, _copied(case.args)):
        if worst is not None and one.depth <= worst[0]:
            continue
        gap = _gap_of(one, mode)
        if gap is not None:
            worst = one.depth, one, gap
    if worst is None:
        return "\nEach statement alone agrees with differences: they are wrong together."
    _, one, gap = worst
    return f"\n{one.place.render()}\nThis statement alone: {gap}"


_NOT_ALONE = (
    Error,
    AssertionError,
    ArithmeticError,
    AttributeError,
    LookupError,
    NameError,
    TypeError,
    ValueError,
)


def _gap_of(one: Executed, mode: str) -> _Gap | None:
    """Return the error in the derivative of one statement; None if it cannot be determined."""
    moving = tuple(i for i, value in enumerate(one.args) if leaves(value))
    if not moving:
        return None
    case = _Case(one.fn, one.args, one.names, moving, one.place.function)
    try:
        y = case.run(_copied(case.point))
        return _gap(case, y, mode) if leaves(y) else None
    except _NOT_ALONE:
        return None
