"""The operators and the decorator: a function and options in, a callable out, and the cache.

grad(f)(x)                   the first call derives and keeps; later ones look up
grad(f).source(x)            what was derived
y, pullback = vjp(f, x)
"""

from __future__ import annotations

import functools
import inspect
import itertools
import types
import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, ParamSpec, TypeVar, overload

from s2sad import kinds as K
from s2sad.activities import Const
from s2sad.aliasing import reach
from s2sad.capture.fitted import fitted
from s2sad.capture.read import Callee, unwrap
from s2sad.capture.ruled import as_called
from s2sad.derivative import Applied, Derivative, operator, stand_in
from s2sad.errors import ActivityError, Error, SourceError, UnsupportedError
from s2sad.operators.any_shape import of_any_shape
from s2sad.operators.derived import (
    Derived,
    Entries,
    Options,
    kinds_of,
    place_of,
    reached_by,
    reached_in_shadows,
    reached_in_tangents,
    refuse_shared,
)
from s2sad.operators.directions import cast_tangents, directions, pushed
from s2sad.operators.door import door, shown
from s2sad.operators.duplicated import (
    Forward,
    Given,
    Mode,
    as_given,
    bar_of,
    let_integers_stand,
    pattern,
    pushed_pattern,
    require_mode,
    reverse,
    unwrapped,
)
from s2sad.operators.guard import UNSET
from s2sad.operators.hessians import Hessian
from s2sad.operators.hints import kind_of_annotation
from s2sad.operators.jacobians import Jacobian
from s2sad.operators.parameters import Parameters, Settled, Wrt
from s2sad.operators.pullbacks import Pullback
from s2sad.operators.shown import Shown
from s2sad.requests import Request
from s2sad.selected import whole_parameters

P = ParamSpec("P")
R = TypeVar("R")
L = TypeVar("L")
A = TypeVar("A")

MODES = ("grad", "value_and_grad", "vjp", "jvp", "reverse")


# --- operators -----------------------------------------------------------------------------------


def callee_of(f: Any, operator: str) -> Callee:
    """Return the Python function behind a callable, or say why there is none."""
    if not callable(f):
        raise TypeError(f"{operator} needs a function, not {f!r}")
    callee = unwrap(f)
    if callee is None:
        name = getattr(f, "__name__", repr(f))
        raise SourceError(
            f"{name} is not written in Python: there is no source to derive from.",
            remedy=f"Wrap it in a function: `lambda x: {name}(x)`.",
        )
    return replace(callee, fn=as_called(callee.fn))


class Operator(Shown, Generic[P, R]):
    """A function's derivative: derived when first called, and for other kinds of arguments."""

    __s2sad_operator__ = True
    # Calling an instance calls what is in this slot: at first `_general`, then what the entry used
    # last made of it. A method would cost a call more.
    __slots__ = ("__call__", "__dict__", "__weakref__")
    __call__: Callable[P, R]

    def __init__(
        self,
        f: Callable[..., Any],
        options: Options,
        skipped: int = 0,
        entries: Entries | None = None,
    ) -> None:
        callee = callee_of(f, options.mode)
        fn = callee.fn
        if options.wrt is None and callee.wrt is not None:
            options = replace(options, wrt=callee.wrt)
        self._declared = callee.wrt
        self._fn = getattr(unwrap(f), "fn", fn)
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
        bound = self._bind(args, kwargs)
        parameters, values = self._parameters, bound.arguments
        try:
            entry = self._derived.find(tuple(values.values()))
        except Error as error:
            raise shown(error)  # noqa: B904 - its chain is as it is to be
        if entry.bound.shortcut is not None:
            self.__call__ = entry.bound.shortcut
        if entry.bound.writes:
            refuse_shared(reached_by(entry.bound, values), parameters)
        for n in entry.as_float:
            values[n] = float(values[n])
        result = entry.bound.call(*bound.args, **bound.kwargs)
        return result if entry.finish is None else entry.finish(result, values)

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> inspect.BoundArguments:
        """Return all arguments of a call, by the parameters that the function has now."""
        fn = as_called(self._fn)
        if fn is not self._parameters.fn or not self._parameters.current():
            self._start(fn)
        return self._parameters.bind((*self._prefix, *args), {**self._keywords, **kwargs})

    def _unfold(self, /, *args: Any) -> Any:
        """Take over from a shortcut: its arguments stand in order, those not given are UNSET."""
        if all(arg is not UNSET for arg in args):
            return self._general(*args)
        names = self._parameters.names[len(self._prefix) :]
        count = next(i for i, arg in enumerate(args) if arg is UNSET)
        rest = zip(names[count:], args[count:], strict=True)
        return self._general(*args[:count], **{n: arg for n, arg in rest if arg is not UNSET})

    @functools.cached_property
    def __s2sad_primal__(self) -> Any:
        """A function that stands for this derivative where it is derived again."""
        return self._stand_in(self._options.mode)

    def _stand_in(self, mode: str) -> Any:
        """Return a function that stands for a derivative of this function, under another mode."""
        p, o = self._parameters, self._options
        applied = Applied(mode, o.wrt, o.has_aux, o.given)
        made = stand_in(Derivative(p.fn, applied, p.skipped, p.fixed, self._declared))
        if not self._prefix and not self._keywords:
            return made
        return functools.partial(made, *self._prefix, **self._keywords)

    @property
    def __signature__(self) -> inspect.Signature:
        return self._parameters.visible()

    @door
    def source(self, *args: Any, **kwargs: Any) -> str:
        """Return the derived source for example arguments, or from the annotations alone."""
        from s2sad.operators.emitting import source_of

        return source_of(self, args, kwargs)

    @door
    def emit(self, path: str | Path, *args: Any, **kwargs: Any) -> Path:
        """Write the derived source as a module that needs NumPy and the user's modules only.

        Nothing is written over but a file that begins with the header of a derived file.
        """
        from s2sad.operators.emitting import emit_to

        return emit_to(self, path, args, kwargs)

    def _bound(self, instance: Any) -> Operator[..., Any]:
        """Return this operator with its first argument bound."""
        return Operator(functools.partial(self._f, instance), self._options)

    def _asked(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Request, Settled, Given]:
        """Return what is to be derived for example arguments, and these without activities."""
        parameters = self._parameters
        derived = self._derived
        given = Given()
        examples: tuple[Any, ...] = ()
        if args or kwargs:
            bound = parameters.bind((*self._prefix, *args), {**self._keywords, **kwargs})
            values = bound.arguments
            if self._options.mode in ("reverse", "jvp"):
                given = unwrapped(values, forward=self._options.mode == "jvp")
                values = given.values
            examples = tuple(values.values())
            kinds = kinds_of(parameters, examples)
        else:
            kinds = self._annotated()
        if self._options.mode == "jvp" and given.wrappers:
            activity = pushed_pattern(parameters, given, kinds)
            options = replace(self._options, pattern=activity)
            derived = Derived(parameters, options, self._unfold, self._prefix)
        if self._options.mode == "reverse":
            in_text = replace(given, values={})
            options = replace(
                self._options, pattern=pattern(parameters, in_text, kinds, self._options.wrt)
            )
            derived = Derived(parameters, options, self._unfold, self._prefix)
        return *derived.request(kinds, examples), given

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
                    f"The annotations of {parameters.name} do not say which kind of value "
                    f"{p.name} is.",
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

    if not TYPE_CHECKING:  # checkers would take properties that give operators for methods

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            return self if instance is None else types.MethodType(self, instance)


_DOCS = {
    "grad": "Gradient of {}.",
    "value_and_grad": "Value and gradient of {}.",
    "vjp": "Value and pullback of {}.",
    "jvp": "Value and tangent of {}.",
    "reverse": "Reverse of {}, which accumulates into shadows.",
}


@overload
def grad(
    f: Callable[P, tuple[Any, A]],
    wrt: Wrt = None,
    *,
    has_aux: Literal[True],
    jit: bool = False,
    debug_nans: bool = False,
) -> Operator[P, tuple[Any, A]]: ...
@overload
def grad(
    f: Callable[P, Any],
    wrt: Wrt = None,
    *,
    has_aux: bool = False,
    jit: bool = False,
    debug_nans: bool = False,
) -> Operator[P, Any]: ...
@operator
@of_any_shape
@door
def grad(
    f: Callable[..., Any],
    wrt: Wrt = None,
    *,
    has_aux: bool = False,
    jit: bool = False,
    debug_nans: bool = False,
) -> Operator[..., Any]:
    """Return a function that gives the gradient of f.

    >>> def loss(w, x):
    ...     return np.sum((x @ w) ** 2)
    >>> x = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> s2sad.grad(loss)(np.ones(2), x)
    array([48., 68.])
    >>> s2sad.grad(loss, wrt=("w", "x"))(np.ones(2), x)[1].shape
    (2, 2)

    f returns a real float, or an array without axes. It may use loops, branches, in-place writes,
    exceptions and calls; its arguments are left as they were. The result takes f's arguments and
    returns a derivative built like the argument: an array of its shape, a dict with its keys.

    `wrt` selects parameters by position or name; a tuple selects several, and gives a tuple.
    Without it annotations decide (`w: Active`, `x: Const`), otherwise it is the first parameter.
    With `has_aux`, f returns `(loss, aux)` and the result is `(gradient, aux)`. With `debug_nans`,
    a gradient that is not finite raises a NotFiniteError that names the line of f where nan or
    infinity first arises, in either sweep; that is slow.

    Errors are raised when the gradient is first called, and name the line of f: ActivityError (the
    argument or the result has no gradient), UnsupportedError, MissingRuleError, SourceError,
    AliasError. `.source(*args)` returns the derived Python, `.emit(path, *args)` writes a module.
    """
    _refuse_jit(jit)
    return _operator(debug_nans)(f, Options("grad", wrt, has_aux, plain=debug_nans))


@overload
def value_and_grad(
    f: Callable[P, tuple[L, A]],
    wrt: Wrt = None,
    *,
    has_aux: Literal[True],
    jit: bool = False,
    debug_nans: bool = False,
) -> Operator[P, tuple[tuple[L, A], Any]]: ...
@overload
def value_and_grad(
    f: Callable[P, L],
    wrt: Wrt = None,
    *,
    has_aux: Literal[False] = False,
    jit: bool = False,
    debug_nans: bool = False,
) -> Operator[P, tuple[L, Any]]: ...
@operator
@of_any_shape
@door
def value_and_grad(
    f: Callable[..., Any],
    wrt: Wrt = None,
    *,
    has_aux: bool = False,
    jit: bool = False,
    debug_nans: bool = False,
) -> Operator[..., Any]:
    """Return a function that gives the value and the gradient of f.

    >>> s2sad.value_and_grad(lambda x: np.sum(x**3))(np.array([1.0, 2.0]))
    (np.float64(9.0), array([ 3., 12.]))

    `wrt`, `debug_nans` and the errors are those of `grad`. With `has_aux`, f returns `(loss, aux)`
    and the result is `((loss, aux), gradient)`. It fits `scipy.optimize.minimize(..., jac=True)`.
    """
    _refuse_jit(jit)
    return _operator(debug_nans)(f, Options("value_and_grad", wrt, has_aux, plain=debug_nans))


class Watched(Operator[P, R]):
    """A derivative that says where it first is not finite."""

    def _general(self, /, *args: Any, **kwargs: Any) -> Any:
        from s2sad.operators.deriving import lines_of
        from s2sad.operators.nans import watched

        def lines() -> Any:
            return lines_of(self._asked(args, kwargs)[0])

        call = functools.partial(super()._general, *args, **kwargs)
        try:
            return watched(call, lines, self._parameters.name)
        finally:
            self.__call__ = self._general

    def _bound(self, instance: Any) -> Operator[..., Any]:
        return Watched(functools.partial(self._f, instance), self._options)

    def __reduce__(self) -> Any:
        return Watched, (self._f, self._options, self._skipped)


def _operator(debug_nans: bool) -> type[Operator[..., Any]]:
    return Watched if debug_nans else Operator


@overload
def jacobian(
    f: Callable[P, tuple[Any, A]], wrt: Wrt = None, *, mode: str = "auto", has_aux: Literal[True]
) -> Jacobian[P, tuple[Any, A]]: ...
@overload
def jacobian(
    f: Callable[P, Any], wrt: Wrt = None, *, mode: str = "auto", has_aux: bool = False
) -> Jacobian[P, Any]: ...
@operator
@of_any_shape
@door
def jacobian(
    f: Callable[..., Any], wrt: Wrt = None, *, mode: str = "auto", has_aux: bool = False
) -> Jacobian[..., Any]:
    """Return a function that gives the Jacobian of f.

    >>> s2sad.jacobian(lambda x: x[:2] * x[2])(np.array([1.0, 2.0, 3.0]))
    array([[3., 0., 1.],
           [0., 3., 2.]])

    The result has the structure of f's result, and for each leaf that of the arguments; a block
    has the shape of the result's leaf followed by that of the argument's. `mode` is "forward" (a
    sweep for all columns), "reverse" (the pullback for each row) or "auto", which takes what there
    are fewer of. With `has_aux`, f returns `(y, aux)` and the result is `(jacobian, aux)`.
    """
    return jacobian_of(f, wrt, mode, has_aux, 0)


def jacobian_of(
    f: Callable[..., Any], wrt: Wrt, mode: str, has_aux: bool, skipped: int
) -> Jacobian[..., Any]:
    """Return the Jacobian of a function whose first `skipped` arguments are bound."""
    reverse: Operator[..., Any] = Operator(f, Options("vjp", wrt, has_aux, first=True), skipped)
    whole = whole_parameters(reverse._options.wrt)
    forward: Operator[..., Any] = Operator(
        f, Options("jvp", whole, has_aux, batch=True, first=True), skipped
    )
    return Jacobian(f, reverse, forward, mode, (jacobian_of, (f, wrt, mode, has_aux, skipped)))


def _refuse_jit(jit: bool) -> None:
    if jit:
        raise UnsupportedError(
            "s2sad does not support jit=True yet: it does not compile derived code.",
            remedy="Leave jit out; the derived source is plain Python and NumPy.",
        )


# What vjp derived, by function and options. Entries do not hold the function: it can be collected.
_products: weakref.WeakKeyDictionary[types.FunctionType, dict[Any, Entries]]
_products = weakref.WeakKeyDictionary()


def _shared(f: Callable[..., Any], options: Options) -> Entries:
    """Return the entries that all calls of vjp with this function and these options share."""
    callee = callee_of(f, options.mode)
    by_options = _products.setdefault(callee.fn, {})
    asked = callee.wrt if options.wrt is None else options.wrt
    wrt = asked if isinstance(asked, tuple) else (None, asked)
    how = (options.mode, options.has_aux, options.given, options.pattern, options.batch)
    code = K.Known(callee.fn.__code__)
    key = (code, tuple(map(repr, wrt)), *how, len(callee.args), *callee.kwargs)
    return by_options.setdefault(key, {})


@overload
def vjp(
    f: Callable[..., tuple[L, A]], *args: Any, wrt: Wrt = None, has_aux: Literal[True]
) -> tuple[L, Pullback, A]: ...
@overload
def vjp(
    f: Callable[..., L], *args: Any, wrt: Wrt = None, has_aux: Literal[False] = False
) -> tuple[L, Pullback]: ...
@operator
@door
def vjp(f: Callable[..., Any], *args: Any, wrt: Wrt = None, has_aux: bool = False) -> Any:
    """Return `(y, pullback)`: f's value, and the product with its transposed Jacobian.

    >>> y, pullback = s2sad.vjp(lambda x: np.sin(x), np.array([0.0, np.pi]))
    >>> pullback(np.ones(2))
    array([ 1., -1.])

    `pullback(dy)` takes a cotangent with the structure and the shapes of y, and returns those of
    the arguments: bare for one, else a tuple. It may be called again, and pickled where f may.
    Every argument that can be is differentiated, unless `wrt` or annotations choose. With
    `has_aux`, f returns `(y, aux)` and the result is `(y, pullback, aux)`. A cotangent that does
    not fit raises a MismatchError; other errors are those of `grad`.
    """
    f = fitted(f, args, None, wrt, every=True)
    options = Options("vjp", wrt, has_aux, len(args))
    made: Operator[..., Any] = Operator(f, options, entries=_shared(f, options))
    result = made(*args)
    result[1].operator = made
    return result


@overload
def jvp(
    f: Callable[..., tuple[L, A]],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    has_aux: Literal[True],
) -> tuple[L, Any, A]: ...
@overload
def jvp(
    f: Callable[..., L],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    has_aux: Literal[False] = False,
) -> tuple[L, Any]: ...
@operator
@door
def jvp(
    f: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    has_aux: bool = False,
) -> Any:
    """Return `(y, dy)`: f's value, and its derivative along the tangents of its arguments.

    >>> s2sad.jvp(lambda x, n: x**n, (3.0, 2), (1.0, None))
    (9.0, 6.0)

    There is one tangent for each of `primals`, built like it; None for a constant. With `has_aux`,
    f returns `(y, aux)` and the result is `(y, dy, aux)`.
    """
    derived, bound, tangents = along(f, primals, tangents, has_aux)
    parameters, values = derived.parameters, bound.arguments
    entry = derived.find(tuple(values.values()))
    if entry.bound.writes:
        refuse_shared(reached_by(entry.bound, values), parameters)
    for n in entry.as_float:
        values[n] = float(values[n])
    names = derived.choice.names
    cast = cast_tangents(tangents, [values[n] for n in names], names)
    return pushed(entry.bound.call, bound, cast, fn=parameters.fn)


def along(
    f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool
) -> tuple[Derived, inspect.BoundArguments, list[Any]]:
    """Return what derives f along tangents, its arguments, and the tangents that there are."""
    chosen = directions(primals, tangents)
    f = fitted(f, primals, None, chosen, every=True)
    callee = callee_of(f, "jvp")
    parameters = Parameters.of(callee.fn, len(callee.args), frozenset(callee.kwargs))
    options = Options("jvp", chosen, has_aux, len(primals))
    derived = Derived(parameters, options, _no_shortcut, callee.args, _shared(f, options))
    bound = parameters.bind((*callee.args, *primals), callee.kwargs)
    return derived, bound, [tangents[i] for i in chosen]


@operator
@door
def hvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """Return the product of f's Hessian with the tangents of its arguments.

    >>> s2sad.hvp(lambda x: np.sum(x**3), (np.array([1.0, 2.0]),), (np.array([1.0, 0.0]),))
    array([6., 0.])

    f returns a real scalar. The result is built like the tangents that are not None: bare where
    there is one, else a tuple.
    """
    chosen = directions(primals, tangents)
    f = fitted(f, primals, None, chosen, every=True)
    wrt = chosen if len(chosen) > 1 else chosen[0]
    return jvp(Operator(f, Options("grad", wrt)), primals, tangents)[1]


@overload
def hessian(
    f: Callable[P, tuple[Any, A]], wrt: Wrt = None, *, has_aux: Literal[True]
) -> Hessian[P, tuple[Any, A]]: ...
@overload
def hessian(f: Callable[P, Any], wrt: Wrt = None, *, has_aux: bool = False) -> Hessian[P, Any]: ...
@operator
@of_any_shape
@door
def hessian(f: Callable[..., Any], wrt: Wrt = None, *, has_aux: bool = False) -> Hessian[..., Any]:
    """Return a function that gives the second derivatives of f, which returns a real scalar.

    >>> s2sad.hessian(lambda x: x[0] ** 2 * x[1])(np.array([3.0, 2.0]))
    array([[4., 6.],
           [6., 0.]])

    For an array of shape s they have shape s + s; for a structure, or several arguments, there is
    a structure of such blocks for each leaf.
    """
    return Hessian(f, Operator(f, Options("grad", wrt, has_aux)), has_aux)


@door
def autodiff(mode: Mode, f: Callable[..., Any], *activities: Any, seed: Any = None) -> Any:
    """Run f and its reverse: `(value, (a_bar, A_bar, None))` for Active, Duplicated and Const.

    f runs on your own arrays, without copies. Derivatives with respect to Duplicated arguments are
    added into their shadows. The shadow of an array that f writes holds the cotangent of the final
    content on entry, and the cotangent of the initial content on return. `seed` is the cotangent of
    the result; for a scalar it is 1.0. Under BatchDuplicated it is a tuple, one for each direction.

    With Forward it is `(value, value_dot)`: Duplicated arguments bring their tangents, and those of
    what f writes are in their shadows afterwards.
    """
    require_mode(mode)
    f = fitted(f, activities, every=True)
    if mode is Forward:
        return _autodiff_forward(f, activities, seed)
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
    reached = reached_in_shadows(entry.bound, given)
    refuse_shared(itertools.chain(reached, reach("the seed", seed)), parameters)
    for n in entry.as_float:
        given.values[n] = float(given.values[n])
    bound.arguments.update(given.values)
    before = as_given(given, activity, kinds)
    result = reverse(entry.bound.call, bound, given, activity, seed, parameters.name)
    value, bars = result
    opened = [bar_of(bars, given, activity, n, before) for n in parameters.open]
    return value, tuple(opened)


def _autodiff_forward(f: Callable[..., Any], activities: Any, seed: Any) -> Any:
    """Run f with tangents, on the very arrays and shadows given."""
    if seed is not None:
        raise ActivityError(
            "autodiff(Forward, ...) takes no seed: the shadows are the tangents.",
            remedy="Leave seed out.",
        )
    callee = callee_of(f, "autodiff")
    parameters = Parameters.of(callee.fn, len(callee.args), frozenset(callee.kwargs))
    bound = parameters.bind((*callee.args, *activities), callee.kwargs)
    try:
        given = unwrapped(bound.arguments, forward=True)
        for n in list(parameters.open)[len(activities) :]:  # defaults stand still
            given.wrappers.setdefault(n, Const)
        kinds = kinds_of(parameters, given.values.values())
        activity = pushed_pattern(parameters, given, kinds)
    except ActivityError as error:
        raise error.at(place_of(callee.fn)) from None
    options = Options("jvp", given=len(activities), pattern=activity)
    derived = Derived(parameters, options, _no_shortcut, callee.args, _shared(f, options))
    entry = derived.find(tuple(given.values.values()))
    if entry.bound.writes:
        refuse_shared(reached_in_tangents(entry.bound, given), parameters)
    for n in entry.as_float:
        given.values[n] = float(given.values[n])
    for n, shadows in given.shadows.items():
        value = given.values[n]
        given.shadows[n] = tuple(let_integers_stand(value, shadow) for shadow in shadows)
    bound.arguments.update(given.values)
    batch = given.batch
    tangents = {n: given.shadows[n] if batch else given.shadows[n][0] for n in activity.shadowed}
    return pushed(entry.bound.call, bound, tangents, batch)


def _no_shortcut(*args: Any) -> Any:
    raise AssertionError("autodiff has no shortcut")


@door
def source(
    f: Callable[..., Any],
    *,
    mode: str = "grad",
    wrt: Wrt = None,
    args: Any = None,
    jit: bool = False,
) -> str:
    """Return the source of f's derivative, for example arguments or from annotations alone."""
    _refuse_jit(jit)
    args = () if args is None else tuple(args)
    return operator_for(f, mode, wrt, args).source(*args)


@door
def emit(
    f: Callable[..., Any],
    path: str | Path,
    *,
    mode: str = "grad",
    wrt: Wrt = None,
    args: Any = None,
    jit: bool = False,
) -> Path:
    """Write the source of f's derivative as a module, and return its path.

    `path` is a new file, or one that begins with the header of a derived file: others are left as
    they are. `mode` is "grad", "value_and_grad", "vjp", "jvp" or "reverse"; `args` are example
    arguments, of which only the kinds count. The header says which command makes the file again:
    `s2sad emit --check path` compares.
    """
    _refuse_jit(jit)
    args = () if args is None else tuple(args)
    return operator_for(f, mode, wrt, args).emit(path, *args)


def operator_for(
    f: Any, mode: str, wrt: Wrt, args: tuple[Any, ...], has_aux: bool = False
) -> Operator[..., Any]:
    """Return the operator of a mode, for a call with these arguments."""
    if mode not in MODES:
        raise ValueError(f"mode={mode!r} is not one of {', '.join(MODES)}")
    f = fitted(f, args, None, wrt, every=mode not in ("grad", "value_and_grad"))
    return Operator(f, Options(mode, wrt, has_aux, len(args) or None))
