"""What a program needs: whatever its end, or what it does to the world, depends on.

Before: a program. After: the variables, operations and blocks that are reached from what must
stay, along edges "who needs this one needs that one, too":

    y = u[i]              y -> the operation -> u, i
    u[0] = x              the memory of u -> the operation -> u, x
    t = If(c): next y     t -> y, and t -> the If -> c
    break                 the loop -> the break -> the If around it
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import gast

from s2sad.ir import program as P
from s2sad.ir.deeds import Deed, kind_of, may_be_drawn, owner_of
from s2sad.ir.memories import Memories, memories
from s2sad.ir.program import Op, Operand, Var


@dataclass(frozen=True)
class Memory:
    """All that is written into memory of one class, named by one of its variables."""

    root: Var


Part = Var | P.Operation | P.Block | Memory
Needed = frozenset[Part]


def needed(program: P.Program, own: frozenset[Var] | None = None) -> Needed:
    """Return what a program needs.

    Of a derived program the user's `own` values are told: nobody waits for what others raise.
    """
    worker = _Walk(memories(program), own)
    worker.block(program.block, _Around())
    end = program.block.end
    if end.how == "next":
        worker.roots += worker.variables(end.results)
    return worker.reached()


@dataclass(frozen=True)
class _Around:
    """What stands around a block: the region, the variables that take what the block hands over
    where it goes on (`takes`) or `leaves` the `loop`, and the comprehension that `collects`.
    Where a raise is `caught`, what may raise counts.
    """

    owner: P.Region | None = None
    takes: tuple[Var, ...] = ()
    leaves: tuple[Var, ...] = ()
    loop: P.Region | None = None
    collects: P.Collect | None = None
    caught: bool = False

    def inside(self, owner: P.Region, takes: tuple[Var, ...]) -> _Around:
        return replace(self, owner=owner, takes=takes)

    def looping(self, loop: P.Region, takes: tuple[Var, ...]) -> _Around:
        return replace(self, owner=loop, takes=takes, leaves=loop.outs, loop=loop)

    def guarded(self, owner: P.Region, takes: tuple[Var, ...]) -> _Around:
        return replace(self, owner=owner, takes=takes, caught=True)


# These raise nothing.
_SAFE = ("same", "tuple", "list", "slice", "anew", "closure", "discard")


@dataclass
class _Walk:
    memory: Memories
    own: frozenset[Var] | None = None
    roots: list[Part] = field(default_factory=list)
    edges: dict[Part, list[Part]] = field(default_factory=dict)
    makers: dict[Var, P.Operation] = field(default_factory=dict)
    declared: set[str] = field(default_factory=set)

    def reached(self) -> Needed:
        found: set[Part] = set()
        pending = self.roots
        while pending:
            part = pending.pop()
            if part not in found:
                found.add(part)
                pending += self.edges.get(part, ())
        return frozenset(found)

    def edge(self, part: Part, needs: Iterable[Part]) -> None:
        self.edges.setdefault(part, []).extend(needs)

    def variables(self, given: Iterable[Operand]) -> list[Part]:
        return [v for v in map(P.variable, given) if v is not None]

    def bind(self, variables: Iterable[Var], maker: P.Operation) -> None:
        """Variables need what binds them, and what is written into their memory."""
        for v in variables:
            self.makers[v] = maker
            self.edge(v, (maker,))
            self.holds(v)

    def holds(self, v: Var) -> None:
        root = self.memory.of(v)
        if root is not None:
            self.edge(v, (Memory(root),))

    def hand_over(self, takes: Iterable[Var], results: Iterable[Operand]) -> None:
        for v, result in zip(takes, results, strict=False):
            self.edge(v, self.variables((result,)))

    def block(self, block: P.Block, around: _Around) -> None:
        if around.owner is not None:
            self.edge(block, (around.owner,))
        else:
            for v in block.params:
                self.holds(v)
        for operation in block.ops:
            self.edge(operation, (block,))
            self.bind((*operation.outs, *P.bound(operation)), operation)
            if isinstance(operation, Op):
                self.op(operation, around)
            else:
                self.region(operation, around)
        self.end(block, around)

    def end(self, block: P.Block, around: _Around) -> None:
        results = block.end.results
        match block.end.how:
            case "next":
                self.hand_over(around.takes, results)
            case "break":
                self.hand_over(around.leaves, results)
                if around.loop is not None:
                    self.edge(around.loop, (block,))
            case "yield":
                if around.collects is not None:
                    self.edge(around.collects, (block, *self.variables(results)))
            case "raise":
                self.roots += [block, *self.variables(results)]

    # operations

    def op(self, op: Op, around: _Around) -> None:
        known = self.memory.deeds[op]
        self.edge(op, self.variables(P.operands(op)))
        for cell in [v for v in map(P.variable, op.operands) if v is not None and v.cell]:
            self.holds(cell)
        code = dict(op.settings).get("code")
        if isinstance(code, gast.Global | gast.Nonlocal):
            self.declared |= {*code.names}
        may_raise = op.primitive.form not in _SAFE and not self.is_derived(op)
        if known.acts or (around.caught and may_raise):
            self.roots.append(op)
        self.written(op, known)
        if op.primitive.form == "discard":
            self.kept_by_maker(op)

    def is_derived(self, operation: P.Operation) -> bool:
        """Say whether an operation gives values, none of which the user's code computes."""
        if self.own is None or not operation.outs or not self.own.isdisjoint(operation.outs):
            return False
        inner = () if isinstance(operation, Op) else P.blocks(operation)
        return all(map(self.is_derived, (o for block in inner for o in block.ops)))

    def written(self, op: Op, known: Deed) -> None:
        """What writes memory is needed where somebody reads that memory, or may know it.

        A name that is declared to be another scope's is known there.
        """
        bound = {p.object for p in op.writes if not p.path}
        for owner in known.writes:
            if isinstance(owner, Var) and owner.cell and owner in bound:
                self.edge(owner, (op,))
                self.roots += [op] if owner.name in self.declared else []
            else:
                self.changes(owner, op)
        for owner in known.draws:
            self.draws(owner, op)

    def changes(self, operand: Operand, by: P.Operation) -> None:
        owner = owner_of(operand)
        if not isinstance(owner, Var):
            self.roots.append(by)
            return
        root = self.memory.of(owner)
        if root is not None and self.memory.is_outside(root):
            self.roots.append(by)
        elif root is not None:
            self.edge(Memory(root), (by,))

    def draws(self, operand: Operand, by: P.Operation) -> None:
        """Going through an iterator changes it, and runs what it is made of."""
        owner = owner_of(operand)
        root = self.memory.of(owner) if isinstance(owner, Var) else None
        if root is not None and self.memory.runs(root):
            self.roots.append(by)
        else:
            self.changes(operand, by)

    def kept_by_maker(self, op: Op) -> None:
        """A statement that is one expression stays as long as that does something."""
        for v in map(P.variable, op.operands):
            maker = self.makers.get(v) if v is not None and not v.name else None
            if maker is not None:
                self.edge(maker, (op,))
                if isinstance(maker, Op) and self.memory.deeds[maker].checks:
                    self.roots.append(op)

    # regions

    def region(self, region: P.Region, around: _Around) -> None:
        self.edge(region, self.variables(_controls(region)))
        if around.caught and not self.is_derived(region):
            self.roots.append(region)
        match region:
            case P.If():
                self.block(region.then, around.inside(region, region.outs))
                self.block(region.orelse, around.inside(region, region.outs))
            case P.For():
                self.goes_through(region)
                self.carried(region, region.body.params)
                self.block(region.body, around.looping(region, region.body.params))
            case P.While():
                self.repeat(region, around)
            case P.Collect():
                self.collected(region, around)
            case P.With():
                self.roots.append(region)
                self.block(region.body, around.guarded(region, region.outs))
            case P.Try():
                self.attempt(region, around)
            case P.Match():
                for c in region.cases:
                    if c.guard is not None:
                        self.whole(c.guard, region)
                    self.block(c.body, around.inside(region, region.outs))

    def goes_through(self, region: P.For | P.Collect) -> None:
        if may_be_drawn(kind_of(region.over)):
            self.draws(region.over, region)

    def carried(self, loop: P.For | P.While, params: tuple[Var, ...]) -> None:
        self.bind(params, loop)
        self.hand_over(params, loop.starts)
        table = {v.name: v for v in params}
        for v in loop.outs:
            self.edge(v, (table[v.name],))

    def repeat(self, region: P.While, around: _Around) -> None:
        """A while loop stays: nobody knows that it ends."""
        self.roots.append(region)
        self.carried(region, region.carried)
        self.block(region.test, around.inside(region, ()))
        self.edge(region, self.variables(region.test.end.results))
        self.block(region.body, around.looping(region, region.carried))

    def collected(self, region: P.Collect, around: _Around) -> None:
        self.goes_through(region)
        outer = region if region.outs else around.collects
        self.edge(region, region.outs)
        inner = replace(around, owner=region, takes=(), collects=outer)
        self.block(region.body, inner)

    def attempt(self, region: P.Try, around: _Around) -> None:
        self.block(region.body, around.guarded(region, ()))
        arms = around.inside(region, region.of_arms)
        for h in region.handlers:
            if h.kind is not None:
                self.whole(h.kind, region)
            self.block(h.body, arms)
        self.block(region.orelse, arms)
        self.block(region.final, around.inside(region, region.of_final))

    def whole(self, block: P.Block, owner: P.Region) -> None:
        """Walk a block that has to print as one expression: a region keeps it as it is."""
        self.block(block, _Around(owner))
        self.edge(owner, (*P.every(block), *self.variables(block.end.results)))


def _controls(region: P.Region) -> tuple[Operand, ...]:
    """Return the operands that say what a region runs, not those that it hands on."""
    return () if isinstance(region, P.While) else P.operands(region)[:1]
