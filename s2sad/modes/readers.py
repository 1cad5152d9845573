"""Which statements of the backward sweep read what is put back, and what is still there.

One forward walk over the sweep, while Restores still stand in it: a value goes from where it is
put back to all that reads it before the name, or the memory, gets another one.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Any

import gast

from s2sad.nodes import Block, Node, blocks_of, names_of, names_read, names_written
from s2sad.stages import Comment, Replay, Restore, RestorePart, Undo
from s2sad.syntax.flow import free_names

START = "start"
State = dict[str, frozenset[Any]]


Read = tuple[dict[Any, tuple[Any, ...]], dict[str, tuple[Any, ...]]]


def readers(backward: Block, wanted: Container[Any], origins: Mapping[Any, Any]) -> Read:
    """Return who reads each value put back, by its key, and each that is there from the start.

    They are the user's statements that are being undone there. What is not `wanted` is not put
    back.
    """
    worker = _Worker(wanted, origins)
    worker.block(backward, {}, None)
    start = {key[1]: tuple(found) for key, found in worker.found.items() if key[0] == START}
    back = {key: tuple(found) for key, found in worker.found.items() if key[0] != START}
    return back, start


class Everything:
    """All there is: before storage is decided each value is put back."""

    def __contains__(self, key: object) -> bool:
        return True


def as_first_meant(early: Read, late: Read) -> Read:
    """Return who reads what, as far as polishing has left it, by the statements it began with.

    Polishing moves what undoes one statement to what undoes another.
    """

    def settled(
        first: Mapping[Any, tuple[Any, ...]], last: Mapping[Any, tuple[Any, ...]]
    ) -> dict[Any, tuple[Any, ...]]:
        found = {}
        for key, now in last.items():
            then = first.get(key, ())
            kept = [s for s in now if s in then]
            moved = [s for s in then if s not in now] if len(kept) < len(now) else []
            found[key] = (*kept, *moved) or now
        return found

    return settled(early[0], late[0]), settled(early[1], late[1])


class _Worker:
    def __init__(self, wanted: Container[Any], origins: Mapping[Any, Any]) -> None:
        self.wanted = wanted
        self.origins = origins
        self.found: dict[Any, dict[Any, None]] = {}

    def block(self, block: Block, state: State, heading: Any) -> State:
        """Return which values names have at the end of a block; without an entry: the first."""
        for s in block:
            if isinstance(s, Comment):
                heading = getattr(s, "origin", heading)
            else:
                state = self.statement(s, state, heading)
        return state

    def statement(self, s: Node, state: State, heading: Any) -> State:
        if isinstance(s, Restore):
            return self.restore(s, state)
        if isinstance(s, RestorePart):
            return self.part(s, state, heading)
        if isinstance(s, Undo):
            return state
        undone = getattr(s, "undoes", None)
        heading = heading if undone is None else self.origins.get(undone, undone)
        heading = s if getattr(s, "lineno", None) is not None else heading
        if isinstance(s, gast.For | gast.While):
            return self.loop(s, state, heading)
        if isinstance(s, gast.FunctionDef):
            self.read(free_names(s), state, heading)
            return {**state, s.name: frozenset()}
        parts = blocks_of(s)
        if parts:
            return self.branch(s, parts, state, heading)
        read, written = names_of(s)
        self.read(read, state, heading)
        return {**state, **dict.fromkeys(written, frozenset())} if written else state

    def restore(self, s: Node, state: State) -> State:
        """The memory that a name gets back may have got back content of its own."""
        if s.key not in self.wanted:
            return state
        content = {key for g in s.ghosts for key in state.get(g, ()) if key[0] != START}
        return {**state, s.name: frozenset({s.key, *content})}

    def part(self, s: Node, state: State, heading: Any) -> State:
        """Content put back reaches all readers of names that share the memory it is put into."""
        if s.key not in self.wanted:
            return state
        if s.key[0] == "part":
            heading = self.origins.get(s.key[1], s.key[1])
        place = s.action if isinstance(s, Replay) else s.place
        self.read(names_read(place) if not s.binds else (), state, heading)
        more = frozenset({s.key})
        return {**state, **{n: _values(state, n) | more for n in s.sharing}}

    def loop(self, s: Node, state: State, heading: Any) -> State:
        is_for = isinstance(s, gast.For)
        self.read(names_read(s.iter if is_for else s.test), state, heading)
        bound = names_written(s.target) if is_for else set()
        while True:
            inside = {**state, **dict.fromkeys(bound, frozenset())}
            end = _joined([state, self.block(s.body, inside, heading)])
            if end == state:
                return end
            state = end
            if not is_for:
                self.read(names_read(s.test), state, heading)

    def branch(self, s: Node, parts: list[Block], state: State, heading: Any) -> State:
        own = [getattr(s, "test", None), getattr(s, "subject", None)]
        own += [i.context_expr for i in getattr(s, "items", ())]
        own += [c.guard for c in getattr(s, "cases", ())]
        self.read(
            set().union(*(names_read(n) for n in own if n is not None), set()), state, heading
        )
        return _joined([self.block(part, state, heading) for part in parts])

    def read(self, names: Iterable[str], state: State, heading: Any) -> None:
        for n in names:
            for key in _values(state, n):
                self.found.setdefault(key, {})
                if heading is not None:
                    self.found[key][heading] = None


def _values(state: State, name: str) -> frozenset[Any]:
    return state.get(name, frozenset({(START, name)}))


def _joined(states: list[State]) -> State:
    names = set().union(*states)
    return {n: frozenset().union(*(_values(s, n) for s in states)) for n in names}
