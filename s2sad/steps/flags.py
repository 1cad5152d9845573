"""Derivatives leave out what changes flags of arrays: refuse programs that depend on these flags.

Whether an array may be written is then another answer in a derivative than in the plain call.
"""

from __future__ import annotations

from collections.abc import Iterator

import gast
import numpy as np

from s2sad import kinds as K
from s2sad.errors import UnsupportedError
from s2sad.facts.silent_calls import sets_flags
from s2sad.nodes import Node, all_inside, walk
from s2sad.stages import KindFacts
from s2sad.steps.derivation import Analysed, Derivation, memory_of

_ELSEWHERE = "Leave out what changes the flags, or do it outside of what is differentiated."


def _of_writing() -> frozenset[str]:
    """Return the names of the flags that say whether an array may be written."""
    free, held = np.empty(1), np.empty(1)
    held.setflags(write=False)
    names = (n for n in dir(free.flags) if not n.startswith("_"))
    return frozenset(n for n in names if getattr(free.flags, n) != getattr(held.flags, n))


_OF_WRITING = _of_writing()


def refuse_flags(d: Derivation, reached: list[Analysed]) -> None:
    """Refuse to read flags, or to catch what a write raises, where flags are changed."""
    if not any(sets_flags(s, a.kinds) for a in reached for s in all_inside(a.function.node.body)):
        return
    for a in reached:
        written = [w.statement for w in memory_of(d, a).writes if w.in_array]
        for s in all_inside(a.function.node.body):
            place = next(_reads(s, a.kinds), None)
            if place is not None:
                raise UnsupportedError(
                    "The flags of an array are read here, and flags are changed in what is "
                    "differentiated; derivatives leave out these changes.",
                    remedy=_ELSEWHERE,
                    place=a.function.source.place(place),
                )
            inside = set(all_inside(s.body)) if isinstance(s, gast.Try) and s.handlers else set()
            caught = next((w for w in written if w in inside), None)
            if caught is not None:
                raise UnsupportedError(
                    "An array is written inside a try, and flags of arrays are changed in what is "
                    "differentiated: an error of this write would not be raised in a derivative, "
                    "which leaves out these changes.",
                    remedy=_ELSEWHERE,
                    place=a.function.source.place(caught),
                )


def _reads(s: Node, kinds: KindFacts) -> Iterator[Node]:
    """Yield the expressions of a statement whose value depends on whether an array is writeable."""
    kept = isinstance(s, gast.Assign) and _is_flags(s.value, kinds)
    if kept or sets_flags(s, kinds) or isinstance(s, gast.For | gast.With | gast.Try):
        return
    if isinstance(s, gast.If) and not s.orelse and all(sets_flags(t, kinds) for t in s.body):
        return
    parts = [s.test] if isinstance(s, gast.If | gast.While) else [s]
    other: set[Node] = set()
    for n in (n for part in parts for n in walk(part)):
        if isinstance(n, gast.Attribute) and n.attr not in _OF_WRITING:
            other.add(n.value)
        if n not in other and isinstance(n, gast.expr) and _is_flags(n, kinds):
            yield n


def _is_flags(node: Node, kinds: KindFacts) -> bool:
    kind = kinds.of.get(node)
    return isinstance(kind, K.Unknown) and kind.cls is K.FLAGS
