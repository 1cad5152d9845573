"""Backward through try and with: the one is a branch, the other is as if it were not there."""

from __future__ import annotations

from typing import Any

from s2sad.modes.notes import Notes
from s2sad.modes.slots import Slots
from s2sad.modes.written_calls import WrittenCalls
from s2sad.nodes import Block, Node, names_read, names_written, ways_through
from s2sad.stages import Activity


class Tries(WrittenCalls, Slots):
    """Undoes try and with; `inert` are those that the forward sweep runs as they stand."""

    activity: Activity
    notes: Notes

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.inert: set[Any] = set()

    def block(self, body: Block) -> Block:
        """Undo a block."""
        raise NotImplementedError

    def chain(self, s: Node) -> Block:
        """Undo a branch."""
        raise NotImplementedError

    def _inert(self, s: Node) -> Block:
        """Undo a statement without derivative."""
        raise NotImplementedError

    def _restore(self, variable: str, key: Any) -> Node:
        """Return what gives a variable its old value back."""
        raise NotImplementedError

    def st_With(self, s: Node) -> Block:
        """A manager that lets exceptions through, and holds nothing active, is left alone."""
        varied = self.activity.varied_before.get(s, frozenset())
        bound = {n for i in s.items if i.optional_vars for n in names_written(i.optional_vars)}
        for item in s.items:
            given = names_read(item.context_expr) & varied
            if self.kinds.passing.get(item) is None and names_written(s) & self.live:
                raise self.refuse(
                    s,
                    "This context manager may swallow an exception that leaves its block; "
                    "s2sad cannot tell then how far the block got, and it binds "
                    f"`{min(names_written(s) & self.live)}`, on which the result depends.",
                    "Let its __exit__ return None, or catch exceptions with try.",
                )
            if self.kinds.passing.get(item) is None or given or bound & self.live:
                self.inert.add(s)
                return self._inert(s)
        return [*self.block(s.body), *(self._restore(n, s) for n in sorted(bound))]

    def st_Try(self, s: Node) -> Block:
        """A try is done or not: a branch whose arms are its body and its handlers."""
        if s in self.function.half:
            self.inert.add(s)
            return self._inert(s)
        final = self.block(s.finalbody)
        if s in self.notes.chains:
            return final + self.chain(s)
        return final + self.block(ways_through(s)[0])
