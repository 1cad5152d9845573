"""Where paths of a program meet, and which of them are never taken."""

from __future__ import annotations

import gast

from s2sad import kinds as K
from s2sad.kinds import Kind
from s2sad.nodes import Block, blocks_of
from s2sad.stages import KindFacts

Env = dict[str, Kind]


def join_envs(left: Env, right: Env, names: set[str] | None = None) -> Env:
    """Return the kinds where two paths meet."""
    out: Env = {}
    for name in {**left, **right}:
        a = left.get(name, K.UNBOUND)
        if names is not None and name not in names:
            out[name] = a
            continue
        out[name] = K.join(a, right.get(name, K.UNBOUND))
    return out


def drop_cases(body: Block, facts: KindFacts) -> None:
    """Drop the cases that cannot be met by the kind of what is matched."""
    for s in body:
        if isinstance(s, gast.Match):
            kept = [c for c in s.cases if facts.decided.get(c) is not False]
            s.cases[:] = kept or [gast.match_case(gast.MatchAs(None, None), None, [gast.Pass()])]
        for part in blocks_of(s):
            drop_cases(part, facts)
