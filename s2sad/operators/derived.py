"""What was derived of one function under one operator: by the kinds of its arguments, and kept."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from s2sad import kinds as K
from s2sad.activities import Const, annotated
from s2sad.aliasing import Reached, reach, reach_shadow, refuse_overlap
from s2sad.errors import ActivityError, AliasError, UnsupportedError
from s2sad.known.pieces import lengths_given
from s2sad.known.signature import key_of, values_of
from s2sad.operators.cotangents import holds_integers, mirror, needs_mirror
from s2sad.operators.duplicated import Given, Pattern
from s2sad.operators.guard import IGNORED, may_ignore
from s2sad.operators.parameters import Choice, Parameters, Settled, Wrt, choose, settle
from s2sad.operators.pullbacks import checked, outline
from s2sad.operators.sharing import Bound, Recipe, Recipes
from s2sad.operators.sharing import place_of as place_of
from s2sad.requests import Request
from s2sad.runtime import private
from s2sad.stages import ANYWHERE, Written
from s2sad.tree import is_array

# One lock for every function: until 3.11.9 and 3.12.2, CPython counts the depth of the trees that
# ast.parse makes for all threads together (gh-106905), and fails where two threads parse in turn.
_lock = threading.RLock()
_KEPT = 8  # entries for one key, where what a function sees goes to and fro


@dataclass(frozen=True)
class Options:
    """What an operator is asked for."""

    mode: str = "grad"
    wrt: Wrt = None
    has_aux: bool = False
    given: int | None = None  # for vjp: how many arguments the call gives
    pattern: Pattern | None = None  # for autodiff: the activities
    batch: bool = False  # for jvp: several directions in one sweep
    plain: bool = False  # each cotangent has a statement of its own, where it arises
    first: bool = False  # for vjp and jvp: of what nothing chooses the first, as grad does
    along: bool = False  # for jvp: what is called takes no tangent, but gives the slope by a number
    apart: frozenset[str] = frozenset()  # parameters that are never chosen by custom


@dataclass(frozen=True)
class Entry:
    """One derived function: how it is called, and while what it was derived from still holds."""

    bound: Bound
    as_float: tuple[str, ...]
    finish: Callable[[Any, dict[str, Any]], Any] | None
    repeatable: bool = False  # nobody could tell if the function ran twice
    valued: Hashable = None  # the words and integers of arguments, where it was derived by value

    def holds(self) -> bool:
        """Say whether all that was seen when it was derived is still seen."""
        return all(same() for same in self.bound.guards)


Entries = dict[Any, tuple[Entry, ...]]
recipes = Recipes()


class Derived:
    """What was derived from one function for one set of options, by the kinds of arguments.

    Reading takes no lock: entries are only ever added, in a new tuple.
    """

    def __init__(
        self,
        parameters: Parameters,
        options: Options,
        general: Callable[..., Any],
        prefix: tuple[Any, ...] = (),
        entries: Entries | None = None,
        slope: Callable[..., Any] | None = None,
    ) -> None:
        self.parameters = parameters
        self.slope = slope
        self.options = options
        self.general = general
        self.prefix = prefix
        self.entries: Entries = {} if entries is None else entries

    @functools.cached_property
    def choice(self) -> Choice:
        """The parameters that wrt or the annotations choose."""
        pattern = self.options.pattern
        if pattern is not None:
            wanted = {*pattern.active, *pattern.shadowed}
            return Choice(tuple(n for n in self.parameters.names if n in wanted), True, False)
        try:
            every = self.options.mode in ("vjp", "jvp") and not self.options.first
            chosen = choose(self.parameters, self.options.wrt, every, self.options.given)
            if chosen.must:
                return chosen
            return replace(
                chosen, names=tuple(n for n in chosen.names if n not in self.options.apart)
            )
        except ActivityError as error:
            raise error.at(place_of(self.parameters.fn)) from None

    def find(self, values: tuple[Any, ...]) -> Entry:
        """Return the entry for the values of all parameters; derive it if there is none."""
        key = _key(self._asked(values))
        entry = self._known(key, values)
        if entry is None:
            with _lock:
                entry = self._known(key, values)
                if entry is None:
                    entry = self._shared(key, values) or self._derive(key, values)
                    self.entries[key] = (entry, *self.entries.get(key, ()))[:_KEPT]
        return entry

    def _asked(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the values whose kinds matter; IGNORED for the others."""
        ignored = self.ignored
        if not ignored:
            return values
        pairs = zip(self.parameters.names, values, strict=True)
        return tuple([IGNORED if n in ignored and may_ignore(v) else v for n, v in pairs])

    @functools.cached_property
    def ignored(self) -> frozenset[str]:
        """The parameters whose kinds nobody asks: not read and not differentiated."""
        return self.parameters.unread - set(self.choice.names)

    def _known(self, key: Any, values: tuple[Any, ...]) -> Entry | None:
        for entry in self.entries.get(key, ()):
            if entry.holds() and self._fits(entry, values):
                return entry
        return None

    def _fits(self, entry: Entry, values: tuple[Any, ...]) -> bool:
        if entry.valued is not None and entry.valued != self._values(values):
            return False
        if not entry.bound.not_one:
            return True
        return entry.bound.fits(dict(zip(self.parameters.names, values, strict=True)))

    def _values(self, values: tuple[Any, ...]) -> Hashable:
        """Return the words, truth values and integers of what is not differentiated."""
        pairs = zip(self.parameters.names, values, strict=True)
        return tuple([None if n in self.choice.names else values_of(v) for n, v in pairs])

    def _shared(self, key: Any, values: tuple[Any, ...]) -> Entry | None:
        """Return an entry made of what was derived for another function of the same code."""
        for made in recipes.get(self._shared_key(key)):
            entry = self._entry(made, values)
            if entry is not None and self._fits(entry, values):
                return entry
        return None

    def _shared_key(self, key: Any) -> Any:
        p, o = self.parameters, self.options
        code = K.Known(p.fn.__code__)
        own = (o.mode, o.has_aux, o.pattern, o.batch, o.first, o.plain, o.along)
        return code, own, self.choice, p.skipped, p.fixed, len(self.prefix), key

    def _entry(self, made: Recipe, values: tuple[Any, ...], fresh: bool = False) -> Entry | None:
        p = self.parameters
        ends = self.general, self.slope
        bound = made.bind(p.fn, self.prefix, ends, p.unset_defaults, fresh)
        if bound is None:
            return None
        settled = made.settled
        finish = self._finish(settled, self._mirrored(settled, values))
        return Entry(bound, settled.as_float, finish, made.repeatable, made.valued)

    def _mirrored(self, settled: Settled, values: tuple[Any, ...]) -> bool:
        """Say whether derivatives are still to be given the classes of what they belong to."""
        kinds, given = dict(settled.params), dict(zip(self.parameters.names, values, strict=True))
        return any(needs_mirror(kinds[n]) or holds_integers(given[n]) for n in settled.wrt)

    def settled(self, values: Iterable[Any]) -> Settled:
        """Return what is differentiated, for the values of all parameters."""
        try:
            return settle(self.parameters, self.choice, kinds_of(self.parameters, values))
        except ActivityError as error:
            raise error.at(place_of(self.parameters.fn)) from None

    def request(
        self, kinds: dict[str, K.Kind], values: Iterable[Any] = ()
    ) -> tuple[Request, Settled]:
        """Return what is to be derived for given kinds of the arguments, with example values."""
        from s2sad.known.by_value import with_values

        fn = self.parameters.fn
        o = self.options
        try:
            settled = settle(self.parameters, self.choice, kinds)
            if settled.picked and o.mode in ("jvp", "reverse"):
                raise ActivityError(
                    f"wrt={str(settled.picked[0])!r} selects a part of an argument, but "
                    f"{o.mode} takes whole parameters.",
                    remedy="Give a tangent or a shadow of the whole argument.",
                )
        except ActivityError as error:
            raise error.at(place_of(fn)) from None
        request = Request(fn, settled.params, settled.wrt, settled.single, o.mode, o.has_aux)
        lengths = tuple(lengths_given(self.parameters.names, values))
        request = replace(request, lengths=lengths, picked=settled.picked, plain=o.plain)
        given = dict(zip(self.parameters.names, values, strict=True)) if values else {}
        apart = set(given) - set(settled.wrt)
        valued = ((n, with_values(k, given[n]) if n in apart else k) for n, k in settled.params)
        request = replace(request, valued=tuple(valued))
        constant = self._constant - set(settled.wrt)
        if o.pattern is None:
            return replace(request, constant=constant, batch=o.batch), settled
        seeded, batch = o.pattern.seeded, o.pattern.batch
        constant |= o.pattern.constant
        return (
            replace(
                request,
                shadowed=o.pattern.shadowed,
                constant=constant,
                seeded=seeded,
                batch=batch,
            ),
            settled,
        )

    @functools.cached_property
    def _constant(self) -> frozenset[str]:
        """The parameters that are declared Const."""
        declared = annotated(self.parameters.fn)
        return frozenset(n for n, activity in declared.items() if activity is Const)

    def _derive(self, key: Any, values: tuple[Any, ...]) -> Entry:
        from s2sad.operators.deriving import derived, loaded, printed, recipe, repeatable

        request, settled = self.request(kinds_of(self.parameters, values), values)
        derivation = derived(request)
        text = printed(derivation)
        functions = loaded(text, derivation)
        finished = self.options.mode == "vjp" or self._mirrored(settled, values)
        alone = _writes_alone(derivation.written, dict(settled.params))
        alone = alone and not derivation.written_outside
        plain = self.parameters.is_simple and not finished and not settled.as_float and alone
        plain = plain and self.options.mode != "reverse" and not derivation.not_one
        plain = plain and not derivation.by_value
        seed = self._seed(settled, values)
        plain = plain and (self.options.mode != "jvp" or seed is not None)
        made = recipe(
            request.fn,
            derivation,
            functions,
            settled,
            self._asked(values) if plain else None,
            len(self.prefix),
            key,
            text.text,
            seed,
        )
        if derivation.by_value:
            made = replace(made, valued=self._values(values))
        if self.options.first:
            made = replace(made, repeatable=repeatable(derivation))
        entry = self._entry(made, values, fresh=True)
        if entry is None:
            # The code it read has changed while it was being derived.
            return self._derive(key, values)
        recipes.add(self._shared_key(key), made)
        return entry

    def _seed(self, settled: Settled, values: tuple[Any, ...]) -> Any:
        """Return the tangent of 1 of the number that moves, None where it is no such number."""
        if not self.options.along or self.options.has_aux or not settled.single or settled.picked:
            return None
        return one_like(values[self.parameters.names.index(settled.wrt[0])])

    def _finish(self, settled: Settled, mirrored: bool) -> Callable[[Any, Any], Any] | None:
        """Return what is still to be done to results, or None."""
        mode, has_aux = self.options.mode, self.options.has_aux
        wrt, single, picked = settled.wrt, settled.single, settled.results()

        shape = _Shaped(tuple(picked), single)
        if mode == "vjp":
            name = self.parameters.name
            example: list[tuple[Any, ...]] = []  # of the arguments, for all calls of this entry

            def pull(result: Any, values: dict[str, Any]) -> Any:
                y, pullback, *aux = result
                kept = {n: private(values[n]) for n in wrt} if mirrored else {}
                after = functools.partial(shape, values=kept) if mirrored else None
                if not example:
                    example.append(tuple(map(outline, values.values())))
                return y, checked(pullback, y, name, after, example[0]), *aux

            return pull
        if not mirrored or mode in ("reverse", "jvp"):
            return None
        if mode == "grad":
            if has_aux:
                return lambda result, values: (shape(result[0], values), result[1])
            return shape
        return lambda result, values: (result[0], shape(result[1], values))


@dataclass(frozen=True)
class _Shaped:
    """Gives cotangents the classes of what they belong to."""

    picked: tuple[Any, ...]
    single: bool

    def __call__(self, gradient: Any, values: dict[str, Any]) -> Any:
        points = [one.value(values[one.parameter]) for one in self.picked]
        if self.single:
            return mirror(gradient, points[0])
        return tuple(mirror(g, point) for g, point in zip(gradient, points, strict=True))


def one_like(value: Any) -> Any:
    """Return 1 as a number or array without axes in double precision is, None for other values."""
    if type(value) in (float, np.float64):
        return type(value)(1.0)
    plain = type(value) is np.ndarray and value.ndim == 0 and value.dtype == np.float64
    return np.ones(()) if plain else None


def _key(values: Iterable[Any]) -> Any:
    try:
        return tuple([key_of(value) for value in values])
    except RecursionError:
        raise UnsupportedError(
            "An argument contains itself.",
            remedy="Pass only the parts that the function needs.",
        ) from None


def _writes_alone(written: Written, kinds: Mapping[str, K.Kind]) -> bool:
    """Say whether all that is written is attributes and items of one argument, no arrays.

    Where no other argument holds containers, there is no second way to what is written; of an
    argument that is only written itself, no other may hold such a one.
    """
    if not written:
        return True
    if written.arrays or len(written.containers) > 1:
        return False
    ((name, places),) = written.containers.items()
    others = [kind for n, kind in kinds.items() if n != name]
    if places == ((),):
        return not any(K.may_hold(kind, kinds[name]) for kind in others)
    return all(isinstance(kind, K.Num | K.Str | K.NoneKind | K.Array) for kind in others)


def kinds_of(parameters: Parameters, values: Iterable[Any]) -> dict[str, K.Kind]:
    """Return the kinds of the arguments in a call."""
    pairs = zip(parameters.names, values, strict=True)
    return {n: K.kind_of(value, n) for n, value in pairs}


def reached_by(bound: Bound, values: dict[str, Any]) -> Iterator[Reached]:
    """Yield the memory that a call reaches, through its arguments and from outside."""
    for n, value in values.items():
        yield from reach(n, value, *bound.written.of(n))
    for o in bound.outside:
        yield from reach(o.path, o.value(), (ANYWHERE,) if o.written else ())


def reached_in_shadows(bound: Bound, given: Given) -> Iterator[Reached]:
    """Yield the memory that a call of autodiff reaches, shadows included."""
    yield from reached_by(bound, given.values)
    for n, shadows in given.shadows.items():
        for i, shadow in enumerate(shadows):
            way = f"the shadow of {n}" if len(shadows) == 1 else f"shadow {i} of {n}"
            yield from reach_shadow(way, shadow)


def reached_in_tangents(bound: Bound, given: Given) -> Iterator[Reached]:
    """Yield the memory that a forward sweep reaches: tangents are written where arguments are."""
    yield from reached_by(bound, given.values)
    for n, shadows in given.shadows.items():
        for i, shadow in enumerate(shadows):
            way = f"the shadow of {n}" if len(shadows) == 1 else f"shadow {i} of {n}"
            for r in reach(way, shadow, *bound.written.of(n)):
                if not is_array(r.memory) or r.memory.dtype.kind in "fc":
                    yield r


def refuse_shared(reached: Iterator[Reached], parameters: Parameters) -> None:
    """Refuse memory that two arguments share, where some of it is written."""
    try:
        refuse_overlap(reached, parameters.name)
    except AliasError as error:
        raise error.at(place_of(parameters.fn)) from None
