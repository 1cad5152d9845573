"""A tape that nobody reads again is emptied as it is gone through.

    for h_0 in reversed(saved):          while saved:
        t_bar = h_bar * (1.0 - h * h)        t_bar = h_bar * (1.0 - h * h)
        W_bar += np.outer(t_bar, h_0)        h = saved.pop()
        h = h_0                              W_bar += np.outer(t_bar, h)

Before: a derived program whose tapes hold what is read of them, in a function that goes back once.
After: the same. Each round takes one entry, as before. An entry with a value that the round hands
on is taken where it is read first, so that its name is free: between there and the beginning of the
round nobody handles the tape, and what the entry holds is the same memory at both places.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.makers import uses_of
from s2sad.ir.program import Op, Place, Var
from s2sad.ir.rebuilt import with_blocks
from s2sad.linear.slots import Entry
from s2sad.linear.tape import met
from s2sad.primitives import language as L

_POP = L.method("pop")


def emptied(program: P.Program, entries: Sequence[Entry]) -> P.Program:
    """Return a program that takes entries from its tapes."""
    if not entries:
        return program
    uses = uses_of(program)
    over: dict[P.Operand, Op] = {
        op.outs[0]: op
        for op in P.every(program.block)
        if isinstance(op, Op) and _is_reversed(op) and uses[op.outs[0]] == 1
    }
    parts = {v for e in entries if e.taken is None for v in (*e.parts, *e.read)}
    taken = {e.taken for e in entries if e.taken is not None}
    return replace(program, block=_Emptied(over, parts, taken).block(program.block))


def _is_reversed(op: Op) -> bool:
    fn = op.operands[0] if op.primitive is L.CALL else None
    return isinstance(fn, P.Outer) and fn.kind == K.Known(reversed)


@dataclass(frozen=True)
class _Emptied:
    """`over` is what goes through tapes from their ends. A loop over one of these binds `parts`.

    Other entries are `taken` at the beginning of a round.
    """

    over: Mapping[P.Operand, Op]
    parts: set[Var]
    taken: set[Var]

    def block(self, block: P.Block) -> P.Block:
        """Return a block in which entries are taken late, and loops empty their tapes."""
        gone = {o.over for o in block.ops if isinstance(o, P.For) and self.is_over_tape(o)}
        ops: list[P.Operation] = []
        for operation in block.ops:
            if isinstance(operation, Op):
                ops += [] if gone.intersection(operation.outs) else [operation]
                continue
            region = with_blocks(operation, self.block)
            if isinstance(region, P.For) and self.is_over_tape(region):
                region = self.emptying(region)
            ops.append(region)
        return self.late(replace(block, ops=tuple(ops)))

    def is_over_tape(self, loop: P.For) -> bool:
        """Say whether a loop runs over a tape, of which it reads something."""
        return loop.over in self.over and self.parts.issuperset(P.flat(loop.target))

    def emptying(self, loop: P.For) -> P.While:
        """Return a loop that runs until its tape is empty."""
        assert isinstance(loop.over, Var)
        saved = self.over[loop.over].operands[1]
        assert isinstance(saved, Var)
        places = (Place(saved, (P.Anywhere(),)),)
        bound = P.flat(loop.target)
        entry = loop.target if isinstance(loop.target, Var) else Var("", K.UNKNOWN)
        first = [Op((entry,), _POP, (saved,), (), places, places, loop.origin)]
        if entry not in bound:
            first.append(Op(bound, L.UNPACK, (entry,), origin=loop.origin))
        self.taken.add(entry)
        inner = self.late(replace(loop.body, params=(), ops=(*first, *loop.body.ops)))
        test = P.Block((), (), P.End("next", (saved,)))
        return P.While(loop.outs, loop.body.params, loop.starts, test, inner, loop.origin)

    def late(self, block: P.Block) -> P.Block:
        """Return a block that takes entries where they are read first, if it hands them on."""
        made, moving = list[P.Operation](), list[Op]()
        for operation in block.ops:
            mine = self.taking(operation, moving)
            if mine is not None:
                moving.append(mine)
                continue
            if moving and not _handed_on(block, moving):
                made, moving = [*made, *moving], []
            if moving and _meets(operation, moving):
                before = made[-1].origin if made else moving[0].origin
                made += [replace(op, origin=before) for op in moving]
                moving = []
            made.append(operation)
        return replace(block, ops=(*made, *moving))

    def taking(self, operation: P.Operation, moving: Sequence[Op]) -> Op | None:
        """Return an operation that takes an entry from a tape, or takes it apart."""
        if not isinstance(operation, Op):
            return None
        if operation.primitive is _POP and self.taken.issuperset(operation.outs):
            return None if moving else operation
        apart = operation.primitive in (L.UNPACK, L.SAME) and len(moving) == 1
        return operation if apart and operation.operands == moving[0].outs else None


def _handed_on(block: P.Block, taken: Iterable[Op]) -> bool:
    """Say whether a round hands on what it has taken from a tape."""
    return any(v in block.end.results for op in taken for v in op.outs)


def _meets(operation: P.Operation, moving: Iterable[Op]) -> bool:
    """Say whether an operation reads what is taken from a tape, or handles the tape."""
    read = {v for op in moving for v in (*op.outs, *op.operands)}
    if not isinstance(operation, Op):
        return not read.isdisjoint(met(operation))
    return not read.isdisjoint(map(P.variable, P.operands(operation)))
