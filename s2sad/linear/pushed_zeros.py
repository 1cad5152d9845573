"""Forward mode's strong zeros: which tangents may be infinite, and which are zero by structure.

    r = np.sqrt(x)                   r_dot may be infinite
    y = np.maximum(r, 1.0)           where r is less it is no part of y: 0, whatever r_dot is
    c = np.where(m, x, 0.0)          c_dot is zero by structure where m is not
    s = np.sqrt(c)                   there s_dot is 0, and not 0 * inf

One walk over the program, repeated until nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from s2sad import registry
from s2sad.ir import program as P
from s2sad.ir.finite import Finite, applied, is_python_number
from s2sad.ir.handings import Step, handings
from s2sad.ir.program import Op, Operand, Var
from s2sad.linear.guards import Guard, Guards, Met, Pushed
from s2sad.linear.operands import kind_of
from s2sad.primitives import language as L

Calls = Callable[[Op, Met], "Met | None"]
CONSTANT = Met(zeros=True)
_OPERATORS = ("Add", "Sub", "Mult", "Div", "Pow")


@dataclass(frozen=True)
class Asked:
    """A program of which tangents are asked: what is active, what may be wild, shared memory.

    `calls` says of a call of a user's function, and what the tangents that it is given may be, what
    the tangent of its result may be.
    """

    program: P.Program
    classes: Mapping[Var, str]
    active: frozenset[Var]
    finite: Finite
    calls: Calls


def pushed(asked: Asked, given: frozenset[str], met: Met) -> Pushed:
    """Return where a program's operations need a guard; what is `given` may be what is `met`."""
    walk = _Walk(asked)
    for v in asked.program.block.params:
        if v.name in given:
            walk.give(v, met)
    steps = handings(asked.program.block)
    while walk.changed:
        walk.changed = False
        for step in steps:
            walk.step(step)
    for step in steps:
        if isinstance(step, Op):
            walk.look(step)
    ends = map(P.variable, asked.program.block.end.results[:1])
    result = next((walk.of(v) for v in ends if v is not None), Met())
    return Pushed(Guards(walk.guards, walk.in_place), walk.masked, walk.arrivals, result)


@dataclass
class _Walk:
    """Gives active variables what their tangents may be; `changed` says whether that is new."""

    asked: Asked
    met: dict[Var | str, Met] = field(default_factory=dict)
    guards: dict[Var, Guard] = field(default_factory=dict)
    in_place: dict[P.Code, Guard] = field(default_factory=dict)
    masked: dict[Var, frozenset[Var]] = field(default_factory=dict)
    arrivals: dict[Var, Met] = field(default_factory=dict)
    changed: bool = True

    def of(self, v: Var) -> Met:
        return self.met.get(self.asked.classes.get(v, v), Met())

    def give(self, v: Var, found: Met) -> None:
        """Note one more tangent that a variable may have."""
        if v not in self.asked.active:
            return
        key = self.asked.classes.get(v, v)
        known = self.met.get(key)
        joined = found if known is None else known.join(found)
        if joined != known:
            self.met[key] = joined
            self.changed = True

    def held(self, operand: Operand) -> Met:
        """Return what the tangent of an operand may be; a constant has zeros alone."""
        v = P.variable(operand)
        return self.of(v) if v is not None and v in self.asked.active else CONSTANT

    def active_in(self, op: Op) -> list[Var]:
        found = (v for v in map(P.variable, P.operands(op)) if v in self.asked.active)
        return [v for v in dict.fromkeys(found) if v is not None]

    def together(self, variables: Iterable[Var]) -> Met:
        """Return what holds of any of some variables."""
        held = [self.of(v) for v in variables]
        return Met(any(m.zeros for m in held), any(m.wild for m in held))

    def step(self, step: Step) -> None:
        if isinstance(step, Op):
            self.op(step)
        elif not isinstance(step.source, P.Unbound):
            self.give(step.target, self.held(step.source))

    def op(self, op: Op) -> None:
        found = self.of_op(op)
        for v in op.outs:
            self.give(v, found)
        for place in op.writes:
            if isinstance(place.object, Var):
                owner = place.object
                given = [v for v in self.active_in(op) if v is not owner]
                self.give(owner, self.together(given) if given else CONSTANT)

    def of_op(self, op: Op) -> Met:
        """Return what the tangent of what an operation gives may be."""
        active = self.active_in(op)
        if not active:
            return CONSTANT
        held = self.together(active)
        called = self.asked.calls(op, held)
        if called is not None:
            return called
        function = applied(op)
        if function is None or op.primitive.form == "item":
            return Met(held.zeros or self.lists(op), held.wild)
        fn, given = function
        zeros = held.zeros
        if op.primitive.form in ("infix", "augmented") and op.primitive.word in _OPERATORS:
            zeros = all(self.of(v).zeros for v in active)
        wild = held.wild or self.singular(op, fn, given)
        read = (v for v in map(P.variable, P.operands(op)) if v is not None)
        return Met(
            zeros or self.embeds(fn, given), wild or any(map(self.asked.finite.is_wild, read))
        )

    def lists(self, op: Op) -> bool:
        """Say whether a list or tuple holds what is constant beside what is active."""
        listed = op.primitive in (L.LIST, L.TUPLE)
        return listed and any(P.variable(o) not in self.asked.active for o in op.operands)

    def embeds(self, fn: object, given: Sequence[Operand]) -> bool:
        """Say whether some entries of a result do not depend on what is active."""
        known = registry.numbers_of(fn)
        if known.parts != "joined":
            return known.parts == "widened"
        arrays = given[1:] if known.form == "choice" else given
        return any(self.held(o).zeros for o in arrays)

    def singular(self, op: Op, fn: object, given: Sequence[Operand]) -> bool:
        """Say whether an operation's tangent may be infinite: Python's numbers raise instead."""
        plain = [o for o in given if not isinstance(o, P.Spread)]
        if plain and all(map(is_python_number, plain)):
            return False
        return self.asked.finite.singular(op, fn, given)

    def look(self, op: Op) -> None:
        """Note what an operation needs, now that all is known."""
        finite, active = self.asked.finite, self.active_in(op)
        function = applied(op)
        if not op.outs and function is not None:
            if finite.steep(op, *function, self.asked.active):
                self.in_place[op.origin] = Guard(True, steep=True)
        if not active or not op.outs:
            return
        (out, *_), held = op.outs, self.together(active)
        if self.asked.calls(op, held) is not None:
            self.arrivals[out] = held
            return
        if function is None or op.primitive.form == "item":
            return
        fn, given = function
        rule = registry.rule_for(fn)
        steep = finite.steep(op, fn, given, self.asked.active)
        if steep:
            self.guards[out] = Guard(True, steep=True)
        if rule is None or rule.partials is None:
            return
        if all(self.of(v).zeros for v in active):
            read = (v for v in map(P.variable, P.operands(op)) if v is not None)
            wild = frozenset(filter(finite.is_wild, read))
            singular = self.singular(op, fn, given)
            if singular or wild or finite.is_wild(out):
                self.guards[out] = Guard(singular or steep, wild, finite.is_wild(out), steep)
        if rule.masks or any(getattr(kind_of(o), "dtype", None) == "bool" for o in given):
            masked = frozenset(v for v in active if self.of(v).wild)
            if masked:
                self.masked[out] = masked
