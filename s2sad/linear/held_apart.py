"""Values that are stopped, where cotangents go by identity: memory is a copy.

h = u             (the source: h = stop_gradient(u))             held = u; h = held.copy()

By its memory it would be taken for what it was made of. Nobody may be able to tell that it is a
copy: what may be written later is copied at once, or refused.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Set

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir import rebuilt as R
from s2sad.ir.deeds import deed
from s2sad.ir.program import Op, Place, Var
from s2sad.ir.read_once import copied_at_once
from s2sad.linear.tangent_table import Table
from s2sad.primitives import language as L
from s2sad.runtime import private


def held_apart(
    ops: Iterable[P.Operation], table: Table, moving: Set[Var]
) -> tuple[P.Operation, ...]:
    """Return a forward sweep in which what is stopped shares no memory with what is `moving`."""
    stopped = table.facts.analysed.function.stopped.keys()
    if not stopped:
        return tuple(ops)

    def inner(block: P.Block) -> P.Block:
        return dataclasses.replace(block, ops=held_apart(block.ops, table, moving))

    done: list[P.Operation] = []
    for operation in ops:
        if not isinstance(operation, Op):
            done.append(R.with_blocks(operation, inner))
        elif _shares(operation, stopped) and moving & {*P.operands(operation)}:
            done += _copied(operation, table)
        else:
            done.append(operation)
    return tuple(done)


def _shares(op: Op, stopped: Set[str]) -> bool:
    """Say whether an operation binds a value that is stopped to memory that others know."""
    named = any(v.name in stopped for v in op.outs if v.name)
    return named and not K.shares_nothing(op.outs[0].kind) and not deed(op).fresh


def _copied(op: Op, table: Table) -> list[Op]:
    """Return an operation that binds a value that is stopped, and then one that copies it."""
    (out,) = op.outs
    program = table.facts.program
    if out in table.facts.written and not copied_at_once(program.block, out):
        raise table.cannot(
            op.origin,
            "stop_gradient is given memory here that is written in place.",
            "Stop a copy, or copy the result: stop_gradient(x).copy().",
        )
    held = Var("", out.kind)
    places = (Place(held, (P.Anywhere(),)),)
    made = Op((out,), L.method("copy"), (held,), (), places, (), op.origin)
    if not isinstance(out.kind, K.Array):
        given = (table.helper(private), held)
        made = Op((out,), L.CALL, given, (), places, (), op.origin)
    return [dataclasses.replace(op, outs=(held,)), made]
