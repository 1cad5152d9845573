"""Copies of structures, as the plain displays that they are equal to.

q = copy.copy(p)        ->   x = p.x
                             q = object_of(Point, x=x)
q = copy.deepcopy(p)    ->   x = p.x
                             x_copy = np.copy(x)
                             q = object_of(Point, x=x_copy)
ys = copy.copy(xs)      ->   ys = xs[:]
d = dict.fromkeys(p)    ->   d = {"a": None, "b": None}
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import runtime
from s2sad.facts.members import copied_plainly
from s2sad.facts.rewrite import NumPy, Rewriter
from s2sad.nodes import Block, Node, attribute, clone, constant, name, subscript
from s2sad.spelled import paths
from s2sad.stages import Function, KindFacts

_DEEP = 4


def copies(
    function: Function,
    kinds: KindFacts,
    taken: set[str],
    numpy: NumPy,
    helper: Callable[[Any], str],
) -> Function | None:
    """Return the function with copies written out, None where there are none."""
    return _Copies(function, kinds, taken, numpy, helper).rewritten()


class _Copies(Rewriter):
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

    def statement(self, s: Node) -> Block | None:
        value = getattr(s, "value", None)
        if not isinstance(s, gast.Assign) or not isinstance(value, gast.Call):
            return None
        fn = self.kinds.objects.get(value.func)
        if fn == dict.fromkeys:
            made = self._filled(value)
            return None if made is None else [gast.Assign(s.targets, made, None)]
        if fn is not copy.copy and fn is not copy.deepcopy:
            return None
        if len(value.args) != 1 or value.keywords or not isinstance(value.args[0], gast.Name):
            return None
        made_ = self._copied(value.args[0], self.kind(value.args[0]), fn is copy.deepcopy, 0)
        if made_ is None:
            return None
        lines, result = made_
        return [*lines, gast.Assign(s.targets, result, None)]

    def _filled(self, node: Node) -> Node | None:
        """Return the display of a dict with the keys of another, and one value for all of them."""
        keys = self.kind(node.args[0]) if node.args else None
        if not isinstance(keys, K.Dict) or len(node.args) > 2 or node.keywords:
            return None
        value = node.args[1] if len(node.args) == 2 else gast.Constant(None, None)
        words = [key for key, _ in keys.items]
        if not isinstance(value, gast.Name | gast.Constant) or not all(map(_is_literal, words)):
            return None
        return gast.Dict([constant(key) for key in words], [clone(value) for _ in words])

    def _copied(
        self, node: Node, kind: K.Kind, deep: bool, depth: int
    ) -> tuple[Block, Node] | None:
        """Return an expression for a copy, and what computes its parts; None where it is other."""
        if K.shares_nothing(kind) and not isinstance(kind, K.Tuple | K.Union):
            return [], clone(node)
        if isinstance(kind, K.Array) and kind.namespace == "numpy":
            return [], gast.Call(attribute(name(self.numpy()), "copy"), [clone(node)], [])
        if isinstance(kind, K.List):
            flat = K.shares_nothing(kind.item) and not isinstance(kind.item, K.Unbound)
            whole = subscript(clone(node), gast.Slice(None, None, None))
            return ([], whole) if flat or not deep else None
        if isinstance(kind, K.Dict | K.OpenDict):
            parts = [k for _, k in kind.items] if isinstance(kind, K.Dict) else [kind.item]
            flat = all(map(K.shares_nothing, parts))
            return ([], gast.Dict([None], [clone(node)])) if flat or not deep else None
        if not isinstance(kind, K.Obj) or not copied_plainly(kind) or depth > _DEEP:
            return None
        lines: Block = []
        keywords: list[Node] = []
        for field, part in kind.fields:
            lines += self.lines("part = v", v=attribute(clone(node), field))
            held = name(lines[-1].targets[0].id)
            if deep:
                inner = self._copied(held, part, deep, depth + 1)
                if inner is None:
                    return None
                lines += inner[0]
                lines += self.lines("part = v", v=inner[1])
                held = name(lines[-1].targets[0].id)
            keywords.append(gast.keyword(field, held))
        cls = next(paths(self.function, kind.cls), None)
        if cls is None or isinstance(cls, gast.Subscript):
            lines += self.lines("cls = type(v)", v=node)
            cls = name(lines[-1].targets[0].id)
        return lines, gast.Call(name(self.helper(runtime.object_of)), [cls], keywords)


def _is_literal(key: object) -> bool:
    return isinstance(key, str | int | float | bool)
