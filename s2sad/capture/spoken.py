"""A special method that writes something is called by its name where it runs.

    if b: ...        ->    if b.__bool__(): ...
    n = len(b)       ->    n = b.__len__()
    k in b           ->    b.__contains__(k)

So its effect is that of any call. Where nobody can tell which method runs, the program is refused.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.errors import UnsupportedError
from s2sad.nodes import Block, Node, all_inside, blocks_of, clone, locate, walk
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


def check_callees(function: Function, kinds: KindFacts, sets: Callable[[Node, str], bool]) -> None:
    """Refuse a call of what an attribute holds, where an argument may bind the attribute anew.

    p.g(switch(p))       Python finds p.g before it calls switch
    """
    for block in _blocks(function.node.body):
        for at, s in enumerate(block):
            made: Node = getattr(s, "value", None)
            func: Node = made.func if isinstance(made, gast.Call) else None
            owner = kinds.of.get(func.value) if isinstance(func, gast.Attribute) else None
            if not isinstance(owner, K.Obj) or func.attr not in dict(owner.fields):
                continue
            origin = function.origins.get(s, s)
            before = [t for t in block[:at] if function.origins.get(t) is origin]
            if any(_sets(t, func.attr, sets) for t in before):
                raise UnsupportedError(
                    f"`{func.attr}` is looked up before the arguments of this call are computed, "
                    "and they may set it.",
                    remedy="Compute the arguments in statements of their own.",
                    place=function.source.place(made),
                )


def _blocks(body: Block) -> Iterator[Block]:
    yield body
    for s in all_inside(body):
        yield from blocks_of(s)


def _sets(s: Node, word: str, sets: Callable[[Node, str], bool]) -> bool:
    targets = getattr(s, "targets", [])
    if any(isinstance(t, gast.Attribute) and t.attr == word for t in targets):
        return True
    return any(isinstance(n, gast.Call) and sets(n, word) for part in heads(s) for n in walk(part))


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
