"""Derivatives of sums over partitions that Dask holds: data that no one memory takes.

    X = dask.array.random.random((10_000_000, 3), chunks=(100_000, 3))
    s2sad.dask.value_and_grad(loss, over="X")(w, X)      loss(w, part) of each part, added up

f is a plain NumPy function of one partition. It is derived once, here; the workers get the derived
functions, the partitions stay where they are, and partial results are added in a tree that depends
on nothing but the number of partitions: the same partitions give the same bits. Dask schedules, by
threads, processes or a cluster's Client, as it does everything. Needs dask (s2sad[dask]).
"""

from __future__ import annotations

import functools
import inspect
import linecache
import sys
import types
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar, overload

import numpy as np

from s2sad import api, registry
from s2sad.capture.fitted import fit, fitted, takes_shape
from s2sad.decorated import Differentiable
from s2sad.derivative import derivative_of
from s2sad.errors import ActivityError, MismatchError, Place, UnsupportedError
from s2sad.known.signature import key_of, lasting_key
from s2sad.operators.any_shape import OfAnyShape
from s2sad.operators.derived import (
    Derived,
    Entry,
    Options,
    kinds_of,
    place_of,
    reached_by,
    refuse_shared,
)
from s2sad.operators.door import door
from s2sad.operators.given_tangents import cast_tangents, directions
from s2sad.operators.parameters import Parameters, Wrt
from s2sad.operators.partitions import (
    BY_VALUE,
    Given,
    Hole,
    Plan,
    Ready,
    Unmet,
    Work,
    in_one_piece,
    scaled,
)
from s2sad.operators.pullbacks import filled
from s2sad.operators.shown import Shown
from s2sad.operators.splits import examples, is_collection, library, reduced, splits

__all__ = ["Partitioned", "grad", "hvp", "jvp", "value_and_grad"]

R = TypeVar("R")
L = TypeVar("L")
A = TypeVar("A")

# By reference, as it pickles itself, a worker would not find one that a script defines.
BY_VALUE[Differentiable] = lambda f: (Differentiable, (f.__s2sad_primal__, f.__s2sad_wrt__))

Met = dict[Any, list[tuple[Any, ...]]]  # examples of partitions, by the kinds of what is not split
Over = int | str | tuple[int | str, ...]
Reduce = Literal["sum", "mean"]
_REDUCTIONS = ("sum", "mean")
_ROUNDS = 3  # partitions of kinds that are new are derived for after the first, all of them
_KEPT = 32  # examples of partitions that are kept between calls


# --- what users call -----------------------------------------------------------------------------


@overload
def grad(
    f: Callable[..., tuple[Any, A]],
    wrt: Wrt = None,
    *,
    over: Over,
    reduce: Reduce = "sum",
    has_aux: Literal[True],
    jit: bool = False,
) -> Partitioned[tuple[Any, list[A]]]: ...
@overload
def grad(
    f: Callable[..., Any],
    wrt: Wrt = None,
    *,
    over: Over,
    reduce: Reduce = "sum",
    has_aux: bool = False,
    jit: bool = False,
) -> Partitioned[Any]: ...
@door
def grad(
    f: Callable[..., Any],
    wrt: Wrt = None,
    *,
    over: Over,
    reduce: Reduce = "sum",
    has_aux: bool = False,
    jit: bool = False,
) -> Partitioned[Any]:
    """Return a function that gives the gradient of f, added up over partitions.

    It is `value_and_grad` without the value; with `has_aux` the result is `(gradient, [aux, ...])`.
    """
    again = functools.partial(grad, wrt=wrt, over=over, reduce=reduce, has_aux=has_aux, jit=jit)
    made: Partitioned[Any] = _operator(f, Options("grad", wrt, has_aux), over, reduce, again)
    return made


@overload
def value_and_grad(
    f: Callable[..., tuple[L, A]],
    wrt: Wrt = None,
    *,
    over: Over,
    reduce: Reduce = "sum",
    has_aux: Literal[True],
    jit: bool = False,
) -> Partitioned[tuple[tuple[L, list[A]], Any]]: ...
@overload
def value_and_grad(
    f: Callable[..., L],
    wrt: Wrt = None,
    *,
    over: Over,
    reduce: Reduce = "sum",
    has_aux: Literal[False] = False,
    jit: bool = False,
) -> Partitioned[tuple[L, Any]]: ...
@door
def value_and_grad(
    f: Callable[..., Any],
    wrt: Wrt = None,
    *,
    over: Over,
    reduce: Reduce = "sum",
    has_aux: bool = False,
    jit: bool = False,
) -> Partitioned[Any]:
    """Return a function that gives the value and the gradient of f, added up over partitions.

    >>> def loss(w, X, y):
    ...     return np.sum((X @ w - y) ** 2)
    >>> X = dask.array.ones((6, 2), chunks=(2, 2))
    >>> y = dask.array.arange(6.0, chunks=2)
    >>> s2sad.dask.value_and_grad(loss, over=("X", "y"))(np.ones(2), X, y)
    (np.float64(19.0), array([-6., -6.]))

    `over` names the arguments that are split, by name or position: dask arrays in chunks along the
    first axis, bags, data frames, or lists of delayed values. f sees one partition of each: an
    array, a list, a dict with an array for each column, a value. All have equally many partitions.
    The other arguments are sent to every worker once. `wrt` is that of s2sad.grad; what is split is
    not differentiated.

    With `reduce="mean"` the sum is divided by the number of partitions, whatever their lengths.
    With `has_aux`, f returns `(loss, aux)` and the result is `((loss, [aux, ...]), gradient)`, with
    the aux of each partition in order.

    What f raises for a partition is raised here, with notes that name the partition and the line.
    Other errors are those of s2sad.grad, and MismatchError where partitions do not fit together.
    """
    again = functools.partial(
        value_and_grad, wrt=wrt, over=over, reduce=reduce, has_aux=has_aux, jit=jit
    )
    options = Options("value_and_grad", wrt, has_aux)
    made: Partitioned[Any] = _operator(f, options, over, reduce, again)
    return made


@door
def jvp(
    f: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    over: Over,
    reduce: Reduce = "sum",
    has_aux: bool = False,
    jit: bool = False,
) -> Any:
    """Return `(y, dy)`: f's value and its derivative along tangents, added up over partitions.

    >>> X = dask.array.ones((6, 2), chunks=(2, 2))
    >>> w, v = np.ones(2), np.array([1.0, 0.0])
    >>> s2sad.dask.jvp(lambda w, X: np.sum((X @ w) ** 2), (w, X), (v, None), over="X")
    (np.float64(24.0), np.float64(24.0))

    There is one tangent for each of `primals`; None for what is constant, or split. f may return an
    array or a structure, of one shape for all partitions. With `has_aux` the result is
    `(y, dy, [aux, ...])`. `over` and `reduce` are those of value_and_grad.
    """
    _refuse(reduce, jit)
    chosen = directions(primals, tangents)
    f = _fitted(f, primals, chosen, over)
    derived, bound, along = api.along(f, primals, tangents, has_aux)
    call = _Call(derived, bound, "jvp", has_aux, _split(derived.parameters, over))
    total = _total(call, _cast(call, along), {}).divided(reduce)
    y, dy = total.value, total.derivative
    return (y, dy, total.auxs) if has_aux else (y, dy)


@door
def hvp(
    f: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    over: Over,
    reduce: Reduce = "sum",
    jit: bool = False,
) -> Any:
    """Return the product of the Hessian of f, added up over partitions, with tangents.

    >>> X = dask.array.ones((6, 2), chunks=(2, 2))
    >>> w, v = np.ones(2), np.array([1.0, 0.0])
    >>> s2sad.dask.hvp(lambda w, X: np.sum((X @ w) ** 2), (w, X), (v, None), over="X")
    array([12., 12.])

    f returns a real scalar for each partition. Tangents are None for what is constant, or split.
    """
    _refuse(reduce, jit)
    chosen = directions(primals, tangents)
    f = _fitted(f, primals, chosen, over)
    gradient: Any = api.Operator(f, Options("grad", chosen if len(chosen) > 1 else chosen[0]))
    derived, bound, along = api.along(gradient, primals, tangents, False)
    call = _Call(derived, bound, "hvp", False, _split(derived.parameters, over))
    return _total(call, _cast(call, along), {}).divided(reduce).derivative


def _operator(
    f: Callable[..., Any], options: Options, over: Over, reduce: str, again: Callable[..., Any]
) -> Any:
    _refuse(reduce, again.keywords["jit"])  # type: ignore[attr-defined]
    if _takes_shape(f, options.wrt, over):
        return OfAnyShape(f, options.wrt, again)
    return Partitioned(f, options, over, reduce)


def _refuse(reduce: str, jit: bool) -> None:
    api._refuse_jit(jit)
    if reduce not in _REDUCTIONS:
        raise ValueError(f"reduce={reduce!r} is not one of {', '.join(_REDUCTIONS)}")
    library("dask")
    library("threadpoolctl")


def _takes_shape(f: Any, wrt: Wrt, over: Over) -> bool:
    """Say whether what is differentiated, or split, depends on how f is called."""
    return takes_shape(f, wrt) or takes_shape(f, over if over else None)


def _fitted(f: Any, primals: Sequence[Any], chosen: tuple[int, ...], over: Over) -> Any:
    if takes_shape(f, over if over else None):
        return fit(f, primals, {}, chosen, every=True)
    return fitted(f, primals, None, chosen, every=True)


# --- operators -----------------------------------------------------------------------------------


class Partitioned(Shown, Generic[R]):
    """A function's derivative, added up over the partitions of some of its arguments."""

    def __init__(
        self, f: Callable[..., Any], options: Options, over: Over, reduce: str = "sum"
    ) -> None:
        callee = api.callee_of(f, options.mode)
        parameters = Parameters.of(callee.fn, len(callee.args), frozenset(callee.kwargs))
        split = _split(parameters, over)
        self._f = f
        self._over = over
        self._reduce = reduce
        self._options = options
        self._operator: api.Operator[..., Any] = api.Operator(
            f, replace(options, apart=frozenset(split))
        )
        self._met: Met = {}
        self.__name__ = self._operator.__name__
        self.__qualname__ = self._operator.__qualname__
        self.__module__ = self._operator.__module__
        self.__doc__ = f"{str(self._operator.__doc__)[:-1]}, over partitions of {', '.join(split)}."
        self._refuse_chosen(split)

    def _refuse_chosen(self, split: tuple[str, ...]) -> None:
        """Refuse to differentiate by what is split."""
        derived = self._operator._derived
        wrong = next((n for n in derived.choice.names if n in split), None)
        if wrong is None:
            return
        name = derived.parameters.name
        reason = f"wrt names {wrong}, which over names, too"
        if self._operator._options.wrt is None:
            reason = f"{name} is differentiated with respect to {wrong}, which over names"
        raise ActivityError(
            f"{reason}: the derivative would be as large as all partitions.",
            remedy=f"Let wrt= name parameters that are not split; take {wrong}'s derivatives "
            "partition by partition, as in delayed(s2sad.grad(f))(part).",
            place=place_of(derived.parameters.fn),
        )

    @door
    def __call__(self, /, *args: Any, **kwargs: Any) -> R:
        """Return the derivative at these arguments, of which some are collections of Dask's."""
        bound = self._operator._bind(args, kwargs)
        derived, has_aux = self._operator._derived, self._options.has_aux
        split = _split(derived.parameters, self._over)
        call = _Call(derived, bound, self._options.mode, has_aux, split)
        total = _total(call, {}, self._met).divided(self._reduce)
        made = total.derivative
        if self._options.mode == "value_and_grad":
            made = ((total.value, total.auxs) if has_aux else total.value), made
        elif has_aux:
            made = made, total.auxs
        finish = total.entry.finish
        return made if finish is None else finish(made, bound.arguments)  # type: ignore[no-any-return]

    @property
    def __signature__(self) -> inspect.Signature:
        return self._operator.__signature__

    @door
    def source(self, *args: Any, **kwargs: Any) -> str:
        """Return what is derived for a partition, for example arguments or from annotations.

        What is split may be given as it is in a call, or as one partition.
        """
        args, kwargs = self._one_partition(args, kwargs)
        return self._operator.source(*args, **kwargs)

    @door
    def emit(self, path: str | Path, *args: Any, **kwargs: Any) -> Path:
        """Write what is derived for a partition as a module."""
        args, kwargs = self._one_partition(args, kwargs)
        return self._operator.emit(path, *args, **kwargs)

    def _one_partition(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return arguments with one partition for each collection."""
        if not args and not kwargs:
            return args, kwargs
        bound = self._operator._parameters.visible().bind(*args, **kwargs)
        names = _split(self._operator._parameters, self._over)
        given = {n: v for n, v in bound.arguments.items() if n in names and is_collection(v)}
        if given:
            parts = map(filled, examples(splits(given))[0])
            bound.arguments.update(zip(given, parts, strict=True))
        return bound.args, bound.kwargs

    def __reduce__(self) -> Any:
        return Partitioned, (self._f, self._options, self._over, self._reduce)

    def __repr__(self) -> str:
        wrt = "" if self._options.wrt is None else f", wrt={self._options.wrt!r}"
        reduce = "" if self._reduce == "sum" else f", reduce={self._reduce!r}"
        return f"<s2sad.dask.{self._options.mode}({self._f!r}{wrt}, over={self._over!r}{reduce})>"


def _split(parameters: Parameters, over: Over) -> tuple[str, ...]:
    """Return the parameters that are split, by name, in the order in which over names them."""
    asked = over if isinstance(over, tuple) else (over,)
    listed = f"The parameters of {parameters.name} are {', '.join(parameters.open) or 'none'}."
    if not asked:
        raise ActivityError("over=() names no parameter.", remedy=listed)
    found: list[str] = []
    for one in asked:
        name = one
        if isinstance(one, int | np.integer) and not isinstance(one, bool):
            count = len(parameters.open)
            name = parameters.open[one] if -count <= one < count else ""
        elif not isinstance(one, str):
            raise ActivityError(
                f"over needs a position, a name, or a tuple of these, not {one!r}.", remedy=listed
            )
        if name not in parameters.open:
            raise ActivityError(
                f"over={over!r} names no parameter of {parameters.name}.",
                remedy=listed,
                place=place_of(parameters.fn),
            )
        if name in found:
            raise ActivityError(f"over={over!r} names {name} twice.", remedy="Name it once.")
        found.append(str(name))
    return tuple(found)


# --- one call ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Call:
    """What was called: what is derived from, all arguments, and those of them that are split."""

    derived: Derived
    bound: inspect.BoundArguments
    mode: str
    has_aux: bool
    split: tuple[str, ...]

    def values(self, example: tuple[Any, ...]) -> dict[str, Any]:
        """Return all arguments by name, with a partition like an example."""
        return {**self.bound.arguments, **dict(zip(self.split, map(filled, example), strict=True))}

    def entry(self, example: tuple[Any, ...]) -> Entry:
        """Return what is derived for a partition like an example."""
        return self.derived.find(tuple(self.values(example).values()))

    def ready(self, examples: Sequence[tuple[Any, ...]]) -> dict[Any, tuple[Ready, ...]]:
        """Return what is derived for partitions like examples, by the partitions' kinds."""
        found: dict[Any, tuple[Ready, ...]] = {}
        for example in examples:
            bound = self.entry(example).bound
            if bound.writes:  # a partition's memory is its own
                given = self.bound.arguments.items()
                others = {n: v for n, v in given if n not in self.split}
                refuse_shared(reached_by(bound, others), self.derived.parameters)
            key = tuple(key_of(filled(part)) for part in example)
            known = found.get(key, ())
            if all(one.call is not bound.call for one in known):
                found[key] = (*known, Ready.of(bound))
        return found

    def given(self, tangents: dict[str, Any], as_float: Sequence[str]) -> Given:
        """Return the arguments with holes where partitions go."""
        holes: dict[str, Any] = {n: Hole(i) for i, n in enumerate(self.split)}
        values = {n: holes.get(n) or in_one_piece(v) for n, v in self.bound.arguments.items()}
        values |= {n: float(values[n]) for n in as_float}
        holed = inspect.BoundArguments(self.bound.signature, OrderedDict(values))
        return Given(holed.args, holed.kwargs, values, in_one_piece(tangents))

    @property
    def name(self) -> str:
        """What the tasks are called."""
        name = self.derived.parameters.fn.__name__.replace("<lambda>", "lambda")
        return name if self.mode == "hvp" else f"{name}_{self.mode}"


@dataclass(frozen=True)
class _Total:
    """What so many partitions give together; `entry` is what was derived for the first."""

    value: Any
    derivative: Any
    auxs: list[Any]
    count: int
    entry: Entry

    def divided(self, reduce: str) -> _Total:
        """Return it as it is, or divided by the number of partitions."""
        if reduce == "sum":
            return self
        value, derivative = scaled(self.value, self.count), scaled(self.derivative, self.count)
        return replace(self, value=value, derivative=derivative)


def _total(call: _Call, tangents: dict[str, Any], met: Met) -> _Total:
    """Return the sum over all partitions, and the aux of each one.

    `met` are examples of partitions from calls before, to which this call adds.
    """
    values = call.bound.arguments
    others = {n: v for n, v in values.items() if n not in call.split}
    for name, value in others.items():
        _refuse_unnamed(name, value)
    found = splits({n: values[n] for n in call.split})
    kinds = tuple(map(lasting_key, others.values()))
    known = list(met.get(kinds, ()))
    if not known or all(split.like is not None for split in found):
        known = _distinct([*examples(found), *known])
    number = 0
    for _ in range(_ROUNDS):
        entry, ready = call.entry(known[0]), call.ready(known)
        given = call.given(tangents, entry.as_float)
        work = Work(Plan(call.mode, call.has_aux, call.split, given, ready))
        with _Told(call, known):
            result, auxs = reduced(found, work, call.name, call.has_aux)
        if not isinstance(result, Unmet):
            met[kinds] = known[:_KEPT]
            count = len(found[0].keys)
            return _Total(result.value, result.derivative, auxs, count, entry)
        number = result.examples[0][0]
        known = _distinct([*known, *(example for _, example in result.examples)])
    raise UnsupportedError(
        f"s2sad cannot tell of what kind partition {number} of {' and '.join(call.split)} is.",
        remedy="Let partitions be arrays, or lists and dicts of numbers and arrays.",
        place=place_of(call.derived.parameters.fn),
    )


def _distinct(listed: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return list({repr(example): example for example in reversed(listed)}.values())[::-1]


def _refuse_unnamed(name: str, value: Any) -> None:
    parts = value if isinstance(value, list | tuple) else [value]
    if any(map(is_collection, parts)):
        raise MismatchError(
            f"{name} is a collection of Dask's, but over does not name it.",
            remedy=f"Name {name} in over, or pass {name}.compute().",
        )


def _cast(call: _Call, along: Sequence[Any]) -> dict[str, Any]:
    """Return the tangents by parameter, built like the arguments."""
    names, values = call.derived.choice.names, call.bound.arguments
    wrong = next((n for n in names if n in call.split), None)
    if wrong is not None:
        raise ActivityError(
            f"{wrong} has a tangent, but over names it.",
            remedy=f"Pass None for {wrong}: what is split is constant.",
        )
    points = [float(v) if type(v) is int else v for v in (values[n] for n in names)]
    cast: dict[str, Any] = cast_tangents(along, points, names)
    return cast


# --- errors --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Told:
    """Notes on what a partition raises which line of the user's it comes from.

    Derived text raises it, in the place of the user's.
    """

    call: _Call
    examples: Sequence[tuple[Any, ...]]

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: types.TracebackType | None,
    ) -> None:
        frames = [f for f in _frames(traceback) if f[0].startswith("<s2sad ")]
        if error is None or not frames:
            return
        file, line = frames[-1]
        places = [*self.places("".join(linecache.getlines(file)), line)]
        if not places or any(place.file.startswith("<s2sad ") for place in places):
            places = [self.home] if self.home is not None else []  # of a derivative's derivative
        for place in places:
            error.add_note(place.render())

    @property
    def home(self) -> Place | None:
        """Where the user's function stands."""
        fn = self.call.derived.parameters.fn
        derivative = derivative_of(fn)
        return place_of(fn if derivative is None else derivative.fn)

    def places(self, text: str, number: int) -> Iterator[Place]:
        """Yield the user's lines that a line of derived text comes from."""
        from s2sad.operators.deriving import lines_of

        derived = self.call.derived
        for example in self.examples:
            values = self.call.values(example).values()
            request, _ = derived.request(kinds_of(derived.parameters, values), values)
            mine, origins = lines_of(request)
            shift = _shift(text, mine)
            if shift is not None and number + shift in origins:
                yield from (_line(*spot) for spot in sorted(origins[number + shift].spots))
                return


def _shift(text: str, other: str) -> int | None:
    """Return by how many lines a derived text is shifted in another, which has other imports."""
    one, two = text.rstrip().splitlines(), other.rstrip().splitlines()
    shift = len(two) - len(one)
    return shift if two[max(shift, 0) :] == one[max(-shift, 0) :] else None


def _line(file: str, number: int) -> Place:
    text = linecache.getline(file, number).rstrip("\n")
    return Place(file, number, len(text) - len(text.lstrip()), len(text), text)


def _frames(traceback: types.TracebackType | None) -> Iterator[tuple[str, int]]:
    while traceback is not None:
        yield traceback.tb_frame.f_code.co_filename, traceback.tb_lineno
        traceback = traceback.tb_next


registry.refuse(
    sys.modules[__name__],
    "grad value_and_grad jvp hvp",
    because="its partitions are computed by Dask, elsewhere",
    instead="Call it outside, and differentiate the function of one partition: "
    "`s2sad.dask.value_and_grad(f, over=...)` gives what f's own parameters need.",
)
