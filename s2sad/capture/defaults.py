"""Local dicts that make what they lack: plain dicts that are asked for it.

    counts = defaultdict(float)            counts = {}
    counts[k] += x                  ->     counts[k] = counts.get(k, 0.0) + x
    y = counts[k]                          y = counts.setdefault(k, 0.0)

Only where all that is done with the dict can be seen: others stay what they are.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import gast

from s2sad.nodes import (
    SCOPES,
    Block,
    Node,
    attribute,
    call,
    children,
    clone,
    constant,
    locate,
    name,
    names_written,
    walk,
)

_LOOKING = frozenset({"get", "items", "values", "keys", "pop", "setdefault", "update", "clear"})
_READERS = frozenset({"len", "sum", "sorted", "list", "dict", "print", "max", "min", "any", "all"})
_MADE: dict[Any, Callable[[], Node]] = {
    float: lambda: constant(0.0),
    int: lambda: constant(0),
    list: lambda: gast.List([], gast.Load()),
}


def plain_defaults(body: Block, denoted: Callable[[Node], Any]) -> Block:
    """Return a body in which dicts with a default are plain ones."""
    found = {}
    for s in body:
        for n in walk(s):
            made = _made(n, denoted)
            if made is not None:
                found[n.targets[0].id] = made
    for d, (statement, default) in sorted(found.items()):
        if _seen_through(body, d, statement):
            body = [_Plain(d, default).visit(s) for s in body]
            statement.value = locate(gast.Dict([], []), statement.value)
    return body


def _made(n: Node, denoted: Callable[[Node], Any]) -> tuple[Node, Callable[[], Node]] | None:
    """Return what a dict makes of what it lacks, for the statement that makes such a dict."""
    if not isinstance(n, gast.Assign) or len(n.targets) != 1:
        return None
    value = n.value
    if not isinstance(n.targets[0], gast.Name) or not isinstance(value, gast.Call):
        return None
    if denoted(value.func) is not collections.defaultdict or len(value.args) != 1:
        return None
    factory = value.args[0]
    if value.keywords:
        return None
    if isinstance(factory, gast.Lambda) and isinstance(factory.body, gast.Constant):
        literal = factory.body
        return n, lambda: clone(literal)
    known = denoted(factory)
    default = next((make for fn, make in _MADE.items() if fn is known), None)
    return (n, default) if default is not None else None


def _seen_through(body: Block, d: str, made: Node) -> bool:
    """Say whether a dict is bound once, and only looked into and filled by its keys."""
    bound = sum(d in names_written(s) for s in body)
    times = sum(
        isinstance(n, gast.Name) and n.id == d and isinstance(n.ctx, gast.Store)
        for s in body
        for n in walk(s)
    )
    return bound == 1 and times == 1 and all(_plain_use(s, d) for s in body)


def _plain_use(node: Node, d: str) -> bool:
    if isinstance(node, gast.Name):
        return bool(node.id != d) or isinstance(node.ctx, gast.Store)
    if isinstance(node, SCOPES):
        return all(not isinstance(n, gast.Name) or n.id != d for n in walk(node))
    parts = list(children(node))
    if isinstance(node, gast.Subscript) and _is(node.value, d):
        return _twice(node.slice) and _plain_use(node.slice, d)
    if isinstance(node, gast.Attribute) and _is(node.value, d):
        return node.attr in _LOOKING
    if isinstance(node, gast.Compare):
        parts = [p for p in parts if not _is(p, d)]
        parts += [] if all(isinstance(o, gast.In | gast.NotIn) for o in node.ops) else [name(d)]
    if isinstance(node, gast.For | gast.comprehension):
        parts = [p for p in parts if not _is(p, d)]
    if isinstance(node, gast.Call) and getattr(node.func, "id", "") in _READERS:
        parts = [p for p in parts if not _is(p, d)]
    return all(_plain_use(p, d) for p in parts)


def _is(node: Node, d: str) -> bool:
    return isinstance(node, gast.Name) and bool(node.id == d)


def _twice(key: Node) -> bool:
    """Say whether a key may be evaluated twice."""
    return not any(isinstance(n, gast.Call | gast.NamedExpr | gast.Await) for n in walk(key))


class _Plain(gast.NodeTransformer):  # type: ignore[misc]
    def __init__(self, d: str, default: Callable[[], Node]) -> None:
        self.d = d
        self.default = default

    def asked(self, node: Node, method: str) -> Node:
        """Return the entry of a place, and what stands for one that is lacking."""
        func = attribute(name(self.d), method)
        made = call(func, clone(node.slice), self.default())
        for n in walk(made):
            locate(n, node)
        return made

    def visit_Subscript(self, node: Node) -> Node:
        self.generic_visit(node)
        if _is(node.value, self.d) and isinstance(node.ctx, gast.Load):
            return self.asked(node, "setdefault")
        return node

    def visit_AugAssign(self, node: Node) -> Node:
        target = node.target
        if not isinstance(target, gast.Subscript) or not _is(target.value, self.d):
            self.generic_visit(node)
            return node
        value = self.visit(node.value)
        slot = gast.Subscript(name(self.d), self.visit(target.slice), gast.Store())
        whole = locate(gast.BinOp(self.asked(target, "get"), node.op, value), node)
        return locate(gast.Assign([locate(slot, target)], whole, None), node)
