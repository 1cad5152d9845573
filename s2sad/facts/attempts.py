"""Refuse what a try may leave half done where a derivative would have to know how far it got.

A body is done as a whole or not at all: what it writes in place, it writes when nothing after that
may raise, or into what it has made itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.errors import UnsupportedError
from s2sad.facts.memory import Memory, touches
from s2sad.nodes import Block, Node, all_inside, block_writes, blocks_of, names_written
from s2sad.stages import Activity, Function, KindFacts, Write

_OUTSIDE = "Compute the new values in the try, and write them after it."


def check_attempts(
    function: Function,
    kinds: KindFacts,
    activity: Activity,
    memory: Memory,
    active: frozenset[str],
) -> None:
    """Raise for a try on an active path that an exception may leave half done, going forward.

    Nothing may raise between an append to a list and that to its twin.
    """
    for s in _tries(function.node.body):
        if s in function.half and names_written(s) & (activity.after(s) | activity.before(s)):
            raise _half_done(function, s)
    for write in half_written(function, memory):
        if write.how == "append":
            continue
        known = kinds.before.get(write.statement, {})
        hit = memory.shares(write.base, active)
        hit = {n for n in hit if touches(write, known.get(n, K.UNKNOWN))}
        if hit:
            raise _half_written(function, write, min(hit))


def half_written(function: Function, memory: Memory) -> list[Write]:
    """Return the writes after which the body of a try, there already, may still raise."""
    inside: dict[Any, Block] = {}
    early: set[Any] = set()
    for s in _tries(function.node.body):
        if s.handlers and s not in function.half:
            early |= set(_unsettled(s.body, False)[0])
            for inner in all_inside(s.body):
                inside.setdefault(inner, s.body)
    return [
        w
        for w in memory.writes
        if w.statement in inside
        and (w.statement in early or not _at_once(w))
        and not _made_there(function, w, inside[w.statement], memory)
    ]


def _at_once(write: Write) -> bool:
    """Say whether a statement writes or raises, never both: arithmetic in place does both."""
    if write.how == "call" or isinstance(write.statement, gast.AugAssign):
        return False
    return write.how == "append" or write.in_array or write.in_container


def _tries(block: Block) -> Iterator[Node]:
    for s in block:
        for part in blocks_of(s):
            yield from _tries(part)
        if isinstance(s, gast.Try):
            yield s


def _unsettled(block: Block, after: bool) -> tuple[list[Node], bool]:
    """Return the statements of a try's body that may be done though the body is not.

    `after` says whether what follows the block may raise; returned is whether the block may.
    """
    found: list[Node] = []
    for s in reversed(block):
        parts = blocks_of(s)
        if isinstance(s, gast.If):
            results = [_unsettled(part, after) for part in parts]
            found += [x for inner, _ in results for x in inner]
            after = True
        elif parts:
            found += [s, *(x for part in parts for x in _unsettled(part, True)[0])]
            after = True
        elif not isinstance(s, gast.Pass | gast.Break):
            found += [s] if after else []
            after = after or not _moves(s)
    return found, after


def _moves(s: Node) -> bool:
    """Say whether a statement only gives a name to what is there."""
    return (
        isinstance(s, gast.Assign)
        and all(isinstance(t, gast.Name) for t in s.targets)
        and isinstance(s.value, gast.Name | gast.Constant)
    )


def _made_there(function: Function, write: Write, body: Block, memory: Memory) -> bool:
    """Say whether memory is written that the body of a try has made, and nobody else knows."""
    shared = memory.aliases.sharing(write.statement, write.base)
    inside = block_writes(body)
    count = _outside(function.node.body, body)
    return all(n.partition("@")[0] in inside - count and "@arg" not in n for n in shared)


def _outside(block: Block, but: Block) -> set[str]:
    """Return the names bound elsewhere than in a block."""
    found: set[str] = set()
    for s in block:
        parts = blocks_of(s)
        if not parts:
            found |= names_written(s)
        elif isinstance(s, gast.For):
            found |= names_written(s.target)
        for part in parts:
            if part is not but:
                found |= _outside(part, but)
    return found


def _half_done(function: Function, s: Node) -> UnsupportedError:
    name = function.half[s].name
    reason, remedy = {
        "bound": (
            f"An exception may leave this try after it has bound `{name}`: s2sad cannot tell "
            "how far the try got, and the result depends on the names that it binds",
            f"Bind `{name}` before the try or in a try of its own, or use another name there.",
        ),
        "unbound": (
            f"This try reads `{name}`, which may be unbound: s2sad cannot tell how far the "
            "try gets, and the result depends on the names that it binds",
            f"Give `{name}` a value on all paths, and test that value.",
        ),
        "exception": (
            f"`{name}` is an exception in this try and another value elsewhere, and the "
            "result depends on the names that the try binds",
            "Give the exception a name of its own.",
        ),
    }[function.half[s].how]
    return UnsupportedError(
        f"{reason}.",
        remedy=remedy,
        place=function.source.place(function.origins.get(s, s)),
    )


def _half_written(function: Function, write: Write, name: str) -> UnsupportedError:
    through = "" if name == write.base else f" through `{write.base}`"
    return UnsupportedError(
        f"The derivative depends on `{name}`, which is written in place{through} in a try: an "
        "exception may leave the try after this write, and s2sad cannot tell how far it got.",
        remedy=_OUTSIDE,
        place=function.source.place(function.origins.get(write.statement, write.statement)),
    )
