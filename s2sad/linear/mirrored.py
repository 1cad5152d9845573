"""The tangent of one operation: what handles structures and memory is said again of tangents.

t = (x, 2.0, "a")        t_dot = (x_dot, 0.0, None)
v = u[i]                 v_dot = u_dot[i]
u[i] = v                 u_dot[i] = v_dot
u[i] *= v                u_dot[i] = tangent of multiply(..., u[i], v; u_dot[i], v_dot)
xs.append(v)             xs_dot.append(v_dot)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import gast

from s2sad import kinds as K
from s2sad import registry
from s2sad.errors import InternalError
from s2sad.facts.order import order_matters
from s2sad.facts.results import array_item
from s2sad.inside import stop_gradient
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Place, Var
from s2sad.linear.before import before
from s2sad.linear.called import called
from s2sad.linear.methods import method
from s2sad.linear.operands import kind_of
from s2sad.linear.said_of_hooks import hook
from s2sad.linear.tangent_table import Tangents, cell_of, is_hook
from s2sad.linear.tangents_of import OPERATORS, as_array, computed, put
from s2sad.linear.user_calls import by_method, call_with_tangents, user_call
from s2sad.linear.zero_tangents import give_zeros, tangent_of
from s2sad.primitives import language as L
from s2sad.stages import STANDS_FOR

_SEQUENCES = K.List | K.Tuple


def operation(t: Tangents, op: Op) -> None:
    """Add an operation with what it does to tangents."""
    t.origin = op.origin
    if op.primitive is L.DISCARD:
        _discard(t, op)
        return
    if t.table.stops(op):
        _stopped(t, op)
        return
    if is_hook(op):
        hook(t, op)
        return
    touched = [*P.operands(op), *(p.object for p in op.writes)]
    cells = [v for v in touched if isinstance(v, Var) and v.cell]
    moving = any(map(t.has, touched)) or any(map(t.table.carries, (*op.outs, *cells)))
    handler = _FORMS.get(op.primitive.form)
    if not moving or handler is None:
        t.add(op)
        return
    ours = user_call(t, op) if by_method(t, op) else None
    if ours is not None:
        call_with_tangents(t, op, ours)
        return
    rewritten = any(word in STANDS_FOR for word, _ in op.settings)
    if rewritten or (t.table.backward and op.primitive is L.PUT_ITEM):
        _look_at_memory(t, op)
    stopped = t.table.facts.analysed.function.stopped
    if any(v.name in stopped for v in op.outs if v.name):
        t.add(op)
    else:
        t.before = before(t, op) if t.table.backward else ()
        handler(t, op)
        t.before = ()
    for v in op.outs:
        if t.table.carries(v) and v not in t.of:
            give_zeros(t, v)


def _stopped(t: Tangents, op: Op) -> None:
    """Say of a value that it is stopped, where the text is derived again; an array is a copy.

    By its memory it would be taken for what it was made of.
    """
    (out,), given = op.outs, op.operands
    if op.primitive is not L.SAME:
        raise InternalError("a value is stopped where it is computed", place=t.table.place(t.at))
    made = t.call(t.table.helper(stop_gradient), given, out.kind)
    if isinstance(out.kind, K.Array):
        made = t.emit(L.method("copy"), (made,), out.kind)
    t.add(dataclasses.replace(op, operands=(made,)))
    if t.table.carries(out):
        give_zeros(t, out)


def _look_at_memory(t: Tangents, op: Op) -> None:
    """Look at how memory is shared before a write that may not copy first.

    A tangent is written in the same order as the value, unless the write stands for a call; the
    cotangent of a write is that of copying first.

    A[index] = w      in_order(A[index], v, "np.place(A, mask, v)"); A[index] = w
    """
    here = t.table.facts.analysed
    check = order_matters(op.origin, here.function, here.kinds, t.table.facts.aliases)
    if check is None:
        return
    owner, index, stored = op.operands
    value: Operand = stored
    if check.value is not op.origin.value:
        if not isinstance(check.value, gast.Name) or check.value.id not in t.env:
            raise t.cannot(
                "s2sad cannot look at how memory is shared before this write.",
                "Pass the call copies: a.copy().",
            )
        value = t.env[check.value.id]
    place = owner
    if not isinstance(check.place, gast.Name):
        place = t.emit(L.ITEM, (owner, t.index(index)), K.UNKNOWN)
    helper = t.table.helper(check.helper)
    looked = t.call(helper, (place, value, P.Const(check.at)), K.NONE)
    t.add(Op((), L.DISCARD, (looked,), (), (), (), op.origin))


def _out(t: Tangents, op: Op) -> Var | None:
    """Return the result of an operation, if it has a tangent."""
    (out,) = op.outs
    return out if t.table.carries(out) else None


def _infix(t: Tangents, op: Op) -> None:
    t.add(op)
    out = _out(t, op)
    if out is None:
        return
    if isinstance(out.kind, _SEQUENCES):
        sides = [tangent_of(t, o) if isinstance(kind_of(o), _SEQUENCES) else o for o in op.operands]
        t.give(out, t.emit(op.primitive, sides, out.kind))
        return
    classes = [k.cls if isinstance(k, K.Opaque) else None for k in map(kind_of, op.operands)]
    if any(classes):
        fn = registry.operator_function(op.primitive.word, *classes)
        if fn is None:
            raise t.undecided(out.kind)
        computed(t, out, fn, op.operands)
        return
    _check_numbers(t, op)
    _of_arrays(t, out, op.primitive.word, op.operands)


def _of_arrays(t: Tangents, out: Var, word: str, operands: tuple[Operand, ...]) -> Operand:
    """Give what an operator computes its tangent; NumPy makes arrays of lists and tuples."""
    fn = OPERATORS[word]
    return computed(t, out, fn, [as_array(t, fn, o) for o in operands])


def _check_numbers(t: Tangents, op: Op) -> None:
    """Stop at an operator on objects whose method is not known."""
    for kind in map(kind_of, op.operands):
        if isinstance(kind, K.Obj | K.OneOf | K.AnyDict):
            raise t.cannot(
                f"s2sad cannot tell which method this operator calls on {K.describe(kind)}.",
                "Call the method by its name.",
            )


def _prefix(t: Tangents, op: Op) -> None:
    t.add(op)
    out = _out(t, op)
    if out is not None and t.has(op.operands[0]):
        t.give(out, t.emit(op.primitive, (t.maybe(op.operands[0]),), out.kind))


def _same(t: Tangents, op: Op) -> None:
    t.add(op)
    out = _out(t, op)
    if out is not None:
        t.give(out, tangent_of(t, op.operands[0]))


def _display(t: Tangents, op: Op) -> None:
    t.add(op)
    out = _out(t, op)
    if out is not None:
        _displayed(t, op, out, [_part(t, o) for o in op.operands])


def _displayed(t: Tangents, op: Op, out: Var, parts: list[Operand]) -> None:
    """Give a display its tangent; that of literals is made of no other tangent."""
    t.give(out, t.emit(op.primitive, parts, out.kind))
    if not any(map(t.has, op.operands)):
        t.table.zeros.add(t.of[out])


def _part(t: Tangents, operand: Operand) -> Operand:
    if isinstance(operand, P.Spread):
        value = tangent_of(t, operand.value)
        assert not isinstance(value, P.Unbound | P.Spread)
        return P.Spread(value, operand.named)
    return tangent_of(t, operand)


def _dict(t: Tangents, op: Op) -> None:
    t.add(op)
    out = _out(t, op)
    if out is None:
        return
    parts: list[Operand] = []
    is_key = True
    for o in op.operands:
        if isinstance(o, P.Spread):
            parts.append(_part(t, o))
            continue
        parts.append(o if is_key else tangent_of(t, o))
        is_key = not is_key
    _displayed(t, op, out, parts)


def _item(t: Tangents, op: Op) -> None:
    t.add(op)
    out, owner = _out(t, op), op.operands[0]
    if out is None or not t.has(owner):
        return
    if isinstance(kind_of(owner), K.Opaque | K.Unknown):
        raise t.undecided(kind_of(owner))
    t.give(out, t.emit(op.primitive, (t.maybe(owner), t.index(op.operands[1])), out.kind))


def _field(t: Tangents, op: Op) -> None:
    t.add(op)
    out, (owner,), word = _out(t, op), op.operands, op.primitive.word
    if out is None or not t.has(owner):
        return
    kind = K.without_none(t.kind(owner))
    if isinstance(kind, K.Tuple) and kind.cls is not None and word in K.names_of(kind):
        index = K.names_of(kind).index(word)
        t.give(out, t.emit(L.ITEM, (t.maybe(owner), P.Const(index)), out.kind))
    elif isinstance(kind, K.Obj) and word not in dict(kind.fields):
        give_zeros(t, out)  # an attribute of the class
    elif isinstance(kind, K.Obj) or (K.is_numeric(kind) and _shows_all(t, word)):
        t.give(out, t.emit(op.primitive, (t.maybe(owner),), out.kind))
    else:
        fn = registry.property_function(word) if K.is_numeric(kind) else None
        if isinstance(kind, K.Opaque):
            fn = registry.object_function(kind.cls, f".{word}")
        if fn is None:
            raise t.undecided(kind)
        computed(t, out, fn, (owner,))


def _shows_all(t: Tangents, word: str) -> bool:
    """Say whether an attribute is a view of an array: of tangents it is one, too."""
    rule = registry.rule_for(registry.property_function(word))
    return rule is not None and rule.view == "always" and rule.linear and not t.table.backward


def _put(t: Tangents, op: Op) -> None:
    owner, *steps, value = op.operands
    if not t.has(owner):
        t.add(op)
        return
    shadow = t.maybe(owner)
    assert isinstance(shadow, Var)
    plain = isinstance(kind_of(owner), K.Array)
    if plain and not steps:
        raise t.cannot(
            "The result depends on an array of which this writes an attribute; s2sad cannot "
            "differentiate this write yet.",
            "Make another array instead: np.reshape(a, shape).",
        )
    stored = P.Const(0.0) if plain and not t.has(value) else tangent_of(t, value)
    t.add(op)
    part, whole, said = kind_of(value), kind_of(owner), dict(op.settings).get("part")
    if isinstance(said, K.Array):  # it says which slices are of one length
        part = said
    elif isinstance(whole, K.Array):
        part = array_item(whole, _index_kind(t, steps[0]))
    rest = tuple((n, v) for n, v in op.settings if n != "part")
    told = dataclasses.replace(op, settings=(("part", part), *rest))
    t.act(told, (shadow, *(t.index(i) for i in steps), stored), shadow)


def _index_kind(t: Tangents, index: Operand) -> object:
    """Return the kind of an index: of a slice, those of its bounds."""
    v = P.variable(index)
    made = t.maker(v) if v is not None else None
    if made is not None and made.primitive is L.SLICE:
        return slice(*map(kind_of, made.operands))
    if made is not None and made.primitive is L.TUPLE:
        return tuple(_index_kind(t, o) for o in made.operands)
    return kind_of(index)


def _drop(t: Tangents, op: Op) -> None:
    owner, *steps = op.operands
    t.add(op)
    shadow = t.maybe(owner)
    if isinstance(shadow, Var):
        t.act(op, (shadow, *(t.index(i) for i in steps)), shadow)


def _augmented_part(t: Tangents, op: Op) -> None:
    """`u[i] += v` adds the tangent; any other operation asks for the old value before."""
    owner, *steps, value = op.operands
    shadow = t.maybe(owner)
    word = op.primitive.word.split()[-1]
    if not isinstance(shadow, Var):
        t.add(op)
        return
    if word in ("Add", "Sub") and t.has(value):
        t.add(op)
        value = _as_stored(t, word, value)
        t.act(op, (shadow, *(t.index(i) for i in steps), t.maybe(value)), shadow)
        return
    if word in ("Add", "Sub") and K.is_numeric(kind_of(value)):
        t.add(op)
        return
    kind = dict(op.settings)["part"]
    if not steps or not isinstance(kind, K.Num | K.Array):
        raise t.cannot(
            f"s2sad cannot differentiate this operation in place on {K.describe(kind_of(owner))}.",
            "Compute the new value first, then store it.",
        )
    old, dot = (_part_of(t, whole, steps[0], kind) for whole in (owner, shadow))
    if old is not owner:
        t.of[old] = dot
    new = t.emit(L.INFIX[word], (old, value), kind)
    made = _of_arrays(t, new, word, (old, value))
    places = (Place(shadow, (P.Item(steps[0]),)),)
    told = (("part", kind),)
    t.add(Op((), L.PUT_ITEM, (shadow, t.index(steps[0]), made), told, (), places, op.origin))
    t.add(op)


def _as_stored(t: Tangents, word: str, value: Operand) -> Operand:
    """Return the array that is made of a list or a tuple which is added into one.

    Its cotangent is that of the array, made a list or a tuple again.
    """
    return as_array(t, OPERATORS[word], value) if t.table.backward else value


def _part_of(t: Tangents, whole: Operand, step: Operand, kind: K.Kind) -> Var:
    """Return a part of an array; all of it is the array."""
    if step == P.Const(...) and isinstance(whole, Var):
        return whole
    return t.emit(L.ITEM, (whole, t.index(step)), kind)


def _augmented(t: Tangents, op: Op) -> None:
    """`x += v` binds a number anew, also to an array; of an array, the memory is written."""
    old, value = op.operands
    (out,) = op.outs
    _check_numbers(t, op)
    word = op.primitive.word
    shadow = t.maybe(old)
    if not all(isinstance(kind_of(o), K.Array | K.List) for o in (old, out)):
        t.add(op)
        if t.table.carries(out):
            if isinstance(out.kind, _SEQUENCES):
                sides = [tangent_of(t, o) for o in op.operands]
                t.give(out, t.emit(L.INFIX[word], sides, out.kind))
            else:
                _of_arrays(t, out, word, (old, value))
        return
    if not isinstance(shadow, Var):
        if t.table.carries(out):
            raise t.cannot(
                "This statement writes what depends on an argument into memory that does not.",
                "Write the operation out, with a new value: a = a + b.",
            )
        t.add(op)
        return
    if isinstance(out.kind, K.List) or (word in ("Add", "Sub") and t.has(value)):
        if isinstance(out.kind, K.Array):
            value = _as_stored(t, word, value)
        added = tangent_of(t, value) if word == "Add" or word == "Sub" else value
        t.add(op)
        dot = t.bind(out)
        writes = (Place(shadow),)
        told = (*op.settings, *t.before)
        t.add(Op((dot,), op.primitive, (shadow, added), told, (), writes, op.origin))
        return
    if word not in ("Add", "Sub"):
        new = t.emit(L.INFIX[word], (old, value), out.kind)
        made = _of_arrays(t, new, word, (old, value))
        put(t, shadow, made)
    t.add(op)
    t.of[out] = shadow


def _each(t: Tangents, op: Op) -> None:
    """The same for each index, one after the other: a call says that, of tangents, too."""
    fn, owner, index, value = op.operands
    shadow = t.maybe(owner)
    _call_each(t, op, (fn, owner, index, value))
    if not isinstance(shadow, Var):
        return
    if op.primitive.word not in ("Add", "Sub"):
        raise t.cannot(
            f"s2sad cannot differentiate {op.primitive.word} at indices that may repeat.",
            "Use np.add.at, or loop over the indices.",
        )
    if not t.has(value):
        return
    if not t.table.backward:
        _call_each(t, op, (fn, shadow, index, t.maybe(value)))
        return
    whole = kind_of(owner)
    part = array_item(whole, _index_kind(t, index)) if isinstance(whole, K.Array) else K.UNKNOWN
    given = (fn, shadow, t.index(index), t.maybe(value))
    places = (Place(shadow, (P.Item(index),)),)
    t.add(Op((), op.primitive, given, (("part", part),), (), places, op.origin))


def _call_each(t: Tangents, op: Op, given: tuple[Operand, ...]) -> None:
    fn, owner, index, value = given
    out = Var("", K.NONE)
    at = t.index(index, as_argument=True)
    places = (Place(owner, (P.Item(at),)),) if isinstance(owner, Var) else ()
    operands = (fn, owner, at, value)
    t.add(Op((out,), L.CALL, operands, (), (), places, op.origin))
    t.add(Op((), L.DISCARD, (out,), (), (), (), op.origin))


def _unpack(t: Tangents, op: Op) -> None:
    t.add(op)
    (value,) = op.operands
    if not t.has(value):
        return
    if not isinstance(kind_of(value), K.Tuple | K.List | K.Array | K.Iterable_):
        raise t.undecided(kind_of(value))
    shadow = t.maybe(value)
    by_items = t.table.backward and isinstance(kind_of(value), K.List)  # each has its place there
    if all(map(t.table.carries, op.outs)) and not by_items:
        dots = tuple(map(t.bind, op.outs))
        assert isinstance(shadow, Var)
        t.add(dataclasses.replace(op, outs=dots, operands=(shadow,), reads=(Place(shadow),)))
        return
    if isinstance(kind_of(value), K.Iterable_) and any(map(t.table.carries, op.outs)):
        raise t.cannot(
            "s2sad cannot take an iterator apart of which only some items have derivatives.",
            "Make it a list first: list(...).",
        )
    for i, v in enumerate(op.outs):
        if t.table.carries(v):
            t.give(v, t.emit(L.ITEM, (shadow, P.Const(i)), v.kind))


def _look(t: Tangents, op: Op) -> None:
    """A variable that an inner function, or a try, binds has a tangent of that sort."""
    t.add(op)
    (cell,), out = op.operands, _out(t, op)
    if out is not None and isinstance(cell, Var) and t.table.carries(cell):
        dot = cell_of(t, cell)
        t.add(Op((t.bind(out),), op.primitive, (dot,), (), (Place(dot),), (), op.origin))


def _bind(t: Tangents, op: Op) -> None:
    cell, value = op.operands
    t.add(op)
    if not isinstance(cell, Var) or not t.table.carries(cell) or _is_function(value):
        return
    if op.primitive is L.BIND_INSIDE:
        raise t.cannot(
            f"This expression binds `{cell.name}`, and that has a derivative.",
            "Assign it in a statement of its own.",
        )
    dot = cell_of(t, cell)
    t.add(Op((), op.primitive, (dot, tangent_of(t, value)), (), (), (Place(dot),), op.origin))


def _is_function(value: Operand) -> bool:
    return isinstance(kind_of(value), K.Known | K.LocalFunction | K.Choice)


def _forget(t: Tangents, op: Op) -> None:
    (cell,) = op.operands
    t.add(op)
    if isinstance(cell, Var) and t.table.carries(cell) and cell in t.of:
        dot = cell_of(t, cell)
        t.add(Op((), op.primitive, (dot,), (), (), (Place(dot),), op.origin))


def _discard(t: Tangents, op: Op) -> None:
    """That nobody reads a value is said behind it, before what happens to its tangent."""
    places = (i for i in range(len(t.ops), 0, -1) if op.operands[0] in t.ops[i - 1].outs)
    t.ops.insert(next(places, len(t.ops)), op)


def _plain(t: Tangents, op: Op) -> None:
    t.add(op)


_FORMS: dict[str, Callable[[Tangents, Op], None]] = {
    "infix": _infix,
    "prefix": _prefix,
    "compare": _plain,
    "augmented": _augmented,
    "augmented item": _augmented_part,
    "augmented field": _augmented_part,
    "each item": _each,
    "same": _same,
    "item": _item,
    "field": _field,
    "put item": _put,
    "put field": _put,
    "drop item": _drop,
    "drop field": _drop,
    "call": called,
    "method": method,
    "tuple": _display,
    "list": _display,
    "dict": _dict,
    "unpack": _unpack,
    "look": _look,
    "bind": _bind,
    "bind inside": _bind,
    "forget": _forget,
    "text": _plain,
    "closure": _plain,
}
