"""One kind per name: what a variable is wherever it is mentioned."""

from __future__ import annotations

import gast

from s2sad import kinds as K
from s2sad.kinds import Kind
from s2sad.nodes import Node, names_read, names_written
from s2sad.stages import KindFacts, each_kind


def name_kinds(facts: KindFacts) -> dict[str, Kind]:
    """Return one kind per name of a function: joined over the statements that read or write it.

    What a name still is elsewhere, in the rounds of a loop before it is bound again, counts only
    for names that no statement mentions, or that inner functions capture.
    """
    everywhere: dict[str, Kind] = {}
    out: dict[str, Kind] = {}
    captured: set[str] = set()
    for n, k in each_kind((*facts.before.values(), *facts.after.values())):
        _joined(everywhere, n, k)
        if type(k) is K.LocalFunction:
            captured.update(k.variables)
    for table, names_in in ((facts.before, names_read), (facts.after, names_written)):
        for s, env in table.items():
            heads = _heads(s)
            mentioned = set[str]().union(*map(names_in, heads))
            if isinstance(s, gast.For | gast.While):
                for n in mentioned & facts.before.get(s.body[0], {}).keys():
                    _joined(out, n, facts.before[s.body[0]][n])
            for n in sorted(mentioned & env.keys()):
                _joined(out, n, env[n])
    whole = {n: k for n, k in everywhere.items() if n in captured or n not in out}
    return {**out, **whole}


def _joined(table: dict[str, Kind], n: str, kind: Kind) -> None:
    known = table.get(n)
    if known is None:
        table[n] = kind
    elif known is not kind and known != kind:
        table[n] = K.join(known, kind)


def _heads(s: Node) -> list[Node]:
    """Return the parts of a statement that are no blocks."""
    if isinstance(s, gast.If | gast.While):
        return [s.test]
    if isinstance(s, gast.For):
        return [s.iter, s.target]
    if isinstance(s, gast.With):
        return list(s.items)
    if isinstance(s, gast.Match):
        parts = (part for c in s.cases for part in (c.pattern, c.guard))
        return [s.subject, *(part for part in parts if part is not None)]
    return [] if isinstance(s, gast.Try) else [s]
