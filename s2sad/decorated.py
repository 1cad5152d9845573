"""The decorator: a function that carries its derivatives.

@differentiate               f.grad, f.value_and_grad, f.vjp, ... on the function itself
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from s2sad.api import Operator, autodiff, callee_of, hessian, hvp, jacobian_of, jvp, vjp
from s2sad.capture.fitted import takes_shape
from s2sad.capture.shaped import is_library
from s2sad.operators.any_shape import for_shapes
from s2sad.operators.below import refuse_below_classmethod
from s2sad.operators.derived import Options
from s2sad.operators.door import door
from s2sad.operators.duplicated import Mode
from s2sad.operators.hessians import Hessian
from s2sad.operators.jacobians import Jacobian
from s2sad.operators.parameters import Wrt
from s2sad.operators.shown import Shown

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
S = TypeVar("S")

# Whether there is an aux is known when they are called.
_vjp: Callable[..., Any] = vjp
_jvp: Callable[..., Any] = jvp


class Differentiable(Generic[P, R]):
    """A function that carries its derivatives; calling it calls the function."""

    __s2sad_decorated__ = True

    def __init__(self, f: Callable[P, R], wrt: Wrt = None) -> None:
        self.__name__ = f.__name__
        self.__qualname__ = f.__qualname__
        functools.update_wrapper(self, f)
        self.__s2sad_primal__: Any = f
        self.__s2sad_wrt__ = wrt
        self._operators: dict[tuple[str, int], Any] = {}

    @functools.cached_property
    def _unbound(self) -> Differentiable[P, R]:
        """The function itself; an error if a decorator has detached the method from its class."""
        refuse_below_classmethod(self)
        return self

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function itself."""
        result: R = self.__s2sad_primal__(*args, **kwargs)
        return result

    @property
    def grad(self) -> Operator[P, Any]:
        """The gradient, as s2sad.grad gives it."""
        return self._operator("grad")  # type: ignore[no-any-return]

    @property
    def value_and_grad(self) -> Operator[P, tuple[R, Any]]:
        """The value and the gradient, as s2sad.value_and_grad gives them."""
        return self._operator("value_and_grad")  # type: ignore[no-any-return]

    @property
    def jacobian(self) -> Jacobian[P, Any]:
        """The Jacobian, as s2sad.jacobian gives it."""
        return self._operator("jacobian")  # type: ignore[no-any-return]

    def vjp(self, /, *args: Any, wrt: Wrt = None, has_aux: bool = False) -> Any:
        """Return the value and a pullback, as s2sad.vjp does."""
        return _vjp(self._unbound, *args, wrt=wrt, has_aux=has_aux)

    def jvp(self, /, primals: Any, tangents: Any, *, has_aux: bool = False) -> Any:
        """Return the value and its tangent, as s2sad.jvp does."""
        return _jvp(self._unbound.__s2sad_primal__, primals, tangents, has_aux=has_aux)

    @property
    def hessian(self) -> Hessian[P, Any]:
        """The second derivatives, as s2sad.hessian gives them."""
        return hessian(self) if takes_shape(self, None) else Hessian(self, self.grad, False)

    def hvp(self, /, primals: Any, tangents: Any) -> Any:
        """Return the product of the Hessian with tangents, as s2sad.hvp does."""
        return hvp(self._unbound.__s2sad_primal__, primals, tangents)

    def autodiff(self, mode: Mode, /, *activities: Any, seed: Any = None) -> Any:
        """Return the value and the derivatives, as s2sad.autodiff does."""
        return autodiff(mode, self._unbound.__s2sad_primal__, *activities, seed=seed)

    def _operator(self, mode: str, skipped: int = 0) -> Any:
        known = self._operators.get((mode, skipped))
        if known is None and not skipped:
            _ = self._unbound
        if known is None:
            made = for_shapes(self, functools.partial(_attribute, mode), skipped)
            known = self._operators.setdefault((mode, skipped), made)
        return known

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Differentiable[P, R]: ...
    @overload
    def __get__(
        self: Differentiable[Concatenate[S, Q], R], instance: object, owner: type | None = None
    ) -> _Bound[Q, R]: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        bound = self.__s2sad_primal__.__get__(instance, owner)
        return _Bound(self, bound) if isinstance(bound, types.MethodType) else self

    def __reduce__(self) -> Any:
        return self.__qualname__

    def __repr__(self) -> str:
        return f"<differentiable {self.__s2sad_primal__!r}>"


def _attribute(mode: str, f: Any, skipped: int = 0) -> Any:
    if mode == "jacobian":
        return jacobian_of(f, None, "auto", False, skipped)
    return _Attribute(f, Options(mode), skipped)


class _Attribute(Operator[P, R]):
    """An operator that is an attribute of a decorated function, and pickled as that."""

    def __reduce__(self) -> Any:
        if self._skipped:
            return super().__reduce__()
        return getattr, (self._f, self._options.mode)


class _Bound(Generic[P, R]):
    """A decorated method of one object."""

    __s2sad_decorated__ = True

    def __init__(self, function: Differentiable[..., Any], method: types.MethodType) -> None:
        self.__s2sad_primal__ = method
        self.__func__ = function
        self.__self__ = method.__self__
        self.__s2sad_wrt__ = function.__s2sad_wrt__

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self.__s2sad_primal__)

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the method itself."""
        result: R = self.__s2sad_primal__(*args, **kwargs)
        return result

    @property
    def grad(self) -> _BoundOperator[P, Any]:
        """The gradient; self is Const unless wrt names it."""
        return _BoundOperator(self, "grad")

    @property
    def value_and_grad(self) -> _BoundOperator[P, tuple[R, Any]]:
        """The value and the gradient; self is Const unless wrt names it."""
        return _BoundOperator(self, "value_and_grad")

    @property
    def jacobian(self) -> _BoundOperator[P, Any]:
        """The Jacobian; self is Const unless wrt names it."""
        return _BoundOperator(self, "jacobian")

    def vjp(self, /, *args: Any, wrt: Wrt = None, has_aux: bool = False) -> Any:
        """Return the value and a pullback, as s2sad.vjp does."""
        return _vjp(self, *args, wrt=wrt, has_aux=has_aux)

    def jvp(self, /, primals: Any, tangents: Any, *, has_aux: bool = False) -> Any:
        """Return the value and its tangent, as s2sad.jvp does; self is Const."""
        return _jvp(self.__s2sad_primal__, primals, tangents, has_aux=has_aux)

    @property
    def hessian(self) -> Hessian[P, Any]:
        """The second derivatives; self is Const unless wrt names it."""
        if takes_shape(self, None):
            return hessian(self)
        gradient = self.__func__._operator("grad", 1)._bound(self.__self__)
        return Hessian(self, gradient, False)

    def hvp(self, /, primals: Any, tangents: Any) -> Any:
        """Return the product of the Hessian with tangents, as s2sad.hvp does; self is Const."""
        return hvp(self.__s2sad_primal__, primals, tangents)

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


class _BoundOperator(Shown, Generic[P, R]):
    """An operator of a decorated method, with its object."""

    __s2sad_operator__ = True

    def __init__(self, method: _Bound[..., Any], mode: str) -> None:
        self._method = method
        self._mode = mode
        self._operator = method.__func__._operator(mode, 1)

    @property
    def __s2sad_primal__(self) -> Any:
        """A function that stands for this derivative where it is derived again."""
        return functools.partial(self._operator.__s2sad_primal__, self._method.__self__)

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Return the derivative at these arguments."""
        result: R = self._operator(self._method.__self__, *args, **kwargs)
        return result

    def source(self, *args: Any, **kwargs: Any) -> str:
        """Return the derived source, for example arguments or, without any, for the annotations."""
        return str(self._operator._bound(self._method.__self__).source(*args, **kwargs))

    def emit(self, path: str | Path, *args: Any, **kwargs: Any) -> Path:
        """Write the derived source as a module."""
        return Path(self._operator._bound(self._method.__self__).emit(path, *args, **kwargs))

    def __reduce__(self) -> Any:
        return getattr, (self._method, self._mode)

    def __repr__(self) -> str:
        return f"<s2sad.{self._mode}({self._method!r})>"


@overload
def differentiate(f: Callable[P, R]) -> Differentiable[P, R]: ...
@overload
def differentiate(
    f: None = None, *, wrt: Wrt = None
) -> Callable[[Callable[P, R]], Differentiable[P, R]]: ...
@door
def differentiate(f: Callable[..., Any] | None = None, *, wrt: Wrt = None) -> Any:
    """Add derivatives to a function as attributes: `f.grad`, `f.value_and_grad`, `f.vjp` ...

    >>> @s2sad.differentiate
    ... def loss(w):
    ...     return np.sum(w * w)
    >>> loss(np.ones(2)), loss.grad(np.ones(2))
    (np.float64(2.0), array([2., 2.]))

    Use it as `@differentiate` or `@differentiate(wrt="w")`. A call of f itself is unchanged. On a
    method, the derivatives of `obj.f` treat self as a constant unless `wrt` names it.
    """
    if f is None:
        return functools.partial(Differentiable, wrt=wrt)
    if not is_library(f):
        callee_of(f.__func__ if isinstance(f, classmethod) else f, "differentiate")
    return Differentiable(f, wrt)
