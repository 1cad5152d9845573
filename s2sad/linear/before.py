"""What a structure was before an operation changes it, where the operation is turned round.

xs[a:b] = ys           count = len(xs), to know how many items the slice had
table.clear()          held = table.copy(), to know which entries there were
table.pop(k, 0.0)      there = k in table, to know whether there was one
rows[i] = y            stood = rows[i], to make zeros like that array
table[k] = y           there = k in table, where kinds do not tell
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
    if isinstance(kind, K.AnyDict) and form == "put item":
        return _new(t, op, owner)
    if isinstance(kind, K.List) and form == "put item" and _are_arrays(kind, op):
        return (("stood", t.emit(L.ITEM, (owner, t.index(op.operands[1])), kind.item)),)
    if not K.is_container(kind) or not holds_numbers(kind):
        return ()
    if isinstance(kind, K.List):
        sliced = form in ("put item", "drop item") and not _is_one(op.operands[1])
        if sliced or form == "augmented" or (form == "method" and word in ("clear", "extend")):
            return (("count", t.call(P.Outer("len", K.Known(len)), (owner,), K.INT)),)
    elif not isinstance(kind, K.AnyDict):
        return ()
    elif form == "method" and word == "clear":
        return (("held", t.emit(L.method("copy"), (owner,), kind)),)
    elif form == "method" and word in ("get", "pop"):
        return (("there", _there(t, op, owner)),)
    return ()


def _new(t: Tangents, op: Op, owner: Var) -> tuple[tuple[str, Operand], ...]:
    """Say whether an entry that is written was there before, unless it surely was."""
    known = t.table.facts.analysed.kinds.before.get(op.origin, {}).get(owner.name)
    key = getattr(kind_of(op.operands[1]), "value", K.MISSING)
    if not isinstance(known, K.Dict) or key is K.MISSING:
        return (("there", _there(t, op, owner)),)
    return () if key in known.steps else (("there", P.Const(False)),)


def _there(t: Tangents, op: Op, owner: Var) -> Var:
    return t.emit(L.compare("In"), (op.operands[1], owner), K.BOOL)


def _are_arrays(kind: K.List, op: Op) -> bool:
    """Say whether an array comes into a list in the place of another one."""
    every = (*K.together(kind), dict(op.settings).get("part"))
    arrays = all(isinstance(k, K.Array) and K.differentiable(k) for k in every)
    return arrays and _is_one(op.operands[1])


def _is_one(index: Operand) -> bool:
    return isinstance(kind_of(index), K.Num)
