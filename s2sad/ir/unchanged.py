"""What a loop carries and never changes.

a.1, b.1 = for i in r, a.2 = a, b.2 = b        b.2 and b.1 are b
    a.3 = a.2 + b.2
    next a.3, b.2
"""

from __future__ import annotations

from collections.abc import Iterator

from s2sad.ir import program as P
from s2sad.ir.program import Operand, Var


def unchanged(region: P.For | P.While) -> frozenset[int]:
    """Return the places of the carried variables that hold their first value in all rounds."""
    params = region.body.params if isinstance(region, P.For) else region.carried
    whole = _Regions(region.body)
    ends = [region.body.end, *_leaving(region.body)]
    found = set()
    for k, (p, start) in enumerate(zip(params, region.starts, strict=True)):
        given = [e.results[k] for e in ends if k < len(e.results)]
        missing = any(e.how == "next" and k >= len(e.results) for e in ends)
        plain = not p.cell and not isinstance(start, P.Unbound | P.Spread)
        if plain and not missing and all(whole.first(g) is p for g in given):
            found.add(k)
    return frozenset(found)


def _leaving(block: P.Block) -> Iterator[P.End]:
    """Yield how a block leaves the loop around it."""
    if block.end.how == "break":
        yield block.end
    for operation in block.ops:
        if not isinstance(operation, P.Op | P.For | P.While | P.Collect):
            for inner in P.blocks(operation):
                yield from _leaving(inner)


class _Regions:
    """The regions of a block by what they give."""

    def __init__(self, block: P.Block) -> None:
        self.of = {
            v: (operation, i)
            for operation in P.every(block)
            if isinstance(operation, P.For | P.If)
            for i, v in enumerate(operation.outs)
        }

    def first(self, given: Operand) -> Operand:
        """Return what a value is, seen through regions that hand it on as it is."""
        while isinstance(given, Var) and given in self.of:
            region, k = self.of[given]
            if isinstance(region, P.For):
                if k not in unchanged(region):
                    return given
                given = region.starts[k]
                continue
            assert isinstance(region, P.If)
            ends = [b.end for b in P.blocks(region)]
            found = [self.first(e.results[k]) for e in ends if e.how == "next"]
            if not found or any(f is not found[0] for f in found):
                return given
            given = found[0]
        return given
