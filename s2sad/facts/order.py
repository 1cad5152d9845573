"""Writes of memory into itself: NumPy copies some of them element by element, in its own order.

    A[:, 2] = A[1]      ->      in_order(A[:, 2], A[1], "model.py:12")
                                A[:, 2] = A[1]

The derivative of a write is that of copying first. Where the order of copying decides what comes
out, the call is refused when it runs. What never overlaps, or lies alike, needs no look. CuPy
copies first but for what lies alike, and for what indices choose one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.emitted import overlaps
from s2sad.facts.alias import basic_index
from s2sad.known.spaces import NUMPY
from s2sad.nodes import Node, clone, key, names_read
from s2sad.stages import STANDS_FOR, Aliases, Function, KindFacts, Link, SourceLike


@dataclass(frozen=True)
class Check:
    """A look at memory before it is written: what does it, at what, and for which statement."""

    helper: Callable[[Any, Any, str], None]
    place: Node
    value: Node
    at: str
    origin: Node
    source: SourceLike


# The axes of a view, by where they are in the array it is of, and the steps they are taken with.
Axes = tuple[tuple[Any, ...], ...]


def order_matters(s: Node, function: Function, kinds: KindFacts, aliases: Aliases) -> Check | None:
    """Return what to look at before `A[i] = v` where v may lie in A and NumPy may not copy first.

    A write that stands for another has what that is given: `unordered`, where NumPy never copies
    first, `copied`, where it does as in a write of the whole, or `listed`, a list.
    """
    target = s.targets[0]
    base = target.value
    given = (getattr(s, word, None) for word in STANDS_FOR)
    value = next((v for v in given if v is not None), s.value)
    if _holds_no_array(kinds.of.get(value, K.UNKNOWN)):
        return None
    if K.is_container(kinds.of.get(base, K.UNKNOWN)):
        return None  # a list or a dict takes the value itself: nothing is copied
    shared = names_read(value) & aliases.sharing(s, base.id)
    if not shared and not (hasattr(s, "unordered") and _given(base, value, function, aliases)):
        return None
    origin = function.origins.get(s, s)
    at = function.source.place(origin)
    where = (at.text[at.column : at.end_column], origin, function.source)
    index = kinds.of.get(target.slice, K.UNKNOWN)
    if hasattr(s, "unordered") or (value is s.value and _is_mask(index, kinds.of.get(base))):
        return Check(overlaps.apart_from, clone(base), value, *where)
    place = base if hasattr(s, "copied") else target
    device = _on_device(kinds.of.get(base, K.UNKNOWN))
    if place is target and not basic_index(target.slice, kinds):
        return Check(overlaps.apart_from, clone(base), value, *where) if device else None
    links = aliases.links_before.get(s, {})
    if device and _once_or_apart(place, value, kinds, links):
        return None
    if not device and _alike(place, value, kinds, links):
        return None
    place = clone(place)
    place.ctx = gast.Load()
    return Check(overlaps.moved_apart if device else overlaps.in_order, place, value, *where)


def _given(base: Node, value: Node, function: Function, aliases: Aliases) -> bool:
    """Say whether both lie in what the function is given: its caller knows whether they meet."""
    params = frozenset(function.params)
    read = frozenset[str]().union(*map(aliases.ever, names_read(value)))
    return bool(aliases.ever(base.id) & params) and bool(read & params)


def _on_device(kind: K.Kind) -> bool:
    return any(isinstance(k, K.Array) and k.namespace != NUMPY for k in K.options(kind))


def _holds_no_array(kind: K.Kind) -> bool:
    if isinstance(kind, K.Num | K.Str | K.NoneKind):
        return True
    return isinstance(kind, K.Array) and kind.rank == 0


def _is_mask(index: K.Kind, owner: K.Kind | None) -> bool:
    """Say whether an index may choose single elements by a mask; one of rows does not."""
    if not isinstance(index, K.Array) or index.dtype not in ("bool", "any"):
        return False
    return not isinstance(owner, K.Array) or index.rank == owner.rank


def _once_or_apart(one: Node, other: Node, kinds: KindFacts, links: dict[str, Link]) -> bool:
    """Say whether two views are one, or surely apart: the same slices, and any numbers besides."""
    link = links.get(other.id) if isinstance(other, gast.Name) else None
    if link is not None and not link.maybe:
        return _once_or_apart(one, link.value, kinds, links)
    if not isinstance(one, gast.Subscript) or not isinstance(other, gast.Subscript):
        return False
    found = [_slices(view.slice, kinds) for view in (one, other)]
    return key(one.value) == key(other.value) and found[0] == found[1] and found[0] is not None


def _slices(index: Node, kinds: KindFacts) -> list[Any] | None:
    """Return the constant slices in an index, with None for each number; None for another index."""
    found: list[Any] = []
    for part in index.elts if isinstance(index, gast.Tuple) else [index]:
        if isinstance(part, gast.Slice) and not names_read(part):
            found.append(key(part))
        elif isinstance(kinds.of.get(part), K.Num):
            found.append(None)
        else:
            return None
    return found


def _alike(target: Node, value: Node, kinds: KindFacts, links: dict[str, Link]) -> bool:
    """Say whether NumPy surely copies first, or goes through both in the same steps."""
    place, given = kinds.of.get(target, K.UNKNOWN), kinds.of.get(value, K.UNKNOWN)
    if isinstance(place, K.Num):
        return True
    if not isinstance(given, K.Array):
        return False
    if isinstance(place, K.Array) and place.rank > 1:
        return True
    one, other = _view(target, kinds, links), _view(value, kinds, links)
    if one is None or other is None or one[0] != other[0]:
        return False
    return bool(one[1] and other[1]) and one[1][-1] == other[1][-1]


def _view(node: Node, kinds: KindFacts, links: dict[str, Link]) -> tuple[str, Axes] | None:
    """Return the variable that an expression is a view of, and the axes that it has of it."""
    if isinstance(node, gast.Name):
        link = links.get(node.id)
        if link is not None and not link.maybe and isinstance(link.owner, K.Array):
            return _view(link.value, kinds, links)
        kind = kinds.of.get(node, K.UNKNOWN)
        if not isinstance(kind, K.Array):
            return None
        return node.id, tuple((i,) for i in range(kind.rank))
    if isinstance(node, gast.Attribute) and node.attr == "T":
        inner = _view(node.value, kinds, links)
        return None if inner is None else (inner[0], inner[1][::-1])
    if isinstance(node, gast.Subscript) and basic_index(node.slice, kinds):
        inner = _view(node.value, kinds, links)
        axes = None if inner is None else _indexed(inner[1], node.slice)
        return None if inner is None or axes is None else (inner[0], axes)
    return None


def _indexed(axes: Axes, index: Node) -> Axes | None:
    """Return the axes that are left of a view that is indexed."""
    parts = list(index.elts) if isinstance(index, gast.Tuple) else [index]
    dots = [i for i, p in enumerate(parts) if isinstance(p, gast.Constant) and p.value is ...]
    if any(isinstance(p, gast.Constant) and p.value is None for p in parts) or len(dots) > 1:
        return None
    missing = len(axes) - (len(parts) - len(dots))
    at = dots[0] if dots else len(parts)
    whole = gast.Slice(None, None, None)
    parts[at : at + len(dots)] = [whole] * missing
    if missing < 0 or len(parts) != len(axes):
        return None
    left = []
    for axis, part in zip(axes, parts, strict=True):
        if isinstance(part, gast.Slice):
            plain = part.step is None or getattr(part.step, "value", None) == 1
            left.append(axis if plain else (*axis, key(part.step)))
    return tuple(left)
