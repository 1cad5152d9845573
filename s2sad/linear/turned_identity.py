"""Operations on structures, turned round where cotangents are found by identity.

parts.append(y)        y_bar += take_from_shadow(twin_of(shadows, y))
z = parts[0]           nothing: the cotangent of z is that of what stands there
numbers.append(s)      s_bar += twin_of(shadows, numbers).pop()
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from s2sad import kinds as K
from s2sad import registry
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Var
from s2sad.kinds import Kind
from s2sad.linear.by_identity import (
    Shadows,
    holds_both,
    holds_numbers,
    is_memory,
    is_structure,
    parts_of_tuple,
)
from s2sad.linear.cotangents_of import Bar, Cotangents
from s2sad.linear.fit import fit_stored
from s2sad.linear.memory_parts import copies
from s2sad.linear.operands import kind_of
from s2sad.linear.sweep_state import Sweep, value_of
from s2sad.linear.tangent_table import NOTHING, NotYet, tangent_kind
from s2sad.linear.turned_memory import act_on, add_into_part, function_of, makes_object
from s2sad.primitives import language as L
from s2sad.primitives.record import Primitive

Slot = Callable[[], Operand]
Steps = tuple[Operand, ...]


def turned_structure(sweep: Sweep, op: Op, acc: Cotangents, shadows: Shadows) -> bool:
    """Turn round an operation on structures; say whether there is nothing else to do."""
    form = op.primitive.form
    owner = op.operands[0] if op.operands else None
    held = isinstance(owner, Var) and owner in sweep.values
    whole = sweep.values[owner].kind if held and isinstance(owner, Var) else K.UNKNOWN
    if form in ("list", "dict") or makes_object(op):
        _display(sweep, op, acc, shadows)
        return True
    if form == "same":
        return op.outs[0] in shadows.dots and owner in shadows.dots
    if form in ("item", "field"):
        return _part(sweep, op, acc, shadows, whole)
    if form == "call":
        return _called(sweep, op, acc, shadows)
    if form == "augmented":
        return _joined_in_place(sweep, op, acc, shadows, whole)
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
            return _method(sweep, op, acc, shadows, whole)
        case "drop item" | "drop field":
            return not holds_numbers(whole) or _dropped(sweep, op, acc, whole)
    return False


def fetch(sweep: Sweep, operand: Operand, slot: Slot, acc: Cotangents, shadows: Shadows) -> None:
    """Add to the cotangent of what has been put into a structure."""
    if not isinstance(operand, Var) or operand not in sweep.values or operand in shadows.dots:
        return
    v = sweep.values[operand]
    bar = _fetched(v, v.kind, slot, acc, shadows)
    if bar is not None:
        acc.add(operand, bar)


def fetch_all(sweep: Sweep, operands: Sequence[Operand], acc: Cotangents, shadows: Shadows) -> None:
    """Add to the cotangents of what comes into a structure without numbers."""
    for o in operands:
        dot = P.variable(o)
        if dot is None or dot not in sweep.values or dot in shadows.dots:
            continue
        kind = sweep.values[dot].kind
        if not isinstance(kind, K.Array | K.Tuple) or (_is_tuple(kind) and holds_numbers(kind)):
            raise NotYet("numbers that come into a structure without any")
        fetch(sweep, dot, lambda: NOTHING, acc, shadows)


def _fetched(v: Operand, kind: Kind, slot: Slot, acc: Cotangents, shadows: Shadows) -> Bar | None:
    if isinstance(kind, K.Array):
        return Bar(shadows.taken(acc.t, v), True) if K.differentiable(kind) else None
    if is_structure(kind) or not K.differentiable(kind):
        return None
    if isinstance(kind, K.Num):
        return Bar(slot())
    if not isinstance(kind, K.Tuple):
        raise NotYet(f"{K.describe(kind)} in a structure")
    parts: list[Bar | None] = []
    inner = slot() if holds_numbers(kind) else NOTHING
    for i, k, read in parts_of_tuple(acc.t, v, kind):
        at = _item_of(acc, inner, i, k)
        parts.append(_fetched(read() if is_memory(k) or _is_tuple(k) else v, k, at, acc, shadows))
    return Bar(None, parts=tuple(parts))


def _is_tuple(kind: Kind) -> bool:
    return isinstance(kind, K.Tuple)


def _item_of(acc: Cotangents, whole: Operand, i: int, kind: Kind) -> Slot:
    return lambda: acc.t.emit(L.ITEM, (whole, P.Const(i)), tangent_kind(kind))


def spread(acc: Cotangents, v: Operand, kind: Kind, bar: Bar | None, shadows: Shadows) -> None:
    """Add the cotangent of a tuple that stands in a structure to those of its parts."""
    if bar is None:
        return
    if not isinstance(kind, K.Tuple):
        raise NotYet(f"{K.describe(kind)} in a structure")
    if not bar.parts:
        raise NotYet("the cotangent of a tuple that is not taken apart")
    reads = parts_of_tuple(acc.t, v, kind)
    for part, (_, k, read) in zip(bar.parts, reads, strict=True):
        if part is None:
            continue
        if isinstance(k, K.Array):
            shadows.add(acc.t, read(), value_of(part))
        elif isinstance(k, K.Tuple):
            spread(acc, read(), k, part, shadows)
        else:
            raise NotYet("a number in a tuple in a structure")


def _display(sweep: Sweep, op: Op, acc: Cotangents, shadows: Shadows) -> None:
    (out,) = op.outs
    v, t = sweep.values[out], acc.t
    for read, steps, operand in _slots_of(op):
        if isinstance(operand, P.Spread):
            if holds_numbers(v.kind):
                raise NotYet("a structure that is made of others, turned round")
            continue

        def slot(read: Primitive = read, steps: Steps = steps, of: Operand = operand) -> Operand:
            dot = P.variable(of)
            assert dot is not None
            kind = tangent_kind(sweep.values[dot].kind)
            return t.emit(read, (shadows.of(t, v), *steps), kind)

        fetch(sweep, operand, slot, acc, shadows)


def _slots_of(op: Op) -> Iterator[tuple[Primitive, Steps, Operand | P.Code]]:
    """Yield what is put into a new structure, and how it is read there."""
    form = op.primitive.form
    if form == "list":
        yield from ((L.ITEM, (P.Const(i),), o) for i, o in enumerate(op.operands))
    elif form == "dict":
        yield from ((L.ITEM, (), o) for o in op.operands if isinstance(o, P.Spread))
        plain = [o for o in op.operands if not isinstance(o, P.Spread)]
        yield from ((L.ITEM, (k,), o) for k, o in zip(plain[::2], plain[1::2], strict=True))
    else:
        yield from ((L.field(n), (), o) for n, o in op.settings if isinstance(o, P.OPERANDS))


def _part(sweep: Sweep, op: Op, acc: Cotangents, shadows: Shadows, whole: Kind) -> bool:
    (out,) = op.outs
    if isinstance(whole, K.Array):
        shown = op.operands[0] in shadows.dots and out in shadows.dots
        return shown and not copies(op.operands[1], sweep.makers)
    if out not in sweep.values:
        return False
    v = sweep.values[out]
    if out in shadows.dots:
        slice_of_numbers = isinstance(whole, K.List) and isinstance(v.kind, K.List)
        slice_of_numbers = slice_of_numbers and not isinstance(kind_of(op.operands[1]), K.Num)
        if slice_of_numbers and holds_numbers(v.kind):
            raise NotYet("a slice of a list of numbers, turned round")
        return True
    if is_structure(whole) and not isinstance(v.kind, K.Num):
        spread(acc, v, v.kind, acc.of.pop(out, None), shadows)
        return True
    return False


def _called(sweep: Sweep, op: Op, acc: Cotangents, shadows: Shadows) -> bool:
    fn, t = function_of(op), acc.t
    if len(op.operands) != 2 or op.settings or not op.outs:
        return False
    (out,), given = op.outs, op.operands[1]
    if not isinstance(given, Var) or given not in sweep.values or out not in sweep.values:
        return False
    source, made = sweep.values[given], sweep.values[out]
    if op in sweep.unstable and isinstance(source.kind, K.List):
        sweep.keep(source, shadows, op)
    if fn is list and isinstance(source.kind, K.Tuple) and is_structure(made.kind):
        fetch(sweep, given, lambda: shadows.of(t, made), acc, shadows)
        return True
    if fn in (list, dict, reversed) and is_structure(made.kind):
        if holds_numbers(made.kind):
            if fn is reversed or not is_structure(source.kind) or holds_both(made.kind):
                raise NotYet("a list of numbers that is made of another, turned round")
            shadows.add(t, source, shadows.taken(t, made))
        else:
            fetch_all(sweep, (given,), acc, shadows)
        return True
    if fn is tuple and isinstance(made.kind, K.Tuple) and is_structure(source.kind):
        spread(acc, made, made.kind, acc.of.pop(out, None), shadows)
        return True
    return False


def _joined_in_place(sweep: Sweep, op: Op, acc: Cotangents, shadows: Shadows, whole: Kind) -> bool:
    (out,), (old, stored) = op.outs, op.operands
    if out not in shadows.dots or old not in shadows.dots:
        return False
    kind = sweep.values[out].kind
    if is_structure(kind):
        if holds_numbers(kind):
            raise NotYet("numbers that are joined to a list in place, turned round")
        fetch_all(sweep, (stored,), acc, shadows)
        return True
    if op.primitive.word not in ("Add", "Sub"):
        raise NotYet(f"{op.primitive.word} in place of tangents, turned round")
    _copied(sweep, shadows.of(acc.t, sweep.values[out]), op, kind, acc)
    return True


def _copied(sweep: Sweep, shadow: Var, op: Op, kind: Kind, acc: Cotangents) -> None:
    """Give what was added in place a copy of a cotangent."""
    stored, t = op.operands[-1], acc.t
    if not isinstance(stored, Var) or stored not in sweep.values:
        return
    value = t.emit(L.method("copy"), (shadow,), tangent_kind(kind))
    if op.primitive.word.endswith("Sub"):
        value = t.emit(L.PREFIX["USub"], (value,), tangent_kind(kind))
    acc.add(stored, Bar(fit_stored(t, value, kind, sweep.values[stored]), True))


def _joined(sweep: Sweep, op: Op, acc: Cotangents, shadows: Shadows) -> bool:
    """`xs + ys` holds what both lists hold; of numbers each gets its part."""
    (out,) = op.outs
    if out not in sweep.values or not isinstance(sweep.values[out].kind, K.List):
        return False
    v = sweep.values[out]
    if not holds_numbers(v.kind):
        fetch_all(sweep, op.operands, acc, shadows)
        return True
    raise NotYet("lists of numbers that are joined, turned round")


def _put(sweep: Sweep, op: Op, acc: Cotangents, shadows: Shadows, whole: Kind) -> bool:
    stored = op.operands[-1]
    part = dict(op.settings).get("part")
    if op.primitive.form == "put item" and isinstance(whole, K.List):
        if not isinstance(kind_of(op.operands[1]), K.Num):
            if holds_numbers(whole):
                raise NotYet("a slice of a list of numbers that is written, turned round")
            fetch_all(sweep, (stored,), acc, shadows)
            return True
    if isinstance(part, K.Num):
        return False
    if not isinstance(part, K.Array | K.Tuple) and not is_structure(part or K.UNKNOWN):  # type: ignore[arg-type]
        raise NotYet("a value of unknown kind that is put into a structure")
    if isinstance(part, K.Tuple) and holds_numbers(part):
        raise NotYet("a tuple with numbers, put into a structure in the place of another")
    fetch(sweep, stored, lambda: NOTHING, acc, shadows)
    return True


def _added_to_part(sweep: Sweep, op: Op, acc: Cotangents, shadows: Shadows) -> bool:
    part = dict(op.settings).get("part")
    if isinstance(part, K.Num):
        return False
    if not isinstance(part, K.Array) or op.primitive.word.split()[-1] not in ("Add", "Sub"):
        raise NotYet("an operation in place on a part of a structure, turned round")
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
        bar = acc.of.pop(out, None)
        if bar is None or out not in sweep.values:
            continue
        v = sweep.values[out]
        if isinstance(v.kind, K.Num):
            add_into_part(sweep, source, P.Const(i), value_of(bar), acc)
        else:
            spread(acc, v, v.kind, bar, shadows)
    return True


def _method(sweep: Sweep, op: Op, acc: Cotangents, shadows: Shadows, whole: Kind) -> bool:
    owner, *given = op.operands
    word, t = op.primitive.word, acc.t
    assert isinstance(owner, Var)
    if not holds_numbers(whole):
        fetch_all(sweep, given, acc, shadows)
        for out in op.outs:
            v = sweep.values.get(out)
            if v is not None and out not in shadows.dots:
                spread(acc, v, v.kind, acc.of.pop(out, None), shadows)
        return True
    if not isinstance(whole, K.List):
        return False
    puts = registry.effects_of(getattr(list, word, None)).writes == "puts" and word != "extend"
    if puts:
        *where, stored = given
        taken = act_on(sweep, acc.buffer(owner), "pop", tuple(where), op, t, stored)
        fetch(sweep, stored, lambda: taken, acc, shadows)
        return True
    if word == "pop" and not isinstance(K.together(whole)[0], K.Num):
        raise NotYet("tuples that are taken from a list, turned round")
    if word == "copy" and op.outs and op.outs[0] in sweep.values and not holds_both(whole):
        shadows.add(t, sweep.values[owner], shadows.taken(t, sweep.values[op.outs[0]]))
        return True
    return False


def _dropped(sweep: Sweep, op: Op, acc: Cotangents, whole: Kind) -> bool:
    """`del xs[i]` leaves out a number; its cotangent was zero."""
    owner, *steps = op.operands
    assert isinstance(owner, Var)
    items = K.together(whole)
    number = isinstance(whole, K.List) and all(isinstance(k, K.Num) for k in items)
    if not number or not isinstance(kind_of(steps[0]), K.Num):
        raise NotYet(f"{op.primitive.form} of a structure with numbers, turned round")
    raise NotYet("a number that is left out of a list, turned round")
