"""Second derivatives: along one direction (hvp), and all of them (hessian), forward over reverse.

hvp(f, (x,), (v,))      the tangent of f's gradient along v
hessian(f)(x)           the same along every unit vector, in blocks

What is run is the derivative of a derived gradient: for every direction once.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from s2sad.capture.read import unwrap
from s2sad.derived import Derived, Options, kinds_of, place_of, reached_by, refuse_shared
from s2sad.directions import cast_tangents, pushed
from s2sad.errors import ActivityError
from s2sad.parameters import Parameters, settle
from s2sad.tree import leaves, map_leaves


class Hessian:
    """The second derivatives of a function that returns a real scalar."""

    def __init__(self, f: Callable[..., Any], gradient: Any, has_aux: bool) -> None:
        self._f = f
        self._gradient = gradient
        self._has_aux = has_aux
        self._products: dict[tuple[str, ...], Derived] = {}
        name = gradient.__name__.removesuffix("_grad")
        self.__name__ = f"{name}_hessian"
        self.__qualname__ = f"{gradient.__qualname__.removesuffix('_grad')}_hessian"
        self.__module__ = gradient.__module__
        self.__doc__ = f"Hessian of {name}."

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Return the blocks of second derivatives; with has_aux, and what f returns besides."""
        bound, names, single = self._bound(args, kwargs)
        values = bound.arguments
        derived = self._derived(names)
        entry = derived.find(tuple(values.values()))
        if entry.bound.writes:
            refuse_shared(reached_by(entry.bound, values), derived.parameters)
        for n in entry.as_float:
            values[n] = float(values[n])
        point = tuple(values[n] for n in names)
        columns, aux = [], None
        for direction in _units(point):
            tangents = cast_tangents(direction, point, names)
            _, along, *aux = pushed(entry.bound.call, bound, tangents)
            columns.append(along)
        made = _blocks(point[0] if single else point, columns)
        return (made, aux[0]) if self._has_aux and aux else made

    @property
    def __signature__(self) -> inspect.Signature:
        found: inspect.Signature = self._gradient.__signature__
        return found

    def source(self, *args: Any, **kwargs: Any) -> str:
        """Return the source of the gradient's derivative along a direction."""
        return self._product(args, kwargs).source(*args, **kwargs)  # type: ignore[no-any-return]

    def emit(self, path: str | Path, *args: Any, **kwargs: Any) -> Path:
        """Write the gradient's derivative along a direction as a module."""
        return self._product(args, kwargs).emit(path, *args, **kwargs)  # type: ignore[no-any-return]

    def _product(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        names = self._gradient._derived.choice.names
        if args or kwargs:
            _, names, _ = self._bound(args, kwargs)
        return type(self._gradient)(self._gradient, Options("jvp", names, self._has_aux))

    def _bound(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[inspect.BoundArguments, tuple[str, ...], bool]:
        """Return the arguments of a call, and by which of them is differentiated."""
        callee = unwrap(self._gradient)
        assert callee is not None
        parameters = Parameters.of(callee.fn, len(callee.args), frozenset(callee.kwargs))
        bound = parameters.bind((*callee.args, *args), {**callee.kwargs, **kwargs})
        kinds = kinds_of(parameters, bound.arguments.values())
        try:
            settled = settle(parameters, self._gradient._derived.choice, kinds)
        except ActivityError as error:
            raise error.at(place_of(parameters.fn)) from None
        return bound, settled.wrt, settled.single

    def _derived(self, names: tuple[str, ...]) -> Derived:
        callee = unwrap(self._gradient)
        assert callee is not None
        known = self._products.get(names)
        if known is None:
            parameters = Parameters.of(callee.fn, len(callee.args), frozenset(callee.kwargs))
            options = Options("jvp", names, self._has_aux)
            known = Derived(parameters, options, _no_shortcut, callee.args)
            self._products[names] = known
        return known

    def __reduce__(self) -> Any:
        return Hessian, (self._f, self._gradient, self._has_aux)

    def __repr__(self) -> str:
        return f"<s2sad.hessian({self._f!r})>"


def _no_shortcut(*args: Any) -> Any:
    raise AssertionError("hessian has no shortcut")


def _units(point: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Yield every direction in which one number of a structure moves, and nothing else."""
    sizes = [np.size(leaf.value) for leaf in leaves(point)]
    for i, size in enumerate(sizes):
        for k in range(size):
            met = iter(range(len(sizes)))

            def unit(leaf: Any, here: int = i, place: int = k, met: Any = met) -> Any:
                moved = next(met) == here
                if np.ndim(leaf) == 0 and not hasattr(leaf, "shape"):
                    return type(leaf)(moved)
                tangent = np.zeros_like(leaf)
                if moved:
                    tangent[np.unravel_index(place, leaf.shape)] = 1
                return tangent[()] if isinstance(leaf, np.generic) else tangent

            yield map_leaves(unit, point, other=lambda leaf: None)


def _blocks(point: Any, columns: list[Any]) -> Any:
    """Return, for each leaf, a structure of its second derivatives by each leaf, from columns."""
    rows = [[leaf.value for leaf in leaves(column)] for column in columns]
    given = [leaf.value for leaf in leaves(point)]
    starts = np.cumsum([0, *(np.size(v) for v in given)])
    outer = iter(range(len(given)))

    def row(leaf: Any) -> Any:
        i = next(outer)
        inner = iter(range(len(given)))

        def block(other: Any) -> Any:
            j = next(inner)
            parts = [rows[k][i] for k in range(starts[j], starts[j + 1])]
            if not np.shape(leaf) and not np.shape(other):
                return parts[0]
            shape = np.shape(leaf) + np.shape(other)
            if not parts:
                return np.zeros(shape)
            stacked = np.stack([np.asarray(part) for part in parts], axis=-1)
            return stacked.reshape(shape)

        return map_leaves(block, point, other=lambda part: None)

    return map_leaves(row, point, other=lambda part: None)
