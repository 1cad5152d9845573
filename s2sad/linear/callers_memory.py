"""Reverse mode on the very memory that a caller gives: it is left as the function leaves it.

    ways = {}
    by_one_way(ways, p)           layers that share weights get copies of these, where cotangents
    ...                           are found by identity: each has a derivative of its own
    as_given(ways, p)             the copies go, before anybody else looks

What is only read is copied before; what is written is reached by one way, or AliasError was raised.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

from s2sad import kinds as K
from s2sad.emitted.one_way import as_given, by_one_way
from s2sad.facts.fence import memory_written
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Place, Var
from s2sad.linear.both_sweeps import BothSweeps
from s2sad.linear.by_identity import is_structure
from s2sad.linear.forward_entry import on_copies
from s2sad.linear.read_outside import data_outside
from s2sad.linear.reverse_entry import owned_arguments
from s2sad.linear.tangent_table import Tangents
from s2sad.linear.zero_tangents import memories_in
from s2sad.nodes import Block
from s2sad.primitives import language as L
from s2sad.requests import Request
from s2sad.steps.derivation import Analysed, Derivation, memory_of


@dataclass(frozen=True)
class Forward:
    """The forward sweep as it works on a caller's memory, with its parameters and its value.

    First it makes `copies` of arguments that are only read.
    """

    params: tuple[Var, ...]
    ops: tuple[P.Operation, ...]
    value: Operand
    copies: Block

    def begun(self, found: BothSweeps, block: P.Block) -> P.Program:
        """Return a program that holds the forward sweep, from the copies on."""
        program = dataclasses.replace(found.program, block=block)
        return on_copies(program, self.copies, found.linear, found.table)


def on_callers_memory(d: Derivation, a: Analysed, request: Request, found: BothSweeps) -> Forward:
    """Return the forward sweep of a function that works on what it is given."""
    params, value = found.program.block.params, found.value
    if found.made.shadows is None:
        return Forward(params, found.forward, value, [])
    names = memory_written(memory_of(d, a))
    copies = owned_arguments(d, found, request, [])
    copies = [s for s in copies if s.targets[0].id not in names]
    copied = {s.targets[0].id for s in copies}
    held = [v for v in params if v.name not in copied and not K.shares_nothing(v.kind)]
    held.sort(key=lambda v: v.name in names)  # what is not written is reached first, and stays
    if sum(memories_in(v.kind) for v in held) < 2:
        return Forward(params, found.forward, value, copies)
    t, given = Tangents(found.table), dict(zip(params, params, strict=True))
    ways = t.emit(L.DICT, (), K.UNKNOWN, "ways")
    for o in _outside(d, found):
        _on_ways(t, by_one_way, ways, o)
    for v in held:
        if v.name in names and not is_structure(v.kind):  # a tuple is another one
            given[v] = Var(v.name, v.kind)
            _on_ways(t, by_one_way, ways, given[v], v)
        else:
            _on_ways(t, by_one_way, ways, v)
    start, t.ops = t.ops, []
    for v in held:
        _on_ways(t, as_given, ways, v)
    if isinstance(value, Var) and not K.shares_nothing(value.kind):
        made = Var("", value.kind)
        _on_ways(t, as_given, ways, value, made)
        value = made
    return Forward(tuple(given.values()), (*start, *found.forward, *t.ops), value, copies)


def _outside(d: Derivation, found: BothSweeps) -> list[P.Outer]:
    """Return the memory that a function, or one that it calls, finds outside."""
    inside = frozenset().union(*(b.function.locals for b in d.analysed.values()))
    met = {*data_outside(found.program.block.ops), *d.met_outside}
    held = [o for o in met if memories_in(o.kind) and o.name.partition(".")[0] not in inside]
    return sorted(held, key=lambda o: o.name)


def _on_ways(
    t: Tangents, helper: Callable[..., object], ways: Var, x: Var | P.Outer, out: Var | None = None
) -> None:
    """Call a helper that changes a structure, and what is known of the ways to its parts."""
    made = Var("", K.NONE) if out is None else out
    places = tuple(Place(o, (P.Anywhere(),)) for o in (ways, x))
    callee = P.Outer(t.table.refs.function(helper), K.UNKNOWN)
    t.add(Op((made,), L.CALL, (callee, ways, x), (), places, places, t.origin))
    if out is None:
        t.add(Op((), L.DISCARD, (made,), (), (), (), t.origin))
