"""Sums of derivatives that are structures, as displays: what derived text leaves to a helper.

t = add(a, b)    ->    p = a["w"];  q = b["w"];  s = p + q
                       t = {"w": s}
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import runtime
from s2sad.facts.rewrite import HelpedRewriter
from s2sad.kinds import Kind
from s2sad.nodes import Block, Node, attribute, binary, clone, constant, name, subscript
from s2sad.stages import Function, KindFacts

_DEEP = 4
Found = tuple[Block, Node]


def sums(
    function: Function,
    kinds: KindFacts,
    taken: set[str],
    numpy: Any,
    helper: Callable[[Any], str],
) -> Function | None:
    """Return the function with sums of structures written out, None where there are none."""
    return _Sums(function, kinds, taken, numpy, helper).rewritten()


class _Sums(HelpedRewriter):
    def statement(self, s: Node) -> Block | None:
        value = getattr(s, "value", None)
        if not isinstance(s, gast.Assign) or not isinstance(value, gast.Call):
            return None
        if self.kinds.objects.get(value.func) is not runtime.add or len(value.args) != 2:
            return None
        a, b = value.args
        if not isinstance(a, gast.Name) or not isinstance(b, gast.Name):
            return None
        found = self._sum(a, b, self.kind(a), self.kind(b), 0)
        if found is None:
            return None
        return [*found[0], gast.Assign(s.targets, found[1], None)]

    def _sum(self, a: Node, b: Node, left: Kind, right: Kind, depth: int) -> Found | None:
        """Return what computes a sum, and an expression for it; None where it is not known how."""
        if isinstance(left, K.NoneKind) or isinstance(right, K.NoneKind):
            return [], clone(b if isinstance(left, K.NoneKind) else a)
        if K.is_numeric(left) and K.is_numeric(right):
            return [], binary(clone(a), gast.Add, clone(b))
        if depth > _DEEP:
            return None
        if isinstance(left, K.Dict) and isinstance(right, K.Dict):
            mine, theirs = dict(left.items), dict(right.items)
            if mine.keys() != theirs.keys() or not all(isinstance(k, str | int) for k in mine):
                return None
            found = [self._item(a, b, k, mine[k], theirs[k], depth) for k in mine]
            keys: list[Node] = [constant(k) for k in mine]
            return self._display(found, lambda parts: gast.Dict(keys, parts))
        if isinstance(left, K.Tuple) and isinstance(right, K.Tuple):
            if left.cls is not None or right.cls is not None or len(left.items) != len(right.items):
                return None
            pairs = enumerate(zip(left.items, right.items, strict=True))
            found = [self._item(a, b, i, p, q, depth) for i, (p, q) in pairs]
            return self._display(found, lambda parts: gast.Tuple(parts, gast.Load()))
        if isinstance(left, K.Obj) and isinstance(right, K.Obj) and left.cls is right.cls:
            return self._objects(a, b, left, right, depth)
        return None

    def _objects(self, a: Node, b: Node, left: K.Obj, right: K.Obj, depth: int) -> Found | None:
        """Return an object like both, whose attributes are sums of theirs."""
        mine, theirs = dict(left.fields), dict(right.fields)
        if mine.keys() != theirs.keys():
            return None
        found = []
        for f in mine:
            places = [attribute(clone(whole), f) for whole in (a, b)]
            found.append(self._part(places, mine[f], theirs[f], depth))
        lines = self.lines("cls = type(v)", v=clone(a))
        cls, helper = lines[-1].targets[0].id, self.helper(runtime.object_of)

        def made(parts: list[Node]) -> Node:
            keywords = [gast.keyword(f, part) for f, part in zip(mine, parts, strict=True)]
            return gast.Call(name(helper), [name(cls)], keywords)

        return self._display([(lines, name(cls)), *found], lambda parts: made(parts[1:]))

    def _item(
        self, a: Node, b: Node, step: Any, left: Kind, right: Kind, depth: int
    ) -> Found | None:
        places = [subscript(clone(whole), constant(step)) for whole in (a, b)]
        return self._part(places, left, right, depth)

    def _part(self, places: list[Node], left: Kind, right: Kind, depth: int) -> Found | None:
        """Return the sum of what stands at two places, by a name."""
        lines: Block = []
        held: list[Node] = []
        for place in places:
            lines += self.lines("part = v", v=place)
            held.append(name(lines[-1].targets[0].id))
        found = self._sum(held[0], held[1], left, right, depth + 1)
        if found is None:
            return None
        lines += [*found[0], *self.lines("total = v", v=found[1])]
        return lines, name(lines[-1].targets[0].id)

    def _display(self, found: list[Found | None], make: Any) -> Found | None:
        known = [f for f in found if f is not None]
        if len(known) != len(found):
            return None
        return [line for lines, _ in known for line in lines], make([part for _, part in known])
