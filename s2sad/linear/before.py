"""What a structure was before an operation changes it, where the operation is turned round.

xs[a:b] = ys           count = len(xs), to know how many items the slice had
table.clear()          held = table.copy(), to know which entries there were
table.pop(k, 0.0)      there = k in table, to know whether there was one
"""

from __future__ import annotations

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Var
from s2sad.linear.by_identity import holds_numbers
from s2sad.linear.operands import kind_of
from s2sad.linear.tangent_table import Tangents
from s2sad.primitives import language as L


def before(t: Tangents, op: Op) -> tuple[tuple[str, Operand], ...]:
    """Add what looks at a structure before an operation, and return what has been seen."""
    owner = op.operands[0] if op.operands else None
    if not isinstance(owner, Var) or not t.has(owner):
        return ()
    kind, form, word = K.without_none(owner.kind), op.primitive.form, op.primitive.word
    if not K.is_container(kind) or not holds_numbers(kind):
        return ()
    if isinstance(kind, K.List):
        sliced = form in ("put item", "drop item") and not _is_one(op.operands[1])
        if sliced or form == "augmented" or (form == "method" and word in ("clear", "extend")):
            return (("count", t.call(P.Outer("len", K.Known(len)), (owner,), K.INT)),)
    elif form == "method" and word == "clear":
        return (("held", t.emit(L.method("copy"), (owner,), kind)),)
    elif form == "method" and word in ("get", "pop"):
        return (("there", t.emit(L.compare("In"), (op.operands[1], owner), K.BOOL)),)
    return ()


def _is_one(index: Operand) -> bool:
    return isinstance(kind_of(index), K.Num)
