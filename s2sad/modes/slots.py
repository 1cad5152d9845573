"""Undo what a program stores in lists, dicts and objects: their shadows have the same structure.

box.x = y           x_bar = box_bar.x       (what is there goes to y)
                    box.x = x_0             (where the old content is read)
                    box_bar.x = 0.0
                    y_bar += x_bar
"""

from __future__ import annotations

from typing import Any

import gast

from s2sad import kinds as K
from s2sad import runtime
from s2sad.kinds import Kind
from s2sad.modes.operations import Contribution
from s2sad.modes.writes import Writes, assign_place
from s2sad.nodes import (
    Block,
    Node,
    assign,
    attribute,
    call,
    clone,
    constant,
    name,
    names_read,
    subscript,
    substitute,
    walk,
)
from s2sad.stages import Loop, Replay, RestorePart, Write, place_of


class Slots(Writes):
    """The shadows of structures whose items are written."""

    def slot_write(self, s: Node) -> Write | None:
        """Return the write of a statement that changes a structure, where it can be undone."""
        if s not in self.aliases.structures:
            return None
        return next(w for w in self.aliases.writes if w.statement is s and w.in_container)

    def kept_slots(self) -> set[Any]:
        """Return the statements that put a value where another one was."""
        return {
            w.statement
            for w in self.aliases.writes
            if w.in_slot and not self._is_new(w.statement, w.statement.targets[0])
        }

    def _slot_kind(self, s: Node, target: Node) -> Kind:
        """Return the kind of what was in a place before a statement stored something there."""
        owner = self.kinds.before[s].get(target.value.id, K.UNKNOWN)
        found: Kind = K.UNBOUND
        if isinstance(owner, K.Obj):
            found = dict(owner.fields).get(target.attr, K.UNBOUND)
            return found
        if isinstance(owner, K.List):
            return owner.item
        assert isinstance(owner, K.Dict)
        key = getattr(self.kinds.of.get(target.slice), "value", K.MISSING)
        if key is not K.MISSING:
            found = dict(owner.items).get(key, K.UNBOUND)
            return found
        for _, kind in owner.items:
            found = K.join(found, kind)
        return found

    def _is_new(self, s: Node, target: Node) -> bool:
        owner = self.kinds.before[s].get(target.value.id, K.UNKNOWN)
        found = self._slot_kind(s, target)
        return isinstance(found, K.Unbound) and not isinstance(owner, K.List)

    def undo_slot(self, s: Node, target: Node) -> Block:
        """Undo `c[i] = v`: what is there goes to v, and the old value had none."""
        base = target.value.id
        old = self._slot_kind(s, target)
        new = self._is_new(s, target)
        if new:
            back = self._replay(s, base, gast.Delete([_place(target, gast.Del())]))
        else:
            back = RestorePart(_place(target), ("part", s), self.aliases.reaching(s, base))
        if not self._has_shadow(s, base):
            return [back]
        after = self.kinds.after[s].get(base, K.UNKNOWN)
        if base in self.aliases.arrays or K.is_container(self.kinds.of.get(s.value, K.UNKNOWN)):
            self.check_parts(s, s.value, target.value)
        out = self._comment(s) + self.ensure(base, after, s)
        place = substitute(_place(target), {base: name(self.bar(base))})
        given = self.kinds.of.get(s.value, K.UNKNOWN)
        varied = self.activity.varied_before.get(s, frozenset())
        first: Block = []
        if isinstance(s.value, gast.Name) and s.value.id in varied and K.differentiable(given):
            held = self.names.fresh(f"{s.value.id}_bar")
            self.bar_kinds[held] = given
            out.append(assign(held, place))
            first = self.add(Contribution(s.value.id, name(held)), given, s)
        if new:
            clear: Node = gast.Delete([_place(place, gast.Del())])
        elif isinstance(old, K.Unknown) and K.differentiable(old):
            raise self.refuse(
                s,
                f"What is written over in `{base}` is {K.describe(old)}.",
                "Give it one kind on all paths.",
            )
        else:
            clear = assign_place(place, self.zero(_place(target), old))
        return [*out, back, clear, *first]

    def undo_taking(self, s: Node, w: Write) -> Block:
        """Undo append, insert and pop: the list and its shadow get or lose the same item."""
        value = s.value
        method, args = w.takes, value.args
        base = w.base
        if method == "pop":
            item = self.kinds.of.get(value, K.UNKNOWN)
            target = s.targets[0].id
            restore = self._restore(target, s)
            mine: Node | None = name(self.bar(target))
            if target not in self.live:
                mine = None
            self.live.discard(target)
            again = self._replay(s, base, _put_in(name(base), args, name(target)))
            if not self._has_shadow(s, base):
                return [again, restore]
            if not isinstance(item, K.Num | K.Array):
                raise self.refuse(
                    s,
                    f"An item that is {K.describe(item)} is taken from `{base}`, on which the "
                    "result depends; that cannot be differentiated yet.",
                    "Read it by its index and leave it where it is.",
                )
            out = self._comment(s)
            out += self.ensure(base, self.kinds.after[s].get(base, K.UNKNOWN), s)
            if mine is None:
                mine = self.zero(name(target), item)
            elif isinstance(item, K.Array):
                mine = call(attribute(mine, "copy"))
            bars = name(self.bar(base))
            return [*out, _put_in(bars, args, mine), again, restore]
        place = [gast.Constant(0, None)] if method == "insert" else []
        taken = call(attribute(name(base), "pop"), *place)
        again = self._replay(s, base, gast.Expr(taken))
        if not self._has_shadow(s, base):
            return [again]
        out = self._comment(s)
        out += self.ensure(base, self.kinds.after[s].get(base, K.UNKNOWN), s)
        popped = call(attribute(name(self.bar(base)), "pop"), *[clone(p) for p in place])
        item_node = args[-1]
        given = self.kinds.of.get(item_node, K.UNKNOWN)
        varied = self.activity.varied_before.get(s, frozenset())
        if isinstance(item_node, gast.Name) and item_node.id in varied and K.differentiable(given):
            held = self.names.fresh(f"{item_node.id}_bar")
            self.bar_kinds[held] = given
            out.append(assign(held, popped))
            return [*out, again, *self.add(Contribution(item_node.id, name(held)), given, s)]
        return [*out, gast.Expr(popped), again]

    def check_unseen(self, s: Node) -> None:
        """Refuse memory written where the backward sweep does not go: it could not put it back."""
        written = self.array_writes | set(self.call_writes) | set(self.aliases.structures)
        inside = next((n for n in walk(s) if n in written), None)
        if inside is not None:
            raise self.refuse(
                inside,
                f"Memory is written in place inside a {type(s).__name__.lower()} statement; that "
                "cannot be differentiated yet.",
                "Move the write out of it.",
            )

    def check_iterated(self, s: Node, plan: Loop) -> None:
        """Refuse a loop over memory that its body writes: what it binds could not be told again."""
        if isinstance(self.kinds.of.get(s.iter), K.Dict):
            return
        bindings = plan.bindings if plan.bounds is not None else ()
        sources = names_read(s.iter).union(*(names_read(b.value) for b in bindings))
        for n in walk(self.function.node):
            if isinstance(n, gast.Assign) and isinstance(n.targets[0], gast.Name):
                if n.targets[0].id in sources & self.function.temps:
                    sources |= names_read(n.value)
        before = self.kinds.before.get(s.body[0], {})
        inside = {n for part in s.body for n in walk(part)}
        for w in self.aliases.writes:
            if w.statement not in inside:
                continue
            if w.statement not in self.aliases.structures:
                continue
            shared = self.aliases.sharing(w.statement, w.base)
            for n in sorted(sources & shared):
                kind = before.get(n, K.UNKNOWN)
                if isinstance(kind, K.Num | K.Array) or K.surely_others(kind, w.owner):
                    continue
                raise self.refuse(
                    w.statement,
                    f"`{n}` is written in place in a loop over it; that cannot be differentiated "
                    "yet.",
                    "Loop over its indices: for i in range(len(...)).",
                )

    def check_unpacked(self, s: Node, names: list[str]) -> None:
        """Refuse to unpack what is memory: the parts would need to be views of the whole."""
        after = self.kinds.after.get(s, {})
        rows = self.aliases.links_after.get(s, {})
        for n in names:
            if n in rows:
                continue
            kind = after.get(n, K.UNKNOWN)
            if n in self.arrays and (isinstance(kind, K.Array) or K.is_container(kind)):
                raise self.refuse(
                    s,
                    f"`{n}` is unpacked from a structure and written in place; that cannot be "
                    "differentiated yet.",
                    f"Take it by its index: {n} = ...[0].",
                )

    def check_parts(self, s: Node, *values: Node) -> None:
        """Refuse one array twice in a structure, where arrays or structures in it are written."""
        if isinstance(values[0], gast.Name | gast.Subscript | gast.Attribute) and len(values) == 1:
            return
        before = self.kinds.before[s]
        pairs = self.aliases.pairs_before.get(s, {})
        met: list[str] = []
        for value in values:
            kind = self.kinds.of.get(value, K.UNKNOWN)
            times = isinstance(value, gast.BinOp) and not isinstance(kind, K.Array | K.Num)
            for n in walk(value):
                if not isinstance(n, gast.Name) or n.id not in before:
                    continue
                if not isinstance(before[n.id], K.Array) and not K.is_container(before[n.id]):
                    continue
                if isinstance(kind, K.Array) and len(values) == 1:
                    continue
                twice = any(m == n.id or m in pairs.get(n.id, ()) for m in met)
                if twice or (times and isinstance(value.op, gast.Mult)):
                    raise self.refuse(
                        s,
                        f"`{n.id}` may stand twice in a structure that is written in place, or "
                        "whose arrays are; that cannot be differentiated yet.",
                        f"Put a copy into it: {n.id}.copy().",
                    )
                met.append(n.id)

    def _replay(self, s: Node, base: str, action: Node) -> Node:
        return Replay(name(base), ("again", s), self.aliases.reaching(s, base), action)

    def _has_shadow(self, s: Node, base: str) -> bool:
        """Say whether the structure that is written has cotangents."""
        return bool(self.aliases.partners(s, base) & self.live)

    def add_to_structure(self, c: Contribution, kind: Kind, at: Any) -> Block:
        """Add to a shadow in place: other names may stand for it, or for parts of it."""
        bar = self.bar(c.operand)
        if c.path is None:
            if c.operand not in self.live:
                self._only_one(c.operand, at)
                self.note_kind(c.operand, kind)
                self.live.add(c.operand)
                return [assign(bar, c.value)]
            if not K.is_container(kind):
                return super().add_plain(c, kind, at)
            helper = name(self.refs.function(runtime.add_into))
            return [gast.Expr(call(helper, name(bar), c.value))]
        how, where = c.path
        inner = self._part_kind(kind, how, where) if how in ("attr", "index") else K.UNKNOWN
        if how in ("attr", "index") and K.is_container(inner):
            out = self.ensure(c.operand, kind, at)
            place = attribute(name(bar), where) if how == "attr" else subscript(name(bar), where)
            helper = name(self.refs.function(runtime.add_into))
            return [*out, gast.Expr(call(helper, place, c.value))]
        return super().add_plain(c, kind, at)

    def _restore(self, variable: str, key: Any) -> Node:
        raise NotImplementedError


def _place(target: Node, ctx: Any = None) -> Node:
    """Return a place that is read, or in another context."""
    place = clone(target)
    place.ctx = ctx if ctx is not None else gast.Load()
    return place


def _put_in(owner: Node, args: list[Node], value: Node) -> Node:
    """Return what puts an item back into a list from where pop took it."""
    where = place_of(args[0]) if args else -1
    assert where is not None
    if where == -1:
        return gast.Expr(call(attribute(owner, "append"), value))
    again = constant(where + 1 if where < 0 else where)
    return gast.Expr(call(attribute(owner, "insert"), again, value))
