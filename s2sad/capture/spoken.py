"""A special method that writes something is called by its name where it runs.

    if b: ...        ->    if b.__bool__(): ...
    n = len(b)       ->    n = b.__len__()
    k in b           ->    b.__contains__(k)

So its effect is that of any call. Where nobody can tell which method runs, the program is refused.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import gast

from s2sad.errors import UnsupportedError
from s2sad.nodes import Node, all_inside, clone, locate, walk
from s2sad.stages import Function, KindFacts
from s2sad.syntax.elements import heads, is_call


def methods_named(
    function: Function, kinds: KindFacts, writes: Callable[[Node, Node], bool]
) -> Function | None:
    """Return the function with such methods named; None where none has to be.

    `writes(s, node)` says of a part of a statement whether a method that runs there, although none
    is named, writes something.
    """
    if not kinds.implied:
        return None
    loops = dict(function.loops)
    found = False
    for s in all_inside(function.node.body[:-1]):
        parts = [n for part in heads(s) for n in walk(part) if n in kinds.implied]
        parts = [n for n in parts if not isinstance(n, gast.withitem) and writes(s, n)]
        if not parts:
            continue
        for n in parts:
            if n not in kinds.stands:
                raise _refusal(function, kinds, n)
        found = True
        _Named({n: kinds.stands[n] for n in parts}).generic_visit(s)
        if s in loops and is_call(s.iter, "range"):
            bounds = tuple(map(clone, s.iter.args))
            loops[s] = dataclasses.replace(loops[s], bounds=bounds)
    return dataclasses.replace(function, loops=loops) if found else None


class _Named(gast.NodeTransformer):  # type: ignore[misc]
    def __init__(self, table: dict[Any, Node]) -> None:
        self.table = table

    def visit(self, node: Node) -> Node:
        if node not in self.table:
            return self.generic_visit(node)
        made = clone(self.table[node])
        for n in walk(made):
            locate(n, node)
        return made


def _refusal(function: Function, kinds: KindFacts, node: Node) -> UnsupportedError:
    method, _ = kinds.methods[kinds.implied[node][0]]
    return UnsupportedError(
        f"The method {method.__qualname__} may run here, and it writes; s2sad cannot tell whether "
        "it runs.",
        remedy="Call the method by its name, in a statement of its own.",
        place=function.source.place(node),
    )
