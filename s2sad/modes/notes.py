"""What the forward sweep notes of its path, so that the backward sweep can take it in reverse.

An if-chain notes one integer, the arm taken, unless its tests can be asked again; a loop that may
end early, or that has no bounds known beforehand, counts its rounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import gast

from s2sad.names import Names
from s2sad.nodes import (
    Block,
    Node,
    assign,
    blocks_of,
    changed_in,
    clone,
    compare,
    constant,
    count_writes,
    name,
    names_read,
    names_written,
    walk,
    ways_through,
)
from s2sad.stages import Function

_CHEAP = (
    gast.Name,
    gast.Constant,
    gast.Compare,
    gast.BoolOp,
    gast.UnaryOp,
    gast.Attribute,
    gast.cmpop,
    gast.boolop,
    gast.unaryop,
    gast.Subscript,
)


@dataclass(frozen=True)
class Chain:
    """An if-elif-else chain, a match or a try: its arms and how to ask which one was taken.

    `note` names the integer noted in the forward sweep, or is None where the tests are asked
    again.
    """

    arms: tuple[Block, ...]
    tests: tuple[Any, ...]
    note: str | None

    def test(self, arm: int) -> Node:
        """Return the test of an arm for the backward sweep."""
        if self.note is None:
            return clone(self.tests[arm])
        return compare(name(self.note), gast.Eq, constant(arm))


@dataclass
class Notes:
    """The notes of one function: by branch statement and by loop."""

    chains: dict[Any, Chain] = field(default_factory=dict)
    rounds: dict[Any, str] = field(default_factory=dict)
    stops: dict[Any, dict[str, Any]] = field(default_factory=dict)
    bounds: dict[Any, tuple[Any, ...]] = field(default_factory=dict)

    def made_up(self) -> set[str]:
        """Return the names of all notes."""
        found = {c.note for c in self.chains.values() if c.note is not None}
        found |= set(self.rounds.values())
        for table in self.stops.values():
            found |= set(table)
        return found


def take_notes(
    function: Function,
    decided: Mapping[Any, bool],
    names: Names,
    touched: Mapping[Any, frozenset[str]],
) -> Notes:
    """Return what must be noted in the forward sweep of a function.

    `touched` are the names whose content a statement changes in place.
    """
    worker = _Worker(function, decided, names, touched)
    worker.block(function.node.body, None, set())
    return worker.notes


class _Worker:
    def __init__(
        self,
        function: Function,
        decided: Mapping[Any, bool],
        names: Names,
        touched: Mapping[Any, frozenset[str]],
    ) -> None:
        self.touched = touched
        self.contents: frozenset[str] = frozenset().union(*touched.values())
        self.function = function
        self.decided = decided
        self.names = names
        self.notes = Notes()
        self.writes = count_writes(function.node.body)

    def block(self, body: Block, in_loop: Any, behind: set[str]) -> None:
        for s, later in self._with_later(body, behind):
            if isinstance(s, gast.If) and s not in self.decided:
                arms, tests = _chain(s, self.decided)
                self.branch(s, arms, tests, in_loop, later)
                for arm in arms:
                    self.block(arm, in_loop, later)
            elif isinstance(s, gast.Match):
                arms = [case.body for case in s.cases]
                note = self.names.fresh("arm")
                self.notes.chains[s] = Chain(tuple(arms), (), note)
                for arm in arms:
                    self.block(arm, in_loop, later)
            elif isinstance(s, gast.Try):
                self.attempt(s, in_loop, later)
            elif isinstance(s, gast.For | gast.While):
                self.loop(s)
                self.block(s.body, s, later | changed_in([s], self.touched))
            else:
                for part in blocks_of(s):
                    self.block(part, in_loop, later)

    def _with_later(self, body: Block, behind: set[str]) -> list[tuple[Node, set[str]]]:
        """Return the statements of a block, each with the names that change after it."""
        found: list[tuple[Node, set[str]]] = []
        later = behind
        for s in reversed(body):
            found.append((s, later))
            later = later | changed_in([s], self.touched)
        found.reverse()
        return found

    def branch(
        self, s: Node, arms: list[Block], tests: list[Node], in_loop: Any, later: set[str]
    ) -> None:
        again = all(self.repeatable(t, arms, in_loop, later) for t in tests)
        note = None if again else self.names.fresh("arm")
        self.notes.chains[s] = Chain(tuple(arms), tuple(tests), note)

    def attempt(self, s: Node, in_loop: Any, later: set[str]) -> None:
        """Note of a try whether a handler went on from it."""
        later = later | changed_in(s.finalbody, self.touched)
        arms = ways_through(s)
        if not all(map(raises, arms[1:])):
            self.notes.chains[s] = Chain(tuple(arms), (), self.names.fresh("arm"))
        for arm in [*arms, s.finalbody]:
            self.block(arm, in_loop, later)

    def repeatable(self, test: Node, arms: list[Block], in_loop: Any, later: set[str]) -> bool:
        """Say whether a test can be asked again later with the same answer, cheaply."""
        if not all(isinstance(n, _CHEAP) for n in walk(test)):
            return False
        read = names_read(test)
        # Reading a name or a part counts as two.
        if sum(2 if hasattr(n, "ctx") else 1 for n in walk(test)) > 24:
            return False
        for arm in arms:
            if changed_in(arm, self.touched) & read:
                return False
        if in_loop is None:
            return not read & later
        bound = self._header_names(in_loop)
        if read & self.contents:
            return False
        return all(self.writes.get(n, 0) == 0 or n in bound for n in read)

    def _header_names(self, loop: Any) -> set[str]:
        if isinstance(loop, gast.While):
            return set()
        plan = self.function.loops[loop]
        if plan.bounds is None:
            return set()
        found = names_written(loop.target)
        return {n for n in found if self.writes.get(n, 0) == 1}

    def loop(self, s: Node) -> None:
        plan = self.function.loops.get(s)
        early = _leaves(s)
        if isinstance(s, gast.While) or early or plan is None or plan.bounds is None:
            self.notes.rounds[s] = self.names.fresh("rounds")
        if plan is None or plan.bounds is None:
            return
        changed = names_written(s)
        contents = changed_in([s], self.touched)
        stops: dict[str, Any] = {}
        bounds = []
        for position, bound in enumerate(plan.bounds):
            moved = names_read(bound) & changed or _entries_read(bound) & contents
            if moved and not (early and len(plan.bounds) == 1):
                label = ("stop", "start", "step")[position if len(plan.bounds) > 1 else 0]
                if len(plan.bounds) > 1:
                    label = ("start", "stop", "step")[position]
                fresh = self.names.fresh(label)
                stops[fresh] = bound
                bounds.append(name(fresh))
            else:
                bounds.append(bound)
        self.notes.stops[s] = stops
        self.notes.bounds[s] = tuple(bounds)


def raises(body: Block) -> bool:
    """Say whether a block ends in a raise."""
    return bool(body) and isinstance(body[-1], gast.Raise)


def _chain(s: Node, decided: Mapping[Any, bool]) -> tuple[list[Block], list[Node]]:
    """Return the arms of an if-elif-else chain, the last being the else."""
    arms, tests = [s.body], [s.test]
    other = s.orelse
    while len(other) == 1 and isinstance(other[0], gast.If) and other[0] not in decided:
        arms.append(other[0].body)
        tests.append(other[0].test)
        other = other[0].orelse
    arms.append(other)
    return arms, tests


def _entries_read(bound: Node) -> set[str]:
    """Return the arrays of which a bound reads entries, not just the shape."""
    found: set[str] = set()
    for n in walk(bound):
        if isinstance(n, gast.Subscript) and isinstance(n.value, gast.Name):
            found.add(n.value.id)
    return found


def _leaves(loop: Node) -> bool:
    """Say whether a loop may end by break."""

    def visit(block: Block) -> bool:
        for s in block:
            if isinstance(s, gast.Break):
                return True
            if isinstance(s, gast.For | gast.While | gast.FunctionDef):
                continue
            if any(visit(part) for part in blocks_of(s)):
                return True
        return False

    return visit(loop.body)


def note_rounds(rounds: str) -> tuple[Node, Node]:
    """Return the statements that start a count and go on with it."""
    start = assign(rounds, constant(0))
    step = gast.AugAssign(gast.Name(rounds, gast.Store(), None, None), gast.Add(), constant(1))
    return start, step
