"""Which names are bound on all paths to a statement: one walk forward over the statements."""

from __future__ import annotations

from collections.abc import Callable

import gast

from s2sad.nodes import Block, Node, names_written

Names = frozenset[str]
_LEAVING = (gast.Break, gast.Continue, gast.Raise, gast.Return)


def surely_bound(block: Block, names: Names, before: Callable[[Node, Names], None]) -> Names | None:
    """Return the names bound at the end of a block, where that is reached; None where it is not.

    `names` are bound at its start. `before` is called with every statement and the names that are
    bound when it is reached.
    """
    current: Names | None = names
    for s in block:
        if current is None:
            return None
        before(s, current)
        current = _behind(s, current, before)
    return current


def _behind(s: Node, names: Names, before: Callable[[Node, Names], None]) -> Names | None:
    if isinstance(s, _LEAVING):
        return None
    if isinstance(s, gast.For | gast.While):
        target = names_written(s.target) if isinstance(s, gast.For) else set()
        surely_bound(s.body, names | target, before)
        surely_bound(s.orelse, names, before)
        return names
    if isinstance(s, gast.If):
        arms = [surely_bound(s.body, names, before), surely_bound(s.orelse, names, before)]
        return _on_all(arms)
    if isinstance(s, gast.Match):
        cases = [surely_bound(c.body, names | names_written(c.pattern), before) for c in s.cases]
        return _on_all([names, *cases])
    if isinstance(s, gast.With):
        inside = {n for i in s.items if i.optional_vars for n in names_written(i.optional_vars)}
        return surely_bound(s.body, names | inside, before)
    if isinstance(s, gast.Try):
        done = surely_bound(s.body, names, before)
        done = surely_bound(s.orelse, done, before) if done is not None else None
        caught = [surely_bound(h.body, names | name_of(h), before) for h in s.handlers]
        final = surely_bound(s.finalbody, names, before)
        end = _on_all([done, *caught])
        return end | final if end is not None and final is not None else None
    if isinstance(s, gast.Delete):
        return names - names_written(s)
    return names | names_written(s)


def name_of(handler: Node) -> Names:
    """Return the name that a handler gives the exception, if any."""
    bound = getattr(handler.name, "id", handler.name)
    return frozenset({bound} if bound else ())


def _on_all(ends: list[Names | None]) -> Names | None:
    """Return what is bound at all ends that are reached; None where none is."""
    reached = [e for e in ends if e is not None]
    return frozenset.intersection(*reached) if reached else None
