"""Operations on shadows, turned round."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from s2sad import kinds as K
from s2sad import registry, runtime
from s2sad.ir import identities
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Place, Var
from s2sad.kinds import Kind
from s2sad.known.lifted import space_among
from s2sad.known.mixed import is_mixed
from s2sad.linear.by_identity import act, is_structure
from s2sad.linear.cotangents_of import Bar, Cotangents
from s2sad.linear.filled_once import fills_once
from s2sad.linear.fit import fit, fit_stored
from s2sad.linear.memory_parts import copies
from s2sad.linear.operands import is_array, kind_of
from s2sad.linear.part_by_part import add_to_field, put_field
from s2sad.linear.sweep_state import Sweep, in_place, value_of
from s2sad.linear.tangent_table import NOTHING, NotYet, Tangents, tangent_kind
from s2sad.linear.tangents_of import told_by
from s2sad.linear.turned_indices import may_repeat, of_last_writes
from s2sad.linear.turned_slots import length_at, put_in, put_out
from s2sad.linear.zero_tangents import nothing
from s2sad.primitives import language as L
from s2sad.primitives.record import Primitive


def turned_tuple(sweep: Sweep, op: Op, bar: Bar, acc: Cotangents) -> None:
    """The parts of a tuple get those of its cotangent."""
    (out,) = op.outs
    _to_parts(sweep, op, op.operands, acc.apart(bar, _tuple(sweep, out)), acc)


def turned_joined(sweep: Sweep, op: Op, bar: Bar, acc: Cotangents) -> None:
    """`a + b` of tuples has the parts of both."""
    (out,) = op.outs
    if op.primitive.word != "Add":
        raise NotYet("a tuple that is repeated")
    spread = tuple(P.Spread(o) for o in op.operands if isinstance(o, Var))
    _to_parts(sweep, op, spread, acc.apart(bar, _tuple(sweep, out)), acc)


def _tuple(sweep: Sweep, v: Var) -> K.Tuple:
    """Return the kind of a tuple, by its tangent; functions that are given have captured one."""
    kind = K.without_none(sweep.values[v].kind)
    found = kind if isinstance(kind, K.Tuple) else v.kind
    assert isinstance(found, K.Tuple)
    return found


def _to_parts(
    sweep: Sweep, op: Op, operands: Sequence[Operand], parts: Sequence[Bar | None], acc: Cotangents
) -> None:
    """Give what a tuple is made of the cotangents of its parts: of structures as they were then."""
    left = list(parts)
    for operand in operands:
        if not isinstance(operand, P.Spread):
            bar = left.pop(0)
            if bar is not None:
                _look(sweep, op, operand, acc)
                acc.add(operand, bar)
            continue
        v = P.variable(operand)
        kind = (
            kind_of(operand.value) if v not in sweep.values or v is None else sweep.values[v].kind
        )
        if not isinstance(kind, K.Tuple):
            raise NotYet(f"a tuple that is made of {K.describe(kind)}")
        count = len(kind.items)
        if any(left[:count]):
            acc.add(operand.value, Bar(None, parts=tuple(left[:count])))
        left = left[count:]


def _look(sweep: Sweep, op: Op, operand: Operand, acc: Cotangents) -> None:
    """Keep what a structure holds where its tangent becomes a part of a tuple."""
    v = sweep.values.get(operand) if isinstance(operand, Var) else None
    if v is not None and acc.shadows is not None and is_structure(v.kind):
        sweep.look(v, acc.t, acc.shadows, op)


def turned_unpack(sweep: Sweep, op: Op, bars: Sequence[Bar | None], acc: Cotangents) -> None:
    """What is taken apart gets a cotangent of those of its parts."""
    (source,) = op.operands
    assert isinstance(source, Var)
    kind = K.without_none(sweep.values[source].kind)
    if isinstance(kind, K.Tuple):
        acc.add(source, Bar(None, parts=tuple(bars)))
    elif is_array(kind):
        for i, bar in enumerate(bars):
            if bar is not None:
                add_into_part(sweep, source, P.Const(i), value_of(bar), acc)
    else:
        raise NotYet(f"parts of {K.describe(kind)}")


def turned_item(sweep: Sweep, op: Op, bar: Bar, acc: Cotangents) -> None:
    """`x = u[i]` adds to the place of the cotangent."""
    owner, index = op.operands
    assert isinstance(owner, Var)
    if owner not in sweep.values:
        return  # zeros that are made of no tangent
    kind = K.without_none(sweep.values[owner].kind)
    part = sweep.values[op.outs[0]].kind
    if isinstance(kind, K.List | K.AnyDict) and isinstance(part, K.Tuple):
        buffer, step = acc.buffer(owner), acc.t.index(index)
        old = acc.t.emit(L.ITEM, (buffer, step), tangent_kind(part))
        made = _with_parts(acc, old, bar, part)
        places = (Place(buffer, (P.Item(step),)),)
        acc.t.add(Op((), L.PUT_ITEM, (buffer, step, made), (), (), places, op.origin))
        return
    if isinstance(kind, K.List | K.AnyDict) or is_array(kind):
        back = _undone(sweep, owner, index, bar, acc)
        if back is not None:
            acc.add(owner, back)
        else:
            add_into_part(sweep, owner, index, value_of(bar), acc)
        return
    if not isinstance(kind, K.Tuple):
        raise NotYet(f"an item of {K.describe(kind)}")
    found: list[Bar | None] = [None] * len(kind.items)
    at = known_index(sweep, index)
    if isinstance(at, slice):
        (out,) = op.outs
        found[at] = acc.apart(bar, _tuple(sweep, out))
    elif isinstance(at, int):
        found[at] = bar
    else:
        raise NotYet(f"an item of {K.describe(kind)}")
    acc.add(owner, Bar(None, parts=tuple(found)))


def _undone(sweep: Sweep, owner: Var, index: Operand, bar: Bar, acc: Cotangents) -> Bar | None:
    """Return the cotangent of an array of which an index shows all, with more axes of length 1.

    y = x[:, None]       x_bar is y_bar[:, 0]; zeros to which it is added are not needed
    """
    v, made = sweep.values[owner], sweep.makers.get(index) if isinstance(index, Var) else None
    value = value_of(bar)
    plain = isinstance(v.kind, K.Array) and v not in acc.t.table.facts.written
    if not plain or owner in acc.refs or made is None or made.primitive is not L.TUPLE:
        return None
    parts = [o if isinstance(o, Var) else NOTHING if o == NOTHING else None for o in made.operands]
    slices = [sweep.makers.get(o) for o in parts if isinstance(o, Var)]
    if not all(m and m.primitive is L.SLICE and {*m.operands} == {NOTHING} for m in slices):
        return None
    given, more = kind_of(value), parts.count(NOTHING)
    if None in parts or not isinstance(given, K.Array) or not isinstance(v.kind, K.Array):
        return None
    if given.rank != v.kind.rank + more:
        return None
    while parts and parts[-1] != NOTHING:
        parts.pop()
    at: list[Operand] = [P.Const(0) if o == NOTHING else acc.t.index(o) for o in parts]  # type: ignore[arg-type]
    back = at[0] if len(at) == 1 else acc.t.emit(L.TUPLE, at, K.UNKNOWN)
    return Bar(acc.t.emit(L.ITEM, (value, back), tangent_kind(v.kind)), bar.own)


def turned_option(sweep: Sweep, op: Op, bar: Bar, acc: Cotangents) -> None:
    """A part that may be None, and is None where its cotangent is, adds to its place otherwise."""
    (owner, *_), t = op.operands, acc.t
    if not isinstance(owner, Var) or owner not in sweep.values:
        return
    if isinstance(K.without_none(sweep.values[owner].kind), K.Tuple):
        turned_part(sweep, op, bar, acc)
        return
    acc.buffer(owner)
    there = t.emit(L.compare("IsNot"), (value_of(bar), NOTHING), K.BOOL)
    with t.inside() as ops:
        turned_part(sweep, op, Bar(bar.value), acc)
    then, orelse = (P.Block((), tuple(o), P.End("next", ())) for o in (ops, ()))
    t.add(P.If((), there, then, orelse, "if", op.origin))


def turned_part(sweep: Sweep, op: Op, bar: Bar, acc: Cotangents) -> None:
    """Add to the place of a part what that has."""
    if op.primitive.form == "item":
        turned_item(sweep, op, bar, acc)
    else:
        turned_field(sweep, op, bar, acc)


def _with_parts(acc: Cotangents, old: Var, bar: Bar, kind: K.Tuple) -> Operand:
    """Return a tuple of cotangents with others added to its parts, None where there is none."""
    return _packed(acc.t, acc.summed(Bar(old), bar, kind), kind)


def _packed(t: Tangents, bar: Bar | None, kind: Kind) -> Operand:
    if bar is None or not isinstance(kind, K.Tuple):
        return NOTHING if bar is None else value_of(bar)
    parts = [_packed(t, p, k) for p, k in zip(bar.parts, kind.items, strict=True)]
    return t.emit(L.TUPLE, parts, tangent_kind(kind))


def known_index(sweep: Sweep, index: Operand) -> object:
    """Return an index, or a slice, that is known before the run."""
    v = P.variable(index)
    made = sweep.makers.get(v) if v is not None else None
    if made is None or made.primitive is not L.SLICE:
        return getattr(kind_of(index), "value", None)
    bounds = [None if o == NOTHING else getattr(kind_of(o), "value", ...) for o in made.operands]
    return slice(*bounds) if all(b is None or isinstance(b, int) for b in bounds) else None


def turned_sum(sweep: Sweep, op: Op, bar: Operand, acc: Cotangents) -> None:
    """`s = sum(xs)` passes the same to all items."""
    (given, (out,)), t = (op.operands[1], op.outs), acc.t
    if not isinstance(given, Var) or given not in sweep.values:
        return
    source, made = sweep.values[given], sweep.values[out].kind
    through = sweep.makers.get(given)
    if isinstance(source.kind, K.Iterable_) and through is not None:
        _to_values(sweep, op, through, bar, acc)
        return
    items = source.kind.items if isinstance(source.kind, K.Tuple) else K.together(source.kind)
    alike = [_alike(k, made) for k in items]
    if isinstance(source.kind, K.Tuple) and all(alike):
        acc.add(given, Bar(None, parts=tuple(Bar(bar) for _ in items)))
        return
    if not isinstance(source.kind, K.List) or not all(alike):
        raise NotYet("a sum of values of several kinds")
    one = t.emit(L.LIST, (bar,), source.kind)
    count = length_at(sweep, given, op, acc)
    repeated = t.emit(L.INFIX["Mult"], (one, count), source.kind)
    acc.add(given, Bar(repeated, isinstance(made, K.Num)))  # an array would be one in all places


def _to_values(sweep: Sweep, op: Op, through: Op, bar: Operand, acc: Cotangents) -> None:
    """`s = sum(d.values())` passes the same to all that the dict held."""
    owner, t = through.operands[0], acc.t
    made = sweep.values[op.outs[0]].kind
    plain = all(_alike(k, made) for k in through.outs[0].kind.inside)
    if through.primitive.word != "values" or not isinstance(owner, Var) or not plain:
        raise NotYet("a sum of values of several kinds")
    source = sweep.values[owner]
    held = sweep.as_it_was(source, op, t)
    if acc.shadows is not None:
        sweep.look(source, t, acc.shadows, op)
    fn = P.Outer("dict.fromkeys", K.Known(dict.fromkeys))
    acc.add(owner, Bar(t.call(fn, (held, bar), tangent_kind(source.kind))))


def _alike(kind: Kind, other: Kind) -> bool:
    """Say whether two kinds are both of numbers, or of arrays of one shape."""
    if isinstance(kind, K.Array) and isinstance(other, K.Array):
        same = K.same_shape(kind.dims, other.dims) and kind.dtype == other.dtype
        return same and K.differentiable(kind)
    if isinstance(kind, K.Unbound) and isinstance(other, K.Num):
        return not K.is_complex(other)  # a list that was empty where it was made
    numbers = isinstance(kind, K.Num) and isinstance(other, K.Num)
    return numbers and K.differentiable(kind) and K.is_complex(kind) == K.is_complex(other)


def turned_field(sweep: Sweep, op: Op, bar: Bar, acc: Cotangents) -> None:
    """`x = o.m` adds to the attribute of the cotangent."""
    (owner,), (out,), word = op.operands, op.outs, op.primitive.word
    assert isinstance(owner, Var)
    if owner not in sweep.values:
        return  # zeros that are made of no tangent
    classes = K.Obj if acc.shadows is None else K.Obj | K.OneOf
    kind, part = K.without_none(sweep.values[owner].kind), sweep.values[out].kind
    if not isinstance(kind, classes):
        raise NotYet("an attribute of what is no object")
    buffer = acc.buffer(owner)
    if isinstance(part, K.Tuple):
        old = acc.t.emit(op.primitive, (buffer,), tangent_kind(part))
        put_field(acc.t, buffer, kind, word, _with_parts(acc, old, bar, part))
        return
    add_to_field(acc.t, buffer, kind, word, value_of(bar))


def add_into_part(
    sweep: Sweep, owner: Var, index: Operand, value: Operand, acc: Cotangents
) -> None:
    """Add to a part of the cotangent of an array, a list or a dict."""
    t, value = acc.t, acc.seen(owner, value)
    buffer = acc.buffer(owner)
    shown = isinstance(kind_of(value), K.Array) and acc.is_shadowed(owner)
    if is_array(sweep.values[owner].kind) and shown:
        if not copies(index, sweep.makers):  # its rows may be one row
            part = t.emit(L.ITEM, (buffer, t.index(index)), kind_of(value))
            act(t, runtime.add_into_shadow, (part, value), K.NONE)
            return
    if is_array(sweep.values[owner].kind) and (
        may_repeat(index, sweep.makers) or (shown and copies(index, sweep.makers))
    ):
        numpy = t.table.refs.space(space_among([sweep.values[owner].kind]))
        add_at = P.Outer(f"{numpy}.add.at", K.UNKNOWN)
        out, places = Var("", K.NONE), (Place(buffer, (P.Item(index),)),)
        t.add(Op((out,), L.CALL, (add_at, buffer, index, value), (), (), places, t.origin))
        t.add(Op((), L.DISCARD, (out,), (), (), (), t.origin))
        return
    at = t.index(index)
    places = (Place(buffer, (P.Item(at),)),)
    t.add(Op((), L.AUGMENTED_ITEM["Add"], (buffer, at, value), (), (), places, t.origin))


def turned_display(sweep: Sweep, op: Op, acc: Cotangents) -> None:
    """A list, a dict or an object is made: its parts get what its cotangent has there."""
    (out,) = op.outs
    held = acc.of.get(out)
    own = held is None or held.own
    shadow, t = acc.buffer(out) if own else acc.whole(out), acc.t
    acc.of.pop(out, None)
    form = op.primitive.form
    pairs: list[tuple[Primitive, tuple[Operand, ...], Operand]]
    spread = any(isinstance(o, P.Spread) for o in op.operands)
    if spread and form != "dict":
        raise NotYet("a structure that is made of others")
    if form == "list":
        pairs = [(L.ITEM, (P.Const(i),), o) for i, o in enumerate(op.operands)]
    elif form == "dict":
        if spread:
            turned_dict(sweep, op, Bar(shadow, own), acc)
            return
        both = zip(op.operands[::2], op.operands[1::2], strict=True)
        pairs = [(L.ITEM, (k,), v) for k, v in both]
    else:
        fields = [(n, v) for n, v in op.settings if isinstance(v, P.OPERANDS)]
        pairs = [(L.field(n), (), v) for n, v in fields]
    for primitive, steps, operand in pairs:
        if not isinstance(operand, Var) or operand not in sweep.values:
            continue
        kind = tangent_kind(sweep.values[operand].kind)
        give_part(sweep, operand, Bar(t.emit(primitive, (shadow, *steps), kind), own), acc)


def give_part(sweep: Sweep, dot: Var, bar: Bar, acc: Cotangents) -> None:
    """Give what is put into a structure the part of the shadow that stands for it.

    A structure that has a cotangent already is a value: to this one that part is added.
    """
    if in_place(sweep, dot) and dot not in acc.of and dot not in acc.refs:
        acc.shared(dot, bar)
    else:
        acc.add(dot, Bar(bar.value))


def turned_dict(sweep: Sweep, op: Op, bar: Bar, acc: Cotangents) -> None:
    """A dict is made of others: each gets what the cotangent has under the keys that it gives.

    q = {**p, "k": x}       p_bar gets that of q, with zeros under "k"; x_bar gets q_bar["k"]
    """
    t, taken = acc.t, set[object]()
    for first, given in reversed(list(entries(op))):
        dot = given if isinstance(given, Var) and given in sweep.values else None
        kind = kind_of(given) if dot is None else sweep.values[dot].kind
        if isinstance(first, P.Spread):
            if not isinstance(kind, K.Dict):
                raise NotYet("a dict made of others whose keys are not known")
            if dot is not None:
                acc.add(dot, Bar(_left_of(sweep.values[dot], bar, taken, t), bar.own))
            taken |= {*kind.steps}
            continue
        key = getattr(kind_of(first), "value", K.MISSING)
        if key is K.MISSING:
            raise NotYet("a dict made of others whose keys are not known")
        if key not in taken and dot is not None:
            found = t.emit(L.ITEM, (value_of(bar), first), tangent_kind(kind))
            give_part(sweep, dot, Bar(found, bar.own), acc)
        taken.add(key)


def entries(op: Op) -> Iterator[tuple[Operand, Operand]]:
    """Yield the keys of a display with their values, and other dicts, each with itself."""
    given = iter(op.operands)
    for first in given:
        yield (first, first.value) if isinstance(first, P.Spread) else (first, next(given))


def _left_of(v: Var, bar: Bar, taken: Set[object], t: Tangents) -> Var:
    """Return the parts of a shadow that a dict in it has given, with zeros where others have."""
    assert isinstance(v.kind, K.Dict)
    pairs: list[Operand] = []
    for key, kind in v.kind.items:
        at = P.Const(key)
        found: Operand = NOTHING
        if K.differentiable(kind) and key in taken:
            found = nothing(t, t.emit(L.ITEM, (v, at), kind), kind)
        elif K.differentiable(kind):
            found = t.emit(L.ITEM, (value_of(bar), at), tangent_kind(kind))
        pairs += [at, found]
    return t.emit(L.DICT, pairs, tangent_kind(v.kind))


def turned_method(sweep: Sweep, op: Op, acc: Cotangents) -> None:
    """Turn round what a method of a list, or of a dict, does to the shadow."""
    owner, *given = op.operands
    assert isinstance(owner, Var)
    kind, word, t = sweep.values[owner].kind, op.primitive.word, acc.t
    effects = registry.effects_of(getattr(list, word, None))
    (out,) = op.outs
    bar = acc.of.pop(out, None)
    if bar is None and isinstance(out.kind, K.Iterable_):
        return  # what goes through it passes on to what it goes through
    shadow = acc.buffer(owner)
    if not isinstance(kind, K.List):
        raise NotYet(f"the method {word} of a structure")
    if effects.writes == "puts" and word != "extend":
        *where, stored = given
        taken = put_out(shadow, tuple(where), stored, acc)
        if isinstance(stored, Var) and stored in sweep.values:
            give_part(sweep, stored, Bar(taken, True), acc)
    elif word == "pop":
        value = value_of(bar) if bar is not None else P.Const(0.0)
        if bar is not None and not bar.own and isinstance(sweep.values[out].kind, K.Array):
            value = t.emit(L.method("copy"), (value,), kind_of(value))  # the list adds to it
        if bar is None and out in sweep.values:
            value = nothing(t, sweep.values[out], sweep.values[out].kind)
        put_in(shadow, tuple(given), value, acc)
    elif word == "reverse":
        out, places = Var("", K.NONE), (Place(shadow, (P.Anywhere(),)),)
        t.add(Op((out,), op.primitive, (shadow,), (), places, places, op.origin))
        t.add(Op((), L.DISCARD, (out,), (), (), (), op.origin))
    else:
        raise NotYet(f"the method {word} of a list")


def turned_put(sweep: Sweep, op: Op, original: Op, acc: Cotangents) -> None:
    """What was stored gets the cotangent of the place, which then has none, if it is met again."""
    owner, *steps, stored = op.operands
    assert isinstance(owner, Var)
    if not acc.has(owner):
        return
    buffer = acc.buffer(owner)
    found = taken_from(sweep, op, buffer, acc)
    if fills_once(sweep, original):
        if found is not None:
            acc.add(stored, found)
        return
    where, zero = [acc.t.index(i) for i in steps], _zero_there(op, buffer, acc)
    if where:
        _nothing_there(sweep, op, (buffer, where[0], zero), acc)
    else:
        put_field(acc.t, buffer, sweep.values[owner].kind, op.primitive.word, zero)
    if found is not None:
        acc.add(stored, found)


def _zero_there(op: Op, buffer: Var, acc: Cotangents) -> Operand:
    """Return the zero of what stood where a value was stored: an array in a structure is alike."""
    part, t = dict(op.settings).get("part"), acc.t
    if isinstance(buffer.kind, K.Array) or not isinstance(part, K.Array):
        return P.Const(0.0)
    stood = dict(op.settings).get("stood")
    if isinstance(stood, Var):
        return t.call(t.table.numpy("zeros_like", part), (stood,), tangent_kind(stood.kind))
    read = L.ITEM if len(op.operands) == 3 else L.field(op.primitive.word)
    there = t.emit(read, (buffer, *map(t.index, op.operands[1:-1])), tangent_kind(part))
    return t.call(t.table.numpy("zeros_like", part), (there,), tangent_kind(part))


def _nothing_there(
    sweep: Sweep, op: Op, given: tuple[Var, Operand, Operand], acc: Cotangents
) -> None:
    """Put zero where a value was stored; what was no entry of a caller's dict is none again."""
    buffer, at, _ = given
    places = (Place(buffer, (P.Item(at),)),)
    zero = Op((), op.primitive, given, (), (), places, op.origin)
    drop = Op((), L.DROP_ITEM, (buffer, at), (), (), places, op.origin)
    owner, t = op.operands[0], acc.t
    there = dict(op.settings).get("there")
    handed_back = acc.shadows is not None  # as it was in the beginning
    if there is None or handed_back or not sweep.may_be_given(sweep.values[owner]):  # type: ignore[index]
        t.add(zero)
    elif there == P.Const(False):
        t.add(drop)
    else:
        assert isinstance(there, Var)
        then, orelse = (P.Block((), (o,), P.End("next", ())) for o in (zero, drop))
        t.add(P.If((), there, then, orelse, "if", op.origin))


def taken_from(
    sweep: Sweep, op: Op, buffer: Var, acc: Cotangents, sign: str = "Add", each: bool = False
) -> Bar | None:
    """Return a part of a cotangent for what was stored there, if that has a tangent.

    Where the index names an element twice the last write is left, or `each` of them.
    """
    stored = op.operands[-1]
    if not isinstance(stored, Var) or stored not in sweep.values:
        return None
    t, value = acc.t, sweep.values[stored]
    part = dict(op.settings).get("part")
    if not isinstance(part, K.Num | K.Array):
        if isinstance(part, Kind) and is_mixed(part):
            raise acc.t.cannot(
                "This changes numbers in place that may be real or complex.",
                "Write into an array that is always complex: .astype(complex).",
            )
        if isinstance(part, K.Unknown):
            raise acc.t.undecided(part)
        raise acc.t.cannot(
            "s2sad does not know what stands where this writes.",
            "Write into an array of numbers, or bind the value to a name of its own.",
        )
    read = L.ITEM if len(op.operands) == 3 else L.field(op.primitive.word.split()[0])
    steps = op.operands[1:-1]
    again = tuple(map(t.index, steps))
    found: Operand = t.emit(read, (buffer, *again), tangent_kind(part))
    in_array = bool(steps) and isinstance(buffer.kind, K.Array)
    found = acc.seen(op.operands[0], found)
    if isinstance(part, K.Array) and not (in_array and copies(steps[0], sweep.makers)):
        found = t.emit(L.method("copy"), (found,), tangent_kind(part))
    if in_array and not each and may_repeat(steps[0], sweep.makers):
        found = of_last_writes(t, found, buffer, steps[0])
    if sign == "Sub":
        found = t.emit(L.PREFIX["USub"], (found,), tangent_kind(part))
    return Bar(fit_stored(t, found, part, value), isinstance(part, K.Array))


def turned_each(sweep: Sweep, op: Op, acc: Cotangents) -> None:
    """What was added at each index gets the cotangent of the place, which keeps it."""
    _, owner, index, stored = op.operands
    if isinstance(owner, Var) and acc.has(owner):
        word = op.primitive.word
        at = Op((), L.AUGMENTED_ITEM[word], (owner, index, stored), op.settings)
        found = taken_from(sweep, at, acc.buffer(owner), acc, word, each=True)
        if found is not None:
            acc.add(stored, found)


def turned_augmented(sweep: Sweep, op: Op, acc: Cotangents) -> None:
    """What was added in place gets the cotangent of the place, which keeps it."""
    word = op.primitive.word
    if word not in ("Add", "Sub"):
        raise NotYet(f"{word} in place of tangents")
    if op.primitive.form != "augmented":
        owner, stored = op.operands[0], op.operands[-1]
        if isinstance(owner, Var) and acc.has(owner):
            found = taken_from(sweep, op, acc.buffer(owner), acc, word)
            if found is not None:
                acc.add(stored, found)
        return
    old, stored = op.operands
    (out,) = op.outs
    bar = acc.of.pop(out, None)
    if bar is None:
        return
    kind = sweep.values[out].kind
    if not isinstance(kind, K.Array):
        raise NotYet("sequences that are joined")
    t, value = acc.t, value_of(bar)
    before = sweep.values.get(old) if isinstance(old, Var) else None
    if before is not None and not isinstance(before.kind, K.Array):
        acc.add(old, Bar(fit(t, value, kind, before)))  # a number that becomes an array
    else:
        acc.add(old, Bar(value, bar.own))
    if isinstance(stored, Var) and stored in sweep.values:
        if word == "Sub":
            value = t.emit(L.PREFIX["USub"], (value,), kind)
        else:
            value = t.emit(L.method("copy"), (value,), kind)
        acc.add(stored, Bar(fit_stored(t, value, kind, sweep.values[stored]), True))


def may_be_view(op: Op) -> bool:
    """Say whether what a function gives may be memory that it is given, and is written.

    Of numbers, lists and tuples a function makes an array of its own.
    """
    told = told_by(op)
    rule = registry.rule_for(told.fn)
    kinds = [kind_of(o) for o, dot in told.pairs if dot != NOTHING]
    copied = all(isinstance(k, K.Num | K.Array | K.List | K.Tuple) for k in kinds)
    ranks = [getattr(kind, "rank", None) for kind in kinds]
    shown = told.own and rule is not None and any(map(rule.shows, ranks))
    return bool(told.bases) or (shown and not copied)


def function_of(op: Op) -> object:
    """Return the function that an operation calls, if it is known."""
    return identities.function_of(op.operands[0])


def makes_object(op: Op) -> bool:
    """Say whether an operation makes an object of its fields."""
    callee = op.operands[0] if op.primitive is L.CALL else None
    return isinstance(callee, P.Outer) and callee.kind == K.Known(runtime.object_of)
