"""Cotangents at the border: what goes into a pullback, and what comes out of derived code.

mirror((1.0, None), point)      Point(1.0, None): the class of the argument
checked(pullback, y, "f")       the pullback, which wants a cotangent built like y
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from s2sad import kinds as K
from s2sad.kinds import Kind
from s2sad.runtime import attributes
from s2sad.spaces import NUMPY, module_of, space_of
from s2sad.tree import is_array

# --- out -----------------------------------------------------------------------------------------


def needs_mirror(kind: Kind) -> bool:
    """Say whether a kind holds a named tuple, whose class derived code does not name."""
    if isinstance(kind, K.Tuple):
        return kind.cls is not None or any(map(needs_mirror, kind.items))
    if isinstance(kind, K.List) and kind.items is not None:
        return any(map(needs_mirror, kind.items))
    if isinstance(kind, K.List):
        return needs_mirror(kind.item)
    if isinstance(kind, K.Dict):
        return any(needs_mirror(k) for _, k in kind.items)
    if isinstance(kind, K.OpenDict):
        return needs_mirror(kind.item)
    if isinstance(kind, K.OneOf):
        return any(map(needs_mirror, kind.options))
    return isinstance(kind, K.Obj) and any(needs_mirror(k) for _, k in kind.fields)


def mirror(derivative: Any, value: Any) -> Any:
    """Return a derivative with the classes of the value's named tuples."""
    if derivative is None:
        return None
    if isinstance(value, tuple):
        parts = [mirror(d, v) for d, v in zip(derivative, value, strict=True)]
        make: Any = getattr(type(value), "_make", tuple)
        return make(parts)
    if type(value) is list:
        derivative[:] = [mirror(d, v) for d, v in zip(derivative, value, strict=True)]
    elif type(value) is dict:
        for key, part in value.items():
            derivative[key] = mirror(derivative[key], part)
    else:
        for name, part in attributes(value).items():
            object.__setattr__(derivative, name, mirror(getattr(derivative, name), part))
    return derivative


# --- in ------------------------------------------------------------------------------------------

Cast = Callable[[Any], Any]


def checked(
    pullback: Callable[[Any], Any], y: Any, name: str, after: Callable[[Any], Any] | None = None
) -> Callable[[Any], Any]:
    """Return a pullback that takes only a cotangent built like y, cast to y's dtypes."""
    cast = caster(y, f"The cotangent of {name}")

    def pull(dy: Any) -> Any:
        """Return the cotangents of the arguments for a cotangent of the result."""
        result = pullback(cast(dy))
        return result if after is None else after(result)

    return pull


def caster(y: Any, what: str) -> Cast:
    """Return what checks and casts a cotangent of y; it keeps y's shape, not y."""
    if is_array(y):
        return _cast_array(y, what) if y.dtype.kind in "fc" else _ignored
    if isinstance(y, float | complex | np.inexact):
        return _cast_scalar(type(y), what)
    if isinstance(y, list | tuple):
        return _cast_sequence(y, what)
    if isinstance(y, dict):
        return _cast_dict(y, what)
    return _as_it_is if hasattr(y, "__dict__") else _ignored


def _ignored(dy: Any) -> Any:
    return None


def _as_it_is(dy: Any) -> Any:
    return dy


def _cast_array(y: Any, what: str) -> Cast:
    shape, dtype, cls = y.shape, y.dtype, type(y)
    module = module_of(space_of(cls) or NUMPY)

    def cast(dy: Any) -> Any:
        if not _is_numeric(dy) or isinstance(dy, list | tuple):
            raise TypeError(f"{what} is to be an array of shape {shape}, not {_words(dy)}.")
        if np.shape(dy) != shape:
            raise ValueError(f"{what} is to have the result's shape {shape}, not {np.shape(dy)}.")
        if _dtype(dy).kind == "c" and dtype.kind != "c":
            raise TypeError(f"{what} is to be real, as the result is, not complex.")
        if isinstance(dy, cls):
            return dy.astype(dtype, copy=False)
        return module.asarray(dy, dtype)

    return cast


def _cast_scalar(cls: type, what: str) -> Cast:
    real = not issubclass(cls, complex | np.complexfloating)

    def cast(dy: Any) -> Any:
        if not _is_numeric(dy) or isinstance(dy, list | tuple):
            raise TypeError(f"{what} is to be a scalar, not {_words(dy)}.")
        if np.shape(dy) != ():
            raise ValueError(f"{what} is to be a scalar, not an array of shape {np.shape(dy)}.")
        if real and _dtype(dy).kind == "c":
            raise TypeError(f"{what} is to be real, as the result is, not complex.")
        return dy if type(dy) is cls else cls(dy)

    return cast


def _cast_sequence(y: Any, what: str) -> Cast:
    casts = [caster(part, f"{what} at [{i}]") for i, part in enumerate(y)]
    base = list if isinstance(y, list) else tuple

    def cast(dy: Any) -> Any:
        if not isinstance(dy, base):
            raise TypeError(f"{what} is to be a {base.__name__}, not {_words(dy)}.")
        if len(dy) != len(casts):
            raise ValueError(f"{what} is to have {len(casts)} entries, not {len(dy)}.")
        return base(c(part) for c, part in zip(casts, dy, strict=True))

    return cast


def _cast_dict(y: Any, what: str) -> Cast:
    casts = {key: caster(part, f"{what} at [{key!r}]") for key, part in y.items()}

    def cast(dy: Any) -> Any:
        if not isinstance(dy, dict):
            raise TypeError(f"{what} is to be a dict, not {_words(dy)}.")
        if dy.keys() != casts.keys():
            raise ValueError(f"{what} is to have the keys {list(casts)}, not {list(dy)}.")
        return {key: c(dy[key]) for key, c in casts.items()}

    return cast


def _is_numeric(dy: Any) -> bool:
    if is_array(dy):
        return dy.dtype.kind in "biufc"
    return isinstance(dy, int | float | complex | np.number | np.bool_)


def _dtype(dy: Any) -> np.dtype[Any]:
    return dy.dtype if hasattr(dy, "dtype") else np.result_type(dy)


def _words(value: Any) -> str:
    if value is None:
        return "None"
    if is_array(value):
        return f"an array of {value.dtype}"
    return f"a value of type {type(value).__name__}"
