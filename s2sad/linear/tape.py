"""What the backward sweep reads of the forward sweep, and how it is kept."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Place, Var
from s2sad.ir.rebuilt import substituted, with_blocks, with_operands
from s2sad.linear.cotangents_of import Cotangents
from s2sad.linear.sweep_state import Sweep
from s2sad.primitives import language as L


@dataclass(frozen=True)
class Tape:
    """What stands before a loop, and at the end of each round, so that values are kept."""

    before: tuple[P.Operation, ...] = ()
    at_end: tuple[P.Operation, ...] = ()


def taped(
    sweep: Sweep, region: P.For, needed: list[Var], back: P.Block, acc: Cotangents
) -> tuple[Tape, Operand, P.Target, P.Block]:
    """Return what is kept of each round, what the backward loop runs over, and its body."""
    t = acc.t
    maker = sweep.makers.get(region.over) if isinstance(region.over, Var) else None
    callee = maker.operands[0] if maker is not None and maker.primitive is L.CALL else None
    counted = isinstance(callee, P.Outer) and callee.kind == K.Known(range)
    if counted and isinstance(region.target, Var) and {*needed} <= {region.target}:
        turn = Var(region.target.name, region.target.kind)
        made = t.call(P.Outer("reversed", K.Known(reversed)), (region.over,), K.UNKNOWN)
        return Tape(), made, turn, substituted(back, {region.target: turn})
    saved = Var("saved", K.List(K.UNKNOWN))
    before = Op((saved,), L.LIST, (), (), (), (), region.origin)
    entry = Var("", K.UNKNOWN)
    display = Op((entry,), L.TUPLE, tuple(needed), (), (), (), region.origin)
    put = Var("", K.NONE)
    single = len(needed) == 1
    given = needed[0] if single else entry
    places = (Place(saved, (P.Anywhere(),)),)
    append = Op((put,), L.method("append"), (saved, given), (), (), places, region.origin)
    done = Op((), L.DISCARD, (put,), (), (), (), region.origin)
    fresh = [Var(v.name, v.kind) for v in needed]
    made = t.call(P.Outer("reversed", K.Known(reversed)), (saved,), K.UNKNOWN)
    table: dict[Var, Operand] = dict(zip(needed, fresh, strict=True))
    target: P.Target = fresh[0] if single else tuple(fresh)
    ends: tuple[P.Operation, ...] = (append, done) if single else (display, append, done)
    return Tape((before,), ends), made, target, substituted(back, table)


def again(block: P.Block, makers: Mapping[Var, Op]) -> P.Block:
    """Return a block that computes once more, where it is read, what is cheap: indices."""
    ops: list[P.Operation] = []
    table: dict[Var, Operand] = {}

    def made(operand: Operand) -> None:
        v = P.variable(operand)
        maker = makers.get(v) if v is not None else None
        if v is None or maker is None or not _is_index(v, maker):
            return
        for o in maker.operands:
            made(o)
        copy = with_operands(maker, table)
        assert isinstance(copy, Op)
        table[v] = out = Var(v.name, v.kind)
        ops.append(dataclasses.replace(copy, outs=(out,)))

    for operation in block.ops:
        table.clear()
        for operand in P.operands(operation):
            made(operand)
        new = with_operands(operation, table)
        if not isinstance(new, Op):
            new = with_blocks(new, lambda b: again(b, makers))
        ops.append(new)
    return P.Block(block.params, tuple(ops), block.end)


def _is_index(v: Var, maker: Op) -> bool:
    """Say whether an operation only says at which place something stands."""
    if maker.primitive.form == "slice":
        return True
    whole = isinstance(v.kind, K.Num) and v.kind.type == "int"
    return whole and maker.primitive.form in ("infix", "prefix")


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


def breaks(block: P.Block) -> bool:
    """Say whether a block may end the loop around it."""
    if block.end.how == "break":
        return True
    inner = (o for o in block.ops if not isinstance(o, Op | P.For | P.While | P.Collect))
    return any(breaks(b) for o in inner for b in P.blocks(o))
