"""What a block hands on under a name that it still reads is computed last.

    %1 = s_bar * x          s_bar_1 = s_bar * x         x_bar = s_bar * s
    %2 = s_bar * s          x_bar = s_bar * s           s_bar = s_bar * x
    next %1, %2             s_bar = s_bar_1

Before: a derived program with its names. After: the same operations. One that gives what the block
hands on as `s_bar` stands behind the last one in whose text another `s_bar` is read, if nobody
between them reads what it gives, and all of them may change places with it. What the user's code
computes stays where it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from s2sad.ir import program as P
from s2sad.ir.effects import Derived, Footprint, commute, footprint
from s2sad.ir.makers import uses_of
from s2sad.ir.program import Op, Var
from s2sad.ir.rebuilt import with_blocks


def handed_last(program: P.Program, derived: Derived) -> P.Program:
    """Return a program whose blocks hand on what they have computed last."""
    uses = uses_of(program)
    once = frozenset(v for v, count in uses.items() if count == 1)
    return replace(program, block=_Worker(derived, once).block((), program.block))


@dataclass
class _Worker:
    """What is read `once` may be a part of the expression that reads it."""

    derived: Derived
    once: frozenset[Var]
    prints: dict[P.Operation, Footprint] = field(default_factory=dict)

    def block(self, takes: Sequence[Var], block: P.Block) -> P.Block:
        """Return a block whose results are taken by some variables, or by its parameters."""
        made = [o if isinstance(o, Op) else self.region(o) for o in block.ops]
        if block.end.how == "next":
            pairs = zip(block.params or takes, block.end.results, strict=False)
            words = {r: v.name for v, r in pairs if isinstance(r, Var) and v.name}
            for op in [o for o in made if isinstance(o, Op) and self.is_plain(o)]:
                if op.outs[0] in words:
                    self.put_last(made, op, words[op.outs[0]])
        return replace(block, ops=tuple(made))

    def region(self, region: P.Region) -> P.Region:
        """Return a region whose blocks are in order; a while loop carries what its body gives."""
        takes = region.carried if isinstance(region, P.While) else region.outs
        return with_blocks(region, partial(self.block, takes))

    def is_plain(self, op: Op) -> bool:
        """Say whether an operation computes one value of ours, and changes nothing for that."""
        return len(op.outs) == 1 and self.derived.is_ours(op) and op.primitive.form != "augmented"

    def put_last(self, ops: list[P.Operation], op: Op, word: str) -> None:
        """Put an operation behind the last one that reads another variable of a name."""
        start = last = ops.index(op)
        parts: set[Var] = set()
        for at in range(start + 1, len(ops)):
            read = {*_read(ops[at])}
            if op.outs[0] in read or not commute(self.foot(op), self.foot(ops[at])):
                break
            if any(v.name == word or v in parts for v in read):
                last = at
                parts |= self.once.intersection(ops[at].outs)
        ops[start : last + 1] = [*ops[start + 1 : last + 1], op]

    def foot(self, op: P.Operation) -> Footprint:
        if op not in self.prints:
            self.prints[op] = footprint(op, self.derived)
        return self.prints[op]


def _read(operation: P.Operation) -> Iterator[Var]:
    """Yield the variables that an operation reads or writes, and those in it."""
    yield from filter(None, map(P.variable, P.operands(operation)))
    if isinstance(operation, Op):
        yield from (p.object for p in operation.writes if isinstance(p.object, Var))
        return
    for block in P.blocks(operation):
        yield from filter(None, map(P.variable, block.end.results))
        for inner in block.ops:
            yield from _read(inner)
