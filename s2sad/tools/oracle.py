"""The oracle for derivatives: finite differences that bound their own error.

This module also has helpers that walk over, make and compare numbers, arrays and sequences of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

_STEPS = 12
_FIRST_STEP = 2.0**-4
_EPSILON = float(np.finfo(np.float64).eps)


def differences(
    f: Callable[..., Any],
    args: Sequence[Any],
    directions: Sequence[Any],
    *,
    epsilon: float = _EPSILON,
) -> tuple[Any, Any]:
    """Return the derivative of `f` at `args` along `directions`, and a bound on its error.

    >>> from s2sad.testing import differences
    >>> derivative, bound = differences(np.sin, (0.0,), (1.0,))
    >>> bool(abs(derivative - 1.0) <= bound)
    True

    `f` takes `*args` and returns an array or a number. A direction has the structure of its
    argument; None means that the argument does not change. The derivative and the bound have the
    shape of f's result.

    The method is central differences with halved steps, extrapolated to step zero (Ridders 1982).
    Each component is the entry of the extrapolation table with the smallest error estimate,
    rounding included. Steps that leave the domain of f are ignored; a component that no step
    determines has an infinite bound. `epsilon` is the rounding unit of f's precision.
    """
    moving = [x for x, direction in zip(args, directions, strict=True) if direction is not None]
    sizes = np.abs(flattened(moving))
    size = float(np.max(sizes, initial=0.0, where=np.isfinite(sizes)))
    previous: list[Any] = []
    best: Any = None
    error: Any = None
    step = 2.0 * _FIRST_STEP
    with np.errstate(all="ignore"):
        for _ in range(_STEPS):
            step /= 2.0
            try:
                up = np.asarray(f(*map(shifted, args, directions, [step] * len(args))))
                down = np.asarray(f(*map(shifted, args, directions, [-step] * len(args))))
            except (ArithmeticError, ValueError):
                previous = []
                continue
            if up.dtype.kind in "biu":
                up, down = up.astype(float), down.astype(float)
            row = [(up - down) / (2.0 * step)]
            slope = np.abs(np.where(np.isfinite(row[0]), row[0], 0.0))
            lost = np.maximum(np.abs(up), np.abs(down)) + size * np.max(slope, initial=0.0)
            rounding = 4.0 * epsilon * lost / step
            if best is None:
                best, error = row[0], np.full(np.shape(row[0]), np.inf)
            factor = 1.0
            for older in previous:
                factor *= 4.0
                row.append((factor * row[-1] - older) / (factor - 1.0))
                estimate = np.maximum(np.abs(row[-1] - row[-2]), np.abs(row[-1] - older))
                estimate = estimate + rounding
                better = estimate < error
                best = np.where(better, row[-1], best)
                error = np.where(better, estimate, error)
            previous = row
    if best is None:
        here = np.asarray(f(*args), dtype=float)
        return np.full(here.shape, np.nan), np.full(here.shape, np.inf)
    return best, error


def is_number(value: Any) -> bool:
    """Return whether a value is a number or array that can have a derivative."""
    if isinstance(value, np.ndarray | np.generic):
        return bool(value.dtype.kind in "fc")
    return isinstance(value, float | complex)


def leaves_of(value: Any) -> list[Any]:
    """Return the differentiable numbers and arrays in a value or a sequence of values."""
    if isinstance(value, tuple | list):
        return [leaf for part in value for leaf in leaves_of(part)]
    return [value] if is_number(value) else []


def mapped(change: Callable[[Any], Any], value: Any) -> Any:
    """Return the value with every differentiable part changed."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[mapped(change, part) for part in value])
    if isinstance(value, tuple | list):
        return type(value)([mapped(change, part) for part in value])
    return change(value) if is_number(value) else value


def paired(value: Any, bar: Any, where: str) -> Iterator[tuple[Any, Any]]:
    """Walk over a value and its derivative together; a derivative of None is None throughout."""
    if isinstance(value, tuple | list):
        kind = tuple if isinstance(value, tuple) else list
        if bar is None:
            bar = kind([None] * len(value))
        if not isinstance(bar, kind) or len(bar) != len(value):
            raise AssertionError(
                f"{where}: the derivative must be a {kind.__name__} of length {len(value)}, as "
                f"the argument is; it is {_worded(bar)}"
            )
        for part, part_bar in zip(value, bar, strict=True):
            yield from paired(part, part_bar, where)
    elif is_number(value):
        yield value, bar


def _worded(bar: Any) -> str:
    sized = f" of length {len(bar)}" if isinstance(bar, tuple | list) else ""
    return f"a {type(bar).__name__}{sized}"


def random_like(value: Any, rng: np.random.Generator) -> Any:
    """Return random numbers of a value's structure, shapes and dtypes; None for a constant."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[random_like(part, rng) for part in value])
    if isinstance(value, tuple | list):
        return type(value)([random_like(part, rng) for part in value])
    if not is_number(value):
        return None
    numbers: Any = rng.uniform(0.25, 1.0, np.shape(value)) * rng.choice(
        [-1.0, 1.0], np.shape(value)
    )
    if np.iscomplexobj(value):
        numbers = numbers + 1j * rng.uniform(-1.0, 1.0, np.shape(value))
    if isinstance(value, np.ndarray):
        return np.asarray(numbers, dtype=value.dtype)
    return type(value)(numbers)


def zeros_of(value: Any) -> Any:
    """Return zeros of a value's structure, shapes and dtypes; None for a constant."""
    if isinstance(value, tuple | list):
        parts = [zeros_of(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if not is_number(value):
        return None
    return np.zeros_like(value) if isinstance(value, np.ndarray) else type(value)(0.0)


def shifted(value: Any, direction: Any, step: float) -> Any:
    """Return a value moved along a direction; None means no change."""
    if direction is None:
        return value
    if isinstance(value, tuple | list):
        parts = [shifted(p, d, step) for p, d in zip(value, direction, strict=True)]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    moved = value + step * direction
    return moved if isinstance(value, np.ndarray) else type(value)(moved)


def flattened(value: Any) -> Any:
    """Return all differentiable numbers of a value in one vector."""
    leaves = leaves_of(value)
    return np.concatenate([np.ravel(leaf) for leaf in leaves]) if leaves else np.zeros(0)


def flat_cotangent(value: Any, bar: Any, where: str) -> Any:
    """Return all numbers of a derivative of a value, in one vector; None is zero."""
    parts = [
        np.zeros(np.size(leaf)) if leaf_bar is None else np.ravel(leaf_bar)
        for leaf, leaf_bar in paired(value, bar, where)
    ]
    return np.concatenate(parts) if parts else np.zeros(0)


def inner(value: Any, bar: Any, other: Any, where: str) -> tuple[float, float]:
    """Return `Re(sum(bar * other))`, and the sum of the sizes of its terms."""
    products = flat_cotangent(value, bar, where) * flattened(other)
    return float(np.real(np.sum(products))), float(np.sum(np.abs(products)))
