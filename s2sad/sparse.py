"""Sparse Jacobians and Hessians, from few tangents or cotangents.

    J = s2sad.sparse.jacobian(f)(x)              a scipy.sparse.csr_array, y.size by x.size
    J = s2sad.sparse.jacobian(f, pattern=P)(x)   with a pattern that you give
    P = s2sad.sparse.pattern(f)(x)               the pattern, found with tangents of nan
    H = s2sad.sparse.hessian(f)(x)               for a function that returns a real scalar

Columns that have no row in common are computed together, from one tangent; rows that have no column
in common are computed from one cotangent. Every call also computes the product with one more
direction and compares it with the matrix: if the pattern misses an entry, an error is raised.
This module needs SciPy and networkx (`pip install "s2sad[sparse]"`).
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2sad import api
from s2sad.errors import ActivityError, UnsupportedError
from s2sad.operators.derived import place_of
from s2sad.operators.given_tangents import pushed
from s2sad.operators.jacobians import MODES, Jacobian, Point
from s2sad.operators.parameters import Wrt

__all__ = ["Groups", "groups", "hessian", "jacobian", "pattern"]

_AT_ONCE = 128  # directions in a sweep that looks for the pattern
_TIGHT, _LOOSE = 0.7, 0.5  # powers of the rounding error: what a matrix may be off by


def jacobian(
    f: Callable[..., Any], wrt: Wrt = None, *, pattern: Any = None, mode: str = "auto"
) -> SparseJacobian:
    """Return a function that gives the Jacobian of f as a sparse matrix.

    >>> J = s2sad.sparse.jacobian(lambda x: x[1:] * x[:-1])(np.array([1.0, 2.0, 3.0, 4.0]))
    >>> J.toarray()
    array([[2., 1., 0., 0.],
           [0., 3., 2., 0.],
           [0., 0., 4., 3.]])

    f must return one real array, and is differentiated with respect to one real array, which `wrt`
    selects as for `grad`. The result is a scipy.sparse.csr_array of shape `(y.size, x.size)`.

    `pattern` is a boolean or sparse matrix of this shape, with an entry wherever an element of y
    (row) may depend on an element of x (column). Without it, s2sad finds the pattern. `mode` is
    "forward" (columns in groups), "reverse" (rows in groups) or "auto": the smaller number of
    groups. An ActivityError is raised if f, x or the pattern is not suitable, a ValueError for
    another mode, an ImportError without SciPy and networkx.
    """
    if mode not in MODES:
        raise ValueError(f"mode={mode!r} is not one of {', '.join(MODES)}")
    return SparseJacobian(f, api.jacobian(f, wrt), pattern, mode)


def hessian(f: Callable[..., Any], wrt: Wrt = None, *, pattern: Any = None) -> SparseJacobian:
    """Return a function that gives the Hessian of f as a sparse matrix.

    >>> H = s2sad.sparse.hessian(lambda x: np.sum(x[1:] * x[:-1] ** 2))(np.array([1.0, 2.0, 3.0]))
    >>> H.toarray()
    array([[4., 2., 0.],
           [2., 6., 4.],
           [0., 4., 0.]])

    f must return a real scalar, and is differentiated with respect to one real array. The Hessian
    is the Jacobian of the gradient, computed by columns in groups. `pattern`, `wrt` and the errors
    are the same as for `jacobian`.
    """
    gradient = api.grad(f, wrt)
    return SparseJacobian(f, api.jacobian(gradient, wrt), pattern, "forward")


def pattern(f: Callable[..., Any], wrt: Wrt = None) -> Callable[..., Any]:
    """Return a function that gives the pattern of f's Jacobian: a sparse matrix of booleans.

    >>> s2sad.sparse.pattern(lambda x: x[1:] * x[:-1])(np.ones(3)).toarray()
    array([[ True,  True, False],
           [False,  True,  True]])

    s2sad pushes tangents of nan through f. An element of the result depends on an element of the
    argument if its tangent becomes nan; a factor that happens to be 0 does not hide a dependence.
    The pattern holds for these arguments, on the path that they take through f's branches. An
    UnsupportedError is raised if the derivative fails for nan.
    """
    return SparseJacobian(f, api.jacobian(f, wrt), None, "forward").pattern


@dataclass(frozen=True)
class Groups:
    """Columns (or rows) in groups: `count` groups; `of` holds the group of each column."""

    count: int
    of: Any


def groups(matrix: Any) -> Groups:
    """Return the columns of a pattern in few groups; columns in a group have no row in common.

    >>> s2sad.sparse.groups(np.array([[1, 1, 0], [0, 1, 1]]))
    Groups(count=2, of=array([0, 1, 0]))
    """
    networkx = _module("networkx")
    entries = _boolean(matrix).astype(np.int32)
    shared = (entries.T @ entries).tocoo()
    apart = shared.row < shared.col
    graph = networkx.Graph()
    graph.add_nodes_from(range(entries.shape[1]))
    graph.add_edges_from(zip(shared.row[apart].tolist(), shared.col[apart].tolist(), strict=True))
    found = networkx.greedy_color(graph, strategy="smallest_last")
    of = np.array([found[j] for j in range(entries.shape[1])], dtype=np.intp)
    return Groups(int(of.max(initial=-1)) + 1, of)


@dataclass(frozen=True)
class _Plan:
    """A pattern as a csr_array, and its groups of columns or rows."""

    entries: Any
    groups: Groups
    by_rows: bool


class SparseJacobian:
    """A function's Jacobian as a sparse matrix, computed by groups of columns or rows."""

    def __init__(
        self, f: Callable[..., Any], dense: Jacobian[..., Any], given: Any, mode: str
    ) -> None:
        self._f = f
        self._dense = dense
        self._given = None if given is None else _boolean(given)
        self._mode = mode
        self._plans: dict[Any, _Plan] = {}
        self.__name__ = f"{dense.__name__}_sparse"
        self.__doc__ = f"Sparse Jacobian of {getattr(f, '__name__', f)}."

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Return the Jacobian, as a csr_array with an entry for each entry of the pattern."""
        point = self._point(args, kwargs)
        if self._given is not None:
            plan = self._plan(("given",), self._given)
            made, missed = self._filled(point, plan, _TIGHT)
            if missed is not None:
                raise self._error(
                    f"The pattern misses a nonzero entry in {missed} of the Jacobian.",
                    "Add the entry, or leave pattern= out: s2sad finds the pattern itself.",
                )
            return made
        if not self._dense._found(self._dense._forward, point).repeatable:
            raise self._error(
                "s2sad cannot look for the pattern: it would have to run the function once "
                "more, and the function draws, prints or changes values outside of itself.",
                "Give pattern=, a matrix with an entry in each place that may be nonzero.",
            )
        key = np.shape(point.moving)
        plan = self._plans.get(key) or self._plan(key, self._found(point))
        made, missed = self._filled(point, plan, _TIGHT)
        if missed is None:
            return made
        more = self._found(point)
        if more.shape == plan.entries.shape:
            more = _boolean(more.astype(np.int32) + plan.entries.astype(np.int32))
        made, missed = self._filled(point, self._plan(key, more, anew=True), _LOOSE)
        if missed is not None:
            raise self._error(
                f"The pattern that s2sad found misses a nonzero entry in {missed} of the Jacobian.",
                "Give pattern=, a matrix with an entry in each place that may be nonzero.",
            )
        return made

    def pattern(self, /, *args: Any, **kwargs: Any) -> Any:
        """Return the pattern at these arguments, as a csr_array of booleans."""
        return self._found(self._point(args, kwargs))

    def _error(self, reason: str, remedy: str) -> ActivityError:
        fn = self._dense._reverse._parameters.fn
        return ActivityError(reason, remedy=remedy, place=place_of(fn))

    def _point(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Point:
        point = self._dense._point(args, kwargs)
        x = point.moving
        if not isinstance(x, np.ndarray) or x.dtype.kind != "f" or point.settled.picked:
            raise self._error(
                "A sparse Jacobian is taken with respect to one array of real numbers.",
                "Let wrt name one array, and make the other arguments constants.",
            )
        return point

    # patterns

    def _plan(self, key: Any, entries: Any, anew: bool = False) -> _Plan:
        known = self._plans.get(key)
        if known is not None and not anew:
            return known
        columns = groups(entries) if self._mode != "reverse" else None
        rows = groups(entries.T) if self._mode != "forward" else None
        by_rows = columns is None or (rows is not None and rows.count < columns.count)
        made = _Plan(entries, (rows if by_rows else columns) or Groups(0, np.zeros(0)), by_rows)
        self._plans[key] = made
        return made

    def _found(self, point: Point) -> Any:
        """Return the pattern: for each element of the argument, the results that it reaches."""
        sparse = _module("scipy.sparse")
        again = self._dense._found(self._dense._forward, point).repeatable
        size = point.moving.size
        step = _AT_ONCE if again else max(size, 1)
        found, height = [], 0
        for start in range(0, size, step):
            some = range(start, min(start + step, size))
            seeds = [_at(point.moving, j, np.nan) for j in some]
            try:
                with np.errstate(all="ignore"):
                    y, dots = self._pushed(point, seeds)
            except (ValueError, ArithmeticError) as error:
                raise UnsupportedError(
                    f"s2sad cannot find the pattern: the derivative fails for nan ({error}).",
                    remedy=(
                        "Give pattern=, a matrix with an entry in each place that may be nonzero."
                    ),
                    place=place_of(self._dense._reverse._parameters.fn),
                ) from None
            height = y.size
            for j, dot in zip(some, dots, strict=True):
                reached = np.flatnonzero(np.isnan(dot))
                found.append((reached, np.full(reached.size, j)))
        if not size:
            height = self._pushed(point, [np.zeros_like(point.moving)])[0].size
        rows = np.concatenate([r for r, _ in found] or [np.zeros(0, np.intp)])
        columns = np.concatenate([c for _, c in found] or [np.zeros(0, np.intp)])
        ones = np.ones(rows.size, bool)
        return sparse.csr_array((ones, (rows, columns)), shape=(height, size))

    # numbers

    def _filled(self, point: Point, plan: _Plan, tolerance: float) -> tuple[Any, str | None]:
        """Return the matrix, and a row or column with a missing entry, or None."""
        entries = plan.entries
        rows, columns = entries.tocoo().coords
        if plan.by_rows:
            along = self._pulled(point, plan.groups, entries.shape)
            values = along[plan.groups.of[rows], columns]
        else:
            along = self._along(point, plan.groups, entries.shape)
            values = along[plan.groups.of[columns], rows]
        sparse = _module("scipy.sparse")
        made = sparse.csr_array((values, (rows, columns)), shape=entries.shape)
        checked = made.T.tocsr() if plan.by_rows else made
        missed = _missed(checked, along[-1], _weights(checked.shape[1]), tolerance)
        word = "column" if plan.by_rows else "row"
        return made, None if missed is None else f"{word} {missed}"

    def _along(self, point: Point, found: Groups, shape: tuple[int, int]) -> Any:
        """Return the tangents along each group of columns, and along all columns, weighted."""
        x = point.moving
        self._same(shape[1], x.size, "columns", "numbers in the argument")
        seeds = [(found.of == g).astype(x.dtype).reshape(x.shape) for g in range(found.count)]
        seeds.append(_weights(x.size).astype(x.dtype).reshape(x.shape))
        y, dots = self._pushed(point, seeds)
        self._same(shape[0], y.size, "rows", "numbers in the result")
        return np.stack([np.ravel(dot) for dot in dots])

    def _pulled(self, point: Point, found: Groups, shape: tuple[int, int]) -> Any:
        """Return the cotangents of each group of rows, and of all rows, weighted."""
        self._same(shape[1], point.moving.size, "columns", "numbers in the argument")
        y, pullback, *_ = self._dense._value_and_pullback(point)
        self._result(y)
        self._same(shape[0], y.size, "rows", "numbers in the result")
        seeds = [(found.of == g).astype(y.dtype).reshape(y.shape) for g in range(found.count)]
        seeds.append(_weights(y.size).astype(y.dtype).reshape(y.shape))
        return np.stack([np.ravel(pullback(seed)) for seed in seeds])

    def _pushed(self, point: Point, seeds: list[Any]) -> tuple[Any, Any]:
        entry = self._dense._found(self._dense._forward, point)
        (moved,) = point.settled.wrt
        y, dots, *_ = pushed(entry.bound.call, point.bound, {moved: seeds}, batch=True)
        self._result(y)
        return y, dots

    def _result(self, y: Any) -> None:
        if not isinstance(y, np.ndarray) or y.dtype.kind != "f":
            raise self._error(
                "A sparse Jacobian needs a function that returns one array of real numbers.",
                "Return one array, or use s2sad.jacobian.",
            )

    def _same(self, length: int, size: int, what: str, of: str) -> None:
        if length != size:
            raise self._error(
                f"The pattern has {length} {what}, but there are {size} {of}.",
                "Give a matrix with a row for each number of the result and a column for each of "
                "the argument.",
            )

    def __repr__(self) -> str:
        return f"<s2sad.sparse.jacobian({self._f!r})>"


def _missed(matrix: Any, along: Any, weights: Any, tolerance: float) -> int | None:
    """Return a row where the matrix times a vector differs from the tangent along the vector."""
    limit = np.finfo(along.dtype).eps ** tolerance
    with np.errstate(all="ignore"):
        product = matrix @ weights
        scale = abs(matrix) @ weights + abs(along)
        off = abs(product - along) > limit * scale
        off |= np.isfinite(product) & ~np.isfinite(along)
    found = np.flatnonzero(off)
    return int(found[0]) if found.size else None


@functools.lru_cache(maxsize=16)
def _weights(size: int) -> Any:
    """Return reproducible random weights, so that no sum of entries cancels by accident."""
    made = np.random.default_rng(size).uniform(0.5, 1.5, size)
    made.flags.writeable = False
    return made


def _at(x: Any, j: int, value: float) -> Any:
    made = np.zeros(x.shape, x.dtype)
    made.reshape(-1)[j] = value
    return made


def _boolean(matrix: Any) -> Any:
    """Return where a matrix has entries, as a csr_array of booleans."""
    sparse = _module("scipy.sparse")
    made = sparse.csr_array(matrix)
    made.sum_duplicates()
    return sparse.csr_array((np.ones(made.nnz, bool), made.indices, made.indptr), shape=made.shape)


def _module(name: str) -> Any:
    """Return a library that sparse Jacobians need."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ImportError(
            f"Sparse Jacobians need {name.partition('.')[0]}: pip install 's2sad[sparse]'."
        ) from None
