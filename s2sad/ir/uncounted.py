"""Loops whose numbers nobody reads run over the items alone.

for i, x in enumerate(xs): ...        for x in xs: ...
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.makers import uses_of
from s2sad.ir.program import Op, Operand
from s2sad.ir.rebuilt import with_blocks
from s2sad.primitives import language as L


def uncounted(program: P.Program) -> P.Program:
    """Return a program whose loops count where somebody reads the number."""
    every = (op for op in P.every(program.block) if isinstance(op, Op))
    counting: dict[Operand, Operand] = {op.outs[0]: op.operands[1] for op in every if _counts(op)}
    if not counting:
        return program
    return replace(program, block=_Uncounted(counting, uses_of(program)).block(program.block))


def _counts(op: Op) -> bool:
    """Say whether an operation is enumerate(xs), from zero on."""
    if op.primitive is not L.CALL or len(op.operands) != 2 or op.settings:
        return False
    fn, given = op.operands
    known = fn.kind if isinstance(fn, P.Outer) else None
    return known == K.Known(enumerate) and not isinstance(given, P.Spread)


@dataclass(frozen=True)
class _Uncounted:
    """`counting` are what enumerates other things, with these."""

    counting: Mapping[Operand, Operand]
    uses: Mapping[P.Var, int]

    def block(self, block: P.Block) -> P.Block:
        ops = (o if isinstance(o, Op) else self.region(o) for o in block.ops)
        return replace(block, ops=tuple(ops))

    def region(self, region: P.Region) -> P.Region:
        region = with_blocks(region, self.block)
        if not isinstance(region, P.For | P.Collect) or region.over not in self.counting:
            return region
        if not isinstance(region.target, tuple) or len(region.target) != 2:
            return region
        number, item = region.target
        if not isinstance(number, P.Var) or number.cell or self.uses[number]:
            return region
        return replace(region, over=self.counting[region.over], target=item)
