"""What rewrites statements as plain ones that later passes understand.

np.add(a, b, out=c)    ->    t = np.add(a, b)
                             c[...] = t
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import runtime
from s2sad.kinds import Kind
from s2sad.known.built import display
from s2sad.names import Names
from s2sad.nodes import (
    Block,
    Node,
    assign,
    blocks_of,
    locate,
    name,
    names_beside,
    names_written,
    substitute,
    walk,
)
from s2sad.stages import Function, KindFacts
from s2sad.syntax.spelled import paths

NumPy = Callable[[], str]


class Rewriter:
    """Puts plain statements in the place of statements; remembers what it made up."""

    def __init__(self, function: Function, kinds: KindFacts, taken: set[str], numpy: NumPy) -> None:
        self.function = function
        self.kinds = kinds
        self.numpy = numpy
        self.origins = dict(function.origins)
        self.taken = taken
        self.temps: set[str] = set()
        self.changed = False

    @functools.cached_property
    def names(self) -> Names:
        return names_beside(self.function.node, self.function.locals | self.taken)

    def rewritten(self) -> Function | None:
        """Return the function with its statements rewritten, None where all stay as they are."""
        self.function.node.body[:] = self.block(self.function.node.body)
        if not self.changed:
            return None
        return dataclasses.replace(
            self.function,
            origins=self.origins,
            temps=self.function.temps | self.temps,
            locals=self.function.locals | self.temps,
        )

    def block(self, body: Block) -> Block:
        """Return a block with each statement as it is, or as what it is equal to."""
        out: Block = []
        for s in body:
            for part in blocks_of(s):
                part[:] = self.block(part)
            lines = self.statement(s)
            if lines is None:
                out.append(s)
                continue
            for line in lines:
                for n in walk(line):
                    locate(n, s)
                self.origins[line] = self.origins.get(s, s)
            out += lines
            self.changed = True
        return out

    def statement(self, s: Node) -> Block | None:
        """Return what a statement is equal to, or None where it stays."""
        raise NotImplementedError

    def kind(self, node: Node | None) -> Kind:
        """Return the kind of an expression; what is not there is None."""
        return K.NONE if node is None else self.kinds.of.get(node, K.UNKNOWN)

    def lines(self, text: str, **given: Node) -> Block:
        """Return statements, written as text, with nodes for some names and new ones for others."""
        body = [_nowhere(s) for s in gast.parse(text).body]
        table: dict[str, Node] = {"np": name(self.numpy()), **given}
        for n in sorted({n for s in body for n in names_written(s)}):
            fresh = self.names.fresh(n)
            self.temps.add(fresh)
            table[n] = name(fresh)
        out: Block = []
        for s in body:
            if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
                out.append(assign(table[s.targets[0].id].id, substitute(s.value, table)))
            else:
                out.append(substitute(s, table))
        return out


class HelpedRewriter(Rewriter):
    """A rewriter whose statements call helpers: `helper(fn)` is the name of one in derived text."""

    def __init__(
        self,
        function: Function,
        kinds: KindFacts,
        taken: set[str],
        numpy: NumPy,
        helper: Callable[[Any], str],
    ) -> None:
        super().__init__(function, kinds, taken, numpy)
        self.helper = helper

    def display(self, kind: Kind, place: Node, parts: list[Node]) -> tuple[Block, Node]:
        """Return what makes a structure such as the one at a place of other parts."""
        cls = kind.cls if isinstance(kind, K.Obj | K.Tuple) else None
        if cls is None:
            return [], display(kind, parts)
        lines: Block = []
        made = next(paths(self.function, cls), None)
        if made is None or isinstance(made, gast.Subscript):
            lines = self.lines("cls = type(v)", v=place)
            made = name(lines[-1].targets[0].id)
        if isinstance(kind, K.Tuple):
            return lines, gast.Call(made, parts, [])
        fields = [gast.keyword(n, part) for n, part in zip(kind.steps, parts, strict=True)]
        return lines, gast.Call(name(self.helper(runtime.object_of)), [made], fields)


def _nowhere(statement: Node) -> Node:
    """Forget where a statement stood in the text it was written as."""
    for n in walk(statement):
        for field in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
            if hasattr(n, field):
                delattr(n, field)
    return statement
