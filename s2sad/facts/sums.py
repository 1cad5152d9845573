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
from s2sad.known.built import display, read
from s2sad.nodes import Block, Node, binary, clone, name
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
        pairs = K.paired(left, right)
        plain = isinstance(left, K.Obj | K.Dict) or (isinstance(left, K.Tuple) and not left.cls)
        if pairs is None or not plain or not all(isinstance(s, str | int) for s in left.steps):
            return None
        lines: Block = []
        if isinstance(left, K.Obj):
            lines = self.lines("cls = type(v)", v=clone(a))
        cls = name(lines[-1].targets[0].id) if lines else None
        sums: list[Node] = []
        for part, pair in zip(left.parts, pairs, strict=True):
            found = self._part([read(whole, part) for whole in (a, b)], *pair, depth)
            if found is None:
                return None
            lines += found[0]
            sums.append(found[1])
        if cls is None:
            return lines, display(left, sums)
        fields = [gast.keyword(f, total) for f, total in zip(left.steps, sums, strict=True)]
        return lines, gast.Call(name(self.helper(runtime.object_of)), [cls], fields)

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
