"""What variables a part of a program reads and binds, and what of them must be kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from s2sad.ir import program as P
from s2sad.ir.left_last import leaves_loop
from s2sad.ir.program import Op, Var

Loop: TypeAlias = "P.For | P.While"


def heads_of(loop: Loop) -> tuple[Var, ...]:
    """Return what a loop carries, as a round finds it."""
    return loop.carried if isinstance(loop, P.While) else loop.body.params


def bound_along(block: P.Block) -> Iterator[Var]:
    """Yield what a round binds on its ways to the end, where it may leave the loop."""
    for operation in block.ops:
        yield from operation.outs
        if isinstance(operation, P.If) and leaves_loop(operation):
            for arm in P.blocks(operation):
                yield from bound_along(arm)


def needed_in(back: P.Block, forward: Sequence[P.Operation], more: Sequence[Var] = ()) -> list[Var]:
    """Return what a backward sweep reads of what the forward sweep of its block binds."""
    here = {v for o in forward for v in o.outs} | {*more}
    return [v for v in dict.fromkeys(met_in(back)) if v in here]


def met(region: P.Region) -> Iterator[Var]:
    """Yield all variables that stand in a region."""
    yield from region.outs
    yield from (v for v in map(P.variable, P.operands(region)) if v is not None)
    yield from P.bound(region)
    for block in P.blocks(region):
        yield from met_in(block)


def met_in(block: P.Block) -> Iterator[Var]:
    """Yield all variables that stand in a block."""
    yield from block.params
    for operation in block.ops:
        if isinstance(operation, Op):
            yield from operation.outs
            yield from (v for v in map(P.variable, P.operands(operation)) if v is not None)
            yield from (p.object for p in operation.writes if isinstance(p.object, Var))
        else:
            yield from met(operation)
    yield from (v for v in map(P.variable, block.end.results) if v is not None)


def bound_in(block: P.Block) -> Iterator[Var]:
    """Yield all variables that are bound in a block, or in blocks in it."""
    yield from block.params
    for operation in P.every(block):
        yield from operation.outs
        yield from P.bound(operation)
        if not isinstance(operation, Op):
            for inner in P.blocks(operation):
                yield from inner.params


def reads_inside(region: P.Region, dot: Var) -> bool:
    """Say whether a variable stands in the blocks of a region."""
    return any(dot is v for b in P.blocks(region) for v in met_in(b))
