"""Control flow as functions, with JAX's signatures, in plain Python.

    >>> from s2sad import control
    >>> control.scan(lambda total, x: (total + x, total * x), 0.0, np.array([1.0, 2.0, 3.0]))
    (np.float64(6.0), array([0., 2., 9.]))

Code that was written for `jax.lax` runs with these functions on NumPy's arrays. s2sad
differentiates them like any other Python functions; it has no special knowledge of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def cond(
    pred: Any,
    true_fun: Callable[..., Any],
    false_fun: Callable[..., Any],
    *operands: Any,
    operand: Any = ...,
) -> Any:
    """Return `true_fun(*operands)` if pred is true, else `false_fun(*operands)`.

    >>> from s2sad import control
    >>> s2sad.grad(lambda x: control.cond(x > 0.0, lambda v: v * v, lambda v: -v, x))(3.0)
    6.0

    The keyword `operand`, from older versions of JAX, passes a single operand.
    """
    if operand is not ...:
        operands = (operand,)
    if pred:
        return true_fun(*operands)
    return false_fun(*operands)


def switch(
    index: Any, branches: Sequence[Callable[..., Any]], *operands: Any, operand: Any = ...
) -> Any:
    """Return `branches[index](*operands)`; an index out of range is clipped to the range.

    >>> from s2sad import control
    >>> control.switch(5, [lambda x: x, lambda x: 2.0 * x], 3.0)
    6.0
    """
    if operand is not ...:
        operands = (operand,)
    branch = branches[int(min(max(index, 0), len(branches) - 1))]
    return branch(*operands)


def while_loop(
    cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any
) -> Any:
    """Start with `val = init_val`, repeat `val = body_fun(val)` while `cond_fun(val)`; return val.

    >>> from s2sad import control
    >>> control.while_loop(lambda v: v < 100.0, lambda v: v * v, 3.0)
    6561.0

    Unlike JAX's function, it is differentiated in reverse mode, too.
    """
    val = init_val
    while cond_fun(val):
        val = body_fun(val)
    return val


def fori_loop(
    lower: int,
    upper: int,
    body_fun: Callable[[int, Any], Any],
    init_val: Any,
    *,
    unroll: Any = None,
) -> Any:
    """Start with `val = init_val`, run `val = body_fun(i, val)` for i in range(lower, upper).

    >>> from s2sad import control
    >>> control.fori_loop(0, 3, lambda i, v: v + i, 10)
    13

    The final val is returned. `unroll` has no effect.
    """
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
    unroll: Any = 1,
    _split_transpose: bool = False,
) -> tuple[Any, Any]:
    """Run `carry, y = f(carry, x)` for each x along the leading axis of xs; return `(carry, ys)`.

    >>> from s2sad import control
    >>> control.scan(lambda total, x: (total + x, total * x), 0.0, np.array([1.0, 2.0, 3.0]))
    (np.float64(6.0), array([0., 2., 9.]))

    xs may be an array, a nested structure (tuples, lists, dicts) of arrays with leading axes of the
    same length, or None; with None, `length` must give the number of steps. ys has the structure of
    y, with a new leading axis along which the ys are stacked in the order of the xs. With `reverse`
    the last x is used first; the order of the ys does not change. If xs has length 0, f is called
    once with zeros to find the structure of y. `unroll` has no effect. A ValueError is raised if
    the lengths differ or are not given.
    """
    count = _count(xs, length)
    carry = init
    ys = []
    for step in range(count):
        at = count - 1 - step if reverse else step
        carry, y = f(carry, _item(xs, at))
        ys.append(y)
    if count == 0:
        return carry, _nothing(f(init, _blank(xs))[1])
    return carry, _stacked(ys, reverse)


def map(f: Callable[[Any], Any], xs: Any, *, batch_size: int | None = None) -> Any:
    """Return `f(x)` for each x along the leading axis of xs, stacked along a new leading axis.

    >>> from s2sad import control
    >>> control.map(lambda row: row @ row, np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([ 5., 25.])

    xs may be a structure, as for `scan`. `batch_size` has no effect.
    """
    return scan(lambda carry, x: (carry, f(x)), None, xs)[1]


def select(pred: Any, on_true: Any, on_false: Any) -> Any:
    """Return the elements of on_true where pred is true, and the elements of on_false elsewhere.

    >>> from s2sad import control
    >>> control.select(np.array([True, False]), np.ones(2), np.zeros(2))
    array([1., 0.])
    """
    return np.where(pred, on_true, on_false)


def _count(xs: Any, length: int | None) -> int:
    """Return the number of xs; ValueError if it is not given, or if the lengths differ."""
    found = _lengths(xs)
    if length is not None:
        found.append(int(length))
    if not found:
        raise ValueError("scan needs xs, or a length")
    if min(found) != max(found):
        raise ValueError(
            "scan needs arrays that all have the same length (and that of "
            f"length=, if given); their lengths are {found}"
        )
    return found[0]


def _lengths(xs: Any) -> list[int]:
    """Return the lengths of the leading axes of the arrays in a structure."""
    if xs is None:
        return []
    if isinstance(xs, dict):
        xs = list(xs.values())
    if isinstance(xs, tuple | list):
        found = []
        for part in xs:
            found += _lengths(part)
        return found
    return [len(xs)]


def _item(xs: Any, i: int) -> Any:
    """Return a structure of arrays at one index of their leading axes."""
    if xs is None:
        return None
    if isinstance(xs, tuple):
        items = _items(tuple(xs), i)
        return type(xs)(*items) if hasattr(xs, "_fields") else items
    if isinstance(xs, list):
        return [_item(part, i) for part in xs]
    if isinstance(xs, dict):
        return {key: _item(xs[key], i) for key in xs}
    return xs[i]


def _items(parts: Any, i: int) -> Any:
    return (_item(parts[0], i), *_items(parts[1:], i)) if parts else ()


def _blank(xs: Any) -> Any:
    """Return zeros in the structure of one item, for a structure of arrays that are empty."""
    if xs is None:
        return None
    if isinstance(xs, tuple):
        blanks = _blanks(tuple(xs))
        return type(xs)(*blanks) if hasattr(xs, "_fields") else blanks
    if isinstance(xs, list):
        return [_blank(part) for part in xs]
    if isinstance(xs, dict):
        return {key: _blank(xs[key]) for key in xs}
    return np.zeros((1, *xs.shape[1:]), xs.dtype)[0]


def _blanks(parts: Any) -> Any:
    return (_blank(parts[0]), *_blanks(parts[1:])) if parts else ()


def _nothing(y: Any) -> Any:
    """Return the structure of y with empty arrays: ys stacked along a new axis of length 0."""
    if y is None:
        return None
    if isinstance(y, tuple):
        parts = _nothings(tuple(y))
        return type(y)(*parts) if hasattr(y, "_fields") else parts
    if isinstance(y, list):
        return [_nothing(part) for part in y]
    if isinstance(y, dict):
        return {key: _nothing(y[key]) for key in y}
    return np.zeros((0, *np.shape(y)), np.asarray(y).dtype)


def _nothings(parts: Any) -> Any:
    return (_nothing(parts[0]), *_nothings(parts[1:])) if parts else ()


def _stacked(ys: Any, reverse: bool) -> Any:
    """Return a structure like each y, whose parts are stacked along a new leading axis.

    With `reverse` the last y comes first.
    """
    first = ys[0]
    if first is None:
        return None
    if isinstance(first, tuple):
        stacks = _stacks([tuple(y) for y in ys], reverse)
        return type(first)(*stacks) if hasattr(first, "_fields") else stacks
    if isinstance(first, list):
        return [_stacked([y[k] for y in ys], reverse) for k in range(len(first))]
    if isinstance(first, dict):
        return {key: _stacked([y[key] for y in ys], reverse) for key in first}
    stack = np.stack(ys)
    return stack[::-1] if reverse else stack


def _stacks(ys: Any, reverse: bool) -> Any:
    if not ys[0]:
        return ()
    return (_stacked([y[0] for y in ys], reverse), *_stacks([y[1:] for y in ys], reverse))
