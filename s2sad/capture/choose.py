"""A call of one of several functions becomes a branch over which of them it is.

    for layer in (np.tanh, square):         for layer in (np.tanh, square):
        x = layer(x)                  ->        if layer is np.tanh:
                                                    x = np.tanh(x)
                                                else:
                                                    x = square(x)

Every function must have a name here: a global, an entry of a global table, an inner function.
So do operators on one of several functions, and calls of what they give:

    t = grad(f)                             if f is g:
    y = t(x)                          ->        t_1 = grad(g)
                                                y = t_1(x)
                                            else: ...
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator

import gast

from s2sad import kinds as K
from s2sad.derivative import applies
from s2sad.kinds import Kind
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
    substitute,
)
from s2sad.stages import Function, KindFacts
from s2sad.syntax.flow import live_in
from s2sad.syntax.spelled import paths

_MANY = 8
_AT_ONCE = ("vjp", "jvp", "hvp")  # what these give is no derivative, but what one gives


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
        self.writes = count_writes(function.node.body, function.params)
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
        given: dict[str, Block] = {}  # what operators give, and the statements that make it
        for s in body:
            for part in blocks_of(s):
                part[:] = self.block(part, done)
            value = getattr(s, "value", None)
            if isinstance(s, gast.Assign | gast.Expr) and isinstance(value, gast.Call):
                out += self.applied(s, value, given, done) or self.call(s, value, done)
            else:
                out.append(s)
            written = block_writes([s])
            for n, made in [*given.items()]:
                if made[-1] is not s and written & {n, made[0].value.args[0].id}:
                    del given[n]
            if not blocks_of(s):
                done = (*done, s)
        return out

    def applied(
        self, s: Node, node: Node, given: dict[str, Block], done: tuple[Node, ...]
    ) -> Block | None:
        """Return the branch over functions of which one is differentiated, and that is called.

        What only makes a derivative is remembered, and stays.
        """
        mode = applies(self.kinds.objects.get(node.func))
        first = node.args[0] if node.args else None
        plain = isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name)
        if mode and isinstance(first, gast.Name):
            one_of_several = isinstance(self.kinds.of.get(first), K.Choice)
            if mode in _AT_ONCE:
                return self.branch(s, first, [], done) if one_of_several else None
            if plain and (one_of_several or first.id in given):
                given[s.targets[0].id] = [*given.get(first.id, []), s]
            return None
        if not isinstance(node.func, gast.Name) or node.func.id not in given:
            return None
        made = given[node.func.id]
        return self.branch(s, made[0].value.args[0], made, done)

    def branch(self, s: Node, chosen: Node, made: Block, done: tuple[Node, ...]) -> Block | None:
        """Return a statement once for each of several functions, with what makes derivatives."""
        before: Block = []
        options = self.kinds.of[chosen].options  # type: ignore[attr-defined]
        named = [self.expression(option, before, done) for option in options]
        if len(options) > _MANY or any(n is None for n in named):
            return None
        arms = [self.made_of(s, chosen.id, n, made) for n in named]
        return self.chain(s, chosen, named, arms, before)

    def made_of(self, s: Node, chosen: str, fn: Node, made: Block) -> Block:
        """Return a statement of one function in the place of the one that was chosen."""
        table: dict[str, Node] = {chosen: fn}
        out: Block = []
        for one in [*made, s]:
            copied = clone(one)
            copied.value.func = substitute(copied.value.func, table)
            copied.value.args = [
                substitute(a, table) if (i == 0 and one is not s) or self.is_first(one, i) else a
                for i, a in enumerate(copied.value.args)
            ]
            if one is not s:
                temp = self.names.fresh(one.targets[0].id)
                self.temps.add(temp)
                table = {one.targets[0].id: name(temp)}
                copied.targets = [gast.Name(temp, gast.Store(), None, None)]
            out.append(copied)
        return out

    def is_first(self, s: Node, position: int) -> bool:
        """Say whether an argument is the function that an operator gets."""
        return position == 0 and applies(self.kinds.objects.get(s.value.func)) in _AT_ONCE

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
        return self.chain(s, chosen, named, arms, before)

    def chain(
        self, s: Node, chosen: Node, named: list[Node], arms: list[Block], before: Block
    ) -> Block:
        """Return the branch over which function it is."""
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
    if isinstance(kind, K.LocalFunction):
        return kind.node is option.node
    inside = kind.options if isinstance(kind, K.Choice) else kind.inside
    return any(_holds(part, option) for part in inside)


def _all(block: Block) -> Iterator[Node]:
    for s in block:
        yield s
        for part in blocks_of(s):
            yield from _all(part)
