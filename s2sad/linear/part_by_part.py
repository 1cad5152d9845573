"""Cotangents of structures whose parts are known, written out part by part.

    s_bar = zeros_like(s)            s_bar = type(s)(0.0, np.zeros_like(s.w))
    add_into(s_bar, t)               s_bar.a += t.a; s_bar.w += t.w

Where the kind does not tell the parts, or a class does more than to store its fields, helpers do
this while the derivative runs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import gast

from s2sad import kinds as K
from s2sad import runtime
from s2sad.facts.results import binary_kind
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Place, Var
from s2sad.kinds import Kind
from s2sad.known.built import has_few, is_few, is_frozen
from s2sad.known.joined import holds_joined
from s2sad.linear.tangent_table import NOTHING, Table, Tangents, tangent_kind
from s2sad.linear.zero_tangents import nothing
from s2sad.primitives import language as L
from s2sad.primitives.record import Primitive

Read: TypeAlias = Callable[[], Operand]


def zeros_of(t: Tangents, v: Var) -> Var:
    """Return zeros in all places that a structure has in the end."""
    kind = kind_in_the_end(t.table, v)
    if kind is not None and _has_known(kind, is_few):
        made = _zeros(t, lambda: v, kind)
        assert isinstance(made, Var)
        return made
    if _holds_floats(kinds_of(t.table, v), K.List):
        count = t.call(P.Outer("len", K.Known(len)), (v,), K.INT)
        one = t.emit(L.LIST, (P.Const(0.0),), tangent_kind(v.kind))
        return t.emit(L.INFIX["Mult"], (one, count), tangent_kind(v.kind))
    array = array_in(kinds_of(t.table, v))
    if array is not None:
        item, out = Var("", array), Var("", tangent_kind(v.kind))
        with t.inside() as ops:
            zeros = nothing(t, item, array)
        body = P.Block((), tuple(ops), P.End("yield", (zeros,)))
        t.add(P.Collect((out,), "list", v, item, body, t.origin))
        return out
    if _holds_floats(kinds_of(t.table, v), K.Dict, K.OpenDict):
        fn = P.Outer("dict.fromkeys", K.Known(dict.fromkeys))
        return t.call(fn, (v, P.Const(0.0)), tangent_kind(v.kind))
    given = v in t.table.facts.params and v not in t.table.facts.written
    more = () if given and not holds_joined(v.kind) else (P.Const(0.0),)
    return t.call(t.table.helper(runtime.zeros_like), (v, *more), tangent_kind(v.kind))


def copied(t: Tangents, v: Var, value: Operand) -> Var:
    """Return the cotangent of a structure as one that may be changed in place."""
    if _holds_floats(kinds_of(t.table, v), K.List):
        return t.call(P.Outer("list", K.Known(list)), (value,), tangent_kind(v.kind))
    made = zeros_of(t, v)
    add_into(t, made, value, None)
    return made


def _holds_floats(kinds: Sequence[Kind], *classes: type[Kind]) -> bool:
    """Say whether 0.0 is the zero of all that a structure holds; it holds something."""
    inside = [part for k in kinds for part in K.together(k) if part != K.UNBOUND]
    plain = (isinstance(k, K.Num) and k.type == "float" and k.dtype in _DOUBLE for k in inside)
    return bool(inside) and all(isinstance(k, classes) for k in kinds) and all(plain)


def array_in(kinds: Sequence[Kind]) -> K.Array | None:
    """Return the kind of the arrays of which a list holds nothing else, each of one rank."""
    inside = [part for k in kinds for part in K.together(k) if not isinstance(part, K.Unbound)]
    arrays = [k for k in inside if isinstance(k, K.Array) and K.differentiable(k)]
    alike = len({(k.rank, k.dtype, k.namespace) for k in arrays}) == 1
    lists = all(isinstance(k, K.List) for k in kinds) and len(arrays) == len(inside)
    return arrays[0] if lists and alike and arrays[0].dtype != "any" else None


_DOUBLE = (None, "float64")


def add_into(t: Tangents, shadow: Var, value: Operand, kind: Kind | None) -> None:
    """Add the cotangent of a structure of some kind, None for one not known, to its shadow."""
    if kind is not None and _has_known(kind, has_few):
        _add(t, shadow, value, kind)
        return
    out = Var("", K.NONE)
    places = (Place(shadow, (P.Anywhere(),)),)
    given = (t.table.helper(runtime.add_into), shadow, value)
    t.add(Op((out,), L.CALL, given, (), places, places, t.origin))
    t.add(Op((), L.DISCARD, (out,), (), (), (), t.origin))


def add_to_field(t: Tangents, shadow: Var, kind: Kind, word: str, value: Operand) -> None:
    """Add to an attribute of the cotangent of an object of some kind."""
    _act_on_field(t, L.augmented_field(word, "Add"), shadow, kind, value)


def put_field(t: Tangents, shadow: Var, kind: Kind, word: str, value: Operand) -> None:
    """Set an attribute of the cotangent of an object of some kind."""
    _act_on_field(t, L.put_field(word), shadow, kind, value)


def _act_on_field(
    t: Tangents, primitive: Primitive, shadow: Var, kind: Kind, value: Operand
) -> None:
    """Change an attribute; where a class forbids that, those of its shadows are set anyway."""
    places = (Place(shadow, (P.Field(primitive.word.split()[0]),)),)
    told = (("anyway", True),) if is_frozen(kind) else ()
    t.add(Op((), primitive, (shadow, value), told, (), places, t.origin))


def kind_in_the_end(table: Table, v: Var) -> Kind | None:
    """Return the kind of a structure in the end; None where that has other parts than before."""
    known = kinds_of(table, v)
    return v.kind if known and all(_parts(k) == _parts(v.kind) for k in known) else None


def kinds_of(table: Table, v: Var) -> list[Kind]:
    """Return the kinds that a structure may have at any time; none where nobody knows.

    What is written has the kinds of all that its name is known to mean.
    """
    if v not in table.facts.written:
        return [v.kind]
    known = table.facts.analysed.kinds_by_name.get(v.name, [])
    return [v.kind, *known] if known else []


def _parts(kind: Kind) -> object:
    """Return what zeros of a kind look like."""
    if not kind.structure and not kind.inside:
        return K.erase_value(kind)
    return type(kind), getattr(kind, "cls", None), [(s, _parts(k)) for s, k in kind.by_step]


def _has_known(kind: Kind, known: Callable[[Kind], bool]) -> bool:
    """Say whether all structures in a kind are known: dicts and objects of few parts, tuples."""
    if isinstance(kind, K.Tuple):
        inner = kind.items
        return (
            kind.cls is None
            and all(k.structure <= isinstance(k, K.Tuple) for k in inner)
            and (all(_has_known(k, known) for k in inner))
        )
    if isinstance(kind, K.Dict | K.Obj):
        return known(kind) and all(_has_known(k, known) for k in kind.inside)
    return isinstance(kind, K.Num | K.Array | K.NoneKind | K.Str | K.Known | K.LocalFunction)


def _zeros(t: Tangents, value: Read, kind: Kind, all_floats: bool = False) -> Operand:
    """Return zeros like a value, which is read where they need it.

    What is constant has none, but for `all_floats` in a dict with active parts: under a key that is
    not known any of them may be read.
    """
    all_floats = all_floats or (isinstance(kind, K.Dict) and K.differentiable(kind))
    if isinstance(kind, K.Num | K.Array):
        kind = dataclasses.replace(kind, const=False) if all_floats else kind
        return nothing(t, value(), kind) if K.differentiable(kind) else NOTHING
    if not kind.inside:
        return NOTHING
    parts = [
        _zeros(t, lambda part=part: _read(t, value(), part), part.kind, all_floats)  # type: ignore[misc]
        for part in kind.parts
    ]
    if isinstance(kind, K.Obj):
        return t.emit(L.ANEW, (value(), *parts), tangent_kind(kind))
    if isinstance(kind, K.Tuple):
        return t.emit(L.TUPLE, parts, tangent_kind(kind))
    pairs = zip(map(P.Const, kind.steps), parts, strict=True)
    return t.emit(L.DICT, [o for pair in pairs for o in pair], tangent_kind(kind))


def _read(t: Tangents, whole: Operand, part: K.Part) -> Var:
    """Return a part of a structure."""
    if part.how == "field":
        return t.emit(L.field(part.step), (whole,), part.kind)
    return t.emit(L.ITEM, (whole, P.Const(part.step)), part.kind)


def _active(kind: Kind) -> Iterator[K.Part]:
    """Yield the parts of a structure that have cotangents, with the kinds of these."""
    for part in kind.parts:
        if K.differentiable(part.kind):
            yield K.Part(part.how, part.step, tangent_kind(part.kind))


def _add(t: Tangents, shadow: Var, value: Operand, kind: Kind) -> None:
    for part in _active(kind):
        given = _read(t, value, part)
        if K.is_container(part.kind):
            _add(t, _read(t, shadow, part), given, part.kind)
        elif part.how == "field" and not isinstance(part.kind, K.Tuple):
            add_to_field(t, shadow, kind, part.step, given)
        elif part.how == "field":
            made = _sum(t, _read(t, shadow, part), given, part.kind)
            put_field(t, shadow, kind, part.step, made)
        else:
            at = P.Const(part.step)
            places = (Place(shadow, (P.Item(at),)),)
            if isinstance(part.kind, K.Tuple):
                made = _sum(t, _read(t, shadow, part), given, part.kind)
                t.add(Op((), L.PUT_ITEM, (shadow, at, made), (), (), places, t.origin))
                continue
            added = L.AUGMENTED_ITEM["Add"]
            t.add(Op((), added, (shadow, at, given), (), (), places, t.origin))


def _sum(t: Tangents, one: Operand, other: Operand, kind: Kind) -> Operand:
    """Return the sum of two cotangents of numbers, arrays, or tuples of them."""
    if not isinstance(kind, K.Tuple):
        return t.emit(L.INFIX["Add"], (one, other), binary_kind(gast.Add, kind, kind))
    parts: list[Operand] = [NOTHING] * len(kind.items)
    for part in _active(kind):
        left, right = (_read(t, whole, part) for whole in (one, other))
        parts[part.step] = _sum(t, left, right, part.kind)
    return t.emit(L.TUPLE, parts, kind)
