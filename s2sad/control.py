"""Control flow as functions, with the signatures that JAX gives them: plain Python.

Code written for `jax.lax` runs with these on NumPy's arrays, and is differentiated like any other:
nothing here is known to the transformer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def cond(
    pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any
) -> Any:
    """Return `true_fun(*operands)` if pred is true, else `false_fun(*operands)`."""
    if pred:
        return true_fun(*operands)
    return false_fun(*operands)


def while_loop(
    cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any
) -> Any:
    """Return what body_fun makes of init_val, again and again while cond_fun of that is true."""
    val = init_val
    while cond_fun(val):
        val = body_fun(val)
    return val


def fori_loop(lower: int, upper: int, body_fun: Callable[[int, Any], Any], init_val: Any) -> Any:
    """Return what `val = body_fun(i, val)` leaves for i from lower on, below upper."""
    val = init_val
    for i in range(lower, upper):
        val = body_fun(i, val)
    return val


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """Run `carry, y = f(carry, x)` over the leading axis of xs; return the last carry, and all ys.

    xs may be an array, a tuple, list or dict of arrays, nested, or None with a `length`; ys are
    stacked along a new leading axis, in the same structure as y, and stand where their xs do. With
    `reverse` the last x comes first.
    """
    count: Any = length if xs is None else _length(xs)
    carry = init
    ys = []
    for step in range(count):
        at = count - 1 - step if reverse else step
        carry, y = f(carry, _item(xs, at))
        ys.append(y)
    return carry, _stacked(ys[::-1] if reverse else ys)


def _length(xs: Any) -> int:
    """Return the length of the leading axis of the arrays in a structure."""
    if isinstance(xs, dict):
        count = 0
        for key in xs:
            count = _length(xs[key])
        return count
    return _length(xs[0]) if isinstance(xs, tuple | list) else len(xs)


def _item(xs: Any, i: int) -> Any:
    """Return what a structure of arrays holds at one place of their leading axes."""
    if xs is None:
        return None
    if isinstance(xs, tuple):
        return (_item(xs[0], i),) + _item(xs[1:], i) if xs else ()
    if isinstance(xs, list):
        return [_item(part, i) for part in xs]
    if isinstance(xs, dict):
        return {key: _item(xs[key], i) for key in xs}
    return xs[i]


def _stacked(ys: list[Any]) -> Any:
    """Return the structure of which each part holds those of all ys, along a new leading axis."""
    first = ys[0]
    if first is None:
        return None
    if isinstance(first, tuple):
        return (_stacked([y[0] for y in ys]),) + _stacked([y[1:] for y in ys]) if first else ()
    if isinstance(first, list):
        return [_stacked([y[k] for y in ys]) for k in range(len(first))]
    if isinstance(first, dict):
        return {key: _stacked([y[key] for y in ys]) for key in first}
    return np.stack(ys)
