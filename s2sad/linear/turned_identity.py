"""Operations on structures, turned round where cotangents are found by identity.

parts.append(y)        y_bar += take_from_shadow(twin_of(shadows, y))
z = parts[0]           nothing: the cotangent of z is that of what stands there
zs = xs + ys           the items of twin_of(shadows, zs) are added to those of xs, then of ys
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from s2sad import kinds as K
from s2sad.emitted import held_numbers
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Var
from s2sad.kinds import Kind
from s2sad.linear.by_identity import (
    Shadows,
    act,
    has_slot,
    holds_numbers,
    is_structure,
    lies_turned,
)
from s2sad.linear.cotangents_of import Bar, Cotangents
from s2sad.linear.fit import fit_stored
from s2sad.linear.memory_parts import copies
from s2sad.linear.sweep_state import Sweep
from s2sad.linear.tangent_table import NOTHING, NotYet, tangent_kind
from s2sad.linear.turned_memory import function_of, makes_object
from s2sad.linear.turned_methods import pass_entries, turned_drop, turned_method_of
from s2sad.linear.turned_slots import (
    add_to_slot,
    as_argument,
    before,
    fetch,
    fetch_items,
    is_slice,
    length_at,
    nothing_in,
    nothing_inside,
    passed,
    put_slot,
    slice_of,
)
from s2sad.primitives import language as L
from s2sad.primitives.record import Primitive

Steps = tuple[Operand, ...]


def turned_structure(sweep: Sweep, op: Op, acc: Cotangents, shadows: Shadows) -> bool:
    """Turn round an operation on structures; say whether there is nothing else to do."""
    form = op.primitive.form
    owner = op.operands[0] if op.operands else None
    held = isinstance(owner, Var) and owner in sweep.values
    whole = sweep.values[owner].kind if held and isinstance(owner, Var) else K.UNKNOWN
    if form == "list":
        _listed(sweep, op, acc, shadows)
        return True
    if form == "dict" or makes_object(op):
        _display(sweep, op, acc, shadows)
        return True
    if form == "same":
        return op.outs[0] in shadows.dots and owner in shadows.dots
    if form in ("item", "field"):
        return _part(sweep, op, acc, shadows, whole)
    if form == "call":
        return _called(sweep, op, acc, shadows)
    if form == "augmented":
        return _joined_in_place(sweep, op, acc, shadows)
    if form == "infix":
        return _joined(sweep, op, acc, shadows)
    if not is_structure(whole):
        return False
    match form:
        case "put item" | "put field":
            return _put(sweep, op, acc, shadows, whole)
        case "augmented item" | "augmented field":
            return _added_to_part(sweep, op, acc, shadows)
        case "unpack":
            return _unpacked(sweep, op, acc, shadows)
        case "method":
            return turned_method_of(sweep, op, acc, shadows, whole)
        case "drop item" | "drop field":
            turned_drop(sweep, op, acc, whole)
            return True
    return False


def _listed(sweep: Sweep, op: Op, acc: Cotangents, shadows: Shadows) -> None:
    """A list is made: what comes into it gets what the list's shadow has there."""
    (out,) = op.outs
    v = sweep.values[out]
    if any(isinstance(o, P.Spread) for o in op.operands):
        _joined_from(sweep, op, acc, shadows, v)
        return
    for i, o in enumerate(op.operands):
        fetch(sweep, o, _slot(v, L.ITEM, (P.Const(i),), o, acc), acc, shadows)


def _slot(
    v: Var, read: Primitive, steps: Steps, operand: Operand, acc: Cotangents
) -> Callable[[], Operand]:
    """Return what reads the slot that an operand has come into."""
    dot, shadows = P.variable(operand), acc.shadows
    known = acc.values.get(dot) if dot is not None else None
    kind = K.UNKNOWN if known is None else tangent_kind(known.kind)
    assert shadows is not None
    return lambda: acc.t.emit(read, (shadows.of(acc.t, v), *steps), kind)


def _joined_from(sweep: Sweep, op: Op, acc: Cotangents, shadows: Shadows, v: Var) -> None:
    """A list is made of others: each gets its part of the items of the list's shadow."""
    t, at = acc.t, P.Const(0)
    place: Operand = at
    numbers = holds_numbers(v.kind)
    shadow: Operand = shadows.of(t, v) if numbers else NOTHING
    for o in op.operands:
        given = o.value if isinstance(o, P.Spread) else o
        many = isinstance(o, P.Spread) or op.primitive.form == "infix"
        if not many:
            fetch(sweep, given, _slot(v, L.ITEM, (place,), given, acc), acc, shadows)
        elif not numbers:
            fetch_items(sweep, given, NOTHING, acc, shadows)
        count = length_at(sweep, given, op, acc) if many and numbers else P.Const(1)
        end = _sum(place, count, acc)
        if many and numbers:
            cut = slice_of(place, end, t)
            items = t.emit(L.ITEM, (shadow, cut), v.kind)
            fetch_items(sweep, given, items, acc, shadows)
        place = end


def _sum(one: Operand, other: Operand, acc: Cotangents) -> Operand:
    if isinstance(one, P.Const) and isinstance(other, P.Const):
        assert isinstance(one.value, int) and isinstance(other.value, int)
        return P.Const(one.value + other.value)
    return acc.t.emit(L.INFIX["Add"], (one, other), K.INT)


def _display(sweep: Sweep, op: Op, acc: Cotangents, shadows: Shadows) -> None:
    """A dict or an object is made; of two entries under one key the last one counts."""
    (out,) = op.outs
    v = sweep.values[out]
    again = any(isinstance(o, P.Spread) for o in op.operands)
    again = again or not all(isinstance(o, P.Const) for o in op.operands[::2])
    for read, steps, operand in reversed([*_slots_of(op)]):
        if isinstance(operand, P.Spread):
            _entries(sweep, operand.value, v, op, acc)
            continue
        fetch(sweep, operand, _slot(v, read, steps, operand, acc), acc, shadows)
        if again and steps and holds_numbers(v.kind):
            nothing = nothing_in(_slot_kind(v.kind, read, steps), acc)
            put_slot(shadows.of(acc.t, v), read, steps, nothing, acc.t)


def _entries(sweep: Sweep, given: Operand, v: Var, op: Op, acc: Cotangents) -> None:
    """Pass on to a dict what its entries got in another one that was made of it."""
    if not isinstance(given, Var) or given not in sweep.values:
        return
    source = sweep.values[given]
    if not isinstance(source.kind, K.AnyDict):
        raise NotYet(f"a dict that is made of {K.describe(source.kind)}")
    pass_entries(sweep, source, v, op, acc)


def _slots_of(op: Op) -> Iterator[tuple[Primitive, Steps, Operand]]:
    """Yield what is put into a new dict or object, and how it is read there."""
    if op.primitive.form != "dict":
        yield from ((L.field(n), (), o) for n, o in op.settings if isinstance(o, P.OPERANDS))
        return
    key: Operand | None = None
    for o in op.operands:
        if isinstance(o, P.Spread):
            yield L.ITEM, (), o
        elif key is None:
            key = o
        else:
            yield L.ITEM, (key,), o
            key = None


def _part(sweep: Sweep, op: Op, acc: Cotangents, shadows: Shadows, whole: Kind) -> bool:
    (out,), owner = op.outs, op.operands[0]
    if isinstance(whole, K.Array):
        shown = op.operands[0] in shadows.dots and out in shadows.dots
        return shown and not copies(op.operands[1], sweep.makers)
    if out not in sweep.values or not is_structure(whole):
        if out not in sweep.values:
            return False
        stays = out in shadows.dots and isinstance(owner, Var) and acc.shows_memory(owner)
        return stays or is_structure(sweep.values[out].kind)
    v, steps = sweep.values[out], op.operands[1:]
    assert isinstance(owner, Var)
    if isinstance(whole, K.List) and is_slice(steps[0]):
        if holds_numbers(v.kind):
            t = acc.t
            both = (shadows.of(t, sweep.values[owner]), shadows.of(t, v))
            act(t, held_numbers.add_items, (*both, as_argument(sweep, steps[0], t)), K.NONE)
        return True
    if out in shadows.dots:
        return True
    if isinstance(v.kind, K.Num):
        return False
    value = passed(lambda: v, v.kind, acc.of.pop(out, None), acc)
    if value != NOTHING:
        add_to_slot(acc.buffer(owner), v.kind, op.primitive, steps, value, acc.t)
    return True


def _called(sweep: Sweep, op: Op, acc: Cotangents, shadows: Shadows) -> bool:
    fn, t = function_of(op), acc.t
    if len(op.operands) != 2 or op.settings or not op.outs:
        return False
    (out,), given = op.outs, op.operands[1]
    if not isinstance(given, Var) or given not in sweep.values or out not in sweep.values:
        return False
    source, made = sweep.values[given], sweep.values[out]
    if fn is dict and isinstance(made.kind, K.AnyDict):
        _entries(sweep, given, made, op, acc)
        return True
    if fn is list and isinstance(made.kind, K.List):
        items = shadows.of(t, made) if holds_numbers(made.kind) else NOTHING
        fetch_items(sweep, given, items, acc, shadows)
        return True
    if fn is tuple and isinstance(made.kind, K.Tuple) and isinstance(source.kind, K.List):
        value = passed(lambda: made, made.kind, acc.of.pop(out, None), acc)
        if value != NOTHING:
            act(t, held_numbers.add_items, (shadows.of(t, source), value), K.NONE)
        return True
    if is_structure(source.kind):
        sweep.look(source, t, shadows, op)
    return False


def _joined_in_place(sweep: Sweep, op: Op, acc: Cotangents, shadows: Shadows) -> bool:
    (out,), (old, stored) = op.outs, op.operands
    if out not in shadows.dots or old not in shadows.dots:
        return False
    kind, t = sweep.values[out].kind, acc.t
    if isinstance(kind, K.List) and op.primitive.word == "Add":
        items: Operand = NOTHING
        if holds_numbers(kind):
            at = slice_of(before(op, "count"), NOTHING, t)
            shadow = shadows.of(t, sweep.values[out])
            items = t.emit(L.ITEM, (shadow, at), kind)
            cut = slice_of(before(op, "count"), NOTHING, t)
            places = (P.Place(shadow, (P.Item(cut),)),)
            t.add(Op((), L.DROP_ITEM, (shadow, cut), (), (), places, op.origin))
        fetch_items(sweep, stored, items, acc, shadows)
        return True
    if is_structure(kind):
        raise NotYet(f"{op.primitive.word} in place of a structure")
    if op.primitive.word not in ("Add", "Sub"):
        raise NotYet(f"{op.primitive.word} in place of tangents")
    _copied(sweep, shadows.of(acc.t, sweep.values[out]), op, kind, acc)
    return True


def _copied(sweep: Sweep, shadow: Var, op: Op, kind: Kind, acc: Cotangents) -> None:
    """Give what was added in place a copy of a cotangent."""
    stored, t = op.operands[-1], acc.t
    if not isinstance(stored, Var) or stored not in sweep.values:
        return
    if lies_turned(kind):
        value = t.call(t.table.numpy("conj", kind), (shadow,), tangent_kind(kind))
    else:
        value = t.emit(L.method("copy"), (shadow,), tangent_kind(kind))
    if op.primitive.word.endswith("Sub"):
        value = t.emit(L.PREFIX["USub"], (value,), tangent_kind(kind))
    acc.add(stored, Bar(fit_stored(t, value, kind, sweep.values[stored]), True))


def _joined(sweep: Sweep, op: Op, acc: Cotangents, shadows: Shadows) -> bool:
    """`xs + ys` holds what both lists hold, `xs * n` what a list holds several times.

    `d | e` holds what both dicts hold, that of the second where both have a key.
    """
    (out,) = op.outs
    if out not in sweep.values or not is_structure(sweep.values[out].kind):
        return False
    v, t = sweep.values[out], acc.t
    if isinstance(v.kind, K.AnyDict):
        for o in op.operands[::-1]:
            _entries(sweep, o, v, op, acc)
        return True
    if op.primitive.word == "Add":
        _joined_from(sweep, op, acc, shadows, v)
        return True
    given = next((o for o in op.operands if isinstance(o, Var) and o in sweep.values), None)
    if given is not None and holds_numbers(v.kind):
        both = (shadows.of(t, sweep.values[given]), shadows.of(t, v))
        count = length_at(sweep, given, op, acc)
        act(t, held_numbers.add_repeated, (*both, count), K.NONE)
    return True


def _put(sweep: Sweep, op: Op, acc: Cotangents, shadows: Shadows, whole: Kind) -> bool:
    owner, *steps, stored = op.operands
    assert isinstance(owner, Var)
    t, numbers = acc.t, holds_numbers(whole)
    if isinstance(whole, K.List) and is_slice(steps[0]):
        items: Operand = NOTHING
        if numbers:
            shadow, at = acc.buffer(owner), as_argument(sweep, steps[0], t)
            given = (shadow, at, before(op, "count"), nothing_inside(whole, acc))
            items = act(t, held_numbers.undo_slice, given, tangent_kind(whole))
        fetch_items(sweep, stored, items, acc, shadows)
        return True
    part = dict(op.settings).get("part")
    if isinstance(part, K.Num):
        return False
    if not isinstance(part, Kind) or isinstance(part, K.Unknown):
        raise NotYet("a value of unknown kind that is put into a structure")
    read = L.ITEM if steps else L.field(op.primitive.word)
    at_slot = tuple(map(t.index, steps))
    fetch(sweep, stored, lambda: t.emit(read, (acc.buffer(owner), *at_slot), part), acc, shadows)
    if numbers or has_slot(part):
        held = _slot_kind(whole, read, tuple(steps))
        nothing = nothing_in(held if has_slot(held) else part, acc)
        put_slot(acc.buffer(owner), read, steps, nothing, acc.t)
    return True


def _slot_kind(whole: Kind, read: Primitive, steps: Steps) -> Kind:
    """Return the kind of what stands at one place of a structure."""
    step = read.word if read.form == "field" else getattr(steps[0], "value", None)
    return K.without_none(whole).at(step) or K.union(K.together(whole))


def _added_to_part(sweep: Sweep, op: Op, acc: Cotangents, shadows: Shadows) -> bool:
    part = dict(op.settings).get("part")
    if isinstance(part, K.Num):
        return False
    if not isinstance(part, K.Array) or op.primitive.word.split()[-1] not in ("Add", "Sub"):
        raise NotYet("an operation in place on a part of a structure")
    owner, *steps, _ = op.operands
    assert isinstance(owner, Var)
    read = L.ITEM if steps else L.field(op.primitive.word.split()[0])
    there = Var("", part)
    sweep.copies.append(
        Op((there,), read, (sweep.values[owner], *steps), (), op.reads, (), op.origin)
    )
    _copied(sweep, shadows.of(acc.t, there), op, part, acc)
    return True


def _unpacked(sweep: Sweep, op: Op, acc: Cotangents, shadows: Shadows) -> bool:
    source = op.operands[0]
    assert isinstance(source, Var)
    for i, out in enumerate(op.outs):
        bar, v = acc.of.pop(out, None), sweep.values.get(out)
        if bar is None or v is None:
            continue
        value = passed(lambda v=v: v, v.kind, bar, acc)  # type: ignore[misc]
        if value != NOTHING:
            add_to_slot(acc.buffer(source), v.kind, L.ITEM, (P.Const(i),), value, acc.t)
    return True
