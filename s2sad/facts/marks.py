"""Lists that mark the way: of places, counts, flags and words, which carry no derivative.

def walk(x, m, marks):
    marks[m] = ...                 what is put there shares no memory with anything
    return walk(x, m - 1, marks)   so the call is one that writes an array of integers
"""

from __future__ import annotations

from s2sad import kinds as K
from s2sad.kinds import Kind
from s2sad.stages import KindFacts, Write


def is_marks(kind: Kind | None) -> bool:
    """Say whether this is a list of what carries no derivative."""
    plain = isinstance(kind, K.List) and isinstance(kind.item, K.Num | K.Str)
    return plain and not K.differentiable(kind)  # type: ignore[arg-type]


def is_empty(kind: Kind | None) -> bool:
    """Say whether this is a list into which nothing has been put yet."""
    return isinstance(kind, K.List) and isinstance(kind.item, K.Unbound)


def puts_marks(kinds: KindFacts, w: Write) -> bool:
    """Say whether a write leaves a list of what carries no derivative."""
    after = kinds.after.get(w.statement) or {}
    return is_marks(w.owner) or (is_empty(w.owner) and is_marks(after.get(w.base)))
