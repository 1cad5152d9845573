"""Calls of checkpointed functions: they run as they are, and once more in the backward sweep.

    u = step(u, dt)     forward sweep     u = step(u, dt)
                        backward sweep    u_bar = step_reverse(step_forward(u, dt), u_bar)

Before: a call, and the forward of its function. After: the same call, and in the backward sweep a
call of the forward. It is given what the function was given: memory that changes later is copied.
"""

from __future__ import annotations

from collections.abc import Sequence

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Var
from s2sad.ir.rebuilt import op_with
from s2sad.linear.sweep_state import Sweep
from s2sad.linear.tangent_table import Tangents
from s2sad.linear.user_calls import CallOfUser, name_of
from s2sad.primitives import language as L
from s2sad.steps.derived_pairs import Target
from s2sad.steps.found_calls import find_target
from s2sad.steps.recompute import check_repeatable, runs_again


def is_run_again(noted: CallOfUser) -> bool:
    """Say whether the function that is called is a checkpoint."""
    return runs_again(noted.call.fn)


def read_later(op: Op) -> Sequence[Operand]:
    """Return what the backward sweep reads of what an operation on tangents is given.

    A called function keeps what it reads, but one that runs again.
    """
    if op.primitive is L.DISCARD:
        return ()
    if op.primitive is not L.TANGENT_OF_CALL:
        return op.operands
    noted = dict(op.settings)["call"]
    assert isinstance(noted, CallOfUser)
    return P.operands(_forward(noted, "", ())) if is_run_again(noted) else ()


def run_again(sweep: Sweep, op: Op, noted: CallOfUser, name: str, t: Tangents) -> Var:
    """Call a forward in the backward sweep, with what the function was given; return what it keeps.

    `op` is the tangent of the call. Of what nothing is known nobody can make a copy: it is refused.
    """
    saved = Var(f"{name_of(noted.call.fn)}_saved", K.UNKNOWN)
    made = _forward(noted, name, (saved,))
    table: dict[Var, Operand] = {}
    for v in filter(None, map(P.variable, P.operands(made))):
        if not K.shares_nothing(v.kind) and sweep.is_lost(v, op):
            if any(isinstance(k, K.Unknown) for k in K.leaves(v.kind)):
                raise t.table.cannot(
                    op.origin,
                    "A checkpointed function runs once more in the backward sweep, and what it is "
                    f"given here changes before: {_shown(v)}, of which s2sad cannot make a copy.",
                    "Give it numbers and arrays, or call the function without checkpoint.",
                )
            table[v] = sweep.copied(v, t, op)
    t.add(op_with(made, table))
    return saved


def _shown(v: Var) -> str:
    return f"`{v.name}`" if v.name else K.describe(v.kind)


def check_again(noted: CallOfUser, t: Tangents) -> None:
    """Refuse a checkpointed function that might do something else when it runs again."""
    call = noted.call
    target = Target(call.fn, dict(call.params), {}, call.links)
    check_repeatable(t.table.derivation, t.table.facts.analysed, target, find_target)


def _forward(noted: CallOfUser, name: str, outs: tuple[Var, ...]) -> Op:
    """Return the call of a forward that gives nothing but what it keeps."""
    op, call = noted.op, noted.call
    operands = (P.Outer(name, K.UNKNOWN), *call.plain)
    settings = (*call.named.items(), *call.extra.items())
    return Op(outs, L.CALL, operands, settings, op.reads, op.writes, op.origin)
