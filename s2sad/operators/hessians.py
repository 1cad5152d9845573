"""Second derivatives: along one direction (hvp), and all of them (hessian), forward over reverse.

hvp(f, (x,), (v,))      the tangent of f's gradient along v
hessian(f)(x)           the same along every unit vector, in blocks

What is run is the derivative of a derived gradient: for every direction once.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar, cast

from s2sad.capture.read import unwrap
from s2sad.errors import ActivityError
from s2sad.operators.blocks import Blocks
from s2sad.operators.cotangents import mirror, mixes
from s2sad.operators.derived import Derived, Options, kinds_of, place_of, reached_by, refuse_shared
from s2sad.operators.door import door
from s2sad.operators.given_tangents import cast_tangents, pushed
from s2sad.operators.moves import Moves
from s2sad.operators.parameters import Parameters, Settled, settle
from s2sad.operators.shown import Shown

P = ParamSpec("P")
R = TypeVar("R")


class Hessian(Shown, Generic[P, R]):
    """The second derivatives of a function that returns a real scalar."""

    __s2sad_operator__ = True

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

    @door
    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Return the blocks of second derivatives; with has_aux, and what f returns besides."""
        bound, settled = self._bound(args, kwargs)
        values, names = bound.arguments, settled.wrt
        derived = self._derived(names)
        entry = derived.find(tuple(values.values()))
        if entry.bound.writes:
            refuse_shared(reached_by(entry.bound, values), derived.parameters)
        for n in entry.as_float:
            values[n] = float(values[n])
        moves = Moves(values, names, settled.results())

        def along(*way: Any) -> Any:
            tangents = moves.along(*way)
            given = cast_tangents(list(tangents.values()), [values[n] for n in names], names)
            return pushed(entry.bound.call, bound, given)

        columns = [
            (j, k, along(j, k), along(j, k, 1j)[1] if turned else None)
            for j, k, turned in moves.each()
        ]
        gradient, _, *aux = columns[0][2] if columns else along()
        point = moves.point[0] if settled.single else moves.point
        mixed = mixes(point)
        if mixed:  # the gradient's own derivatives take integers in lists for floats
            gradient = mirror(gradient, point)
        blocks = Blocks(gradient, point, f"the gradient of {self._gradient._parameters.name}")
        for j, k, (_, dot, *_), turned in columns:
            blocks.column(j, k, mirror(dot, point) if mixed else dot, turned)
        made = blocks.structure()
        result: Any = (made, *aux) if self._has_aux else made
        return cast(R, result)

    @functools.cached_property
    def __s2sad_primal__(self) -> Any:
        """A function that stands for this derivative where it is derived again."""
        return self._gradient._stand_in("hessian")

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
            names = self._bound(args, kwargs)[1].wrt
        return type(self._gradient)(self._gradient, Options("jvp", names, self._has_aux))

    def _bound(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[inspect.BoundArguments, Settled]:
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
        return bound, settled

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

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self) -> Any:
        return Hessian, (self._f, self._gradient, self._has_aux)

    def __repr__(self) -> str:
        return f"<s2sad.hessian({self._f!r})>"


def _no_shortcut(*args: Any) -> Any:
    raise AssertionError("hessian has no shortcut")
