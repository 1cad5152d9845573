"""The backward sweep: blocks, branches and loops, turned round.

    if t: ... else: ...            if t: each arm turned round
    match v: case ...: ...         if arm == 0: each case turned round, by the number it has given
    for i in range(n): ...         for i in reversed(range(n)): the body turned round
    while t: ...                   for ... in reversed(saved), or as many rounds as there were

Loops are left at the end of a round alone (`left_last`). A round that has left its loop took
another arm: what it has left with gets the cotangents of what the loop gives.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.left_last import leaves_loop
from s2sad.ir.program import Op, Operand, Var
from s2sad.linear.backward import turned_op
from s2sad.linear.cotangents_of import Bar, Cotangents, bar_of, bar_out, root_of
from s2sad.linear.half_done import check_half_done
from s2sad.linear.joined_arms import (
    Arm,
    Fork,
    Forward,
    by_place,
    fork_of,
    free_in,
    joined,
    plain,
    plain_end,
)
from s2sad.linear.put_back import undo
from s2sad.linear.rounds import inside, kept
from s2sad.linear.sweep_state import Reason, Round, Sweep, Tape, bar_handed, in_place, value_of
from s2sad.linear.tangent_table import NotYet, Tangents
from s2sad.linear.tape import heads_of, met, reads_inside
from s2sad.linear.turned_slots import hand_over
from s2sad.nodes import block_writes
from s2sad.primitives import language as L


def turned_block(sweep: Sweep, block: P.Block, acc: Cotangents) -> list[P.Operation]:
    """Add the backward sweep of a block to `acc`; return the forward sweep."""
    give_cotangents(sweep, outs_of(block), acc)
    around, sweep.held = sweep.held, []
    forward: list[P.Operation] = []
    for operation in reversed(block.ops):
        acc.t.origin = operation.origin
        if not isinstance(operation, Op):
            made = turned_region(sweep, operation, acc)
        elif sweep.is_linear(operation):
            sweep.copies = []
            turned_op(sweep, operation, acc)
            forward[:0] = sweep.copies
            continue
        elif operation in sweep.written.undone:
            made = [*undone(sweep, operation, acc.t), operation]
        else:
            made = [*sweep.instead.get(operation, (operation,))]
        forward[:0] = made
    sweep.held = around
    return forward


def outs_of(block: P.Block) -> list[Var]:
    """Return what the operations of a block give, and what regions in it hand over."""
    return [v for op in block.ops for v in op.outs]


def give_cotangents(sweep: Sweep, dots: Iterable[Var], acc: Cotangents) -> None:
    """Let structures have cotangents: zeros in all places, unless they have others."""
    for v in dots:
        if v in sweep.values and in_place(sweep, v):
            acc.born(v)


def undone(sweep: Sweep, op: Op, t: Tangents) -> list[Op]:
    """Put back what an operation overwrites, at the index that it had; return what keeps that."""
    keeping, back = undo(op, sweep.makers)
    owner, index, held = back.operands
    assert isinstance(owner, Var) and isinstance(held, Var)
    sweep.reasons[held] = Reason("memory", (op,), owner)
    sweep.copies = []
    now = sweep.as_it_stands(index, op, t) if isinstance(index, Var) else None
    if now is not None:
        places = tuple(P.Place(p.object, (P.Item(now),)) for p in back.writes)
        back = dataclasses.replace(back, operands=(owner, now, held), writes=places)
    t.add(back)
    return [*sweep.copies, *keeping]


def turned_region(sweep: Sweep, region: P.Region, acc: Cotangents) -> list[P.Operation]:
    """Add a region turned round; return the operations of the forward sweep."""
    inner = (o for b in P.blocks(region) for o in P.every(b))
    written = any(o in sweep.written.undone for o in inner)
    moving = written or any(v in sweep.values for v in met(region))
    if not moving and not leaves_loop(region):
        return [region]
    if leaves_loop(region) and not isinstance(region, P.If):
        raise NotYet("a loop that is left by the last block of a try")
    starts = region.starts if isinstance(region, P.For) else ()
    free = free_in(sweep, region)
    acc.before_region(d for d in free if d not in starts or reads_inside(region, d))
    match region:
        case P.If():
            return turned_branch(sweep, region, acc)
        case P.Match():
            return turned_match(sweep, region, acc)
        case P.With():
            return turned_with(sweep, region, acc)
        case P.For() | P.While():
            return turned_loop(sweep, region, acc)
        case P.Try():
            return turned_try(sweep, region, acc)
        case P.Collect():
            raise NotYet("a comprehension")


# branches


def turned_branch(sweep: Sweep, region: P.If, acc: Cotangents) -> list[P.Operation]:
    """Turn each arm of a branch round; the same test chooses between them."""
    first, test = _asked(sweep, region)
    made = turned_arms(sweep, region, (region.then, region.orelse), acc, test)
    more = len(made.outs) > len(plain(sweep, region.outs))
    style = "if" if more or first else region.style
    then, orelse = made.blocks
    return [*first, P.If(made.outs, test, then, orelse, style, region.origin)]


def _asked(sweep: Sweep, region: P.If) -> tuple[list[P.Operation], Operand]:
    """Return a test that says the same in both sweeps, and what computes it.

    Whether a list holds something may have changed when the backward sweep asks.
    """
    v = P.variable(region.test)
    if v is None or K.shares_nothing(v.kind):
        return [], region.test
    if isinstance(v.kind, K.List | K.AnyDict | K.Tuple) and sweep.is_unwritten(v):
        return [], region.test
    test, places = Var("", K.BOOL), (P.Place(v, (P.Anywhere(),)),)
    called = (P.Outer("bool", K.Known(bool)), v)
    return [Op((test,), L.CALL, called, (), places, (), region.origin)], test


def turned_match(sweep: Sweep, region: P.Match, acc: Cotangents) -> list[P.Operation]:
    """Turn each case round; a number tells which one fitted."""
    made = turned_arms(sweep, region, [c.body for c in region.cases], acc)
    pairs = zip(region.cases, made.blocks, strict=True)
    cases = tuple(dataclasses.replace(c, body=b) for c, b in pairs)
    return [dataclasses.replace(region, outs=made.outs, cases=cases)]


def turned_with(sweep: Sweep, region: P.With, acc: Cotangents) -> list[P.Operation]:
    """The backward sweep of what a manager stands around does without it."""
    kinds = acc.t.table.facts.analysed.kinds
    if any(kinds.passing.get(item) is None for item in region.origin.items):
        active = {v.name for v in sweep.values.values()}
        bound = sorted(block_writes(region.origin.body) & active)
        word = f"`{bound[0]}`" if bound else "what is written"
        raise acc.t.table.cannot(
            region.origin,
            "This context manager may swallow an exception that leaves its block; s2sad cannot "
            f"tell then how far the block got, and it binds {word}, on which the result depends.",
            "Let its __exit__ return None, or catch exceptions with try.",
        )
    made = turned_arms(sweep, region, (region.body,), acc)
    return [dataclasses.replace(region, outs=made.outs, body=made.blocks[0])]


def turned_try(sweep: Sweep, region: P.Try, acc: Cotangents) -> list[P.Operation]:
    """Turn round what a try has done: its body, or one of its handlers; before that, its end.

    A body that an exception has left has done nothing to tangents (`check_half_done`).
    """
    if any(h.body.end.how != "raise" for h in region.handlers):
        check_half_done(sweep, region, acc.t.table)
    last = fork_of(region, region.of_final, acc)
    closed = joined(sweep, last, [turned_arm(sweep, region.final, last, acc)], acc)
    fork = fork_of(region, region.of_arms, acc)
    around, sweep.tape = sweep.tape, Tape()  # what is left half way leaves its own tapes alone
    done = turned_arm(sweep, region.orelse, fork, acc, region.body)
    sweep.tape = around
    caught = [turned_arm(sweep, h.body, fork, acc) for h in region.handlers]
    made = joined(sweep, fork, [done, *caught], acc)
    orelse, *blocks = made.blocks
    pairs = zip(region.handlers, blocks, strict=True)
    handlers = tuple(dataclasses.replace(h, body=b) for h, b in pairs)
    body = P.Block((), done.first, region.body.end)
    if region.body.end.how == "raise":
        orelse = region.orelse
    outs = (*made.outs, *closed.outs)
    return [P.Try(outs, body, handlers, orelse, closed.blocks[0], region.origin)]


def turned_arms(
    sweep: Sweep,
    region: P.Region,
    blocks: Sequence[P.Block],
    acc: Cotangents,
    test: Operand | None = None,
) -> Forward:
    """Turn each arm of a region round; what chose between them, a test or a number, does again."""
    fork = fork_of(region, region.outs, acc, test)
    return joined(sweep, fork, [turned_arm(sweep, b, fork, acc) for b in blocks], acc)


def turned_arm(
    sweep: Sweep, block: P.Block, fork: Fork, acc: Cotangents, before: P.Block | None = None
) -> Arm:
    """Turn an arm round, and what stands `before` it; one that leaves a loop ends that loop."""
    with acc.t.inside() as ops:
        inner = acc.inner(dict(acc.of))
        give_cotangents(sweep, (*outs_of(block), *(outs_of(before) if before else ())), inner)
        bars, pairs = fork.seeds, list(zip(fork.outs, block.end.results, strict=False))
        if block.end.how == "break":
            bars, pairs = sweep.loops[-1].bars, sweep.loops[-1].handed(block.end)
        for v, result in pairs if block.end.how != "raise" else ():
            if v in bars:
                _add_at_end(block, result, dataclasses.replace(bars[v], own=False), inner)
            hand_over(v, result, inner)
        forward = turned_block(sweep, block, inner)
        first = [] if before is None else turned_block(sweep, before, inner)
    end = block.end if before is None or before.end.how == "next" else before.end
    return Arm(end, tuple(forward), tuple(first), tuple(ops), inner)


def _add_at_end(block: P.Block, result: Operand, bar: Bar, acc: Cotangents) -> None:
    """Add to the cotangent of what a block ends with; where arms give that, they will add it.

    One that leaves the loop gives nothing.
    """
    last = block.ops[-1] if block.ops else None
    leaves = isinstance(last, P.If) and leaves_loop(last)
    if last is not None and leaves and isinstance(result, Var) and result in last.outs:
        acc.add_in_arms(result, bar)
    else:
        acc.add(result, bar)


# loops


def turned_loop(sweep: Sweep, region: P.For | P.While, acc: Cotangents) -> list[P.Operation]:
    """Turn the body of a loop round; the rounds run backward, and carry cotangents."""
    t, heads = acc.t, heads_of(region)
    params = [p for p in heads if p in sweep.values and not acc.is_shadowed(p)]
    if isinstance(region, P.For) and any(v in sweep.values for v in P.bound(region)):
        raise NotYet("a loop over what is active")
    free = [d for d in free_in(sweep, region) if reads_inside(region, d)]
    owners = [root_of(acc.refs, d) for d in free]
    free = [d for d in dict.fromkeys(owners) if not by_place(sweep, d, acc)]
    at_last = dict(zip(heads, region.outs, strict=False))
    begun = dict(zip(heads, region.starts, strict=True))
    start: list[Bar] = []
    for p in params:
        bar = acc.of.pop(at_last[p], None) if p in at_last else None
        own = acc.inner({} if bar is None else {p: bar})
        give_cotangents(sweep, (p,), own)
        start.append(start_of(sweep, own, p, at_last.get(sweep.values[p])))
    start += [bar_handed(sweep, acc, d) for d in free]
    every = (*params, *free)
    perhaps = [acc.may_be_missing(d) for d in every]
    carried = [bar_out(acc.value(d), p) for d, p in zip(every, perhaps, strict=True)]
    handed = dict(zip(heads, region.body.end.results, strict=False))
    carried = [_as_long_as(c, sweep, handed.get(d)) for c, d in zip(carried, every, strict=True)]
    bars = [*map(bar_of, carried, perhaps)]
    with t.inside() as ops:
        inner = acc.inner({d: b for d, b in acc.of.items() if in_place(sweep, d)})
        inner.of |= dict(zip(free, bars[len(params) :], strict=True))
        with inside(sweep, region) as tape:
            forward = turned_round(sweep, region, dict(zip(params, bars, strict=False)), inner)
        ends = tuple(value_of(bar_handed(sweep, inner, d)) for d in every)
    back = P.Block(tuple(carried), tuple(ops), P.End("next", ends))
    made = kept(sweep, forward, tape, back, t)
    behind = {c: begun.get(d) for c, d in zip(carried, every, strict=True)}
    outs = tuple(_as_long_as(Var(v.name, v.kind), sweep, behind.get(v)) for v in made.back.params)
    starts = (*map(value_of, start), *made.starts)
    t.add(P.For(outs, made.over, made.target, starts, made.back, region.origin))
    left = [*map(bar_of, outs, perhaps)]
    acc.of |= dict(zip(free, left[len(params) :], strict=True))
    for p, bar in zip(params, left, strict=False):  # what is read in the loop may begin it, too
        acc.add(begun[p], bar)
    for p, given in begun.items():
        hand_over(p, given, acc)
    return [*made.forward]


def _as_long_as(bar: Var, sweep: Sweep, dot: Operand | None) -> Var:
    """Return the cotangent that a loop carries, as long as what it is that of at one place.

    Lengths differ from round to round: it comes with those of what a round ends with, and leaves
    the loop with those of what that began with.
    """
    value = sweep.values.get(dot) if isinstance(dot, Var) else None
    given, kind = None if value is None else value.kind, bar.kind
    if not isinstance(kind, K.Array) or not isinstance(given, K.Array):
        return bar
    if (kind.rank, kind.dtype, kind.namespace) != (given.rank, given.dtype, given.namespace):
        return bar
    return Var(bar.name, dataclasses.replace(kind, dims=given.dims))


def turned_round(
    sweep: Sweep, region: P.For | P.While, bars: Mapping[Var, Bar], acc: Cotangents
) -> P.For | P.While:
    """Turn one round round, which hands on what has these cotangents; return the forward loop."""
    body, heads = region.body, heads_of(region)
    sweep.loops.append(Round(heads, len(region.outs), bars))
    give_cotangents(sweep, (*(p for p in heads if p in bars), *outs_of(body)), acc)
    for p, result in sweep.loops[-1].handed(body.end):
        if p in bars:
            _add_at_end(body, result, bars[p], acc)
        hand_over(p, result, acc)
    ops = tuple(turned_block(sweep, body, acc))
    end = plain_end(sweep, body.end)
    sweep.loops.pop()
    pairs = zip(heads, region.starts, strict=True)
    starts = tuple(start for p, start in pairs if p not in sweep.values)
    outs, carried = plain(sweep, region.outs), plain(sweep, heads)
    if isinstance(region, P.For):
        made = P.Block(carried, ops, end)
        return P.For(outs, region.over, region.target, starts, made, region.origin)
    made = P.Block((), ops, end)
    return P.While(outs, carried, starts, region.test, made, region.origin)


def start_of(sweep: Sweep, own: Cotangents, p: Var, at_last: Var | None) -> Bar:
    """Return what a cotangent that a loop carries starts with: zeros like what that is `at_last`.

    A number, whose zero is read nowhere, may have no value behind the loop.
    """
    held = sweep.values[p]
    sweep.values[p] = at_last or held
    try:
        return bar_handed(sweep, own, p)
    finally:
        sweep.values[p] = held
