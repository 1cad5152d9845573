"""Copies of structures, as the plain displays that they are equal to.

q = copy.copy(p)        ->   x = p.x
                             q = object_of(Point, x=x)
q = copy.deepcopy(p)    ->   x = p.x
                             x_copy = np.copy(x)
                             q = object_of(Point, x=x_copy)
ys = copy.copy(xs)      ->   ys = xs[:]
d = dict.fromkeys(p)    ->   d = {"a": None, "b": None}
n = SimpleNamespace(a=x)     n = object_of(SimpleNamespace, a=x)

In derived text helpers make such copies: private(p), and unshared(p, ...), which looks whether
memory stands twice in p first. For owned(p, ...), which copies what is written, a whole copy will
do. What stands for deepcopy looks too: its copies would be one.
"""

from __future__ import annotations

import copy
import types
from collections.abc import Callable
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import runtime
from s2sad.emitted.owned import owned
from s2sad.facts.members import copied_plainly
from s2sad.facts.rewrite import HelpedRewriter, NumPy
from s2sad.known.built import read
from s2sad.nodes import (
    Block,
    Node,
    assign,
    attribute,
    call,
    clone,
    constant,
    name,
    store,
    subscript,
)
from s2sad.stages import Function, KindFacts, Loop

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


class _Copies(HelpedRewriter):
    def statement(self, s: Node) -> Block | None:
        value = getattr(s, "value", None)
        if not isinstance(s, gast.Assign) or not isinstance(value, gast.Call):
            return None
        fn = self.kinds.objects.get(value.func)
        if fn == dict.fromkeys:
            made = self._filled(value)
            return None if made is None else [gast.Assign(s.targets, made, None)]
        if fn is types.SimpleNamespace and not value.args and all(k.arg for k in value.keywords):
            made = name(self.helper(runtime.object_of))
            return [gast.Assign(s.targets, gast.Call(made, [value.func], value.keywords), None)]
        how = next((how for helper, how in _COPYING if fn is helper), None)
        if (
            how is None
            or value.keywords
            or not all(isinstance(a, gast.Name) for a in value.args[:1])
        ):
            return None
        if not value.args or (len(value.args) > 1 and not _looks(fn)):
            return None
        found = self._copied(value.args[0], self.kind(value.args[0]), how, 0)
        if found is None:
            return None
        lines, result = found
        whole = self.kind(value.args[0])
        if _looks(fn) or (fn is copy.deepcopy and _memories(whole) > 2):
            look = gast.Call(name(self.helper(runtime.refuse_twice)), value.args, [])
            lines = [gast.Expr(look), *lines]
        return [*lines, gast.Assign(s.targets, result, None)]

    def _filled(self, node: Node) -> Node | None:
        """Return the display of a dict with the keys of another, and one value for all of them."""
        keys = self.kind(node.args[0]) if node.args else None
        if not isinstance(keys, K.Dict) or len(node.args) > 2 or node.keywords:
            return None
        value = node.args[1] if len(node.args) == 2 else gast.Constant(None, None)
        words = keys.steps
        if not isinstance(value, gast.Name | gast.Constant) or not all(map(_is_literal, words)):
            return None
        return gast.Dict([constant(key) for key in words], [clone(value) for _ in words])

    def _copied(self, node: Node, kind: K.Kind, how: str, depth: int) -> tuple[Block, Node] | None:
        """Return an expression for a copy, and what computes its parts; None where it is other."""
        if K.shares_nothing(kind) and not isinstance(kind, K.Tuple | K.Union):
            return [], clone(node)
        if isinstance(kind, K.Array) and kind.namespace == "numpy":
            return [], gast.Call(attribute(name(self.numpy()), "copy"), [clone(node)], [])
        if depth > _DEEP:
            return None
        if isinstance(kind, K.List):
            flat = K.shares_nothing(kind.item) and not isinstance(kind.item, K.Unbound)
            if flat or how == "shallow":
                return [], subscript(clone(node), gast.Slice(None, None, None))
            return self._each(node, kind, depth) if how == "apart" else None
        if isinstance(kind, K.AnyDict):
            if all(map(K.shares_nothing, kind.inside)) or how == "shallow":
                return [], gast.Dict([None], [clone(node)])
        if isinstance(kind, K.OpenDict) and how == "apart":
            return self._each(node, kind, depth)
        if isinstance(kind, K.Obj):
            plain = copied_plainly(kind)
        else:
            plain = how == "apart" and kind.structure and getattr(kind, "cls", None) is None
        found = self._parts(node, kind, how, depth) if plain else None
        if found is None:
            return None
        lines, held = found
        more, made = self.display(kind, node, held)
        return [*lines, *more], made

    def _parts(
        self, node: Node, kind: K.Kind, how: str, depth: int
    ) -> tuple[Block, list[Node]] | None:
        """Return the parts of a structure, or copies of them, by names, and what computes them."""
        lines: Block = []
        held: list[Node] = []
        if not all(map(_is_literal, kind.steps)):
            return None
        for there in kind.parts:
            lines += self.lines("part = v", v=read(node, there))
            part = name(lines[-1].targets[0].id)
            if how != "shallow":
                inner = self._copied(part, there.kind, how, depth + 1)
                if inner is None:
                    return None
                lines += inner[0]
                lines += self.lines("part = v", v=inner[1])
                part = name(lines[-1].targets[0].id)
            held.append(part)
        return lines, held

    def _each(self, node: Node, kind: K.List | K.OpenDict, depth: int) -> tuple[Block, Node] | None:
        """Return a list of copies of the items of a list, and the loop that makes it; or a dict."""
        table = isinstance(kind, K.OpenDict)
        lines = self.lines("made = {}" if table else "made = []")
        made = lines[0].targets[0].id
        part = self.names.fresh("part")
        place = self.names.fresh("key" if table else "i")
        self.temps |= {part, place}
        found = self._copied(name(part), kind.item, "apart", depth + 1)
        if found is None:
            return None
        body = [*found[0], *self.lines("part = v", v=found[1])]
        copied = name(body[-1].targets[0].id)
        taken = assign(part, subscript(clone(node), name(place)))
        if not table:
            body = [*body, gast.Expr(call(attribute(name(made), "append"), copied))]
            self._loop(loop := gast.For(store(part), clone(node), body, [], None), place, taken)
            return [*lines, loop], name(made)
        lines += self.lines("keys = list(d)", d=node)
        keys, index = lines[-1].targets[0], self.names.fresh("i")
        self.temps.add(index)
        held = gast.Subscript(name(made), name(place), gast.Store())
        body = [taken, *body, gast.Assign([held], copied, None)]
        loop = gast.For(store(place), name(keys.id), body, [], None)
        self._loop(loop, index, assign(place, subscript(name(keys.id), name(index))))
        return [*lines, loop], name(made)

    def _loop(self, loop: Node, index: str, binding: Node) -> None:
        """Note how a loop over a list can be run backward."""
        loops: Any = self.function.loops
        loops[loop] = Loop(index, False, (call("len", clone(loop.iter)),), (binding,))


_COPYING: tuple[tuple[Any, str], ...] = (
    (copy.copy, "shallow"),
    (copy.deepcopy, "apart"),
    (runtime.private, "apart"),
    (runtime.unshared, "apart"),
    (owned, "apart"),
)


def _looks(fn: Any) -> bool:
    return fn is runtime.unshared or fn is owned


def _memories(kind: K.Kind) -> int:
    """Return how many arrays, lists, dicts and objects there are, counting many as three.

    Where there is more than one inside of another, two may be one and the same, and their copies.
    """
    if K.shares_nothing(kind) and not isinstance(kind, K.Tuple):
        return 0
    if isinstance(kind, K.Iterable_) or not kind.structure:
        return 1
    inside = sum(map(_memories, K.together(kind)))
    if kind.rest is not None:
        return 3 if inside else 1
    return kind.mutable + inside


def _is_literal(key: object) -> bool:
    return isinstance(key, str | int | float | bool)
