"""Values that are handed over all at once, as assignments one after the other.

a = b, c = a        c = a; a = b        what is read later is not overwritten first
a = b, b = a        a, b = b, a         where that is not possible
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import gast

from s2sad.nodes import Block, Node, assign, store


@dataclass(frozen=True)
class Copy:
    """An assignment to a name; `read` is the name that its value is, if it is one."""

    word: str
    value: Node
    read: str | None


def in_turn(copies: Sequence[Copy]) -> Block:
    """Return statements that make all copies as if at once."""
    left, out = list(copies), []
    while left:
        free = [c for c in left if not any(d.read == c.word for d in left if d is not c)]
        if free:
            out.append(assign(free[0].word, free[0].value))
            left.remove(free[0])
            continue
        ring = [left[0]]
        while (before := _reader(left, ring[-1].word)) is not ring[0]:
            ring.append(before)
        left = [c for c in left if c not in ring]
        targets = gast.Tuple([store(c.word) for c in ring], gast.Store())
        out.append(gast.Assign([targets], gast.Tuple([c.value for c in ring], gast.Load()), None))
    return out


def _reader(copies: Sequence[Copy], word: str) -> Copy:
    return next(c for c in copies if c.read == word)
