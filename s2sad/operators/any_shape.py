"""Operators on functions that take any arguments: one for each way in which they are called.

grad(np.sum)(x, axis=0)            the gradient of    def sum(a, *, axis): return np.sum(a, axis=0)
grad(f)(x, y), def f(*args)        that of            def f(x, y): args = (x, y); ...
"""

from __future__ import annotations

import functools
import inspect
import types
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

from s2sad.capture.fitted import fit, takes_shape
from s2sad.capture.shaped import inner
from s2sad.operators.parameters import Wrt
from s2sad.operators.shown import Shown

A = ParamSpec("A")
R = TypeVar("R")
_KEPT = 64


class OfAnyShape(Shown):
    """A derivative of a function that takes any arguments: derived for each way to call it."""

    __s2sad_operator__ = True
    __s2sad_any_shape__ = True
    __slots__ = ("__dict__", "__weakref__")

    def __init__(self, f: Any, wrt: Wrt, make: Callable[..., Any], skipped: int = 0) -> None:
        self._f = f
        self._skipped = skipped
        self._wrt = wrt
        self._make = make
        self._made: OrderedDict[Any, Any] = OrderedDict()
        word = getattr(make, "func", make).__name__
        name = getattr(f, "__name__", type(f).__name__)
        self.__name__ = f"{name}_{word}"
        self.__qualname__ = f"{getattr(f, '__qualname__', name)}_{word}"
        self.__module__ = getattr(f, "__module__", None) or __name__
        self.__doc__ = f"{word} of {name}, for any arguments."

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Return the derivative at these arguments."""
        return self.of(args, kwargs)(*args, **kwargs)

    def of(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Return the derivative of the function as it is called with these arguments."""
        fn = fit(self._f, args, kwargs, self._wrt)
        one = inner(fn)
        known = self._made.get(id(one))
        if known is None or known[0] is not one:
            skipped = (self._skipped,) if self._skipped else ()
            known = self._made[id(one)] = one, self._make(fn, *skipped)
            while len(self._made) > _KEPT:
                self._made.popitem(last=False)
        return known[1]

    def _bound(self, instance: Any) -> OfAnyShape:
        """Return this operator with its first argument bound."""
        return OfAnyShape(functools.partial(self._f, instance), self._wrt, self._make)

    def source(self, *args: Any, **kwargs: Any) -> str:
        """Return the derived source for example arguments."""
        return str(self.of(args, kwargs).source(*args, **kwargs))

    def emit(self, path: str | Path, *args: Any, **kwargs: Any) -> Path:
        """Write the derived source as a module."""
        return Path(self.of(args, kwargs).emit(path, *args, **kwargs))

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self._f)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self) -> Any:
        return OfAnyShape, (self._f, self._wrt, self._make, self._skipped)

    def __repr__(self) -> str:
        word = getattr(self._make, "func", self._make).__name__
        wrt = "" if self._wrt is None else f", wrt={self._wrt!r}"
        return f"<s2sad.{word}({self._f!r}{wrt})>"


def for_shapes(f: Any, make: Callable[..., Any], skipped: int = 0) -> Any:
    """Return what `make` makes of a function, or of each way to call it."""
    if takes_shape(f, None, skipped=skipped):
        return OfAnyShape(f, None, make, skipped)
    return make(f, skipped)


def of_any_shape(operator: Callable[A, R]) -> Callable[A, R]:
    """Let an operator take functions that take any arguments."""

    @functools.wraps(operator)
    def made(*args: A.args, **kwargs: A.kwargs) -> R:
        f, wrt = _given(*args, **kwargs)  # type: ignore[arg-type]
        if not takes_shape(f, wrt):
            return operator(*args, **kwargs)
        settings = {"wrt": args[1], **kwargs} if len(args) > 1 else kwargs
        settings = {n: v for n, v in settings.items() if n != "f"}
        return cast(R, OfAnyShape(f, wrt, functools.partial(made, **settings)))  # type: ignore[arg-type]

    return made


def _given(f: Any = None, wrt: Wrt = None, **_: Any) -> tuple[Any, Wrt]:
    return f, wrt
