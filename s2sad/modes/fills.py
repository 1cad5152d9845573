"""Loops that fill a new dict, each round by a key of its own: no entry is ever written over.

q = {}
for k in keys:                    k: each key of another dict, or a number of a range
    q[k] = p[k] * p[k]            nothing else is done with q in the loop
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gast

from s2sad.nodes import Block, Node, block_writes, blocks_of, walk
from s2sad.stages import Function

_LOOPS = (gast.For, gast.While)


def filling(function: Function, lists_keys: Callable[[Node], bool]) -> frozenset[Any]:
    """Return the statements that set an entry of a dict that has none of that key.

    `lists_keys` says of an expression whether it makes a list of a dict's keys.
    """
    worker = _Worker(function, lists_keys)
    return frozenset(worker.found(function.node.body))


class _Worker:
    def __init__(self, function: Function, lists_keys: Callable[[Node], bool]) -> None:
        self.function = function
        self.keys = {
            n.targets[0].id
            for n in walk(function.node)
            if isinstance(n, gast.Assign)
            and isinstance(n.targets[0], gast.Name)
            and n.targets[0].id in function.temps
            and lists_keys(n.value)
        }

    def found(self, block: Block) -> Iterator[Node]:
        for position, s in enumerate(block):
            for part in blocks_of(s):
                yield from self.found(part)
            if isinstance(s, gast.Assign) and isinstance(s.value, gast.Dict) and not s.value.keys:
                if isinstance(s.targets[0], gast.Name):
                    d = s.targets[0].id
                    following = next((n for n in block[position + 1 :] if _mentions(n, d)), None)
                    if isinstance(following, gast.For) and _mentions(following, d) == 1:
                        yield from self.inside(following, d, frozenset())

    def inside(self, loop: Node, d: str, turns: frozenset[str]) -> Iterator[Node]:
        """Yield the write of a dict in a loop, where each round sets another key."""
        turn = self.turn(loop)
        if turn is None or turn in turns:
            return
        turns |= {turn}
        yield from self.among(loop.body, d, turns)

    def among(self, block: Block, d: str, turns: frozenset[str]) -> Iterator[Node]:
        for s in block:
            if not _mentions(s, d):
                continue
            if isinstance(s, gast.For):
                yield from self.inside(s, d, turns)
            elif isinstance(s, gast.If):
                yield from self.among([*s.body, *s.orelse], d, turns)
            elif isinstance(s, gast.Assign) and turns <= _key_of(s.targets[0], d):
                yield s

    def turn(self, loop: Node) -> str | None:
        """Return the variable that has another value in every round of a loop."""
        plan = self.function.loops.get(loop)
        if plan is None or plan.bounds is None:
            return None
        again = block_writes(loop.body)
        if not plan.bindings:
            return plan.index if plan.index not in again else None
        first = plan.bindings[0]
        value = first.value
        if not isinstance(value, gast.Subscript) or not self.distinct(value.value):
            return None
        turn = getattr(first.targets[0], "id", None)
        return turn if turn not in again else None

    def distinct(self, items: Node) -> bool:
        """Say whether no two items are equal: the keys of a dict, or different words."""
        if not isinstance(items, gast.Tuple):
            return getattr(items, "id", "") in self.keys
        words = [e.value for e in items.elts if isinstance(e, gast.Constant)]
        plain = all(isinstance(w, str) for w in words) and len(words) == len(items.elts)
        return plain and len(set(words)) == len(words)


def _key_of(place: Node, d: str) -> frozenset[str]:
    """Return the variables that make up the key of an entry that is set."""
    if not isinstance(place, gast.Subscript) or getattr(place.value, "id", "") != d:
        return frozenset()
    parts = place.slice.elts if isinstance(place.slice, gast.Tuple) else [place.slice]
    return frozenset(p.id for p in parts if isinstance(p, gast.Name))


def _mentions(node: Node, d: str) -> int:
    return sum(isinstance(n, gast.Name) and n.id == d for n in walk(node))
