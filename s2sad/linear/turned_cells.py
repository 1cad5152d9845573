"""Cells turned round: variables that an inner function, or a try, binds.

    look x_dot of c_dot        c_bar gets x_bar
    bind c_dot, v_dot          v_bar gets c_bar, and there is no c_bar any more

The cotangent of a cell is one variable of the backward sweep: that of what the cell holds at the
time. Where it holds arrays, the number 0.0 stands for zeros of any shape. Memory that is followed
by identity has its cotangent elsewhere: of the cell nothing is left to say.
"""

from __future__ import annotations

from collections.abc import Mapping

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Var
from s2sad.kinds import Kind
from s2sad.linear.by_identity import Shadows, is_memory
from s2sad.linear.cotangents_of import Bar, Cotangents
from s2sad.linear.operands import kind_of
from s2sad.linear.sweep_state import Sweep, value_of
from s2sad.linear.tangent_table import Table
from s2sad.primitives import language as L


def with_contents(
    block: P.Block, values: Mapping[Var, Var], shadows: Shadows | None, table: Table
) -> dict[Var, Var]:
    """Return the variables by their tangents, each cell with the kind of what it holds."""
    held: dict[Var, list[Var]] = {dot: [] for dot, v in values.items() if v.cell}
    for op in P.every(block):
        if not isinstance(op, Op) or op.primitive.form not in ("look", "bind"):
            continue
        dot, *_ = op.operands
        if isinstance(dot, Var) and dot in held:
            found = [values.get(v) for v in map(P.variable, (*op.outs, *op.operands[1:])) if v]
            held[dot] += [v for v in found if v is not None]
    made = dict(values)
    for dot, contents in held.items():
        kind = _content(values[dot], contents, shadows, table)
        made[dot] = Var(values[dot].name, kind, True)
    return made


def _content(cell: Var, contents: list[Var], shadows: Shadows | None, table: Table) -> Kind:
    """Return the kind of what a cell holds: none where it holds memory alone, found by identity."""
    if shadows is not None:
        contents = [v for v in contents if not is_memory(v.kind)]
    kinds = [v.kind for v in contents]
    if not kinds:
        return K.NONE
    alike = len({K.is_complex(k) for k in kinds}) == 1
    if alike and all(isinstance(k, K.Num) and K.differentiable(k) for k in kinds):
        return K.erase_value(kinds[0])
    if alike and all(isinstance(k, K.Array) and K.differentiable(k) for k in kinds):
        return K.UNKNOWN
    other = next((k for k in kinds if not K.is_numeric(k)), kinds[0])
    raise table.cannot(
        next((at for at in map(table.binds, contents) if at is not None), None),
        f"Only the running program knows in which order `{cell.name}` is bound here (in a try, or "
        f"by an inner function), and it may be {K.describe(other)}: s2sad cannot follow its "
        "derivative.",
        f"Bind `{cell.name}` before the try or in a try of its own, or use another name there.",
    )


def turned_cell(sweep: Sweep, op: Op, acc: Cotangents) -> None:
    """Turn round what looks at a cell, binds it, or forgets what it holds."""
    cell, *given = op.operands
    assert isinstance(cell, Var)
    if op.primitive is L.LOOK:
        (out,) = op.outs
        bar = None if acc.is_shadowed(out) else acc.of.pop(out, None)
        if bar is not None:
            acc.add(cell, bar)
        return
    bar = acc.of.pop(cell, None)
    if op.primitive is L.FORGET:
        return
    (value,) = given
    if not isinstance(value, Var) or value not in sweep.values:
        return
    v = sweep.values[value]
    if acc.shadows is not None and is_memory(v.kind):
        if not acc.is_shadowed(value):
            acc.add(value, Bar(acc.shadows.taken(acc.t, v), True))
    elif bar is not None:
        acc.add(value, Bar(_shaped(value_of(bar), v, acc)))


def _shaped(value: Operand, like: Var, acc: Cotangents) -> Operand:
    """Return the cotangent of an array, where 0.0 may stand for zeros."""
    if not isinstance(like.kind, K.Array) or isinstance(kind_of(value), K.Array):
        return value
    t = acc.t
    zeros = t.call(t.table.numpy("zeros_like", like.kind), (like,), like.kind)
    return t.emit(L.INFIX["Add"], (zeros, value), like.kind)
