"""Say of augmented assignments whether they bind a name or change an array in place.

`A += v` reads the same for a number, which binds A anew, and for an array, which is changed. Once
kinds are known the second is written `A[...] += v`, which binds nothing; so a loop over the rows
of an array needs no second name for its row:

    for row_item in A:
        row = row_item           ->      for row in A:
        row /= np.sum(row)                   row[...] /= np.sum(row)
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.names import Names
from s2sad.nodes import (
    Block,
    Node,
    all_inside,
    assign,
    attribute,
    block_writes,
    blocks_of,
    call,
    clone,
    count_writes,
    locate,
    name,
    names_beside,
    names_written,
    rename,
    walk,
)
from s2sad.stages import Function, KindFacts


def in_place(function: Function, kinds: KindFacts, taken: set[str]) -> Function | None:
    """Return the function with augmented assignments of arrays and parts of structures rewritten.

    None where there are none.
    """
    changed = _block(function, function.node.body, kinds, undecided(function, kinds))
    worker = _Parts(function, kinds, taken)
    function.node.body[:] = worker.block(function.node.body)
    if not worker.changed:
        return function if changed else None
    return dataclasses.replace(
        function,
        origins=worker.origins,
        temps=function.temps | worker.made,
        locals=function.locals | worker.made,
    )


class _Parts:
    """Writes out what happens to an item of a structure, one step at a time.

    obj.count += 1    ->    t = obj.count           del xs[0]    ->    t = xs.pop(0)
                            t_1 = t + 1
                            obj.count = t_1
    """

    def __init__(self, function: Function, kinds: KindFacts, taken: set[str]) -> None:
        self.kinds = kinds
        self.origins = dict(function.origins)
        self.function = function
        self.taken = taken
        self.made: frozenset[str] = frozenset()
        self.changed = False
        self.displays = displays(function)

    @functools.cached_property
    def names(self) -> Names:
        return names_beside(self.function.node, self.function.locals | self.taken)

    def fresh(self, base: str) -> str:
        found = self.names.fresh(base)
        self.made |= {found}
        return found

    def block(self, body: Block) -> Block:
        out: Block = []
        for s in body:
            for part in blocks_of(s):
                part[:] = self.block(part)
            steps = self.steps(s)
            self.changed |= steps != [s]
            for step in steps:
                if step is not s:
                    locate(step, s)
                    for n in walk(step):
                        if isinstance(n, gast.expr) and getattr(n, "lineno", None) is None:
                            locate(n, s)
                    self.origins[step] = self.origins.get(s, s)
            out += steps
        return out

    def steps(self, s: Node) -> Block:
        if isinstance(s, gast.AugAssign) and not isinstance(s.target, gast.Name):
            return self.augmented(s)
        if isinstance(s, gast.AugAssign) and isinstance(s.op, gast.Add):
            if isinstance(self.kinds.of.get(s.target), K.List):
                return self.extended(s, s.target.id, s.value)
        if isinstance(s, gast.Delete) and len(s.targets) == 1:
            place = s.targets[0]
            if isinstance(place, gast.Subscript) and self.is_list(place.value):
                if not isinstance(place.slice, gast.Slice):
                    return [self.taken_out(place.value, [place.slice])]
        value = getattr(s, "value", None)
        if isinstance(s, gast.Assign) and len(s.targets) == 1 and self.is_part(s.targets[0]):
            return self.into_part(s, s.targets[0])
        if isinstance(s, gast.Expr) and isinstance(value, gast.Call):
            func = value.func
            if isinstance(func, gast.Attribute) and self.is_list(func.value):
                if func.attr == "pop" and not value.keywords:
                    return [self.taken_out(func.value, value.args)]
                if func.attr == "extend" and len(value.args) == 1:
                    return self.extended(s, func.value.id, value.args[0])
        return [s]

    def is_list(self, node: Node) -> bool:
        return isinstance(node, gast.Name) and isinstance(self.kinds.of.get(node), K.List)

    def taken_out(self, owner: Node, args: Block) -> Node:
        return assign(self.fresh(f"{owner.id}_item"), call(attribute(name(owner.id), "pop"), *args))

    def is_part(self, place: Node) -> bool:
        """Say whether a place is the real or the imaginary part of an array."""
        if not isinstance(place, gast.Attribute) or place.attr not in ("real", "imag"):
            return False
        owner = self.kinds.of.get(place.value, K.UNKNOWN)
        return isinstance(place.value, gast.Name) and isinstance(owner, K.Array)

    def into_part(self, s: Node, place: Node) -> Block:
        part = self.fresh(f"{place.value.id}_{place.attr}")
        read = clone(place)
        read.ctx = gast.Load()
        whole = gast.Subscript(name(part), gast.Constant(Ellipsis, None), gast.Store())
        if isinstance(s, gast.Assign):
            return [assign(part, read), gast.Assign([whole], s.value, None)]
        return [assign(part, read), gast.AugAssign(whole, s.op, s.value)]

    def augmented(self, s: Node) -> Block:
        place = s.target
        owner = self.kinds.of.get(place.value, K.UNKNOWN)
        if self.is_part(place):
            return self.into_part(s, place)
        if not K.is_container(owner) or not isinstance(place.value, gast.Name):
            return [s]
        if isinstance(getattr(place, "slice", None), gast.Slice):
            return [s]
        kind = self.kinds.of.get(place, K.UNKNOWN)
        old = self.fresh(f"{place.value.id}_item")
        read = clone(place)
        read.ctx = gast.Load()
        if isinstance(kind, K.Array):
            whole = gast.Subscript(name(old), gast.Constant(Ellipsis, None), gast.Store())
            return [assign(old, read), gast.AugAssign(whole, s.op, s.value)]
        if not isinstance(kind, K.Num | K.Str | K.Tuple):
            return [s]
        new = self.fresh("t")
        operation = gast.BinOp(name(old), s.op, s.value)
        return [assign(old, read), assign(new, operation), gast.Assign([place], name(new), None)]

    def extended(self, s: Node, owner: str, value: Node) -> Block:
        """Extending a list by a display is appending its items."""
        if not isinstance(value, gast.Name) or value.id not in self.displays:
            return [s]
        items = self.displays[value.id]
        return [gast.Expr(call(attribute(name(owner), "append"), clone(v))) for v in items]


def displays(function: Function) -> dict[str, Block]:
    """Return the temporaries that hold a list written out, whose items are bound only once."""
    found: dict[str, Block] = {}
    for s in all_inside(function.node.body):
        if isinstance(s, gast.Assign) and isinstance(s.value, gast.List):
            target = s.targets[0]
            if isinstance(target, gast.Name) and target.id in function.temps:
                if all(isinstance(e, gast.Constant | gast.Name) for e in s.value.elts):
                    found[target.id] = s.value.elts
    if not found:
        return {}
    counts = count_writes(function.node.body)
    filled = {owner_of(n) for s in function.node.body for n in walk(s)}
    return {n: items for n, items in found.items() if n not in filled and counts.get(n) == 1}


def owner_of(node: Node) -> str | None:
    """Return the variable of which a node calls a method, or writes a part."""
    place = node.func if isinstance(node, gast.Call) else node
    if not isinstance(place, gast.Attribute | gast.Subscript):
        return None
    if place is node and isinstance(node.ctx, gast.Load):
        return None
    return place.value.id if isinstance(place.value, gast.Name) else None


def undecided(function: Function, kinds: KindFacts) -> frozenset[str]:
    """Return the variables that are augmented where they may be a number or an array."""
    return frozenset(
        s.target.id
        for s in all_inside(function.node.body)
        if isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Name)
        if isinstance(kinds.of.get(s.target), K.Union)
    )


def _block(function: Function, block: Block, kinds: KindFacts, unsure: frozenset[str]) -> bool:
    changed = False
    for s in block:
        if isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Name):
            if isinstance(kinds.of.get(s.target), K.Array) and s.target.id not in unsure:
                owner = locate(name(s.target.id), s.target)
                whole = gast.Subscript(owner, gast.Constant(Ellipsis, None), gast.Store())
                s.target = locate(whole, s.target)
                changed = True
        for part in blocks_of(s):
            changed = _block(function, part, kinds, unsure) or changed
        if isinstance(s, gast.For) and changed:
            _one_name(function, s)
    return changed


def _one_name(function: Function, loop: Node) -> None:
    """Let a loop bind a variable itself where the body does not bind it any more."""
    for first in list(loop.body):
        if not isinstance(first, gast.Assign) or not isinstance(first.value, gast.Name):
            return
        item, target = first.value.id, first.targets[0]
        if not isinstance(target, gast.Name) or item not in function.temps:
            return
        rest = [s for s in loop.body if s is not first]
        if item not in names_written(loop.target) or target.id in block_writes(rest):
            return
        loop.body.remove(first)
        table = {item: target.id}
        plan = function.loops[loop]
        for node in [loop.target, *plan.bindings, *rest]:
            rename(node, table)
        loops: Any = function.loops
        loops[loop] = dataclasses.replace(plan)
