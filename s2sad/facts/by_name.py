"""Attributes that are asked for by a name that the program says, as what they are.

    y = getattr(v, "x")                          ->   y = v.x
    y = getattr(v, "x", 1.0)                     ->   y = v.x, or y = 1.0 where v has no x
    setattr(v, "x", y)                           ->   v.x = y

    for n in ("x", "y"):                         ->   n = "x"
        s += getattr(v, n) ** 2                       s += v.x ** 2
                                                      n = "y"
                                                      s += v.y ** 2

What such a loop does with each name depends on the kind of what has that name.
"""

from __future__ import annotations

import inspect
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.facts.rewrite import NumPy, Rewriter
from s2sad.nodes import (
    SCOPES,
    Block,
    Node,
    all_inside,
    assign,
    block_writes,
    clone,
    constant,
    locate,
    substitute,
    walk,
)
from s2sad.stages import Function, KindFacts

_ASKING = (getattr, setattr, hasattr, delattr)
_MANY = 16


def by_name(function: Function, kinds: KindFacts, taken: set[str], numpy: NumPy) -> Function | None:
    """Return the function with attributes written out, None where none is asked for by name."""
    return _ByName(function, kinds, taken, numpy).rewritten()


class _ByName(Rewriter):
    def block(self, body: Block) -> Block:
        """Write loops over names out, then the attributes that single statements ask for."""
        out: Block = []
        for s in body:
            lines = self._each_name(s) if isinstance(s, gast.For) else None
            self.changed |= lines is not None
            out += [s] if lines is None else lines
        return super().block(out)

    def statement(self, s: Node) -> Block | None:
        value = getattr(s, "value", None)
        if not isinstance(value, gast.Call) or value.keywords:
            return None
        fn = self.kinds.objects.get(value.func)
        if not any(fn is f for f in _ASKING) or len(value.args) < 2:
            return None
        owner, word = value.args[0], self._word(value.args[1])
        if word is None or not isinstance(owner, gast.Name):
            return None
        if isinstance(s, gast.Expr):
            return self._done(fn, owner, word, value.args[2:])
        read = gast.Attribute(clone(owner), word, gast.Load())
        if fn is getattr and len(value.args) == 3:
            has = self._has(owner, word)
            if has is None:
                return None
            return [gast.Assign(s.targets, read if has else clone(value.args[2]), None)]
        return [gast.Assign(s.targets, read, None)] if fn is getattr else None

    def _done(self, fn: Any, owner: Node, word: str, rest: Block) -> Block | None:
        if fn is setattr and len(rest) == 1:
            place = gast.Attribute(clone(owner), word, gast.Store())
            return [gast.Assign([place], clone(rest[0]), None)]
        if fn is delattr and not rest:
            return [gast.Delete([gast.Attribute(clone(owner), word, gast.Del())])]
        return None

    def _word(self, node: Node) -> str | None:
        """Return the name that an argument surely is; one that a class would mangle is none."""
        word = getattr(self.kind(node), "value", None)
        plain = isinstance(word, str) and word.isidentifier() and not word.startswith("__")
        return word if plain else None

    def _has(self, owner: Node, word: str) -> bool | None:
        kind = self.kind(owner)
        if not isinstance(kind, K.Obj):
            return None
        if inspect.getattr_static(kind.cls, "__getattr__", None) is not None:
            return None
        static = inspect.getattr_static(kind.cls, word, None)
        return word in dict(kind.fields) or static is not None

    # loops

    def _each_name(self, s: Node) -> Block | None:
        """Return what a loop over names does, turn by turn; None where it is another loop."""
        plan = self.function.loops.get(s)
        if plan is None or plan.bounds is None or s.orelse or not self._asks(s):
            return None
        count = self._turns(s.iter)
        strange = (gast.Break, gast.Continue, *SCOPES)
        leaves = any(isinstance(n, strange) for inner in s.body for n in walk(inner))
        targets = {t.id for b in plan.bindings for t in b.targets if isinstance(t, gast.Name)}
        if count is None or leaves or block_writes(s.body) & {*targets, plan.index}:
            return None
        lines: Block = []
        for turn in range(count):
            known: dict[str, Node] = {plan.index: constant(turn)}
            if isinstance(s.target, gast.Name) and plan.index == s.target.id:
                lines.append(assign(plan.index, constant(turn)))
            for b in plan.bindings:
                line = substitute(clone(b), {plan.index: constant(turn)})
                word = self._item(b.value, turn)
                if word is not None:
                    line.value = gast.Constant(word, None)
                    known[b.targets[0].id] = line.value
                lines.append(line)
            again = [substitute(clone(inner), known) for inner in s.body]
            for new, old in zip(all_inside(again), all_inside(s.body), strict=True):
                self.origins[new] = self.origins.get(old, self.origins.get(s, s))
                if old in self.function.loops:
                    loops: Any = self.function.loops
                    loops[new] = self.function.loops[old]
            lines += again
        for line in lines:
            if line not in self.origins:
                self.origins[line] = self.origins.get(s, s)
                for n in walk(line):
                    locate(n, s)
        return lines

    def _asks(self, s: Node) -> bool:
        """Say whether the body of a loop asks for attributes by what its header binds."""
        plan = self.function.loops[s]
        bound = {t.id for b in plan.bindings for t in b.targets if isinstance(t, gast.Name)}
        calls = [n for inner in s.body for n in walk(inner) if isinstance(n, gast.Call)]
        for n in calls:
            fn = self.kinds.objects.get(n.func)
            if any(fn is f for f in _ASKING) and len(n.args) > 1:
                if getattr(n.args[1], "id", None) in bound:
                    return True
        return False

    def _turns(self, node: Node) -> int | None:
        """Return how often a loop runs, where the program says so."""
        if isinstance(node, gast.Call):
            if getattr(node.func, "id", "") not in ("zip", "enumerate") or node.keywords:
                return None
            counts = [self._turns(a) for a in node.args]
            known = [c for c in counts if c is not None]
            return min(known) if known and len(known) == len(counts) else None
        kind = self.kind(node)
        if isinstance(kind, K.Tuple) and len(kind.items) <= _MANY:
            return len(kind.items)
        if isinstance(kind, K.List) and kind.length is not None and kind.length <= _MANY:
            return kind.length
        return None

    def _item(self, node: Node, turn: int) -> str | None:
        """Return the name that a turn of a loop binds to, if it is one."""
        if not isinstance(node, gast.Subscript) or not isinstance(node.slice, gast.Name):
            return None
        kind = self.kind(node.value)
        items = kind.items if isinstance(kind, K.Tuple | K.List) else None
        found = getattr(items[turn], "value", None) if items and turn < len(items) else None
        return found if isinstance(found, str) else None
