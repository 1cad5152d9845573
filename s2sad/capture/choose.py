"""A call of one of several functions becomes a branch over which of them it is.

    for layer in (np.tanh, square):         for layer in (np.tanh, square):
        x = layer(x)                  ->        if layer is np.tanh:
                                                    x = np.tanh(x)
                                                else:
                                                    x = square(x)

Every function must have a name here: a global, an entry of a global table, an inner function.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator

import gast

from s2sad import kinds as K
from s2sad.kinds import Kind
from s2sad.known.mapped import mapped
from s2sad.names import Names
from s2sad.nodes import (
    Block,
    Node,
    assign,
    block_writes,
    blocks_of,
    clone,
    compare,
    count_writes,
    locate,
    name,
    names_beside,
    names_written,
)
from s2sad.stages import Function, KindFacts
from s2sad.syntax.flow import live_in
from s2sad.syntax.spelled import paths

_MANY = 8


def choose(function: Function, kinds: KindFacts, taken: set[str]) -> Function | None:
    """Return the function with calls of one of several functions as branches, None without any."""
    worker = _Chooser(function, kinds, taken)
    function.node.body[:] = worker.block(function.node.body, ())
    if not worker.changed:
        return None
    return dataclasses.replace(
        function,
        origins=worker.origins,
        temps=function.temps | worker.temps,
        locals=function.locals | worker.temps,
    )


class _Chooser:
    def __init__(self, function: Function, kinds: KindFacts, taken: set[str]) -> None:
        self.function = function
        self.kinds = kinds
        self.origins = dict(function.origins)
        self.taken = taken
        self.writes = count_writes(function.node.body)
        self.temps: set[str] = set()
        self.changed = False

    @functools.cached_property
    def names(self) -> Names:
        return names_beside(self.function.node, self.function.locals | self.taken)

    def block(self, body: Block, done: tuple[Node, ...]) -> Block:
        """Return a block with branches; `done` are plain statements that surely ran before it.

        Those of a round of a loop do not count if the functions that they define may be there from
        an earlier round, too: another object, that does the same.
        """
        out: Block = []
        for s in body:
            for part in blocks_of(s):
                part[:] = self.block(part, done)
            value = getattr(s, "value", None)
            if isinstance(s, gast.Assign | gast.Expr) and isinstance(value, gast.Call):
                out += self.call(s, value, done)
            else:
                out.append(s)
            if not blocks_of(s):
                done = (*done, s)
        return out

    def call(self, s: Node, node: Node, done: tuple[Node, ...]) -> Block:
        kind = self.kinds.of.get(node.func)
        if not isinstance(kind, K.Choice) or len(kind.options) > _MANY:
            return [s]
        before: Block = []
        named = [self.expression(option, before, done) for option in kind.options]
        if any(n is None for n in named):
            return [s]
        chosen = node.func
        if not isinstance(chosen, gast.Name):
            chosen = self.held(chosen, "chosen", before)
        arms = [[self.arm(s, node, n)] for n in named]
        chain = arms[-1]
        for expression, arm in zip(named[-2::-1], arms[-2::-1], strict=True):
            chain = [gast.If(compare(clone(chosen), gast.Is, clone(expression)), arm, chain)]
        out = [*before, *chain]
        for statement in _all(out):
            locate(statement, s)
            self.origins[statement] = self.origins.get(s, s)
        self.changed = True
        return out

    def arm(self, s: Node, node: Node, func: Node) -> Node:
        call = locate(
            gast.Call(
                clone(func), [clone(a) for a in node.args], [clone(k) for k in node.keywords]
            ),
            node,
        )
        if isinstance(s, gast.Expr):
            return gast.Expr(call)
        return gast.Assign([clone(t) for t in s.targets], call, None)

    def held(self, node: Node, base: str, before: Block) -> Node:
        temp = self.names.fresh(base)
        self.temps.add(temp)
        before.append(assign(temp, clone(node)))
        return name(temp)

    def expression(self, option: Kind, before: Block, done: tuple[Node, ...]) -> Node | None:
        """Return an expression that denotes a function here."""
        if isinstance(option, K.LocalFunction):
            return self.variable(option, done)
        if not isinstance(option, K.Known):
            return None
        found = next(paths(self.function, option.value, lists=False), None)
        if isinstance(found, gast.Subscript):
            return self.held(found, "option", before)
        return found

    def variable(self, option: K.LocalFunction, done: tuple[Node, ...]) -> Node | None:
        """An inner function has the name it was defined by, if that is bound once and always."""
        for s in done:
            after = self.kinds.after.get(s, {})
            for n in sorted(names_written(s)):
                kind = after.get(n)
                if isinstance(kind, K.LocalFunction) and kind.node is option.node:
                    again = any(_holds(k, option) for bound, k in self.carried if n in bound)
                    return name(n) if self.writes.get(n) == 1 and not again else None
        return None

    @functools.cached_property
    def carried(self) -> list[tuple[set[str], Kind]]:
        """What loops bind, and the kinds of what a round may read of earlier ones."""
        found = []
        for s in _all(self.function.node.body):
            if isinstance(s, gast.For | gast.While) and s.body:
                env = self.kinds.before.get(s.body[0], {})
                bound = block_writes(s.body)
                found += [(bound, env[n]) for n in live_in(s.body, frozenset()) if n in env]
        return found


def _holds(kind: Kind, option: K.LocalFunction) -> bool:
    """Say whether a value may be an inner function, or hold it."""
    parts: list[Kind] = [*K.options(kind), *getattr(kind, "options", ())]
    if isinstance(kind, K.LocalFunction):
        return kind.node is option.node

    def note(part: Kind) -> Kind:
        parts.append(part)
        return part

    mapped(kind, note)
    return any(part is not kind and _holds(part, option) for part in parts)


def _all(block: Block) -> Iterator[Node]:
    for s in block:
        yield s
        for part in blocks_of(s):
            yield from _all(part)
