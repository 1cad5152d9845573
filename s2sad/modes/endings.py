"""Where values end: what a block binds and nobody reads afterwards, and how blocks are left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.modes.notes import Chain, Notes
from s2sad.nodes import (
    Block,
    Node,
    always_leaves,
    block_writes,
    blocks_of,
    changed_in,
    count_writes,
    names_read,
    names_written,
)
from s2sad.stages import Function, KindFacts, Names
from s2sad.syntax.flow import live_in


class Endings:
    """Knows the liveness of one function's own program; `loops` are the loops around here."""

    def __init__(
        self, function: Function, notes: Notes, kinds: KindFacts, touched: Mapping[Any, Names]
    ) -> None:
        self.function = function
        self.notes = notes
        self.kinds = kinds
        self.touched = touched
        self.loops: list[Any] = []
        self.kept: dict[Any, str] = {}
        self.live_after: dict[Any, frozenset[str]] = {}
        self.live_head: dict[Any, frozenset[str]] = {}
        self.writes: dict[str, int] = {}
        self._liveness()

    def _liveness(self) -> None:
        def note(statement: Any, live: frozenset[str]) -> None:
            self.live_after[statement] = live

        def header(loop: Any) -> tuple[set[str], set[str]]:
            plan = self.function.loops.get(loop)
            if plan is None:
                return set(), set()
            return set(), {plan.index}

        body = self.function.node.body
        live_in(body, frozenset(), note, extra=header)
        self.writes = count_writes(body)

    def changed(self, s: Node) -> set[str]:
        """Return what the body of a for loop changes of what its header could bind again.

        A number read from an array that the body writes is not there any more; a row still is.
        """
        changed = block_writes(s.body)
        plan = self.function.loops.get(s)
        content = changed_in(s.body, self.touched) - changed
        targets = names_written(s.target)
        for b in plan.bindings if plan is not None else ():
            if names_read(b.value) & content:
                after = self.kinds.after.get(b, {})
                bound = names_written(b) & targets
                changed |= {n for n in bound if not isinstance(after.get(n), K.Array)}
        for b in plan.bindings if plan is not None else ():
            if names_written(b) & changed:  # `i, row = item` is done again as a whole, or not
                changed |= names_written(b) & targets
        return changed

    def dying(self, s: Node, body: Block) -> set[str]:
        """Return the names whose values end with a block."""
        at, inner = split_exit(body)
        written = block_writes(body[:at]) | self._noted(body[:at])
        if isinstance(s, gast.For | gast.While):
            plan = self.function.loops.get(s)
            head = self._live_at_head(s)
            if plan is not None and isinstance(s, gast.For):
                changed = self.changed(s)
                targets = names_written(s.target)
                written |= targets & changed if plan.bounds is not None else targets
                written -= set() if plan.bounds is None else targets - changed
            rounds = self.notes.rounds.get(s)
            del rounds
            return {n for n in written if n not in head} - block_writes(inner)
        live = self.live_after.get(s, frozenset())
        found = {n for n in written if n not in live} - block_writes(inner)
        if not self.loops:
            own = count_writes(body)
            found = {n for n in found if self.writes.get(n, 0) > own.get(n, 0)}
        return found

    def _noted(self, body: Block) -> set[str]:
        """Return the notes that the forward sweep makes in a block, blocks inside left out.

        A branch that kinds decide, a with statement, and a try from which only its body goes on,
        are no blocks of their own.
        """
        found: set[str] = set()
        for s in body:
            chain = self.notes.chains.get(s)
            if chain is not None and chain.note is not None:
                found.add(chain.note)
            if chain is None and isinstance(s, gast.If | gast.With | gast.Try):
                for part in blocks_of(s):
                    found |= self._noted(part)
            if s in self.notes.rounds:
                found.add(self.notes.rounds[s])
            found |= set(self.notes.stops.get(s, {}))
            if s in self.kept:
                found.add(self.kept[s])
            if isinstance(s, gast.For | gast.While):
                found |= self._exit_notes(s.body)
        return found

    def _exit_notes(self, body: Block) -> set[str]:
        """Return the notes of a loop's exits that carry over from round to round."""
        found: set[str] = set()
        for s in body[-1:]:
            chain = self.notes.chains.get(s)
            if chain is None:
                for part in blocks_of(s):
                    if not isinstance(s, gast.For | gast.While):
                        found |= self._exit_notes(part)
                continue
            if self.exit_note(s, chain) == "last" and chain.note is not None:
                found.add(chain.note)
            for arm in chain.arms:
                found |= self._exit_notes(arm)
        return found

    def _live_at_head(self, s: Node) -> frozenset[str]:
        if s not in self.live_head:
            plan = self.function.loops.get(s)

            def header(loop: Any) -> tuple[set[str], set[str]]:
                inner = self.function.loops.get(loop)
                return set(), ({inner.index} if inner is not None else set())

            exits = self.live_after.get(s, frozenset())
            del exits
            live: frozenset[str] = frozenset()
            while True:
                start = live_in(s.body, live, exits=frozenset(), extra=header)
                if isinstance(s, gast.While):
                    start |= names_read(s.test)
                else:
                    start -= names_written(s.target)
                    if plan is not None:
                        start -= {plan.index}
                if start <= live:
                    break
                live |= start
            self.live_head[s] = live
        return self.live_head[s]

    def exit_note(self, s: Node, chain: Chain) -> str:
        """Say how the note of a branch that may leave its loop is kept.

        "" for a branch that does not leave, "last" where all rounds but the last must have taken
        the one arm that goes on, "taped" otherwise.
        """
        if chain.note is None or not breaks(s) or isinstance(s, gast.Match):
            return "taped" if chain.note is not None and breaks(s) else ""
        going_on = [arm for arm in chain.arms if not always_leaves(arm)]
        clean = len(going_on) == 1 and not any(breaks(x) for x in going_on[0])
        return "last" if clean else "taped"


def split_exit(body: Block) -> tuple[int, Block]:
    """Return where the last statement of a block stands if it may break, and that statement."""
    if body and breaks(body[-1]):
        return len(body) - 1, body[-1:]
    return len(body), []


def breaks(s: Node) -> bool:
    """Say whether a statement may leave the loop around it."""
    if isinstance(s, gast.Break):
        return True
    if isinstance(s, gast.For | gast.While | gast.FunctionDef):
        return False
    return any(breaks(x) for part in blocks_of(s) for x in part)


def anchor(s: Node, body: Block) -> Any:
    """Return what identifies a block: the statement it belongs to and its first statement."""
    return (s, body[0]) if body else (s, None)
