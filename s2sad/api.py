"""The operators and the decorator: a function and options in, a callable out, and the cache.

grad(f)(x)                   the first call derives and keeps; later ones look up
grad(f).source(x)            what was derived
y, pullback = vjp(f, x)
@differentiate               f.grad, f.value_and_grad, f.vjp, ... on the function itself
"""

from __future__ import annotations

import functools
import inspect
import itertools
import threading
import types
import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from s2sad import kinds as K
from s2sad.activities import Const, annotated
from s2sad.aliasing import Reached, reach, reach_shadow, refuse_overlap
from s2sad.capture.read import Callee, read, unwrap
from s2sad.cotangents import checked, mirror, needs_mirror
from s2sad.duplicated import (
    Given,
    Mode,
    Pattern,
    pattern,
    require_reverse,
    reverse,
    unwrapped,
)
from s2sad.errors import ActivityError, AliasError, Place, SourceError, UnsupportedError
from s2sad.guard import IGNORED, UNSET, may_ignore
from s2sad.hints import kind_of_annotation
from s2sad.parameters import Choice, Parameters, Settled, Wrt, choose, settle
from s2sad.pieces import lengths_given
from s2sad.pipeline import Request, derive, printed
from s2sad.runtime import private
from s2sad.sharing import Bound, Recipe, Recipes, loaded, recipe
from s2sad.signature import key_of
from s2sad.stages import ANYWHERE
from s2sad.write.standalone import standalone

MODES = ("grad", "value_and_grad", "vjp", "reverse")
_LATER = ("jvp",)
_KEPT = 8  # entries for one key, where what a function sees goes to and fro


# --- one function under one operator -------------------------------------------------------------


@dataclass(frozen=True)
class Options:
    """What an operator is asked for."""

    mode: str = "grad"
    wrt: Wrt = None
    has_aux: bool = False
    given: int | None = None  # for vjp: how many arguments the call gives
    pattern: Pattern | None = None  # for the reverse of autodiff: the activities


@dataclass(frozen=True)
class Entry:
    """One derived function: how it is called, and while what it was derived from still holds."""

    bound: Bound
    as_float: tuple[str, ...]
    finish: Callable[[Any, dict[str, Any]], Any] | None

    def holds(self) -> bool:
        """Say whether all that was seen when it was derived is still seen."""
        return all(same() for same in self.bound.guards)


Entries = dict[Any, tuple[Entry, ...]]
_recipes = Recipes()


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
    ) -> None:
        self.parameters = parameters
        self.options = options
        self.general = general
        self.prefix = prefix
        self.entries: Entries = {} if entries is None else entries
        self.lock = threading.RLock()

    @functools.cached_property
    def choice(self) -> Choice:
        """The parameters that wrt or the annotations choose."""
        pattern = self.options.pattern
        if pattern is not None:
            wanted = {*pattern.active, *pattern.shadowed}
            return Choice(tuple(n for n in self.parameters.names if n in wanted), True, False)
        try:
            every = self.options.mode == "vjp"
            return choose(self.parameters, self.options.wrt, every, self.options.given)
        except ActivityError as error:
            raise error.at(place_of(self.parameters.fn)) from None

    def find(self, values: tuple[Any, ...]) -> Entry:
        """Return the entry for the values of all parameters; derive it if there is none."""
        key = _key(self._asked(values))
        entry = self._known(key, values)
        if entry is None:
            with self.lock:
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
        if not entry.bound.not_one:
            return True
        return entry.bound.fits(dict(zip(self.parameters.names, values, strict=True)))

    def _shared(self, key: Any, values: tuple[Any, ...]) -> Entry | None:
        """Return an entry made of what was derived for another function of the same code."""
        for made in _recipes.get(self._shared_key(key)):
            entry = self._entry(made)
            if entry is not None and self._fits(entry, values):
                return entry
        return None

    def _shared_key(self, key: Any) -> Any:
        p, o = self.parameters, self.options
        code = K.Known(p.fn.__code__)
        own = (o.mode, o.has_aux, o.pattern)
        return code, own, self.choice, p.skipped, p.fixed, len(self.prefix), key

    def _entry(self, made: Recipe, fresh: bool = False) -> Entry | None:
        p = self.parameters
        bound = made.bind(p.fn, self.prefix, self.general, p.unset_defaults, fresh)
        if bound is None:
            return None
        settled = made.settled
        kinds = dict(settled.params)
        finish = self._finish(settled, any(needs_mirror(kinds[n]) for n in settled.wrt))
        return Entry(bound, settled.as_float, finish)

    def request(
        self, kinds: dict[str, K.Kind], values: Iterable[Any] = ()
    ) -> tuple[Request, Settled]:
        """Return what is to be derived for given kinds of the arguments, with example values."""
        fn = self.parameters.fn
        try:
            settled = settle(self.parameters, self.choice, kinds)
        except ActivityError as error:
            raise error.at(place_of(fn)) from None
        o = self.options
        request = Request(fn, settled.params, settled.wrt, settled.single, o.mode, o.has_aux)
        lengths = tuple(lengths_given(self.parameters.names, values))
        request = replace(request, lengths=lengths)
        constant = self._constant - set(settled.wrt)
        if o.pattern is None:
            return replace(request, constant=constant), settled
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
        request, settled = self.request(kinds_of(self.parameters, values), values)
        derivation = derive(request)
        text = printed(derivation)
        functions = loaded(text, derivation)
        kinds = dict(settled.params)
        finished = self.options.mode == "vjp" or any(needs_mirror(kinds[n]) for n in settled.wrt)
        writes = derivation.written or derivation.written_outside
        plain = self.parameters.is_simple and not finished and not settled.as_float and not writes
        plain = plain and self.options.mode != "reverse" and not derivation.not_one
        made = recipe(
            request.fn,
            derivation,
            functions,
            settled,
            self._asked(values) if plain else None,
            len(self.prefix),
            key,
            text.text,
        )
        entry = self._entry(made, fresh=True)
        if entry is None:
            # The code it read has changed while it was being derived.
            return self._derive(key, values)
        _recipes.add(self._shared_key(key), made)
        return entry

    def _finish(self, settled: Settled, mirrored: bool) -> Callable[[Any, Any], Any] | None:
        """Return what is still to be done to results, or None."""
        mode, has_aux = self.options.mode, self.options.has_aux
        wrt, single = settled.wrt, settled.single

        def shape(gradient: Any, values: dict[str, Any]) -> Any:
            if single:
                return mirror(gradient, values[wrt[0]])
            return tuple(mirror(g, values[n]) for g, n in zip(gradient, wrt, strict=True))

        if mode == "vjp":
            name = self.parameters.name

            def pull(result: Any, values: dict[str, Any]) -> Any:
                y, pullback, *aux = result
                kept = {n: private(values[n]) for n in wrt} if mirrored else {}
                after = functools.partial(shape, values=kept) if mirrored else None
                return y, checked(pullback, y, name, after), *aux

            return pull
        if not mirrored or mode == "reverse":
            return None
        if mode == "grad":
            if has_aux:
                return lambda result, values: (shape(result[0], values), result[1])
            return shape
        return lambda result, values: (result[0], shape(result[1], values))


def _key(values: Iterable[Any]) -> Any:
    try:
        return tuple([key_of(value) for value in values])
    except RecursionError:
        raise UnsupportedError(
            "An argument contains itself.",
            remedy="Pass the parts that the function needs.",
        ) from None


def kinds_of(parameters: Parameters, values: Iterable[Any]) -> dict[str, K.Kind]:
    """Return the kinds of the arguments in a call."""
    pairs = zip(parameters.names, values, strict=True)
    return {n: K.kind_of(value, n) for n, value in pairs}


def _reached(bound: Bound, values: dict[str, Any]) -> Iterator[Reached]:
    """Yield the memory that a call reaches, through its arguments and from outside."""
    for n, value in values.items():
        yield from reach(n, value, *bound.written.of(n))
    for o in bound.outside:
        yield from reach(o.path, o.value(), (ANYWHERE,) if o.written else ())


def _refuse_overlap(reached: Iterator[Reached], parameters: Parameters) -> None:
    try:
        refuse_overlap(reached, parameters.name)
    except AliasError as error:
        raise error.at(place_of(parameters.fn)) from None


def place_of(fn: types.FunctionType) -> Place | None:
    """Return where a function is defined, or None where its source cannot be had."""
    try:
        source = read(fn)
    except (SourceError, UnsupportedError):
        return None
    return source.place(source.node)


def callee_of(f: Any, operator: str) -> Callee:
    """Return the Python function behind a callable, or say why there is none."""
    if isinstance(f, Operator | _BoundOperator):
        raise UnsupportedError(
            "Derivatives of derivatives are not supported yet.",
            remedy=f"Give {operator} the function itself.",
        )
    if not callable(f):
        raise TypeError(f"{operator} wants a function, not {f!r}")
    callee = unwrap(f)
    if callee is None:
        name = getattr(f, "__name__", repr(f))
        raise SourceError(
            f"{name} is not written in Python: there is no source to derive from.",
            remedy=f"Wrap it in a function: `lambda x: {name}(x)`.",
        )
    return callee


# --- operators -----------------------------------------------------------------------------------


class Operator:
    """A function's derivative: derived when first called, and for other kinds of arguments."""

    # Calling an instance calls what is in this slot: at first `_general`, then what the entry used
    # last made of it. A method would cost a call more.
    __slots__ = ("__call__", "__dict__", "__weakref__")
    __call__: Callable[..., Any]

    def __init__(
        self,
        f: Callable[..., Any],
        options: Options,
        skipped: int = 0,
        entries: Entries | None = None,
    ) -> None:
        callee = callee_of(f, options.mode)
        fn = callee.fn
        self._f = f
        self._options = options
        self._skipped = skipped
        self._prefix = callee.args
        self._keywords = callee.kwargs
        self._start(fn, entries)
        self.__name__ = f"{fn.__name__}_{options.mode}"
        self.__qualname__ = f"{fn.__qualname__}_{options.mode}"
        self.__module__ = fn.__module__
        self.__doc__ = _DOCS[options.mode].format(fn.__name__)
        if options.wrt is not None:
            _ = self._derived.choice

    def _start(self, fn: types.FunctionType, entries: Entries | None = None) -> None:
        """Begin with nothing derived."""
        bound, fixed = len(self._prefix) + self._skipped, frozenset(self._keywords)
        self._parameters = Parameters.of(fn, bound, fixed)
        self._derived = Derived(
            self._parameters, self._options, self._unfold, self._prefix, entries
        )
        self.__call__ = self._general

    def _general(self, /, *args: Any, **kwargs: Any) -> Any:
        """Return the derivative, however the arguments are given and whatever is known yet."""
        if not self._parameters.current():
            self._start(self._parameters.fn)
        parameters = self._parameters
        bound = parameters.bind((*self._prefix, *args), {**self._keywords, **kwargs})
        values = bound.arguments
        entry = self._derived.find(tuple(values.values()))
        if entry.bound.shortcut is not None:
            self.__call__ = entry.bound.shortcut
        if entry.bound.writes:
            _refuse_overlap(_reached(entry.bound, values), parameters)
        for n in entry.as_float:
            values[n] = float(values[n])
        result = entry.bound.call(*bound.args, **bound.kwargs)
        return result if entry.finish is None else entry.finish(result, values)

    def _unfold(self, /, *args: Any) -> Any:
        """Take over from a shortcut: its arguments stand in order, those not given are UNSET."""
        if all(arg is not UNSET for arg in args):
            return self._general(*args)
        names = self._parameters.names[len(self._prefix) :]
        count = next(i for i, arg in enumerate(args) if arg is UNSET)
        rest = zip(names[count:], args[count:], strict=True)
        return self._general(*args[:count], **{n: arg for n, arg in rest if arg is not UNSET})

    @property
    def __signature__(self) -> inspect.Signature:
        return self._parameters.visible()

    def source(self, *args: Any, **kwargs: Any) -> str:
        """Return the derived source for example arguments, or from the annotations alone."""
        return self._standalone(args, kwargs, checked=False)

    def emit(self, path: str | Path, *args: Any, **kwargs: Any) -> Path:
        """Write the derived source as a module that needs NumPy and the user's modules only."""
        path = Path(path)
        path.write_text(self._standalone(args, kwargs, checked=True), encoding="utf-8")
        return path

    def _bound(self, instance: Any) -> Operator:
        """Return this operator with its first argument bound."""
        return Operator(functools.partial(self._f, instance), self._options)

    def _standalone(self, args: tuple[Any, ...], kwargs: dict[str, Any], checked: bool) -> str:
        parameters = self._parameters
        derived = self._derived
        given = Given()
        examples: tuple[Any, ...] = ()
        if args or kwargs:
            bound = parameters.bind((*self._prefix, *args), {**self._keywords, **kwargs})
            values = bound.arguments
            if self._options.mode == "reverse":
                given = unwrapped(values)
                values = given.values
            examples = tuple(values.values())
            kinds = kinds_of(parameters, examples)
        else:
            kinds = self._annotated()
        if self._options.mode == "reverse":
            given.values.clear()
            options = replace(
                self._options, pattern=pattern(parameters, given, kinds, self._options.wrt)
            )
            derived = Derived(parameters, options, self._unfold, self._prefix)
        request, settled = derived.request(kinds, examples)
        derivation = derive(request)
        try:
            params = dict(settled.params) if checked else None
            return standalone(derivation, lambda fn: read(fn).node, params)
        except SourceError as error:
            raise error.at(place_of(parameters.fn)) from None

    def _annotated(self) -> dict[str, K.Kind]:
        """Return the kinds that annotations, defaults and bound arguments decide."""
        parameters = self._parameters
        given = parameters.signature.bind_partial(*self._prefix, **self._keywords).arguments
        kinds: dict[str, K.Kind] = {}
        for p in parameters.signature.parameters.values():
            if p.name in given:
                kinds[p.name] = K.kind_of(given[p.name], p.name)
                continue
            kind = kind_of_annotation(parameters.fn, p)
            if kind is None:
                raise UnsupportedError(
                    f"The annotations of {parameters.name} do not decide what {p.name} is.",
                    remedy="Give example arguments.",
                    place=place_of(parameters.fn),
                )
            kinds[p.name] = kind
        return kinds

    def __repr__(self) -> str:
        wrt = "" if self._options.wrt is None else f", wrt={self._options.wrt!r}"
        return f"<s2sad.{self._options.mode}({self._f!r}{wrt})>"

    def __reduce__(self) -> Any:
        return Operator, (self._f, self._options, self._skipped)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)


_DOCS = {
    "grad": "Gradient of {}.",
    "value_and_grad": "Value and gradient of {}.",
    "vjp": "Value and pullback of {}.",
    "reverse": "Reverse of {}, which accumulates into shadows.",
}


def grad(
    f: Callable[..., Any], wrt: Wrt = None, *, has_aux: bool = False, jit: bool = False
) -> Operator:
    """Return a function that gives the gradient of f, which returns a real scalar.

    `wrt` is a position, a name, or a tuple of these; without it the annotations decide, or the
    first parameter is differentiated. With `has_aux`, f returns `(loss, aux)` and the result is
    `(gradient, aux)`.
    """
    _refuse_jit(jit)
    return Operator(f, Options("grad", wrt, has_aux))


def value_and_grad(
    f: Callable[..., Any], wrt: Wrt = None, *, has_aux: bool = False, jit: bool = False
) -> Operator:
    """Return a function that gives the value and the gradient of f.

    With `has_aux`, f returns `(loss, aux)` and the result is `((loss, aux), gradient)`.
    """
    _refuse_jit(jit)
    return Operator(f, Options("value_and_grad", wrt, has_aux))


def _refuse_jit(jit: bool) -> None:
    if jit:
        raise UnsupportedError(
            "jit=True is not supported yet: nothing compiles derived code.",
            remedy="Leave it out; the derived source is plain Python and NumPy.",
        )


# What vjp derived, by function and options. Entries do not hold the function: it can be collected.
_products: weakref.WeakKeyDictionary[types.FunctionType, dict[Any, Entries]]
_products = weakref.WeakKeyDictionary()


def _shared(f: Callable[..., Any], options: Options) -> Entries:
    """Return the entries that all calls of vjp with this function and these options share."""
    callee = callee_of(f, options.mode)
    by_options = _products.setdefault(callee.fn, {})
    wrt = options.wrt if isinstance(options.wrt, tuple) else (None, options.wrt)
    asked = (options.has_aux, options.given, options.pattern)
    key = (tuple(map(repr, wrt)), *asked, len(callee.args), *callee.kwargs)
    return by_options.setdefault(key, {})


def vjp(f: Callable[..., Any], *args: Any, wrt: Wrt = None, has_aux: bool = False) -> Any:
    """Return `(y, pullback)`: f's value, and a function from a cotangent of y to those of args.

    Every argument that can be is differentiated, unless `wrt` or annotations choose. With
    `has_aux`, f returns `(y, aux)` and the result is `(y, pullback, aux)`.
    """
    options = Options("vjp", wrt, has_aux, len(args))
    return Operator(f, options, entries=_shared(f, options))(*args)


def autodiff(mode: Mode, f: Callable[..., Any], *activities: Any, seed: Any = None) -> Any:
    """Run f and its reverse: `(value, (a_bar, A_bar, None))` for Active, Duplicated and Const.

    f runs on the very arrays given and leaves in them what f leaves. Derivatives with respect to
    Duplicated arguments are added into their shadows; what f writes has in its shadow on entry the
    cotangent of its final content, on return that of its initial content. `seed` is the cotangent
    of the result, 1.0 where that is a scalar; under BatchDuplicated a tuple, one per direction.
    """
    require_reverse(mode)
    callee = callee_of(f, "autodiff")
    parameters = Parameters.of(callee.fn, len(callee.args), frozenset(callee.kwargs))
    bound = parameters.bind((*callee.args, *activities), callee.kwargs)
    try:
        given = unwrapped(bound.arguments)
        kinds = kinds_of(parameters, given.values.values())
        seeded = seed is not None
        activity = pattern(parameters, given, kinds, None)
        activity = replace(activity, seeded=seeded, batch=given.batch or seeded)
    except ActivityError as error:
        raise error.at(place_of(callee.fn)) from None
    options = Options("reverse", given=len(activities), pattern=activity)
    derived = Derived(parameters, options, _no_shortcut, callee.args, _shared(f, options))
    entry = derived.find(tuple(given.values.values()))
    reached = _reached_in_shadows(entry.bound, given)
    _refuse_overlap(itertools.chain(reached, reach("the seed", seed)), parameters)
    for n in entry.as_float:
        given.values[n] = float(given.values[n])
    bound.arguments.update(given.values)
    result = reverse(entry.bound.call, bound, given, activity, seed, parameters.name)
    value, bars = result
    opened = [_bar_of(bars, given, activity, n) for n in parameters.open]
    return value, tuple(opened)


def _no_shortcut(*args: Any) -> Any:
    raise AssertionError("autodiff has no shortcut")


def _reached_in_shadows(bound: Bound, given: Given) -> Iterator[Reached]:
    """Yield the memory that a call of autodiff reaches, shadows included."""
    yield from _reached(bound, given.values)
    for n, shadows in given.shadows.items():
        for i, shadow in enumerate(shadows):
            way = f"the shadow of {n}" if len(shadows) == 1 else f"shadow {i} of {n}"
            yield from reach_shadow(way, shadow)


def _bar_of(bars: dict[str, Any], given: Given, activity: Pattern, name: str) -> Any:
    """Return the derivative of one argument, as autodiff hands it back."""
    if name in activity.active:
        value = given.values[name]
        if given.batch:
            return tuple(mirror(bar, value) for bar in bars[name])
        return mirror(bars[name], value)
    if name not in given.shadows:
        return None
    return given.shadows[name] if given.batch else given.shadows[name][0]


def source(f: Callable[..., Any], *, mode: str = "grad", wrt: Wrt = None, args: Any = None) -> str:
    """Return the source of f's derivative, for example arguments or from annotations alone."""
    args = () if args is None else tuple(args)
    return _operator(f, mode, wrt, len(args)).source(*args)


def emit(
    f: Callable[..., Any],
    path: str | Path,
    *,
    mode: str = "grad",
    wrt: Wrt = None,
    args: Any = None,
) -> Path:
    """Write the source of f's derivative as a module, and return its path."""
    args = () if args is None else tuple(args)
    return _operator(f, mode, wrt, len(args)).emit(path, *args)


def _operator(f: Callable[..., Any], mode: str, wrt: Wrt, given: int) -> Operator:
    if mode in _LATER:
        raise UnsupportedError(
            f"mode={mode!r} is not supported yet.", remedy=f"Use one of {', '.join(MODES)}."
        )
    if mode not in MODES:
        raise ValueError(f"mode={mode!r} is none of {', '.join(MODES)}")
    if wrt is None and isinstance(f, Differentiable):
        wrt = f._wrt
    return Operator(f, Options(mode, wrt, given=given or None))


# --- the decorator -------------------------------------------------------------------------------


class Differentiable:
    """A function that carries its derivatives; calling it calls the function."""

    def __init__(self, f: Callable[..., Any], wrt: Wrt = None) -> None:
        self.__name__ = f.__name__
        self.__qualname__ = f.__qualname__
        functools.update_wrapper(self, f)
        self.__s2sad_primal__: Any = f
        self._wrt = wrt
        self._operators: dict[tuple[str, int], Operator] = {}

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself."""
        return self.__s2sad_primal__(*args, **kwargs)

    @property
    def grad(self) -> Operator:
        """The gradient, as s2sad.grad gives it."""
        return self._operator("grad")

    @property
    def value_and_grad(self) -> Operator:
        """The value and the gradient, as s2sad.value_and_grad gives them."""
        return self._operator("value_and_grad")

    def vjp(self, /, *args: Any, wrt: Wrt = None, has_aux: bool = False) -> Any:
        """Return the value and a pullback, as s2sad.vjp does."""
        wrt = self._wrt if wrt is None else wrt
        return vjp(self.__s2sad_primal__, *args, wrt=wrt, has_aux=has_aux)

    def autodiff(self, mode: Mode, /, *activities: Any, seed: Any = None) -> Any:
        """Return the value and the derivatives, as s2sad.autodiff does."""
        return autodiff(mode, self.__s2sad_primal__, *activities, seed=seed)

    def _operator(self, mode: str, skipped: int = 0) -> Operator:
        known = self._operators.get((mode, skipped))
        if known is None:
            made = _Attribute(self, Options(mode, self._wrt), skipped)
            known = self._operators.setdefault((mode, skipped), made)
        return known

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        bound = self.__s2sad_primal__.__get__(instance, owner)
        return _Bound(self, bound) if isinstance(bound, types.MethodType) else self

    def __reduce__(self) -> Any:
        return self.__qualname__

    def __repr__(self) -> str:
        return f"<differentiable {self.__s2sad_primal__!r}>"


class _Attribute(Operator):
    """An operator that is an attribute of a decorated function, and pickled as that."""

    def __reduce__(self) -> Any:
        if self._skipped:
            return super().__reduce__()
        return getattr, (self._f, self._options.mode)


class _Bound:
    """A decorated method of one object."""

    def __init__(self, function: Differentiable, method: types.MethodType) -> None:
        self.__s2sad_primal__ = method
        self.__func__ = function
        self.__self__ = method.__self__

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call the method itself."""
        return self.__s2sad_primal__(*args, **kwargs)

    @property
    def grad(self) -> _BoundOperator:
        """The gradient; self is Const unless wrt names it."""
        return _BoundOperator(self, "grad")

    @property
    def value_and_grad(self) -> _BoundOperator:
        """The value and the gradient; self is Const unless wrt names it."""
        return _BoundOperator(self, "value_and_grad")

    def vjp(self, /, *args: Any, wrt: Wrt = None, has_aux: bool = False) -> Any:
        """Return the value and a pullback, as s2sad.vjp does."""
        wrt = self.__func__._wrt if wrt is None else wrt
        return vjp(self.__s2sad_primal__, *args, wrt=wrt, has_aux=has_aux)

    def autodiff(self, mode: Mode, /, *activities: Any, seed: Any = None) -> Any:
        """Return the value and the derivatives, as s2sad.autodiff does; self is Const."""
        return autodiff(mode, self.__s2sad_primal__, *activities, seed=seed)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__s2sad") or name in ("__func__", "__self__"):
            raise AttributeError(name)
        return getattr(self.__s2sad_primal__, name)

    def __reduce__(self) -> Any:
        return getattr, (self.__self__, self.__func__.__name__)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Bound) and self.__s2sad_primal__ == other.__s2sad_primal__

    def __hash__(self) -> int:
        return hash(self.__s2sad_primal__)

    def __repr__(self) -> str:
        return f"<differentiable {self.__s2sad_primal__!r}>"


class _BoundOperator:
    """An operator of a decorated method, with its object."""

    def __init__(self, method: _Bound, mode: str) -> None:
        self._method = method
        self._mode = mode
        self._operator = method.__func__._operator(mode, 1)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Return the derivative at these arguments."""
        return self._operator(self._method.__self__, *args, **kwargs)

    def source(self, *args: Any, **kwargs: Any) -> str:
        """Return the derived source for example arguments, or from the annotations alone."""
        return self._operator._bound(self._method.__self__).source(*args, **kwargs)

    def emit(self, path: str | Path, *args: Any, **kwargs: Any) -> Path:
        """Write the derived source as a module."""
        return self._operator._bound(self._method.__self__).emit(path, *args, **kwargs)

    def __reduce__(self) -> Any:
        return getattr, (self._method, self._mode)

    def __repr__(self) -> str:
        return f"<s2sad.{self._mode}({self._method!r})>"


def differentiate(f: Callable[..., Any] | None = None, *, wrt: Wrt = None) -> Any:
    """Give a function its derivatives as attributes: `f.grad`, `f.value_and_grad`, `f.vjp`.

    Used as `@differentiate` or `@differentiate(wrt="w")`. Calling f stays what it was.
    """
    if f is None:
        return functools.partial(Differentiable, wrt=wrt)
    callee_of(f, "differentiate")
    return Differentiable(f, wrt)
