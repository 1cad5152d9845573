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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.left_last import leaves_loop
from s2sad.ir.program import Op, Operand, Var
from s2sad.ir.rebuilt import substituted
from s2sad.linear.backward import turned_op
from s2sad.linear.by_identity import is_structure
from s2sad.linear.cotangents_of import Bar, Cotangents
from s2sad.linear.memory_parts import root_of
from s2sad.linear.sweep_state import Round, Sweep, bar_name, in_place, owned
from s2sad.linear.tangent_table import NotYet, tangent_kind
from s2sad.linear.tape import again, bound_in, heads_of, met, needed_in, reads_inside, taped
from s2sad.primitives import language as L


@dataclass(frozen=True)
class Arm:
    """One arm of a branch in both directions, and the cotangents before it."""

    block: P.Block
    forward: list[P.Operation]
    backward: list[P.Operation]
    acc: Cotangents


@dataclass(frozen=True)
class Way:
    """An arm that leads on, with what undoes it; what that reads of the arm is `kept`."""

    arm: Arm
    block: P.Block
    kept: Mapping[Var, Var]


@dataclass(frozen=True)
class Forward:
    """What stands in the forward sweep for the arms of a region, and what they hand over."""

    outs: tuple[Var, ...]
    blocks: tuple[P.Block, ...]


def turned_block(sweep: Sweep, block: P.Block, acc: Cotangents) -> list[P.Operation]:
    """Add the backward sweep of a block to `acc`; return the forward sweep."""
    sweep.makers |= {v: op for op in block.ops if isinstance(op, Op) for v in op.outs}
    for op in block.ops:
        if isinstance(op, Op) and sweep.is_linear(op):
            sweep.temps |= {*op.outs}
    for v in (v for op in block.ops if isinstance(op, Op) for v in op.outs):
        if v in sweep.values and is_structure(sweep.values[v].kind):
            acc.born(v)
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
        else:
            made = [*sweep.instead.get(operation, (operation,))]
        forward[:0] = made
    return forward


def turned_region(sweep: Sweep, region: P.Region, acc: Cotangents) -> list[P.Operation]:
    """Add a region turned round; return the operations of the forward sweep."""
    moving = any(v in sweep.values for v in met(region))
    if not moving:
        return [region]
    given = (*region.outs, *P.bound(region), *(v for b in P.blocks(region) for v in b.params))
    memory = (v for v in given if v in sweep.values and isinstance(sweep.values[v].kind, K.Array))
    if acc.shadows is None and any(sweep.values[v] in acc.t.table.facts.written for v in memory):
        raise NotYet("memory that is written, and handed over by a branch or a loop")
    match region:
        case P.If():
            return turned_branch(sweep, region, acc)
        case P.Match():
            return turned_match(sweep, region, acc)
        case P.With():
            return turned_with(sweep, region, acc)
        case P.For() | P.While():
            return turned_loop(sweep, region, acc)
        case _:
            raise NotYet(f"{type(region).__name__} turned round")


def free_in(sweep: Sweep, region: P.Region) -> list[Var]:
    """Return the tangents from outside that a region reads, or whose memory it handles."""
    inside = {v for b in P.blocks(region) for v in bound_in(b)} | {*P.bound(region)}
    found = (v for v in met(region) if v in sweep.values and v not in inside)
    return [v for v in dict.fromkeys(found) if v not in region.outs]


def by_place(sweep: Sweep, dot: Var, acc: Cotangents) -> bool:
    """Say whether a cotangent is memory that stays in its place, and is handed over by nobody."""
    return in_place(sweep, dot) or acc.is_shadowed(dot)


# branches


def turned_branch(sweep: Sweep, region: P.If, acc: Cotangents) -> list[P.Operation]:
    """Turn each arm of a branch round; the same test chooses between them."""
    if region.style == "assert":
        if free_in(sweep, region):
            raise NotYet("an assert that handles tangents")
        return [region]
    made = turned_arms(sweep, region, (region.then, region.orelse), acc, region.test)
    style = "if" if len(made.outs) > len(plain(sweep, region.outs)) else region.style
    then, orelse = made.blocks
    return [P.If(made.outs, region.test, then, orelse, style, region.origin)]


def turned_match(sweep: Sweep, region: P.Match, acc: Cotangents) -> list[P.Operation]:
    """Turn each case round; a number tells which one fitted."""
    made = turned_arms(sweep, region, [c.body for c in region.cases], acc)
    pairs = zip(region.cases, made.blocks, strict=True)
    cases = tuple(dataclasses.replace(c, body=b) for c, b in pairs)
    return [dataclasses.replace(region, outs=made.outs, cases=cases)]


def turned_with(sweep: Sweep, region: P.With, acc: Cotangents) -> list[P.Operation]:
    """The backward sweep of what a manager stands around does without it."""
    made = turned_arms(sweep, region, (region.body,), acc)
    return [dataclasses.replace(region, outs=made.outs, body=made.blocks[0])]


def turned_arms(
    sweep: Sweep,
    region: P.Region,
    blocks: Sequence[P.Block],
    acc: Cotangents,
    test: Operand | None = None,
) -> Forward:
    """Turn each arm round; what chose between them, the `test` or a number, chooses again.

    From an arm that raises nothing comes back.
    """
    seeds = {v: bar for v in region.outs if (bar := acc.of.pop(v, None)) is not None}
    free = [d for d in free_in(sweep, region) if not by_place(sweep, d, acc) and d not in acc.refs]
    arms = [turned_arm(sweep, b, region.outs, seeds, acc) for b in blocks]
    leading = [a for a in arms if a.block.end.how != "raise"]
    changed = [d for d in free if any(a.acc.of.get(d) != acc.of.get(d) for a in leading)]
    differ = [d for d in changed if len({a.acc.of.get(d) for a in leading}) > 1]
    alike = [d for d in changed if d not in differ]
    ways = [way_back(sweep, region, a, differ, alike) for a in leading]
    number = Var("arm", K.INT) if test is None else test
    asks = len(ways) > 1 and (bool(differ) or any(w.block.ops for w in ways))
    if asks:
        outs = tuple(Var(bar_name(v), tangent_kind(v.kind)) for v in map(acc.value, differ))
        choose(acc, number, outs, [_first(w.block, len(differ)) for w in ways], region)
        for d, v in zip(differ, outs, strict=True):
            acc.of[d] = Bar(v, isinstance(v.kind, K.Array))
    elif ways:
        acc.t.ops += ways[0].block.ops
    if ways:
        values = iter(ways[0].block.end.results[len(differ) :])
        for d in alike:
            bar = leading[0].acc.of.get(d)
            acc.of.pop(d, None)
            if bar is not None:
                acc.of[d] = _holding(bar, values)
    tells = number if asks and isinstance(number, Var) and test is None else None
    return forward_of_arms(sweep, region, arms, ways, tells)


def way_back(
    sweep: Sweep, region: P.Region, arm: Arm, differ: Sequence[Var], alike: Sequence[Var]
) -> Way:
    """Return what undoes an arm, and hands over cotangents: of what the arms leave differently."""
    with arm.acc.t.inside() as ops:
        ops += arm.backward
        results = [owned(sweep, arm.acc, d) for d in differ]
    results += [v for d in alike if d in arm.acc.of for v in _values(arm.acc.of[d])]
    block = again(P.Block((), tuple(ops), P.End("next", tuple(results))), sweep.makers)
    if leaves_loop(region):  # what is read of it goes on the tape
        return Way(arm, block, {})
    kept = {v: Var(v.name, v.kind) for v in needed_in(block, arm.forward, P.bound(region))}
    return Way(arm, substituted(block, kept), kept)


def choose(
    acc: Cotangents,
    by: Operand,
    outs: tuple[Var, ...],
    blocks: Sequence[P.Block],
    region: P.Region,
) -> None:
    """Run one of several blocks, by a test or by a number."""
    if isinstance(region, P.If):
        acc.t.add(P.If(outs, by, blocks[0], blocks[1], "if", region.origin))
        return
    last = blocks[-1]
    for i in reversed(range(len(blocks) - 1)):
        fits = Var("", K.BOOL)
        asked = Op((fits,), L.compare("Eq"), (by, P.Const(i)), origin=region.origin)
        given = outs if i == 0 else tuple(Var(v.name, v.kind) for v in outs)
        made = P.If(given, fits, blocks[i], last, "if", region.origin)
        last = P.Block((), (asked, made), P.End("next", given))
    acc.t.ops += last.ops


def forward_of_arms(
    sweep: Sweep,
    region: P.Region,
    arms: Sequence[Arm],
    ways: Sequence[Way],
    number: Var | None,
) -> Forward:
    """Return the forward sweep of arms: they hand over what is kept, and which of them it was."""
    order = [w.arm for w in ways]
    made = []
    for a in arms:
        end = a.block.end
        if end.how == "break":
            end = plain_end(sweep, end)
        elif end.how == "next":
            pairs = zip(region.outs, end.results, strict=False)
            given = [r for v, r in pairs if v not in sweep.values]
            given += [v if w.arm is a else sweep.missing(v) for w in ways for v in w.kept]
            told = () if number is None else (P.Const(order.index(a)),)
            end = P.End("next", (*given, *told))
        made.append(P.Block((), tuple(a.forward), end))
    kept = [v for w in ways for v in w.kept.values()]
    outs = (*plain(sweep, region.outs), *kept, *(() if number is None else (number,)))
    return Forward(outs, tuple(made))


def turned_arm(
    sweep: Sweep, block: P.Block, outs: Sequence[Var], seeds: Mapping[Var, Bar], acc: Cotangents
) -> Arm:
    """Turn an arm of a branch round; where it leaves a loop, that has the cotangents of the end."""
    with acc.t.inside() as ops:
        inner = acc.inner(dict(acc.of))
        bars, pairs = seeds, list(zip(outs, block.end.results, strict=False))
        if block.end.how == "break":
            bars, pairs = sweep.loops[-1].bars, sweep.loops[-1].handed(block.end)
        for v, result in pairs if block.end.how != "raise" else ():
            if v in bars:
                inner.add(result, dataclasses.replace(bars[v], own=False))
        forward = turned_block(sweep, block, inner)
    return Arm(block, forward, list(ops), inner)


def plain(sweep: Sweep, variables: Sequence[Var]) -> tuple[Var, ...]:
    """Return those of some variables that are no tangents."""
    return tuple(v for v in variables if v not in sweep.values)


def _first(block: P.Block, count: int) -> P.Block:
    return dataclasses.replace(block, end=P.End("next", block.end.results[:count]))


def _values(bar: Bar) -> Iterator[Operand]:
    """Yield the values in a cotangent, those of parts in order."""
    if bar.value is not None:
        yield bar.value
    for part in bar.parts:
        yield from _values(part) if part is not None else ()


def _holding(bar: Bar, values: Iterator[Operand]) -> Bar:
    """Return a cotangent with other values in it, in the same order."""
    value = None if bar.value is None else next(values)
    parts = tuple(None if p is None else _holding(p, values) for p in bar.parts)
    return Bar(value, bar.own, parts)


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
    if any(is_structure(sweep.values[p].kind) for p in params):
        raise NotYet("a loop that carries a structure")
    taken = dict(zip(heads, region.outs, strict=False))
    begun = dict(zip(heads, region.starts, strict=True))
    starts_bar: list[Operand] = []
    for p in params:
        bar = acc.of.pop(taken[p], None) if p in taken else None
        own = acc.inner({} if bar is None else {p: bar})
        starts_bar.append(start_of(sweep, own, p, taken.get(p, begun[p])))
    starts_bar += [owned(sweep, acc, d) for d in free]
    values = [sweep.values[d] for d in (*params, *free)]
    carried = [Var(bar_name(v), tangent_kind(v.kind)) for v in values]
    bars = [Bar(v, isinstance(v.kind, K.Array)) for v in carried]
    with t.inside() as ops:
        inner = acc.inner({d: b for d, b in acc.of.items() if in_place(sweep, d)})
        inner.of |= dict(zip(free, bars[len(params) :], strict=True))
        forward = turned_round(sweep, region, dict(zip(params, bars, strict=False)), inner)
        ends = tuple(owned(sweep, inner, d) for d in (*params, *free))
    back = again(P.Block(tuple(carried), tuple(ops), P.End("next", ends)), sweep.makers)
    made = taped(sweep, forward, back, acc)
    outs = tuple(Var(v.name, v.kind) for v in carried)
    t.add(P.For(outs, made.over, made.target, tuple(starts_bar), made.back, region.origin))
    for p, out in zip(params, outs, strict=False):
        acc.add(begun[p], Bar(out, isinstance(out.kind, K.Array)))
    for d, out in zip(free, outs[len(params) :], strict=True):
        acc.of[d] = Bar(out, isinstance(out.kind, K.Array))
    return [*made.forward]


def turned_round(
    sweep: Sweep, region: P.For | P.While, bars: Mapping[Var, Bar], acc: Cotangents
) -> P.For | P.While:
    """Turn one round round, which hands on what has these cotangents; return the forward loop."""
    body, heads = region.body, heads_of(region)
    sweep.loops.append(Round(heads, len(region.outs), bars))
    for p, result in sweep.loops[-1].handed(body.end):
        if p in bars:
            acc.add(result, bars[p])
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


def plain_end(sweep: Sweep, end: P.End) -> P.End:
    """Return how a round ends in the forward sweep: tangents are handed over by nobody."""
    if end.how not in ("next", "break"):
        return end
    pairs = sweep.loops[-1].handed(end)
    return P.End(end.how, tuple(r for p, r in pairs if p not in sweep.values))


def start_of(sweep: Sweep, own: Cotangents, p: Var, like: Operand) -> Operand:
    """Return what a cotangent that a loop carries starts with, zeros `like` what it hands on."""
    held = sweep.values[p]
    given = sweep.values.get(like) if isinstance(like, Var) else None
    number = isinstance(held.kind, K.Num) and K.differentiable(held.kind)
    if given is None and p not in own.of and not number:
        raise NotYet("a loop that carries what only later rounds read")
    sweep.values[p] = given or held
    try:
        return owned(sweep, own, p)
    finally:
        sweep.values[p] = held
