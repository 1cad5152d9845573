"""Which variables are read later, at each point of a program.

Before: a program. After: for every operation, the variables that are live behind it. A variable
that a loop carries is live at the end of a round where the next one reads it, or where the loop
hands it over.
"""

from __future__ import annotations

from collections.abc import Mapping

from s2sad.ir import program as P
from s2sad.ir.program import Op, Var

Live = frozenset[Var]
NOTHING: Live = frozenset()


def alive(program: P.Program) -> Mapping[P.Operation, Live]:
    """Return the variables that are live behind each operation of a program."""
    behind: dict[P.Operation, Live] = {}
    _Walk(behind).block(program.block, NOTHING)
    return behind


def variables(operands: tuple[P.Operand, ...]) -> Live:
    """Return the variables among operands."""
    return frozenset(v for v in map(P.variable, operands) if v is not None)


class _Walk:
    def __init__(self, behind: dict[P.Operation, Live]) -> None:
        self.behind = behind

    def block(self, block: P.Block, live: Live, leaves: Live = NOTHING) -> Live:
        """Return what is live before a block; `live` is so behind it, `leaves` behind its loop."""
        if block.end.how == "break":
            live = leaves
        elif block.end.how == "raise":
            live = NOTHING
        live |= variables(block.end.results)
        for operation in reversed(block.ops):
            self.behind[operation] = live
            live = self.before(operation, live, leaves)
        return live - frozenset(block.params)

    def before(self, operation: P.Operation, live: Live, leaves: Live) -> Live:
        """Return what is live before an operation."""
        read = variables(P.operands(operation))
        live -= frozenset(operation.outs)
        match operation:
            case Op():
                return live | read
            case P.If():
                arms = (operation.then, operation.orelse)
                return read.union(*(self.block(b, live, leaves) for b in arms))
            case P.For() | P.Collect():
                return read | self.loop(operation.body, frozenset(P.bound(operation)), live)
            case P.While():
                return read | self.repeat(operation, live)
            case P.With():
                inner = self.block(operation.body, live, leaves)
                return read | (inner - frozenset(P.bound(operation)))
            case P.Try():
                return self.attempt(operation, live, leaves)
            case P.Match():
                cases = [self.case(c, live, leaves) for c in operation.cases]
                return read.union(live, *cases)

    def loop(self, body: P.Block, bound: Live, live: Live) -> Live:
        again = live
        while True:
            start = live | (self.block(body, again, live) - bound)
            if start <= again:
                return start
            again |= start

    def repeat(self, region: P.While, live: Live) -> Live:
        given = {v.name for v in region.outs}
        handed = frozenset(v for v in region.carried if v.name in given)
        again = live
        while True:
            inner = self.block(region.body, again, live)
            start = self.block(region.test, inner | live | handed) - frozenset(region.carried)
            if start <= again:
                return start
            again |= start

    def attempt(self, region: P.Try, live: Live, leaves: Live) -> Live:
        """What a handler reads is live throughout the body."""
        last = self.block(region.final, live, leaves)
        caught = NOTHING
        for h in region.handlers:
            inner = self.block(h.body, last, leaves)
            kind = self.block(h.kind, inner) if h.kind is not None else inner
            caught |= kind - (frozenset() if h.caught is None else {h.caught})
        thrown = caught | (last if region.final.ops else NOTHING)
        done = self.block(region.orelse, last, leaves)
        start = self.block(region.body, done | thrown, leaves)
        for inside in P.every(region.body):
            self.behind[inside] |= thrown
        return start | thrown

    def case(self, case: P.Case, live: Live, leaves: Live) -> Live:
        inner = self.block(case.body, live, leaves)
        if case.guard is not None:
            inner = self.block(case.guard, inner)
        return inner - frozenset(case.bound)
