"""Which names are read later: one backward walk over structured statements, for every room.

Handles what derived and normalised programs consist of: straight statements, if, match, with, try,
for, while, and break at the end of a loop's body.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from s2sad.nodes import Block, Node, is_whole, names_read, names_written
from s2sad.stages import Comment, Replay, Restore, RestorePart

Names = frozenset[str]
Visitor = Callable[[Any, Names], None]
NOTHING: Names = frozenset()


def _ignore(statement: Any, live: Names) -> None:
    del statement, live


def live_in(
    block: Block,
    live: Names,
    after: Visitor = _ignore,
    exits: Names = NOTHING,
    extra: Callable[[Any], tuple[set[str], set[str]]] | None = None,
) -> Names:
    """Return the names live at the start of a block, given those live at its end.

    `after` is called with every statement and the names live behind it (for loops several times;
    the last call is right). `exits` are the names live behind the loop that a break leaves.
    `extra` gives further (read, written) names of a loop's header.
    """
    for statement in reversed(block):
        after(statement, live)
        live = before(statement, live, after, exits, extra)
    return live


def before(
    statement: Node,
    live: Names,
    after: Visitor = _ignore,
    exits: Names = NOTHING,
    extra: Callable[[Any], tuple[set[str], set[str]]] | None = None,
) -> Names:
    """Return the names live before one statement."""
    kind = type(statement)
    if kind is Comment:
        return live
    if kind is gast.Break:
        return exits
    if kind is Restore:
        return before_restore(statement, live)
    if kind is RestorePart or kind is Replay:
        return before_restore_part(statement, live)
    if kind is gast.Raise or kind is gast.Return:
        return frozenset(names_read(statement))
    if kind is gast.If:
        then = live_in(statement.body, live, after, exits, extra)
        other = live_in(statement.orelse, live, after, exits, extra)
        return then | other | names_read(statement.test)
    if kind is gast.For or kind is gast.While:
        return _loop(statement, live, after, extra)
    if kind is gast.Match:
        return _match(statement, live, after, exits, extra)
    if kind is gast.Try:
        return _try(statement, live, after, exits, extra)
    if kind is gast.With:
        inside = live_in(statement.body, live, after, exits, extra)
        for item in statement.items:
            inside = (inside - names_written(item)) | names_read(item)
        return inside
    if kind is gast.FunctionDef:
        return (live - {statement.name}) | free_names(statement)
    if kind is gast.Assign and type(statement.targets[0]) is gast.Name:
        if len(statement.targets) == 1:
            return (live - {statement.targets[0].id}) | names_read(statement.value)
    return (live - names_written(statement)) | names_read(statement)


def before_restore(statement: Node, live: Names) -> Names:
    """Return what is live before a Restore: a value that is wanted, and the memory it is in."""
    if statement.name not in live:
        return live
    ghosts: Names = statement.ghosts
    return (live - {statement.name}) | ghosts


def before_restore_part(statement: Node, live: Names) -> Names:
    """Return what is live before a RestorePart; one that only its own name wants binds that."""
    if not live & statement.sharing:
        return live
    if type(statement) is Replay:
        return live | names_read(statement.action)
    if rebinds(statement, live):
        return live - {statement.place.value.id}
    return live | names_read(statement.place)


def rebinds(statement: Node, live: Names) -> bool:
    """Say whether a RestorePart of a whole array may give its name the copy that was kept."""
    place = statement.place
    return not statement.stays and is_whole(place) and live & statement.sharing == {place.value.id}


def _loop(
    statement: Node,
    live: Names,
    after: Visitor,
    extra: Callable[[Any], tuple[set[str], set[str]]] | None,
) -> Names:
    is_for = type(statement) is gast.For
    header = frozenset(names_read(statement.iter if is_for else statement.test))
    bound: set[str] = names_written(statement.target) if is_for else set()
    if extra is not None:
        read, written = extra(statement)
        header |= read
        bound |= written
    current = live if is_for else live | header
    while True:
        inside = live_in(statement.body, current, after, live, extra)
        start = (inside - bound) | live | (every_round(statement) if is_for else header)
        if start <= current:
            return current | header
        current |= start


def every_round(loop: Node) -> Names:
    """Return what a for loop looks at in every round: its body may change that in place."""
    made = loop.iter
    if type(made) is gast.Call and type(made.func) is gast.Name and made.func.id == "range":
        return NOTHING
    return frozenset(names_read(made))


def _try(
    statement: Node,
    live: Names,
    after: Visitor,
    exits: Names,
    extra: Callable[[Any], tuple[set[str], set[str]]] | None,
) -> Names:
    """Any statement of the body may hand over to the handlers, or to what is done finally."""
    thrown = NOTHING
    if statement.finalbody:
        live = thrown = live_in(statement.finalbody, live, after, exits, extra)
    for h in statement.handlers:
        inside = live_in(h.body, live, after, exits, extra)
        bound = names_written(h.name) if isinstance(h.name, gast.AST) else {h.name}
        thrown |= (inside - bound) | (names_read(h.type) if h.type is not None else set())
    other = live_in(statement.orelse, live, after, exits, extra)

    def within(inner: Any, later: Names) -> None:
        after(inner, later | thrown)

    return live_in(statement.body, other, within, exits, extra) | thrown


def _match(
    statement: Node,
    live: Names,
    after: Visitor,
    exits: Names,
    extra: Callable[[Any], tuple[set[str], set[str]]] | None,
) -> Names:
    result = live | names_read(statement.subject)
    for case in statement.cases:
        inside = live_in(case.body, live, after, exits, extra)
        guard = names_read(case.guard) if case.guard is not None else set()
        result |= (inside | guard | names_read(case.pattern)) - names_written(case.pattern)
    return result


def free_names(fn: Node) -> Names:
    """Return the names that an inner function reads from outside."""
    inner = {a.id for a in [*fn.args.posonlyargs, *fn.args.args, *fn.args.kwonlyargs]}
    inner |= {a.id for a in (fn.args.vararg, fn.args.kwarg) if a is not None}
    defaults = [d for d in [*fn.args.defaults, *fn.args.kw_defaults] if d is not None]
    outside: set[str] = set().union(*(names_read(d) for d in defaults), set())
    if isinstance(fn, gast.Lambda):
        return frozenset((names_read(fn.body) - inner) | outside)
    read: set[str] = set()
    written: set[str] = set()
    for s in fn.body:
        read |= names_read(s)
        written |= names_written(s)
    outer = {n for s in fn.body if isinstance(s, gast.Nonlocal | gast.Global) for n in s.names}
    return frozenset((read - inner - (written - outer)) | outer | outside)
