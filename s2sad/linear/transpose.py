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
from s2sad.emitted import held_numbers
from s2sad.ir import program as P
from s2sad.ir.flags_alone import without_flags
from s2sad.ir.program import Op, Operand, Var
from s2sad.linear.by_identity import Shadows, holds_structures, is_memory, is_structure, shadows_of
from s2sad.linear.cotangents_of import Bar, Cotangents
from s2sad.linear.held_apart import held_apart
from s2sad.linear.memory_parts import check_objects, parts_of_memory
from s2sad.linear.put_back import put_back
from s2sad.linear.ready import Ready
from s2sad.linear.rematerialised import Part, rematerialised
from s2sad.linear.run_again import read_later
from s2sad.linear.sweep_state import Sweep, bar_handed, value_of
from s2sad.linear.tangent_table import Table, Tangents
from s2sad.linear.turned_cells import with_contents
from s2sad.linear.turned_regions import give_cotangents, outs_of, turned_block
from s2sad.linear.turned_slots import complete, with_structures
from s2sad.primitives import language as L


@dataclass(frozen=True)
class Turned:
    """A forward sweep, and the backward sweep behind it with the cotangents of the parameters.

    At its `start` and as its `last` step the forward sweep looks at structures that change.
    """

    forward: tuple[P.Operation, ...]
    backward: tuple[P.Operation, ...]
    bars: tuple[Operand, ...]
    sweep: Sweep
    words: Mapping[Var, str]
    shadows: Var | None = None
    start: tuple[P.Operation, ...] = ()
    last: tuple[P.Operation, ...] = ()


def transpose(ready: Ready, wrt: Sequence[str], seeds: Mapping[Var, Bar]) -> Turned:
    """Return both sweeps of a function, with the cotangents of some parameters.

    `seeds` are the cotangents at the end, by tangent.
    """
    t = Tangents(ready.table)
    with t.refusing():
        return _transposed(ready, wrt, seeds, t)


def _transposed(ready: Ready, wrt: Sequence[str], seeds: Mapping[Var, Bar], t: Tangents) -> Turned:
    linear, table, sweep = ready.linear, ready.table, ready.sweep
    block = linear.program.block
    shadows = None
    if table.derivation.by_identity:
        shadows = shadows_of(block, sweep.values, table)
    sweep.values = values = with_contents(block, sweep.values, shadows, table)
    acc = Cotangents(t, values, {}, shadows)
    _check_kept(block, sweep, table)
    if shadows is None:
        acc.refs = parts_of_memory(block, sweep, table)
        if not (ready.stands.lent or table.derivation.reusable):
            sweep.written = put_back(sweep.written, _reads(sweep, block, t), sweep.handed)
    check_objects(sweep, table)
    give_cotangents(sweep, (*block.params, *outs_of(block)), acc)
    with t.inside() as last:
        if acc.shadows is not None and table.outermost:
            held = [v for v in seeds if holds_structures(sweep.values[v].kind)]
            acc.shadows.seen |= _pictures(held, acc)
    for dot, seed in seeds.items():
        acc.add(dot, seed)
    seen: dict[Var, Var] = {}
    start: tuple[P.Operation, ...] = ()
    if acc.shadows is not None:
        acc.shadows.seen.clear()
        with t.inside() as ops:
            seen |= _seen(acc, block, table)
        start = tuple(ops)
        _begin(acc, acc.shadows, block)
    forward = [*without_flags(turned_block(sweep, block, acc))]
    asked = [linear.of[v] for w in wrt for v in block.params if v.name == w]
    if acc.shadows is None:
        bars = tuple(value_of(bar_handed(sweep, acc, dot)) for dot in asked)
        return Turned(tuple(forward), tuple(t.ops), bars, sweep, acc.words)
    gathers = getattr(table.facts.analysed.function.node.args.kwarg, "id", None)
    asked = [
        d
        for d in asked
        if table.outermost or not is_memory(values[d].kind) or values[d].name == gathers
    ]
    forward = [*held_apart(forward, table, linear.of.keys())]
    acc.shadows.seen |= seen
    bars = tuple(_asked(sweep, acc, dot) for dot in asked)
    table_ = acc.shadows.table
    return Turned(tuple(forward), tuple(t.ops), bars, sweep, acc.words, table_, start, tuple(last))


def _asked(sweep: Sweep, acc: Cotangents, dot: Var) -> Operand:
    """Return the cotangent of a parameter, built as that was given."""
    assert acc.shadows is not None
    v = acc.values[dot]
    if is_structure(v.kind) and v in acc.shadows.seen:
        return acc.shadows.taken(acc.t, v)
    bar = (with_structures if v in acc.shadows.seen else complete)(dot, acc)
    if bar is not None:
        acc.of[dot] = bar
    return value_of(bar_handed(sweep, acc, dot))


def _reads(sweep: Sweep, block: P.Block, t: Tangents) -> dict[Op, tuple[Var, ...]]:
    """Return which arrays that are written somewhere operations on tangents read."""
    found = {}
    for op in P.every(block):
        if isinstance(op, Op) and sweep.is_linear(op):
            read = dict.fromkeys(v for v in map(P.variable, read_later(op)) if v is not None)
            arrays = (v for v in read if isinstance(v.kind, K.Array | K.Opaque))
            found[op] = tuple(v for v in arrays if sweep.is_read(v, t))
    return found


def _seen(acc: Cotangents, block: P.Block, table: Table) -> dict[Var, Var]:
    """Look at structures as they are given, before they change: their cotangents are like that."""
    given = [v for v in block.params if v in acc.values and table.outermost]
    held = [v for v in given if holds_structures(acc.values[v].kind)]
    tuples = [v for v in held if not is_structure(acc.values[v].kind)]  # they have no shadow
    changed = [v for v in held if acc.values[v] in table.facts.written and v not in tuples]
    return _pictures([*changed, *tuples], acc)


def _pictures(dots: Sequence[Var], acc: Cotangents) -> dict[Var, Var]:
    """Look at the values of some tangents, which are structures or hold such."""
    helper = acc.t.table.helper(held_numbers.picture)
    return {acc.values[d]: acc.t.call(helper, (acc.values[d],), K.UNKNOWN) for d in dots}


def _begin(acc: Cotangents, shadows: Shadows, block: P.Block) -> None:
    """Begin a backward sweep: with the result's cotangent."""
    _, dot = block.end.results
    plain = isinstance(dot, Var) and dot in acc.values and not acc.is_shadowed(dot)
    if plain and isinstance(dot, Var) and isinstance(acc.values[dot].kind, K.Array):
        acc.add(dot, Bar(shadows.taken(acc.t, acc.values[dot]), True))


def _check_kept(block: P.Block, sweep: Sweep, table: Table) -> None:
    """Refuse what reads a tangent of no variable: its cotangent would be lost."""
    orphans: set[Var] = set()
    for op in P.every(block):
        if not isinstance(op, Op) or not sweep.is_linear(op) or op.primitive is L.DISCARD:
            continue
        read = set(map(P.variable, op.operands))
        if read & orphans:
            raise table.cannot(op.origin, "s2sad cannot tell where the derivative goes from here.")
        if read & sweep.values.keys():
            made = (v for v in op.outs if v not in sweep.values)
            orphans |= {v for v in made if K.differentiable(v.kind)}


def parted(turned: Turned, table: Table, block: P.Block) -> P.Block:
    """Return the block of a backward sweep in a function of its own: it computes what is cheap."""
    params = table.facts.program.block.params
    here = frozenset(v for o in turned.forward for v in o.outs) | {*params}
    return rematerialised(block, Part(turned.sweep, Tangents(table), here), turned.forward)
