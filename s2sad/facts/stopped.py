"""Memory reached through stop_gradient: what is read there has no derivative, or it is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from s2sad import kinds as K
from s2sad.errors import Error, UnsupportedError
from s2sad.facts.memory import Memory
from s2sad.facts.shift import cancelled
from s2sad.ir import program as P
from s2sad.ir.program import Var
from s2sad.nodes import all_inside
from s2sad.stages import STOPPED, STOPPED_WHOLE, Activity, Function, KindFacts

NOBODY: frozenset[str] = frozenset()


def without_flow(
    function: Function, kinds: KindFacts, memory: Memory, program: P.Program
) -> frozenset[Var]:
    """Return the variables of a program that take no derivative from what they are computed of."""
    found = set(cancelled(function, kinds, program))
    for op in P.every(program.block) if function.stopped or memory.stopping else ():
        called = getattr(op.origin, "value", None) in memory.stopping
        found.update(v for v in op.outs if called or v.name in function.stopped)
    return frozenset(found)


def check_stopped(
    function: Function,
    kinds: KindFacts,
    activity: Activity,
    memory: Memory,
    asked: frozenset[str] = NOBODY,
) -> None:
    """Raise where memory that has no derivative under one name has one under another.

    An array has one shadow, whatever its names are. Where the array that stop_gradient gave is
    written with something active, by whatever name, its old content and the new one are told apart
    by nobody. The shadows of what is `asked` are found by memory alone.
    """
    if not function.stopped and not memory.stopping:
        marks = {STOPPED, STOPPED_WHOLE}
        if not any(marks & pairs.keys() for pairs in memory.aliases.pairs_after.values()):
            return
    for s in all_inside(function.node.body):
        if s not in activity.varied_after:
            continue
        before = activity.before(s), memory.aliases.pairs_before.get(s, {}), kinds.before
        after = activity.after(s), memory.aliases.pairs_after.get(s, {}), kinds.after
        for active, pairs, known in (before, after):
            env = known.get(s, {})
            for n in sorted(active):
                kind = env.get(n, K.UNBOUND)
                found = n in asked and STOPPED in pairs.get(n, NOBODY)
                if (found and not K.shares_nothing(kind)) or _written(n, pairs, memory, kind):
                    raise _refusal(function, s, n)


def _written(n: str, pairs: Mapping[str, frozenset[str]], memory: Memory, kind: K.Kind) -> bool:
    """Say whether a name may hold memory that has no derivative there, and is written."""
    shared = pairs.get(n, NOBODY)
    if STOPPED not in shared or K.shares_nothing(kind):
        return False
    group = shared | {n}
    if group & memory.aliases.arrays:
        return True
    return STOPPED_WHOLE in shared and bool(group & memory.aliases.slots)


def _refusal(function: Function, s: Any, n: str) -> Error:
    origin = function.origins.get(s, s)
    return UnsupportedError(
        f"`{n}` may share memory with an argument of stop_gradient, and that memory is "
        f"written in place; s2sad does not know which part of `{n}` has a derivative.",
        remedy="Copy the result of stop_gradient: stop_gradient(x).copy().",
        place=function.source.place(origin),
    )
