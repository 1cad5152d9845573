"""Which cotangents may be zero by structure: masked, not indexed, not the maximum, not on the path.

    y = np.sqrt(x)                   y_bar arrives with zeros: guard the division by y
    z = 2.0 * y
    return np.sum(np.where(m, z, 0))      z_bar is masked

One walk backward over the structured program, with the state that reverse keeps: which cotangents
are set, and of each whether all that was added to it may be zero at once. The sum of a full
cotangent and a masked one is full.

Where a function is steep, with a finite value and an infinite derivative as np.sqrt at 0, any zero
is guarded, but for cotangents that are never zero, as that of a loss.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import IntEnum
from types import MappingProxyType
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import registry
from s2sad.facts.activity import flows
from s2sad.facts.finite import Finite
from s2sad.facts.infinite import infinite
from s2sad.nodes import Block, Node, blocks_of, names_read, names_written, ways_through
from s2sad.rulebook.facts import PASSES
from s2sad.stages import Activity, Arrival, Function, Guard, KindFacts, Zeros


class Zero(IntEnum):
    """How a cotangent may come to be zero: never, as any number may, or by structure."""

    NEVER = 0
    CHANCE = 1
    STRUCTURE = 2


State = dict[str, Zero]
Called = tuple[Arrival, list[tuple[str, bool]]]
Calls = Callable[[Any, Any, Arrival], "Called | None"]


def zeros(
    function: Function,
    kinds: KindFacts,
    activity: Activity,
    finite: Finite,
    arrival: Arrival,
    calls: Calls,
    arrays: frozenset[str] = frozenset(),
    results: frozenset[str] | None = None,
    writers: Mapping[Any, frozenset[str]] = MappingProxyType({}),
) -> Zeros:
    """Return where a function's operations need a guard.

    `arrays` are written in place: what is overwritten has a zero there by structure. `results` are
    the names with cotangents at the end, `writers` the calls that write arrays, and which.

    `calls` says, of a call of a user's function and what arrives there, what its derivative is
    made for and which variables it passes cotangents to, each with zeros or without.
    """
    walker = _Walker(function, kinds, activity, finite, calls, arrays, writers)
    ends = {function.result} if results is None else results
    first = Zero.STRUCTURE if arrival.zeros else Zero.NEVER if arrival.one else Zero.CHANCE
    start = {n: Zero.STRUCTURE if n in arrays else first for n in sorted(ends)}
    state = walker.block(function.node.body[:-1], start)
    return Zeros(
        walker.guards,
        walker.arrivals,
        frozenset(p for p in function.params if _by_structure(state.get(p))),
        function.result in finite.wild(),
    )


class _Walker:
    """The state maps every cotangent that is set to how it may come to be zero."""

    def __init__(
        self,
        function: Function,
        kinds: KindFacts,
        activity: Activity,
        finite: Finite,
        calls: Calls,
        arrays: frozenset[str],
        writers: Mapping[Any, frozenset[str]],
    ) -> None:
        self.arrays = arrays
        self.writers = writers
        self.function = function
        self.kinds = kinds
        self.activity = activity
        self.finite = finite
        self.wild = finite.wild()
        self.calls = calls
        self.infinite = infinite(function, kinds, activity, finite)
        self.guards: dict[Any, Guard] = {}
        self.arrivals: dict[Any, Arrival] = {}

    def block(self, body: Block, state: State) -> State:
        for s in reversed(body):
            state = self.statement(s, dict(state))
        return state

    def statement(self, s: Node, state: State) -> State:
        if isinstance(s, gast.Assign) and s not in self.writers:
            return self._assign(s, state)
        if isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Name):
            return self._assignment(s, s.target.id, self.finite.augmented(s), state)
        if isinstance(s, gast.AugAssign):
            before = self.activity.varied_before.get(s, frozenset())
            operation = self.finite.operation(self.finite.augmented(s))
            if operation is not None and self.finite.steep(s, *operation, before):
                self.guards[s] = Guard(True, steep=True)
            return self._written(s, s.target, state)
        if s in self.writers:
            return self._written_by_call(s, state)
        if isinstance(s, gast.Expr):
            return self._append(s, state)
        if isinstance(s, gast.If):
            verdict = self.kinds.decided.get(s)
            if verdict is not None:
                return self.block(s.body if verdict else s.orelse, state)
            return self._chain([s.body, s.orelse], state)
        if isinstance(s, gast.Match):
            return self._chain([*blocks_of(s), []], state)
        if isinstance(s, gast.For | gast.While):
            return self._loop(s, state)
        if isinstance(s, gast.With):
            return self.block(s.body, state)
        if isinstance(s, gast.Try):
            return self._chain(ways_through(s), self.block(s.finalbody, state))
        if isinstance(s, gast.FunctionDef):
            state.pop(s.name, None)
        return state

    def _assign(self, s: Node, state: State) -> State:
        target = s.targets[0]
        if isinstance(target, gast.Name):
            return self._assignment(s, target.id, s.value, state)
        if isinstance(target, gast.Subscript):
            return self._written(s, target, state)
        if not isinstance(target, gast.Tuple | gast.List):
            return state
        names = names_written(target)
        found = [state.pop(n, None) for n in sorted(names)]
        if any(f is not None for f in found) and isinstance(s.value, gast.Name):
            if s.value.id in self.activity.varied_before.get(s, frozenset()):
                self._add(state, s.value.id, max(Zero.STRUCTURE if f is None else f for f in found))
        return state

    def _written(self, s: Node, target: Node, state: State) -> State:
        """What is written into an array gets a part of a shadow."""
        if _root(target) in self.arrays and isinstance(s.value, gast.Name):
            if s.value.id in self.activity.varied_before.get(s, frozenset()):
                self._add(state, s.value.id, Zero.STRUCTURE)
        return state

    def _written_by_call(self, s: Node, state: State) -> State:
        """A called function that writes arrays meets their shadows, with zeros in them."""
        for n in names_written(s):
            state.pop(n, None)
        called = self.calls(s, s.value, Arrival(True, self.wild))
        if called is not None:
            inner, given = called
            if inner != Arrival():
                self.arrivals[s] = inner
            for n, part in given:
                if n in self.activity.varied_before.get(s, frozenset()):
                    self._add(state, n, Zero.STRUCTURE if part else Zero.CHANCE)
        return state | dict.fromkeys(self.writers[s], Zero.STRUCTURE)

    def _assignment(self, s: Node, variable: str, value: Node, state: State) -> State:
        zero = state.pop(variable, None)
        if zero is None or variable not in self.activity.varied_after.get(s, frozenset()):
            return state
        active = self.activity.before(s)
        arrival = Arrival(zero is Zero.STRUCTURE, self.wild)
        called = self.calls(s, value, arrival)
        if called is not None:
            inner, given = called
            if inner != Arrival():
                self.arrivals[s] = inner
            for n, part in given:
                if n in active:
                    self._add(state, n, Zero.STRUCTURE if part else Zero.CHANCE)
            return state
        self._guard(s, variable, value, active, zero)
        if variable in self.infinite and any(self._masks(value, n) for n in active):
            self.guards[s] = replace(self.guards.get(s, Guard(False)), infinite=True)
        for n in flows(value, self.kinds) if value in self.kinds.of else names_read(value):
            if n in active:
                masked = self._masks(value, n)
                self._add(state, n, Zero.STRUCTURE if masked else self._passed(zero, value, n))
        return state

    def _passed(self, zero: Zero, value: Node, operand: str) -> Zero:
        """Return how the cotangent of an operand may be zero, by that of the result."""
        if zero is not Zero.NEVER or isinstance(value, gast.Name):
            return zero
        operation = self.finite.operation(value)
        if operation is None or sum(operand in names_read(a) for a in operation[1]) != 1:
            return Zero.CHANCE
        fn, args = operation
        form = registry.numbers_of(fn).form
        if form in PASSES:
            return zero
        factors = args if form == "product" else args[1:] if form == "quotient" else []
        others = [a for a in factors if operand not in names_read(a)]
        return zero if len(others) == 1 and self.finite.is_factor(others[0]) else Zero.CHANCE

    def _guard(
        self, s: Node, variable: str, value: Node, active: frozenset[str], zero: Zero
    ) -> None:
        operation = self.finite.operation(value)
        if operation is None or isinstance(value, gast.Subscript):
            return
        fn, args = operation
        if zero is not Zero.STRUCTURE:
            if zero is Zero.CHANCE and self.finite.steep(s, fn, args, active):
                self.guards[s] = Guard(True, steep=True)
            return
        wild = self.wild & names_read(value)
        out = variable in self.wild
        singular = self.finite.singular(s, fn, args)
        rule = registry.rule_for(fn)
        guarded = rule is not None and (rule.partials is not None or bool(rule.regular))
        if guarded and (singular or wild or out):
            self.guards[s] = Guard(singular, wild, out)

    def _masks(self, value: Node, operand: str) -> bool:
        """Say whether an operation passes a zero to some entries of an operand by structure."""
        if isinstance(value, gast.Subscript):
            return not _takes_all(value.slice)
        if isinstance(value, gast.Attribute):
            if isinstance(self.kinds.of.get(value.value), K.Tuple | K.Obj | K.OneOf):
                return True
        if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult):
            others = [a for a in (value.left, value.right) if _root(a) != operand]
            return any(_is_bool(self.kinds.of.get(a, K.UNKNOWN)) for a in others)
        operation = self.finite.operation(value)
        rule = None if operation is None else registry.rule_for(operation[0])
        if rule is None or operation is None:
            return isinstance(value, gast.Call)
        if isinstance(rule.masks, bool):
            return rule.masks
        fn, args = operation
        if not isinstance(rule.masks, tuple):
            return rule.masks(tuple(getattr(self.kinds.of.get(a), "value", None) for a in args))
        given = {k.arg for k in value.keywords} if isinstance(value, gast.Call) else set()
        given |= set(_parameters(fn)[: len(args)])
        return bool(given & set(rule.masks))

    def _append(self, s: Node, state: State) -> State:
        call = s.value
        if not isinstance(call, gast.Call) or not isinstance(call.func, gast.Attribute):
            return state
        owner = _root(call.func.value)
        if owner in state and call.func.attr == "append" and isinstance(call.args[0], gast.Name):
            if call.args[0].id in self.activity.varied_before.get(s, frozenset()):
                self._add(state, call.args[0].id, state[owner])
        return state

    def _chain(self, arms: list[Block], state: State) -> State:
        """Where paths meet, what only one of them has set is zero on the others."""
        ends = [self.block(arm, state) for arm in arms if not _raises(arm)]
        return _meet(ends)

    def _loop(self, s: Node, state: State) -> State:
        head = self.activity.head(s)
        start = {n: state.get(n, Zero.STRUCTURE) for n in head | set(state)}
        while True:
            end = self.block(s.body, start)
            end = self._header(s, end)
            new = {n: max(start[n], end.get(n, Zero.STRUCTURE)) for n in start}
            if new == start:
                return start
            start = new

    def _header(self, s: Node, state: State) -> State:
        plan = self.function.loops.get(s)
        if plan is None or plan.bounds is None:
            return state
        for binding in reversed(plan.bindings):
            state = self._assign(binding, dict(state))
        return state

    def _add(self, state: State, variable: str, zero: Zero) -> None:
        """Add a contribution: what is full stays full, but for what is written in place."""
        before = state.get(variable)
        if variable in self.arrays:
            state[variable] = Zero.STRUCTURE
        elif before is None:
            state[variable] = zero
        else:
            both = before is zero is Zero.STRUCTURE
            state[variable] = Zero.STRUCTURE if both else Zero.CHANCE


def _meet(ends: list[State]) -> State:
    names = set().union(*ends)
    return {n: max(end.get(n, Zero.STRUCTURE) for end in ends) for n in sorted(names)}


def _by_structure(zero: Zero | None) -> bool:
    """Say whether a cotangent may be zero by structure, as one is that nothing has set."""
    return zero is None or zero is Zero.STRUCTURE


@functools.lru_cache(2048)
def _parameters(fn: Any) -> tuple[str, ...]:
    """Return the names of a library function's parameters, where it tells them."""
    try:
        return tuple(inspect.signature(fn).parameters)
    except (TypeError, ValueError):
        return ()


def _raises(body: Block) -> bool:
    return bool(body) and isinstance(body[-1], gast.Raise)


def _root(node: Node) -> str | None:
    while isinstance(node, gast.Subscript | gast.Attribute):
        node = node.value
    return node.id if isinstance(node, gast.Name) else None


def _is_bool(kind: K.Kind) -> bool:
    if isinstance(kind, K.Num):
        return kind.type == "bool"
    return isinstance(kind, K.Array) and kind.dtype == "bool"


def _takes_all(index: Node) -> bool:
    """Say whether an index names every element: full slices, new axes and the ellipsis."""
    if isinstance(index, gast.Tuple):
        return all(_takes_all(e) for e in index.elts)
    if isinstance(index, gast.Slice):
        return index.lower is None and index.upper is None and _is_step(index.step)
    if isinstance(index, gast.Attribute):
        return bool(index.attr == "newaxis")
    return isinstance(index, gast.Constant) and (index.value is None or index.value is Ellipsis)


def _is_step(step: Node) -> bool:
    if isinstance(step, gast.UnaryOp) and isinstance(step.op, gast.USub):
        step = step.operand
    return step is None or (isinstance(step, gast.Constant) and bool(step.value == 1))
