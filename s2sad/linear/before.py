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
from s2sad.known.built import built_like
from s2sad.linear.by_identity import holds_numbers
from s2sad.linear.operands import kind_of
from s2sad.linear.tangent_table import Tangents
from s2sad.primitives import language as L
from s2sad.primitives.record import Primitive


def before(t: Tangents, op: Op) -> tuple[tuple[str, Operand], ...]:
    """Add what looks at a structure before an operation, and return what has been seen."""
    owner = op.operands[0] if op.operands else None
    if not isinstance(owner, Var) or not t.has(owner):
        return ()
    kind, form, word = K.without_none(owner.kind), op.primitive.form, op.primitive.word
    if isinstance(kind, K.AnyDict) and form == "put item":
        return _new(t, op, owner)
    if isinstance(kind, K.Obj) and form == "put field":
        old = dict(kind.fields).get(word)
        return _stood(t, op, L.field(word), ()) if _is_other_array(old, op) else ()
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
    if key not in known.steps:
        return (("there", P.Const(False)),)
    return _stood(t, op, L.ITEM, op.operands[1:2]) if _is_other_array(known.at(key), op) else ()


def _stood(
    t: Tangents, op: Op, read: Primitive, steps: tuple[Operand, ...]
) -> tuple[tuple[str, Operand], ...]:
    """Read the array in the place of which another one comes."""
    part = dict(op.settings)["part"]
    assert isinstance(part, K.Array)
    kind = K.Array(part.dtype, tuple(K.fresh_dim() for _ in part.dims), part.namespace)
    return (("stood", t.emit(read, (op.operands[0], *map(t.index, steps)), kind)),)


def _is_other_array(old: K.Kind | None, op: Op) -> bool:
    """Say whether an array comes in the place of another one that may be of another length."""
    part = dict(op.settings).get("part")
    both = isinstance(old, K.Array) and isinstance(part, K.Array) and K.differentiable(part)
    alike = both and old.rank == part.rank and old.dtype == part.dtype  # type: ignore[union-attr]
    return alike and not built_like(old, part)  # type: ignore[arg-type]


def _there(t: Tangents, op: Op, owner: Var) -> Var:
    return t.emit(L.compare("In"), (op.operands[1], owner), K.BOOL)


def _are_arrays(kind: K.List, op: Op) -> bool:
    """Say whether an array comes into a list in the place of another one."""
    every = (*K.together(kind), dict(op.settings).get("part"))
    arrays = all(isinstance(k, K.Array) and K.differentiable(k) for k in every)
    return arrays and _is_one(op.operands[1])


def _is_one(index: Operand) -> bool:
    return isinstance(kind_of(index), K.Num)
