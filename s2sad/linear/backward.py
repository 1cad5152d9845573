"""The backward sweep: blocks, operations and regions, turned round."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from s2sad import kinds as K
from s2sad import runtime
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Var
from s2sad.ir.rebuilt import substituted
from s2sad.linear.by_identity import is_structure
from s2sad.linear.cotangents_of import Bar, Cotangents
from s2sad.linear.memory_parts import root_of
from s2sad.linear.operands import kind_of
from s2sad.linear.pull import pulled
from s2sad.linear.sweep_state import Sweep, bar_name, in_place, owned, value_of
from s2sad.linear.tangent_table import NotYet, tangent_kind
from s2sad.linear.tangents_of import Computed, told_by
from s2sad.linear.tape import again, bound_in, breaks, met, needed_in, reads_inside, taped
from s2sad.linear.turned_calls import turned_call
from s2sad.linear.turned_identity import turned_structure
from s2sad.linear.turned_memory import (
    check_alone,
    function_of,
    makes_object,
    may_be_view,
    shows_parts_of_complex,
    turned_augmented,
    turned_display,
    turned_each,
    turned_field,
    turned_item,
    turned_method,
    turned_put,
    turned_sum,
    turned_tuple,
    turned_unpack,
)

ZEROS = (np.zeros_like, np.zeros, runtime.zeros_like, runtime.twin_of)


@dataclass(frozen=True)
class Arm:
    """One arm of a branch in both directions, and the cotangents before it."""

    forward: list[P.Operation]
    backward: list[P.Operation]
    acc: Cotangents


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


def turned_op(sweep: Sweep, op: Op, acc: Cotangents) -> None:
    """Add what an operation on tangents says, turned round."""
    form, original = op.primitive.form, op
    if acc.shadows is not None:
        acc.shadows.kept.clear()
    if form == "call" and function_of(op) in ZEROS:
        for v in op.outs:
            acc.of.pop(v, None)  # it is made of no tangent
        return
    if form not in ("tangent of call", "discard"):
        op = sweep.stable(op, acc.t, acc.shadows)
    if acc.shadows is not None and turned_structure(sweep, op, acc, acc.shadows):
        return
    if form == "tuple" and acc.shadows is None:
        for o in op.operands:
            if isinstance(o, Var) and o in sweep.values:
                check_alone(sweep, o, original, acc.t)
    if form == "tangent" and acc.shadows is not None and shows_parts_of_complex(op):
        raise NotYet("real numbers that are a view of complex ones, turned round")
    if form == "tangent" and acc.shadows is None and may_be_view(op):
        raise NotYet("a view of memory that is written, turned round")
    if form in ("put item", "put field"):
        turned_put(sweep, op, acc)
        return
    if form in ("augmented item", "augmented", "augmented field"):
        turned_augmented(sweep, op, acc)
        return
    if form == "each item":
        turned_each(sweep, op, acc)
        return
    if form == "discard":
        return
    if form == "tangent of call":
        turned_call(sweep, op, acc)
        return
    if form == "method" and op.primitive.word != "copy" and op.operands[0] in sweep.values:
        turned_method(sweep, op, acc)
        return
    if any(p.object in sweep.values for p in op.writes):
        raise NotYet(f"{form}, which writes a shadow, turned round")
    if acc.shadows is None and any(v in sweep.values and in_place(sweep, v) for v in op.outs):
        if form in ("item", "field", "same"):
            return  # its cotangent is that part of its owner's
        if form in ("list", "dict") or makes_object(op):
            turned_display(sweep, op, acc)
            return
    if form == "tangent":
        bars = [acc.made(v) for v in op.outs]
    else:
        bars = [acc.of.pop(v, None) if stays(sweep, op, v, acc) else acc.taken(v) for v in op.outs]
    if form == "tuple" and acc.shadows is not None:
        turned_tuple(sweep, op, bars[0], acc)
        return
    if not any(bars):
        return
    if form == "unpack":
        turned_unpack(sweep, op, bars, acc)
        return
    (bar,) = bars
    assert bar is not None
    match form:
        case "same":
            acc.add(op.operands[0], bar)
        case "prefix":
            value = value_of(bar)
            minus = acc.t.emit(op.primitive, (value,), kind_of(value))
            acc.add(op.operands[0], Bar(minus, True))
        case "tangent":
            add_pulled(sweep, told_by(op), bar, acc)
        case "item":
            turned_item(sweep, op, bar, acc)
        case "field":
            turned_field(sweep, op, bar, acc)
        case "tuple":
            turned_tuple(sweep, op, bar, acc)
        case "call" if function_of(op) is sum and len(op.operands) == 2 and not op.settings:
            turned_sum(sweep, original, value_of(bar), acc)
        case "call" if function_of(op) is float and sweep.is_number(op.operands[1]):
            acc.add(op.operands[1], bar)
        case "call" if function_of(op) in (np.asarray, np.array):
            acc.add(op.operands[1], bar)
        case "method" if op.primitive.word == "copy":
            acc.add(op.operands[0], bar)
        case _:
            raise NotYet(f"{form} of tangents, turned round")


def stays(sweep: Sweep, op: Op, v: Var, acc: Cotangents) -> bool:
    """Say whether what is unpacked shows memory that has a cotangent of its own."""
    if op.primitive.form != "unpack":
        return False
    (source,) = op.operands
    assert isinstance(source, Var)
    return isinstance(sweep.values[source].kind, K.Tuple) or acc.is_shadowed(source)


def add_pulled(sweep: Sweep, told: Computed, bar: Bar, acc: Cotangents) -> None:
    """Add what a function passes back; what is new and goes to one operand is our own."""
    start = len(acc.t.ops)
    found = pulled(acc.t, told, value_of(bar))
    made = [o for o in acc.t.ops[start:] if isinstance(o, Op)]
    new = {v for o in made if o.primitive.form in ("infix", "prefix") for v in o.outs}
    values = [value for _, value in found]
    for dot, value in found:
        acc.add(dot, Bar(value, value in new and values.count(value) == 1))


def turned_region(sweep: Sweep, region: P.Region, acc: Cotangents) -> list[P.Operation]:
    """Add a region turned round; return the operations of the forward sweep."""
    moving = any(v in sweep.values for v in met(region))
    if not moving:
        return [region]
    given = (*region.outs, *(v for b in P.blocks(region) for v in b.params))
    memory = (v for v in given if v in sweep.values and isinstance(sweep.values[v].kind, K.Array))
    if acc.shadows is None and any(sweep.values[v] in acc.t.table.facts.written for v in memory):
        raise NotYet("memory that is written, and handed over by a branch or a loop")
    match region:
        case P.If():
            return [turned_branch(sweep, region, acc)]
        case P.For():
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


def turned_branch(sweep: Sweep, region: P.If, acc: Cotangents) -> P.Operation:
    """Turn each arm of a branch round; the same test chooses between them."""
    if region.style == "assert":
        if free_in(sweep, region):
            raise NotYet("an assert that handles tangents")
        return region
    seeds = {v: bar for v in region.outs if (bar := acc.of.pop(v, None)) is not None}
    free = free_in(sweep, region)
    arms = [turned_arm(sweep, b, region.outs, seeds, acc) for b in (region.then, region.orelse)]
    free = [d for d in free if not by_place(sweep, d, acc) and d not in acc.refs]
    changed = [d for d in free if any(a.acc.of.get(d) != acc.of.get(d) for a in arms)]
    outs = tuple(
        Var(bar_name(sweep.values[d]), tangent_kind(sweep.values[d].kind)) for d in changed
    )
    backward = []
    for a in arms:
        with acc.t.inside() as ops:
            ops += a.backward
            results = tuple(owned(sweep, a.acc, d) for d in changed)
        backward.append(P.Block((), tuple(ops), P.End("next", results)))
    primal = [i for i, v in enumerate(region.outs) if v not in sweep.values]
    backward = [again(b, sweep.makers) for b in backward]
    needed = [needed_in(b, a.forward) for b, a in zip(backward, arms, strict=True)]
    more = [{v: Var(v.name, v.kind) for v in found} for found in needed]
    forward = []
    for i, (block, a) in enumerate(zip(P.blocks(region), arms, strict=True)):
        if block.end.how != "next":
            raise NotYet(f"an arm that ends with {block.end.how}")
        handed: list[Operand] = [block.end.results[k] for k in primal]
        for at, names in enumerate(more):
            handed += [v if at == i else sweep.missing(v) for v in names]
        forward.append(P.Block((), tuple(a.forward), P.End("next", tuple(handed))))
    backward = [substituted(b, table) for b, table in zip(backward, more, strict=True)]
    if any(b.ops for b in backward) or outs:
        acc.t.add(P.If(outs, region.test, backward[0], backward[1], "if", region.origin))
    for d, out in zip(changed, outs, strict=True):
        acc.of[d] = Bar(out, isinstance(out.kind, K.Array))
    kept = tuple(region.outs[k] for k in primal)
    made = (*kept, *(v for table in more for v in table.values()))
    style = "if" if more[0] or more[1] else region.style
    return dataclasses.replace(region, outs=made, then=forward[0], orelse=forward[1], style=style)


def turned_arm(
    sweep: Sweep, block: P.Block, outs: Sequence[Var], seeds: Mapping[Var, Bar], acc: Cotangents
) -> Arm:
    """Turn an arm of a branch round."""
    with acc.t.inside() as ops:
        inner = acc.inner(dict(acc.of))
        if block.end.how == "next":
            for v, result in zip(outs, block.end.results, strict=True):
                if v in seeds:
                    inner.add(result, dataclasses.replace(seeds[v], own=False))
        forward = turned_block(sweep, block, inner)
    return Arm(forward, list(ops), inner)


def turned_loop(sweep: Sweep, region: P.For, acc: Cotangents) -> list[P.Operation]:
    """Turn the body of a loop round; the rounds run backward, and carry cotangents."""
    t, body = acc.t, region.body
    if breaks(body):
        raise NotYet("a loop that is left by break")
    params = [p for p in body.params if p in sweep.values and not acc.is_shadowed(p)]
    if any(v in sweep.values for v in P.bound(region)):
        raise NotYet("a loop over what is active")
    free = [d for d in free_in(sweep, region) if reads_inside(region, d)]
    owners = [root_of(acc.refs, d) for d in free]
    free = [d for d in dict.fromkeys(owners) if not by_place(sweep, d, acc)]
    if any(is_structure(sweep.values[p].kind) for p in params):
        raise NotYet("a loop that carries a structure")
    taken = dict(zip(body.params, region.outs, strict=False))
    begun = dict(zip(body.params, region.starts, strict=True))
    starts_bar: list[Operand] = []
    for p in params:
        bar = acc.of.pop(taken[p], None) if p in taken else None
        own = acc.inner({} if bar is None else {p: bar})
        starts_bar.append(start_of(sweep, own, p, taken.get(p, begun[p])))
    starts_bar += [owned(sweep, acc, d) for d in free]
    values = [sweep.values[d] for d in (*params, *free)]
    carried = [Var(bar_name(v), tangent_kind(v.kind)) for v in values]
    with t.inside() as ops:
        inner = acc.inner({d: b for d, b in acc.of.items() if in_place(sweep, d)})
        for d, v in zip(free, carried[len(params) :], strict=True):
            inner.of[d] = Bar(v, isinstance(v.kind, K.Array))
        bars = dict(zip(params, carried, strict=False))
        for p, result in zip(body.params, body.end.results, strict=True):
            if p in bars:
                inner.add(result, Bar(bars[p], isinstance(bars[p].kind, K.Array)))
        sweep.rounds += 1
        forward = turned_block(sweep, body, inner)
        sweep.rounds -= 1
        ends = tuple(owned(sweep, inner, d) for d in (*params, *free))
    primal = [i for i, p in enumerate(body.params) if p not in sweep.values]
    back = P.Block(tuple(carried), tuple(ops), P.End("next", ends))
    there = [v for v in (*P.bound(region), *body.params) if v not in sweep.values]
    back = again(back, sweep.makers)
    needed = needed_in(back, forward, there)
    made, over, target, back = taped(sweep, region, needed, back, acc)
    forward += made.at_end
    outs = tuple(Var(v.name, v.kind) for v in carried)
    t.add(P.For(outs, over, target, tuple(starts_bar), back, region.origin))
    for p, out in zip(params, outs, strict=False):
        acc.add(begun[p], Bar(out, isinstance(out.kind, K.Array)))
    for d, out in zip(free, outs[len(params) :], strict=True):
        acc.of[d] = Bar(out, isinstance(out.kind, K.Array))
    results = tuple(body.end.results[i] for i in primal)
    new = P.Block(tuple(body.params[i] for i in primal), tuple(forward), P.End("next", results))
    primal_outs = tuple(v for v in region.outs if v not in sweep.values)
    starts = tuple(region.starts[i] for i in primal)
    loop = P.For(primal_outs, region.over, region.target, starts, new, region.origin)
    return [*made.before, loop]


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
