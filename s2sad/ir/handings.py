"""What a program hands from variable to variable, in order, where its regions are all looked at.

    if t:                    y.1 -> y       what an arm gives, a result of the region is
        next y.1
        next 0.0             0.0 -> y
    for i, v in enumerate(x):               what a loop is given, and what a round gives, it carries
        next s.2             s -> s.1, s.2 -> s.1, a part of x -> v

Before: a program. After: its operations, in order, with a Handing wherever a block, or a region,
hands something over. An analysis that only joins what reaches a variable need know no regions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Var


@dataclass(frozen=True)
class Handing:
    """An operand is handed over to a variable: as it is, or a `part` of it."""

    source: Operand
    target: Var
    part: bool = False


Step: TypeAlias = Op | Handing


def handings(block: P.Block) -> list[Step]:
    """Return the operations of a block and of those in it, and what they hand over."""
    walk = _Walk()
    walk.block(block, (), ())
    return walk.steps


def caught(block: P.Block) -> list[tuple[Var, list[Var]]]:
    """Return what handlers catch, each with what it may hold: what there is where it is raised."""
    tries = (o for o in P.every(block) if isinstance(o, P.Try))
    pairs = ((h.caught, o.body) for o in tries for h in o.handlers)
    return [(v, _met(body)) for v, body in pairs if v is not None]


def carried(block: P.Block) -> list[tuple[Var, Var]]:
    """Return the results of loops, each with what its loop carries."""
    found: list[tuple[Var, Var]] = []
    for operation in P.every(block):
        if isinstance(operation, P.For | P.While):
            found += zip(operation.outs, _params(operation), strict=False)
    return found


def _params(loop: P.For | P.While) -> tuple[Var, ...]:
    return loop.body.params if isinstance(loop, P.For) else loop.carried


@dataclass
class _Walk:
    """Walks blocks; `made` says by which call a value is made."""

    steps: list[Step] = field(default_factory=list)
    made: dict[Var, Op] = field(default_factory=dict)

    def hand(self, sources: Sequence[Operand], targets: Sequence[Var], part: bool = False) -> None:
        """Hand operands over to what takes them up."""
        pairs = zip(sources, targets, strict=False)
        self.steps += [Handing(source, v, part) for source, v in pairs]

    def bind(self, whole: Operand, targets: Sequence[Var]) -> None:
        """Let variables hold parts of an operand."""
        self.hand([whole] * len(targets), targets, part=True)

    def block(self, block: P.Block, takes: Sequence[Var], leaves: Sequence[Var]) -> None:
        """Note what a block does; its end hands over to `takes`, or to `leaves` of its loop."""
        for operation in block.ops:
            if not isinstance(operation, Op):
                self.region(operation, leaves)
                continue
            self.steps.append(operation)
            if operation.primitive.form == "call":
                self.made |= dict.fromkeys(operation.outs, operation)
        if block.end.how in ("next", "break"):
            self.hand(block.end.results, leaves if block.end.how == "break" else takes)
        elif block.end.how == "yield":
            for result in block.end.results:
                self.bind(result, takes)

    def region(self, region: P.Region, leaves: Sequence[Var]) -> None:
        match region:
            case P.If():
                for block in P.blocks(region):
                    self.block(block, region.outs, leaves)
            case P.For() | P.While():
                self.loop(region)
            case P.Collect():
                self.collected(region, region.outs)
            case P.With():
                self.bind(region.manager, P.bound(region))
                self.block(region.body, region.outs, leaves)
            case P.Try():
                self.attempt(region, leaves)
            case P.Match():
                for case in region.cases:
                    self.bind(region.subject, case.bound)
                    if case.guard is not None:
                        self.block(case.guard, (), ())
                    self.block(case.body, region.outs, leaves)

    def loop(self, region: P.For | P.While) -> None:
        params = _params(region)
        self.hand(region.starts, params)
        if isinstance(region, P.For):
            self.turns(region.over, region.target)
        else:
            self.block(region.test, (), ())
        self.block(region.body, params, region.outs)
        self.hand(params, region.outs)

    def turns(self, over: Operand, target: P.Target) -> None:
        """Hand what a loop runs over to what it binds: of a zip, one by one."""
        made = self.made.get(over) if isinstance(over, Var) else None
        callee, *sources = made.operands if made is not None else (None,)
        kind = callee.kind if isinstance(callee, P.Outer) else None
        fn = kind.value if isinstance(kind, K.Known) else None
        spread = any(isinstance(s, P.Spread) for s in sources)
        if fn is enumerate and isinstance(target, tuple) and len(target) == 2 and not spread:
            self.bind(P.Const(0), P.flat(target[0]))
            self.turns(sources[0], target[1])
        elif fn is zip and isinstance(target, tuple) and len(target) == len(sources) and not spread:
            for source, part in zip(sources, target, strict=True):
                self.turns(source, part)
        else:
            self.bind(over, P.flat(target))

    def attempt(self, region: P.Try, leaves: Sequence[Var]) -> None:
        self.block(region.body, (), leaves)
        for h in region.handlers:
            if h.kind is not None:
                self.block(h.kind, (), ())
            self.block(h.body, region.of_arms, leaves)
        self.block(region.orelse, region.of_arms, leaves)
        self.block(region.final, region.of_final, leaves)

    def collected(self, region: P.Collect, outs: Sequence[Var]) -> None:
        """The elements of a comprehension are parts of what is collected."""
        self.turns(region.over, region.target)
        self.yielding(region.body, outs)

    def yielding(self, block: P.Block, outs: Sequence[Var]) -> None:
        """Note a block of a comprehension: the loops and tests in it hand on its elements."""
        for operation in block.ops:
            if isinstance(operation, P.Collect) and not operation.outs:
                self.collected(operation, outs)
            elif isinstance(operation, P.If) and operation.style == "filter":
                self.yielding(operation.then, outs)
            else:
                self.block(P.Block((), (operation,), P.End("next")), (), ())
        self.block(P.Block((), (), block.end), outs, ())


def _met(block: P.Block) -> list[Var]:
    """Return the variables that the operations of a block read and bind."""
    every = list(P.every(block))
    read = [v for operation in every for v in map(P.variable, P.operands(operation))]
    found = [*read, *(v for operation in every for v in operation.outs)]
    return [v for v in dict.fromkeys(found) if v is not None]
