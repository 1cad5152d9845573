"""Jacobians: a pullback called for every number of the result, or a sweep for all of the arguments.

jacobian(f)(x)              shape of the result + shape of x
jacobian(f, (0, 1))(x, p)   for each leaf of the result a pair of structures of such blocks

Rows share the value and its tape, columns the value; `auto` takes what needs fewer of them.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

from s2sad import kinds as K
from s2sad.errors import ActivityError, MissingRuleError, UnsupportedError
from s2sad.operators.blocks import Blocks, sizes, unit
from s2sad.operators.derived import Derived, Entry, one_like, place_of, reached_by, refuse_shared
from s2sad.operators.door import door
from s2sad.operators.given_tangents import built_like, pushed
from s2sad.operators.moves import Moves
from s2sad.operators.parameters import Settled, unfolded
from s2sad.operators.shown import Shown
from s2sad.tree import leaves

MODES = ("auto", "forward", "reverse")
_KEPT = 64  # shapes of arguments for which it is remembered that there are fewer columns


@dataclass(frozen=True)
class Point:
    """Where a Jacobian is asked for: all arguments, and those that it is taken by."""

    bound: inspect.BoundArguments
    settled: Settled
    given: tuple[Any, ...]

    @functools.cached_property
    def moving(self) -> Any:
        """What is differentiated: bare where it is one."""
        return self.moves.point[0] if self.settled.single else self.moves.point

    @functools.cached_property
    def moves(self) -> Moves:
        """The numbers that move."""
        return Moves(self.bound.arguments, self.settled.wrt, self.settled.results())


P = ParamSpec("P")
R = TypeVar("R")


class Jacobian(Shown, Generic[P, R]):
    """A function's Jacobian, of two operators: its vjp and its jvp in several directions."""

    __s2sad_operator__ = True
    # In a slot as that of the other operators: where it is called in what is differentiated, there
    # is no source to go into.
    __slots__ = ("__call__", "__dict__", "__weakref__")
    __call__: Callable[P, R]

    def __init__(
        self,
        f: Callable[..., Any],
        reverse: Any,
        forward: Any,
        mode: str,
        made_by: tuple[Callable[..., Any], tuple[Any, ...]],
    ) -> None:
        if mode not in MODES:
            raise ValueError(f"mode={mode!r} is not one of {', '.join(MODES)}")
        self._f = f
        self._reverse = reverse
        self._forward = forward
        self._mode = mode
        self._made_by = made_by
        self._tall: set[Any] = set()
        self._slopes: Derived | None = None
        self.__call__ = self._jacobian
        name = reverse.__name__.removesuffix("_vjp")
        self.__name__ = f"{name}_jacobian"
        self.__qualname__ = f"{reverse.__qualname__.removesuffix('_vjp')}_jacobian"
        self.__module__ = reverse.__module__
        self.__doc__ = f"Jacobian of {name}."

    @door
    def _jacobian(self, /, *args: Any, **kwargs: Any) -> Any:
        """Return the blocks of derivatives; with has_aux, and what f returns besides."""
        point = self._point(args, kwargs)
        if self._mode == "forward":
            return self._columns(point)
        if self._mode == "reverse":
            return self._rows(point, *self._value_and_pullback(point))
        return self._shorter(point)

    # which way

    def _shorter(self, point: Point) -> Any:
        """Take the way that needs fewer sweeps, or the only one that there is."""
        width, key = sum(sizes(point.moving)), _shapes(point)
        if width <= 1 or key in self._tall:
            try:
                return self._columns(point)
            except (UnsupportedError, MissingRuleError):
                return self._rows(point, *self._value_and_pullback(point))
        try:
            found = self._found(self._reverse, point)
        except (UnsupportedError, MissingRuleError) as error:
            return self._columns(point, error)
        result = self._value_and_pullback(point, found)
        if sum(sizes(result[0])) > width and found.repeatable:
            try:
                self._found(self._forward, point)
            except (UnsupportedError, MissingRuleError):
                return self._rows(point, *result)
            if len(self._tall) < _KEPT:
                self._tall.add(key)
            return self._columns(point)
        return self._rows(point, *result)

    def _point(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Point:
        """Return where the derivative is asked for; what is no argument of f raises."""
        bound = self._reverse._bind(args, kwargs)
        given = tuple(bound.arguments.values())
        settled = self._reverse._derived.settled(given)
        for n in settled.as_float:
            bound.arguments[n] = float(bound.arguments[n])
        return Point(bound, settled, given)

    def _found(self, operator: Any, point: Point) -> Entry:
        return self._found_of(operator._derived, point)

    def _found_of(self, derived: Derived, point: Point) -> Entry:
        entry = derived.find(point.given)
        if entry.bound.writes:
            refuse_shared(reached_by(entry.bound, point.bound.arguments), derived.parameters)
        return entry

    # rows

    def _value_and_pullback(self, point: Point, entry: Entry | None = None) -> Any:
        entry = self._found(self._reverse, point) if entry is None else entry
        assert entry.finish is not None
        bound = point.bound
        return entry.finish(entry.bound.call(*bound.args, **bound.kwargs), bound.arguments)

    def _rows(self, point: Point, y: Any, pullback: Callable[[Any], Any], *aux: Any) -> Any:
        blocks = self._blocks(y, point.moving)
        for i, leaf in enumerate(leaves(y)):
            for k in range(np.size(leaf.value)):
                first = pullback(unit(y, i, k, 1))
                second = pullback(unit(y, i, k, -1j)) if np.iscomplexobj(leaf.value) else None
                self._taken(blocks.row, i, k, first, second)
        return self._finished(blocks, aux)

    # columns

    def _columns(self, point: Point, instead_of: Exception | None = None) -> Any:
        if point.settled.single and one_like(point.moving) is not None:
            try:
                return self._column(point)
            except (UnsupportedError, MissingRuleError):
                pass  # in several directions it may be known
        try:
            entry = self._found(self._forward, point)
        except (UnsupportedError, MissingRuleError):
            if instead_of is not None:
                raise instead_of from None
            raise
        moves = list(point.moves.each())
        tangents = self._tangents(point, moves)
        y, dots, *aux = pushed(entry.bound.call, point.bound, tangents, batch=True)
        blocks = self._blocks(y, point.moving)
        taken = iter(dots)
        for j, k, turned in moves:
            first = next(taken)
            self._taken(blocks.column, j, k, first, next(taken) if turned else None)
        return self._finished(blocks, tuple(aux))

    def _tangents(self, point: Point, moves: list[tuple[int, int, bool]]) -> dict[str, Any]:
        """Return for each parameter its tangents in all directions; at least one, of zeros."""
        ways = [(j, k, by) for j, k, turned in moves for by in ((1, 1j) if turned else (1,))]
        found = [point.moves.along(*way) for way in ways] or [point.moves.along()]
        return {n: [one[n] for one in found] for n in point.settled.wrt}

    # one column

    def _column(self, point: Point) -> Any:
        """Return the derivatives by one number, and call at once next time what gives them."""
        derived = self._along_one()
        entry = self._found_of(derived, point)
        if entry.bound.shortcut is not None:
            self.__call__ = entry.bound.shortcut
        seed = one_like(point.moving)
        y, dot, *aux = pushed(entry.bound.call, point.bound, {point.settled.wrt[0]: seed})
        blocks = self._blocks(y, seed)
        self._taken(blocks.column, 0, 0, dot, None)
        return self._finished(blocks, tuple(aux))

    def _along_one(self) -> Derived:
        """Return what is derived in one direction, by the parameters that f has now."""
        forward, parameters = self._forward, self._reverse._parameters
        known = self._slopes
        if known is None or known.parameters is not parameters:
            options = replace(forward._options, batch=False, along=True)
            known = self._slopes = Derived(
                parameters, options, self._unfold, forward._prefix, slope=self._slope
            )
        return known

    def _unfold(self, /, *args: Any) -> Any:
        """Take over from a shortcut: see `unfolded`."""
        args, kwargs = unfolded(self._reverse._parameters, len(self._reverse._prefix), args)
        return self._jacobian(*args, **kwargs)

    def _slope(self, seed: Any, y: Any, dot: Any) -> Any:
        """Return the derivatives of y by a number such as `seed`, whose tangent of 1 gave `dot`."""
        cls = type(y)
        if cls is type(dot) and (cls is float or cls is np.float64):
            if cls is type(seed):
                return dot
            return np.array(dot) if type(seed) is np.ndarray else type(seed)(dot)
        return self._shaped(seed, y, dot)

    @door
    def _shaped(self, seed: Any, y: Any, dot: Any) -> Any:
        blocks = self._blocks(y, seed)
        self._taken(blocks.column, 0, 0, built_like(y, dot), None)
        return blocks.structure()

    # what comes out

    def _taken(self, take: Callable[..., None], *given: Any) -> None:
        try:
            take(*given)
        except ActivityError as error:
            raise error.at(place_of(self._reverse._parameters.fn)) from None

    def _blocks(self, y: Any, moving: Any) -> Blocks:
        if leaves(y):
            return Blocks(y, moving, self._reverse._parameters.name)
        parameters = self._reverse._parameters
        given = K.describe(K.kind_of(y, "y"))
        raise ActivityError(
            f"{parameters.name} returns {given}, which has no derivative.",
            remedy="Return floats, arrays of floats, or a structure of these.",
            place=place_of(parameters.fn),
        )

    def _finished(self, blocks: Blocks, aux: tuple[Any, ...]) -> Any:
        return (blocks.structure(), *aux) if aux else blocks.structure()

    # text

    def source(self, *args: Any, **kwargs: Any) -> str:
        """Return the source of what it calls: the jvp in several directions, or the vjp."""
        return str(self._text(args, kwargs).source(*args, **kwargs))

    def emit(self, path: str | Path, *args: Any, **kwargs: Any) -> Path:
        """Write what it calls as a module: the jvp in several directions, or the vjp."""
        written: Path = self._text(args, kwargs).emit(path, *args, **kwargs)
        return written

    def _text(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self._mode != "auto":
            return self._forward if self._mode == "forward" else self._reverse
        if args or kwargs:
            point = self._point(args, kwargs)
            if sum(sizes(point.moving)) <= 1:
                return self._forward
        return self._reverse

    @functools.cached_property
    def __s2sad_primal__(self) -> Any:
        """A function that stands for this derivative where it is derived again."""
        return self._reverse._stand_in("jacobian")

    @property
    def __signature__(self) -> inspect.Signature:
        found: inspect.Signature = self._reverse.__signature__
        return found

    def _bound(self, instance: Any) -> Jacobian[..., Any]:
        """Return this operator with its first argument bound."""
        make, (f, *rest) = self._made_by
        made: Jacobian[..., Any] = make(functools.partial(f, instance), *rest[:-1], 0)
        return made

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self) -> Any:
        return self._made_by

    def __repr__(self) -> str:
        return f"<s2sad.jacobian({self._f!r})>"


def _shapes(point: Point) -> Any:
    """Return the shapes of all arrays given: what the number of results may depend on."""
    return tuple(np.shape(leaf.value) for leaf in leaves(list(point.given)))
