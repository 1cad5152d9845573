"""Cotangents at the border: what goes into a pullback, and what comes out of derived code.

mirror((1.0, None), point)      Point(1.0, None): the class of the argument
caster(y, "the seed")(dy)        dy with y's dtypes, if it is built like y
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from s2sad import kinds as K
from s2sad.errors import MismatchError, an
from s2sad.kinds import Kind
from s2sad.known.joined import joins
from s2sad.known.spaces import NUMPY, module_of, space_of
from s2sad.runtime import attributes
from s2sad.tree import branch_of, is_array, leaves

# --- out -----------------------------------------------------------------------------------------


def needs_mirror(kind: Kind) -> bool:
    """Say whether a kind holds a named tuple, whose class derived code does not name."""
    named = isinstance(kind, K.Tuple) and kind.cls is not None
    return named or any(map(needs_mirror, kind.inside))


def mixes(value: Any, within: bool = False) -> bool:
    """Say whether integers stand beside floats where to derived code they are of one kind."""
    if isinstance(value, _INTEGERS):
        return within
    branch = branch_of(value)
    if branch is None:
        return False
    within = within or (joins(value) and bool(leaves(value)))
    return any(mixes(part, within) for part in branch.parts)


def holds_integers(value: Any) -> bool:
    """Say whether a structure holds integers: derived code may have given them a cotangent."""
    branch = branch_of(value)
    parts = () if branch is None else branch.parts
    return any(isinstance(part, _INTEGERS) or holds_integers(part) for part in parts)


_INTEGERS = (int, np.integer, np.bool_)


def mirror(derivative: Any, value: Any) -> Any:
    """Return a derivative with the classes of the value's named tuples, None for integers."""
    if derivative is None or isinstance(value, _INTEGERS):
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


def caster(y: Any, what: str, within: bool = False) -> Cast:
    """Return what checks and casts a cotangent of y; it keeps y's shape, not y.

    `within` what holds floats of one kind, an integer is one of them, which does not move.
    """
    if is_array(y):
        known = y.dtype.kind in "fc"
        return partial(_to_array, y.shape, y.dtype, type(y), what) if known else _ignored
    if isinstance(y, float | complex | np.inexact):
        return partial(_to_scalar, type(y), what)
    within = within or (joins(y) and bool(leaves(y)))
    if isinstance(y, list | tuple):
        casts = [caster(part, f"{what} at [{i}]", within) for i, part in enumerate(y)]
        return partial(_to_sequence, casts, list if isinstance(y, list) else tuple, what)
    if isinstance(y, dict):
        by_key = {key: caster(part, f"{what} at [{key!r}]", within) for key, part in y.items()}
        return partial(_to_dict, by_key, what)
    if within and isinstance(y, _INTEGERS):
        return _still
    if not attributes(y):
        return _ignored
    by_name = {n: caster(part, f"{what} at .{n}", within) for n, part in attributes(y).items()}
    return partial(_to_object, by_name, type(y), not leaves(y), what)


def _ignored(dy: Any) -> Any:
    return None


def _still(dy: Any) -> Any:
    return 0.0


def _to_array(shape: Any, dtype: Any, cls: Any, what: str, dy: Any) -> Any:
    if not _is_numeric(dy) or isinstance(dy, list | tuple):
        raise MismatchError(f"{what} is {_words(dy)}; it must be an array of shape {shape}.")
    if np.shape(dy) != shape:
        given = np.shape(dy)
        raise MismatchError(f"{what} has shape {given}; it must have the result's shape, {shape}.")
    if _dtype(dy).kind == "c" and dtype.kind != "c":
        raise MismatchError(f"{what} is complex; it must be real, as the result is.")
    if isinstance(dy, cls):
        return dy.astype(dtype, copy=False)
    return module_of(space_of(cls) or NUMPY).asarray(dy, dtype)


def _to_scalar(cls: type, what: str, dy: Any) -> Any:
    if not _is_numeric(dy) or isinstance(dy, list | tuple):
        raise MismatchError(f"{what} is {_words(dy)}; it must be a scalar.")
    if np.shape(dy) != ():
        raise MismatchError(f"{what} has shape {np.shape(dy)}; it must be a scalar.")
    if not issubclass(cls, complex | np.complexfloating) and _dtype(dy).kind == "c":
        raise MismatchError(f"{what} is complex; it must be real, as the result is.")
    return dy if type(dy) is cls else cls(dy)


def _to_sequence(casts: list[Cast], base: Any, what: str, dy: Any) -> Any:
    if not isinstance(dy, base):
        raise MismatchError(f"{what} is {_words(dy)}; it must be a {base.__name__}.")
    if len(dy) != len(casts):
        raise MismatchError(f"{what} has {len(dy)} entries; it must have {len(casts)}.")
    return base(c(part) for c, part in zip(casts, dy, strict=True))


def _to_dict(casts: dict[Any, Cast], what: str, dy: Any) -> Any:
    if not isinstance(dy, dict):
        raise MismatchError(f"{what} is {_words(dy)}; it must be a dict.")
    if dy.keys() != casts.keys():
        raise MismatchError(f"{what} has the keys {list(dy)}; it must have {list(casts)}.")
    return {key: c(dy[key]) for key, c in casts.items()}


def _to_object(casts: dict[str, Cast], cls: type, nothing: bool, what: str, dy: Any) -> Any:
    if dy is None and nothing:
        return None
    if type(dy) is not cls:
        raise MismatchError(f"{what} is {_words(dy)}; it must be {an(cls.__name__)}.")
    branch = branch_of(dy)
    if branch is None or set(branch.keys) != casts.keys():
        found = list(attributes(dy))
        raise MismatchError(f"{what} has the attributes {found}; it must have {list(casts)}.")
    pairs = zip(branch.keys, branch.parts, strict=True)
    return branch.rebuild([casts[name](part) for name, part in pairs])


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
