"""Lists whose items come from others, turned round where cotangents go by name.

    ys = xs[1:]        xs_bar[1:] has ys_bar added, item by item
    ys = list(x)       x_bar += np.array(ys_bar)
    zs = xs + ys       xs_bar += zs_bar[: len(xs)]; ys_bar += zs_bar[len(xs) :]
    zs = xs * n        xs_bar has each part of zs_bar added that is as long as xs

A new list of numbers, or of arrays that nobody writes, has a cotangent of its own: two lists that
hold one such value share nothing that matters. Of other lists the items are known by two names.
"""

from __future__ import annotations

from s2sad import kinds as K
from s2sad.emitted import held_numbers
from s2sad.ir import program as P
from s2sad.ir.identities import function_of
from s2sad.ir.program import Op, Operand, Place, Var
from s2sad.linear.by_identity import act
from s2sad.linear.cotangents_of import Bar, Cotangents, bar_name
from s2sad.linear.operands import kind_of
from s2sad.linear.part_by_part import add_into, array_in, kinds_of
from s2sad.linear.sweep_state import Sweep, value_of
from s2sad.linear.tangent_table import NOTHING, Table, tangent_kind
from s2sad.linear.turned_slots import length_at, slice_of
from s2sad.linear.unwritten import is_done
from s2sad.primitives import language as L

_DOUBLE = ("float64", "complex128")


def makes_list(op: Op, sweep: Sweep, table: Table) -> bool:
    """Say whether an operation makes a list of values that come from others."""
    if len(op.outs) != 1 or op.outs[0] not in sweep.values or op.settings:
        return False
    v = sweep.values[op.outs[0]]
    if not isinstance(v.kind, K.List) or not holds_values(v, table):
        return False
    given = [sweep.values[o] for o in op.operands if isinstance(o, Var) and o in sweep.values]
    if any(K.is_container(g.kind) and not holds_values(g, table) for g in given):
        return False
    kinds = [g.kind for g in given]
    match op.primitive.form:
        case "item":
            one = isinstance(kind_of(op.operands[1]), K.Num)
            return not one and isinstance(kinds[0], K.List) and not picks_arrays(op, sweep, table)
        case "infix":
            lists = [isinstance(kind_of(o), K.List) for o in op.operands]
            return all(lists) if op.primitive.word == "Add" else any(lists)
        case "call" if function_of(op.operands[0]) is list and len(op.operands) == 2:
            return all(isinstance(k, K.List | K.Tuple) or _is_vector(k) for k in kinds)
    return False


def picks_arrays(op: Op, sweep: Sweep, table: Table) -> bool:
    """Say whether a slice of a list of arrays is only read array by array, and neither changes.

    The shadows of its items are those of the list's: what is added to one in place, both have.
    """
    both = [sweep.values.get(v) for v in (*op.outs, op.operands[0]) if isinstance(v, Var)]
    known = [v for v in both if v is not None]
    arrays = [array_in(kinds_of(table, v)) for v in known]
    shaped = all(array is not None and array.rank for array in arrays)
    plain = shaped and len(known) == 2 and all(_is_item(o, op.outs[0]) for o in sweep.written.order)
    return plain and all(is_done(sweep, v, op) for v in known)


def _is_item(op: P.Operation, dot: Var) -> bool:
    """Say whether an operation reads one item of a list, if it meets that at all."""
    ends = [r for b in P.blocks(op) for r in b.end.results] if not isinstance(op, Op) else []
    if dot not in map(P.variable, (*P.operands(op), *ends)):
        return True
    return (
        isinstance(op, Op) and op.primitive is L.ITEM and isinstance(kind_of(op.operands[1]), K.Num)
    )


def holds_values(v: Var, table: Table) -> bool:
    """Say whether a list or a tuple holds numbers, or arrays that nobody writes, at any time."""
    kinds = kinds_of(table, v)
    parts = [k for kind in kinds for k in K.together(kind)]
    arrays = v not in table.facts.filled and (v.name or not table.facts.filled)
    plain = (K.Num, K.Array, K.Unbound) if arrays else (K.Num, K.Unbound)
    return bool(kinds) and all(isinstance(k, plain) for k in parts)


def _is_vector(kind: K.Kind) -> bool:
    return isinstance(kind, K.Array) and kind.rank == 1 and kind.dtype in _DOUBLE


def turned_list(sweep: Sweep, op: Op, acc: Cotangents) -> None:
    """Give those whose items a list was made of what the cotangent of the list has for them."""
    (out,), t = op.outs, acc.t
    acc.unborn.discard(out)
    bar = acc.of.pop(out, None)
    if bar is None:
        return
    value = value_of(bar)
    if op.primitive.form == "item":
        _back_into(op, value, acc)
        return
    if op.primitive.form == "call":
        _give(sweep, op.operands[1], bar, acc)
        return
    left, right = op.operands
    if op.primitive.word == "Mult":
        given = left if left in sweep.values else right
        if isinstance(given, Var) and given in sweep.values:
            count = length_at(sweep, given, op, acc)
            act(t, held_numbers.add_repeated, (acc.buffer(given), value, count), K.NONE)
        return
    if left in sweep.values:
        start = length_at(sweep, left, op, acc)
    else:
        both = [length_at(sweep, o, op, acc) for o in (out, right)]
        start = t.emit(L.INFIX["Sub"], both, K.INT)
    for given, first, behind in ((left, NOTHING, start), (right, start, NOTHING)):
        if given in sweep.values:
            cut = slice_of(first, behind, t)
            items = t.emit(L.ITEM, (value, cut), tangent_kind(kind_of(value)))
            _give(sweep, given, Bar(items, bar.own), acc)


def _give(sweep: Sweep, given: Operand, bar: Bar, acc: Cotangents) -> None:
    """Give all items of a list, a tuple or a vector their cotangents, which stand in a list."""
    if not isinstance(given, Var) or given not in sweep.values:
        return
    kind = sweep.values[given].kind
    if isinstance(kind, K.Array):
        array = acc.t.table.numpy("array", kind)
        acc.add(given, Bar(acc.t.call(array, (value_of(bar),), kind), True))
    elif isinstance(kind, K.Tuple):
        value, parts = value_of(bar), P.Outer("tuple", K.Known(tuple))
        if isinstance(value, Var) and not value.name:
            acc.words.setdefault(value, bar_name(sweep.values[given]))
        acc.add(given, Bar(acc.t.call(parts, (value,), tangent_kind(kind))))
    else:
        acc.add(given, bar)


def _back_into(op: Op, value: Operand, acc: Cotangents) -> None:
    """Add the cotangent of a slice to that part of the list's."""
    owner, index = op.operands
    assert isinstance(owner, Var)
    t, shadow = acc.t, acc.buffer(owner)
    items = t.emit(L.ITEM, (shadow, t.index(index)), tangent_kind(acc.value(owner).kind))
    add_into(t, items, value, None)
    at = t.index(index)
    places = (Place(shadow, (P.Item(at),)),)
    t.add(Op((), L.PUT_ITEM, (shadow, at, items), (), (), places, t.origin))
