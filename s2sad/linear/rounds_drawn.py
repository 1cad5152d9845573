"""Loops over what is active, as they are turned round: each round knows what it has drawn.

for x in xs             for k, x in enumerate(xs)          in each round    x_dot = xs_dot[k]
for x in reversed(xs)   for k, x in enumerate(...)         x_dot = xs_dot[len(xs) - 1 - k]
for v in d.values()     for key, v in d.items()            v_dot = d_dot[key]
"""

from __future__ import annotations

from dataclasses import dataclass

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Var
from s2sad.linear.by_identity import is_structure
from s2sad.linear.operands import is_array, kind_of
from s2sad.linear.tangent_table import Tangents, tangent_kind
from s2sad.linear.woven import maker_of
from s2sad.primitives import language as L


@dataclass(frozen=True)
class Drawn:
    """What a loop binds that has a tangent: an item of `source`, at the `index` of the round.

    It may be counted from the `last` index backward.
    """

    target: P.Target
    source: Operand
    index: Operand
    last: Operand | None = None


def counted(
    t: Tangents, over: Operand, target: P.Target
) -> tuple[Operand, P.Target, tuple[Drawn, ...]]:
    """Return what a loop runs over and binds so that each round knows what it draws."""
    if not any(map(t.table.carries, P.flat(target))):
        return over, target, ()
    made = maker_of(t, over)
    fn = called(made)
    if fn is enumerate and made is not None and isinstance(target, tuple):
        if len(made.operands) == 2 and not made.settings and isinstance(target[0], Var):
            return over, target, _drawn(t, made.operands[1], target[1], target[0])
    entries = _entries(t, over, target)
    if entries is not None:
        return entries
    turn = Var("", K.INT)
    drawn = _drawn(t, over, target, turn)
    if not drawn:
        return over, target, ()
    both = t.emit(L.CALL, (P.Outer("enumerate", K.Known(enumerate)), over), K.UNKNOWN)
    return both, (turn, target), drawn


def _entries(
    t: Tangents, over: Operand, target: P.Target
) -> tuple[Operand, P.Target, tuple[Drawn, ...]] | None:
    """Return a loop over the entries of a dict, which are found by their keys."""
    v = P.variable(over)
    made = t.maker(v) if v is not None else None
    word = made.primitive.word if made is not None and made.primitive.form == "method" else ""
    if made is None or word not in ("values", "items"):
        return None
    owner = made.operands[0]
    if not isinstance(kind_of(owner), K.AnyDict) or not t.has(owner):
        return None
    if word == "values":
        key = Var("", K.UNKNOWN)
        over = t.emit(L.method("items"), (owner,), K.UNKNOWN)
        return over, (key, target), (Drawn(target, owner, key),)
    if not isinstance(target, tuple) or len(target) != 2 or not isinstance(target[0], Var):
        raise t.cannot(
            "s2sad cannot run a loop backward over the entries of a dict that it takes whole.",
            "Take each entry apart in the loop: `for key, value in d.items():`.",
        )
    return over, target, (Drawn(target[1], owner, target[0]),)


def _drawn(t: Tangents, source: Operand, target: P.Target, index: Operand) -> tuple[Drawn, ...]:
    if not any(map(t.table.carries, P.flat(target))):
        return ()
    made = maker_of(t, source)
    fn = called(made)
    if made is not None and isinstance(target, tuple):
        if fn is zip and not any(isinstance(o, P.Spread) for o in made.operands):
            parts = zip(made.operands[1:], target, strict=True)
            return tuple(d for s, part in parts for d in _drawn(t, s, part, index))
        if fn is enumerate and len(target) == 2:
            return _drawn(t, made.operands[1], target[1], index)
    if made is not None and fn is reversed and isinstance(index, Var):
        whole = made.operands[1]
        length = t.call(P.Outer("len", K.Known(len)), (whole,), K.INT)
        last = t.emit(L.INFIX["Sub"], (length, P.Const(1)), K.INT)
        return tuple(
            Drawn(d.target, d.source, d.index, last) for d in _drawn(t, whole, target, index)
        )
    kind = kind_of(source)
    if not t.has(source) or not (isinstance(kind, K.List | K.Tuple) or is_array(kind)):
        raise t.cannot(
            f"This loop runs over {K.describe(kind)}; s2sad runs loops backward over lists, arrays "
            "and tuples.",
            "Make a list of it before the loop.",
        )
    if isinstance(kind, K.Tuple):
        return _of_tuple(t, source, kind, target, index)
    return (Drawn(target, source, index),)


def _of_tuple(
    t: Tangents, source: Operand, kind: K.Tuple, target: P.Target, index: Operand
) -> tuple[Drawn, ...]:
    """Draw from a list of what a tuple holds: its cotangents are found by an index."""
    item = K.union(kind.items)
    if isinstance(item, K.Unknown):
        raise t.cannot(
            "This loop runs over a tuple of values of several kinds; s2sad cannot run it backward.",
            "Write the rounds one after the other, or keep values of one kind together.",
        )
    made = t.call(P.Outer("list", K.Known(list)), (source,), K.List(item))
    t.give(made, t.call(P.Outer("list", K.Known(list)), (t.maybe(source),), K.List(item)))
    return (Drawn(target, made, index),)


def draw(t: Tangents, d: Drawn) -> None:
    """Give what a loop binds the tangents of the items that it is bound to."""
    index = d.index
    if d.last is not None:
        index = t.emit(L.INFIX["Sub"], (d.last, index), K.INT)
    kind = K.without_none(kind_of(d.source))
    item = K.union(K.together(kind)) if is_structure(kind) else K.UNKNOWN
    _bound(t, d.target, d.source, index, item)


def _bound(t: Tangents, target: P.Target, source: Operand, index: Operand, kind: K.Kind) -> None:
    if isinstance(target, Var):
        if t.table.carries(target):
            given = (t.maybe(source), index)
            t.give(target, t.emit(L.ITEM, given, tangent_kind(target.kind)))
        return
    if not any(map(t.table.carries, P.flat(target))):
        return
    item = t.emit(L.ITEM, (source, index), kind)
    t.of[item] = t.emit(L.ITEM, (t.maybe(source), index), tangent_kind(kind))
    for i, part in enumerate(target):
        _bound(t, part, item, P.Const(i), kind.items[i] if isinstance(kind, K.Tuple) else K.UNKNOWN)


def called(made: Op | None) -> object:
    """Return the function that an operation calls, if it is known."""
    fn = made.operands[0] if made is not None and made.primitive is L.CALL else None
    return fn.kind.value if isinstance(fn, P.Outer) and isinstance(fn.kind, K.Known) else None
