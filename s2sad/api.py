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
from s2sad.capture.calls_its_rule import as_called
from s2sad.capture.fitted import fitted, plain_callee
from s2sad.capture.read import Callee, unwrap
from s2sad.derivative import Applied, Derivative, operator, stand_in
from s2sad.errors import ActivityError, CallError, Error, SourceError, UnsupportedError
from s2sad.operators.any_shape import of_any_shape
from s2sad.operators.derived import (
    Derived,
    Entries,
    Entry,
    Options,
    kinds_of,
    place_of,
    reached_by,
    reached_in_shadows,
    reached_in_tangents,
    refuse_shared,
)
from s2sad.operators.door import door, shortened
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
from s2sad.operators.given_tangents import cast_tangents, directions, pushed
from s2sad.operators.hessians import Hessian
from s2sad.operators.hints import kind_of_annotation
from s2sad.operators.jacobians import Jacobian
from s2sad.operators.parameters import Parameters, Settled, Wrt, unfolded
from s2sad.operators.pullbacks import Pullback, outline
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
    """Return the Python function behind a callable; raise an error that says why there is none."""
    plain = plain_callee(f)
    if plain is not None:
        return plain
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
    """A function's derivative: derived at the first call, and again for new kinds of arguments."""

    __s2sad_operator__ = True
    # Calling an instance calls the function in this slot: at first `_general`, later the shortcut
    # of the entry that was used last. A method would cost one more call.
    __slots__ = ("__call__", "__dict__", "__weakref__")
    __call__: Callable[P, R]
    # How it is made again where what it stands on was made for a call, and has no name.
    _as_called: tuple[Any, ...] | None = None

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
        """Start without anything derived."""
        bound, fixed = len(self._prefix) + self._skipped, frozenset(self._keywords)
        self._parameters = Parameters.of(fn, bound, fixed)
        self._derived = Derived(
            self._parameters, self._options, self._unfold, self._prefix, entries
        )
        self.__call__ = self._general

    def _general(self, /, *args: Any, **kwargs: Any) -> Any:
        """Return the derivative, for arguments in any form and with any state of the cache."""
        try:
            bound = self._bind(args, kwargs)
            parameters, values = self._parameters, bound.arguments
            entry = self._derived.find(tuple(values.values()))
        except (Error, CallError) as error:
            raise shortened(error)
        if entry.bound.shortcut is not None:
            self.__call__ = entry.bound.shortcut
        if entry.bound.writes:
            refuse_shared(reached_by(entry.bound, values), parameters)
        for n in entry.as_float:
            values[n] = float(values[n])
        result = entry.bound.call(*bound.args, **bound.kwargs)
        return result if entry.finish is None else entry.finish(result, values)

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> inspect.BoundArguments:
        """Return all arguments of a call, bound to the current parameters of the function."""
        fn = as_called(self._fn)
        if fn is not self._parameters.fn or not self._parameters.current():
            self._start(fn)
        return self._parameters.bind((*self._prefix, *args), {**self._keywords, **kwargs})

    def _unfold(self, /, *args: Any) -> Any:
        """Take over from a shortcut: arguments come in order; a missing argument is UNSET."""
        args, kwargs = unfolded(self._parameters, len(self._prefix), args)
        return self._general(*args, **kwargs)

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
        """Return the derived source, for example arguments or, without any, for the annotations."""
        from s2sad.operators.emitting import source_of

        return source_of(self, args, kwargs)

    @door
    def emit(self, path: str | Path, *args: Any, **kwargs: Any) -> Path:
        """Write the derived source as a module that needs only NumPy and the user's modules.

        An existing file is overwritten only if it begins with the header of a derived file.
        """
        from s2sad.operators.emitting import emit_to

        return emit_to(self, path, args, kwargs)

    def _bound(self, instance: Any) -> Operator[..., Any]:
        """Return this operator with its first argument bound."""
        return Operator(functools.partial(self._f, instance), self._options)

    def _asked(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Request, Settled, Given]:
        """Return the request for example arguments, and the arguments without their activities."""
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
        """Return the kinds of all parameters, from annotations, defaults and bound arguments."""
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
        return self._as_called or (Operator, (self._f, self._options, self._skipped))

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

    f must return a real scalar: a float or a 0-d array. f may use loops, branches, in-place writes,
    exceptions and calls. The gradient function takes the same arguments as f and leaves them
    unchanged. It returns a derivative with the structure, shapes and dtypes of the differentiated
    argument: an array of the same shape, a dict with the same keys.

    `wrt` selects parameters by position or name; a tuple selects several, and the result is then a
    tuple. Without `wrt`, annotations select them (`w: Active`, `x: Const`); without annotations,
    the first parameter is differentiated. With `has_aux`, f returns `(loss, aux)` and the result is
    `(gradient, aux)`. With `debug_nans`, a gradient that is not finite raises a NotFiniteError that
    names the line of f where nan or infinity first arises, in either sweep; this is slow.

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

    `wrt`, `debug_nans` and the errors are the same as for `grad`. With `has_aux`, f returns
    `(loss, aux)` and the result is `((loss, aux), gradient)`. The result suits
    `scipy.optimize.minimize(..., jac=True)`.
    """
    _refuse_jit(jit)
    return _operator(debug_nans)(f, Options("value_and_grad", wrt, has_aux, plain=debug_nans))


class Watched(Operator[P, R]):
    """A derivative that reports the line where it first stops being finite."""

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

    The Jacobian is an array of shape `y.shape + x.shape`, for f's result y and argument x. If f
    returns a structure, the Jacobian has the same structure; in place of each leaf it holds a block
    for each leaf of the arguments.

    `mode` is "forward" (one sweep for all columns), "reverse" (one call of the pullback for each
    row) or "auto", which takes the smaller number of columns or rows. `wrt` and the errors are the
    same as for `grad`. With `has_aux`, f returns `(y, aux)` and the result is `(jacobian, aux)`.
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


def _shared(callee: Callee, options: Options) -> Entries:
    """Return the entries that all calls of vjp with this function and these options share."""
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
    """Return `(y, pullback)`: f's value, and a function that multiplies by the transposed Jacobian.

    >>> y, pullback = s2sad.vjp(lambda x: np.sin(x), np.array([0.0, np.pi]))
    >>> pullback(np.ones(2))
    array([ 1., -1.])

    `pullback(y_bar)` takes a cotangent with the structure and the shapes of y. It returns the
    cotangent of the argument, or a tuple of cotangents if there are several. The pullback may be
    called repeatedly, and pickled if f can be pickled. All arguments that can carry a derivative
    are differentiated, unless `wrt` or annotations select some. With `has_aux`, f returns
    `(y, aux)` and the result is `(y, pullback, aux)`. A cotangent of the wrong shape or structure
    raises a MismatchError; the other errors are the same as for `grad`.
    """
    one = fitted(f, args, None, wrt, every=True)
    callee = callee_of(one, "vjp")
    options = Options("vjp", callee.wrt if wrt is None else wrt, has_aux, len(args))
    derived, bound = _derived(callee, args, options)
    entry = _found(derived, bound)
    assert entry.finish is not None
    result = entry.finish(entry.bound.call(*bound.args, **bound.kwargs), bound.arguments)
    shown_as = None if one is f else tuple(map(outline, args))
    result[1].operator = functools.partial(_behind_vjp, f, shown_as, options)
    return result


def _behind_vjp(f: Any, args: tuple[Any, ...] | None, options: Options) -> Operator[..., Any]:
    """Return the operator behind a vjp; `args` outline the arguments if these say what f takes."""
    if args is None:
        return Operator(f, options)
    made: Operator[..., Any] = Operator(fitted(f, args, None, options.wrt, every=True), options)
    made._as_called = _behind_vjp, (f, args, options)
    return made


def _derived(
    callee: Callee, args: Sequence[Any], options: Options
) -> tuple[Derived, inspect.BoundArguments]:
    """Return what derives a function, kept for all its calls, and the arguments of this call."""
    parameters = Parameters.of(callee.fn, len(callee.args), frozenset(callee.kwargs))
    bound = parameters.bind((*callee.args, *args), callee.kwargs)
    entries = _shared(callee, options)
    return Derived(parameters, options, _no_shortcut, callee.args, entries), bound


def _found(derived: Derived, bound: inspect.BoundArguments) -> Entry:
    """Return what is derived for the arguments of a call; some ints become floats."""
    values = bound.arguments
    entry = derived.find(tuple(values.values()))
    if entry.bound.writes:
        refuse_shared(reached_by(entry.bound, values), derived.parameters)
    for n in entry.as_float:
        values[n] = float(values[n])
    return entry


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
    """Return `(y, y_dot)`: f's value, and its derivative along the tangents of its arguments.

    >>> s2sad.jvp(lambda x, n: x**n, (3.0, 2), (1.0, None))
    (9.0, 6.0)

    `primals` are the arguments. `tangents` holds one tangent for each of them, with the same
    structure and shapes, or None for a constant. With `has_aux`, f returns `(y, aux)` and the
    result is `(y, y_dot, aux)`. A tangent of the wrong shape or structure raises a MismatchError.
    """
    derived, bound, given = along(f, primals, tangents, has_aux)
    entry, names = _found(derived, bound), derived.choice.names
    cast = cast_tangents(given, [bound.arguments[n] for n in names], names)
    return pushed(entry.bound.call, bound, cast, fn=derived.parameters.fn)


def along(
    f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool
) -> tuple[Derived, inspect.BoundArguments, list[Any]]:
    """Return what derives f along tangents, its arguments, and the tangents that there are."""
    chosen = directions(primals, tangents)
    callee = callee_of(fitted(f, primals, None, chosen, every=True), "jvp")
    derived, bound = _derived(callee, primals, Options("jvp", chosen, has_aux, len(primals)))
    return derived, bound, [tangents[i] for i in chosen]


@operator
@door
def hvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """Return the product of f's Hessian with the tangents of its arguments.

    >>> s2sad.hvp(lambda x: np.sum(x**3), (np.array([1.0, 2.0]),), (np.array([1.0, 0.0]),))
    array([6., 0.])

    f must return a real scalar. The result has the structure and shapes of the tangents that are
    not None: one product if there is one such tangent, otherwise a tuple of products.
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

    For an array x the result has shape `x.shape + x.shape`. For a structure, or several arguments,
    it is a structure of such blocks for each leaf. `wrt` and the errors are the same as for `grad`.
    With `has_aux`, f returns `(loss, aux)` and the result is `(hessian, aux)`.
    """
    return Hessian(f, Operator(f, Options("grad", wrt, has_aux)), has_aux)


@door
def autodiff(mode: Mode, f: Callable[..., Any], *activities: Any, seed: Any = None) -> Any:
    """Run f and its derivative on your own arrays; derivatives are added into your shadows.

    >>> A, A_bar = np.eye(2), np.zeros((2, 2))
    >>> s2sad.autodiff(
    ...     s2sad.Reverse,
    ...     lambda x, A, n: n * np.sum(A @ x),
    ...     s2sad.Active(np.ones(2)),
    ...     s2sad.Duplicated(A, A_bar),
    ...     s2sad.Const(3.0),
    ... )[1][0]
    array([3., 3.])
    >>> A_bar
    array([[3., 3.],
           [3., 3.]])
    >>> s2sad.autodiff(s2sad.Forward, lambda x: x**3, s2sad.Duplicated(2.0, 1.0))
    (8.0, 12.0)

    Every argument comes with an activity; a plain argument counts as Active if it can carry a
    derivative and f's annotations do not say otherwise. f runs on your arrays, without copies.

    With Reverse the result is `(value, bars)`. `bars` has one entry for each argument: the
    derivative for Active, the shadow for Duplicated, None for Const. The derivative with respect to
    a Duplicated argument is added into its shadow. If f writes an array, its shadow must hold the
    cotangent of the final content on entry; it holds the cotangent of the initial content on
    return. `seed` is the cotangent of the result; for a scalar it is 1.0. With BatchDuplicated, a
    seed is a tuple with one cotangent for each direction.

    With Forward the result is `(value, value_dot)`. The shadow of a Duplicated argument holds its
    tangent; if f writes the argument, the shadow holds the tangent of the final content afterwards.

    Errors: AliasError (arguments or shadows share memory that is written), ActivityError (a shadow
    does not fit its argument, or an argument cannot have its activity), MismatchError (a seed does
    not fit the result), and the other errors of `grad`.
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
    derived = Derived(parameters, options, _no_shortcut, callee.args, _shared(callee, options))
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
    derived = Derived(parameters, options, _no_shortcut, callee.args, _shared(callee, options))
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
    """Return the source of f's derivative, without running it.

    >>> text = s2sad.source(lambda x, y: x * y, mode="jvp", wrt="y", args=(0.5, 2.0))
    >>> text.splitlines()[-1]
    '    return x * y, y_dot * x'

    `mode` says what to derive: "grad", "value_and_grad", "vjp", "jvp" or "reverse" (the function
    that `autodiff(Reverse, ...)` calls). `wrt` selects parameters, as for `grad`. `args` is a tuple
    of example arguments; only their kinds (float, dtype, rank, structure) matter. Without `args`,
    f's annotations must say the kinds: `def f(x: float, n: int)`. `jit=True` is not supported yet.
    Errors are the same as for `grad`; a mode that does not exist raises a ValueError.
    """
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

        path = s2sad.emit(model.loss, "loss_grad.py", mode="value_and_grad", args=(w, X, y))

    The module imports without s2sad and checks the kinds of its arguments on entry. `path` is a new
    file, or a file that begins with the header of a derived file; emit does not overwrite any other
    file, but raises a SourceError. `mode`, `wrt`, `args` and the other errors are the same as for
    `source`. The header of the file names the command that makes it again; `s2sad emit --check
    path` reports whether the file is up to date.
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
