"""Lists that get items one by one and have one name while they do: nothing else sees them grow.

xs = []                      plain: `xs` has no other name yet
for v in x:
    xs.append(v * v)
ys = xs                      from here on the list has two
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.facts.memory import Memory
from s2sad.nodes import blocks_of, names_read, names_written
from s2sad.stages import Function, KindFacts, Write


def plain_appends(function: Function, kinds: KindFacts, memory: Memory) -> frozenset[Any]:
    """Return the appends to lists that have one name only and are changed by nothing else."""
    others = {w.base for w in memory.writes if w.in_container and w.how != "append"}
    return frozenset(
        w.statement
        for w in memory.writes
        if w.how == "append" and _is_plain(function, w, kinds, memory)
        if not memory.shares(w.base, others)
    )


def _is_plain(function: Function, write: Write, kinds: KindFacts, memory: Memory) -> bool:
    """Say whether a list that is appended to has one name only."""
    before = kinds.before.get(write.statement, {})
    holders = (K.Tuple, K.Union, K.Unknown)
    lists = {n for n, k in before.items() if K.is_container(k) or isinstance(k, holders)}
    return memory.shares(write.base, lists) <= {write.base} or made_anew(function, write.base)


def made_anew(function: Function, base: str) -> bool:
    """Say whether a list is created before, and given another name after, all that it gets.

    Then, in a loop too, the other names hold lists of earlier rounds.
    """
    created: list[tuple[int, Any]] = []
    appended: list[int] = []
    named: list[tuple[int, Any]] = []
    for at, (s, loop) in enumerate(_in_order(function.node.body, None)):
        if isinstance(s, gast.Assign) and base in names_written(s):
            if not isinstance(s.value, gast.List):
                return False
            created.append((at, loop))
        elif isinstance(s, gast.Assign) and base in names_read(s.value):
            if not isinstance(s.value, gast.Subscript | gast.BinOp) and not _takes(s.value, base):
                named.append((at, loop))
        elif isinstance(s, gast.Expr) and base in names_read(s.value):
            if any(base in names_read(a) for a in getattr(s.value, "args", [])):
                named.append((at, loop))
            else:
                appended.append(at)
    if len(created) != 1 or not appended:
        return False
    at, loop = created[0]
    return at < min(appended) and all(n > max(appended) and inner is loop for n, inner in named)


def _takes(value: Any, base: str) -> bool:
    """Say whether an expression takes an item from a list: `base.pop()`."""
    func = getattr(value, "func", None)
    if not isinstance(func, gast.Attribute) or func.attr != "pop":
        return False
    return getattr(func.value, "id", "") == base and not any(
        base in names_read(a) for a in value.args
    )


def _in_order(block: list[Any], loop: Any) -> Iterator[tuple[Any, Any]]:
    for s in block:
        yield s, loop
        inner = s if isinstance(s, gast.For | gast.While) else loop
        for part in blocks_of(s):
            yield from _in_order(part, inner)
