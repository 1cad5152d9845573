"""What the backward sweep reads of the forward sweep, and how it is kept."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.left_last import leaves_loop, may_leave
from s2sad.ir.program import Op, Operand, Place, Var
from s2sad.ir.rebuilt import substituted, with_blocks, with_operands
from s2sad.linear.cotangents_of import Cotangents
from s2sad.linear.sweep_state import Sweep
from s2sad.linear.tangent_table import NOTHING, Tangents
from s2sad.primitives import language as L

T = TypeVar("T")


Loop: TypeAlias = "P.For | P.While"


@dataclass(frozen=True)
class Kept:
    """A loop that keeps what its backward sweep reads, and that sweep: what it runs over."""

    forward: tuple[P.Operation, ...]
    over: Operand
    target: P.Target
    back: P.Block


def taped(sweep: Sweep, loop: Loop, back: P.Block, acc: Cotangents) -> Kept:
    """Return a loop that keeps what the backward sweep of its rounds reads, or counts them.

    There are as many entries on the tape as there were rounds.
    """
    t, there = acc.t, [*P.bound(loop), *heads_of(loop), *bound_along(loop.body)]
    needed = [v for v in dict.fromkeys(met_in(back)) if v in {*there}]
    turn = _turn(sweep, loop)
    if not {*needed} <= {turn}:
        return _on_tape(loop, needed, back, t)
    over: Operand = loop.over if isinstance(loop, P.For) else NOTHING
    forward: tuple[P.Operation, ...] = (loop,)
    if turn is None or isinstance(loop, P.While) or may_leave(loop.body):
        counting, rounds = _counted(loop)
        forward = (counting,)
        maker = sweep.makers.get(over) if isinstance(over, Var) else None
        if not needed or (maker is not None and len(maker.operands) == 2):
            over = t.call(P.Outer("range", K.Known(range)), (rounds,), K.UNKNOWN)
        else:
            told = (("given", (False, True, False)),)
            there_ = Var("", K.UNKNOWN)
            t.add(Op((there_,), L.SLICE, (NOTHING, rounds, NOTHING), told, (), (), t.origin))
            over = t.emit(L.ITEM, (over, there_), K.UNKNOWN)
        if not needed:
            return Kept(forward, over, Var("_", K.INT), back)
    assert turn is not None
    made = t.call(P.Outer("reversed", K.Known(reversed)), (over,), K.UNKNOWN)
    again_ = Var(turn.name, turn.kind)
    return Kept(forward, made, again_, substituted(back, {turn: again_}))


def _turn(sweep: Sweep, loop: Loop) -> Var | None:
    """Return what runs through a range, which can be run through backward."""
    if isinstance(loop, P.While) or not isinstance(loop.target, Var):
        return None
    maker = sweep.makers.get(loop.over) if isinstance(loop.over, Var) else None
    callee = maker.operands[0] if maker is not None and maker.primitive is L.CALL else None
    known = isinstance(callee, P.Outer) and callee.kind == K.Known(range)
    return loop.target if known else None


def _counted(loop: Loop) -> tuple[Loop, Var]:
    """Return a loop that counts its rounds, and their number."""
    start, number, rounds = (Var("rounds", K.INT) for _ in range(3))
    at = len(loop.outs)
    one = Op((number,), L.AUGMENTED["Add"], (start, P.Const(1)), origin=loop.origin)
    body = _handing(P.Block((), (one, *loop.body.ops), loop.body.end), at, number)
    if body.end.how == "next":
        body = _with_result(body, at, number)
    outs, starts = (*loop.outs, rounds), _put(loop.starts, at, P.Const(0))
    carried = _put(heads_of(loop), at, start)
    if isinstance(loop, P.While):
        made = dataclasses.replace(loop, outs=outs, carried=carried, starts=starts, body=body)
        return made, rounds
    body = dataclasses.replace(body, params=carried)
    return dataclasses.replace(loop, outs=outs, starts=starts, body=body), rounds


def _handing(block: P.Block, at: int, number: Var) -> P.Block:
    """Return the block of a round that leaves the loop with a number, too."""
    if block.end.how == "break":
        return _with_result(block, at, number)
    return _in_arms(block, lambda b: _handing(b, at, number))


def _in_arms(block: P.Block, change: Callable[[P.Block], P.Block]) -> P.Block:
    """Return a block whose last operation, if it may leave the loop, has other arms."""
    last = block.ops[-1] if block.ops else None
    if not isinstance(last, P.If) or not leaves_loop(last):
        return block
    return dataclasses.replace(block, ops=(*block.ops[:-1], with_blocks(last, change)))


def _with_result(block: P.Block, at: int, number: Var) -> P.Block:
    end = P.End(block.end.how, _put(block.end.results, at, number))
    return dataclasses.replace(block, end=end)


def _put(found: tuple[T, ...], at: int, one: T) -> tuple[T, ...]:
    return (*found[:at], one, *found[at:])


def _on_tape(loop: Loop, needed: Sequence[Var], back: P.Block, t: Tangents) -> Kept:
    """Return a loop that puts what is needed on a tape, whose entries the backward sweep reads."""
    saved = Var("saved", K.List(K.UNKNOWN))
    tape = Op((saved,), L.LIST, (), (), (), (), loop.origin)
    seen = {*P.bound(loop), *heads_of(loop)}
    body = _putting(loop.body, needed, seen, saved, loop.origin)
    fresh = [Var(v.name, v.kind) for v in needed]
    over = t.call(P.Outer("reversed", K.Known(reversed)), (saved,), K.UNKNOWN)
    target: P.Target = fresh[0] if len(fresh) == 1 else tuple(fresh)
    table: dict[Var, Operand] = dict(zip(needed, fresh, strict=True))
    loop = dataclasses.replace(loop, body=body)
    return Kept((tape, loop), over, target, substituted(back, table))


def _putting(
    block: P.Block, needed: Sequence[Var], seen: set[Var], saved: Var, origin: P.Code
) -> P.Block:
    """Return the block of a round that puts an entry on the tape, as soon as all of it is there.

    That is so on each way to the end. What another way binds is missing: None stands for it.
    """
    if block.end.how == "raise":
        return block
    ops, found, at = block.ops, {*seen}, 0
    while at < len(ops) and not found.issuperset(needed):
        found |= {*ops[at].outs}
        at += 1
    last = ops[-1] if ops else None
    if isinstance(last, P.If) and leaves_loop(last) and not found.issuperset(needed):
        inner = found - {*last.outs}
        return _in_arms(block, lambda b: _putting(b, needed, inner, saved, origin))
    entry = _entry(needed, found, saved, origin)
    return dataclasses.replace(block, ops=(*ops[:at], *entry, *ops[at:]))


def _entry(
    needed: Sequence[Var], seen: set[Var], saved: Var, origin: P.Code
) -> tuple[P.Operation, ...]:
    """Return what puts values on the tape."""
    values: list[Operand] = [v if v in seen else NOTHING for v in needed]
    made: list[P.Operation] = []
    given = values[0]
    if len(values) != 1:
        entry = Var("", K.UNKNOWN)
        made.append(Op((entry,), L.TUPLE, tuple(values), (), (), (), origin))
        given = entry
    put = Var("", K.NONE)
    places = (Place(saved, (P.Anywhere(),)),)
    made.append(Op((put,), L.method("append"), (saved, given), (), (), places, origin))
    made.append(Op((), L.DISCARD, (put,), (), (), (), origin))
    return tuple(made)


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
