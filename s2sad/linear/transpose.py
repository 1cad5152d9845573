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
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Var
from s2sad.linear.backward import turned_block
from s2sad.linear.cotangents_of import Bar, Cotangents
from s2sad.linear.linearise import Linear
from s2sad.linear.memory_parts import last_uses, parts_of_memory, unstable
from s2sad.linear.operands import kind_of
from s2sad.linear.sweep_state import Sweep, is_structure, owned
from s2sad.linear.tangent_table import NotYet, Table, Tangents
from s2sad.linear.tape import again, needed_in


@dataclass(frozen=True)
class Turned:
    """A forward sweep, and the backward sweep behind it with the cotangents of the parameters."""

    forward: tuple[P.Operation, ...]
    backward: tuple[P.Operation, ...]
    bars: tuple[Operand, ...]


def transpose(
    linear: Linear,
    table: Table,
    wrt: Sequence[str],
    seeds: Mapping[Var, Operand],
    lent: bool = False,
) -> Turned:
    """Return both sweeps of a program, with the cotangents of some parameters.

    `seeds` are the cotangents at the end, by tangent, memory that may be changed in place. Where
    memory is `lent`, others may write it before the backward sweep.
    """
    block = linear.program.block
    if block.end.how != "next":
        raise NotYet("a function that always raises")
    t = Tangents(table)
    later = frozenset(P.every(block)) if lent else unstable(block)
    values = {dot: v for v, dot in linear.of.items()}
    acc = Cotangents(t, values, parts_of_memory(block, values, table))
    sweep = Sweep(values, table.analysed.kinds, later, last_uses(block))
    sweep.rounds += not table.outermost
    for v in block.params:
        if v in values and is_structure(values[v].kind):
            acc.born(v)
    for dot, seed in seeds.items():
        acc.add(dot, Bar(seed, isinstance(kind_of(seed), K.Array)))
    forward = turned_block(sweep, block, acc)
    asked = [linear.of[v] for w in wrt for v in block.params if v.name == w]
    bars = tuple(owned(sweep, acc, dot) for dot in asked)
    return Turned(tuple(forward), tuple(t.ops), bars)


def again_in(turned: Turned) -> tuple[P.Operation, ...]:
    """Return a backward sweep that stands in a function of its own: indices are computed there."""
    makers = {v: op for op in turned.forward if isinstance(op, Op) for v in op.outs}
    return again(P.Block((), turned.backward, P.End("next")), makers).ops


def needed_of(
    backward: tuple[P.Operation, ...], turned: Turned, params: Sequence[Var]
) -> list[Var]:
    """Return what a backward sweep reads of the forward sweep, or of the parameters."""
    return needed_in(P.Block((), backward, P.End("next", turned.bars)), turned.forward, params)
