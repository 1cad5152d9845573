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
_SHAPE, _NOTHING = L.field("shape"), P.Const(None)
UNREAD = "_"  # the name of what a loop binds and nobody reads


@dataclass(frozen=True)
class Entry:
    """What is put on a tape in each round: `given`, a tuple for each way to the end of the round.

    `taken` is what comes from the tape, `parts` are the variables that its parts have there. Where
    a loop runs over the tape, nothing is `taken`; it may run `again` over other things, as many.
    Somebody reads the parts at the places that `stay`; others are computed `anew` of these. Of some
    the `shapes` are kept: a place, and what holds the shape.
    """

    given: tuple[Var, ...]
    taken: Var | None
    parts: tuple[Var, ...]
    stay: tuple[int, ...] = ()
    again: bool = False
    anew: tuple[Op, ...] = ()
    shapes: tuple[tuple[int, Var], ...] = ()

    @property
    def read(self) -> tuple[Var, ...]:
        """What is taken from the tape of each entry."""
        shapes = dict(self.shapes)
        return tuple(shapes.get(i, self.parts[i]) for i in self.stay)

    @property
    def goes(self) -> bool:
        """Whether the backward sweep does without these entries."""
        return not self.stay and (self.taken is not None or self.again)


def read_in(program: P.Program, entries: Sequence[Entry]) -> list[Entry]:
    """Return what of the entries of tapes a program reads."""
    read = frozenset(_read(program.block)) if entries else frozenset()
    return [replace(e, stay=tuple(i for i, v in enumerate(e.parts) if v in read)) for e in entries]


def rows_of(
    entries: Sequence[Entry], forward: Sequence[P.Operation]
) -> list[list[tuple[Operand, ...]]]:
    """Return what is put into each entry on the ways to its end, as a forward sweep was turned."""
    every = P.every(P.Block((), tuple(forward), P.End("next")))
    tuples = (o for o in every if isinstance(o, Op) and o.primitive is L.TUPLE)
    displays = {o.outs[0]: o.operands for o in tuples}
    return [[displays[v] for v in e.given if v in displays] for e in entries]


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
            takes = op.primitive is L.UNPACK and op.operands == (entry.taken,)
            if entry.goes and _handles(op, entry):
                return [*entry.anew] if takes else []
            if not {*entry.given}.isdisjoint(op.outs):
                return self.made(op, entry)
            if entry.taken is not None and takes:
                return [*self.apart(op, [*entry.read]), *entry.anew]
        return [replace(op, settings=()) if has_other(op) else op]

    def made(self, op: Op, entry: Entry) -> list[Op]:
        ops: list[Op] = []
        parts = list[Operand]()
        shapes = dict(entry.shapes)
        for i in entry.stay:
            part = op.operands[i]
            if i in shapes and part != _NOTHING:
                shape = Var("", shapes[i].kind)
                ops.append(Op((shape,), _SHAPE, (part,), origin=op.origin))
                part = shape
            parts.append(part)
        if len(parts) == 1:
            return [*ops, replace(op, primitive=L.SAME, operands=tuple(parts))]
        return [*ops, replace(op, operands=tuple(parts))]

    def apart(self, op: Op, parts: list[Var]) -> list[Op]:
        if len(parts) == 1:
            return [replace(op, primitive=L.SAME, outs=tuple(parts))]
        return [replace(op, outs=tuple(parts))]

    def region(self, region: P.Region) -> P.Region:
        if isinstance(region, P.For):
            for entry in self.entries:
                if entry.taken is None and P.flat(region.target) == entry.parts:
                    parts = entry.read
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
