"""Names outside that a function binds: its derivative leaves them as a plain call leaves them."""

from __future__ import annotations

import gast

from s2sad.stages import Function


def rebound_outside(function: Function) -> frozenset[str]:
    """Return the names of its surroundings that a function binds anew."""
    found: set[str] = set()
    for s in function.node.body:
        if isinstance(s, gast.Nonlocal | gast.Global):
            found |= set(s.names)
    return frozenset(found)
