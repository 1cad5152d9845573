"""Which names of a function are cells: bound where no order of bindings can be told.

An inner function sees what the name means when it is called; a try may end after any statement of
its body; a class statement, an import, `del`, `global` and `:=` bind names as they please.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import registry
from s2sad.kinds import Kind
from s2sad.nodes import (
    COMPREHENSIONS,
    SCOPES,
    Block,
    Node,
    all_inside,
    blocks_of,
    names_read,
    names_written,
    walk,
)
from s2sad.stages import Function, KindFacts
from s2sad.syntax.elements import heads
from s2sad.syntax.flow import free_names, live_in

Names = frozenset[str]
NOTHING: Names = frozenset()


@dataclass(frozen=True)
class Cells:
    """The `names` that are cells, and the names that are live `behind` each statement."""

    names: Names
    behind: dict[Any, Names]
    kinds: KindFacts

    def live(self, s: Node) -> Names:
        """Return the names that are live behind a statement."""
        return self.behind.get(s, NOTHING)

    def again(self, loop: Node) -> Names:
        """Return the names that the next round of a loop, or what stands behind it, reads."""
        test = names_read(loop.test) if isinstance(loop, gast.While) else set()
        return (self.live(loop.body[-1]) if loop.body else NOTHING) | test

    def final(self, s: Node) -> Names:
        """Return the names that are live where the last block of a try starts."""
        return live_in(s.finalbody, self.live(s))

    def head(self, loop: Node, word: str) -> Kind:
        """Return the kind of a name where a round of a loop starts."""
        first = loop.body[0] if loop.body else None
        return self.kinds.before.get(first, {}).get(word, K.UNKNOWN)


def cells(function: Function, kinds: KindFacts) -> Cells:
    """Return the cells of a function."""
    body = function.node.body
    behind: dict[Any, Names] = {}
    live_in(body, NOTHING, behind.__setitem__)
    found = Cells(NOTHING, behind, kinds)
    names = {n for part in _loose(function, kinds) for n in part}
    for s in all_inside(body):
        if isinstance(s, gast.Try):
            names |= _half_done(s, found)
        elif isinstance(s, gast.With) and any(kinds.passing.get(i) is None for i in s.items):
            names |= _bound(s.body) & found.live(s)
    return Cells(frozenset(names), behind, kinds)


def _half_done(s: Node, found: Cells) -> set[str]:
    """Return what a try binds that is read where an exception has left a block of it."""
    final = found.final(s)
    caught = [live_in(h.body, final) for h in s.handlers]
    read = frozenset().union(*caught) | (final if s.finalbody else NOTHING)
    bound = _bound(s.body) & read
    if s.finalbody:
        bound |= (_bound(s.orelse) | {n for h in s.handlers for n in _bound(h.body)}) & final
    return bound


def _bound(body: Block) -> set[str]:
    return {n for s in body for n in names_written(s)}


def _loose(function: Function, kinds: KindFacts) -> Iterator[set[str]]:
    """Yield the names that some statement or scope binds, or reads later, as it pleases."""
    counts: dict[str, int] = dict.fromkeys(function.params, 1)
    for word, times in _bindings(function.node.body, 1):
        counts[word] = counts.get(word, 0) + times
    changing = {n for n, count in counts.items() if count > 1}
    at_once = {a for n in _nodes(function) for a in _consumed(n, kinds)}
    early = set(function.params)
    for s in all_inside(function.node.body):
        for n in [n for part in (heads(s) if blocks_of(s) else [s]) for n in walk(part)]:
            yield from _bound_freely(n)
            if isinstance(n, SCOPES) or (isinstance(n, gast.GeneratorExp) and n not in at_once):
                yield outside_names(n) & function.locals & (changing | (function.locals - early))
        early |= names_written(s.target if isinstance(s, gast.For) else s)


def _bound_freely(n: Node) -> Iterator[set[str]]:
    """Yield the names that a declaration, an import, `del` or `:=` binds as it pleases."""
    if isinstance(n, gast.Global | gast.Nonlocal):
        yield set(n.names)
    elif isinstance(n, gast.Import | gast.ImportFrom | gast.ClassDef):
        yield bound_by(n)
    elif isinstance(n, gast.Delete):
        yield {t.id for t in n.targets if isinstance(t, gast.Name)}
    elif isinstance(n, gast.NamedExpr):
        yield {n.target.id}
    elif isinstance(n, gast.FunctionDef):
        yield {n.name} & outside_names(n)


def _nodes(function: Function) -> Iterator[Node]:
    return (n for s in function.node.body for n in walk(s))


def _bindings(body: Block, times: int) -> Iterator[tuple[str, int]]:
    """Yield each name that is bound, and how often: in a loop more than once."""
    for s in body:
        if isinstance(s, gast.For | gast.While):
            for n in sorted(names_written(s)):
                yield n, 2
        elif isinstance(s, gast.If):
            yield from _bindings([*s.body, *s.orelse], times)
        else:
            for n in sorted(names_written(s)):
                yield n, 2 if isinstance(s, gast.Try | gast.With | gast.Match) else times


def _consumed(n: Node, kinds: KindFacts) -> list[Node]:
    """Return the generators that a library function uses up before it returns."""
    if not isinstance(n, gast.Call):
        return []
    if registry.effects_of(kinds.objects.get(n.func)).reads in ("whole", "until"):
        return [a for a in n.args if isinstance(a, gast.GeneratorExp)]
    return []


def bound_by(s: Node) -> set[str]:
    """Return the names that an import or a class statement binds."""
    if isinstance(s, gast.ClassDef):
        return {s.name}
    if isinstance(s, gast.Import | gast.ImportFrom):
        return {a.asname or a.name.split(".")[0] for a in s.names}
    return set()


def outside_names(node: Node) -> set[str]:
    """Return the names that a scope reads, or rebinds, outside of itself."""
    if isinstance(node, gast.FunctionDef | gast.Lambda):
        inner = [n for n in walk(node) if isinstance(n, gast.Nonlocal)]
        return set(free_names(node)) | {word for n in inner for word in n.names}
    if isinstance(node, COMPREHENSIONS):
        own = {n for g in node.generators for n in names_written(g.target)}
        return names_read(node) - own
    return names_read(node)
