"""Structures gone through leaf by leaf, as the plain displays that this is equal to.

q = tree_map(lambda a, g: a - 0.1 * g, p, d)     fn = lambda a, g: a - 0.1 * g
                                            ->   w = fn(p["w"], d["w"])
                                                 q = {"w": w}
v, unravel = ravel(p)                       ->   v = np.concatenate((p["w"].ravel(), ...))
                                                 unravel = lambda v: {"w": v[0:n].reshape(s), ...}

So the containers are those of the first structure, and what carries no derivative stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import tree
from s2sad.facts.members import copied_plainly
from s2sad.facts.rewrite import HelpedRewriter, NumPy
from s2sad.kinds import Kind
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

Called = Callable[[Kind, "list[Kind]"], Kind]
_DEEP = 8
_UNDECIDED = K.Unknown("the result of tree_map for structures whose parts s2sad does not know")


# --- kinds ---------------------------------------------------------------------------------------


def tree_kind(args: Sequence[Kind], called: Called) -> Kind:
    """Return the kind of a call of tree_map; `called` gives that of a call of a function."""
    if len(args) < 2:
        return _UNDECIDED
    fn, first, *more = args
    return _mapped(fn, first, more, called, 0)


def _mapped(fn: Kind, first: Kind, more: list[Kind], called: Called, depth: int) -> Kind:
    if isinstance(first, K.Unbound):
        return first
    if is_leaf(first):
        return called(fn, [first, *more])
    if stays(first):
        return first
    steps = steps_of(first)
    if steps is None or depth > _DEEP or not all(_matches(first, k) for k in more):
        return _UNDECIDED
    found: list[Kind] = []
    for step in steps:
        parts = [part_of(k, step) for k in (first, *more)]
        kind = _mapped(fn, parts[0], parts[1:], called, depth + 1)
        if isinstance(kind, K.Unknown):
            return kind
        found.append(kind)
    return first.rebuilt(found)


def is_leaf(kind: Kind) -> bool:
    """Say whether a value surely is a number or an array that the function is called with."""
    if isinstance(kind, K.Num):
        return kind.type in ("float", "complex")
    return isinstance(kind, K.Array) and K.is_float_dtype(kind.dtype)


def stays(kind: Kind) -> bool:
    """Say whether a value surely carries no derivative: it is kept as it is."""
    return isinstance(kind, K.Num | K.Array | K.NoneKind | K.Str | K.Known | K.LocalFunction)


def steps_of(kind: Kind) -> list[Any] | None:
    """Return what leads to the parts of a structure, None where that is not known."""
    if not kind.structure or isinstance(kind, K.Iterable_):
        return None
    if isinstance(kind, K.Obj) and not copied_plainly(kind):
        return None
    plain = all(isinstance(step, str | int | float | K.Step) for step in kind.steps)
    return list(kind.steps) if plain else None


def part_of(kind: Kind, step: Any) -> Kind:
    """Return the kind of a part; None has None everywhere."""
    return kind if isinstance(kind, K.NoneKind) else kind.at(step) or K.UNKNOWN


def _matches(first: Kind, other: Kind) -> bool:
    """Say whether another structure surely has the parts of the first one."""
    if isinstance(other, K.NoneKind):
        return True
    if isinstance(first, K.List) and first.items is not None:
        return isinstance(other, K.List) and first.length == other.length
    return K.paired(first, other) is not None


# --- statements ----------------------------------------------------------------------------------


def trees(
    function: Function,
    kinds: KindFacts,
    taken: set[str],
    numpy: NumPy,
    helper: Callable[[Any], str],
) -> Function | None:
    """Return the function with calls of tree_map written out, None where there are none."""
    return _Trees(function, kinds, taken, numpy, helper).rewritten()


class _Trees(HelpedRewriter):
    fn: Node

    def statement(self, s: Node) -> Block | None:
        value = getattr(s, "value", None)
        if not isinstance(s, gast.Assign) or not isinstance(value, gast.Call):
            return None
        if self.kinds.objects.get(value.func) is not tree.tree_map or value.keywords:
            return None
        if len(value.args) < 2 or any(isinstance(a, gast.Starred) for a in value.args):
            return None
        lines: Block = []
        given: list[Node] = []
        for a in value.args:
            if isinstance(a, gast.Name) or (a is value.args[0] and isinstance(a, gast.Attribute)):
                given.append(a)
                continue
            lines += self.lines("given = v", v=clone(a))
            given.append(name(lines[-1].targets[0].id))
        self.fn, *places = given
        found = self._built(places, [self.kind(a) for a in value.args[1:]], 0)
        if found is None:
            return None
        return [*lines, *found[0], gast.Assign(s.targets, found[1], None)]

    def _built(
        self, places: list[Node], kinds: list[Kind], depth: int
    ) -> tuple[Block, Node] | None:
        """Return an expression for a structure, and what computes its parts."""
        first = kinds[0]
        if is_leaf(first):
            if not all(map(K.is_numeric, kinds)):
                return None
            return [], gast.Call(clone(self.fn), [clone(p) for p in places], [])
        if stays(first):
            return [], clone(places[0])
        steps = steps_of(first)
        if steps is None or depth > _DEEP or not all(_matches(first, k) for k in kinds[1:]):
            return None
        if steps == [K.EACH]:
            return self._each(places, kinds, depth)
        lines: Block = []
        parts: list[Node] = []
        for step in steps:
            reads, inner, inside = self._step(places, kinds, step, first.how)
            found = self._built(inner, inside, depth + 1)
            if found is None:
                return None
            lines += [*reads, *found[0], *self.lines("part = v", v=found[1])]
            parts.append(name(lines[-1].targets[0].id))
        more, made = self.display(first, places[0], parts)
        return [*lines, *more], made

    def _step(
        self, places: list[Node], kinds: list[Kind], step: Any, how: str
    ) -> tuple[Block, list[Node], list[Kind]]:
        """Return what reads a part of each structure, and the parts' names and kinds."""
        lines: Block = []
        inner: list[Node] = []
        inside: list[Kind] = []
        for place, kind in zip(places, kinds, strict=True):
            inside.append(part_of(kind, step))
            if isinstance(kind, K.NoneKind):
                inner.append(constant(None))
                continue
            lines += self.lines("part = v", v=read(place, K.Part(how, step, inside[-1])))
            inner.append(name(lines[-1].targets[0].id))
        return lines, inner, inside

    def _each(self, places: list[Node], kinds: list[Kind], depth: int) -> tuple[Block, Node] | None:
        """Return a list made of the items of lists, and the loop that makes it; or a dict."""
        first = places[0]
        table = isinstance(kinds[0], K.OpenDict)
        lines = self.lines("made = {}" if table else "made = []")
        made = lines[0].targets[0].id
        place, index = self.names.fresh("key" if table else "i"), self.names.fresh("i")
        reads: Block = []
        inner: list[Node] = []
        for at, kind in zip(places, kinds, strict=True):
            if isinstance(kind, K.NoneKind):
                inner.append(constant(None))
                continue
            reads += self.lines("part = v", v=subscript(clone(at), name(place)))
            inner.append(name(reads[-1].targets[0].id))
        inside = [part_of(k, K.EACH) for k in kinds]
        found = self._built(inner, inside, depth + 1)
        if found is None:
            return None
        self.temps |= {place, index}
        body = [*reads, *found[0], *self.lines("part = v", v=found[1])]
        part = name(body[-1].targets[0].id)
        loops: Any = self.function.loops
        lines += self._alike(places, kinds, table)
        if table:
            lines += self.lines("keys = list(d)", d=first)
            keys = lines[-1].targets[0].id
            held = gast.Subscript(name(made), name(place), gast.Store())
            loop = gast.For(
                store(place), name(keys), [*body, gast.Assign([held], part, None)], [], None
            )
            bound = assign(place, subscript(name(keys), name(index)))
            loops[loop] = Loop(index, False, (call("len", name(keys)),), (bound,))
            return [*lines, loop], name(made)
        body.append(gast.Expr(call(attribute(name(made), "append"), part)))
        bounds = call("len", clone(first))
        loop = gast.For(store(place), call("range", clone(bounds)), body, [], None)
        loops[loop] = Loop(place, True, (bounds,), ())
        return [*lines, loop], name(made)

    def _alike(self, places: list[Node], kinds: list[Kind], table: bool) -> Block:
        """Return what refuses structures that are longer or shorter, as tree_map does."""
        words = constant("structures do not match: they have other lengths, or other keys")
        out: Block = []
        for place, kind in zip(places[1:], kinds[1:], strict=True):
            if isinstance(kind, K.NoneKind):
                continue
            sides = [call("len", clone(p)) for p in (places[0], place)]
            other = gast.Compare(sides[0], [gast.NotEq()], [sides[1]])
            out.append(gast.If(other, [gast.Raise(call("ValueError", words), None)], []))
        return out
