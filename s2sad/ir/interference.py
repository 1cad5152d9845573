"""Which variables are alive at the same time, and which would like to share a name.

Before: a program and its Fold. After: pairs of variables that clash, and pairs where one hands its
value to the other.

    peak = 0.0                      peak.1 may print as peak: they are never alive together.
    if t:                           u may not: it is read behind the if.
        peak.1 = u
        u.1 = u + peak.1
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import gast

from s2sad.ir import program as P
from s2sad.ir.alive import NOTHING, Backward, Exit, Live
from s2sad.ir.effects import code_of, uses_up
from s2sad.ir.folding import Fold, read_inside
from s2sad.ir.program import Op, Operand, Var

Clashes = dict[Var, set[Var]]


class Interference(Backward):
    """Goes backward through a program; what it finds is in `clashes` and `pairs`.

    `lasting` are variables that an inner function reads whenever it is called: from where they
    are bound they are alive. `pairs` are in order, those of inner loops with a higher depth.
    What one variable hands `over` to another is read by nobody there: it may be `unbound`.
    """

    def __init__(self, program: P.Program, fold: Fold) -> None:
        self.fold = fold
        self.clashes: Clashes = defaultdict(set)
        self.pairs: dict[tuple[Var, Var], int] = {}
        self.over: set[tuple[Var, Var]] = set()
        self.unbound: set[Var] = set()
        self.alone = {
            h.caught
            for o in P.every(program.block)
            if isinstance(o, P.Try)
            for h in o.handlers
            if h.caught is not None
        }
        self.lasting = set(_lasting(program, fold))
        self.block(program.block, (), NOTHING, Exit())
        for region in P.every(program.block):
            if isinstance(region, P.Collect) and region in fold.whole:
                self.scope(region)
        for v, others in [*self.clashes.items()]:
            for w in others:
                self.clashes[w].add(v)

    def reads(self, operands: Iterable[Operand]) -> Live:
        return self.fold.leaves(operands)

    def inside(self, operation: P.Operation) -> bool:
        outs = operation.outs
        return bool(outs) and all(v in self.fold.values for v in outs)

    def whole(self, region: P.Region) -> Live | None:
        is_statement = isinstance(region, P.If) and region.style == "assert"
        if region not in self.fold.whole or is_statement:
            return None
        given = (*P.operands(region), *read_inside(region))
        targets = P.flat(region.target) if isinstance(region, P.Collect) else ()
        return self.fold.leaves(given) - frozenset(targets) - _targets_inside(region)

    def made_in(self, region: P.Collect) -> Live:
        return frozenset(region.outs)

    def noted(self, operation: P.Operation, live: Live) -> None:
        if not self.depth:
            self.lasting -= set(operation.outs)

    def before(self, operation: P.Operation, live: Live, exits: Exit) -> Live:
        found = super().before(operation, live, exits)
        if not self.depth:
            self.lasting -= set(_bound_in(operation)) if self.lasting else set()
        return found

    def handed(self, takes: Sequence[Var], results: Sequence[Operand], live: Live) -> Live:
        for t, r in zip(takes, results, strict=False):
            if isinstance(r, Var):
                self.over.add((t, r))
                self.paired(t, r)
            elif isinstance(r, P.Unbound):
                self.unbound.add(t)
        return super().handed(takes, results, live)

    def op(self, op: Op, live: Live) -> Live:
        if op.primitive.form in ("augmented", "same") and isinstance(op.operands[0], Var):
            self.paired(op.outs[0], op.operands[0])
        return super().op(op, live)

    def paired(self, a: Var, b: Var) -> None:
        free = not {a, b} & self.alone and not b.cell
        if free and a not in self.fold.cells and b not in self.fold.cells:
            self.pairs[a, b] = max(self.depth, self.pairs.get((a, b), 0))

    def defined(self, v: Var, live: Live, same: Operand | None = None) -> None:
        if v in self.fold.cells:
            return
        alone = {v, same} if isinstance(same, Var) else {v}
        self.clashes[v] |= (live | self.lasting if self.lasting else live) - alone

    def scope(self, region: P.Collect) -> None:
        """What a comprehension binds hides what is outside, for those who read there."""
        targets = P.flat(region.target)
        inside = self.fold.leaves(read_inside(region)) | set(targets)
        for v in targets:
            self.clashes[v] |= inside - {v}


def _lasting(program: P.Program, fold: Fold) -> Iterator[Var]:
    """Yield the variables that inner functions read, but those which one call uses up."""
    at_once = {
        v
        for o in P.every(program.block)
        if isinstance(o, Op) and uses_up(o)
        for v in map(P.variable, o.operands)
        if v in fold.values
    }
    for o in P.every(program.block):
        if not isinstance(o, Op) or o.primitive.form not in ("closure", "statement"):
            continue
        is_generator = isinstance(code_of(o), gast.GeneratorExp)
        if not (is_generator and set(o.outs) & at_once):
            yield from (v for v in o.operands if isinstance(v, Var) and not v.cell)


def _bound_in(operation: P.Operation) -> Iterator[Var]:
    yield from operation.outs
    yield from P.bound(operation)
    if not isinstance(operation, Op):
        for block in P.blocks(operation):
            yield from block.params
            for inner in block.ops:
                yield from _bound_in(inner)


def _targets_inside(region: P.Region) -> frozenset[Var]:
    inner = [r for b in P.blocks(region) for r in P.every(b) if isinstance(r, P.Collect)]
    return frozenset(v for r in inner for v in P.flat(r.target))
