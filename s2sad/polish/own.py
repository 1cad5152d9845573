"""Who owns an array: what is changed in place or returned shares memory with nothing else.

x_bar = y                 x_bar = y.copy()        (y is the caller's, x_bar is returned)
x_bar = x_bar + e    ->   x_bar += e              (x_bar was made here and has no other name)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad import runtime
from s2sad.kinds import Kind
from s2sad.known.callees import Callees
from s2sad.nodes import (
    Block,
    Node,
    assign,
    attribute,
    blocks_of,
    call,
    clone,
    name,
    walk,
)
from s2sad.polish.effects import mutated_by, root


def own(
    block: Block,
    bars: Mapping[str, Kind],
    returned: set[str],
    fresh_calls: set[str],
    callees: Callees,
    shadows: frozenset[str] = frozenset(),
    moved: frozenset[str] = frozenset(),
) -> Block:
    """Return a block in which cotangents that are changed or returned own their memory.

    `shadows` are parts of cotangents: what is put into them is owned like what is returned.
    `moved` are shadows that own theirs and hand it on: `un_bar = u_bar` takes it over.
    `fresh_calls` are functions of the text that give new memory; `callees` tells of all others.
    """
    worker = _Owner(bars, fresh_calls, callees, shadows, returned, moved)
    worker.survey(block)
    worker.fill(block, block)
    need = {n for n in returned if n in bars} | worker.mutated | (moved & set(bars))
    worker.claim(block, need)
    worker.accumulate(block)
    return block


class _Owner:
    def __init__(
        self,
        bars: Mapping[str, Kind],
        fresh_calls: set[str],
        callees: Callees,
        shadows: frozenset[str],
        returned: set[str],
        moved: frozenset[str],
    ) -> None:
        self.callees = callees
        self.moved = moved
        self.returned = returned
        self.bars = bars
        self.shadows = shadows
        self.fresh_calls = fresh_calls
        self.mutated: set[str] = set()
        self.names: Counter[str] = Counter()
        self.loose: set[str] = set()

    def survey(self, block: Block) -> None:
        """Find which cotangents are changed in place, have other names, or are no new arrays."""
        for s in block:
            if isinstance(s, gast.AugAssign):
                if not isinstance(s.target, gast.Name):
                    self.mutated.add(root(s.target))
            elif isinstance(s, gast.Assign):
                self._assignment(s)
            elif isinstance(s, gast.Expr) and isinstance(s.value, gast.Call):
                owner = mutated_by(s.value)
                if owner is not None:
                    self.mutated.add(owner)
            parts = blocks_of(s)
            for n in walk(s) if not parts else ():
                if type(n) is gast.Call:
                    owner = mutated_by(n)
                    if owner is not None:
                        self.mutated.add(owner)
            for part in parts:
                self.survey(part)

    def _assignment(self, s: Node) -> None:
        if self._is_move(s):
            return
        for target in s.targets:
            if isinstance(target, gast.Name):
                if target.id in self.bars and not self.fresh(s.value):
                    self.loose.add(target.id)
                    if not isinstance(self.bars[target.id], K.Num):
                        self.names.update(self._aliased(s.value))
                elif target.id not in self.bars:
                    self.names.update(self._aliased(s.value))
            elif isinstance(target, gast.Tuple):
                self.names.update(self._aliased(s.value))
                if not self._fresh_call(s.value):
                    self.loose |= {e.id for e in target.elts if isinstance(e, gast.Name)}
            else:
                self.mutated.add(root(target))
                self.names.update(self._aliased(s.value))

    def _aliased(self, node: Node) -> set[str]:
        return set() if self._fresh_call(node) else shared_by(node, self.callees)

    def _is_move(self, s: Node) -> bool:
        """Say whether a shadow takes over the memory of another."""
        target = s.targets[0]
        return (
            isinstance(target, gast.Name)
            and target.id in self.moved
            and isinstance(s.value, gast.Name)
            and s.value.id in self.moved
        )

    def _fresh_call(self, node: Node) -> bool:
        return (
            isinstance(node, gast.Call)
            and isinstance(node.func, gast.Name)
            and node.func.id in self.fresh_calls
        )

    def fresh(self, node: Node) -> bool:
        """Say whether an expression makes a value that nothing else has."""
        if isinstance(node, gast.ListComp):
            return True
        known = self._fresh_call(node) or self.callees.is_call(node, list, float)
        return known or self.callees.is_new(node)

    def fill(self, block: Block, whole: Block) -> None:
        """Copy what is put into a part of a cotangent, unless nothing else has it."""
        for position, s in enumerate(block):
            for part in blocks_of(s):
                self.fill(part, whole)
            if not isinstance(s, gast.Assign) or isinstance(s.value, gast.Tuple | gast.List):
                continue
            place = s.targets[0]
            if not isinstance(place, gast.Subscript | gast.Attribute):
                continue
            if root(place) not in self.bars and root(place) not in self.shadows:
                continue
            if any(isinstance(self.callees.kind(n), K.Num) for n in (place, s.value)):
                continue
            if self.callees.is_call(s.value, runtime.shadow_of):
                continue  # a shadow that is looked up: the memory itself is wanted
            if not self.fresh(s.value) and not self._taken_over(s.value, block[:position], whole):
                s.value = _broadcast(s.value, self.callees) or call(attribute(s.value, "copy"))

    def _taken_over(self, value: Node, before: Block, whole: Block) -> bool:
        """Say whether a value is a new array that may go on living as a part of a cotangent.

        It has no other name, and nobody changes it later: what is read behind stays what it was.
        """
        if not isinstance(value, gast.Name) or value.id in self.loose:
            return False
        taken = value.id
        if taken in self.returned or any(_hands_on(s, taken) for s in whole):
            return False
        made = [i for i, s in enumerate(before) if _makes(s, taken)]
        if not made or self.names[taken] != 1:
            return False
        used = sum(_occurs(s, taken) for s in before[made[-1] :]) + 1
        if used == sum(_occurs(s, taken) for s in whole):
            return True
        return taken not in self.mutated and not _adds_to_parts(whole)

    def claim(self, block: Block, need: set[str]) -> None:
        """Copy what a cotangent that must be owned would otherwise share."""
        position = 0
        while position < len(block):
            s = block[position]
            for part in blocks_of(s):
                self.claim(part, need)
            if isinstance(s, gast.Assign):
                target = s.targets[0]
                if isinstance(target, gast.Name):
                    self._claim_one(s, target.id, need)
                elif isinstance(target, gast.Tuple) and not self._fresh_call(s.value):
                    extra = [
                        assign(e.id, self._copy(name(e.id), self.bars[e.id]))
                        for e in target.elts
                        if isinstance(e, gast.Name) and e.id in need and self._is_memory(e.id)
                    ]
                    block[position + 1 : position + 1] = extra
                    position += len(extra)
            position += 1

    def _claim_parts(self, s: Node, target: str) -> None:
        """The arrays in a tuple that is returned are new ones too."""
        kind = self.bars.get(target)
        if not isinstance(kind, K.Tuple) or not isinstance(s.value, gast.Tuple):
            return
        for i, (part, item) in enumerate(zip(s.value.elts, kind.items, strict=False)):
            if K.may_be_array(item) and not self.fresh(part):
                s.value.elts[i] = self._copy(part, item)

    def _claim_one(self, s: Node, target: str, need: set[str]) -> None:
        if self._is_move(s):
            return
        if target in need:
            self._claim_parts(s, target)
        if target in need and self._is_memory(target) and not self._owns(s.value, target):
            s.value = self._copy(s.value, self.bars[target])
            return
        taken = self._aliased(s.value) & self.mutated & set(self.bars)
        if taken and target in self.bars and self._is_memory(target):
            s.value = self._copy(s.value, self.bars[target])

    def _owns(self, value: Node, target: str) -> bool:
        """Say whether a cotangent is a new value; of a list of arrays its arrays are new, too."""
        if not self.fresh(value):
            return False
        listed = self.callees.is_call(value, list)
        return not listed or not _holds_arrays(self.bars[target]) or self.fresh(value.args[0])

    def _is_memory(self, bar: str) -> bool:
        kind = self.bars.get(bar)
        return kind is not None and (isinstance(kind, K.List) or K.may_be_array(kind))

    def _copy(self, node: Node, kind: Kind) -> Node:
        if isinstance(kind, K.List):
            listed = self.callees.is_call(node, list)
            given = node.args[0] if listed else node
            if not _holds_arrays(kind):
                return call("list", node)
            if self._is_array(given):
                return call("list", call(attribute(given, "copy")))
            part = gast.Name("part", gast.Store(), None, None)
            turn = gast.comprehension(part, given, [], 0)
            return gast.ListComp(call(attribute(name("part"), "copy")), [turn])
        if isinstance(kind, K.Union) or (isinstance(kind, K.Array) and not kind.rank):
            return gast.UnaryOp(gast.UAdd(), node)
        parts = _broadcast(node, self.callees)
        if parts is not None:
            return parts
        return call(attribute(node, "copy"))

    def _is_array(self, node: Node) -> bool:
        """Say whether what a list is made of is an array: the items are its rows."""
        if isinstance(node, gast.Name):
            return isinstance(self.bars.get(node.id), K.Array)
        spread = self.callees.is_call(node, np.broadcast_to)
        return spread or self.callees.shown(node) is not None

    def accumulate(self, block: Block) -> None:
        """Add in place where the array is ours alone."""
        for position, s in enumerate(block):
            for part in blocks_of(s):
                self.accumulate(part)
            if not isinstance(s, gast.Assign) or not isinstance(s.targets[0], gast.Name):
                continue
            target, value = s.targets[0].id, s.value
            if target in self.loose or self.names[target]:
                continue
            if not isinstance(self.bars.get(target), K.Array):
                continue
            folded = _augmentation(target, value)
            if folded is not None:
                block[position] = folded


def _holds_arrays(kind: Kind) -> bool:
    return isinstance(kind, K.List) and isinstance(kind.item, K.Array)


def _augmentation(target: str, value: Node) -> Node | None:
    """Turn `x_bar + a - b` into `x_bar += a - b`, where x_bar comes first."""
    chain = []
    node = value
    while isinstance(node, gast.BinOp) and isinstance(node.op, gast.Add | gast.Sub):
        chain.append(node)
        node = node.left
    if not chain or not (isinstance(node, gast.Name) and node.id == target):
        return None
    if any(target in {n.id for n in walk(c.right) if isinstance(n, gast.Name)} for c in chain):
        return None
    first = chain[-1]
    rest = first.right
    for link in reversed(chain[:-1]):
        op: Any = link.op
        if isinstance(first.op, gast.Sub):
            op = gast.Add() if isinstance(link.op, gast.Sub) else gast.Sub()
        rest = gast.BinOp(rest, op, link.right)
    place = gast.Name(target, gast.Store(), None, None)
    return gast.AugAssign(place, first.op, rest)


def _hands_on(s: Node, wanted: str) -> bool:
    """Say whether a statement returns a name or gives it to something that may keep it."""
    if isinstance(s, gast.Return):
        return bool(_occurs(s, wanted))
    if isinstance(s, gast.Expr):
        known = isinstance(s.value, gast.Call) and mutated_by(s.value) == wanted
        return bool(_occurs(s, wanted)) and not known
    return any(_hands_on(inner, wanted) for part in blocks_of(s) for inner in part)


def _makes(s: Node, wanted: str) -> bool:
    return isinstance(s, gast.Assign) and any(
        isinstance(n, gast.Name) and n.id == wanted
        for target in s.targets
        for n in (target.elts if isinstance(target, gast.Tuple) else [target])
    )


def _adds_to_parts(block: Block) -> bool:
    return any(
        isinstance(n, gast.AugAssign) and not isinstance(n.target, gast.Name)
        for s in block
        for n in walk(s)
    )


def _occurs(s: Node, wanted: str) -> int:
    return sum(isinstance(n, gast.Name) and n.id == wanted for n in walk(s))


def shared_by(node: Node, callees: Callees) -> set[str]:
    """Return the names whose memory an expression's value may share."""
    if isinstance(node, gast.Name):
        return {node.id}
    if isinstance(node, gast.Subscript | gast.Attribute | gast.Starred):
        return shared_by(node.value, callees)
    parts: list[Node] = []
    if isinstance(node, gast.Tuple | gast.List):
        parts = node.elts
    elif isinstance(node, gast.Dict):
        parts = node.values
    elif isinstance(node, gast.IfExp):
        parts = [node.body, node.orelse]
    elif isinstance(node, gast.Call) and not callees.is_new(node):
        owner = [node.func.value] if isinstance(node.func, gast.Attribute) else []
        parts = [*node.args, *(k.value for k in node.keywords), *owner]
    return set().union(*(shared_by(part, callees) for part in parts), set())


def _broadcast(node: Node, callees: Callees) -> Node | None:
    """np.broadcast_to(s, x.shape) becomes a new array: np.full_like(x, s) for a scalar s."""
    if callees.is_call(node, np.broadcast_to) and len(node.args) == 2:
        shape = node.args[1]
        if isinstance(shape, gast.Attribute) and shape.attr == "shape":
            full = gast.Attribute(clone(node.func.value), "full_like", gast.Load())
            return gast.Call(full, [shape.value, node.args[0]], [])
    return None
