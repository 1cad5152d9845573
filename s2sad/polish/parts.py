"""First contributions to parts of an array of zeros are assigned, later ones added.

z_bar = np.zeros_like(z)             z_bar = np.zeros_like(z)
z_bar[n:] += v_bar            ->     z_bar[n:] = v_bar
z_bar[:n] += u_bar                   z_bar[:n] = u_bar

A part is still zero where no part before it, in the same block, meets it.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping

import gast

from s2sad import kinds as K
from s2sad.kinds import Kind
from s2sad.nodes import (
    Block,
    Node,
    block_writes,
    blocks_of,
    names_read,
    names_written,
    number,
    same,
    walk,
)

_Form = dict[str, int]  # a sum of lengths, each so many times; under "" what is added to it


def assign_parts(
    block: Block, shadows: Container[str], kinds: Mapping[str, Kind], numpy: str
) -> Block:
    """Return a block where what is added to parts of `shadows` that are zero is assigned."""
    for position, s in enumerate(block):
        for part in blocks_of(s):
            assign_parts(part, shadows, kinds, numpy)
        shadow = _zeros(s, numpy)
        if shadow is not None and shadow in shadows:
            _assign_from(block, position + 1, shadow, kinds)
    return block


def _zeros(s: Node, numpy: str) -> str | None:
    """Return the name that a statement gives to a new array of zeros."""
    if not isinstance(s, gast.Assign) or not isinstance(s.targets[0], gast.Name):
        return None
    func = getattr(s.value, "func", None)
    if not isinstance(func, gast.Attribute) or func.attr not in ("zeros", "zeros_like"):
        return None
    if not isinstance(func.value, gast.Name) or func.value.id != numpy:
        return None
    return str(s.targets[0].id)


def _assign_from(block: Block, start: int, shadow: str, kinds: Mapping[str, Kind]) -> None:
    """Assign to the parts of a shadow from a place in a block on, for as long as they are zero."""
    met: list[Node] = []
    read: set[str] = set()
    for position in range(start, len(block)):
        s = block[position]
        if blocks_of(s):
            if shadow in names_read(s) | names_written(s):
                return
            read_anew = block_writes([s]) & read
        elif _is_part(s, shadow, kinds):
            if not all(_apart(s.target.slice, other, kinds) for other in met):
                return
            met.append(s.target.slice)
            read |= names_read(s.target.slice)
            if isinstance(s.op, gast.Add):
                block[position] = gast.Assign([s.target], s.value, None)
            continue
        else:
            if any(isinstance(n, gast.Name) and n.id == shadow for n in walk(s)):
                return
            read_anew = names_written(s) & read
        if read_anew:
            return


def _is_part(s: Node, shadow: str, kinds: Mapping[str, Kind]) -> bool:
    """Say whether a statement adds to, or takes from, a part that slices and numbers select."""
    if not isinstance(s, gast.AugAssign) or not isinstance(s.op, gast.Add | gast.Sub):
        return False
    place = s.target
    if not isinstance(place, gast.Subscript) or not isinstance(place.value, gast.Name):
        return False
    if place.value.id != shadow or shadow in names_read(s.value) | names_read(place.slice):
        return False
    return all(_is_plain(p, kinds) for p in _axes(place.slice))


def _axes(index: Node) -> list[Node]:
    return list(index.elts) if isinstance(index, gast.Tuple) else [index]


def _is_plain(part: Node, kinds: Mapping[str, Kind]) -> bool:
    """Say whether one part of an index is a slice or a number, and costs nothing to find."""
    if isinstance(part, gast.Slice):
        bounds = (part.lower, part.upper, part.step)
        return all(b is None or _is_plain(b, kinds) for b in bounds)
    if isinstance(part, gast.BinOp):
        return _is_plain(part.left, kinds) and _is_plain(part.right, kinds)
    if isinstance(part, gast.UnaryOp):
        return _is_plain(part.operand, kinds)
    if isinstance(part, gast.Name):
        kind = kinds.get(part.id)
        return isinstance(kind, K.Num) and kind.type == "int"
    return type(number(part)) is int


def _apart(one: Node, other: Node, kinds: Mapping[str, Kind]) -> bool:
    """Say whether two parts of an array have no entry in common, whatever the lengths are."""
    pairs = zip(_axes(one), _axes(other), strict=False)
    return any(_before(a, b, kinds) or _before(b, a, kinds) for a, b in pairs)


def _before(one: Node, other: Node, kinds: Mapping[str, Kind]) -> bool:
    """Say whether a part ends where another begins, or before that."""
    end, start = _end(one), _start(other)
    if end is None or start is None:
        return False
    if isinstance(one, gast.Slice) and isinstance(other, gast.Slice) and same(end, start):
        return True
    until, since = number(end), number(start)
    if until is not None and since is not None and until < 0 and since < 0:
        return until <= since  # both counted from the end
    return _at_most(one, _form(end, kinds), _form(start, kinds))


def _at_most(one: Node, until: _Form | None, since: _Form | None) -> bool:
    """Say whether a part that ends at a place ends before another, both counted from the start."""
    if until is None or since is None or not _counts(until) or not _counts(since):
        return False
    if not isinstance(one, gast.Slice):
        until = _sum(until, {"": 1})
    return _counts(_sum(since, until, -1))


def _end(part: Node) -> Node | None:
    """Return where a part ends: a slice before that, a number just there."""
    if not isinstance(part, gast.Slice):
        return None if (number(part) or 0) < 0 else part
    return part.upper if part.step is None else None


def _start(part: Node) -> Node | None:
    if not isinstance(part, gast.Slice):
        return part
    return part.lower if part.step is None else None


def _form(node: Node, kinds: Mapping[str, Kind]) -> _Form | None:
    """Return a number as a sum of lengths."""
    value = number(node)
    if value is not None:
        return {"": value} if type(value) is int else None
    if isinstance(node, gast.Name):
        return _length(node.id, kinds.get(node.id))
    if not isinstance(node, gast.BinOp):
        return None
    left, right = _form(node.left, kinds), _form(node.right, kinds)
    if left is None or right is None:
        return None
    if isinstance(node.op, gast.Add | gast.Sub):
        return _sum(left, right, 1 if isinstance(node.op, gast.Add) else -1)
    for factor, of in ((left, right), (right, left)):
        if isinstance(node.op, gast.Mult) and factor.keys() == {""}:
            return {n: factor[""] * times for n, times in of.items()}
    return None


def _length(n: str, kind: Kind | None) -> _Form | None:
    """Return what is known of a number that is the length of an axis: it is never negative."""
    dim = kind.dim if isinstance(kind, K.Num) else None
    return {n: 1} if dim is not None and _IS_LENGTH(dim.symbol) and dim.cut <= 0 else None


_IS_LENGTH = re.compile(r".*\.\d+$").match


def _sum(one: _Form, other: _Form, times: int = 1) -> _Form:
    return {n: one.get(n, 0) + times * other.get(n, 0) for n in one.keys() | other.keys()}


def _counts(form: _Form) -> bool:
    """Say whether a sum is never negative."""
    return all(times >= 0 for times in form.values())
