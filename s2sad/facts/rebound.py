"""Names that functions bind which are not theirs."""

from __future__ import annotations

import gast

from s2sad.nodes import Block, walk
from s2sad.stages import Function


def rebound_outside(function: Function) -> frozenset[str]:
    """Return the names of its surroundings that a function binds anew.

    Its derivative leaves them as a plain call leaves them.
    """
    found: set[str] = set()
    for s in function.node.body:
        if isinstance(s, gast.Nonlocal | gast.Global):
            found |= set(s.names)
    return frozenset(found)


def rebound_within(body: Block) -> frozenset[str]:
    """Return the names that inner functions may bind anew."""
    inner = [n for s in body for n in walk(s) if isinstance(n, gast.FunctionDef | gast.Lambda)]
    found = [n.names for f in inner for n in walk(f) if isinstance(n, gast.Nonlocal | gast.Global)]
    return frozenset(n for names in found for n in names)
