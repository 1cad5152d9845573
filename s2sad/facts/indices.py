"""Slices that are values stand in the index as slices do.

    s = slice(1, None)
    y = x[s]                      ->    y = x[1:]

    at = [slice(None)] * x.ndim
    at[0] = slice(1, -1)
    y = x[tuple(at)]              ->    y = x[1:-1, :]

    at[axis] = 0                  ->    moved = np.moveaxis(x, axis, 0)
    y = x[tuple(at)]                    y = moved[0]

Only where the program itself tells what an index is: made in this function, of names that keep
their values meanwhile, in a list that nobody else can see.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad.facts.rewrite import NumPy, Rewriter
from s2sad.nodes import (
    SCOPES,
    Block,
    Node,
    assign,
    block_writes,
    blocks_of,
    call,
    children,
    clone,
    constant,
    locate,
    name,
    names_read,
    names_written,
    subscript,
    walk,
)
from s2sad.stages import Function, KindFacts

_MOST = 16


@dataclass(frozen=True)
class _Slice:
    parts: tuple[Node, ...]

    @property
    def names(self) -> set[str]:
        return set().union(*(names_read(p) for p in self.parts if p is not None), set())


@dataclass(frozen=True)
class _Items:
    """A tuple or a list of slices and places."""

    items: tuple[Any, ...]
    is_list: bool

    @property
    def names(self) -> set[str]:
        return set().union(*map(_names, self.items), set())


@dataclass(frozen=True)
class _Along:
    """All of an array but along one axis, which only the run knows."""

    axis: Node
    item: Any
    is_list: bool
    rank: int = 0  # that an array must have at least

    @property
    def names(self) -> set[str]:
        return names_read(self.axis) | _names(self.item)


_WHOLE = _Slice((None, None, None))
Env = dict[str, Any]


def indices(function: Function, kinds: KindFacts, taken: set[str], numpy: NumPy) -> Function | None:
    """Return the function with slices in the place of variables that hold them, None without."""
    if not any(_makes(n) for n in walk(function.node)):
        return None
    return _Indices(function, kinds, taken, numpy).rewritten()


def _makes(n: Node) -> bool:
    made = isinstance(n, gast.Call) and getattr(n.func, "id", "") == "slice"
    return made or (isinstance(n, gast.Attribute) and n.attr in ("s_", "index_exp"))


class _Indices(Rewriter):
    def rewritten(self) -> Function | None:
        """Return the function with its statements rewritten, None where all stay as they are."""
        self.env: Env = {}
        return super().rewritten()

    def block(self, body: Block) -> Block:
        out: Block = []
        for s in body:
            if blocks_of(s):
                self._compound(s)
                out.append(s)
                continue
            lines = self._moved(s) or [s]
            for line in lines:
                for n in walk(line):
                    locate(n, s)
                self.origins[line] = self.origins.get(s, s)
            out += lines
            self._note(s)
        return out

    def statement(self, s: Node) -> Block | None:
        return None

    # what is known of variables, statement by statement

    def _compound(self, s: Node) -> None:
        if isinstance(s, gast.While):
            self._forget(s)
        self._substituted(s, inside=False)
        if not isinstance(s, gast.For | gast.While | gast.If):
            self._forget(s)
            return
        if isinstance(s, gast.If):
            before = dict(self.env)
            s.body[:] = self.block(s.body)
            then, self.env = self.env, before
            s.orelse[:] = self.block(s.orelse)
            self.env = {n: v for n, v in self.env.items() if then.get(n) is v}
            return
        self._forget(s)
        before = dict(self.env)
        s.body[:] = self.block(s.body)
        self.env = {n: v for n, v in before.items() if self.env.get(n) is v}

    def _forget(self, s: Node) -> None:
        """Forget what a loop may bind or change."""
        written = names_written(s) | block_writes([s])
        plan = self.function.loops.get(s)
        written |= {plan.index} if plan is not None else set()
        seen = {n.id for n in walk(s) if isinstance(n, gast.Name)}
        self.env = {
            n: v
            for n, v in self.env.items()
            if n not in written
            and not v.names & written
            and not (getattr(v, "is_list", False) and n in seen and self._changed(s, n))
        }

    def _changed(self, s: Node, variable: str) -> bool:
        """Say whether a list may be changed in a statement: all but reading it as a tuple may."""
        return not all(_only_read(n, variable) for n in _around(s, variable))

    def _note(self, s: Node) -> None:
        """Note what a statement tells of variables."""
        target = s.targets[0] if isinstance(s, gast.Assign) and len(s.targets) == 1 else None
        value = None
        if isinstance(target, gast.Name):
            value = self._value(s.value)
            if isinstance(s.value, gast.Name) and getattr(value, "is_list", False):
                self.env.pop(s.value.id, None)
        elif isinstance(target, gast.Subscript) and isinstance(target.value, gast.Name):
            self._set(target.value.id, target.slice, s.value)
        written = names_written(s)
        kept = target.value.id if isinstance(target, gast.Subscript) and _flat(target) else None
        for n, v in list(self.env.items()):
            listed = getattr(v, "is_list", False)
            if n in written or v.names & written or (listed and n != kept and self._changed(s, n)):
                del self.env[n]
        if isinstance(target, gast.Name) and value is not None and not _names(value) & written:
            self.env[target.id] = value

    def _set(self, variable: str, place: Node, value: Node) -> None:
        known = self.env.get(variable)
        if known is None or not known.is_list:
            return
        item, at = self._item(value), getattr(self.kind(place), "value", K.MISSING)
        self.env.pop(variable)
        if item is None:
            return
        if isinstance(known, _Along):
            if getattr(place, "id", "") == getattr(known.axis, "id", None):
                self.env[variable] = replace(known, item=item)
            return
        if type(at) is int and -len(known.items) <= at < len(known.items):
            items = list(known.items)
            items[at] = item
            self.env[variable] = _Items(tuple(items), True)
        elif at is K.MISSING and isinstance(place, gast.Name) and _is_int(self.kind(place)):
            if all(i == _WHOLE for i in known.items):
                self.env[variable] = _Along(clone(place), item, True, len(known.items))

    # what an expression is

    def _item(self, node: Node) -> Any:
        """Return a slice, or an atom that is a place: an int, None or an ellipsis."""
        if isinstance(node, gast.Name) and node.id in self.env:
            found = self.env[node.id]
            return found if isinstance(found, _Slice) else None
        kind = self.kind(node)
        plain = isinstance(node, gast.Name | gast.Constant | gast.UnaryOp)
        place = _is_int(kind) or isinstance(kind, K.NoneKind) or kind == K.Known(Ellipsis)
        return node if plain and place else None

    def _value(self, node: Node) -> Any:
        """Return what is known of the value of an expression, or None."""
        if isinstance(node, gast.Name):
            return self.env.get(node.id)
        if isinstance(node, gast.Call):
            return self._called(node)
        if isinstance(node, gast.Tuple | gast.List):
            items = [self._item(e) for e in node.elts]
            some = any(isinstance(i, _Slice) for i in items) or not items
            known = some and all(i is not None for i in items)
            return _Items(tuple(items), isinstance(node, gast.List)) if known else None
        if isinstance(node, gast.BinOp):
            return self._combined(node)
        if isinstance(node, gast.Subscript) and isinstance(node.value, gast.Attribute):
            return self._written(node)
        return None

    def _called(self, node: Node) -> Any:
        fn = self.kinds.objects.get(node.func)
        if node.keywords or not node.args:
            return None
        if fn is slice and len(node.args) <= 3:
            parts = [self._bound(a) for a in node.args]
            if any(p is K.MISSING for p in parts):
                return None
            if len(parts) == 1:
                parts = [None, *parts]
            return _Slice((*parts, *[None] * (3 - len(parts))))
        if (fn is tuple or fn is list) and isinstance(node.args[0], gast.Name):
            known = self.env.get(node.args[0].id)
            if isinstance(known, _Items):
                return _Items(known.items, fn is list)
            if isinstance(known, _Along):
                return _Along(known.axis, known.item, fn is list, known.rank)
        return None

    def _bound(self, node: Node) -> Any:
        """Return a bound of a slice; None stands for None, MISSING for what is not plain."""
        kind = self.kind(node)
        if isinstance(kind, K.NoneKind):
            return None
        plain = isinstance(node, gast.Name | gast.Constant | gast.UnaryOp)
        return node if plain and _is_int(kind) else K.MISSING

    def _combined(self, node: Node) -> Any:
        left, right = self._value(node.left), self._value(node.right)
        if isinstance(node.op, gast.Add) and isinstance(right, _Items):
            if isinstance(left, _Items) and left.is_list is right.is_list:
                return _Items(left.items + right.items, left.is_list)
            if isinstance(left, _Along) and left.item is None and right.items:
                rest = right.items[1:]  # what is behind an axis: all of the others
                if all(i == _WHOLE for i in rest) and not left.is_list and not right.is_list:
                    return _Along(call("max", left.axis, constant(0)), right.items[0], False)
            return None
        if not isinstance(node.op, gast.Mult) or not isinstance(left, _Items):
            return None
        kind = self.kind(node.right)
        times = getattr(kind, "value", K.MISSING)
        if type(times) is int and 0 <= times * len(left.items) <= _MOST:
            return _Items(left.items * times, left.is_list)
        if times is K.MISSING and _is_int(kind) and left.items == (_WHOLE,):
            if isinstance(node.right, gast.Name):
                return _Along(clone(node.right), None, left.is_list)
        return None

    def _written(self, node: Node) -> Any:
        """Return what `np.s_[1:, 0]` is."""
        if node.value.attr not in ("s_", "index_exp") or not self._is_numpy(node.value.value):
            return None
        parts = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
        items: list[Any] = []
        for part in parts:
            if not isinstance(part, gast.Slice):
                items.append(self._item(part))
                continue
            bounds = [part.lower, part.upper, part.step]
            known = [None if b is None else self._bound(b) for b in bounds]
            items.append(None if K.MISSING in known else _Slice(tuple(known)))
        if any(i is None for i in items):
            return None
        single = not isinstance(node.slice, gast.Tuple) and node.value.attr == "s_"
        return items[0] if single else _Items(tuple(items), False)

    def _is_numpy(self, node: Node) -> bool:
        fn: Any = self.function.source.fn
        known = isinstance(node, gast.Name) and node.id not in self.function.locals
        return known and fn.__globals__.get(node.id) is np

    # where it stands

    def _moved(self, s: Node) -> Block | None:
        """Return what a statement is on an array that is turned; let it have plain indices."""
        value = getattr(s, "value", None)
        if isinstance(s, gast.Assign) and isinstance(value, gast.Subscript):
            lines = self._turned(s, value)
            if lines is not None:
                made = lines.pop()
                return [*lines, gast.Assign(s.targets, made, None)]
        place = s.targets[0] if isinstance(s, gast.Assign) else getattr(s, "target", None)
        if isinstance(place, gast.Subscript) and len(getattr(s, "targets", [1])) == 1:
            lines = self._turned(s, place)
            if lines is not None:
                view = self._fresh("part")
                lines.append(assign(view, lines.pop()))
                whole = gast.Subscript(name(view), gast.Constant(Ellipsis, None), gast.Store())
                again = clone(s)
                if isinstance(s, gast.Assign):
                    again.targets = [whole]
                else:
                    again.target = whole
                return [*lines, again]
        self._substituted(s)
        return None

    def _turned(self, s: Node, place: Node) -> Block | None:
        """Return lines that turn an array so that an axis is the first, and last its part."""
        along: Any = self.env.get(getattr(place.slice, "id", ""))
        kind = self.kind(place.value)
        plain = isinstance(along, _Along) and along.item is not None and not along.is_list
        if not plain or not isinstance(kind, K.Array) or not isinstance(place.value, gast.Name):
            return None
        if along.rank > kind.rank:
            return None
        if not isinstance(along.item, _Slice) and not _is_int(self.kind(along.item)):
            return None
        moved, axis, lines = self._fresh("moved"), clone(along.axis), []
        self.changed = True
        np_ = self.numpy()
        if not isinstance(axis, gast.Name):  # a tuple times less than nothing is empty
            held = self._fresh("axis")
            lines, axis = [assign(held, axis)], name(held)
        start = call(f"{np_}.moveaxis", clone(place.value), axis, constant(0))
        part = subscript(name(moved), _shown(along.item))
        if not isinstance(along.item, _Slice):
            return [*lines, assign(moved, start), part]
        cut = self._fresh("cut")
        back = call(f"{np_}.moveaxis", name(cut), constant(0), clone(axis))
        return [*lines, assign(moved, start), assign(cut, part), back]

    def _fresh(self, base: str) -> str:
        found = self.names.fresh(base)
        self.temps.add(found)
        return found

    def _substituted(self, s: Node, inside: bool = True) -> None:
        """Put slices in the place of the variables in the indices of a statement."""
        pending = [s] if inside else [c for c in children(s) if not _is_statement(c)]
        while pending:
            n = pending.pop()
            if isinstance(n, SCOPES):
                continue
            pending += children(n)
            if not isinstance(n, gast.Subscript):
                continue
            known = self.env.get(getattr(n.slice, "id", ""))
            if isinstance(known, _Items) and not known.is_list and known.items:
                shown = [_shown(i) for i in known.items]
                n.slice = locate(gast.Tuple(shown, gast.Load()), n)
                self.changed = True
            elif isinstance(known, _Slice):
                n.slice = _shown(known)
                self.changed = True
            elif isinstance(n.slice, gast.Tuple):
                self._parts(n.slice)

    def _parts(self, index: Node) -> None:
        for i, part in enumerate(index.elts):
            known = self.env.get(getattr(part, "id", ""))
            if isinstance(known, _Slice):
                index.elts[i] = _shown(known)
                self.changed = True


def _shown(item: Any) -> Node:
    if not isinstance(item, _Slice):
        return clone(item)
    return gast.Slice(*(None if p is None else clone(p) for p in item.parts))


def _names(item: Any) -> set[str]:
    if isinstance(item, _Slice | _Items | _Along):
        return item.names
    return names_read(item) if item is not None else set()


def _is_int(kind: K.Kind) -> bool:
    return isinstance(kind, K.Num) and kind.type == "int"


def _is_statement(node: Node) -> bool:
    return isinstance(node, gast.stmt | gast.ExceptHandler | gast.match_case)


def _flat(target: Node) -> bool:
    return isinstance(target.value, gast.Name)


def _around(s: Node, variable: str) -> list[Node]:
    """Return the nodes in which a variable stands, in a statement and the blocks inside it."""
    found = []
    for n in walk(s):
        for child in children(n):
            if isinstance(child, gast.Name) and child.id == variable:
                found.append(n)
    return found


def _only_read(node: Node, variable: str) -> bool:
    """Say whether an expression makes a tuple or another list of a list, and no more."""
    if isinstance(node, gast.Call) and isinstance(node.func, gast.Name):
        return node.func.id in ("tuple", "list", "len")
    return isinstance(node, gast.BinOp)
