"""Pullbacks that vjp hands out: what they take, stacks of cotangents, and how they are pickled."""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2sad.errors import MismatchError, SourceError
from s2sad.known.spaces import NUMPY, module_of, space_of
from s2sad.operators.cotangents import Cast, caster
from s2sad.operators.door import door, shortened
from s2sad.tree import branch_of, is_array, map_leaves


@dataclass(frozen=True)
class Like:
    """Stands for an array of a shape and a dtype, whatever its content is."""

    shape: tuple[int, ...]
    dtype: str
    space: str

    def made(self) -> Any:
        """Return such an array; NumPy's takes no memory."""
        module = module_of(self.space)
        return module.broadcast_to(module.zeros((), self.dtype), self.shape)


def outline(value: Any) -> Any:
    """Return a value without the content of its arrays."""
    if is_array(value):
        return Like(value.shape, value.dtype.str, space_of(type(value)) or NUMPY)
    branch = branch_of(value)
    return value if branch is None else branch.rebuild([outline(part) for part in branch.parts])


def filled(value: Any) -> Any:
    """Return what a value was before `outline`, as far as kinds go."""
    if isinstance(value, Like):
        return value.made()
    branch = branch_of(value)
    return value if branch is None else branch.rebuild([filled(part) for part in branch.parts])


class Pullback:
    """A pullback that takes only a cotangent built like the result, cast to its dtypes.

    A pickle holds what the forward sweep kept, and what makes the `operator` that derives the
    function again, for arguments like `example`, an outline of those of the call.
    """

    __slots__ = ("_after", "_cast", "_pullback", "example", "operator")

    def __init__(
        self,
        pullback: Callable[[Any], Any],
        cast: Cast,
        after: Callable[[Any], Any] | None,
        example: tuple[Any, ...] = (),
    ) -> None:
        self._pullback = pullback
        self._cast = cast
        self._after = after
        self.example = example
        self.operator: Callable[[], Any] | None = None

    def __call__(self, dy: Any) -> Any:
        """Return the cotangents of the arguments for a cotangent of the result, or for a stack."""
        try:
            cast = self._cast(dy)
        except MismatchError as error:
            if not self._is_stack(dy):
                raise shortened(error)
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

    @door
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

    def __reduce__(self) -> Any:
        pullback: Any = self._pullback
        if self.operator is None or type(pullback) is not types.FunctionType:
            raise TypeError(
                "s2sad cannot pickle this pullback; vjp(f, ...) returns one that can be pickled."
            )
        outer = _outer(self.operator(), self.example)
        _code_of(outer, pullback.__code__)
        cells = zip(pullback.__code__.co_freevars, pullback.__closure__ or (), strict=True)
        kept = {n: cell.cell_contents for n, cell in cells if n in outer.__code__.co_cellvars}
        return _restored, (self.operator, self.example, kept, self._cast, self._after)


def _restored(
    operator: Callable[[], Any],
    example: tuple[Any, ...],
    kept: dict[str, Any],
    cast: Cast,
    after: Any,
) -> Pullback:
    """Return a pullback of the function that is derived now, with what another sweep kept."""
    made_of = operator()
    outer = _outer(made_of, example)
    code = _code_of(outer, None)
    around = dict(zip(outer.__code__.co_freevars, outer.__closure__ or (), strict=True))
    own = {n: types.CellType(value) for n, value in kept.items()}
    if set(code.co_freevars) - around.keys() != own.keys():
        raise SourceError(
            f"The function of this pickled pullback ({made_of.__name__}) has changed since "
            "it was pickled.",
            remedy="Call vjp again.",
        )
    cells = tuple(own[n] if n in own else around[n] for n in code.co_freevars)
    made = types.FunctionType(code, outer.__globals__, code.co_name, None, cells)
    restored = Pullback(made, cast, after, example)
    restored.operator = operator
    return restored


def _outer(operator: Any, example: tuple[Any, ...]) -> Any:
    """Return the derived function that makes the pullback."""
    entry = operator._derived.find(tuple(filled(value) for value in example))
    return entry.bound.call


def _code_of(outer: Any, known: types.CodeType | None) -> types.CodeType:
    """Return the code of the pullback that a derived function makes."""
    codes = [c for c in outer.__code__.co_consts if isinstance(c, types.CodeType)]
    for code in codes:
        if code.co_name == "pullback" and known in (None, code):
            return code
    raise TypeError(
        "s2sad cannot pickle this pullback: its function is now derived in another way."
    )


def _count(matrix: Any) -> int:
    """Return how many cotangents are stacked; all arrays must have as many."""
    lengths = {a.shape[0] if a is not None and a.ndim else None for a in _arrays(matrix)}
    if len(lengths) != 1 or None in lengths:
        raise MismatchError(
            "rows needs stacked cotangents: arrays shaped like the result with one "
            "additional first axis, which has the same length in all of them."
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
    pullback: Callable[[Any], Any],
    y: Any,
    name: str,
    after: Callable[[Any], Any] | None = None,
    example: tuple[Any, ...] = (),
) -> Pullback:
    """Return a pullback that takes only a cotangent built like y, cast to y's dtypes."""
    return Pullback(pullback, caster(y, f"The cotangent of {name}"), after, example)
