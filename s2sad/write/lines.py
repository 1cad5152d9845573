"""Which of the user's lines each line of derived text comes from, and in which sweep it stands.

A heading says it for the group below it; what polishing has moved keeps the position it had. What
has neither belongs to what stands beside it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import gast

from s2sad.errors import Place
from s2sad.nodes import Block, Node, blocks_of
from s2sad.stages import Comment

FORWARD, BACKWARD, TANGENT = "forward", "backward", "tangent"
Spot = tuple[str, int]  # a file, and a line in it
Spots = frozenset[Spot]
NOWHERE: Spots = frozenset()


@dataclass(frozen=True)
class Role:
    """A derived function: the user's source it comes from, and the sweep it starts in."""

    source: Any
    sweep: str
    whole: bool = False  # nothing but that sweep is in it


@dataclass(frozen=True)
class Origin:
    """Where a line of derived text comes from; `statement` is the one that stands there."""

    function: str
    sweep: str
    spots: Spots
    statement: Any = None


@dataclass
class _Worker:
    lines: list[str]
    found: dict[int, Origin] = field(default_factory=dict)
    role: Role = field(default_factory=lambda: Role(None, ""))
    function: str = ""
    at: int = 1

    def block(self, nodes: Block, trees: list[Any], sweep: str, around: Spots) -> Spots:
        """Note the lines of a block; return all spots that they come from."""
        heading = NOWHERE
        rest = iter(trees)
        entries: list[tuple[Node, Any, str, Spots]] = []
        for node in nodes:
            if isinstance(node, Comment):
                heading = self.spots_of(node) if node.text else NOWHERE
                # Headings, and the empty line before them, are where a backward sweep begins.
                sweep = sweep if self.role.whole else self.turned(sweep)
                continue
            entries.append((node, next(rest), sweep, heading))
        own = [self.own(node, heading, s) for node, _, s, heading in entries]
        total = NOWHERE
        for i, (node, tree, s, heading) in enumerate(entries):
            spots = own[i] or _near(own, i) or around
            total |= self.statement(node, tree, s, spots, heading)
        return total

    def turned(self, sweep: str) -> str:
        return BACKWARD if sweep == FORWARD else sweep

    def statement(self, node: Node, tree: Any, sweep: str, spots: Spots, heading: Spots) -> Spots:
        """Note the lines of one statement, and those of the comment above it."""
        first = tree.lineno
        for number in range(self.at, first):
            if self.lines[number - 1].lstrip().startswith("#"):
                self.note(number, sweep, heading)
        parts = [(part, below) for part, below in zip(blocks_of(node), _blocks(tree), strict=False)]
        if isinstance(node, gast.FunctionDef):
            return self.inner(node, tree, spots)
        start = min((below[0].lineno for _, below in parts if below), default=tree.end_lineno + 1)
        last = start - 1
        while parts and self.lines[last - 1].lstrip().startswith("#"):
            last -= 1
        for number in range(first, last + 1):
            self.note(number, sweep, spots, node)
        self.at = last + 1
        total = spots
        for part, below in parts:
            if below:
                total |= self.block(part, below, sweep, spots)
        for number in range(first, tree.end_lineno + 1):  # else:, except ...:
            if number not in self.found and self.lines[number - 1].strip():
                self.note(number, sweep, spots)
        self.at = max(self.at, tree.end_lineno + 1)
        return total

    def inner(self, node: Node, tree: Any, spots: Spots) -> Spots:
        """A function inside a derived one is its pullback, or the user's own."""
        nodes = [n for n in node.body if not _is_doc(n)]
        trees = [t for t in tree.body if not _is_doc(t)]
        for number in range(tree.lineno, trees[0].lineno if trees else tree.end_lineno + 1):
            self.note(number, BACKWARD, NOWHERE)
        self.at = tree.lineno + 1
        return self.block(nodes, trees, BACKWARD, NOWHERE)

    def own(self, node: Node, heading: Spots, sweep: str) -> Spots:
        """Return where a statement comes from, as far as it says so itself."""
        if getattr(node, "lineno", None) is not None:
            return self.spots_of(node)
        if sweep == BACKWARD and heading:
            return heading
        return frozenset().union(*(self.spots_of(n) for n in _heads(node)))

    def spots_of(self, node: Node) -> Spots:
        if getattr(node, "lineno", None) is None or self.role.source is None:
            return NOWHERE
        place: Place = getattr(node, "home", self.role.source).place(node)
        return frozenset({(place.file, place.line)})

    def note(self, number: int, sweep: str, spots: Spots, statement: Any = None) -> None:
        self.found[number] = Origin(self.function, sweep, spots, statement)


def origins_by_line(body: Block, text: str, roles: Mapping[str, Role]) -> dict[int, Origin]:
    """Return where the lines of the derived functions in a text come from; helpers are left out.

    `body` is what the text was printed from.
    """
    worker = _Worker(text.splitlines())
    trees = iter(ast.parse(text).body)
    for node in body:
        if isinstance(node, Comment):
            continue
        tree: Any = next(trees)
        role = roles.get(getattr(node, "name", ""))
        if role is None or not isinstance(node, gast.FunctionDef):
            continue
        worker.role, worker.function = role, node.name
        where = worker.spots_of(role.source.node)
        inside = [t for t in tree.body if not _is_doc(t)]
        nodes = [n for n in node.body if not _is_doc(n)]
        first = inside[0].lineno if inside else tree.end_lineno + 1
        for number in range(tree.lineno, first):
            if text.splitlines()[number - 1].strip():
                worker.note(number, role.sweep, where, node if number == tree.lineno else None)
        worker.at = tree.body[0].end_lineno + 1 if len(inside) < len(tree.body) else first
        worker.block(nodes, inside, role.sweep, where)
    return worker.found


def _near(own: list[Spots], at: int) -> Spots:
    """Return where the next statement that says so comes from, or else the one before."""
    after = next((s for s in own[at + 1 :] if s), NOWHERE)
    return after or next((s for s in reversed(own[:at]) if s), NOWHERE)


def _heads(node: Node) -> Iterator[Node]:
    """Yield the nodes of a statement that are not in its blocks."""
    inside = {id(s) for part in blocks_of(node) for s in part}
    stack = [node]
    while stack:
        top = stack.pop()
        yield top
        below = (getattr(top, f, None) for f in top._fields)
        for value in below:
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, gast.AST) and id(child) not in inside:
                    stack.append(child)


def _blocks(tree: Any) -> list[list[Any]]:
    """Return the blocks of a parsed statement, as `blocks_of` does for one of gast's."""
    if isinstance(tree, ast.If | ast.For | ast.While):
        return [tree.body, tree.orelse]
    if isinstance(tree, ast.Match):
        return [case.body for case in tree.cases]
    if isinstance(tree, ast.With):
        return [tree.body]
    if isinstance(tree, ast.Try):
        return [tree.body, *(h.body for h in tree.handlers), tree.orelse, tree.finalbody]
    return []


def _is_doc(node: Any) -> bool:
    value = getattr(node, "value", None)
    return type(node).__name__ == "Expr" and isinstance(getattr(value, "value", None), str)
