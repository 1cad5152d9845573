"""A function with its tangents, and what is known of its memory, before it is turned round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from s2sad.causes import Story
from s2sad.facts.fence import fence
from s2sad.ir import program as P
from s2sad.ir.memories import Memories
from s2sad.ir.program import Op, Var
from s2sad.linear.forward_entry import table_of
from s2sad.linear.function_facts import activity_of
from s2sad.linear.guards import Arrival
from s2sad.linear.linearise import Linear, linearise
from s2sad.linear.memory_parts import last_uses
from s2sad.linear.programs_seen import Around, seen
from s2sad.linear.put_back import written
from s2sad.linear.strong_zeros import zeros_of
from s2sad.linear.sweep_state import Sweep
from s2sad.linear.tangent_table import Table
from s2sad.linear.user_calls import UserCall
from s2sad.steps.derivation import Derivation, analyse, analysis_key, memory_of


@dataclass(frozen=True)
class Stands:
    """Where both sweeps of a function stand.

    What is `lent` others may write before the backward sweep. Where that stands
    `apart`, in a function of its own, what one arm of a branch computes has a value on all paths.
    What is written into arguments may be `shown` to the caller.
    """

    lent: frozenset[str] = frozenset()
    apart: bool = False
    shown: bool = False


@dataclass(frozen=True)
class Ready:
    """A function that can be turned round: what is known of it, its tangents, and its memory."""

    table: Table
    linear: Linear
    sweep: Sweep
    stands: Stands


def ready(table: Table, wrt: Sequence[str], stands: Stands) -> Ready:
    """Return a function with the tangents of some parameters, ready to be turned round."""
    linear = linearise(table.facts.program, table, wrt)
    block = linear.program.block
    if block.end.how != "next":
        raise table.cannot(
            table.facts.analysed.function.node,
            "This function raises an exception on all paths, as s2sad reads it: it gives nothing "
            "that has a derivative.",
            "Let it return a value on some path.",
        )
    values = {dot: v for v, dot in linear.of.items()}
    sweep = Sweep(values, written(table.facts.program, block, bool(stands.lent)), last_uses(block))
    for op in P.every(block):
        if isinstance(op, Op):
            sweep.makers |= dict.fromkeys(op.outs, op)
            if sweep.is_linear(op):
                sweep.temps |= {*op.outs}
    if not table.derivation.reusable:
        sweep.handed = _handed(sweep.written.memory, table, stands)
    sweep.called, sweep.shown = stands.apart or not table.outermost, stands.shown
    return Ready(table, linear, sweep, stands)


NOTHING_MET = Arrival()


@dataclass(frozen=True)
class Meets:
    """What a called function meets in its caller.

    Memory is `lent` to it; zeros by structure, and values that are infinite, may arrive.
    """

    lent: frozenset[str] = frozenset()
    arrival: Arrival = NOTHING_MET


def ready_to_reverse(d: Derivation, call: UserCall, wrt: tuple[str, ...], meets: Meets) -> Ready:
    """Return a function that is called, ready to be turned round."""
    key: Any = ("ready on the program", key_of(call, wrt, meets))
    known = d.found.get(key)
    if isinstance(known, Ready):
        return known
    a = analyse(d, call.fn, call.params, tuple(call.extra))
    facts = activity_of(d, a, wrt)
    fence(a.function, a.kinds, facts, memory_of(d, a))
    d.told[a] = Story(facts, wrt)
    lent = frozenset(a.function.result if n == "@result" else n for n in meets.lent)
    around = Around(lent=lent)
    table = table_of(d, a, wrt, facts, False, around)
    table.strong = zeros_of(d, seen(d, a, around), frozenset(wrt), meets.arrival)
    d.found[key] = found = ready(table, wrt, Stands(lent=lent))
    return found


def key_of(call: UserCall, wrt: tuple[str, ...], meets: Meets) -> Any:
    """Return what tells functions apart that are turned round: one text serves all calls alike."""
    return analysis_key(call.fn, call.params, tuple(call.extra)), wrt, meets


def _handed(memory: Memories, table: Table, stands: Stands) -> frozenset[Var]:
    """Return memory that somebody else goes on to see: it stays what it is in the end."""
    block = table.facts.program.block
    results = [v for v in map(P.variable, block.end.results) if v is not None]
    seen = [*(results if table.outermost or stands.lent else [])]
    seen += block.params if stands.shown else ()
    return frozenset(root for root in map(memory.of, seen) if root is not None)
