"""What a part of a shadow holds is set aside only where the part changes before it is passed on.

t_bar = T_bar[0].copy()
T_bar[0] = 0.0            ->    T_bar[1] += T_bar[0]
T_bar[1] += t_bar               T_bar[0] = 0.0

t_bar = T_bar[1:].copy()
T_bar[1:] = 0.0           ->    t_bar = T_bar[1:].copy()
T_bar[:-1] += 2.0 * t_bar       T_bar[:-1] += 2.0 * t_bar
T_bar[1:] += t_bar
"""

from __future__ import annotations

import gast

from s2sad.known.callees import Callees
from s2sad.nodes import (
    Block,
    Node,
    blocks_of,
    children,
    clone,
    copied,
    names_read,
    number,
    same,
    substitute,
    walk,
)
from s2sad.polish.effects import Effects, EffectTable, is_compound, root
from s2sad.polish.together import added_to, leaves
from s2sad.stages import Comment
from s2sad.syntax.flow import live_in

Names = frozenset[str]


def aside(
    block: Block, live_out: Names, held: Names, effects: EffectTable, callees: Callees
) -> Block:
    """Return a block in which parts of shadows are copied and cleared as late as can be.

    `held` are the names made for what is set aside.
    """
    live: dict[object, Names] = {}
    live_in(block, live_out, live.__setitem__)
    _block(block, held, effects, callees, live)
    return block


def _block(
    block: Block,
    held: Names,
    effects: EffectTable,
    callees: Callees,
    live: dict[object, Names],
) -> None:
    for position in range(len(block) - 1, -1, -1):
        s = block[position]
        for part in blocks_of(s):
            _block(part, held, effects, callees, live)
        place = _set_aside(block, position, held)
        if place is None:
            continue
        if not _keeps(block, position, place, effects):
            _clear_later(block, position, place, effects, callees, live)


def _set_aside(block: Block, position: int, held: Names) -> Node | None:
    """Return the P of `t = P.copy()` where `P = 0.0` comes next."""
    s = block[position]
    if not isinstance(s, gast.Assign) or not isinstance(s.targets[0], gast.Name):
        return None
    place = copied(s.value)
    if s.targets[0].id not in held or not isinstance(place, gast.Subscript):
        return None
    if not isinstance(place.value, gast.Name) or position + 1 >= len(block):
        return None
    clear = block[position + 1]
    if not isinstance(clear, gast.Assign) or number(clear.value) != 0:
        return None
    return place if same(clear.targets[0], place) else None


def _keeps(block: Block, position: int, place: Node, effects: EffectTable) -> bool:
    """Drop the clearing where what was there is added back; say whether it is.

    Until then there are only additions to the shadow, in whatever order.
    """
    held = block[position].targets[0].id
    for at in range(position + 2, len(block)):
        s = block[at]
        if isinstance(s, Comment):
            continue
        if _adds(s, place, held):
            del block[at]
            del block[position + 1]
            return True
        e = effects.of(s)
        if e.unknown or leaves(s) or e.writes & (names_read(place.slice) | {held}):
            return False
        if _touches(e, place, effects):
            value = s.value if isinstance(s, gast.AugAssign) else None
            if value is None or added_to(s) != root(place):
                return False
            if names_read(value) & _memory(place, effects):
                return False
    return False


def _adds(s: Node, place: Node, held: str) -> bool:
    return (
        isinstance(s, gast.AugAssign)
        and isinstance(s.op, gast.Add)
        and isinstance(s.value, gast.Name)
        and s.value.id == held
        and same(s.target, place)
    )


def _clear_later(
    block: Block,
    position: int,
    place: Node,
    effects: EffectTable,
    callees: Callees,
    live: dict[object, Names],
) -> None:
    """Clear after the last use of what was there, where nothing else looks at it until then."""
    held = block[position].targets[0].id
    uses: list[int] = []
    for at in range(position + 2, len(block)):
        s = block[at]
        if isinstance(s, Comment):
            continue
        e = effects.of(s)
        if e.unknown or leaves(s) or e.writes & (names_read(place.slice) | {held}):
            return
        if held in e.reads:
            if is_compound(s) or not _only_reads(s, held, callees):
                return
            uses.append(at)
        if _touches(e, place, effects) and not _beside(s, place, effects):
            return
        if held not in live.get(s, frozenset({held})):
            break
    else:
        return
    if not uses:
        return
    _use_in_place(block, position, place, uses, effects)


def _use_in_place(
    block: Block, position: int, place: Node, uses: list[int], effects: EffectTable
) -> None:
    held, clear = block[position].targets[0].id, block[position + 1]
    block.insert(uses[-1] + 1, clear)
    count = sum(isinstance(n, gast.Name) and n.id == held for at in uses for n in walk(block[at]))
    if count > 1:
        block[position].value = place
        effects.forget(block[position])
        del block[position + 1]
        return
    user = block[uses[0]]
    user.value = substitute(user.value, {held: clone(place)})
    effects.forget(user)
    del block[position : position + 2]


def _memory(place: Node, effects: EffectTable) -> Names:
    base = root(place)
    return effects.sharing.get(base, frozenset()) | {base}


def _touches(e: Effects, place: Node, effects: EffectTable) -> bool:
    return bool((e.reads | e.writes) & _memory(place, effects))


def _beside(s: Node, place: Node, effects: EffectTable) -> bool:
    """Say whether a statement only adds to a part of the shadow that has nothing of a place."""
    if not isinstance(s, gast.AugAssign) or added_to(s) != root(place):
        return False
    if names_read(s.value) & _memory(place, effects):
        return False
    return disjoint(s.target.slice, place.slice)


def disjoint(left: Node, right: Node) -> bool:
    """Say whether two indices surely select different elements of one array."""
    one = left.elts if isinstance(left, gast.Tuple) else [left]
    other = right.elts if isinstance(right, gast.Tuple) else [right]
    for a, b in zip(one, other, strict=False):
        if not _one_axis(a) or not _one_axis(b):
            return False
        if _apart(a, b) or _apart(b, a):
            return True
    return False


def _one_axis(index: Node) -> bool:
    return isinstance(index, gast.Slice) or type(number(index)) is int


def _apart(a: Node, b: Node) -> bool:
    """Say whether an element of an axis is not another one, or not in a slice."""
    at = number(a)
    if at is None:
        return False
    if not isinstance(b, gast.Slice):
        other = number(b)
        return other is not None and (at < 0) == (other < 0) and at != other
    if b.step is not None:
        return False
    lower = None if b.lower is None else number(b.lower)
    upper = None if b.upper is None else number(b.upper)
    if at >= 0:
        above = upper is not None and 0 <= upper <= at
        return above or (lower is not None and at < lower)
    below = lower is not None and at < lower < 0
    return below or (upper is not None and upper <= at)


def _only_reads(s: Node, held: str, callees: Callees) -> bool:
    """Say whether a statement computes with a value, and gives it no other name."""
    if isinstance(s, gast.AugAssign):
        inside = held not in names_read(s.target)
        return inside and (isinstance(s.value, gast.Name) or _computes(s.value, held, callees))
    return isinstance(s, gast.Assign) and _computes(s.value, held, callees)


def _computes(node: Node, held: str, callees: Callees) -> bool:
    """Say whether a value that occurs in an expression is an operand wherever it does."""
    if isinstance(node, gast.BinOp | gast.UnaryOp):
        below = children(node)
    elif isinstance(node, gast.Call) and callees.is_new(node):
        below = list(node.args)
        owner = [] if isinstance(node.func, gast.Name) else [node.func.value]
        if any(held in names_read(n) for n in [*owner, *(k.value for k in node.keywords)]):
            return False
    else:
        return held not in names_read(node)
    return all(
        isinstance(c, gast.Name) or _computes(c, held, callees)
        for c in below
        if isinstance(c, gast.expr)
    )
