"""Which cotangents may be zero by structure: masked, not indexed, not the maximum, not on the path.

    y = np.sqrt(x)                   y_bar arrives with zeros: guard the division by y
    z = 2.0 * y
    return np.sum(np.where(m, z, 0))      z_bar is masked

One walk backward over the program, with the state that reverse mode keeps: which cotangents are
set, and of each whether all that was added to it may be zero at once. The sum of a full cotangent
and a masked one is full. Memory that is written in place has parts that nobody has read.

Where a function is steep, with a finite value and an infinite derivative as np.sqrt at 0, any zero
is guarded, but for cotangents that are never zero, as that of a loss.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

from s2sad import kinds as K
from s2sad import registry
from s2sad.ir import program as P
from s2sad.ir.finite import Finite, applied, is_factor
from s2sad.ir.flows import Flows, passes
from s2sad.ir.program import Op, Operand, Var
from s2sad.kinds import Kind
from s2sad.linear.guards import Arrival, Guard, Guards, Zeros
from s2sad.linear.operands import is_array, kind_of
from s2sad.primitives import language as L
from s2sad.rulebook.facts import PASSES


class Zero(IntEnum):
    """How a cotangent may come to be zero: never, as any number may, or by structure."""

    NEVER = 0
    CHANCE = 1
    STRUCTURE = 2


State = dict[Var, Zero]
Called = tuple[Arrival, list[tuple[Var, bool]]]
Calls = Callable[[Op, Arrival, bool], "Called | None"]


@dataclass(frozen=True)
class Asked:
    """A program of which zeros are asked: what flows in it, what is active, what may be wild.

    `calls` says, of a call of a user's function, what arrives there, and whether it writes, what
    its derivative is made for and to which variables it passes cotangents, each with zeros or
    without.
    """

    program: P.Program
    flows: Flows
    active: frozenset[Var]
    finite: Finite
    calls: Calls


def zeros(asked: Asked, arrival: Arrival, results: Iterable[Var]) -> Zeros:
    """Return where a program's operations need a guard.

    `results` are the variables that have cotangents when the backward sweep starts.
    """
    walk = _Walk(asked)
    first = Zero.STRUCTURE if arrival.zeros else Zero.NEVER if arrival.one else Zero.CHANCE
    state: State = {}
    for v in results:
        walk.add(state, v, first)
    state = walk.block(asked.program.block, state, ())
    params = asked.program.block.params
    reached = frozenset(v.name for v in params if state.get(v, Zero.STRUCTURE) is Zero.STRUCTURE)
    ends = map(P.variable, asked.program.block.end.results[:1])
    wild = any(v is not None and asked.finite.is_wild(v) for v in ends)
    return Zeros(Guards(walk.guards, walk.in_place), walk.arrivals, reached, wild)


@dataclass
class _Walk:
    """The state maps every cotangent that is set to how it may come to be zero.

    `makers` says which operation binds a variable, `infinite` which cotangents may be infinite.
    """

    asked: Asked
    guards: dict[Var, Guard] = field(default_factory=dict)
    in_place: dict[P.Code, Guard] = field(default_factory=dict)
    arrivals: dict[Var, Arrival] = field(default_factory=dict)

    @functools.cached_property
    def every(self) -> list[Op]:
        return [op for op in P.every(self.asked.program.block) if isinstance(op, Op)]

    @functools.cached_property
    def makers(self) -> Mapping[Var, Op]:
        return {v: op for op in self.every for v in op.outs}

    @functools.cached_property
    def infinite(self) -> frozenset[Var]:
        """The variables whose cotangents may be infinite though the values are finite.

        y = np.maximum(x, 0.0)       where x < 0, y_bar is infinite, and y does not depend on x
        return np.sum(np.sqrt(y))    y_bar is 0.5 / sqrt(y)
        """
        steep = [o for op in self.every if self.is_steep(op) for o in passes(op)]
        return self.asked.flows.useful(steep) & self.asked.active if steep else frozenset()

    def is_steep(self, op: Op) -> bool:
        function = applied(op)
        return function is not None and self.asked.finite.steep(op, *function, self.asked.active)

    def is_memory(self, v: Var) -> bool:
        """Say whether a variable is an array that is written in place, or memory of a name."""
        return v.cell or (v in self.asked.flows.filled and is_array(K.without_none(v.kind)))

    def add(self, state: State, operand: Operand, zero: Zero) -> None:
        """Add a contribution: what is full stays full, but for what is written in place."""
        v = P.variable(operand)
        if v is None or v not in self.asked.active:
            return
        before = state.get(v)
        if self.is_memory(v):
            state[v] = Zero.STRUCTURE
        elif before is None:
            state[v] = zero
        else:
            both = before is zero is Zero.STRUCTURE
            state[v] = Zero.STRUCTURE if both else Zero.CHANCE

    # operations

    def block(self, block: P.Block, state: State, leaves: Sequence[Zero | None]) -> State:
        """Return the state before a block; `leaves` is that of what a break hands over."""
        for operation in reversed(block.ops):
            if isinstance(operation, Op):
                self.op(operation, state)
            else:
                state = self.region(operation, state, leaves)
        return state

    def op(self, op: Op, state: State) -> None:
        found = [state.pop(v, None) for v in op.outs]
        if op.primitive.form in ("call", "method", "field", "infix", "prefix", "item"):
            if self.called(op, found, state):
                return
        if op.primitive is L.UNPACK:
            if any(f is not None for f in found):
                self.add(state, op.operands[0], max(_worst(f) for f in found))
            return
        for v, zero in zip(op.outs, found, strict=True):
            if zero is not None and v in self.asked.active:
                self.computed(op, v, zero, state)
        self.stored(op, state)

    def called(self, op: Op, found: Sequence[Zero | None], state: State) -> bool:
        """Say whether a user's function is called; a call that writes meets shadows with zeros."""
        hit = [p.object for p in op.writes if isinstance(p.object, Var)]
        written = [v for v in hit if v in self.asked.active and self.is_memory(v)]
        zero = found[0] if found and op.outs[0] in self.asked.active else None
        if zero is None and not written:
            return False
        arrival = Arrival(zero is Zero.STRUCTURE or bool(written))
        called = self.asked.calls(op, arrival, bool(written))
        if called is None:
            return False
        inner, given = called
        if inner != Arrival():
            self.arrivals[op.outs[0]] = inner
        for v, part in given:
            self.add(state, v, Zero.STRUCTURE if part else Zero.CHANCE)
        state |= dict.fromkeys(written, Zero.STRUCTURE)
        return True

    def computed(self, op: Op, out: Var, zero: Zero, state: State) -> None:
        """Pass the cotangent of a value on to what the value is computed of."""
        given = [v for v in map(P.variable, passes(op)) if v is not None]
        given = [v for v in dict.fromkeys(given) if v in self.asked.active]
        self.guard(op, out, zero)
        if out in self.infinite and any(self.masks(op, v) for v in given):
            self.guards[out] = replace(self.guards.get(out, Guard(False)), infinite=True)
        for v in given:
            masked = self.masks(op, v)
            self.add(state, v, Zero.STRUCTURE if masked else _passed(zero, op, v))

    def stored(self, op: Op, state: State) -> None:
        """What is written into memory gets a part of a shadow, or what that of a structure is."""
        owners = [p.object for p in op.writes if isinstance(p.object, Var)]
        owners = [v for v in owners if v in self.asked.active]
        for owner in owners:
            zero = Zero.STRUCTURE if self.is_memory(owner) else _worst(state.get(owner))
            for o in P.operands(op):
                if P.variable(o) is not owner:
                    self.add(state, o, zero)
        if not op.outs and self.is_steep(op):
            self.in_place[op.origin] = Guard(True, steep=True)

    def guard(self, op: Op, out: Var, zero: Zero) -> None:
        function = applied(op)
        if function is None or op.primitive.form == "item":
            return
        fn, given = function
        finite, active = self.asked.finite, self.asked.active
        if zero is not Zero.STRUCTURE:
            if zero is Zero.CHANCE and finite.steep(op, fn, given, active):
                self.guards[out] = Guard(True, steep=True)
            return
        read = (v for v in map(P.variable, P.operands(op)) if v is not None)
        wild = frozenset(v for v in read if finite.is_wild(v))
        singular = finite.singular(op, fn, given)
        rule = registry.rule_for(fn)
        guarded = rule is not None and (rule.partials is not None or bool(rule.regular))
        if guarded and (singular or wild or finite.is_wild(out)):
            self.guards[out] = Guard(singular, wild, finite.is_wild(out))

    def masks(self, op: Op, operand: Var) -> bool:
        """Say whether an operation passes a zero to some entries of an operand by structure."""
        form = op.primitive.form
        if form == "item":
            return not self.takes_all(op.operands[1])
        if form == "field" and isinstance(kind_of(op.operands[0]), K.Tuple | K.Obj | K.OneOf):
            return True
        if form == "infix" and op.primitive.word == "Mult":
            others = [o for o in op.operands if P.variable(o) is not operand]
            return any(_is_bool(kind_of(o)) for o in others)
        if form == "look":
            return True
        function = applied(op)
        rule = None if function is None else registry.rule_for(function[0])
        if rule is None or function is None:
            return form in ("call", "method")
        if isinstance(rule.masks, bool):
            return rule.masks
        fn, given = function
        if not isinstance(rule.masks, tuple):
            return rule.masks(tuple(map(_value, given)))
        words = {n for n, _ in op.settings} | set(_parameters(fn)[: len(given)])
        return bool(words & set(rule.masks))

    def takes_all(self, index: Operand) -> bool:
        """Say whether an index names every element: full slices, new axes and the ellipsis."""
        if isinstance(index, P.Const):
            return index.value is None or index.value is Ellipsis
        if isinstance(index, P.Outer):
            return index.kind in (K.NONE, K.Known(None))
        made = self.makers.get(index) if isinstance(index, Var) else None
        if made is None:
            return False
        if made.primitive is L.TUPLE:
            return all(map(self.takes_all, made.operands))
        if made.primitive is not L.SLICE:
            return False
        *bounds, step = made.operands
        none = P.Const(None)
        return all(b == none for b in bounds) and step in (none, P.Const(1), P.Const(-1))

    # regions

    def region(self, region: P.Region, state: State, leaves: Sequence[Zero | None]) -> State:
        outs = [state.pop(v, None) for v in region.outs]
        match region:
            case P.If():
                return self.meet(P.blocks(region), outs, state, leaves)
            case P.For() | P.While():
                return self.loop(region, outs, state)
            case P.With():
                state = self.arm(region.body, outs, state, leaves)
                self.bound(P.bound(region), region.manager, state)
                return state
            case P.Match():
                for case in region.cases:
                    self.bound(case.bound, region.subject, state)
                state = self.meet([c.body for c in region.cases], outs, state, leaves)
                for case in region.cases:
                    self.bound(case.bound, region.subject, state)
                return state
            case P.Try():
                return self.attempt(region, outs, state, leaves)
            case P.Collect():
                return self.collected(region, outs, state)

    def arm(
        self,
        block: P.Block,
        outs: Sequence[Zero | None],
        state: State,
        leaves: Sequence[Zero | None],
    ) -> State:
        """Return the state before a block that hands over to `outs`, or leaves its loop."""
        state = dict(state)
        takes = leaves if block.end.how == "break" else outs
        for result, zero in zip(block.end.results, takes, strict=False):
            if zero is not None and block.end.how != "raise":
                self.add(state, result, zero)
        return self.block(block, state, leaves)

    def meet(
        self,
        arms: Sequence[P.Block],
        outs: Sequence[Zero | None],
        state: State,
        leaves: Sequence[Zero | None],
    ) -> State:
        """Where paths meet, what only one of them has set is zero on the others."""
        ends = [self.arm(b, outs, state, leaves) for b in arms if b.end.how != "raise"]
        words = dict.fromkeys(v for end in ends for v in end)
        return {v: max(_worst(end.get(v)) for end in ends) for v in words}

    def attempt(
        self,
        region: P.Try,
        outs: Sequence[Zero | None],
        state: State,
        leaves: Sequence[Zero | None],
    ) -> State:
        arms, last = outs[: len(region.of_arms)], outs[len(region.of_arms) :]
        state = self.arm(region.final, last, state, leaves)
        ways = [self.arm(region.orelse, arms, state, leaves)]
        ways = [self.block(region.body, way, leaves) for way in ways]
        ways += [
            self.arm(h.body, arms, state, leaves)
            for h in region.handlers
            if h.body.end.how != "raise"
        ]
        words = dict.fromkeys(v for way in ways for v in way)
        return {v: max(_worst(way.get(v)) for way in ways) for v in words}

    def loop(self, region: P.For | P.While, outs: Sequence[Zero | None], state: State) -> State:
        """Repeat until nothing changes: what a round carries, the next one may have masked."""
        params = region.carried if isinstance(region, P.While) else region.body.params
        rest = [None] * (len(params) - len(outs))
        held: list[Zero | None] = [*outs, *rest]
        held = [
            Zero.STRUCTURE if z is None and v in self.asked.active else z
            for v, z in zip(params, held, strict=True)
        ]
        outer = state
        while True:
            end = self.arm(region.body, held, outer, outs)
            if isinstance(region, P.While):
                end = self.block(region.test, end, outs)
            else:
                self.bound(P.bound(region), region.over, end)
            new = [_either(z, end.pop(v, None)) for v, z in zip(params, held, strict=True)]
            around = {v: max(_worst(outer.get(v)), _worst(end.get(v))) for v in {**outer, **end}}
            if new == held and around == outer:
                break
            held, outer = new, around
        for start, zero in zip(region.starts, held, strict=True):
            if zero is not None:
                self.add(outer, start, zero)
        return outer

    def collected(self, region: P.Collect, outs: Sequence[Zero | None], state: State) -> State:
        """What a comprehension collects has parts that nobody may have read."""
        if any(zero is not None for zero in outs):
            for operation in P.every(P.Block((), (region,), P.End("next"))):
                for block in P.blocks(operation) if not isinstance(operation, Op) else ():
                    for result in block.end.results:
                        self.add(state, result, Zero.STRUCTURE)
        state = self.block(region.body, state, ())
        self.bound(P.bound(region), region.over, state)
        return state

    def bound(self, variables: Sequence[Var], whole: Operand, state: State) -> None:
        """Variables hold parts of an operand: what they are not is zero by structure."""
        found = [state.pop(v, None) for v in variables]
        if any(zero is not None for zero in found):
            self.add(state, whole, Zero.STRUCTURE)


def _worst(zero: Zero | None) -> Zero:
    """Return how a cotangent may be zero; one that nothing has set is, by structure."""
    return Zero.STRUCTURE if zero is None else zero


def _either(one: Zero | None, other: Zero | None) -> Zero | None:
    """Return what holds of a variable that a loop carries: of the last round, or of one before."""
    return None if one is None else max(one, _worst(other))


def _passed(zero: Zero, op: Op, operand: Var) -> Zero:
    """Return how the cotangent of an operand may be zero, by that of the result."""
    if zero is not Zero.NEVER or op.primitive is L.SAME:
        return zero
    function = applied(op)
    if function is None or sum(P.variable(o) is operand for o in function[1]) != 1:
        return Zero.CHANCE
    fn, given = function
    form = registry.numbers_of(fn).form
    if form in PASSES:
        return zero
    factors = given if form == "product" else given[1:] if form == "quotient" else ()
    others = [o for o in factors if P.variable(o) is not operand]
    return zero if len(others) == 1 and is_factor(others[0]) else Zero.CHANCE


@functools.lru_cache(2048)
def _parameters(fn: object) -> tuple[str, ...]:
    """Return the names of a library function's parameters, where it tells them."""
    if not callable(fn):
        return ()
    try:
        return tuple(inspect.signature(fn).parameters)
    except (TypeError, ValueError):
        return ()


def _value(operand: Operand) -> object:
    """Return the value of an operand, None where it is not known."""
    return (
        operand.value if isinstance(operand, P.Const) else getattr(kind_of(operand), "value", None)
    )


def _is_bool(kind: Kind) -> bool:
    if isinstance(kind, K.Num):
        return kind.type == "bool"
    return isinstance(kind, K.Array) and kind.dtype == "bool"
