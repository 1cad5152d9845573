"""Where paths of a program meet, and which of them are never taken."""

from __future__ import annotations

from dataclasses import replace

import gast

from s2sad import kinds as K
from s2sad.kinds import Kind
from s2sad.nodes import Block, blocks_of
from s2sad.stages import KindFacts

Env = dict[str, Kind]


def join_envs(left: Env, right: Env, names: set[str] | None = None) -> Env:
    """Return the kinds where two paths meet; arrays that are as long on both paths are so here."""
    out: Env = {}
    met: dict[tuple[K.Dim, K.Dim], K.Dim] = {}
    for name in {**left, **right}:
        a = left.get(name, K.UNBOUND)
        if names is not None and name not in names:
            out[name] = a
            continue
        b = right.get(name, K.UNBOUND)
        out[name] = made = K.join(a, b)
        if isinstance(a, K.Array) and isinstance(b, K.Array) and isinstance(made, K.Array):
            dims = zip(a.dims, b.dims, made.dims, strict=True)
            out[name] = replace(made, dims=tuple(_as_met(*triple, met) for triple in dims))
    return out


def _as_met(
    left: K.Dim, right: K.Dim, joined: K.Dim, met: dict[tuple[K.Dim, K.Dim], K.Dim]
) -> K.Dim:
    """Return a length that two paths give, by the symbol of those that have been met before."""
    if K.same_length(left, right):
        return joined
    first = met.setdefault((_plain(left), _plain(right)), joined)
    return replace(joined, symbol=first.symbol, cut=first.cut)


def _plain(dim: K.Dim) -> K.Dim:
    return K.Dim(dim.symbol, dim.cut)


def drop_cases(body: Block, facts: KindFacts) -> None:
    """Drop the cases that cannot be met by the kind of what is matched."""
    for s in body:
        if isinstance(s, gast.Match):
            kept = [c for c in s.cases if facts.decided.get(c) is not False]
            s.cases[:] = kept or [gast.match_case(gast.MatchAs(None, None), None, [gast.Pass()])]
        for part in blocks_of(s):
            drop_cases(part, facts)
