"""Undo what a program stores in lists, dicts and objects: their shadows have the same structure.

box.x = y           x_bar = box_bar.x       (what is there goes to y)
                    box.x = x_0             (where the old content is read)
                    box_bar.x = 0.0
                    y_bar += x_bar
"""

from __future__ import annotations

import functools
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import runtime
from s2sad.errors import Error
from s2sad.kinds import Kind
from s2sad.known.open_dicts import literal_key, surely_has
from s2sad.modes.cotangents import assign_place, may_be_integer
from s2sad.modes.fills import filling
from s2sad.modes.structured import Contribution
from s2sad.modes.writes import Writes
from s2sad.nodes import (
    Block,
    Node,
    all_inside,
    assign,
    attribute,
    binary,
    block_writes,
    call,
    children,
    clone,
    compare,
    constant,
    name,
    names_read,
    store,
    subscript,
    substitute,
    walk,
)
from s2sad.stages import Loop, Replay, RestorePart, Write, is_all, place_of, surely_others
from s2sad.syntax.made import made_here


class Slots(Writes):
    """The shadows of structures whose items are written."""

    def slot_write(self, s: Node) -> Write | None:
        """Return the write of a statement that changes a structure, where it can be undone."""
        if s not in self.aliases.structures:
            return None
        return next((w for w in self.own_writes if w.statement is s and w.in_container), None)

    def kept_slots(self) -> set[Any]:
        """Return the statements that put a value where another one was."""
        return {
            w.statement
            for w in self.own_writes
            if w.statement in self.aliases.structures
            if w.drops or (w.in_slot and not self._is_new(w.statement, w.statement.targets[0]))
        }

    def replaced_memory(self) -> frozenset[Any]:
        """Return the statements that put a value where memory was, or something that holds some."""
        return frozenset(
            s
            for s in self.kept_slots()
            if isinstance(s, gast.Delete) or _is_memory(self._slot_kind(s, s.targets[0]))
        )

    def kept_entries(self) -> dict[Any, Node]:
        """Return what is kept before statements that change dicts of open keys."""
        found: dict[Any, Node] = {}
        for w in self.own_writes:
            if not (w.drops or w.in_slot) or not self._is_open(w.statement):
                continue
            if w.statement in self.fills or w.statement not in self.aliases.structures:
                continue
            place = w.statement.targets[0]
            if w.drops:
                found[w.statement] = call(attribute(clone(place.value), "copy"))
            else:
                key = _loaded_key(place)
                found[w.statement] = call(attribute(clone(place.value), "get"), key)
        return found

    def _is_open(self, s: Node) -> bool:
        """Say whether a statement sets or drops an entry of a dict, and which is not known."""
        place = s.targets[0]
        if not isinstance(place, gast.Subscript):
            return False
        owner = self.kinds.before[s].get(place.value.id, K.UNKNOWN)
        if isinstance(owner, K.Dict) and owner.items:
            key = self.kinds.of.get(place.slice, K.UNKNOWN)
            known = not isinstance(s, gast.Delete) and surely_has(owner, key)
            return literal_key(key) is K.MISSING and not known
        return isinstance(owner, K.OpenDict)

    def _slot_kind(self, s: Node, target: Node) -> Kind:
        """Return the kind of what was in a place before a statement stored something there."""
        owner = self.kinds.before[s].get(target.value.id, K.UNKNOWN)
        if isinstance(owner, K.Obj):
            return owner.at(target.attr) or K.UNBOUND
        if isinstance(owner, K.List):
            return owner if isinstance(target.slice, gast.Slice) else owner.item
        assert isinstance(owner, K.AnyDict)
        key = literal_key(self.kinds.of.get(target.slice, K.UNKNOWN))
        return K.opened(owner).item if key is K.MISSING else owner.at(key) or K.UNBOUND

    def _is_new(self, s: Node, target: Node) -> bool:
        owner = self.kinds.before[s].get(target.value.id, K.UNKNOWN)
        found = self._slot_kind(s, target)
        nothing = isinstance(found, K.Unbound) and not isinstance(owner, K.List)
        return nothing or s in self.fills

    @functools.cached_property
    def fills(self) -> frozenset[Any]:
        """The statements that set an entry of a dict that has none of that key."""
        return filling(self.function, self._lists_keys)

    def _left(self, s: Node, base: str) -> Block:
        """Return what sets the shadow of a structure, as the statement that writes it leaves it."""
        self.now = self.kinds.after[s]
        out = self._comment(s) + self.ensure(base, self.now.get(base, K.UNKNOWN), s)
        self.now = self.kinds.before[s]
        if base not in self.asked:
            self._none_twice(base, s)
        return out

    def _anew(self, base: str, place: Node, kind: Kind) -> Node:
        """Return the cotangent of what is in a place again: that of memory may be known."""
        if base not in self.asked:
            return self.zero(place, kind)
        number = isinstance(kind, K.Num) and may_be_integer(kind)
        return constant(0.0) if number else self.shadow(place)

    def undo_slot(self, s: Node, target: Node) -> Block:
        """Undo `c[i] = v`: what is there goes to v, and the old value had none."""
        base = target.value.id
        old = self._slot_kind(s, target)
        new = self._is_new(s, target)
        if new:
            back = self._replay(s, base, gast.Delete([_place(target, gast.Del())]))
        else:
            back = RestorePart(_place(target), ("part", s), self.aliases.reaching(s, base))
            back.entry = "set" if self._is_open(s) else ""
            if back.entry and any(isinstance(k, K.NoneKind) for k in K.options(old)):
                raise self._with_none(s, base)
        if not self._has_shadow(s, base):
            return [back]
        after = self.kinds.after[s].get(base, K.UNKNOWN)
        asked = base in self.asked
        if asked and isinstance(getattr(target, "slice", None), gast.Slice):
            if any(isinstance(k, K.Num) for k in K.options(getattr(after, "item", K.UNKNOWN))):
                raise self.refuse(
                    s,
                    f"This statement puts numbers into the list `{base}`, and only the "
                    "running program shows which names share that list; s2sad cannot follow "
                    "them.",
                    "Make a new list: a + b.",
                )
        if base in self.aliases.arrays or K.is_container(self.kinds.of.get(s.value, K.UNKNOWN)):
            self.check_parts(s, s.value, target.value)
        out = self._left(s, base)
        place = substitute(_place(target), {base: name(self.bar(base))})
        given = self.kinds.of.get(s.value, K.UNKNOWN)
        varied = self.activity.varied_before.get(s, frozenset())
        first: Block = []
        if isinstance(s.value, gast.Name) and s.value.id in varied and K.differentiable(given):
            held = self.names.fresh(f"{s.value.id}_bar")
            self.bar_kinds[held] = given
            if s.value.id not in self.asked | self.split:
                out.append(assign(held, place))
                first = self.add(Contribution(s.value.id, name(held)), given, s)
                if given == after and isinstance(getattr(target, "slice", None), gast.Slice):
                    self.buffers.add(held)
        if s in self.fills and not asked:
            return [*out, back, *first]  # of a key that the dict has not, nobody reads the shadow
        if new:
            clear: Node = gast.Delete([_place(place, gast.Del())])
        elif K.differentiable(old) and (isinstance(old, K.Unknown) or _mixed(old)):
            raise self.refuse(
                s,
                f"The value that this statement overwrites in `{base}` is {K.describe(old)}.",
                "Store values of the same kind there on all paths.",
            )
        elif asked:
            clear = assign_place(place, self._anew(base, _place(target), old))
        else:
            whole = isinstance(getattr(target, "slice", None), gast.Slice)
            zeros = self.zero(name(base) if whole else _place(target), old)
            if isinstance(old, K.Union) and K.NONE in old.options and self._given(s):
                # What comes back to the caller is None where the argument holds None.
                zeros = call(name(self.refs.function(runtime.zeros_like)), _place(target))
            clear = assign_place(place, zeros)
        if not new and back.entry and (asked or names_read(clear.value) or self._given(s)):
            there = compare(_loaded_key(target), gast.In, name(base))
            clear = gast.If(there, [clear], [gast.Delete([_place(place, gast.Del())])])
        return [*out, back, clear, *first]

    def undo_drop(self, s: Node, target: Node) -> Block:
        """Undo `del d["a"]`: the entry is there again, where it was, and has no cotangent."""
        base = target.value.id
        owner = self.kinds.before[s][base]
        if self._is_open(s):
            return self._undo_open_drop(s, target)
        assert isinstance(owner, K.Dict)
        keys = [key for key, _ in owner.items]
        key = literal_key(self.kinds.of.get(target.slice, K.UNKNOWN))
        behind = keys[keys.index(key) + 1 :]
        sharing = self.aliases.reaching(s, base)
        back: Block = [RestorePart(_place(target), ("part", s), sharing)]
        if behind:
            back.append(Replay(name(base), ("again", s), sharing, _moved_back(name(base), behind)))
        if not self._has_shadow(s, base):
            return back
        out = self._left(s, base)
        place = substitute(_place(target), {base: name(self.bar(base))})
        zeros = self._anew(base, _place(target), dict(owner.items)[key])
        out += [*back, assign_place(place, zeros)]
        return [*out, gast.Expr(_moved_back(name(self.bar(base)), behind).value)] if behind else out

    def _undo_open_drop(self, s: Node, target: Node) -> Block:
        """Undo `del d[k]`: the entry is there again, in its place, and has no cotangent."""
        base = target.value.id
        back = RestorePart(_place(target), ("part", s), self.aliases.reaching(s, base))
        back.entry = "dropped"
        if not self._has_shadow(s, base):
            return [back]
        item = self._slot_kind(s, target)
        out = self._left(s, base)
        place = substitute(_place(target), {base: name(self.bar(base))})
        out += [back, assign_place(place, self._anew(base, _place(target), item))]
        return [*out, *self._in_order(base)] if self._given(s) else out

    def _in_order(self, base: str) -> Block:
        """Give a dict's shadow the order of the dict: the caller sees it."""
        key, bar = self.names.fresh("key"), name(self.bar(base))
        again = call(attribute(clone(bar), "pop"), name(key))
        moved = gast.Assign([gast.Subscript(bar, name(key), gast.Store())], again, None)
        return [gast.For(store(key), call("list", name(base)), [moved], [], None)]

    def _given(self, s: Node) -> bool:
        """Say whether a dict that is written may be an argument's: its shadow is seen outside.

        That of any other may have entries besides those that the dict has: nobody reads them.
        """
        write = self.slot_write(s)
        return write is not None and bool(self.aliases.arguments(write))

    def add_entry(self, c: Contribution, kind: Kind, at: Any) -> Block:
        """Add to an entry of a dict's shadow that may be there."""
        assert c.path is not None
        where = c.path[1]
        out = self.ensure(c.operand, kind, at)
        added = self.add(Contribution(c.operand, c.value, ("index", where)), kind, at)
        there = compare(clone(where), gast.In, name(self.bar(c.operand)))
        return [*out, gast.If(there, added, [])]

    def add_each(self, c: Contribution, kind: Kind, at: Any) -> Block:
        """Add to every entry of a dict's shadow, or what another shadow has of the same key."""
        copied = c.path is not None and c.path[0] == "copied"
        known = self.live | self.asked | self.elements.keys() | self.links.keys()
        if not copied and isinstance(kind, K.OpenDict) and c.operand not in known:
            self._only_one(c.operand, at)
            self.live.add(c.operand)
            self.note_kind(c.operand, kind)
            made = call("dict.fromkeys", name(c.operand), c.value)
            return [assign(self.bar(c.operand), made)]
        out = self.ensure(c.operand, kind, at)
        key = self.names.fresh("key")
        value = subscript(clone(c.value), name(key)) if copied else c.value
        added = self.add(Contribution(c.operand, value, ("index", name(key))), kind, at)
        return [*out, gast.For(store(key), name(c.operand), added, [], None)]

    def _with_none(self, s: Node, base: str) -> Error:
        return self.refuse(
            s,
            f"This statement sets an entry of `{base}` that may be None, and its key is not a "
            "literal; s2sad cannot restore such an entry yet.",
            "Leave out the entries that are None, or store nan or 0.0 instead.",
        )

    def undo_taking(self, s: Node, w: Write) -> Block:
        """Undo append, insert and pop: the list and its shadow get or lose the same item."""
        value = s.value
        method, args = w.takes, value.args
        base = w.base
        if method == "reverse":
            turned = gast.Expr(call(attribute(name(base), "reverse")))
            again = self._replay(s, base, turned)
            if not self._has_shadow(s, base):
                return [again]
            out = self._left(s, base)
            return [*out, gast.Expr(call(attribute(name(self.bar(base)), "reverse"))), again]
        if method == "pop":
            item = self.kinds.of.get(value, K.UNKNOWN)
            target = s.targets[0].id
            restore = self._restore(target, s)
            mine: Node | None = name(self.bar(target))
            if target not in self.live:
                mine = None
            first: Block = []
            shared = target in self.asked | self.split
            if target in self.asked:
                first = self.ask(target, item)
                mine = name(self.bar(target))
            elif shared:
                mine = self.shadow(name(target))
            self.live.discard(target)
            again = self._replay(s, base, _put_in(name(base), args, name(target)))
            flows = base in self.activity.varied_before.get(s, frozenset())
            if not self._has_shadow(s, base) and (mine is None or not flows):
                return [again, restore]
            if not _is_value(item) and not shared:
                raise self.refuse(
                    s,
                    f"This call takes {K.describe(item)} out of `{base}`, on which the result "
                    "depends; s2sad can put back numbers and arrays only.",
                    "Read the item by its index, and leave it in the list.",
                )
            out = self._left(s, base)
            if mine is None:
                mine = self.zero(name(target), item)
            elif isinstance(item, K.Array) and not shared:
                mine = call(attribute(mine, "copy"))
            elif may_hold_array(item) and not shared:
                mine = call(name(self.refs.function(runtime.private)), mine)
            bars = name(self.bar(base))
            return [*out, *first, _put_in(bars, args, mine), again, restore]
        place = [_inserted(args[0], name(base))] if method == "insert" else []
        taken = call(attribute(name(base), "pop"), *place)
        again = self._replay(s, base, gast.Expr(taken))
        if not self._has_shadow(s, base):
            return [again]
        out = self._left(s, base)
        at = [_inserted(args[0], name(self.bar(base)))] if method == "insert" else []
        popped = call(attribute(name(self.bar(base)), "pop"), *at)
        item_node = args[-1]
        given = self.kinds.of.get(item_node, K.UNKNOWN)
        varied = self.activity.varied_before.get(s, frozenset())
        shared = getattr(item_node, "id", "") in self.asked | self.split
        if shared:
            return [*out, gast.Expr(popped), again]
        if isinstance(item_node, gast.Name) and item_node.id in varied and K.differentiable(given):
            held = self.names.fresh(f"{item_node.id}_bar")
            self.bar_kinds[held] = given
            out.append(assign(held, popped))
            return [*out, again, *self.add(Contribution(item_node.id, name(held)), given, s)]
        return [*out, gast.Expr(popped), again]

    def check_unseen(self, s: Node) -> None:
        """Refuse memory written where the backward sweep does not go: it could not put it back."""
        written = {w.statement for w in self.own_writes} & {*self.aliases.structures}
        written |= self.array_writes | set(self.call_writes)
        inside = next((n for n in walk(s) if n in written), None)
        if inside is not None:
            raise self.refuse(
                inside,
                f"A {type(s).__name__.lower()} statement contains a write in place, which "
                "s2sad cannot undo there.",
                "Move the write out of it.",
            )

    def check_iterated(self, s: Node, plan: Loop) -> None:
        """Refuse a loop over memory that its body writes: what it binds could not be told again."""
        if isinstance(self.kinds.of.get(s.iter), K.Dict):
            self._check_size(s, {s.iter.id})
            return
        self._check_size(s, self._listed(s.iter))
        bindings = plan.bindings if plan.bounds is not None else ()
        read = [s.iter, *(b.value for b in bindings)]
        copied = _copied_by_user(self.function.origins.get(s))
        sources = self._made_of(frozenset().union(*map(names_read, read)), copied)
        items = self._made_of(frozenset().union(*map(_read_beyond_length, read)), copied)
        before = self.kinds.before.get(s.body[0], {})
        inside = {n for part in s.body for n in walk(part)}
        given = set(self.function.params) - block_writes(self.function.node.body)
        for w in self.aliases.writes:
            if w.statement not in inside:
                continue
            if w.statement not in self.aliases.structures or self._entry_of_round(s, w):
                continue
            place = w.statement.targets[0] if w.in_slot else None
            same_length = place is not None and not isinstance(
                getattr(place, "slice", None), gast.Slice
            )
            shared = self.aliases.sharing(w.statement, w.base)
            for n in sorted((items if same_length else sources) & shared):
                kind = before.get(n, K.UNKNOWN)
                if isinstance(kind, K.Num | K.Array) or surely_others(kind, w.owner):
                    continue
                if n in given and made_here(self.function, self.kinds, w.base):
                    continue
                raise self.refuse(
                    w.statement,
                    f"This loop runs over `{n}` and writes into it; s2sad cannot undo such a "
                    "write.",
                    "Loop over the indices: for i in range(len(...)).",
                )

    def _listed(self, keys: Node) -> set[str]:
        """Return the dict of which the temporary that a loop runs over lists the keys."""
        wanted = getattr(keys, "id", None)
        made = (s.value for s in self._makers if s.targets[0].id == wanted)
        return next(({v.args[0].id} for v in made if self._lists_keys(v)), set())

    @functools.cached_property
    def _makers(self) -> list[Node]:
        """The assignments to temporaries, the last one first: it may read what others made."""
        found = [
            s
            for s in all_inside(self.function.node.body)
            if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name)
            if s.targets[0].id in self.function.temps
        ]
        return found[::-1]

    def _lists_keys(self, value: Node) -> bool:
        """Say whether an expression makes a list of a dict's keys."""
        listing = isinstance(value, gast.Call) and len(value.args) == 1
        if not listing or self.kinds.objects.get(value.func) not in (list, sorted):
            return False
        kind = self.kinds.of.get(value.args[0])
        return isinstance(kind, K.AnyDict) and isinstance(value.args[0], gast.Name)

    def _check_size(self, s: Node, dicts: set[str]) -> None:
        """Refuse a loop over a dict that may get or lose entries: Python lets that fail."""
        origin = self.function.origins.get(s)
        if not dicts or _copied_by_user(origin) or isinstance(origin, gast.Expr | gast.AugAssign):
            return  # d.clear() and d.update(e) are loops over lists, too
        inside = {n for part in s.body for n in walk(part)}
        for w in self.aliases.writes:
            if w.statement not in inside or not (w.in_slot or w.drops):
                continue
            if not isinstance(w.statement.targets[0], gast.Subscript):
                continue
            grows = w.drops or self._is_open(w.statement)
            grows = grows or self._is_new(w.statement, w.statement.targets[0])
            shared = self.aliases.sharing(w.statement, w.base) & dicts
            if made_here(self.function, self.kinds, w.base):
                shared -= set(self.function.params) - block_writes(self.function.node.body)
            if grows and shared and not self._entry_of_round(s, w):
                raise self.refuse(
                    w.statement,
                    f"This loop runs over the entries of `{w.base}`, which may gain or lose "
                    "entries here; s2sad cannot run it backward.",
                    f"Loop over a list of the keys: for ... in list({w.base}).",
                )

    def _entry_of_round(self, s: Node, w: Write) -> bool:
        """Say whether a loop over a dict sets the very entry that its round is about."""
        origin = self.function.origins.get(s)
        target = getattr(origin, "target", None)
        over = getattr(origin, "iter", None)
        view = getattr(over, "func", None)
        if isinstance(view, gast.Attribute) and view.attr in ("items", "keys"):
            over = view.value
            if view.attr == "items":
                target = target.elts[0] if isinstance(target, gast.Tuple) else None
        place = w.statement.targets[0] if w.in_slot else None
        return (
            getattr(over, "id", None) == w.base
            and isinstance(place, gast.Subscript)
            and isinstance(place.slice, gast.Name)
            and getattr(target, "id", None) == place.slice.id
        )

    def _made_of(self, names: frozenset[str], copied: bool) -> frozenset[str]:
        """Return names, and those that temporaries among them were made of and may share.

        A list of a dict's keys is a copy; one of its values is, where the user has `copied` them.
        """
        for s in self._makers:
            if s.targets[0].id in names:
                kind = self.kinds.of.get(s.value)
                own = self._lists_keys(s.value)
                if isinstance(kind, K.List) and not _holds_memory(kind):
                    own = own or copied or isinstance(kind.item, K.Str)
                if not own and not isinstance(kind, K.Num | K.Str):
                    names |= names_read(s.value)
        return names

    def check_unpacked(self, s: Node, names: list[str]) -> None:
        """Refuse to unpack what is memory: the parts would need to be views of the whole."""
        after = self.kinds.after.get(s, {})
        names = [n for n in names if n not in self.asked]
        rows = self.aliases.links_after.get(s, {})
        for n in names:
            if n in rows:
                continue
            kind = after.get(n, K.UNKNOWN)
            if n in self.arrays and (isinstance(kind, K.Array) or K.is_container(kind)):
                raise self.undecided(
                    s,
                    {n},
                    f"`{n}` is unpacked from a structure and written in place; s2sad cannot "
                    "tell which part of the structure it is.",
                    f"Read the part by its index: {n} = ...[0].",
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
            joined = isinstance(value, gast.BinOp) and isinstance(kind, K.List)
            if joined and not _holds_memory(kind):
                continue
            times = isinstance(value, gast.BinOp) and not isinstance(kind, K.Array | K.Num)
            for n in walk(value):
                if not isinstance(n, gast.Name) or n.id not in before:
                    continue
                if not isinstance(before[n.id], K.Array) and not K.is_container(before[n.id]):
                    continue
                if isinstance(kind, K.Array) and len(values) == 1:
                    continue
                if n.id in self.asked or (times and _of_numbers(before[n.id])):
                    continue
                twice = any(m == n.id or m in pairs.get(n.id, ()) for m in met)
                if twice or (times and isinstance(value.op, gast.Mult)):
                    raise self.undecided(
                        s,
                        {n.id},
                        f"The same memory (`{n.id}`) may be in a structure twice, and the "
                        "program writes into the structure or its arrays; s2sad would count "
                        "its derivative twice.",
                        f"Put a copy into the structure: {n.id}.copy().",
                    )
                met.append(n.id)

    def _replay(self, s: Node, base: str, action: Node) -> Node:
        return Replay(name(base), ("again", s), self.aliases.reaching(s, base), action)

    def _has_shadow(self, s: Node, base: str) -> bool:
        """Say whether the structure that is written has cotangents."""
        if base in self.asked:
            return self.useful(s, base)
        return bool(self.aliases.partners(s, base) & self.live)

    def add_to_structure(self, c: Contribution, kind: Kind, at: Any) -> Block:
        """Add to a shadow in place: other names may stand for it, or for parts of it."""
        bar = self.bar(c.operand)
        if c.path is None:
            born = c.operand not in self.live and not self._in_another(c.operand)
            if born and not self._shown_elsewhere(c, kind):
                self._only_one(c.operand, at)
                self.note_kind(c.operand, kind)
                self.live.add(c.operand)
                return [assign(bar, c.value)]
            if not K.is_container(kind):
                return super().add_plain(c, kind, at)
            out = self.ensure(c.operand, kind, at)
            return [*out, gast.Expr(self._added(name(bar), c.value, kind))]
        how, where = c.path
        if isinstance(where, gast.Slice) and is_all(where):
            return self.add_to_structure(Contribution(c.operand, c.value), kind, at)
        inner = self._part_kind(kind, how, where) if how in ("attr", "index") else K.UNKNOWN
        if how in ("attr", "index") and K.is_container(inner):
            out = self.ensure(c.operand, kind, at)
            place = attribute(name(bar), where) if how == "attr" else subscript(name(bar), where)
            if not isinstance(where, gast.Slice):
                return [*out, gast.Expr(self._added(place, c.value, inner))]
            helper = name(self.refs.function(runtime.add_into_arrays))
            return [*out, assign_place(place, call(helper, place, c.value))]
        return super().add_plain(c, kind, at)

    def _in_another(self, variable: str) -> bool:
        """Say whether a shadow is a part of one that is there, or is in another arm of a branch."""
        link = self.links.get(variable)
        if link is None or link.maybe or not K.is_container(link.owner):
            return False
        return variable in self.shared or link.base in self.live

    def _shown_elsewhere(self, c: Contribution, kind: Kind) -> bool:
        """Say whether what is given as a shadow may hold arrays that others hold, too."""
        made = c.value.func if isinstance(c.value, gast.Call) else c.value
        own = isinstance(made, gast.Name) and made.id in self.made_by_calls
        return K.is_container(kind) and may_hold_array(kind) and not own

    def _added(self, shadow: Node, value: Node, kind: Kind) -> Node:
        """Return a shadow to which a value is added; arrays in it may be known by other names."""
        fn = runtime.add_into_arrays if may_hold_array(kind) else runtime.add_into
        return call(name(self.refs.function(fn)), shadow, value)

    def _restore(self, variable: str, key: Any) -> Node:
        raise NotImplementedError


def _of_numbers(kind: Kind) -> bool:
    """Say whether a list holds nothing that could be written where it stands twice."""
    plain = (K.Num, K.NoneKind, K.Str, K.Unbound)
    return isinstance(kind, K.List) and all(isinstance(k, plain) for k in K.options(kind.item))


def _copied_by_user(loop: Node) -> bool:
    """Say whether the user loops over a copy that he makes: `for v in list(d.values())`."""
    made = getattr(getattr(loop, "iter", None), "func", None)
    return getattr(made, "id", None) in ("list", "sorted", "tuple")


def _read_beyond_length(node: Node) -> frozenset[str]:
    """Return the names that an expression reads, where it does not only ask for their length."""
    found: set[str] = set()
    pending = [node]
    while pending:
        n = pending.pop()
        length = isinstance(n, gast.Call) and getattr(n.func, "id", "") == "len"
        if isinstance(n, gast.Name):
            found.add(n.id)
        pending += [] if length else children(n)
    return frozenset(found)


def _mixed(kind: Kind) -> bool:
    """Say whether a value may be a number or an array: a shadow in place is one or the other."""
    return K.may_be_array(kind) and any(isinstance(k, K.Num) for k in K.options(kind))


def _is_value(kind: Kind) -> bool:
    """Say whether an item is a number or an array, or a tuple of such."""
    if isinstance(kind, K.Tuple):
        return all(_is_value(k) or isinstance(k, K.Str | K.NoneKind) for k in kind.items)
    return isinstance(kind, K.Num | K.Array)


def _holds_memory(kind: Kind) -> bool:
    """Say whether items of a list may be written in place themselves."""
    return not isinstance(kind, K.List) or _is_memory(kind.item)


def _is_memory(kind: Kind) -> bool:
    """Say whether a value may be, or hold, memory that can be written."""
    return may_hold_array(kind) or K.reached(kind) != frozenset()


def _place(target: Node, ctx: Any = None) -> Node:
    """Return a place that is read, or in another context."""
    place = clone(target)
    place.ctx = ctx if ctx is not None else gast.Load()
    return place


def _loaded_key(target: Node) -> Node:
    """Return the key of a place that is set, as an expression."""
    key = clone(target.slice)
    if isinstance(key, gast.Tuple):
        key.ctx = gast.Load()
    return key


def _inserted(place: Node, owner: Node) -> Node:
    """Return where in a list stands what was inserted at a place, which may lie beyond its ends."""
    where = place_of(place)
    if where == 0:
        return constant(0)
    last = binary(call("len", owner), gast.Sub, constant(1))
    if where is not None and where > 0:
        return call("min", clone(place), last)
    bounds = call(attribute(call("slice", clone(place), clone(place)), "indices"), last)
    return subscript(bounds, constant(0))


def _moved_back(owner: Node, keys: list[Any]) -> Node:
    """Return what moves entries behind the one that was put back last."""
    again = [call(attribute(clone(owner), "pop"), constant(key)) for key in keys]
    entries = gast.Dict([constant(key) for key in keys], again)
    return gast.Expr(call(attribute(owner, "update"), entries))


def _put_in(owner: Node, args: list[Node], value: Node) -> Node:
    """Return what puts an item back into a list from where pop took it."""
    where = place_of(args[0]) if args else -1
    if where is None:  # counted from the end or not, it is a place among one more item
        length = binary(call("len", clone(owner)), gast.Add, constant(1))
        again = binary(clone(args[0]), gast.Mod, length)
        return gast.Expr(call(attribute(owner, "insert"), again, value))
    if where == -1:
        return gast.Expr(call(attribute(owner, "append"), value))
    again = constant(where + 1 if where < 0 else where)
    return gast.Expr(call(attribute(owner, "insert"), again, value))


def may_hold_array(kind: Kind) -> bool:
    """Say whether a value of a kind may be, or hold, an array."""
    return any(isinstance(k, K.Array | K.Unknown | K.Opaque) for k in K.leaves(kind))
