"""What stands in structures, turned round where cotangents are found by identity.

    xs = [s, row]      s_bar += twin_of(shadows, xs)[0]; row_bar is that of what stands there
    s = xs[i]          twin_of(shadows, xs)[i] += s_bar
    p = pairs[i]       twin_of(shadows, pairs)[i] = more(twin_of(shadows, pairs)[i], (s_bar, None))

A *slot* is the place of a number in the shadow of a structure, or of a tuple that holds numbers.
Memory has no slot: the value tells what its cotangent is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from s2sad import kinds as K
from s2sad.emitted import held_numbers
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Place, Var
from s2sad.kinds import Kind
from s2sad.linear.by_identity import (
    Shadows,
    act,
    holds_numbers,
    is_memory,
    is_structure,
    may_be_either,
    parts_below,
)
from s2sad.linear.cotangents_of import Bar, Cotangents
from s2sad.linear.operands import kind_of
from s2sad.linear.part_by_part import put_field
from s2sad.linear.sweep_state import Sweep, value_of
from s2sad.linear.tangent_table import NOTHING, NotYet, Tangents, tangent_kind
from s2sad.linear.zero_tangents import part
from s2sad.primitives import language as L
from s2sad.primitives.record import Primitive

Read = Callable[[], Operand]
"""Adds what reads a value where it is wanted, and gives it."""


def fetch(
    sweep: Sweep, operand: Operand, slot: Read | None, acc: Cotangents, shadows: Shadows
) -> None:
    """Add to the cotangent of what has been put into a structure."""
    if not isinstance(operand, Var) or operand not in sweep.values or operand in shadows.dots:
        return
    v = sweep.values[operand]
    bar = _fetched(lambda: v, v.kind, slot, acc, shadows)
    if bar is not None:
        acc.add(operand, bar)


def _fetched(
    v: Read, kind: Kind, slot: Read | None, acc: Cotangents, shadows: Shadows
) -> Bar | None:
    """Return the cotangent of what stands in a structure; without a slot, of its memory alone."""
    if not K.differentiable(kind) or is_structure(kind):
        return None
    if is_memory(kind):
        return Bar(shadows.taken(acc.t, v()), True)
    if isinstance(K.without_none(kind), K.Num):
        return None if slot is None else Bar(slot())
    if may_be_either(kind):
        found = P.Const(0.0) if slot is None else slot()
        given = (shadows.table, v(), found)
        return Bar(act(acc.t, held_numbers.taken_from_picture, given, tangent_kind(kind)), True)
    if not isinstance(kind, K.Tuple):
        raise NotYet(f"{K.describe(kind)} in a structure")
    value, t = v(), acc.t
    inner = slot() if slot is not None and holds_numbers(kind) else None
    parts: list[Bar | None] = []
    for i, k in enumerate(kind.items):

        def read(i: int = i) -> Operand:
            return part(t, value, kind, i)

        def held(i: int = i, k: Kind = k) -> Operand:
            assert inner is not None
            return t.emit(L.ITEM, (inner, P.Const(i)), tangent_kind(k))

        parts.append(_fetched(read, k, None if inner is None else held, acc, shadows))
    return Bar(None, parts=tuple(parts)) if any(parts) else None


def fetch_items(
    sweep: Sweep, operand: Operand, items: Operand, acc: Cotangents, shadows: Shadows
) -> None:
    """Add to the cotangents of all that has been put into a list: the `items` of its shadow.

    Where the list holds no numbers there are none.
    """
    if not isinstance(operand, Var) or operand not in sweep.values:
        return
    t, v = acc.t, sweep.values[operand]
    if isinstance(v.kind, K.List):
        if items != NOTHING and holds_numbers(v.kind):
            act(t, held_numbers.add_items, (shadows.of(t, v), items), K.NONE)
    elif isinstance(v.kind, K.Tuple):
        fetch(sweep, operand, lambda: items, acc, shadows)
    elif isinstance(v.kind, K.Array) and v.kind.rank == 1:
        numbers = t.call(t.table.numpy("array", v.kind), (items,), tangent_kind(v.kind))
        acc.add(operand, Bar(numbers, True))
    elif isinstance(v.kind, K.Array):
        fetch(sweep, operand, None, acc, shadows)
    elif isinstance(v.kind, K.Iterable_) and operand in sweep.makers:
        _through(sweep, sweep.makers[operand], items, acc, shadows)
    elif not isinstance(v.kind, K.AnyDict):  # of a dict these are the keys
        raise NotYet(f"{K.describe(v.kind)} that comes into a list")


def _through(sweep: Sweep, made: Op, items: Operand, acc: Cotangents, shadows: Shadows) -> None:
    """Add to what an iterable goes through: a list backward, or what a dict holds."""
    t, word, owner = acc.t, made.primitive.word, made.operands[-1]
    if not isinstance(owner, Var) or owner not in sweep.values:
        raise NotYet("an iterable that comes into a list")
    source = sweep.values[owner]
    if made.primitive.form == "method" and word in ("values", "items"):
        if items != NOTHING and holds_numbers(source.kind):
            pairs = P.Const(word == "items")
            seen = sweep.as_it_was(source, made, t)
            act(t, held_numbers.add_values, (shadows.of(t, source), items, seen, pairs), K.NONE)
    elif made.primitive is L.CALL and isinstance(source.kind, K.List):
        if items != NOTHING and holds_numbers(source.kind):
            back = (NOTHING, NOTHING, P.Const(-1))
            turned = t.call(P.Outer("slice", K.Known(slice)), back, K.UNKNOWN)
            act(t, held_numbers.add_items, (shadows.of(t, source), items, turned), K.NONE)
    else:
        raise NotYet("an iterable that comes into a list")


def passed(v: Read, kind: Kind, bar: Bar | None, acc: Cotangents) -> Operand:
    """Add the cotangent of what stands in a structure to that of its memory.

    Return what its slot gets: a number, or a tuple of numbers and None; None where there is none.
    """
    left = None if bar is None else acc.without_memory(bar, v, kind)
    return NOTHING if left is None else _of_slot(left, kind, acc)


def _of_slot(bar: Bar, kind: Kind, acc: Cotangents) -> Operand:
    if not isinstance(kind, K.Tuple):
        return value_of(bar)
    parts = zip(acc.apart(bar, kind), kind.items, strict=True)
    found = [nothing_in(k, acc) if p is None else _of_slot(p, k, acc) for p, k in parts]
    return acc.t.emit(L.TUPLE, found, tangent_kind(kind))


def memory_of(dot: Operand, acc: Cotangents, shadows: Shadows) -> Bar | None:
    """Return the cotangent of the memory that a value is or holds, which is found by identity."""
    if not isinstance(dot, Var) or dot not in acc.values or dot in shadows.dots:
        return None
    v = acc.values[dot]
    if not any(map(is_memory, (v.kind, *parts_below(v.kind)))):
        return None
    return _fetched(lambda: v, v.kind, None, acc, shadows)


def complete(dot: Var, acc: Cotangents) -> Bar | None:
    """Return the cotangent of a value, of a tuple with that of its memory; it has none any more.

    So tuples are made, and cross calls.
    """
    bar = acc.of.pop(dot, None)
    if acc.shadows is None or not acc.shows_memory(dot):
        return bar
    found = memory_of(dot, acc, acc.shadows)
    both = bar and found and acc.summed(bar, found, acc.values[dot].kind)
    return both or bar or found


def made_by_rule(sweep: Sweep, dot: Var, op: Op, acc: Cotangents) -> Bar | None:
    """Return the cotangent of what a rule gives, with those of structures as they were made.

    It has none any more.
    """
    v, shadows = acc.values.get(dot), acc.shadows
    if shadows is None or v is None or not any(map(is_structure, (v.kind, *parts_below(v.kind)))):
        return complete(dot, acc) if acc.shows_memory(dot) else acc.taken(dot)
    sweep.look(v, acc.t, shadows, op)
    return with_structures(dot, acc) if isinstance(v.kind, K.Tuple) else acc.taken(dot)


def with_structures(dot: Var, acc: Cotangents) -> Bar | None:
    """Return the cotangent of a tuple, with those of the structures that it has been seen to hold.

    It has none any more.
    """
    v, shadows, bar = acc.values[dot], acc.shadows, complete(dot, acc)
    assert shadows is not None
    found = _structures(shadows.picture(acc.t, v), v.kind, acc, shadows)
    both = bar and found and acc.summed(bar, found, v.kind)
    return both or bar or found


def _structures(seen: Operand, kind: Kind, acc: Cotangents, shadows: Shadows) -> Bar | None:
    """Return the cotangents of the structures that have been seen in a value."""
    if not K.differentiable(kind):
        return None
    if is_structure(kind):
        given = (shadows.table, seen)
        return Bar(act(acc.t, held_numbers.taken_from_picture, given, tangent_kind(kind)), True)
    if not isinstance(kind, K.Tuple):
        return None
    items = [acc.t.emit(L.ITEM, (seen, P.Const(i)), K.UNKNOWN) for i in range(len(kind.items))]
    pairs = zip(items, kind.items, strict=True)
    parts = tuple(_structures(item, k, acc, shadows) for item, k in pairs)
    return Bar(None, parts=parts) if any(parts) else None


def hand_over(taker: Operand, source: Operand, acc: Cotangents) -> None:
    """Give a value the cotangent of its memory where what takes it has that by identity."""
    if acc.shadows is not None and isinstance(taker, Var) and taker in acc.values:
        if acc.is_shadowed(taker) or acc.shows_memory(taker):
            plain = isinstance(source, Var) and not acc.shows_memory(source)
            found = memory_of(source, acc, acc.shadows) if plain else None
            if found is not None:
                acc.add(source, found)


def add_to_slot(
    shadow: Var, kind: Kind, read: Primitive, steps: Sequence[Operand], value: Operand, t: Tangents
) -> None:
    """Add to a slot of a shadow what stands there gets."""
    if isinstance(kind, K.Num) and read is L.ITEM:
        at = t.index(steps[0])
        places = (Place(shadow, (P.Item(at),)),)
        t.add(Op((), L.AUGMENTED_ITEM["Add"], (shadow, at, value), (), (), places, t.origin))
        return
    held = t.emit(read, (shadow, *map(t.index, steps)), kind)
    new = t.call(t.table.helper(held_numbers.more), (held, value), kind)
    put_slot(shadow, read, steps, new, t)


def put_slot(
    shadow: Var, read: Primitive, steps: Sequence[Operand], value: Operand, t: Tangents
) -> None:
    """Put something into a slot of a shadow."""
    where = [*map(t.index, steps)]
    if not where:
        put_field(t, shadow, shadow.kind, read.word, value)
        return
    given, places = (shadow, *where, value), (Place(shadow, (P.Item(where[0]),)),)
    t.add(Op((), L.PUT_ITEM, given, (), (), places, t.origin))


def nothing_in(kind: Kind, acc: Cotangents) -> Operand:
    """Return what a slot holds for a value of a kind without a cotangent."""
    kind = K.without_none(kind)
    if isinstance(kind, K.Tuple):
        parts = [nothing_in(k, acc) for k in kind.items]
        return acc.t.emit(L.TUPLE, parts, tangent_kind(kind))
    if isinstance(kind, K.Num) and kind.type == "complex":
        return P.Const(0j)
    if isinstance(kind, K.Unbound | K.Num):  # what is empty, or holds integers, may get numbers
        return P.Const(0.0)
    return NOTHING if is_memory(kind) or not K.differentiable(kind) else P.Const(0.0)


def nothing_inside(whole: Kind, acc: Cotangents) -> Operand:
    """Return what a slot of a list holds without a cotangent."""
    return nothing_in(K.union(K.together(whole)), acc)


def put_in(shadow: Var, at: tuple[Operand, ...], value: Operand, acc: Cotangents) -> None:
    """Put into a shadow what was taken out of its list.

    A place that is counted from the end is another one where the item is missing.
    """
    t, out, places = acc.t, Var("", K.NONE), (Place(shadow, (P.Anywhere(),)),)
    if at and not _is_at_least_0(at[0]):
        act(t, held_numbers.put_back, (shadow, *at, value), K.NONE)
        return
    put = L.method("insert" if at else "append")
    t.add(Op((out,), put, (shadow, *at, value), (), places, places, t.origin))
    t.add(Op((), L.DISCARD, (out,), (), (), (), t.origin))


def put_out(shadow: Var, at: tuple[Operand, ...], stored: Operand, acc: Cotangents) -> Var:
    """Take the cotangent of what was `stored` in a list out of its shadow; return it."""
    v = acc.values.get(stored) if isinstance(stored, Var) else None
    known = v is not None and isinstance(v.kind, K.Num | K.Array)
    kind = tangent_kind(v.kind) if v is not None and known else K.UNKNOWN
    t, out, places = acc.t, Var("", kind), (Place(shadow, (P.Anywhere(),)),)
    if at and at != (P.Const(0),):  # a place behind the end is the end
        return act(t, held_numbers.taken_back, (shadow, *at), kind)
    t.add(Op((out,), L.method("pop"), (shadow, *at), (), places, places, t.origin))
    return out


def _is_at_least_0(at: Operand) -> bool:
    return isinstance(at, P.Const) and isinstance(at.value, int) and at.value >= 0


def is_slice(index: Operand) -> bool:
    """Say whether an index of a list names several items."""
    return not isinstance(kind_of(index), K.Num)


def length_at(sweep: Sweep, operand: Operand, op: Op, acc: Cotangents) -> Operand:
    """Return how many items something has at an operation."""
    v = sweep.values.get(operand, operand) if isinstance(operand, Var) else operand
    kind = kind_of(v)
    if isinstance(kind, K.Tuple):
        return P.Const(len(kind.items))
    if not isinstance(v, Var) or isinstance(kind, K.Iterable_):
        raise NotYet("what comes into a list, of unknown length")
    length = P.Outer("len", K.Known(len))
    if not sweep.written.after(op, v):
        return acc.t.call(length, (v,), K.INT)
    count = Var("", K.INT)
    sweep.copies.append(Op((count,), L.CALL, (length, v), (), (Place(v),), (), op.origin))
    return count


def slice_of(start: Operand, end: Operand, t: Tangents) -> Var:
    """Return a slice of a shadow; it goes on to the end where that is None."""
    out, told = Var("", K.UNKNOWN), (start != NOTHING, end != NOTHING, False)
    t.add(Op((out,), L.SLICE, (start, end, NOTHING), (("given", told),), (), (), t.origin))
    return out


def as_argument(sweep: Sweep, index: Operand, t: Tangents) -> Operand:
    """Return an index as it is given to a helper: slice(1, n)."""
    v = P.variable(index)
    made = sweep.makers.get(v) if v is not None else None
    if made is None or made.primitive is not L.SLICE:
        return index
    return t.call(P.Outer("slice", K.Known(slice)), made.operands, made.outs[0].kind)


def before(op: Op, word: str) -> Operand:
    """Return what an operation on tangents says of the structure as it was before."""
    found = dict(op.settings)[word]
    assert isinstance(found, Var)
    return found
