"""What is kept for the backward sweep shrinks to what that still reads.

    saved.append((out, t))       out, t = saved.pop()       nobody reads t
    saved.append(out)            out = saved.pop()

Before: a derived program whose algebra is done. After: the same, and each entry of a tape holds
what is read of it. An entry of one value is that value; one of none is not made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Var
from s2sad.ir.rebuilt import with_blocks
from s2sad.linear.tape import met_in
from s2sad.primitives import language as L

_AGAIN = "run over again"  # no word of Python's: it does not print
UNREAD = "_"  # the name of what a loop binds and nobody reads


@dataclass(frozen=True)
class Entry:
    """What is put on a tape in each round: `given`, a tuple for each way to the end of the round.

    `taken` is what comes from the tape, `parts` are the variables that its parts have there. Where
    a loop runs over the tape, nothing is `taken`; it may run `again` over other things, as many.
    Somebody reads the parts at the places that `stay`; others are computed `anew` of these.
    """

    given: tuple[Var, ...]
    taken: Var | None
    parts: tuple[Var, ...]
    stay: tuple[int, ...] = ()
    again: bool = False
    anew: tuple[Op, ...] = ()

    @property
    def goes(self) -> bool:
        """Whether the backward sweep does without these entries."""
        return not self.stay and (self.taken is not None or self.again)


def read_in(program: P.Program, entries: Sequence[Entry]) -> list[Entry]:
    """Return what of the entries of tapes a program reads."""
    read = frozenset(_read(program.block)) if entries else frozenset()
    return [replace(e, stay=tuple(i for i, v in enumerate(e.parts) if v in read)) for e in entries]


def narrowed(program: P.Program, entries: Sequence[Entry]) -> P.Program:
    """Return a program whose tapes hold what is read."""
    if not entries:
        return program
    every = (op for op in P.every(program.block) if isinstance(op, Op))
    again: dict[Operand, Operand] = {op.outs[0]: op.settings[0][1] for op in every if has_other(op)}
    return replace(program, block=_Narrow(tuple(entries), again).block(program.block))


def with_other(reversed_tape: Op, again: Operand) -> Op:
    """Return the tape from its end, and what a loop may run over in its place."""
    return replace(reversed_tape, settings=((_AGAIN, again),))


def has_other(op: Op) -> bool:
    """Say whether a loop may run over other things in the place of a tape."""
    return any(word == _AGAIN for word, _ in op.settings)


def _read(block: P.Block) -> Iterator[Var]:
    """Yield what is read anywhere in a block; what an entry is taken apart into is bound there."""
    bound = (*block.params, *(v for op in P.every(block) for v in (*op.outs, *P.bound(op))))
    counts: dict[Var, int] = {}
    for v in met_in(block):
        counts[v] = counts.get(v, 0) + 1
    for v in bound:
        counts[v] -= 1
    yield from (v for v, count in counts.items() if count > 0)


@dataclass(frozen=True)
class _Narrow:
    """Loops over tapes from their ends may run `again` over other things."""

    entries: tuple[Entry, ...]
    again: Mapping[Operand, Operand]

    def block(self, block: P.Block) -> P.Block:
        ops: list[P.Operation] = []
        for operation in block.ops:
            if isinstance(operation, Op):
                ops += self.op(operation)
            else:
                ops.append(self.region(operation))
        return P.Block(block.params, tuple(ops), block.end)

    def op(self, op: Op) -> list[Op]:
        for entry in self.entries:
            stay = entry.stay
            takes = op.primitive is L.UNPACK and op.operands == (entry.taken,)
            if entry.goes and _handles(op, entry):
                return [*entry.anew] if takes else []
            if not {*entry.given}.isdisjoint(op.outs):
                return self.made(op, [op.operands[i] for i in stay])
            if entry.taken is not None and takes:
                return [*self.apart(op, [entry.parts[i] for i in stay]), *entry.anew]
        return [replace(op, settings=()) if has_other(op) else op]

    def made(self, op: Op, parts: list[Operand]) -> list[Op]:
        if len(parts) == 1:
            return [replace(op, primitive=L.SAME, operands=tuple(parts))]
        return [replace(op, operands=tuple(parts))]

    def apart(self, op: Op, parts: list[Var]) -> list[Op]:
        if len(parts) == 1:
            return [replace(op, primitive=L.SAME, outs=tuple(parts))]
        return [replace(op, outs=tuple(parts))]

    def region(self, region: P.Region) -> P.Region:
        if isinstance(region, P.For):
            for entry in self.entries:
                if entry.taken is None and P.flat(region.target) == entry.parts:
                    parts = tuple(entry.parts[i] for i in entry.stay)
                    target = parts[0] if len(parts) == 1 else parts or Var(UNREAD, K.UNKNOWN)
                    over = self.again.get(region.over) if entry.goes else None
                    body = replace(region.body, ops=(*entry.anew, *region.body.ops))
                    region = replace(region, target=target, over=over or region.over, body=body)
        return with_blocks(region, self.block)


def _handles(op: Op, entry: Entry) -> bool:
    """Say whether an operation puts an entry on the tape, or takes it from there."""
    met = {*op.outs, *(v for v in map(P.variable, op.operands) if v is not None)}
    if entry.taken in met:
        return True
    return op.primitive.form == "method" and not met.isdisjoint(entry.given)
