"""What a loop's header binds, as an element of what it runs over, and the range it runs over."""

from __future__ import annotations

from typing import Any

import gast

from s2sad.nodes import (
    Block,
    Node,
    blocks_of,
    call,
    children,
    clone,
    constant,
    is_constant,
    subscript,
    walk,
)


def is_call(node: Node, fn: str) -> bool:
    """Say whether an expression calls a function by this bare name."""
    return isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and node.func.id == fn


def plain(node: Node) -> bool:
    """Say whether an expression is made of names, literals and integer arithmetic only."""
    if isinstance(node, gast.Name | gast.Constant):
        return True
    if isinstance(node, gast.UnaryOp):
        return plain(node.operand)
    if isinstance(node, gast.BinOp):
        return plain(node.left) and plain(node.right)
    if isinstance(node, gast.Tuple):
        return all(plain(e) for e in node.elts)
    if isinstance(node, gast.Slice):
        return all(p is None or plain(p) for p in (node.lower, node.upper, node.step))
    if isinstance(node, gast.Attribute):
        return plain(node.value)
    return False


def element(iterable: Node, index: Node, own: bool) -> tuple[tuple[Any, ...] | None, Any]:
    """Return the arguments of the range a loop runs over, and the element at an index.

    With `own` the index is the user's variable and runs over the range's values; otherwise it
    counts from zero.
    """
    if is_call(iterable, "range"):
        args = iterable.args
        if own:
            return tuple(args), index
        if len(args) == 1:
            return tuple(args), index
        length = call("len", clone(iterable))
        return (length,), subscript(clone(iterable), index)
    if is_call(iterable, "enumerate"):
        bounds, item = element(iterable.args[0], index, False)
        if bounds is None:
            return None, None
        count = index
        if len(iterable.args) == 2:
            count = gast.BinOp(clone(index), gast.Add(), clone(iterable.args[1]))
        return bounds, (count, item)
    if is_call(iterable, "zip"):
        lengths = []
        elements = []
        for part in iterable.args:
            bounds, item = element(part, index, False)
            if bounds is None or len(bounds) != 1:
                return None, None
            lengths.append(bounds[0])
            elements.append(item)
        bound = lengths[0] if len(lengths) == 1 else call("min", *lengths)
        return (bound,), tuple(elements)
    if is_call(iterable, "reversed"):
        bounds, item = element(iterable.args[0], index, False)
        if bounds is None or len(bounds) != 1:
            return None, None
        last = gast.BinOp(clone(bounds[0]), gast.Sub(), constant(1))
        mirrored = gast.BinOp(last, gast.Sub(), clone(index))
        return element(iterable.args[0], mirrored, False)
    if isinstance(iterable, gast.Name) or (
        isinstance(iterable, gast.Tuple) and all(is_constant(e) for e in iterable.elts)
    ):
        return (call("len", clone(iterable)),), subscript(clone(iterable), clone(index))
    return None, None


def rename_scoped(node: Node, table: dict[str, str]) -> None:
    """Rename variables everywhere below a node."""
    for n in walk(node):
        if isinstance(n, gast.Name) and n.id in table:
            n.id = table[n.id]


def all_statements(block: Block) -> list[Node]:
    """Return the statements of a block, those of inner blocks included."""
    found: list[Node] = []
    for statement in block:
        found.append(statement)
        for part in blocks_of(statement):
            found += all_statements(part)
    return found


def heads(s: Node) -> list[Node]:
    """Return what a statement evaluates itself, apart from its blocks."""
    if isinstance(s, gast.Match):
        return [s.subject, *(case.guard for case in s.cases if case.guard is not None)]
    if isinstance(s, gast.With):
        return [item.context_expr for item in s.items]
    if isinstance(s, gast.For):
        return [s.iter]
    if isinstance(s, gast.If | gast.While):
        return [s.test]
    if isinstance(s, gast.Try | gast.FunctionDef | gast.ClassDef):
        return []
    return children(s)
