"""Local dicts that are filled key by key: which of them may as well be made anew each time.

    d = {}                    d = {}
    d["a"] = x * 2            d = {**d, "a": x * 2}

Nobody can tell where no other name can reach the dict before its last entry is set.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from s2sad.nodes import SCOPES, Block, Node, blocks_of, children, walk

_LOOKING = frozenset({"items", "values", "keys", "get", "copy"})


def fillable(body: Block, candidates: set[str]) -> frozenset[str]:
    """Return the variables that hold dicts whose entries are set by literal keys, unseen."""
    filled = {
        s.targets[0].value.id
        for s, _ in _statements(body, ())
        if is_entry(s) and s.targets[0].value.id in candidates
    }
    return frozenset(d for d in filled if _unseen(body, d))


def is_entry(s: Node) -> bool:
    """Say whether a statement is `d["key"] = value` of a variable d."""
    if not isinstance(s, gast.Assign) or len(s.targets) != 1:
        return False
    target = s.targets[0]
    return (
        isinstance(target, gast.Subscript)
        and isinstance(target.value, gast.Name)
        and isinstance(target.slice, gast.Constant)
        and isinstance(target.slice.value, str | int)
    )


def _statements(block: Block, loops: tuple[Any, ...]) -> Iterator[tuple[Node, tuple[Any, ...]]]:
    """Yield the statements in order, each with the loops around it."""
    for s in block:
        yield s, loops
        inner = (*loops, s) if isinstance(s, gast.For | gast.While) else loops
        for part in blocks_of(s):
            yield from _statements(part, inner)


def _unseen(body: Block, d: str) -> bool:
    last = -1
    looping: set[Any] = set()
    over: set[Any] = set()
    shown: list[tuple[int, tuple[Any, ...]]] = []
    for at, (s, loops) in enumerate(_statements(body, ())):
        if is_entry(s) and s.targets[0].value.id == d:
            last = at
            looping |= set(loops)
            if _shows(s.value, d):
                shown.append((at, loops))
            continue
        if isinstance(s, gast.Assign) and any(d in _names(t) for t in s.targets):
            if len(s.targets) != 1 or not _makes_dict(s.targets[0], s.value, d):
                return False
            continue
        if isinstance(s, gast.AugAssign | gast.Delete | gast.AnnAssign) and d in _names(s):
            return False
        if isinstance(s, SCOPES) and d in _names(s):
            return False
        if isinstance(s, gast.For) and d in _names(s.iter):
            over.add(s)
        if any(_shows(part, d) for part in _own_parts(s)) or _holds_view(s, d):
            shown.append((at, loops))
    if over & looping:
        return False
    return all(at > last and not looping & set(loops) for at, loops in shown)


def _holds_view(s: Node, d: str) -> bool:
    """Say whether a statement keeps d.items() or the like: such a view sees later entries."""
    value = getattr(s, "value", None)
    views = [
        n
        for n in (walk(value) if isinstance(s, gast.Assign) else ())
        if isinstance(n, gast.Attribute) and n.attr in ("items", "values", "keys")
    ]
    return any(isinstance(v.value, gast.Name) and v.value.id == d for v in views)


def _own_parts(s: Node) -> list[Node]:
    """Return the expressions of a statement, without those of the blocks in it."""
    inside = {id(x) for part in blocks_of(s) for x in part}
    return [c for c in children(s) if id(c) not in inside]


def _makes_dict(target: Node, value: Node, d: str) -> bool:
    plain = isinstance(target, gast.Name) and target.id == d
    made = isinstance(value, gast.Dict) or (
        isinstance(value, gast.Call)
        and isinstance(value.func, gast.Name)
        and value.func.id == "dict"
        and not value.args
    )
    return plain and made and not _shows(value, d)


def _names(node: Node) -> set[str]:
    return {n.id for n in walk(node) if isinstance(n, gast.Name)}


def _shows(node: Node, d: str) -> bool:
    """Say whether an expression hands the dict itself on, and does not only look into it."""
    if isinstance(node, gast.Name):
        return bool(node.id == d)
    if isinstance(node, SCOPES):
        return d in _names(node)
    if isinstance(node, gast.Subscript) and isinstance(node.value, gast.Name):
        return _shows(node.slice, d)
    if isinstance(node, gast.Attribute) and isinstance(node.value, gast.Name):
        return bool(node.value.id == d) and node.attr not in _LOOKING
    if isinstance(node, gast.Dict):
        parts = [v for k, v in zip(node.keys, node.values, strict=True) if not _is(k, v, d)]
        return any(_shows(p, d) for p in [*parts, *(k for k in node.keys if k is not None)])
    if isinstance(node, gast.Compare):
        if all(isinstance(o, gast.In | gast.NotIn) for o in node.ops):
            looked = [c for c in node.comparators if not isinstance(c, gast.Name)]
            return any(_shows(c, d) for c in [node.left, *looked])
    return any(_shows(c, d) for c in children(node))


def _is(key: Node | None, value: Node, d: str) -> bool:
    """Say whether an entry of a display is `**d`, which copies."""
    return key is None and isinstance(value, gast.Name) and value.id == d
