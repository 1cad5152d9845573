"""What is taken from an array, and added there again, stays where it is.

    t_bar = u_bar[1:-1].copy()       t_bar = u_bar[1:-1].copy()
    u_bar[1:-1] = 0.0
    u_bar[1:-1] -= 2.0 * t_bar       u_bar[1:-1] -= 2.0 * t_bar
    u_bar[:-2] += t_bar              u_bar[:-2] += t_bar
    u_bar[1:-1] += t_bar

Before: a derived program. After: the same, where nothing but sums meet the part between. What is
spared is the clearing, the sum, and often the copy.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, field, replace

from s2sad.ir import program as P
from s2sad.ir.accesses import Access, Accesses, accesses
from s2sad.ir.first_terms import is_sum, place_of
from s2sad.ir.program import Op, Operand, Var
from s2sad.ir.rebuilt import substituted, with_blocks
from s2sad.primitives import language as L

_COPY = L.method("copy")
_ADDS = (L.AUGMENTED["Add"], L.AUGMENTED_ITEM["Add"])


def with_what_stays(program: P.Program, own: Set[Var]) -> P.Program:
    """Return a program that takes nothing away to add it again; the user's `own` arrays stay."""
    every = [op for op in P.every(program.block) if isinstance(op, Op)]
    copies = {op.outs[0] for op in every if _is_copy(op, own)}
    if not any(op.primitive in _ADDS and op.operands[-1] in copies for op in every):
        return program
    worker = _Worker(accesses(program), own)
    block = worker.block(program.block)
    return replace(program, block=substituted(block, worker.same) if worker.same else block)


def _is_copy(op: Op, own: Set[Var]) -> bool:
    plain = op.primitive is _COPY and not op.settings and isinstance(op.operands[0], Var)
    return plain and op.outs[0] not in own


def _leaves(operation: P.Operation) -> bool:
    """Say whether a region may end in another way than at its end."""
    if isinstance(operation, Op):
        return False
    inner = [b for o in P.every(P.Block((), (operation,), P.End("next"))) for b in _blocks(o)]
    return isinstance(operation, P.Try | P.With) or any(b.end.how != "next" for b in inner)


def _blocks(operation: P.Operation) -> tuple[P.Block, ...]:
    return () if isinstance(operation, Op) else P.blocks(operation)


@dataclass(frozen=True)
class _Worker:
    """An array to which nothing is added is the `same` behind an operation."""

    found: Accesses
    own: Set[Var]
    same: dict[Var, Operand] = field(default_factory=dict)

    def block(self, block: P.Block) -> P.Block:
        gone: set[P.Operation] = set()
        for op in block.ops:
            if isinstance(op, Op) and is_sum(op, self.own) and op.primitive in _ADDS:
                zeros = self.zeros(op, block.ops)
                if zeros is not None and zeros not in gone:
                    gone |= {op, zeros}
                    old = op.operands[0]
                    assert isinstance(old, Var)
                    self.same.update(dict.fromkeys(op.outs, self.same.get(old, old)))
        left = (o for o in block.ops if o not in gone)
        ops = (o if isinstance(o, Op) else with_blocks(o, self.block) for o in left)
        return P.Block(block.params, tuple(ops), block.end)

    def zeros(self, op: Op, ops: Sequence[P.Operation]) -> Op | None:
        """Return what clears a part to which the same is added later."""
        parts, stands = self.found.parts, self.found.stands
        owner, value = op.operands[0], op.operands[-1]
        copied = parts.maker(value)
        assert isinstance(owner, Var)
        if copied is None or not _is_copy(copied, self.own) or copied not in ops:
            return None
        root, index = parts.memory.of(owner), place_of(op)
        if root is None or parts.copies(index) or not parts.is_plain(root):
            return None
        start, end = stands[copied].at, stands[op].at
        part, base = parts.met(owner, index), parts.base(owner)
        if not self.shows(copied.operands[0], owner, index) or self.is_written(value):
            return None
        met = [
            m
            for m in self.found.of[root]
            if start < m.stand.at < end
            and not parts.are_apart(part, m.part)
            and not self.found.are_others(base, m)
        ]
        zeros = next((m.op for m in met if m.writes), None)
        if not isinstance(zeros, Op) or zeros not in ops or not self.clears(zeros, owner, index):
            return None
        rest = [m for m in met if m.op is not zeros]
        if not all(self.is_before(m, zeros) or self.is_added(m) for m in rest):
            return None
        between = ops[ops.index(copied) : ops.index(op)]
        if any(map(_leaves, between)):
            return None
        if parts.memory.is_outside(root) and not self.found.is_calm(between, root):
            return None
        return zeros

    def shows(self, given: Operand, owner: Var, index: Operand) -> bool:
        """Say whether a value is the part of an array at an index, or all of it."""
        parts = self.found.parts
        if index == P.Const(...):
            return self.are_same(given, owner)
        shown = parts.maker(given)
        if shown is None or shown.primitive is not L.ITEM:
            return False
        whole, at = shown.operands
        return self.are_same(whole, owner) and parts.are_same(at, index)

    def are_same(self, one: Operand, other: Var) -> bool:
        """Say whether two variables are the same array, as a whole."""
        parts = self.found.parts
        if not isinstance(one, Var) or one is other:
            return one is other
        whole = not parts.is_part(one) and not parts.is_part(other)
        return whole and parts.base(one) is parts.base(other)

    def clears(self, op: Op, owner: Var, index: Operand) -> bool:
        """Say whether an operation sets a part of an array to zero."""
        if op.primitive is not L.PUT_ITEM or op.operands[2] != P.Const(0.0):
            return False
        same = self.found.parts.are_same(op.operands[1], index)
        return same and self.are_same(op.operands[0], owner)

    def is_before(self, met: Access, zeros: Op) -> bool:
        """Say whether an access reads a part before that is cleared."""
        return not met.writes and met.stand.at < self.found.stands[zeros].at

    def is_added(self, met: Access) -> bool:
        """Say whether an access adds something to a part, and that is all."""
        return met.writes and met.op is not None and is_sum(met.op, self.own)

    def is_written(self, value: Operand) -> bool:
        """Say whether somebody writes a copy, or may do so."""
        root = self.found.parts.memory.of(value) if isinstance(value, Var) else None
        return root is None or any(m.writes for m in self.found.of.get(root, ()))
