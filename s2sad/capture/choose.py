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
from s2sad.names import Names
from s2sad.nodes import (
    Block,
    Node,
    assign,
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
from s2sad.syntax.spelled import paths

_MANY = 8


def choose(function: Function, kinds: KindFacts, taken: set[str]) -> Function | None:
    """Return the function with calls of one of several functions as branches, None without any."""
    worker = _Chooser(function, kinds, taken)
    function.node.body[:] = worker.block(function.node.body)
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
        self.top = {n for s in function.node.body if not blocks_of(s) for n in names_written(s)}
        self.writes = count_writes(function.node.body)
        self.temps: set[str] = set()
        self.changed = False

    @functools.cached_property
    def names(self) -> Names:
        return names_beside(self.function.node, self.function.locals | self.taken)

    def block(self, body: Block) -> Block:
        out: Block = []
        for s in body:
            for part in blocks_of(s):
                part[:] = self.block(part)
            value = getattr(s, "value", None)
            if isinstance(s, gast.Assign | gast.Expr) and isinstance(value, gast.Call):
                out += self.call(s, value)
            else:
                out.append(s)
        return out

    def call(self, s: Node, node: Node) -> Block:
        kind = self.kinds.of.get(node.func)
        if not isinstance(kind, K.Choice) or len(kind.options) > _MANY:
            return [s]
        before: Block = []
        named = [self.expression(option, before) for option in kind.options]
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

    def expression(self, option: Kind, before: Block) -> Node | None:
        """Return an expression that denotes a function here."""
        if isinstance(option, K.LocalFunction):
            return self.variable(option)
        if not isinstance(option, K.Known):
            return None
        found = next(paths(self.function, option.value, lists=False), None)
        if isinstance(found, gast.Subscript):
            return self.held(found, "option", before)
        return found

    def variable(self, option: K.LocalFunction) -> Node | None:
        """An inner function has the name it was defined by, if that is bound once and always."""
        for s in self.function.node.body:
            after = self.kinds.after.get(s, {})
            for n in sorted(names_written(s) & self.top):
                kind = after.get(n)
                if isinstance(kind, K.LocalFunction) and kind.node is option.node:
                    return name(n) if self.writes.get(n) == 1 else None
        return None


def _all(block: Block) -> Iterator[Node]:
    for s in block:
        yield s
        for part in blocks_of(s):
            yield from _all(part)
