"""Cotangents at the border: what goes into a pullback, and what comes out of derived code.

mirror((1.0, None), point)      Point(1.0, None): the class of the argument
checked(pullback, y, "f")       the pullback, which wants a cotangent built like y
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from s2sad import kinds as K
from s2sad.errors import MismatchError
from s2sad.kinds import Kind
from s2sad.known.spaces import NUMPY, module_of, space_of
from s2sad.runtime import attributes
from s2sad.tree import branch_of, is_array, leaves, map_leaves

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


def mixes(value: Any, within: bool = False) -> bool:
    """Say whether a list holds integers beside floats: to derived code they are of one kind."""
    if isinstance(value, _INTEGERS):
        return within
    branch = branch_of(value)
    if branch is None:
        return False
    within = within or (type(value) is list and bool(leaves(value)))
    return any(mixes(part, within) for part in branch.parts)


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


class Pullback:
    """A pullback that takes only a cotangent built like the result, cast to its dtypes."""

    __slots__ = ("_after", "_cast", "_pullback")

    def __init__(
        self,
        pullback: Callable[[Any], Any],
        cast: Cast,
        after: Callable[[Any], Any] | None,
    ) -> None:
        self._pullback = pullback
        self._cast = cast
        self._after = after

    def __call__(self, dy: Any) -> Any:
        """Return the cotangents of the arguments for a cotangent of the result, or for a stack."""
        try:
            cast = self._cast(dy)
        except MismatchError:
            if not self._is_stack(dy):
                raise
            return self.rows(dy)
        return self._pulled(cast)

    def _pulled(self, dy: Any) -> Any:
        result = self._pullback(dy)
        return result if self._after is None else self._after(result)

    def _is_stack(self, dy: Any) -> bool:
        """Say whether there are several cotangents; those of single numbers only `rows` takes."""
        given = _arrays(dy)
        if any(a is None for a in given) or not any(a.ndim > 1 for a in given):
            return False
        if len({a.shape[:1] for a in given}) > 1:
            return False
        try:
            self._cast(_row(dy, 0 if _count(dy) else None))
        except MismatchError:
            return False
        return True

    def rows(self, matrix: Any) -> Any:
        """Return the cotangents of the arguments for each of several cotangents of the result.

        These are stacked: each array has an axis more than the result's, the first one, and so has
        each of the arguments' in what is returned. For a result that is a vector, the rows of a
        matrix; the rows of np.eye(m) give the Jacobian.
        """
        count = _count(matrix)
        rows = [_row(matrix, i) for i in range(count)] or [_row(matrix, None)]
        several = [self._pulled(self._cast(row)) for row in rows]

        def stacked(*parts: Any) -> Any:
            found = next((p for p in parts if is_array(p)), None)
            space = module_of((None if found is None else space_of(type(found))) or NUMPY)
            return space.stack([space.asarray(p) for p in parts])[:count]

        return map_leaves(stacked, *several, other=lambda leaf: None)


def _count(matrix: Any) -> int:
    """Return how many cotangents are stacked; all arrays must have as many."""
    lengths = {a.shape[0] if a is not None and a.ndim else None for a in _arrays(matrix)}
    if len(lengths) != 1 or None in lengths:
        raise MismatchError(
            "rows wants cotangents that are stacked: arrays built like the result, each with a "
            "first axis more, as long as the others'."
        )
    (length,) = lengths
    return int(length or 0)


def _arrays(matrix: Any) -> list[Any]:
    """Return the arrays in a structure; None for a single number."""
    if is_array(matrix):
        return [matrix]
    if isinstance(matrix, int | float | complex | np.number) and not isinstance(matrix, bool):
        return [None]
    branch = branch_of(matrix)
    return [] if branch is None else [a for part in branch.parts for a in _arrays(part)]


def _row(matrix: Any, i: int | None) -> Any:
    """Return one of the stacked cotangents; zeros where there is none."""
    if is_array(matrix):
        return matrix[i] if i is not None else np.zeros(matrix.shape[1:])
    branch = branch_of(matrix)
    if branch is None:
        return matrix
    return branch.rebuild([_row(part, i) for part in branch.parts])


def checked(
    pullback: Callable[[Any], Any], y: Any, name: str, after: Callable[[Any], Any] | None = None
) -> Pullback:
    """Return a pullback that takes only a cotangent built like y, cast to y's dtypes."""
    return Pullback(pullback, caster(y, f"The cotangent of {name}"), after)


def caster(y: Any, what: str, within: bool = False) -> Cast:
    """Return what checks and casts a cotangent of y; it keeps y's shape, not y.

    `within` a list of floats, an integer is one of them, which does not move.
    """
    if is_array(y):
        return _cast_array(y, what) if y.dtype.kind in "fc" else _ignored
    if isinstance(y, float | complex | np.inexact):
        return _cast_scalar(type(y), what)
    if isinstance(y, list | tuple):
        return _cast_sequence(y, what, within or (type(y) is list and bool(leaves(y))))
    if isinstance(y, dict):
        return _cast_dict(y, what)
    if within and isinstance(y, _INTEGERS):
        return _still
    return _cast_object(y, what) if attributes(y) else _ignored


def _ignored(dy: Any) -> Any:
    return None


def _still(dy: Any) -> Any:
    return 0.0


def _cast_array(y: Any, what: str) -> Cast:
    shape, dtype, cls = y.shape, y.dtype, type(y)
    module = module_of(space_of(cls) or NUMPY)

    def cast(dy: Any) -> Any:
        if not _is_numeric(dy) or isinstance(dy, list | tuple):
            raise MismatchError(f"{what} is to be an array of shape {shape}, not {_words(dy)}.")
        if np.shape(dy) != shape:
            raise MismatchError(
                f"{what} is to have the result's shape {shape}, not {np.shape(dy)}."
            )
        if _dtype(dy).kind == "c" and dtype.kind != "c":
            raise MismatchError(f"{what} is to be real, as the result is, not complex.")
        if isinstance(dy, cls):
            return dy.astype(dtype, copy=False)
        return module.asarray(dy, dtype)

    return cast


def _cast_scalar(cls: type, what: str) -> Cast:
    real = not issubclass(cls, complex | np.complexfloating)

    def cast(dy: Any) -> Any:
        if not _is_numeric(dy) or isinstance(dy, list | tuple):
            raise MismatchError(f"{what} is to be a scalar, not {_words(dy)}.")
        if np.shape(dy) != ():
            raise MismatchError(f"{what} is to be a scalar, not an array of shape {np.shape(dy)}.")
        if real and _dtype(dy).kind == "c":
            raise MismatchError(f"{what} is to be real, as the result is, not complex.")
        return dy if type(dy) is cls else cls(dy)

    return cast


def _cast_sequence(y: Any, what: str, within: bool) -> Cast:
    casts = [caster(part, f"{what} at [{i}]", within) for i, part in enumerate(y)]
    base = list if isinstance(y, list) else tuple

    def cast(dy: Any) -> Any:
        if not isinstance(dy, base):
            raise MismatchError(f"{what} is to be a {base.__name__}, not {_words(dy)}.")
        if len(dy) != len(casts):
            raise MismatchError(f"{what} is to have {len(casts)} entries, not {len(dy)}.")
        return base(c(part) for c, part in zip(casts, dy, strict=True))

    return cast


def _cast_dict(y: Any, what: str) -> Cast:
    casts = {key: caster(part, f"{what} at [{key!r}]") for key, part in y.items()}

    def cast(dy: Any) -> Any:
        if not isinstance(dy, dict):
            raise MismatchError(f"{what} is to be a dict, not {_words(dy)}.")
        if dy.keys() != casts.keys():
            raise MismatchError(f"{what} is to have the keys {list(casts)}, not {list(dy)}.")
        return {key: c(dy[key]) for key, c in casts.items()}

    return cast


def _cast_object(y: Any, what: str) -> Cast:
    casts = {name: caster(part, f"{what} at .{name}") for name, part in attributes(y).items()}
    cls, nothing = type(y), not leaves(y)

    def cast(dy: Any) -> Any:
        if dy is None and nothing:
            return None
        if type(dy) is not cls:
            raise MismatchError(f"{what} is to be a {cls.__name__}, not {_words(dy)}.")
        branch = branch_of(dy)
        if branch is None or set(branch.keys) != casts.keys():
            found = list(attributes(dy))
            raise MismatchError(f"{what} is to have the attributes {list(casts)}, not {found}.")
        pairs = zip(branch.keys, branch.parts, strict=True)
        return branch.rebuild([casts[name](part) for name, part in pairs])

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
