"""Which names are active before and after each statement, as the graph of flows tells.

Before: a program, and which of its variables are varied, and useful. After: an Activity, which says
the same of names, statement by statement, for what is said to the user: refusals and explain.

    y = x * x        before: x      after: x, y
    n = len(x)       after: x, y    n has no derivative: what stops it is this statement
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.flows import Flows, passes
from s2sad.ir.program import Op, Var
from s2sad.stages import NONE, Activity, Names

Vars = frozenset[Var]


@dataclass(frozen=True)
class Stopped:
    """What takes no derivative, and its parts, until a statement writes that memory.

    The names that share what a statement writes, and are read behind it, `shared` says.
    """

    variables: Vars
    parts: Vars
    shared: Callable[[P.Code], Names]


_FUNCTIONS = K.LocalFunction | K.Known  # these have no derivative, but what they capture has


def active_names(
    program: P.Program, flows: Flows, active: tuple[Vars, Vars], stopped: Stopped
) -> Activity:
    """Return the names that are varied, and useful, around each statement, each with its cause."""
    walk = _Walk(flows, *active, stopped)
    walk.bind(program.block.params)
    walk.block(program.block)
    walk.through_memory()
    walk.used(program.block)
    return walk.facts


@dataclass
class _Walk:
    """Walks blocks in order; `now` are the names that are varied, and useful, at this point.

    A cell is varied, or useful, everywhere. What has no name and is computed from what is varied
    is `met`.
    """

    flows: Flows
    varied: Vars
    useful: Vars
    stopped: Stopped
    facts: Activity = field(default_factory=Activity)
    now: tuple[Names, Names] = (NONE, NONE)
    cells: tuple[Names, Names] = field(init=False)
    met: set[Var] = field(default_factory=set)

    def __post_init__(self) -> None:
        cells = [frozenset(v.name for v in some if v.cell) for some in (self.varied, self.useful)]
        self.cells = cells[0], cells[1]

    def bind(self, variables: Iterable[Var]) -> None:
        """Let names mean variables from here on."""
        varied, useful = self.now
        for v in variables:
            if v.name and not v.cell:
                varied = varied | {v.name} if self.moves(v) else varied - {v.name}
                useful = useful | {v.name} if v in self.useful else useful - {v.name}
        self.now = varied, useful

    def moves(self, v: Var) -> bool:
        """Say whether a variable that is bound here is varied; a function's captures may be."""
        if v not in self.varied or isinstance(v.kind, _FUNCTIONS):
            return False
        if v not in self.stopped.parts:
            return True
        return v not in self.stopped.variables and self.flows.part_of[v].name in self.now[0]

    def block(self, block: P.Block) -> None:
        for operation in block.ops:
            self.note(operation.origin)
            if isinstance(operation, Op):
                self.found(operation)
            else:
                self.region(operation)
            self.bind(operation.outs)
            if isinstance(operation, Op) and operation.writes:
                self.written(operation.origin)
            self.noted(operation.origin)

    def written(self, s: P.Code) -> None:
        """What had no derivative may have one where a statement has written its memory."""
        names = {v.name for v in self.stopped.parts if v in self.varied}
        names &= self.stopped.shared(s) if names else NONE
        self.now = self.now[0] | names, self.now[1]

    def note(self, s: P.Code) -> None:
        """Note what holds before a statement, where its first operation stands."""
        if s not in self.facts.varied_before:
            self.facts.varied_before[s] = self.now[0] | self.cells[0]
            self.facts.useful_before[s] = self.now[1] | self.cells[1]

    def noted(self, s: P.Code) -> None:
        """Note what holds after a statement, as far as its operations have come."""
        self.facts.varied_after[s] = self.now[0] | self.cells[0]
        self.facts.useful_after[s] = self.now[1] | self.cells[1]

    def region(self, region: P.Region) -> None:
        self.caused(region.origin, P.bound(region))
        outside = self.now
        for inner in P.blocks(region):
            self.now = outside
            params = region.carried if isinstance(region, P.While) else inner.params
            self.bind((*params, *P.bound(region)))  # a target is bound behind what is carried
            if isinstance(region, P.For | P.While):
                self.facts.head_varied[region.origin] = self.now[0] | self.cells[0]
                self.facts.head_useful[region.origin] = self.now[1] | self.cells[1]
            self.block(inner)
        self.now = outside
        self.caused(region.origin, region.outs)

    def caused(self, s: P.Code, variables: Iterable[Var]) -> None:
        """Note which statement makes variables varied."""
        for v in variables:
            if v.name and v in self.varied and not isinstance(v.kind, _FUNCTIONS):
                self.facts.cause.setdefault(v.name, s)

    def found(self, op: Op) -> None:
        """Note what an operation makes vary, and what it stops."""
        given = [v for v in map(P.variable, P.operands(op)) if v is not None]
        moves = any(v in self.varied or v in self.met for v in given)
        self.caused(op.origin, op.outs)
        stored = [v for v in given if v in self.varied]
        for place in op.writes:
            owner = place.object
            if isinstance(owner, Var) and any(v is not owner for v in stored):
                self.caused(op.origin, (owner,))
        for v in op.outs if moves else ():
            if not v.name:
                self.met.add(v)
            elif v not in self.varied:
                self.facts.stop.setdefault(v.name, op.origin)

    def through_memory(self) -> None:
        """What is varied by memory alone is so by what writes that, whatever its name is there."""
        causes: dict[str, P.Code] = {}
        for v, word in self.flows.classes.items():
            if v.name in self.facts.cause:
                causes.setdefault(word, self.facts.cause[v.name])
        for v, word in self.flows.classes.items():
            if v in self.varied and v.name and word in causes:
                self.facts.cause.setdefault(v.name, causes[word])

    def used(self, block: P.Block) -> None:
        """Note the last statement by which the result depends on each name."""
        for operation in reversed(block.ops):
            for inner in reversed(P.blocks(operation)) if not isinstance(operation, Op) else ():
                self.used(inner)
            gives = {*operation.outs, *P.bound(operation)}
            given = P.operands(operation)
            if isinstance(operation, Op):
                gives |= {p.object for p in operation.writes if isinstance(p.object, Var)}
                given = passes(operation)
            for v in map(P.variable, given) if not self.useful.isdisjoint(gives) else ():
                if v is not None and v.name and v in self.useful:
                    self.facts.use.setdefault(v.name, operation.origin)
