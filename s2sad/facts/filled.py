"""What is known of a structure after a value is stored in it, or taken out of it.

box.x = 1.0        # box: an instance with a field x more
xs.append(y)       # xs: a list whose items may also be what y is
"""

from __future__ import annotations

import collections.abc
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.facts.results import element_kind
from s2sad.kinds import MISSING, Kind
from s2sad.known.open_dicts import literal_key, surely_has, with_entry
from s2sad.nodes import (
    Block,
    Node,
    all_inside,
    block_writes,
    blocks_of,
    count_writes,
    subscript,
    walk,
)
from s2sad.stages import Function, KindFacts, Loop, is_all, plain_field

Homes = dict[str, Any]
Parts = dict[str, list[Any]]


def parts_of(body: Block, loops: Mapping[Any, Loop]) -> Parts:
    """Return, for names bound to parts of structures, which parts: `row = rows[i]`.

    The variable of a loop over a structure is such a name, too.
    """
    found: Parts = {}

    def visit(block: Block) -> None:
        for s in block:
            bindings = loops[s].bindings if s in loops else ()
            for n, part in parts_bound([s, *bindings]).items():
                found.setdefault(n, []).append(part)
            for inner in blocks_of(s):
                visit(inner)

    visit(body)
    return found


def parts_bound(statements: Iterable[Node]) -> Homes:
    """Return which parts of structures some statements bind to which names."""
    found: Homes = {}
    for s in statements:
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
            part = isinstance(s.value, gast.Subscript | gast.Attribute)
            if part and isinstance(s.value.value, gast.Name):
                if not isinstance(getattr(s.value, "slice", None), gast.Slice):
                    found[s.targets[0].id] = s.value
    return found


def homes_of(body: Block, parts: Parts, params: tuple[str, ...]) -> Homes:
    """Return, for names that are bound once, and to a part of a structure, to which."""
    put = put_into(body)
    counts = count_writes(body, params) if parts or put else {}
    homes = {n: found[0] for n, found in parts.items() if counts.get(n, 1) == 1}
    for s in all_inside(body) if homes else ():
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
            other = getattr(s.value, "id", "")  # t = s, where s is rows[i]
            if other in homes and counts.get(s.targets[0].id) == counts.get(other) == 1:
                homes.setdefault(s.targets[0].id, homes[other])
    return {**{n: place for n, place in put.items() if counts.get(n) == 1}, **homes}


def put_into(body: Block) -> Homes:
    """Return the places of lists and objects in which something stands that is filled later.

    rows.append(row)        row is rows[-1]
    row.append(v)
    """
    found: Homes = {}
    for s in all_inside(body):
        value = getattr(s, "value", None)
        if isinstance(s, gast.Assign) and isinstance(value, gast.Name):
            if isinstance(s.targets[0], gast.Attribute):
                found[value.id] = s.targets[0]
        func: Any = getattr(value, "func", None)
        given: Any = getattr(value, "args", [])
        if isinstance(s, gast.Expr) and getattr(func, "attr", "") == "append":
            if len(given) == 1 and isinstance(given[0], gast.Name):
                found[given[0].id] = subscript(func.value, gast.Constant(-1, None))
    return found


def copies_of(body: Block, params: tuple[str, ...]) -> dict[str, set[str]]:
    """Return the names that are one structure from the start: `t = s`, both bound once."""
    copies = [s for s in body if isinstance(s, gast.Assign) and isinstance(s.value, gast.Name)]
    counts = count_writes(body, params) if copies else {}
    found: dict[str, set[str]] = {}
    for s in copies:
        target, other = s.targets[0], s.value.id
        if isinstance(target, gast.Name) and counts.get(target.id) == 1:
            if counts.get(other) == 1:
                found.setdefault(target.id, set()).add(other)
                found.setdefault(other, set()).add(target.id)
    return found


def with_part(owner: Kind, place: Node, index: Kind, kind: Kind, inside: bool = False) -> Kind:
    """Return the kind of a structure after a value of a kind is stored in a place of it.

    With `inside`, nothing is stored: what was there already is of that kind now.
    """
    kind = K.erase_value(kind)
    if isinstance(owner, K.Obj) and isinstance(place, gast.Attribute):
        if not plain_field(owner.cls, place.attr):
            return owner
        return K.Obj(owner.cls, tuple({**dict(owner.fields), place.attr: kind}.items()))
    if isinstance(owner, K.List) and not isinstance(place, gast.Attribute):
        if isinstance(place.slice, gast.Slice) and is_all(place.slice):
            return kind if isinstance(kind, K.List) else K.List(element_kind(kind))
        if isinstance(place.slice, gast.Slice):
            return K.List(K.join(owner.item, element_kind(kind)))
        position = getattr(index, "value", MISSING)
        if owner.items is not None and type(position) is int and 0 <= position < len(owner.items):
            items = [*owner.items]
            items[position] = kind
            return K.list_of(items)
        if inside and owner.items is not None and isinstance(kind, K.Obj):
            return K.list_of([_changed_one(k, kind) for k in owner.items])
        return K.List(K.join(owner.item, kind), owner.length)
    if isinstance(owner, K.AnyDict) and not isinstance(place, gast.Attribute):
        return with_entry(owner, index, kind)
    return owner


def _changed_one(item: Kind, kind: K.Obj) -> Kind:
    """Return the kind of an item of a list after one of its objects, perhaps this, has changed."""
    other = isinstance(item, K.Obj) and item.cls is not kind.cls
    return item if other else K.join(item, kind)


def without_part(owner: Kind, index: Kind) -> Kind:
    """Return the kind of a dict after the entry of a key is gone."""
    key = literal_key(index)
    if isinstance(owner, K.OpenDict) or (isinstance(owner, K.Dict) and key is MISSING):
        return K.opened(owner)
    if not isinstance(owner, K.Dict) or key not in dict(owner.items):
        return K.Unknown("a dict from which an entry was removed")
    return K.Dict(tuple((k, kind) for k, kind in owner.items if k != key))


def after_write(owner: Kind, s: Node, of: Mapping[Any, Kind]) -> Kind:
    """Return the kind of a structure after a statement that writes it, under whatever name."""
    value = getattr(s, "value", None)
    place = s.targets[0] if isinstance(s, gast.Assign) else getattr(s, "target", None)
    if isinstance(place, gast.Subscript | gast.Attribute):
        index = of.get(getattr(place, "slice", None), K.UNKNOWN)
        return with_part(owner, place, index, of.get(value, K.UNKNOWN))
    if isinstance(s, gast.Delete) and isinstance(s.targets[0], gast.Subscript):
        known = isinstance(owner, K.AnyDict)
        return without_part(owner, of.get(s.targets[0].slice, K.UNKNOWN)) if known else owner
    if isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute):
        return after_method(owner, value.func.attr, [of.get(a, K.UNKNOWN) for a in value.args])
    return owner


def after_method(owner: Kind, method: str, args: list[Kind]) -> Kind:
    """Return the kind of a structure after a method of it has run."""
    if isinstance(owner, K.List):
        item = owner.item
        if method == "copy" or method in vars(tuple):
            return owner
        if method.startswith("__"):
            return K.Unknown("a list that is changed by a special method")
        if method in ("append", "insert") and args:
            item = K.join(item, K.erase_value(args[-1]))
        elif method == "extend" and len(args) == 1:
            item = K.join(item, element_kind(args[0]))
        known = method in ("reverse", "sort")
        return K.List(item, owner.length if known else None)
    if isinstance(owner, K.AnyDict):
        return _after_dict_method(owner, method, args)
    return owner


def left_behind(
    function: Function,
    given: Mapping[str, Kind],
    end: Mapping[str, Kind],
    facts: KindFacts,
    changed: Mapping[str, Kind],
) -> dict[str, Kind]:
    """Return what the structures are when a function returns that it was given and has changed.

    Where a parameter's name is bound again, the structure is what the name was bound to before,
    and, where it is bound again on some paths, perhaps what it is `changed` to under that name.
    """
    found = {p: end.get(p, K.UNBOUND) for p, k in given.items() if K.is_container(k)}
    body = function.node.body
    for p in found.keys() & block_writes(body):
        first = next(s for s in body if p in block_writes([s]))
        plain = isinstance(first, gast.Assign)
        found[p] = facts.before[first][p] if plain else K.join(given[p], changed.get(p, K.UNBOUND))
    return {p: k for p, k in found.items() if k != given[p]}


def rounds(node: Node, kind_of: Callable[[Node], Kind]) -> int | None:
    """Return how often a loop over something runs, where kinds tell: over tuples, say."""
    if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Name) or not node.args:
        kind = kind_of(node)
        return len(kind.items) if isinstance(kind, K.Tuple) else None
    if node.func.id == "zip":
        counts = [rounds(a, kind_of) for a in node.args]
        known = [c for c in counts if c is not None]
        return min(known) if len(known) == len(counts) else None
    if node.func.id in ("enumerate", "reversed"):
        return rounds(node.args[0], kind_of)
    if node.func.id == "range" and len(node.args) == 1:
        count = getattr(kind_of(node.args[0]), "value", None)
        return count if type(count) is int else None
    return None


def fresh_lists(body: Block) -> dict[Any, set[str]]:
    """Return, for every loop, the names of lists made before it that nothing has read since."""
    found: dict[Any, set[str]] = {}
    fresh: set[str] = set()
    for s in body:
        if isinstance(s, gast.For):
            found[s] = set(fresh)
        for part in blocks_of(s):
            found |= fresh_lists(part)
        if fresh:
            fresh -= {n.id for n in walk(s) if isinstance(n, gast.Name)}
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
            if isinstance(s.value, gast.List) and not s.value.elts:
                fresh.add(s.targets[0].id)
    return found


def appended(loop: Node) -> dict[str, Node]:
    """Return, for lists to which each round of a loop appends once and does no more, the value."""
    found: dict[str, list[Node]] = {}
    values: dict[str, Node] = {}
    for s in loop.body:
        for n in walk(s):
            if isinstance(n, gast.Break | gast.Continue | gast.Return):
                return {}
            if isinstance(n, gast.Name):
                found.setdefault(n.id, []).append(s)
        value: Any = getattr(s, "value", None)
        func = getattr(value, "func", None)
        if isinstance(s, gast.Expr) and isinstance(func, gast.Attribute) and len(value.args) == 1:
            if func.attr == "append" and isinstance(func.value, gast.Name):
                values[func.value.id] = value.args[0]
    return {n: value for n, value in values.items() if len(found[n]) == 1}


def entered(loop: Node, view: str) -> set[str]:
    """Return the dicts in which each round of a loop over keys sets the entry of its key.

    Where the loop goes through the items of a dict, `view` says so. Nothing else is done to them.
    """
    target = loop.target.elts[0] if view and isinstance(loop.target, gast.Tuple) else loop.target
    if not isinstance(target, gast.Name) or target.id in block_writes(loop.body):
        return set()
    found: dict[str, int] = {}
    set_: set[str] = set()
    for s in loop.body:
        for n in walk(s):
            if isinstance(n, gast.Break | gast.Continue | gast.Return):
                return set()
            if isinstance(n, gast.Name):
                found[n.id] = found.get(n.id, 0) + 1
        place = s.targets[0] if isinstance(s, gast.Assign) else None
        if isinstance(place, gast.Subscript) and isinstance(place.value, gast.Name):
            if isinstance(place.slice, gast.Name) and place.slice.id == target.id:
                set_.add(place.value.id)
    return {n for n in set_ if found[n] == 1}


def views_of(body: Block, params: tuple[str, ...]) -> dict[str, tuple[Node, str]]:
    """Return, for names that are `list(d.items())` throughout, the name of the dict.

    items = d.items()
    listed = list(items)        listed: d, and "items"
    """
    counts = count_writes(body, params)
    made = {
        s.targets[0].id: s.value
        for s in all_inside(body)
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name)
    }
    found: dict[str, tuple[Node, str]] = {}
    for n, value in made.items():
        if not isinstance(value, gast.Call) or len(value.args) != 1 or counts[n] != 1:
            continue
        inner = getattr(value.args[0], "id", "")
        view = made.get(inner)
        plain = isinstance(value.func, gast.Name) and value.func.id == "list"
        if plain and counts.get(inner) == 1 and isinstance(view, gast.Call) and not view.args:
            func = view.func
            if isinstance(func, gast.Attribute) and func.attr == "items":
                found[n] = func.value, func.attr
    return found


def _after_dict_method(owner: K.AnyDict, method: str, args: list[Kind]) -> Kind:
    if method == "setdefault" and args:
        if surely_has(owner, args[0]):
            return owner
        return with_entry(owner, args[0], args[1] if len(args) > 1 else K.NONE)
    if method == "pop" and args:
        if surely_has(owner, args[0]) is False:
            return owner
        return without_part(owner, args[0])
    if method == "update" and len(args) == 1:
        given = args[0]
        if isinstance(given, K.AnyDict):
            return K.join(K.opened(owner), K.opened(given))
        return K.Unknown("a dict that is updated from a value which may not be a dict")
    if method in ("popitem", "clear"):
        return K.opened(owner)
    if method.startswith("__") and method not in vars(collections.abc.Mapping):
        return K.Unknown("a dict that is changed by a special method")
    return owner


def changed_names(loop: Node, parts: Parts, copies: dict[str, set[str]]) -> set[str]:
    """Return the names of the structures that a loop's body may change."""
    found: set[str] = set()

    def note(place: Node) -> None:
        while isinstance(place, gast.Subscript | gast.Attribute):
            place = place.value
            if isinstance(place, gast.Name):
                found.add(place.id)

    def visit(block: Block) -> None:
        for s in block:
            for target in getattr(s, "targets", None) or [getattr(s, "target", None)]:
                note(target)
            func = getattr(getattr(s, "value", None), "func", None)
            note(func)
            for part in blocks_of(s):
                visit(part)

    visit(loop.body)
    pending = list(found)
    while pending:
        n = pending.pop()
        others = copies.get(n, set()) | {part.value.id for part in parts.get(n, ())}
        pending += others - found
        found |= others
    return found
