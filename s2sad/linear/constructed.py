"""The tangents of objects: objects of the same class that hold the tangents of the fields."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from s2sad import kinds as K
from s2sad import registry, runtime
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Var
from s2sad.kinds import Kind
from s2sad.known.signature import by_position
from s2sad.linear.operands import kind_of
from s2sad.linear.rule_refusals import label_of
from s2sad.linear.tangent_table import Tangents, tangent_kind
from s2sad.linear.zero_tangents import nothing, part, tangent_of
from s2sad.primitives import language as L


def constructed(
    t: Tangents,
    out: Var,
    callee: Operand,
    args: Sequence[Operand],
    named: Sequence[tuple[str, Operand]],
) -> None:
    """Give an object that a class, or `object_of`, has made its tangent."""
    kind = out.kind
    known = kind_of(callee)
    fn = known.value if isinstance(known, K.Known) else None
    if isinstance(kind, K.Tuple) and kind.cls is fn and kind.cls is not None:
        given = {**dict(zip(K.names_of(kind), args, strict=False)), **dict(named)}
        parts = [
            tangent_of(t, given[f]) if f in given else nothing(t, part(t, out, kind, i), item)
            for i, (f, item) in enumerate(zip(K.names_of(kind), kind.items, strict=True))
        ]
        t.give(out, t.emit(L.TUPLE, parts, K.Tuple(kind.items)))
        return
    if not isinstance(kind, K.Obj):
        raise t.without_rule(*registry.missing(fn, label_of(fn)))
    if fn is runtime.object_of:
        given, cls = dict(named), args[0]
    elif dataclasses.is_dataclass(fn):
        given = {**dict(zip(by_position(fn), args, strict=False)), **dict(named)}
        cls = callee
    elif fn is kind.cls and vars(kind.cls).get("__init__") is None and not kind.fields:
        given, cls = {}, callee
    else:
        raise t.without_rule(*registry.missing(fn, label_of(fn)))
    fields = [
        (
            f,
            tangent_of(t, given[f])
            if f in given
            else nothing(t, t.emit(L.field(f), (out,), field), field),
        )
        for f, field in kind.fields
    ]
    object_with(t, out, cls, fields)


def replaced(
    t: Tangents, out: Var, owner: Operand, given: Sequence[tuple[str, Operand]], kind: Kind
) -> None:
    """Give p._replace(a=x), or replace(p, a=x), its tangent: the other fields are those of p."""
    held, named = tangent_of(t, owner) if t.has(owner) else None, dict(given)
    fields: list[tuple[str, Operand]] = []
    for i, f in enumerate(K.names_of(kind)):
        if f in named:
            fields.append((f, tangent_of(t, named[f])))
            continue
        take, at = (L.ITEM, (P.Const(i),)) if isinstance(kind, K.Tuple) else (L.field(f), ())
        part = t.emit(take, (out, *at), kind.inside[i])
        if held is None:  # what is replaced is constant
            fields.append((f, tangent_of(t, part)))
            continue
        t.of[part] = dot = t.emit(take, (held, *at), tangent_kind(part.kind))
        fields.append((f, dot))
    if isinstance(kind, K.Tuple):
        t.give(out, t.emit(L.TUPLE, [v for _, v in fields], K.Tuple(kind.items)))
        return
    cls = t.call(P.Outer("type", K.Known(type)), (owner,), K.UNKNOWN)
    object_with(t, out, cls, fields)


def object_with(t: Tangents, out: Var, cls: Operand, fields: Sequence[tuple[str, Operand]]) -> None:
    """Give a value a tangent that is an object of a class with some fields."""
    helper = t.table.helper(runtime.object_of)
    dot = t.bind(out)
    t.add(Op((dot,), L.CALL, (helper, cls), tuple(fields), (), (), t.origin))
