"""Tangents of zero: like the value in structure, shape and dtype."""

from __future__ import annotations

from s2sad import kinds as K
from s2sad import registry, runtime
from s2sad.ir import program as P
from s2sad.ir.program import Operand, Var
from s2sad.kinds import Kind
from s2sad.known.mixed import is_mixed
from s2sad.linear.tangent_table import NOTHING, Tangents, tangent_kind
from s2sad.primitives import language as L

_NARROW = ("float16", "float32", "complex64")


def give_zeros(t: Tangents, v: Var) -> None:
    """Let a variable have a tangent of zero; parts that share memory have tangents that do."""
    if v in t.table.facts.written and memories_in(v.kind) > 1:
        table = t.emit(L.DICT, (), K.UNKNOWN)
        made = t.call(t.table.helper(runtime.twin_of), (table, v), tangent_kind(v.kind))
        t.table.zeros |= {table, made}
        t.give(v, made)
        return
    t.give(v, nothing(t, v, v.kind))


def memories_in(kind: Kind) -> int:
    """Return how many arrays and structures a value holds that may share memory; 2 for more."""
    if isinstance(kind, K.Array):
        return int(K.differentiable(kind))
    inner = [memories_in(k) for k in K.together(kind)]
    if kind.how == "option":
        return max(inner)
    many = kind.rest is not None
    return min(2, sum(inner) * (2 if many else 1)) or int(K.is_container(kind))


def tangent_of(t: Tangents, operand: Operand) -> Operand:
    """Return the tangent of an operand, zeros where it has none."""
    return t.maybe(operand) if t.has(operand) else nothing(t, operand, t.kind(operand))


def handed(t: Tangents, result: Operand, taker: Var) -> Operand:
    """Return the tangent of what a block hands over, of the kind of what takes it."""
    if isinstance(result, P.Unbound):
        return P.Unbound(t.table.names.dot(taker.name))
    if isinstance(result, Var) and not t.has(result):
        return zeros_like(t, result)
    return tangent_of(t, result)


def zeros_like(t: Tangents, v: Var) -> Operand:
    """Return zeros for a variable that nobody has to read here."""
    check_bound(t, v)
    return nothing(t, v, v.kind)


def check_bound(t: Tangents, v: Var) -> None:
    """Stop at a variable that may be unbound, where its zeros are made."""
    if v in t.table.facts.unbound and not isinstance(v.kind, K.Num):
        raise t.cannot(
            f"`{v.name}` has a derivative on some paths and may be unbound on others; s2sad "
            "needs a value on all paths.",
            f"Give `{v.name}` a value at the start.",
        )


def nothing(t: Tangents, value: Operand, kind: Kind) -> Operand:
    """Return zeros for a value of some kind: None for what has no derivative."""
    found = _zeros(t, value, kind)
    if isinstance(found, Var):
        t.table.zeros.add(found)
    return found


def _zeros(t: Tangents, value: Operand, kind: Kind) -> Operand:
    match kind:
        case K.Num():
            return _number(t, kind)
        case K.Array():
            if K.differentiable(kind):
                return t.call(t.table.numpy("zeros_like", kind), (value,), kind)
            lengths = K.Tuple((K.INT,) * kind.rank)
            shape = t.call(t.table.numpy("shape", kind), (value,), lengths)
            return t.call(t.table.numpy("zeros", kind), (shape,), tangent_kind(kind))
        case K.Tuple():
            parts = [nothing(t, part(t, value, kind, i), k) for i, k in enumerate(kind.items)]
            return t.emit(L.TUPLE, parts, K.Tuple(tuple(map(tangent_kind, kind.items))))
        case K.List() if isinstance(kind.item, K.Unbound):
            return t.emit(L.LIST, (), kind)
        case K.Str() | K.NoneKind() | K.Known() | K.LocalFunction():
            return NOTHING
        case K.Union() if len(K.carriers(kind)) == 1 and isinstance(K.carriers(kind)[0], K.Num):
            return nothing(t, value, K.carriers(kind)[0])
        case K.Union() if isinstance(K.without_none(kind), K.Tuple | K.Array):
            return t.call(t.table.helper(runtime.zeros_like), (value, P.Const(0.0)), kind)
        case K.Union() if is_mixed(kind) and K.is_numeric(kind):
            return t.call(t.table.numpy("zeros_like", kind), (value,), kind)
        case K.Union() if K.is_numeric(kind):
            return t.call(t.table.helper(runtime.zeros_like), (value, P.Const(0.0)), kind)
        case K.Unknown() if kind.cls is not None:
            return NOTHING  # an object of a class that has no derivative
        case K.Opaque():
            known = registry.objects_of(kind.cls)
            if known is None or known.zero is None:
                return NOTHING
            return t.call(t.table.helper(known.zero), (value,), kind)
        case K.Unknown() | K.Union() | K.Choice():
            raise t.undecided(kind)
    if K.is_container(kind):
        made = t.call(t.table.helper(runtime.zeros_like), (value, P.Const(0.0)), kind)
        return made
    return NOTHING


def part(t: Tangents, value: Operand, kind: K.Tuple, at: int) -> Operand:
    """Return an item of a tuple, or of an object that stands for one: that has names for them."""
    if kind.cls is not None:
        return t.emit(L.field(K.names_of(kind)[at]), (value,), kind.items[at])
    return t.emit(L.ITEM, (value, P.Const(at)), kind.items[at])


def _number(t: Tangents, kind: K.Num) -> Operand:
    if kind.dtype in _NARROW:
        return t.call(t.table.numpy(str(kind.dtype)), (P.Const(0.0),), kind)
    return P.Const(0j) if kind.type == "complex" else P.Const(0.0)
