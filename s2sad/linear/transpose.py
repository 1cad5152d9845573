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
from s2sad.emitted import held_numbers
from s2sad.ir import program as P
from s2sad.ir.memories import Memories
from s2sad.ir.program import Op, Operand, Var
from s2sad.linear.by_identity import Shadows, is_memory, is_structure, shadows_of
from s2sad.linear.cotangents_of import Bar, Cotangents
from s2sad.linear.linearise import Linear
from s2sad.linear.memory_parts import last_uses, parts_of_memory
from s2sad.linear.put_back import put_back, written
from s2sad.linear.rematerialised import Part, rematerialised
from s2sad.linear.sweep_state import Sweep, owned
from s2sad.linear.tangent_table import NotYet, Table, Tangents
from s2sad.linear.turned_cells import with_contents
from s2sad.linear.turned_hooks import check_hooks
from s2sad.linear.turned_regions import turned_block
from s2sad.linear.turned_slots import complete
from s2sad.primitives import language as L

_PASSES = ("tangent of call", "discard")  # what these read is kept by others, or by nobody


@dataclass(frozen=True)
class Stands:
    """Where both sweeps of a function stand.

    Where memory is `lent`, others may write it before the backward sweep. Where that stands
    `apart`, in a function of its own, what one arm of a branch computes has a value on all paths.
    What is written into arguments may be `shown` to the caller.
    """

    lent: bool = False
    apart: bool = False
    shown: bool = False


@dataclass(frozen=True)
class Turned:
    """A forward sweep, and the backward sweep behind it with the cotangents of the parameters."""

    forward: tuple[P.Operation, ...]
    backward: tuple[P.Operation, ...]
    bars: tuple[Operand, ...]
    sweep: Sweep
    words: Mapping[Var, str]
    shadows: Var | None = None
    start: tuple[P.Operation, ...] = ()


def transpose(
    linear: Linear,
    table: Table,
    wrt: Sequence[str],
    seeds: Mapping[Var, Bar],
    stands: Stands,
) -> Turned:
    """Return both sweeps of a program, with the cotangents of some parameters.

    `seeds` are the cotangents at the end, by tangent.
    """
    block = linear.program.block
    if block.end.how != "next":
        raise NotYet("a function that always raises")
    t = Tangents(table)
    values = {dot: v for v, dot in linear.of.items()}
    by_identity = table.derivation.by_identity
    shadows = shadows_of(block, values, table) if by_identity else None
    values = with_contents(block, values, table, shadows)
    acc = Cotangents(t, values, {}, shadows)
    if not by_identity:
        acc.refs = parts_of_memory(block, values, table)
    sweep = Sweep(values, written(table.facts.program, block, stands.lent), last_uses(block))
    orphans: set[Var] = set()
    for op in P.every(block):
        if isinstance(op, Op):
            sweep.makers |= dict.fromkeys(op.outs, op)
            if sweep.is_linear(op):
                check_kept(op, values, orphans, table)
                sweep.temps |= {*op.outs}
    if not (acc.shadows or table.derivation.reusable):
        sweep.handed = _handed(sweep.written.memory, table, stands)
        if not stands.lent:
            sweep.written = put_back(sweep.written, _reads(sweep, block, t), sweep.handed)
    sweep.called = stands.apart or not table.outermost
    check_hooks(block, acc.refs, sweep)
    for v in block.params:
        if v in values and is_structure(values[v].kind):
            acc.born(v)
    for dot, seed in seeds.items():
        acc.add(dot, seed)
    seen: dict[Var, Var] = {}
    start: tuple[P.Operation, ...] = ()
    if acc.shadows is not None:
        with t.inside() as ops:
            seen |= _seen(acc, block, table)
        start = tuple(ops)
        _begin(acc, acc.shadows, block, table)
    forward = turned_block(sweep, block, acc)
    asked = [linear.of[v] for w in wrt for v in block.params if v.name == w]
    if acc.shadows is None:
        bars = tuple(owned(sweep, acc, dot) for dot in asked)
        return Turned(tuple(forward), tuple(t.ops), bars, sweep, acc.words)
    gathers = getattr(table.facts.analysed.function.node.args.kwarg, "id", None)
    asked = [
        d
        for d in asked
        if table.outermost or not is_memory(values[d].kind) or values[d].name == gathers
    ]
    acc.shadows.seen |= seen
    acc.of |= {dot: bar for dot in asked if (bar := complete(dot, acc)) is not None}
    bars = tuple(
        acc.shadows.taken(t, values[dot]) if values[dot] in seen else owned(sweep, acc, dot)
        for dot in asked
    )
    return Turned(tuple(forward), tuple(t.ops), bars, sweep, acc.words, acc.shadows.table, start)


def _handed(memory: Memories, table: Table, stands: Stands) -> frozenset[Var]:
    """Return memory that somebody else goes on to see: it stays what it is in the end."""
    block = table.facts.program.block
    results = [v for v in map(P.variable, block.end.results) if v is not None]
    seen = [*(results if table.outermost or stands.lent else [])]
    seen += block.params if stands.shown else ()
    return frozenset(root for root in map(memory.of, seen) if root is not None)


def _reads(sweep: Sweep, block: P.Block, t: Tangents) -> dict[Op, tuple[Var, ...]]:
    """Return which arrays that are written somewhere operations on tangents read."""
    found = {}
    for op in P.every(block):
        if isinstance(op, Op) and sweep.is_linear(op) and op.primitive.form not in _PASSES:
            read = dict.fromkeys(v for v in map(P.variable, op.operands) if v is not None)
            arrays = (v for v in read if isinstance(v.kind, K.Array))
            found[op] = tuple(v for v in arrays if sweep.is_read(v, t))
    return found


def _seen(acc: Cotangents, block: P.Block, table: Table) -> dict[Var, Var]:
    """Look at structures as they are given, before they change: their cotangents are like that."""
    given = [acc.values[v] for v in block.params if v in acc.values and table.outermost]
    changed = [v for v in given if is_structure(v.kind) and v in table.facts.written]
    helper = table.helper(held_numbers.picture)
    return {v: acc.t.call(helper, (v,), K.UNKNOWN) for v in changed}


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


def check_kept(op: Op, values: Mapping[Var, Var], orphans: set[Var], table: Table) -> None:
    """Refuse what reads a tangent of no variable, whose cotangent would be lost; note such ones."""
    read = set(map(P.variable, op.operands))
    if op.primitive is L.DISCARD:
        return
    if read & orphans:
        raise table.cannot(op.origin, "s2sad cannot tell where the derivative goes from here.")
    if read & values.keys():
        orphans |= {v for v in op.outs if v not in values and K.differentiable(v.kind)}


def parted(turned: Turned, table: Table, block: P.Block) -> P.Block:
    """Return the block of a backward sweep in a function of its own: it computes what is cheap."""
    params = table.facts.program.block.params
    here = frozenset(v for o in turned.forward for v in o.outs) | {*params}
    return rematerialised(block, Part(turned.sweep, Tangents(table), here), turned.forward)
