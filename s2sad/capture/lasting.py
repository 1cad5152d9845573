"""Names that loops bind and that are read where the loop is over."""

from __future__ import annotations

from collections.abc import Iterable

import gast

from s2sad.nodes import Node, names_written


def lasting(body: Iterable[Node]) -> frozenset[str]:
    """Return the names that headers of for loops bind and that are read outside of those loops.

        for x in xs:                       for x in xs:
            s += x           no names          s += x           x
        return s                           return s * x

    Their cotangents come into the loop from behind, so what they were a round before has one too.
    """
    bound: set[str] = set()
    read: set[str] = set()
    pending: list[tuple[Node, frozenset[str]]] = [(s, frozenset()) for s in body]
    for s, around in pending:  # grows while it is read
        if isinstance(s, gast.For):
            header = names_written(s.target)
            bound |= header
            pending += [(part, around | header) for part in s.body]
            pending += [(part, around) for part in (s.iter, *s.orelse)]
            continue
        if isinstance(s, gast.Name) and not isinstance(s.ctx, gast.Store) and s.id not in around:
            read.add(s.id)
        pending += [(part, around) for part in gast.iter_child_nodes(s)]
    return frozenset(bound & read)
