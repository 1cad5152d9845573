"""Reverse mode: a program with tangents becomes a forward sweep and a backward sweep.

Before: a program with tangents (linearise), whose tangent operations are not written out.
After: the program without tangents, and behind it what it says of tangents, turned round.

    y_dot = tangent of f(y, x; x_dot)     x_bar gets what f passes back for y_bar
    x_dot = u_dot[i]                      u_bar[i] += x_bar
    u_dot[i] = x_dot                      x_bar gets u_bar[i]; u_bar[i] = 0.0
    if t: ... else: ...                   if t: each arm turned round
    for i in range(n): ...                for i in reversed(range(n)): the body turned round

What the backward sweep reads of an arm of a branch becomes a result of the branch. What it reads of
a round of a loop goes on the tape, a list with one entry for each round.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from s2sad import kinds as K
from s2sad import runtime
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Var
from s2sad.linear.backward import turned_block
from s2sad.linear.by_identity import Shadows, holds_both, is_memory, is_structure, shadows_of
from s2sad.linear.cotangents_of import Bar, Cotangents
from s2sad.linear.linearise import Linear
from s2sad.linear.memory_parts import last_uses, parts_of_memory, unstable
from s2sad.linear.sweep_state import Sweep, owned
from s2sad.linear.tangent_table import NotYet, Table, Tangents
from s2sad.linear.tape import again, needed_in
from s2sad.modes.hooks import is_hook


@dataclass(frozen=True)
class Turned:
    """A forward sweep, and the backward sweep behind it with the cotangents of the parameters."""

    forward: tuple[P.Operation, ...]
    backward: tuple[P.Operation, ...]
    bars: tuple[Operand, ...]
    shadows: Var | None = None
    start: tuple[P.Operation, ...] = ()


def transpose(
    linear: Linear,
    table: Table,
    wrt: Sequence[str],
    seeds: Mapping[Var, Bar],
    lent: bool = False,
    apart: bool = False,
) -> Turned:
    """Return both sweeps of a program, with the cotangents of some parameters.

    `seeds` are the cotangents at the end, by tangent. Where memory is `lent`, others may write it
    before the backward sweep. Where that stands `apart`, in a function of its own, what one arm of
    a branch computes has a value on all paths.
    """
    block = linear.program.block
    if block.end.how != "next":
        raise NotYet("a function that always raises")
    kinds = table.facts.analysed.kinds
    if any(is_hook(o.origin, kinds) for o in P.every(block) if o.origin is not None):
        raise NotYet("a hook of the backward sweep")
    t = Tangents(table)
    later = frozenset(P.every(block)) if lent else unstable(block)
    values = {dot: v for v, dot in linear.of.items()}
    acc = Cotangents(t, values, {})
    if table.derivation.by_identity:
        acc.shadows = shadows_of(block, values, table)
    else:
        acc.refs = parts_of_memory(block, values, table)
    sweep = Sweep(values, later, last_uses(block))
    sweep.rounds += apart or not table.outermost
    for v in block.params:
        if v in values and is_structure(values[v].kind):
            acc.born(v)
    for dot, seed in seeds.items():
        acc.add(dot, seed)
    start: tuple[P.Operation, ...] = ()
    if acc.shadows is not None:
        start = _entered(acc, acc.shadows, block, table)
        _begin(acc, acc.shadows, block, table)
    forward = turned_block(sweep, block, acc)
    asked = [linear.of[v] for w in wrt for v in block.params if v.name == w]
    if acc.shadows is None:
        bars = tuple(owned(sweep, acc, dot) for dot in asked)
        return Turned(tuple(forward), tuple(t.ops), bars)
    gathers = getattr(table.facts.analysed.function.node.args.kwarg, "id", None)
    asked = [
        d
        for d in asked
        if table.outermost or not is_memory(values[d].kind) or values[d].name == gathers
    ]
    bars = tuple(owned(sweep, acc, dot) for dot in asked)
    return Turned(tuple(forward), tuple(t.ops), bars, acc.shadows.table, start)


def _entered(
    acc: Cotangents, shadows: Shadows, block: P.Block, table: Table
) -> tuple[P.Operation, ...]:
    """Return what finds the cotangents of structures as they are given, before they change."""
    given = [acc.values[v] for v in block.params if v in acc.values and table.outermost]
    with acc.t.inside() as ops:
        for v in given:
            if not is_structure(v.kind) or v not in table.facts.written:
                continue
            if holds_both(v.kind):
                raise NotYet("an argument that is changed, with memory and numbers in it")
            if any(map(is_memory, K.together(v.kind))):
                shadows.of(acc.t, v, runtime.shadow_of)
    return tuple(ops)


def _begin(acc: Cotangents, shadows: Shadows, block: P.Block, table: Table) -> None:
    """Begin a backward sweep: with the result's cotangent, and those of structures given.

    What has no derivative in an argument has the cotangent None.
    """
    for v in block.params:
        given = v in acc.values and is_structure(acc.values[v].kind) and table.outermost
        if given and acc.values[v] not in table.facts.written:
            shadows.of(acc.t, acc.values[v], runtime.shadow_of)
    _, dot = block.end.results
    plain = isinstance(dot, Var) and dot in acc.values and not acc.is_shadowed(dot)
    if plain and isinstance(dot, Var) and isinstance(acc.values[dot].kind, K.Array):
        acc.add(dot, Bar(shadows.taken(acc.t, acc.values[dot]), True))


def again_in(turned: Turned) -> tuple[P.Operation, ...]:
    """Return a backward sweep that stands in a function of its own: indices are computed there."""
    makers = {v: op for op in turned.forward if isinstance(op, Op) for v in op.outs}
    return again(P.Block((), turned.backward, P.End("next")), makers).ops


def needed_of(
    backward: tuple[P.Operation, ...], turned: Turned, params: Sequence[Var]
) -> list[Var]:
    """Return what a backward sweep reads of the forward sweep, or of the parameters."""
    return needed_in(P.Block((), backward, P.End("next", turned.bars)), turned.forward, params)
