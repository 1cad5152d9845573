"""A backward loop over the keys of a dict takes them in turn, the last one first.

for i in range(len(keys) - 1, -1, -1):      for k in reversed(keys):
    k = keys[i]                                 p_bar[k] += q_bar[k]
    p_bar[k] += q_bar[k]
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import gast

from s2sad.nodes import (
    Block,
    Node,
    binary,
    blocks_of,
    call,
    constant,
    name,
    names_written,
    same,
    store,
    walk,
)


def turns(block: Block, lists: Collection[str], fresh: Callable[[str], str]) -> Block:
    """Return a block whose loops over some lists backward need no index, where only they do."""
    for s in block:
        for part in blocks_of(s):
            turns(part, lists, fresh)
        listed = _runs_back(s, lists) if isinstance(s, gast.For) else None
        if listed is not None:
            _take_turns(s, listed, fresh)
    return block


def _take_turns(loop: Node, listed: str, fresh: Callable[[str], str]) -> None:
    index = loop.target.id
    taken = [n for b in loop.body for n in walk(b) if _is_turn(n, listed, index)]
    if not taken or len(taken) != sum(_counts(b, index) for b in loop.body):
        return
    first, rest = loop.body[0], loop.body[1:]
    bound = isinstance(first, gast.Assign) and _is_turn(first.value, listed, index)
    if bound and isinstance(first.targets[0], gast.Name) and rest:
        turn = first.targets[0].id
        if any(turn in names_written(b) for b in rest):
            return
        loop.body = rest
    else:
        turn = fresh("key")
    loop.body = [_InTurn(listed, index, turn).visit(b) for b in loop.body]
    loop.target, loop.iter = store(turn), call("reversed", name(listed))


class _InTurn(gast.NodeTransformer):  # type: ignore[misc]
    def __init__(self, listed: str, index: str, turn: str) -> None:
        self.listed = listed
        self.index = index
        self.turn = turn

    def visit_Subscript(self, node: Node) -> Node:
        if _is_turn(node, self.listed, self.index):
            return name(self.turn)
        return self.generic_visit(node)


def _runs_back(loop: Node, lists: Collection[str]) -> str | None:
    """Return the list that a loop runs over backward, by an index."""
    if not isinstance(loop.target, gast.Name):
        return None
    for listed in sorted(lists):
        length = binary(call("len", name(listed)), gast.Sub, constant(1))
        if same(loop.iter, call("range", length, constant(-1), constant(-1))):
            return listed
    return None


def _is_turn(node: Node, listed: str, index: str) -> bool:
    return (
        isinstance(node, gast.Subscript)
        and isinstance(node.ctx, gast.Load)
        and getattr(node.value, "id", None) == listed
        and getattr(node.slice, "id", None) == index
    )


def _counts(node: Node, variable: str) -> int:
    return sum(isinstance(n, gast.Name) and n.id == variable for n in walk(node))
