"""Which names are read later: one backward walk over structured statements, for every room.

Handles what derived and normalised programs consist of: straight statements, if, match, with, try,
for, while, and break at the end of a loop's body.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import gast

from s2sad.nodes import (
    COMPREHENSIONS,
    Block,
    Node,
    Remembered,
    children,
    names_read,
    names_written,
)
from s2sad.stages import Comment

Names = frozenset[str]
Visitor = Callable[[Any, Names], None]
NamesOf = Callable[[Node], tuple[set[str], set[str]]]
NOTHING: Names = frozenset()


def _ignore(statement: Any, live: Names) -> None:
    del statement, live


def live_in(
    block: Block,
    live: Names,
    after: Visitor = _ignore,
    exits: Names = NOTHING,
    extra: Callable[[Any], tuple[set[str], set[str]]] | None = None,
    names: NamesOf | None = None,
) -> Names:
    """Return the names live at the start of a block, given those live at its end.

    `after` is called with every statement and the names live behind it (for loops several times;
    the last call is right). `exits` are the names live behind the loop that a break leaves.
    `extra` gives further (read, written) names of a loop's header. `names` says what plain
    statements read and bind.
    """
    return _Walk(after, extra, names or Remembered().__getitem__).block(block, live, exits)


class _Walk:
    def __init__(
        self,
        after: Visitor,
        extra: Callable[[Any], tuple[set[str], set[str]]] | None,
        names: NamesOf,
    ) -> None:
        self.after = after
        self.extra = extra
        self.names = names

    def block(self, block: Block, live: Names, exits: Names) -> Names:
        for statement in reversed(block):
            self.after(statement, live)
            live = self.before(statement, live, exits)
        return live

    def before(self, statement: Node, live: Names, exits: Names) -> Names:
        """Return the names live before one statement."""
        kind = type(statement)
        if kind is Comment:
            return live
        if kind is gast.Assign and type(statement.targets[0]) is gast.Name:
            if len(statement.targets) == 1:
                read = self.names(statement)[0]
                target = statement.targets[0].id
                if target in live and target not in read:
                    live = live - {target}
                return live if read <= live else live | read
        if kind is gast.Break:
            return exits
        if kind is gast.Raise or kind is gast.Return:
            return frozenset(self.names(statement)[0])
        if kind is gast.If:
            then = self.block(statement.body, live, exits)
            other = self.block(statement.orelse, live, exits)
            return then | other | names_read(statement.test)
        if kind is gast.For or kind is gast.While:
            return self.loop(statement, live)
        if kind is gast.Match:
            return self.match(statement, live, exits)
        if kind is gast.Try:
            return self.attempt(statement, live, exits)
        if kind is gast.With:
            inside = self.block(statement.body, live, exits)
            for item in statement.items:
                inside = (inside - names_written(item)) | names_read(item)
            return inside
        if kind is gast.FunctionDef:
            return (live - {statement.name}) | free_names(statement)
        read, written = self.names(statement)
        left = live if live.isdisjoint(written) else live - written
        return left if read <= left else left | read

    def loop(self, statement: Node, live: Names) -> Names:
        is_for = type(statement) is gast.For
        header = frozenset(names_read(statement.iter if is_for else statement.test))
        bound: set[str] = names_written(statement.target) if is_for else set()
        if self.extra is not None:
            read, written = self.extra(statement)
            header |= read
            bound |= written
        current = live if is_for else live | header
        always = every_round(statement) if is_for else header
        while True:
            inside = self.block(statement.body, current, live)
            start = (inside - bound) | live | always
            if start <= current:
                return current | header
            current |= start

    def attempt(self, statement: Node, live: Names, exits: Names) -> Names:
        """Any statement of the body may hand over to the handlers, or to what is done finally."""
        thrown = NOTHING
        if statement.finalbody:
            live = thrown = self.block(statement.finalbody, live, exits)
        for h in statement.handlers:
            inside = self.block(h.body, live, exits)
            bound = names_written(h.name) if isinstance(h.name, gast.AST) else {h.name}
            thrown |= (inside - bound) | (names_read(h.type) if h.type is not None else set())
        other = self.block(statement.orelse, live, exits)
        around = self.after

        def within(inner: Any, later: Names) -> None:
            around(inner, later | thrown)

        self.after = within
        start = self.block(statement.body, other, exits) | thrown
        self.after = around
        return start

    def match(self, statement: Node, live: Names, exits: Names) -> Names:
        result = live | names_read(statement.subject)
        for case in statement.cases:
            inside = self.block(case.body, live, exits)
            guard = names_read(case.guard) if case.guard is not None else set()
            result |= (inside | guard | names_read(case.pattern)) - names_written(case.pattern)
        return result


def every_round(loop: Node) -> Names:
    """Return what a for loop looks at in every round: its body may change that in place."""
    made = loop.iter
    if type(made) is gast.Call and type(made.func) is gast.Name and made.func.id == "range":
        return NOTHING
    return frozenset(names_read(made))


def free_names(fn: Node) -> Names:
    """Return the names that an inner function reads from outside, also in its defaults."""
    return captured_names(fn) | read_outside([*fn.args.defaults, *fn.args.kw_defaults])


def captured_names(fn: Node) -> Names:
    """Return the names from outside that the body of an inner function reads when it is called."""
    inner = {a.id for a in [*fn.args.posonlyargs, *fn.args.args, *fn.args.kwonlyargs]}
    inner |= {a.id for a in (fn.args.vararg, fn.args.kwarg) if a is not None}
    body = [fn.body] if isinstance(fn, gast.Lambda) else fn.body
    written = {n for s in body for n in names_written(s)}
    outer = {n for s in body if isinstance(s, gast.Nonlocal | gast.Global) for n in s.names}
    return frozenset((read_outside(body) - inner - (written - outer)) | outer)


def read_outside(nodes: Iterable[Node | None]) -> set[str]:
    """Return the names that are read in some places and bound by no scope inside them."""
    return set().union(*(_unbound(n) for n in nodes if n is not None), set())


def _unbound(node: Node) -> set[str]:
    if isinstance(node, gast.Lambda):
        return set(free_names(node))
    if isinstance(node, gast.FunctionDef):
        return set(free_names(node)) | read_outside(node.decorator_list)
    if isinstance(node, COMPREHENSIONS):
        bound = {n for g in node.generators for n in names_written(g.target)}
        first = node.generators[0].iter  # found before anything is bound
        inside = [n for n in _parts_of(node) if n is not first]
        return (read_outside(inside) - bound) | _unbound(first)
    below = children(node)
    if not below or isinstance(node, gast.ClassDef):
        return names_read(node)
    target = node.target if isinstance(node, gast.AugAssign) else None
    named = {target.id} if isinstance(target, gast.Name) else set()
    return read_outside(below) | named


def _parts_of(node: Node) -> list[Node]:
    """Return the expressions of a comprehension, those of its loops among them."""
    loops = [part for g in node.generators for part in (g.target, g.iter, *g.ifs)]
    return [c for c in children(node) if not isinstance(c, gast.comprehension)] + loops
