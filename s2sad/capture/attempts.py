"""A try is done as a whole or not at all, as far as anybody can tell who goes on from a handler.

    try:                               try:
        y = x * 2.0                        y_1 = x * 2.0
        z = math.log(y)                    z = math.log(y_1)
    except ValueError:           ->        y = y_1
        z = 0.0                        except ValueError:
                                           z = 0.0

What the body binds before something that may raise gets a name of its own there, and the user's
name at the end: where an exception is caught every name is what it was before the try. Where the
handler, or what follows it, looks at such a name, how far the body got matters: those tries are
returned, each with that name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import gast

from s2sad.capture.entries import is_entry
from s2sad.names import Names
from s2sad.nodes import (
    COMPREHENSIONS,
    SCOPES,
    Block,
    Node,
    assign,
    block_writes,
    blocks_of,
    children,
    clone,
    locate,
    name,
    names_read,
    names_written,
    walk,
)
from s2sad.syntax.elements import rename_scoped
from s2sad.syntax.flow import free_names, live_in
from s2sad.syntax.surely import name_of, surely_bound

_OUTER = (gast.Global, gast.Nonlocal)
_QUIET = (gast.Pass, gast.Break, gast.Continue)


@dataclass
class Attempts:
    """What is known of the tries of a structured body.

    `half` are those that may be left half done. `made` are the
    names that were made up, `shown` what the statements that use them look like in the source.
    """

    half: set[Any] = field(default_factory=set)
    made: set[str] = field(default_factory=set)
    shown: dict[Any, Node] = field(default_factory=dict)


def whole_or_nothing(
    body: Block,
    params: tuple[str, ...],
    result: str,
    names: Names,
    entries: frozenset[str],
    catches_unbound: Callable[[Any], bool],
) -> Attempts:
    """Rewrite the tries of a structured body, those that can be done as a whole or not at all.

    `entries` are dicts that get another entry by being made anew; `catches_unbound` says whether
    a handler's type may catch an UnboundLocalError.
    """
    worker = _Worker(body, params, result, names, entries)
    worker.catches_unbound = catches_unbound
    worker.block(body)
    return worker.found


class _Worker:
    def __init__(
        self,
        body: Block,
        params: tuple[str, ...],
        result: str,
        names: Names,
        entries: frozenset[str],
    ) -> None:
        self.entries = entries
        self.names = names
        self.body = body
        self.params = params
        self.catches_unbound: Callable[[Any], bool] = bool
        self.found = Attempts()
        self.surely: dict[Any, frozenset[str]] = {}
        surely_bound(body, frozenset(params), self.surely.__setitem__)
        self.locals = set(params) | block_writes(body)
        self.live: dict[Any, frozenset[str]] = {}
        live_in(body, frozenset({result}), lambda s, live: self.live.__setitem__(s, live))
        self.captured = {
            n
            for s in body
            for f in walk(s)
            if isinstance(f, gast.FunctionDef | gast.Lambda)
            for n in free_names(f)
        }
        for s in body:
            for f in walk(s):
                self.captured |= set(f.names) if isinstance(f, _OUTER) else set()

    def block(self, block: Block) -> None:
        for s in block:
            for part in [] if isinstance(s, SCOPES) else blocks_of(s):
                self.block(part)
            if isinstance(s, gast.Try) and s.handlers:
                self.attempt(s)

    def attempt(self, s: Node) -> None:
        """Make one try whole, or note that it may be left half done."""
        after = self.live[s]
        caught: set[str] = self.captured | self.entries
        for h in s.handlers:
            bound = name_of(h)
            caught |= live_in(h.body, after) - bound
            if not bound.isdisjoint(self._bound_elsewhere(s)):
                self.found.half.add(s)
                return
        entering = {n for n in live_in(s.body, frozenset()) if not _bound_first(s.body, n)}
        partial = self.partial(s.body, False)
        loose = (entering & self.locals) - self.surely[s]
        if not any(self.catches_unbound(h.type) for h in s.handlers):
            loose &= partial
        if loose or partial & caught:
            self.found.half.add(s)
            return
        outside = set(self.params) | block_writes(self._others(s)) | entering
        outside |= set().union(*(block_writes(h.body) for h in s.handlers), set())
        again = sorted(partial & (outside | block_writes(s.orelse)))
        if not again:
            return
        leaves = _breaks(s.body)
        fixed = set(again) - {n.id for x in s.body for n in walk(x) if isinstance(n, gast.Name)}
        if fixed or (leaves and not isinstance(s.body[-1], gast.Break)):
            self.found.half.add(s)
            return
        table = {n: self.names.fresh(n) for n in again}
        self.found.made |= set(table.values())
        wanted = set(again) if leaves else live_in(s.orelse, after)
        binds = {n: x for x in _simple(s.body, s) for n in names_written(x)}
        started = [n for n in again if n in entering]
        starts = [self._as(assign(table[n], name(n)), s.body[0]) for n in started]
        shown = {x: clone(x) for x in _simple(s.body, s)}
        for part in s.body:
            rename_scoped(part, table)
        self.found.shown = {**shown, **self.found.shown}
        commits = [self._as(assign(n, name(table[n])), binds[n]) for n in again if n in wanted]
        at = len(s.body) - (1 if leaves else 0)
        s.body[at:at] = commits
        s.body[:0] = starts

    def _as(self, statement: Node, origin: Node) -> Node:
        """Show a new statement as one of the user's."""
        self.found.shown[statement] = clone(self.found.shown.get(origin, origin))
        return locate(statement, origin)

    def _bound_elsewhere(self, s: Node) -> set[str]:
        """Return the names bound other than by handlers."""
        inside = [*s.body, *s.orelse, *(x for h in s.handlers for x in h.body)]
        return set(self.params) | block_writes([*self._others(s), *_simple(inside, s)])

    def _others(self, s: Node) -> Block:
        """Return the statements of the function that do not stand in a try's body or arms."""
        return list(_simple(self.body, s))

    def partial(self, block: Block, after: bool) -> set[str]:
        """Return the names bound before something that may raise; `after` says so of what follows.

        In the body of a try: everything that it binds but what is bound at the very end.
        """
        return self._partial(block, after)[0]

    def _entered(self, s: Node) -> set[str]:
        """Return the dicts that get entries in the blocks of a statement."""
        inside = [x for part in blocks_of(s) for x in _simple(part, s) if is_entry(x)]
        return {x.targets[0].value.id for x in inside} & self.entries

    def _partial(self, block: Block, after: bool) -> tuple[set[str], bool]:
        found: set[str] = set()
        for s in reversed(block):
            inner, after = self._one(s, after)
            found |= inner
        return found, after

    def _one(self, s: Node, after: bool) -> tuple[set[str], bool]:
        if isinstance(s, gast.If):
            then, first = self._partial(s.body, after)
            other, second = self._partial(s.orelse, after)
            return then | other, True if not _quiet(s.test) else first or second
        if isinstance(s, gast.Try):
            written = names_written(s)
            return written | self._entered(s), True
        if blocks_of(s):
            return names_written(s) | self._entered(s), True
        if isinstance(s, _QUIET):
            return set(), after
        written = names_written(s)
        entry = {s.targets[0].value.id} & self.entries if is_entry(s) else set()
        written |= entry
        if isinstance(s, gast.Assign) and (entry or all(map(_named, s.targets))):
            walrus = any(isinstance(n, gast.NamedExpr) for n in walk(s.value))
            raises = not _quiet(s.value)
            return (written if after or walrus else set()), after or raises
        if isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Name):
            return (written if after else set()), True
        return written, True


def _bound_first(body: Block, n: str) -> bool:
    """Say whether the first thing that a body does with a name is to bind it by a walrus."""
    for s in body:
        if n in names_read(s) | names_written(s):
            return not blocks_of(s) and _first_of(s, n) == "bound"
    return False


def _first_of(node: Node, n: str) -> str:
    """Return what is surely done first to a name where an expression is evaluated, if anything."""
    if isinstance(node, gast.Name):
        return "read" if node.id == n and isinstance(node.ctx, gast.Load) else ""
    if isinstance(node, gast.NamedExpr):
        return _first_of(node.value, n) or ("bound" if node.target.id == n else "")
    if isinstance(node, (*COMPREHENSIONS, *SCOPES)):
        return "read" if n in names_read(node) | names_written(node) else ""
    parts = children(node)
    if isinstance(node, gast.Assign | gast.AugAssign):
        parts = [node.value]
    for at, part in enumerate(parts):
        found = _first_of(part, n)
        if found == "bound" and at and isinstance(node, gast.BoolOp | gast.IfExp | gast.Compare):
            return "read"
        if found:
            return found
    return ""


def _simple(block: Block, but: Node) -> Iterator[Node]:
    """Yield the statements without blocks, and what binds names in the heads of the others."""
    for s in block:
        if s is but:
            continue
        parts = [] if isinstance(s, SCOPES) else blocks_of(s)
        if not parts:
            yield s
            continue
        if isinstance(s, gast.For):
            yield s.target
        elif isinstance(s, gast.With):
            yield from s.items
        elif isinstance(s, gast.Match):
            yield from (c.pattern for c in s.cases)
        elif isinstance(s, gast.If | gast.While):
            yield s.test
        for part in parts:
            yield from _simple(part, but)


def _named(target: Node) -> bool:
    return isinstance(target, gast.Name)


def _quiet(value: Node) -> bool:
    """Say whether an expression cannot raise: a literal."""
    return isinstance(value, gast.Constant) or (
        isinstance(value, gast.UnaryOp) and isinstance(value.operand, gast.Constant)
    )


def _breaks(block: Block) -> bool:
    """Say whether the end of a block may leave the loop around it."""
    if not block:
        return False
    last = block[-1]
    if isinstance(last, gast.Break):
        return True
    if isinstance(last, gast.If | gast.Match | gast.Try | gast.With):
        return any(_breaks(part) for part in blocks_of(last))
    return False
