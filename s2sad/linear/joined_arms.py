"""Arms of a branch, a match or a try that have been turned round, side by side.

    if t: y = x * x        t is kept, or the number of the case that fitted
    else: y = x            if t: x_bar = 2.0 * y_bar * x
                           else: x_bar = y_bar

A cotangent that all arms leave alike is handed over by none. What the backward sweep reads of an
arm becomes a result of the branch in the forward sweep. From an arm that raises nothing comes back.
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
from s2sad.linear.cotangents_of import Bar, Cotangents, bar_of, bar_out, root_of
from s2sad.linear.rematerialised import Part, rematerialised
from s2sad.linear.sweep_state import Reason, Sweep, bar_handed, in_place, value_of
from s2sad.linear.tape import bound_in, met, met_in, needed_in
from s2sad.primitives import language as L


@dataclass(frozen=True)
class Fork:
    """Where arms part: a region, or the last block of a try, with the results that they give.

    `seeds` are the cotangents of these. Where no `test` chooses, a number tells the arm.
    """

    region: P.Region
    outs: tuple[Var, ...]
    seeds: Mapping[Var, Bar]
    test: Operand | None = None


@dataclass(frozen=True)
class Arm:
    """One arm in both directions, and the cotangents before it. `first` stands in another block."""

    end: P.End
    forward: tuple[P.Operation, ...]
    first: tuple[P.Operation, ...]
    backward: tuple[P.Operation, ...]
    acc: Cotangents


@dataclass(frozen=True)
class Way:
    """An arm that leads on, with what undoes it; what that reads of the arm is `kept`.

    `bars` are the cotangents that it hands over where arms leave them differently.
    """

    arm: Arm
    block: P.Block
    kept: Mapping[Var, Var]
    bars: Sequence[Bar]


@dataclass(frozen=True)
class Forward:
    """What stands in the forward sweep for arms, and what they hand over."""

    outs: tuple[Var, ...]
    blocks: tuple[P.Block, ...]


def fork_of(
    region: P.Region, outs: tuple[Var, ...], acc: Cotangents, test: Operand | None = None
) -> Fork:
    """Return where arms part; the cotangents of what they give are theirs."""
    seeds = {v: bar for v in outs if (bar := acc.of.pop(v, None)) is not None}
    return Fork(region, outs, seeds, test)


def joined(sweep: Sweep, fork: Fork, arms: Sequence[Arm], acc: Cotangents) -> Forward:
    """Undo the arm that was taken; return what stands for the arms in the forward sweep."""
    leading = [a for a in arms if a.end.how != "raise"]
    changed = changed_by(sweep, fork, leading, acc)
    differ = [d for d in changed if len({a.acc.of.get(d) for a in leading}) > 1]
    alike = [d for d in changed if d not in differ]
    ways = [way_back(sweep, fork, a, differ, alike) for a in leading]
    asks = len(ways) > 1 and (bool(differ) or any(w.block.ops for w in ways))
    number = Var("arm", K.INT) if asks and fork.test is None else None
    if number is not None:
        sweep.reasons[number] = Reason("arm", (fork.region,))
    if asks:
        perhaps = [any(w.bars[i].perhaps for w in ways) for i in range(len(differ))]
        outs = tuple(bar_out(acc.value(d), p) for d, p in zip(differ, perhaps, strict=True))
        choose(acc, fork, number, outs, [_first(w.block, len(differ)) for w in ways])
        acc.of |= dict(zip(differ, map(bar_of, outs, perhaps), strict=True))
    elif ways:
        acc.t.ops += ways[0].block.ops
    for d in alike:
        acc.of.pop(d, None)
    if ways:
        values = iter(ways[0].block.end.results[len(differ) :])
        left = leading[0].acc.of
        acc.of |= {d: _holding(left[d], values) for d in alike if d in left}
    return forward_of_arms(sweep, fork, arms, ways, number)


def changed_by(sweep: Sweep, fork: Fork, arms: Sequence[Arm], acc: Cotangents) -> list[Var]:
    """Return what has another cotangent before an arm than behind it."""
    owners = dict.fromkeys(root_of(acc.refs, d) for d in free_in(sweep, fork.region))
    free = [d for d in owners if not by_place(sweep, d, acc)]
    return [d for d in free if any(a.acc.of.get(d) != acc.of.get(d) for a in arms)]


def way_back(
    sweep: Sweep, fork: Fork, arm: Arm, differ: Sequence[Var], alike: Sequence[Var]
) -> Way:
    """Return what undoes an arm, and hands over cotangents: of what the arms leave differently."""
    with arm.acc.t.inside() as ops:
        ops += arm.backward
        bars = [bar_handed(sweep, arm.acc, d) for d in differ]
    results = [value_of(b) for b in bars]
    results += [v for d in alike if d in arm.acc.of for v in _values(arm.acc.of[d])]
    block = P.Block((), tuple(ops), P.End("next", tuple(results)))
    done = (*arm.first, *arm.forward)
    here = frozenset(v for o in done for v in o.outs) | {*P.bound(fork.region)}
    block = rematerialised(block, Part(sweep, arm.acc.t, here), done)
    if leaves_loop(fork.region):  # what is read of it goes on the tape
        return Way(arm, block, {}, bars)
    found = needed_in(block, (*arm.first, *arm.forward), P.bound(fork.region))
    unbound = arm.acc.t.table.facts.unbound
    if sweep.loops or sweep.called:  # behind the arms it may have no value that could be kept
        found += [v for v in dict.fromkeys(met_in(block)) if v in unbound and v not in found]
    given = dict(zip(arm.end.results, fork.outs, strict=False))  # the region gives it in any case
    known = [v for v in found if v in given and given[v] not in sweep.values]
    there = {v: given[v] for v in known if given[v] not in unbound}
    kept = {v: Var(v.name, v.kind) for v in found if v not in there}
    return Way(arm, substituted(block, {**kept, **there}), kept, bars)


def choose(
    acc: Cotangents,
    fork: Fork,
    number: Var | None,
    outs: tuple[Var, ...],
    blocks: Sequence[P.Block],
) -> None:
    """Run one of several blocks, by a test or by a number."""
    origin = fork.region.origin
    if number is None:
        assert fork.test is not None
        acc.t.add(P.If(outs, fork.test, blocks[0], blocks[1], "if", origin))
        return
    last = blocks[-1]
    for i in reversed(range(len(blocks) - 1)):
        fits = Var("", K.BOOL)
        asked = Op((fits,), L.compare("Eq"), (number, P.Const(i)), origin=origin)
        given = outs if i == 0 else tuple(Var(v.name, v.kind) for v in outs)
        made = P.If(given, fits, blocks[i], last, "if", origin)
        last = P.Block((), (asked, made), P.End("next", given))
    acc.t.ops += last.ops


def forward_of_arms(
    sweep: Sweep, fork: Fork, arms: Sequence[Arm], ways: Sequence[Way], number: Var | None
) -> Forward:
    """Return the forward sweep of arms: they hand over what is kept, and which of them it was."""
    order = [w.arm for w in ways]
    made = []
    for a in arms:
        end = a.end
        if end.how == "break":
            end = plain_end(sweep, end)
        elif end.how == "next":
            pairs = zip(fork.outs, end.results, strict=False)
            given = [r for v, r in pairs if v not in sweep.values]
            given += [v if w.arm is a else sweep.missing(v) for w in ways for v in w.kept]
            told = () if number is None else (P.Const(order.index(a)),)
            end = P.End("next", (*given, *told))
        made.append(P.Block((), a.forward, end))
    kept = [v for w in ways for v in w.kept.values()]
    outs = (*plain(sweep, fork.outs), *kept, *(() if number is None else (number,)))
    return Forward(outs, tuple(made))


def plain(sweep: Sweep, variables: Sequence[Var]) -> tuple[Var, ...]:
    """Return those of some variables that are no tangents."""
    return tuple(v for v in variables if v not in sweep.values)


def plain_end(sweep: Sweep, end: P.End) -> P.End:
    """Return how a round ends in the forward sweep: tangents are handed over by nobody."""
    if end.how not in ("next", "break"):
        return end
    pairs = sweep.loops[-1].handed(end)
    results = tuple(r for p, r in pairs if p not in sweep.values)
    return dataclasses.replace(end, results=results)


def free_in(sweep: Sweep, region: P.Region) -> list[Var]:
    """Return the tangents from outside that a region reads, or whose memory it handles."""
    inside = {v for b in P.blocks(region) for v in bound_in(b)} | {*P.bound(region)}
    found = (v for v in met(region) if v in sweep.values and v not in inside)
    return [v for v in dict.fromkeys(found) if v not in region.outs]


def by_place(sweep: Sweep, dot: Var, acc: Cotangents) -> bool:
    """Say whether a cotangent is memory that stays in its place, and is handed over by nobody."""
    memory_alone = sweep.values[dot].cell and sweep.values[dot].kind == K.NONE
    return in_place(sweep, dot) or acc.is_shadowed(dot) or memory_alone


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
    return dataclasses.replace(bar, value=value, parts=parts)
