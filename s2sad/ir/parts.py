"""Which part of which array an operation meets, and which parts surely have nothing in common.

    w = u[1:-1]; w[j]            a part of u[1:-1]
    u[t + 1], u[t]               nothing in common: t + 1 is not t, and no index is negative
    u[2:], u[:2]; u[-1], u[:-1]  nothing in common

Arrays that share memory are compared where each of them is an array of its own, or all are parts
of one: then no element is met under two indices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.bounds import ONE, ZERO, Bounds, Sum
from s2sad.ir.deeds import kind_of
from s2sad.ir.memories import Memories
from s2sad.ir.program import Op, Operand, Var

Index = tuple[Operand, ...]
"""What is met of an array: an operand for each of its first axes. Nothing is told of the others."""
WHOLE: Index = ()


@dataclass(frozen=True)
class Span:
    """Places along an axis, from the first up to but without the last; None where that is open.

    They are counted from the `front`, and from the `back`.
    """

    front: tuple[Sum | None, Sum | None] = (None, None)
    back: tuple[Sum | None, Sum | None] = (None, None)


@dataclass(frozen=True)
class Parts:
    """The arrays of a program, by their memory. The `members` of a class are its variables.

    A variable that a region hands over is what it `gets`.
    """

    memory: Memories
    bounds: Bounds
    members: Mapping[Var, Sequence[Var]]
    gets: Mapping[Var, Sequence[Operand]]
    _plain: dict[Var, bool] = field(default_factory=dict)

    def maker(self, given: Operand) -> Op | None:
        """Return what computes a value."""
        return self.bounds.makers.get(given) if isinstance(given, Var) else None

    # memory

    def met(self, v: Var, index: Operand | None = None) -> Index:
        """Return in which part of its memory a variable is, or what an index shows of it."""
        root = self.memory.of(v)
        if root is None or not isinstance(v.kind, K.Array) or not self.is_plain(root):
            return WHOLE
        found = WHOLE if index is None else self.axes(index)
        while (op := self.shows(v)) is not None:
            if op.primitive.form == "item":
                found = self.axes(op.operands[1])
            owner = op.operands[0]
            assert isinstance(owner, Var)
            v = owner
        return found

    def shows(self, v: Var) -> Op | None:
        """Return what gives a variable, if that is a part of its first operand, or all of it."""
        op = self.maker(v)
        if op is None or not isinstance(v.kind, K.Array) or not isinstance(op.operands[0], Var):
            return None
        if not isinstance(op.operands[0].kind, K.Array):
            return None
        if op.primitive.form == "item":
            return None if self.copies(op.operands[1]) else op
        return op if op.primitive.form in ("same", "augmented") else None

    def base(self, v: Var) -> Var:
        """Return the array of which a variable is a part, or all."""
        while (op := self.shows(v)) is not None:
            owner = op.operands[0]
            assert isinstance(owner, Var)
            v = owner
        return v

    def is_plain(self, root: Var) -> bool:
        """Say whether indices tell the parts of a class of memory apart."""
        if root not in self._plain:
            self._plain[root] = self._look(root)
        return self._plain[root]

    def _look(self, root: Var) -> bool:
        """Look whether each array of a class is one of its own, or all are parts of one.

        What holds arrays is met as a whole; an array that comes from there may be a part of any.
        """
        members = [v for v in self.members.get(root, ()) if isinstance(v.kind, K.Array)]
        if any(v.cell or v.kind.dtype == "object" for v in members):  # type: ignore[attr-defined]
            return False
        given = [o for v in members for o in self.gets.get(v, ()) if isinstance(o, Var)]
        if not all(isinstance(v.kind, K.Array) and not self.is_part(v) for v in given):
            return False
        bases = [v for v in members if v not in self.gets and self.shows(v) is None]
        if len(bases) == 1 and not self.bounds.around[bases[0]]:
            return True
        return all(map(self.is_new, bases))

    def is_new(self, v: Var) -> bool:
        """Say whether a variable is memory that nothing else has where it is bound."""
        op = self.maker(v)
        if op is None or self.memory.deeds[op].fresh:
            return op is not None
        picks = op.primitive.form == "item" and isinstance(kind_of(op.operands[0]), K.Array)
        return picks and self.copies(op.operands[1])

    def is_own_array(self, v: Var) -> bool:
        """Say whether a variable is an array of numbers that is made where it is bound."""
        numbers = isinstance(v.kind, K.Array) and v.kind.dtype != "object"
        return numbers and not v.cell and v not in self.gets and self.is_new(v)

    def is_part(self, v: Var) -> bool:
        """Say whether a variable is what an index shows of an array, or of a part of it."""
        while (op := self.shows(v)) is not None:
            if op.primitive.form == "item":
                return True
            owner = op.operands[0]
            assert isinstance(owner, Var)
            v = owner
        return False

    # indices

    def axes(self, index: Operand) -> Index:
        """Return what an index says of the first axes: numbers and slices."""
        found: list[Operand] = []
        for one in self._apart(index):
            if self._span(one, None) is None:
                break
            found.append(one)
        return tuple(found)

    def _apart(self, index: Operand) -> tuple[Operand, ...]:
        op = self.maker(index)
        return op.operands if op is not None and op.primitive.form == "tuple" else (index,)

    def copies(self, index: Operand) -> bool:
        """Say whether an index picks out elements: one of arrays or lists does."""
        kinds = [kind_of(o) for o in self._apart(index)]
        inside = [k for kind in kinds for k in (*kind.inside, kind)]
        return any(isinstance(k, K.Array | K.List) for k in inside)

    def are_apart(self, one: Index, other: Index, later: P.Region | None = None) -> bool:
        """Say whether two parts of an array surely have nothing in common.

        The other one is met in the same round as the first, or in one that is `later` in a loop.
        """
        for a, b in zip(one, other, strict=False):
            left, right = self._span(a, None), self._span(b, later)
            if left is None or right is None:
                return False
            for (start, end), (first, last) in (
                (left.front, right.front),
                (left.back, right.back),
            ):
                if self._is_behind(end, first, later) or self._is_behind(last, start, later):
                    return True
        return False

    def are_same(self, one: Operand, other: Operand) -> bool:
        """Say whether two indices surely name the same elements of an array."""
        left, right = self._apart(one), self._apart(other)
        return len(left) == len(right) and all(map(self._is_same, left, right))

    def _is_same(self, one: Operand, other: Operand) -> bool:
        if one == other:
            return True
        first, second = (self.bounds.sum_of(o) for o in (one, other))
        if first is not None or second is not None:
            return first == second
        left, right = self.maker(one), self.maker(other)
        if left is None or right is None or left.primitive.form != "slice":
            return False
        alike = left.primitive is right.primitive
        return alike and all(map(self._is_same, left.operands, right.operands))

    def _is_behind(self, end: Sum | None, start: Sum | None, later: P.Region | None) -> bool:
        """Say whether places start where others have ended."""
        return end is not None and start is not None and self.bounds.never_less(start, end, later)

    def _span(self, given: Operand, later: P.Region | None) -> Span | None:
        """Return the places that an index or a slice names along an axis; None of anything else."""
        at = self.bounds.sum_of(given, later)
        if at is not None:
            places, front = (at, at.plus(ONE)), self._is_from_front(at, later)
            if front is None:
                return Span()
            return Span(front=places) if front else Span(back=places)
        op = self.maker(given)
        if op is None or op.primitive.form != "slice":
            return None
        first, last, step = op.operands
        if step not in (P.Const(None), P.Const(1)):
            return Span()
        start, end = (self.bounds.sum_of(o, later) for o in (first, last))
        ahead = [None if e is None else self._is_from_front(e, later) for e in (start, end)]
        return Span(
            front=(start if ahead[0] else ZERO, end if ahead[1] else None),
            back=(start if ahead[0] is False else None, end if ahead[1] is False else ZERO),
        )

    def _is_from_front(self, at: Sum, later: P.Region | None) -> bool | None:
        """Say whether a place is counted from the front, False from the back, None if open."""
        if self.bounds.never_less(at, ZERO, later):
            return True
        return False if self.bounds.never_less(Sum(-1), at, later) else None
