"""A sum that reads what is written next is added before that: nothing needs a name in between.

    t = B_bar * B_0
    B_bar *= A                A_bar += B_bar * B_0
    A_bar += t                B_bar *= A

Before: a derived program whose products are in order. After: the same, where a sum that nobody
meets in between stands before the first write into what it reads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace

from s2sad.ir import program as P
from s2sad.ir.accesses import Accesses, accesses
from s2sad.ir.first_terms import is_sum
from s2sad.ir.makers import uses_of
from s2sad.ir.program import Op, Operand, Var
from s2sad.ir.rebuilt import with_blocks
from s2sad.primitives import language as L


def with_sums_first(program: P.Program, own: Set[Var]) -> P.Program:
    """Return a program that adds before it writes; the user's `own` arrays stay as written."""
    uses = uses_of(program)
    if not any(_is_late(block, uses, own) for block in _blocks(program.block)):
        return program
    worker = _Worker(accesses(program), uses, own)
    return replace(program, block=worker.block(program.block))


def _blocks(block: P.Block) -> Iterator[P.Block]:
    yield block
    for op in P.every(block):
        if not isinstance(op, Op):
            yield from P.blocks(op)


def _is_late(block: P.Block, uses: Counter[Var], own: Set[Var]) -> bool:
    """Say whether something is written between a value and the sum that alone reads it."""
    wrote: set[Operand] = set()  # what was computed before the last write
    here: set[Operand] = set()
    for op in block.ops:
        if is_sum(op, own) and isinstance(op, Op) and op.operands[-1] in wrote:
            if uses[op.operands[-1]] == 1:  # type: ignore[index]
                return True
        if not isinstance(op, Op) or op.writes:
            wrote |= here
        here.update(op.outs)
    return False


@dataclass(frozen=True)
class _Worker:
    """What is `found` of memory stays as it is: sums pass what does not meet their memory."""

    found: Accesses
    uses: Counter[Var]
    own: Set[Var]

    def block(self, block: P.Block) -> P.Block:
        ops = [o if isinstance(o, Op) else with_blocks(o, self.block) for o in block.ops]
        old = list(block.ops)
        for op in block.ops:
            if isinstance(op, Op) and is_sum(op, self.own):
                moved = self.moved(op, old)
                if moved is not None:
                    start, taken = moved
                    old = [*old[:start], *taken, *(o for o in old[start:] if o not in taken)]
        new = dict(zip(block.ops, ops, strict=True))
        return P.Block(block.params, tuple(new[o] for o in old), block.end)

    def moved(self, op: Op, ops: Sequence[P.Operation]) -> tuple[int, list[P.Operation]] | None:
        """Return where a sum may stand, and what moves there: its index, then the sum."""
        value, at = op.operands[-1], ops.index(op)
        if not isinstance(value, Var) or self.uses[value] != 1:
            return None
        made = next((k for k in range(at) if value in ops[k].outs), None)
        if made is None:
            return None
        read = {*self.read(value, ops[: made + 1])}
        start = next((k for k in range(made + 1, at) if self.writes(ops[k], read)), None)
        if start is None or any(o.origin is not op.origin for o in ops[start:at]):
            return None
        taken = self.index(op, ops[start:at])
        late = {v for o in ops[start:at] if o not in taken for v in o.outs}
        given = {v for o in (*taken, op) for v in map(P.variable, P.operands(o))}
        if not late.isdisjoint(given) or not self.found.may_pass(op, ops[start:at]):
            return None
        return start, [*taken, op]

    def read(self, value: Operand, ops: Sequence[P.Operation]) -> Iterator[Var]:
        """Yield the classes of memory that an expression reads, made of what is read once."""
        op = next((o for o in ops if value in o.outs), None)
        if not isinstance(op, Op):
            return
        for v in filter(None, map(P.variable, P.operands(op))):
            root = self.found.parts.memory.of(v)
            if root is not None:
                yield root
            if self.uses[v] == 1:
                yield from self.read(v, ops)

    def writes(self, op: P.Operation, roots: Set[Var]) -> bool:
        """Say whether an operation writes memory of some classes."""
        deeds = self.found.parts.memory.deeds
        every = P.every(P.Block((), (op,), P.End("next")))
        written = (v for o in every if isinstance(o, Op) for v in deeds[o].writes)
        return any(self.found.parts.memory.of(v) in roots for v in written if isinstance(v, Var))

    def index(self, op: Op, ops: Sequence[P.Operation]) -> list[P.Operation]:
        """Return what makes the index of a sum, of slices and numbers that are there."""
        found: list[P.Operation] = []
        wanted = {v for v in op.operands[1:-1] if isinstance(v, Var)}
        for o in reversed(ops):
            if isinstance(o, Op) and o.primitive in (L.SLICE, L.TUPLE):
                if not wanted.isdisjoint(o.outs):
                    found.insert(0, o)
                    wanted |= {v for v in o.operands if isinstance(v, Var)}
        return found
