"""Structures of numbers that change, turned round where cotangents go by name.

del table[k]           table_bar[k] = 0.0
y = table.get(k)       if k in table: table_bar[k] += y_bar
xs[a:b] = ys           ys_bar has those items of xs_bar added, and zeros stand there
xs.extend(ys)          the same, at the end

A number has no memory: all that its structure's cotangent holds of it stands in one place.
"""

from __future__ import annotations

from s2sad import kinds as K
from s2sad.emitted import held_numbers
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Place, Var
from s2sad.linear.by_identity import act, holds_numbers
from s2sad.linear.cotangents_of import Bar, Cotangents
from s2sad.linear.operands import kind_of
from s2sad.linear.part_by_part import kinds_of
from s2sad.linear.sweep_state import Sweep
from s2sad.linear.tangent_table import NOTHING, Table, tangent_kind
from s2sad.linear.turned_slots import (
    as_argument,
    before,
    is_slice,
    nothing_inside,
    put_in,
    put_slot,
)
from s2sad.primitives import language as L


def moves_numbers(op: Op, sweep: Sweep, table: Table) -> bool:
    """Say whether an operation changes, or asks, a structure of numbers in a way of this page."""
    owner = op.operands[0] if op.operands else None
    if not isinstance(owner, Var) or owner not in sweep.values:
        return False
    v = sweep.values[owner]
    if not _holds_numbers(v, table):
        return False
    form, word, is_list = op.primitive.form, op.primitive.word, isinstance(v.kind, K.List)
    gone = form == "drop item" or (form == "method" and word == "clear")
    if gone or (form == "method" and not is_list and word in ("get", "pop")):
        same = is_list or word == "get" or not sweep.may_be_given(v)  # a caller's dict has an order
        return same and (gone or _gives_number(op, sweep))
    if is_list and form == "put item":
        return is_slice(op.operands[1]) and _is_given(op.operands[2], sweep, table)
    grows = is_list and form == "method" and word == "extend"
    return grows and _is_given(op.operands[1], sweep, table)


def _holds_numbers(v: Var, table: Table) -> bool:
    """Say whether a list or a dict holds numbers alone, at any time."""
    kinds = kinds_of(table, v)
    known = all(isinstance(k, K.List | K.AnyDict) for k in kinds)
    inside = [part for k in kinds if known for part in K.together(k)]
    plain = all(isinstance(k, K.Num | K.Unbound) for k in inside)
    return bool(inside) and known and plain and holds_numbers(v.kind)


def _gives_number(op: Op, sweep: Sweep) -> bool:
    """Say whether what a method gives is a number, and what it gives in its place."""
    (out,) = op.outs
    found = sweep.values.get(out, out).kind
    others = op.operands[2:]
    return isinstance(found, K.Num) and all(isinstance(kind_of(o), K.Num) for o in others)


def _is_given(given: Operand, sweep: Sweep, table: Table) -> bool:
    """Say whether items that come into a list have no derivative, or are a list of numbers."""
    if not isinstance(given, Var) or given not in sweep.values:
        return not isinstance(kind_of(given), K.Iterable_)
    v = sweep.values[given]
    return isinstance(v.kind, K.List) and _holds_numbers(v, table)


def turned_numbers(sweep: Sweep, op: Op, acc: Cotangents) -> None:
    """Turn round what changes, or asks, a structure of numbers."""
    form, word, owner = op.primitive.form, op.primitive.word, op.operands[0]
    assert isinstance(owner, Var)
    whole, t = sweep.values[owner].kind, acc.t
    if form == "drop item":
        _dropped(sweep, op, acc)
    elif form == "put item":
        at, nothing = as_argument(sweep, op.operands[1], t), nothing_inside(whole, acc)
        undo = (acc.buffer(owner), at, before(op, "count"), nothing)
        _items_to(sweep, op.operands[2], act(t, held_numbers.undo_slice, undo, whole), acc)
    elif word == "extend":
        _grown(op, acc.buffer(owner), op.operands[1], acc, sweep)
    elif word == "clear" and isinstance(whole, K.List):
        everything = t.call(P.Outer("slice", K.Known(slice)), (NOTHING,), K.UNKNOWN)
        rest = (acc.buffer(owner), everything, before(op, "count"), nothing_inside(whole, acc))
        act(t, held_numbers.undo_slice, rest, K.NONE)
    elif word == "clear":
        act(t, held_numbers.undo_entries, (acc.buffer(owner), before(op, "held")), K.NONE)
    else:
        _asked(sweep, op, acc)


def _dropped(sweep: Sweep, op: Op, acc: Cotangents) -> None:
    """`del xs[i]` leaves out what has no cotangent from there on."""
    owner, index = op.operands
    assert isinstance(owner, Var)
    whole, t, shadow = sweep.values[owner].kind, acc.t, acc.buffer(owner)
    nothing = nothing_inside(whole, acc)
    if isinstance(whole, K.AnyDict):
        put_slot(shadow, L.ITEM, (index,), nothing, t)
    elif is_slice(index):
        given = (shadow, as_argument(sweep, index, t), before(op, "count"), nothing)
        act(t, held_numbers.undo_slice, given, K.NONE)
    else:
        put_in(shadow, (index,), nothing, acc)


def _grown(op: Op, shadow: Var, stored: Operand, acc: Cotangents, sweep: Sweep) -> None:
    """What was put at the end of a list gets its cotangents, and is there no more."""
    t, start = acc.t, before(op, "count")
    at = t.call(P.Outer("slice", K.Known(slice)), (start, NOTHING), K.UNKNOWN)
    given = (shadow, at, start, P.Const(0.0))
    _items_to(sweep, stored, act(t, held_numbers.undo_slice, given, shadow.kind), acc)


def _items_to(sweep: Sweep, stored: Operand, items: Var, acc: Cotangents) -> None:
    if isinstance(stored, Var) and stored in sweep.values:
        acc.add(stored, Bar(items, True))


def _asked(sweep: Sweep, op: Op, acc: Cotangents) -> None:
    """`table.get(k, y)` passes on to the entry, or to y where there is none; pop puts it back."""
    owner, key, *others = op.operands
    assert isinstance(owner, Var)
    (out,), t, shadow = op.outs, acc.t, acc.buffer(owner)
    bar = acc.of.pop(out, None)
    value: Operand = P.Const(0.0) if bar is None or bar.value is None else bar.value
    there = before(op, "there")
    if op.primitive.word == "pop" and not others:
        put_slot(shadow, L.ITEM, (key,), value, t)
        return
    popped = op.primitive.word == "pop"
    if bar is None and not popped:
        return
    with t.inside() as ops:
        at = t.index(key)
        places = (Place(shadow, (P.Item(at),)),)
        put = L.PUT_ITEM if popped else L.AUGMENTED_ITEM["Add"]
        t.add(Op((), put, (shadow, at, value), (), (), places, op.origin))
    given = [o for o in others if isinstance(o, Var) and o in sweep.values and bar is not None]
    outs = tuple(Var("", tangent_kind(sweep.values[o].kind)) for o in given)
    then = P.Block((), tuple(ops), P.End("next", tuple(P.Const(0.0) for _ in outs)))
    orelse = P.Block((), (), P.End("next", tuple(value for _ in outs)))
    t.add(P.If(outs, there, then, orelse, "if", op.origin))
    for o, made in zip(given, outs, strict=True):
        acc.add(o, Bar(made))
