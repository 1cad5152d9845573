"""Which variables are read later, at each point of a program.

Before: a program. After: for every operation, the variables that are live behind it. A variable
that a loop carries is live at the end of a round where the next one reads it, or where the loop
hands it over. Where a path hands over no value, its taker is live before, as an unbound name is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Var

Live = frozenset[Var]
NOTHING: Live = frozenset()


def alive(program: P.Program) -> Mapping[P.Operation, Live]:
    """Return the variables that are live behind each operation of a program."""
    walk = _Noting({})
    walk.block(program.block, (), NOTHING, Exit())
    return walk.found


def variables(operands: Iterable[Operand]) -> Live:
    """Return the variables among operands."""
    return frozenset(v for v in map(P.variable, operands) if v is not None)


@dataclass(frozen=True)
class Exit:
    """What takes up the results of a break, what is live there, and what an exception leads to."""

    takes: tuple[Var, ...] = ()
    live: Live = NOTHING
    kept: Live = NOTHING

    def keeping(self, live: Live) -> Exit:
        """Return the same, where an exception leads to readers of more variables."""
        return replace(self, kept=self.kept | live)


class Backward:
    """Goes through blocks from their ends.

    What extends it may say what operands read (`reads`), which operations stand in the expression
    that uses them (`inside`) or print as one (`whole`), what holds a comprehension that is being
    made (`made_in`), and may note each binding with what is live behind it (`defined`).
    """

    depth = 0

    def reads(self, operands: Iterable[Operand]) -> Live:
        return variables(operands)

    def inside(self, operation: P.Operation) -> bool:
        return False

    def whole(self, region: P.Region) -> Live | None:
        return None

    def made_in(self, region: P.Collect) -> Live:
        return NOTHING

    def defined(self, v: Var, live: Live, same: Operand | None = None) -> None:
        """Note that a variable is bound where others are live; it holds what `same` does."""

    def noted(self, operation: P.Operation, live: Live) -> None:
        """Note what is live behind an operation."""

    # blocks

    def block(self, block: P.Block, takes: tuple[Var, ...], live: Live, exits: Exit) -> Live:
        """Return what is live before a block; `live` is so behind it, with what it hands over."""
        before = self.body(block, takes, live, exits)
        self.bound(block.params, before)
        return before - frozenset(block.params)

    def body(self, block: P.Block, takes: tuple[Var, ...], live: Live, exits: Exit) -> Live:
        """Return what is live where the operations of a block start."""
        results = block.end.results
        match block.end.how:
            case "next":
                live = self.handed(takes, results, live | exits.kept)
            case "break":
                live = self.handed(exits.takes, results, exits.live | exits.kept)
            case "raise":
                live = self.reads(results)
            case "yield":
                live |= self.reads(results)
        live |= exits.kept
        for operation in reversed(block.ops):
            if not self.inside(operation):
                self.noted(operation, live)
                live = self.before(operation, live, exits) | exits.kept
        return live

    def handed(self, takes: Sequence[Var], results: Sequence[Operand], live: Live) -> Live:
        """Return what is live before results are handed over, all at once."""
        pairs = list(zip(takes, results, strict=False))
        missing = frozenset(t for t, r in pairs if isinstance(r, P.Unbound)) & live
        for t, r in pairs:
            if not isinstance(r, P.Unbound):
                self.defined(t, live | frozenset(takes), r)
        return (live - frozenset(takes)) | missing | self.reads(results)

    def bound(self, variables: Iterable[Var], live: Live) -> None:
        """Note variables that are bound at once."""
        found = frozenset(variables)
        together = live | found
        for v in found:
            self.defined(v, together)

    # operations

    def before(self, operation: P.Operation, live: Live, exits: Exit) -> Live:
        """Return what is live before an operation."""
        match operation:
            case Op():
                return self.op(operation, live)
            case P.If() | P.Collect() if (read := self.whole(operation)) is not None:
                self.bound(operation.outs, live)
                return (live - frozenset(operation.outs)) | read
            case P.If():
                arms = (operation.then, operation.orelse)
                found = [self.block(b, operation.outs, live, exits) for b in arms]
                return self.reads((operation.test,)).union(*found)
            case P.For():
                return self.loop(operation, live, exits)
            case P.Collect():
                return self.collected(operation, live, exits)
            case P.While():
                return self.repeat(operation, live, exits)
            case P.With():
                swallowed = live - frozenset(operation.outs)
                inner = self.block(operation.body, operation.outs, live, exits.keeping(swallowed))
                self.bound(P.bound(operation), inner)
                inner -= frozenset(P.bound(operation))
                return inner | self.reads((operation.manager,))
            case P.Try():
                return self.attempt(operation, live, exits)
            case P.Match():
                return self.match(operation, live, exits)

    def op(self, op: Op, live: Live) -> Live:
        if op.primitive.form == "augmented":  # a copy of the old value may be made before
            old, value = op.operands
            self.defined(op.outs[0], self.reads((value,)), old)
            self.defined(op.outs[0], live)
        elif op.primitive.form == "same":
            self.defined(op.outs[0], live, op.operands[0])
        else:
            self.bound(op.outs, live)
        return (live - frozenset(op.outs)) | self.reads(P.operands(op))

    def loop(self, region: P.For, live: Live, exits: Exit) -> Live:
        self.depth += 1
        outs, params = region.outs, region.body.params
        leave = self.handed(outs, params[: len(outs)], live)
        targets = P.flat(region.target)
        inner, again = Exit(outs, live, exits.kept), leave
        while True:
            body = self.body(region.body, params, again, inner)
            self.bound(targets, body)
            start = leave | (body - frozenset(targets))
            if start <= again:
                break
            again |= start
        found = self.handed(params, region.starts, again | self.reads((region.over,)))
        self.depth -= 1
        return found

    def repeat(self, region: P.While, live: Live, exits: Exit) -> Live:
        self.depth += 1
        outs, params = region.outs, region.carried
        leave = self.handed(outs, params[: len(outs)], live)
        inner, again = Exit(outs, live, exits.kept), leave
        while True:
            body = self.body(region.body, params, again, inner)
            start = self.body(region.test, (), body | leave, inner)
            if start <= again:
                break
            again |= start
        found = self.handed(params, region.starts, again)
        self.depth -= 1
        return found

    def collected(self, region: P.Collect, live: Live, exits: Exit) -> Live:
        self.depth += 1
        held = self.made_in(region)
        again = (live - frozenset(region.outs)) | held
        targets = P.flat(region.target)
        while True:
            body = self.body(region.body, (), again, exits)
            self.bound(targets, body)
            start = again | (body - frozenset(targets))
            if start <= again:
                break
            again |= start
        self.depth -= 1
        again |= self.reads((region.over,))
        self.bound(region.outs, again if held else live)
        return again - held

    def attempt(self, region: P.Try, live: Live, exits: Exit) -> Live:
        """What a handler reads is live throughout the body; what `final` reads, in all blocks."""
        last = self.block(region.final, region.of_final, live, exits)
        through = last - frozenset(region.of_arms) if region.final.ops else NOTHING
        inner, caught = exits.keeping(through), NOTHING
        for h in region.handlers:
            found = self.block(h.body, region.of_arms, last, inner)
            if h.caught is not None:  # Python forgets it at the end of the handler
                leaves = exits.live | frozenset(exits.takes)
                self.defined(h.caught, found | last | leaves | frozenset(region.outs))
                found -= {h.caught}
            caught |= found if h.kind is None else self.block(h.kind, (), found, exits)
        done = self.block(region.orelse, region.of_arms, last, inner)
        return self.block(region.body, (), done, inner.keeping(caught)) | caught

    def match(self, region: P.Match, live: Live, exits: Exit) -> Live:
        """A case whose guard fails has bound its names, and the next ones are tried."""
        later = live - frozenset(region.outs)
        for c in reversed(region.cases):
            found = self.block(c.body, region.outs, live, exits)
            if c.guard is not None:
                found = self.block(c.guard, (), found | later, exits)
            self.bound(c.bound, found)
            later |= found - frozenset(c.bound)
        return later | self.reads((region.subject,))


class _Noting(Backward):
    def __init__(self, found: dict[P.Operation, Live]) -> None:
        self.found = found

    def noted(self, operation: P.Operation, live: Live) -> None:
        self.found[operation] = live
