"""Writes under indices that may name an element twice, turned round.

u[i] = v               v_bar gets u_bar[i], but only where v was the last that was written
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
from s2sad.linear.memory_parts import parts_of_index
from s2sad.linear.operands import kind_of
from s2sad.linear.tangent_table import NotYet, Tangents
from s2sad.primitives import language as L


def may_repeat(index: Operand, makers: Mapping[Var, Op]) -> bool:
    """Say whether an index may name an element twice."""
    return any(
        isinstance(k, K.List) or (isinstance(k, K.Array) and k.dtype != "bool")
        for k in parts_of_index(index, makers)
    )


def of_last_writes(t: Tangents, value: Operand, buffer: Var, index: Operand) -> Var:
    """Return the cotangent of what was written under an index: what did not stay has none."""
    whole, kind = buffer.kind, kind_of(value)
    if not isinstance(whole, K.Array) or whole.namespace != "numpy":
        raise NotYet("a write on a device under an index that may repeat")
    dims = kind.dims if isinstance(kind, K.Array) else ()
    given = (buffer, t.index(index, as_argument=True))
    mask = t.call(t.table.helper(runtime.last_writes), given, K.Array("bool", dims))
    return t.emit(L.INFIX["Mult"], (value, mask), binary_kind(gast.Mult, kind, mask.kind))
