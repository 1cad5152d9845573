"""Methods of lists and dicts, turned round where cotangents are found by identity.

numbers.append(s)      s_bar += twin_of(shadows, numbers).pop()
s = numbers.pop(0)     twin_of(shadows, numbers).insert(0, s_bar)
s = table.get(k)       if k in table: twin_of(shadows, table)[k] += s_bar
"""

from __future__ import annotations

from s2sad import kinds as K
from s2sad import registry
from s2sad.emitted import held_numbers
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Var
from s2sad.kinds import Kind
from s2sad.linear.by_identity import Shadows, act, holds_numbers
from s2sad.linear.cotangents_of import Cotangents
from s2sad.linear.operands import kind_of
from s2sad.linear.sweep_state import Sweep
from s2sad.linear.tangent_table import NOTHING, NotYet, tangent_kind
from s2sad.linear.turned_slots import (
    as_argument,
    before,
    fetch,
    fetch_items,
    is_slice,
    nothing_in,
    nothing_inside,
    passed,
    put_in,
    put_out,
    put_slot,
)
from s2sad.primitives import language as L


def turned_method_of(sweep: Sweep, op: Op, acc: Cotangents, shadows: Shadows, whole: Kind) -> bool:
    """Turn round what a method of a structure does to its shadow, and what it gives."""
    if isinstance(whole, K.List):
        return _of_list(sweep, op, acc, shadows, whole)
    if isinstance(whole, K.AnyDict):
        _of_dict(sweep, op, acc, shadows)
        return True
    return False


def _of_list(sweep: Sweep, op: Op, acc: Cotangents, shadows: Shadows, whole: K.List) -> bool:
    owner, *given = op.operands
    word, t, numbers = op.primitive.word, acc.t, holds_numbers(whole)
    assert isinstance(owner, Var)
    effects = registry.effects_of(getattr(list, word, None))
    (out,) = op.outs
    if effects.writes == "puts" and word != "extend":
        *where, stored = given
        taken = put_out(acc.buffer(owner), tuple(where), stored, acc) if numbers else NOTHING
        fetch(sweep, stored, lambda: taken, acc, shadows)
    elif word == "extend":
        items: Operand = NOTHING
        if numbers:
            at = t.call(P.Outer("slice", K.Known(slice)), (before(op, "count"), NOTHING), K.UNKNOWN)
            grown = (acc.buffer(owner), at, before(op, "count"), P.Const(0.0))
            items = act(t, held_numbers.undo_slice, grown, tangent_kind(whole))
        fetch_items(sweep, given[0], items, acc, shadows)
    elif word == "pop":
        v = sweep.values.get(out)
        value: Operand = NOTHING
        if v is not None:
            value = passed(lambda: v, v.kind, acc.of.pop(out, None), acc)
        if numbers:
            kind = K.union(K.together(whole)) if v is None else v.kind
            value = nothing_in(kind, acc) if value == NOTHING else value
            put_in(acc.buffer(owner), tuple(given), value, acc)
    elif word == "clear" and numbers:
        everything = t.call(P.Outer("slice", K.Known(slice)), (NOTHING,), K.UNKNOWN)
        count = before(op, "count")
        rest = (acc.buffer(owner), everything, count, nothing_inside(whole, acc))
        act(t, held_numbers.undo_slice, rest, K.NONE)
    elif word == "copy" and numbers:
        both = (shadows.of(t, sweep.values[owner]), shadows.of(t, sweep.values[out]))
        act(t, held_numbers.add_items, both, K.NONE)
    elif word == "reverse" and numbers:
        return False
    elif numbers:
        raise NotYet(f"the method {word} of a list")
    return True


def _of_dict(sweep: Sweep, op: Op, acc: Cotangents, shadows: Shadows) -> None:
    owner, *given = op.operands
    word, t, (out,) = op.primitive.word, acc.t, op.outs
    assert isinstance(owner, Var)
    whole, v = sweep.values[owner].kind, sweep.values.get(out)
    numbers = holds_numbers(whole)
    bar, kind = acc.of.pop(out, None), K.NONE if v is None else v.kind
    if word == "copy" and v is not None:
        pass_entries(sweep, sweep.values[owner], v, op, acc)
        return
    if word in ("values", "items"):
        return  # what goes through them has been turned round
    if word == "clear":
        if numbers:
            act(t, held_numbers.undo_entries, (acc.buffer(owner), before(op, "held")), K.NONE)
        return
    if word not in ("get", "pop"):
        raise NotYet(f"the method {word} of a dict")
    value = NOTHING if v is None else passed(lambda: v, kind, bar, acc)
    known = len(given) == 1 and word == "pop"
    if numbers and word == "pop":
        back = nothing_inside(whole, acc) if value == NOTHING else value
        if known:
            put_slot(acc.buffer(owner), L.ITEM, given[:1], back, t)
        else:
            put = (acc.buffer(owner), before(op, "there"), given[0], back)
            act(t, held_numbers.put_entry, put, K.NONE)
    elif value != NOTHING:
        entry = (acc.buffer(owner), before(op, "there"), given[0], value)
        act(t, held_numbers.add_to_entry, entry, K.NONE)
    if len(given) > 1:
        fetch(sweep, given[1], lambda: _otherwise(before(op, "there"), value, acc), acc, shadows)


def _otherwise(there: Operand, value: Operand, acc: Cotangents) -> Operand:
    """Return what the value in the place of an entry gets: nothing where the entry is there."""
    if not isinstance(kind_of(value), K.Num):
        raise NotYet("a tuple in the place of an entry")
    out = Var("", kind_of(value))
    none, all_of = (P.Block((), (), P.End("next", (o,))) for o in (P.Const(0.0), value))
    acc.t.add(P.If((out,), there, none, all_of, "either", acc.t.origin))
    return out


def pass_entries(sweep: Sweep, source: Var, v: Var, op: Op, acc: Cotangents) -> None:
    """Pass on to a dict what its entries got in another one that was made of it."""
    t, shadows = acc.t, acc.shadows
    assert shadows is not None
    if not holds_numbers(v.kind):
        return
    held = sweep.as_it_was(source, op, t)
    act(t, held_numbers.add_entries, (shadows.of(t, source), shadows.of(t, v), held), K.NONE)


def turned_drop(sweep: Sweep, op: Op, acc: Cotangents, whole: Kind) -> None:
    """`del xs[i]` leaves out what has no cotangent from there on."""
    owner, *steps = op.operands
    assert isinstance(owner, Var)
    if not holds_numbers(whole):
        return
    t, shadow = acc.t, acc.buffer(owner)
    if not isinstance(whole, K.List):
        read = L.ITEM if steps else L.field(op.primitive.word)
        put_slot(shadow, read, steps, nothing_inside(whole, acc), t)
    elif is_slice(steps[0]):
        at, nothing = as_argument(sweep, steps[0], t), nothing_inside(whole, acc)
        act(t, held_numbers.undo_slice, (shadow, at, before(op, "count"), nothing), K.NONE)
    else:
        put_in(shadow, (steps[0],), nothing_inside(whole, acc), acc)
