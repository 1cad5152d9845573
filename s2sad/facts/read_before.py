"""What a place holds before a call gives what is added to it.

    items[0] += o.f()      ->    was = items[0]              where what f does may change items[0]
                                 ...                         (the body of f)
                                 t = was + f_o
                                 items[0] = t

Everywhere else the early read is dropped, and the assignment stays what it is.
"""

from __future__ import annotations

import dataclasses

import gast

from s2sad import kinds as K
from s2sad import registry
from s2sad.errors import UnsupportedError
from s2sad.facts.alias import basic_index
from s2sad.names import Names
from s2sad.nodes import (
    Block,
    Node,
    all_inside,
    assign,
    blocks_of,
    clone,
    locate,
    name,
    names_written,
    same,
    walk,
)
from s2sad.stages import Function, KindFacts


def read_before(function: Function, kinds: KindFacts, taken: set[str]) -> Function | None:
    """Return the function with reads that come before a call where that matters; None without."""
    if not function.was:
        return None
    worker = _Worker(function, kinds, taken)
    worker.block(function.node.body)
    return dataclasses.replace(
        function,
        origins=worker.origins,
        temps=function.temps | worker.made,
        locals=function.locals | worker.made,
        was=frozenset(),
    )


class _Worker:
    def __init__(self, function: Function, kinds: KindFacts, taken: set[str]) -> None:
        self.function = function
        self.kinds = kinds
        self.origins = dict(function.origins)
        used = {n.id for n in walk(function.node) if isinstance(n, gast.Name)}
        self.names = Names(function.locals | taken | used)
        self.made: frozenset[str] = frozenset()

    def block(self, body: Block) -> None:
        position = 0
        while position < len(body):
            s = body[position]
            for part in blocks_of(s):
                self.block(part)
            start = self.start(body, position)
            if start is None:
                position += 1
                continue
            steps = self.steps(s, body[start], body[start + 1 : position])
            for step in steps or ():
                if step is not s:
                    self.origins[locate(step, s)] = self.origins.get(s, s)
            if steps is not None:
                body[position : position + 1] = steps
                position += len(steps)
            else:
                del body[start]

    def start(self, body: Block, position: int) -> int | None:
        """Return where the place that a statement adds to is read before the value is computed.

        The read is of the same statement of the user's: others may add to the same place.
        """
        s = body[position]
        if not isinstance(s, gast.AugAssign):
            return None
        origin = self.origins.get(s)
        for at in range(position - 1, -1, -1):
            read = body[at]
            if isinstance(read, gast.Assign) and isinstance(read.targets[0], gast.Name):
                if read.targets[0].id in self.function.was and self.origins.get(read) is origin:
                    return at if same(read.value, _loaded(s.target)) else None
        return None

    def steps(self, s: Node, read: Node, between: Block) -> Block | None:
        """Return what to do with what was read; None where nobody changes it meanwhile."""
        place, old = s.target, read.targets[0].id
        if not any(may_set(n, place) for n in all_inside(between)):
            return None
        kind = self.kinds.of.get(place, K.UNKNOWN)
        if isinstance(kind, K.Array):
            owner = getattr(place, "value", None)  # none of a variable, which held an attribute
            if not isinstance(self.kinds.of.get(owner), K.Array):
                back = gast.Assign([place], name(old), None)
                whole = gast.Subscript(name(old), gast.Constant(Ellipsis, None), gast.Store())
                return [gast.AugAssign(whole, s.op, s.value), back]
            if basic_index(place.slice, self.kinds):
                return None
        elif not isinstance(kind, K.Num | K.Str | K.Tuple):
            raise UnsupportedError(
                f"This statement adds to {K.describe(kind)}: it reads that value and then "
                "computes its right side, which may set it.",
                remedy="Compute the right side in a statement of its own.",
                place=self.function.source.place(self.origins.get(s, s)),
            )
        new = self.names.fresh("t")
        self.made |= {new}
        return [
            assign(new, gast.BinOp(name(old), s.op, s.value)),
            gast.Assign([place], name(new), None),
        ]


def _loaded(place: Node) -> Node:
    read = clone(place)
    read.ctx = gast.Load()
    return read


def may_set(s: Node, place: Node) -> bool:
    """Say whether a statement may set an attribute of this name, or an item of something."""
    targets = [*getattr(s, "targets", ()), getattr(s, "target", None)]
    if isinstance(place, gast.Name):
        return any(place.id in names_written(t) for t in targets if t is not None)
    if isinstance(place, gast.Attribute):
        return any(isinstance(t, gast.Attribute) and t.attr == place.attr for t in targets)
    if any(isinstance(t, gast.Subscript) for t in targets):
        return True
    func = getattr(getattr(s, "value", None), "func", None)
    return isinstance(func, gast.Attribute) and registry.method_writes(func.attr)
