"""Writes under indices that may name an element twice, turned round.

u[i] = v               v_bar gets u_bar[i], but only where v was the last that was written
u[i] = v, on a GPU     the same, but v may not be written twice: a GPU may keep either
u[i] += v              the same: NumPy adds to an element once, the last of the values
np.add.at(u, i, v)     v_bar gets u_bar[i]: each value is added
"""

from __future__ import annotations

from collections.abc import Mapping

import gast

from s2sad import kinds as K
from s2sad import runtime
from s2sad.facts.results import binary_kind
from s2sad.ir.program import Op, Operand, Var
from s2sad.known.lifted import space_among
from s2sad.known.spaces import NUMPY
from s2sad.linear.memory_parts import parts_of_index
from s2sad.linear.operands import kind_of
from s2sad.linear.tangent_table import Tangents
from s2sad.primitives import language as L


def may_repeat(index: Operand, makers: Mapping[Var, Op]) -> bool:
    """Say whether an index may name an element twice."""
    return any(
        isinstance(k, K.List) or (isinstance(k, K.Array) and k.dtype != "bool")
        for k in parts_of_index(index, makers)
    )


def of_last_writes(t: Tangents, value: Operand, buffer: Var, index: Operand) -> Var:
    """Return the cotangent of what was written under an index: what did not stay has none."""
    kind, space = kind_of(value), space_among([buffer.kind])
    dims = kind.dims if isinstance(kind, K.Array) else ()
    left = runtime.last_writes if space == NUMPY else runtime.written_once
    given = (buffer, t.index(index, as_argument=True))
    mask = t.call(t.table.helper(left, space), given, K.Array("bool", dims, space))
    return t.emit(L.INFIX["Mult"], (value, mask), binary_kind(gast.Mult, kind, mask.kind))
