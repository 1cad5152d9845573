"""A result with something beside it: a program that returns a pair hands over its two items.

    t = (y, steps)                          next y, steps
    next t
    t.1 = if c                       ->     %0, %1 = if c
        t.2 = (y, "a"); next t.2                next y, "a"
        t.3 = (z, "b"); next t.3                next z, "b"
    next t.1                                next %0, %1

Before: a program whose result is a pair. After: one with two results. What flows into the second
alone has no derivative, and needs no tangent.
"""

from __future__ import annotations

import dataclasses
from collections import Counter

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Var
from s2sad.primitives import language as L


def apart(program: P.Program, pair: K.Kind) -> P.Program:
    """Return a program that hands over the items of its result, which is a pair."""
    assert isinstance(pair, K.Tuple)
    block = program.block
    if block.end.how != "next":
        return program
    uses = Counter(v for o in P.every(block) for v in map(P.variable, P.operands(o)))
    uses.update(v for b in _all_blocks(block) for v in map(P.variable, b.end.results))
    ops, parts = _Apart(pair, uses).items(block.ops, block.end.results[0])
    made = P.Block(block.params, ops, P.End("next", parts))
    return dataclasses.replace(program, block=made)


def _all_blocks(block: P.Block) -> list[P.Block]:
    inner = [b for o in P.every(block) if not isinstance(o, Op) for b in P.blocks(o)]
    return [block, *inner]


Items = tuple[tuple[P.Operation, ...], tuple[Operand, ...]]


@dataclasses.dataclass(frozen=True)
class _Apart:
    """Takes values apart; `uses` counts how often each is read."""

    pair: K.Tuple
    uses: Counter[Var | None]

    def items(self, ops: tuple[P.Operation, ...], value: Operand) -> Items:
        """Return operations that give the items of a value, and the items."""
        at = next((i for i, o in enumerate(ops) if value in o.outs), None)
        made = ops[at] if at is not None else None
        if isinstance(made, Op) and made.primitive is L.TUPLE:
            if not any(isinstance(o, P.Spread) for o in made.operands):
                return ops, made.operands
        if isinstance(made, Op) and made.primitive is L.SAME:
            return self.items(ops, made.operands[0])
        if isinstance(made, P.If | P.With | P.Match) and self.uses[P.variable(value)] == 1:
            assert at is not None
            region, outs = self.region(made, made.outs.index(value))
            return (*ops[:at], region, *ops[at + 1 :]), outs
        taken = [self.item(value, i, kind) for i, kind in enumerate(self.pair.items)]
        return (*ops, *taken), tuple(op.outs[0] for op in taken)

    def region(
        self, region: P.If | P.With | P.Match, at: int
    ) -> tuple[P.Region, tuple[Operand, ...]]:
        """Return a region that hands over items in the place of one of its results."""
        outs = tuple(Var("", kind) for kind in self.pair.items)
        handed = (*region.outs[:at], *outs, *region.outs[at + 1 :])

        def block(given: P.Block) -> P.Block:
            if given.end.how != "next":
                return given
            results = given.end.results
            ops, parts = self.items(given.ops, results[at])
            end = P.End("next", (*results[:at], *parts, *results[at + 1 :]))
            return P.Block(given.params, ops, end)

        match region:
            case P.If():
                then, orelse = block(region.then), block(region.orelse)
                made: P.Region = dataclasses.replace(region, outs=handed, then=then, orelse=orelse)
            case P.With():
                made = dataclasses.replace(region, outs=handed, body=block(region.body))
            case P.Match():
                cases = tuple(dataclasses.replace(c, body=block(c.body)) for c in region.cases)
                made = dataclasses.replace(region, outs=handed, cases=cases)
        return made, outs

    def item(self, value: Operand, at: int, kind: K.Kind) -> Op:
        """Return the operation that takes an item of a value."""
        reads = (P.Place(value, (P.Item(P.Const(at)),)),) if isinstance(value, Var) else ()
        return Op((Var("", kind),), L.ITEM, (value, P.Const(at)), (), reads)
