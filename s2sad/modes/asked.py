"""Shadows that are found when the program runs, where who shares memory is not known before.

    w = u if x[0] > 0.0 else v           shadows = {}
    w[0] = x[1] * u[2]                   w_bar = shadow_of(shadows, w)
                                         t_bar = w_bar[0]
                                         w_bar[0] = 0.0

Of all names that may share memory, the shadow is looked up by the memory that the name holds: the
owner of an array has one shadow, and a view of it the same view of that. So nothing is passed on
where a name is bound to what is there; where new memory is made, its shadow is complete. A result
that may be either hands its content on: what stays in the memory comes back to it.

A shadow that was looked up is forgotten where blocks begin and end: names may be bound anew there.
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad import runtime
from s2sad.errors import Error, UnsupportedError
from s2sad.kinds import Kind
from s2sad.modes.cotangents import Cotangents, assign_place, may_be_integer
from s2sad.modes.guarded import Site
from s2sad.modes.structured import Contribution
from s2sad.nodes import (
    Block,
    Node,
    assign,
    attribute,
    call,
    clone,
    constant,
    name,
    names_written,
    store,
    subscript,
    walk,
)
from s2sad.stages import Activity, Aliases, Function, KindFacts, Zeros


class Undecided(UnsupportedError):
    """Who shares memory with `names` is not known before the program runs."""

    names: frozenset[str] = frozenset()

    def final(self) -> Error:
        """Return the error for the user."""
        return UnsupportedError(self.reason, remedy=self.remedy, place=self.place)


def reachable(
    names: frozenset[str], function: Function, kinds: KindFacts, aliases: Aliases
) -> frozenset[str] | None:
    """Return all that may share memory with some names, over any number of steps.

    None where that is not only arrays, and structures of arrays and numbers.
    """
    found: set[str] = set()
    pending = sorted(names & function.locals)
    while pending:
        n = pending.pop()
        if n in found:
            continue
        found.add(n)
        pending += sorted({m.partition("@")[0] for m in aliases.ever(n)} & function.locals - found)
    known: dict[str, set[Kind]] = {}
    for table in (kinds.before, kinds.after):
        for env in table.values():
            for n in found & env.keys():
                known.setdefault(n, set()).add(env[n])
    for n in found:
        seen = {k for k in known.get(n, set()) if not isinstance(k, K.Unbound)}
        classes = {K.Dict if isinstance(k, K.OpenDict) else type(k) for k in seen}
        if not all(_plain(k) for k in seen) or len(classes) > 1:
            return None
    return frozenset(n for n in found if any(map(_memory, known.get(n, set()))))


def _memory(kind: Kind) -> bool:
    return isinstance(kind, K.Array | K.Tuple) or K.is_container(kind)


def _plain(kind: Kind) -> bool:
    """Say whether the shadow of a value can be looked up by its memory."""
    if isinstance(kind, K.Tuple):
        return all(_plain(k) and not isinstance(k, K.Tuple) for k in kind.items)
    if isinstance(kind, K.OneOf):
        return all(map(_plain, kind.options))
    return all(map(_item, K.together(kind))) if kind.mutable else isinstance(kind, _PLAIN)


_PLAIN = (K.Num, K.Array, K.Str, K.NoneKind, K.Known, K.LocalFunction, K.Unbound)


def _item(kind: Kind) -> bool:
    if isinstance(kind, K.Tuple):
        return not any(isinstance(k, K.Num) and K.differentiable(k) for k in kind.items)
    if isinstance(kind, K.Union):
        return all(map(_item, kind.options))
    return _plain(kind)


def has_numbers(kind: Kind) -> bool:
    """Say whether a structure holds numbers with derivatives, or what nobody knows."""
    if isinstance(kind, K.Num | K.Unknown):
        return K.differentiable(kind)
    return any(map(has_numbers, K.together(kind)))


class Asked(Cotangents):
    """The shadows that are looked up: of arrays and structures, and of what tuples hold.

    `asked` are the arrays and structures, `split` the tuples that hold such: of these, only the
    numbers have cotangents of their own. `lent` are the caller's shadows of parameters: their
    content is brought in first and taken back last.
    """

    aliases: Aliases
    activity: Activity
    zeros: Zeros
    held: set[str]
    ends: Any

    def ask_for(self, names: frozenset[str]) -> None:
        """Look up the shadows of these names, which are closed under sharing memory."""
        tables = (*self.kinds.before.values(), *self.kinds.after.values())
        tuples = {n for n in names if any(isinstance(t.get(n), K.Tuple) for t in tables)}
        self.split = frozenset(tuples)
        self.asked = names - tuples
        self.lent: dict[str, str] = {}
        self.table = self.names.fresh("shadows") if names else ""
        self.repeats = any(
            isinstance(s, gast.Assign) and names_written(s) & names and self._repeats(s.value)
            for s in walk(self.function.node)
        )

    def looked_up(self) -> frozenset[str]:
        """Return the names of the shadows that are looked up: all may share memory."""
        bars = {self.bars[n] for n in self.asked if n in self.bars}
        return frozenset(bars | {self.table}) if self.table else frozenset()

    def undecided(self, at: Any, names: set[str], reason: str, remedy: str) -> Error:
        """Return what says that shadows are to be looked up, or that this is no way out."""
        error = self.refuse(at, reason, remedy)
        if names <= self.asked | self.split:
            return error
        found = Undecided(error.reason, remedy=error.remedy, place=error.place)
        found.names = frozenset(names)
        return found

    def useful(self, s: Node, variable: str) -> bool:
        """Say whether the result depends on what a statement leaves in a variable's memory."""
        changed = self.aliases.partners(s, variable)
        return bool(changed & self.activity.useful_after.get(s, frozenset()))

    def shadow(self, value: Node) -> Node:
        """Return the shadow of a value."""
        return call(self.refs.function(runtime.shadow_of), name(self.table), value)

    def ask(self, variable: str, kind: Kind) -> Block:
        """Return what looks up the shadow of a variable."""
        if variable in self.live:
            return []
        self.live.add(variable)
        self.note_kind(variable, kind)
        return [assign(self.bar(variable), self.shadow(name(variable)))]

    def forget_asked(self) -> None:
        """Forget which shadows were looked up: names may be bound to other memory now."""
        self.live -= self.asked

    def moved(self, variable: str) -> Node:
        """Return the content of a shadow, which is left zero."""
        return call(self.refs.function(runtime.take_from_shadow), name(self.bar(variable)))

    def parts_moved(self, variable: str, kind: Kind) -> Node:
        """Return the cotangent of a tuple: its numbers' own, and the content of its shadows."""
        assert isinstance(kind, K.Tuple)
        parts: list[Node] = []
        live = variable in self.live
        for i, k in enumerate(kind.items):
            place = subscript(name(variable), gast.Constant(i, None))
            if _memory(k) and K.differentiable(k):
                part: Node = call(self.refs.function(runtime.take_from_shadow), self.shadow(place))
            elif live and K.differentiable(k):
                part = subscript(name(self.bar(variable)), gast.Constant(i, None))
            else:
                part = self.zero(place, k)
            parts.append(part)
        return gast.Tuple(parts, gast.Load())

    def on_entry(self, variable: str, kind: Kind, at: Any) -> Block:
        """Return what leaves a parameter's cotangent under its name, when all is undone."""
        if variable not in self.split:
            return self.ensure(variable, kind, at)
        parts = self.parts_moved(variable, kind)
        self.live.add(variable)
        self.note_kind(variable, kind)
        return [assign(self.bar(variable), parts)]

    def content_of(self, variable: str, kind: Kind) -> tuple[Block, Node]:
        """Take the content out of the shadow of a variable: what follows adds it where it belongs.

        What a call returns may be memory that was there before: then it comes back to it.
        """
        held = self.names.fresh(f"{variable}_bar")
        self.bar_kinds[held] = kind
        self.held.add(held)
        if variable in self.split:
            taken = assign(held, self.parts_moved(variable, kind))
            self.live.discard(variable)
            return [taken], name(held)
        out = [*self.ask(variable, kind), assign(held, self.moved(variable))]
        self.live.discard(variable)
        return out, name(held)

    def assignment_asked(self, s: Node, variable: str, value: Node, restore: Node) -> Block:
        """Undo `variable = value` where the shadow is looked up: only new memory passes it on."""
        strange = self.no_look_up(s, variable, value)
        if strange is not None:
            raise strange
        kind = self.kinds.after.get(s, {}).get(variable, K.UNKNOWN)
        func = self.kinds.objects.get(getattr(value, "func", None))
        display = isinstance(value, gast.List | gast.Dict) or func is runtime.object_of
        varied = self.activity.after(s)
        if self.is_there(value) or variable not in varied or (display and not has_numbers(kind)):
            passed = self._numbers_on(s, variable, value) if variable in varied else []
            self.live.discard(variable)
            return [*passed, restore]
        partners = self.aliases.pairs_after.get(s, {}).get(variable, frozenset())
        fresh = isinstance(kind, K.Array) and all(n.startswith("call@") for n in partners)
        out = self._comment(s)
        own = variable in self.read_by(value)
        bar: Node = name(self.bar(variable))
        if fresh or display:
            out += self.ask(variable, kind)
            if own:
                held = self.names.fresh(f"{variable}_bar")
                self.held.add(held)
                out.append(assign(held, bar))
                bar = name(held)
            self.live.discard(variable)
        else:
            taken, bar = self.content_of(variable, kind)
            out += taken
        marker = f"{variable}@out" if own else None
        site = Site(s, value, name(marker or variable), bar, kind, self.zeros.guards.get(s))
        pre, found = self.back(site, self.activity.varied_before[s])
        if display:
            before = self.kinds.before.get(s, {})
            found = [c for c in found if c.operand not in self.asked or self._copies(c, before)]
        after = [self._restore(self.ends.kept[s], s)] if s in self.ends.kept else []
        return [*out, *self._place(s, variable, marker, pre, found, restore), *after]

    def _numbers_on(self, s: Node, variable: str, value: Node) -> Block:
        """Pass on what the numbers of a tuple have got, where it gets one more name."""
        kind = self.kinds.after.get(s, {}).get(variable, K.UNKNOWN)
        if variable not in self.live or not isinstance(value, gast.Name):
            return []
        if variable not in self.split or not isinstance(kind, K.Tuple):
            return []
        bar = name(self.bar(variable))
        return [
            line
            for i, k in enumerate(kind.items)
            if isinstance(k, K.Num) and K.differentiable(k)
            for line in self.add(
                Contribution(value.id, subscript(bar, gast.Constant(i, None)), ("item", i)), kind, s
            )
        ]

    def _copies(self, c: Contribution, before: dict[str, Kind]) -> bool:
        """Say whether numbers are copied: memory that a display holds has its shadow there."""
        kind = before.get(c.operand, K.UNKNOWN)
        if c.path is None or not isinstance(kind, K.AnyDict):
            return False
        return isinstance(self._part_kind(kind, *c.path), K.Num)

    def add_asked(self, c: Contribution, kind: Kind, at: Any) -> Block:
        """Add to the shadow of an array or a structure, in place."""
        out = self.ask(c.operand, kind)
        bar = name(self.bar(c.operand))
        if isinstance(kind, K.Array):
            if self.repeats and c.path is not None and self._one_element(c.path[1], kind):
                return [*out, *Cotangents.add(self, c, kind, at)]
            if self.repeats and (c.path is None or self.basic(c.path[1])):
                part = bar if c.path is None else subscript(bar, c.path[1])
                return [*out, self._into(part, c.value)]
            if self.repeats and c.path is not None:
                c = Contribution(c.operand, c.value, c.path, True)
            if c.path is None:
                return [*out, gast.AugAssign(store(bar.id), gast.Add(), c.value)]
            return [*out, *Cotangents.add(self, c, kind, at)]
        if c.path is None:
            return [*out, self._into(bar, c.value)]
        how, where = c.path
        inner = self._part_kind(kind, how, where)
        if isinstance(where, gast.Slice) and has_numbers(kind):
            raise self.refuse(
                at,
                f"s2sad cannot differentiate a slice of `{c.operand}`, which holds both "
                "numbers and memory that has several names.",
                "Read the items one by one.",
            )
        place = attribute(bar, where) if how == "attr" else subscript(bar, where)
        if all(isinstance(k, K.Num | K.NoneKind) for k in K.options(inner)):
            if not isinstance(inner, K.Num) or may_be_integer(inner):
                # None is the shadow of what is no float
                return [*out, self._onto(place, c.value, kind)]
            return [*out, *Cotangents.add(self, c, kind, at)]
        return [*out, self._into(place, c.value)]

    def add_split(self, c: Contribution, kind: K.Tuple, at: Any) -> Block:
        """Add to what a tuple holds: to memory in place, to numbers as everywhere."""
        if c.path is not None:
            item = c.path[1]
            if isinstance(item, int) and isinstance(kind.items[item], K.Num):
                return Cotangents.add(self, c, kind, at)
            place = item if isinstance(item, gast.AST) else gast.Constant(item, None)
            return [self._into(self.shadow(subscript(name(c.operand), place)), c.value)]
        held = self.names.fresh(f"{c.operand}_parts_bar")
        out: Block = [assign(held, c.value)]
        for i, k in enumerate(kind.items):
            part = subscript(name(held), gast.Constant(i, None))
            if isinstance(k, K.Num) and K.differentiable(k):
                out += Cotangents.add(self, Contribution(c.operand, part, ("item", i)), kind, at)
            elif _memory(k) and K.differentiable(k):
                place = subscript(name(c.operand), gast.Constant(i, None))
                out.append(self._into(self.shadow(place), part))
        return out

    def _onto(self, place: Node, value: Node, owner: Kind) -> Node:
        """Add to a number in a shadow, where it may be None."""
        added = call(self.refs.function(runtime.add), clone(place), value)
        return assign_place(place, added, owner)

    def _into(self, place: Node, value: Node) -> Node:
        return gast.Expr(call(self.refs.function(runtime.add_into_shadow), place, value))

    def borrow(self, variables: list[str]) -> Block:
        """Bring in what the caller's shadows hold: a place that has two names has both sums."""
        out: Block = []
        for n in variables:
            self.lent[n] = self.bar(n)
            self.bars[n] = self.names.fresh(f"{n}_bar")
            self.live.discard(n)
            first, mine = self._looked_up(n)
            out += [*first, self._put(mine, name(self.lent[n]), n, more=True)]
        return out

    def give_back(self) -> Block:
        """Leave in the caller's shadows what has been gathered."""
        out: Block = []
        for n, given in self.lent.items():
            first, mine = self._looked_up(n)
            out += [*first, self._put(name(given), mine, n)]
        return out

    def _looked_up(self, parameter: str) -> tuple[Block, Node]:
        if parameter in self.split:
            return [], self.shadow(name(parameter))
        out = self.ask(parameter, self._entry_kind(parameter))
        return out, name(self.bars[parameter])

    def _put(self, target: Node, value: Node, parameter: str, *, more: bool = False) -> Node:
        """Put the content of one shadow of a parameter into another one, or add it there."""
        if not isinstance(self._entry_kind(parameter), K.Array):
            settings = {"more": constant(True)} if more else {}
            return gast.Expr(call(self.refs.function(runtime.put_into), target, value, **settings))
        place = subscript(target, gast.Constant(Ellipsis, None))
        place.ctx = gast.Store()
        return (
            gast.AugAssign(place, gast.Add(), value) if more else gast.Assign([place], value, None)
        )

    def back(self, site: Site, varied: frozenset[str]) -> tuple[Block, list[Contribution]]:
        raise NotImplementedError

    def read_by(self, value: Node) -> set[str]:
        """Return the variables that a value reads, those included that functions capture."""
        raise NotImplementedError

    def _place(
        self,
        s: Node,
        variable: str,
        marker: str | None,
        pre: Block,
        found: list[Contribution],
        restore: Node,
    ) -> Block:
        raise NotImplementedError

    def _restore(self, variable: str, key: Any) -> Node:
        raise NotImplementedError

    def _comment(self, s: Node) -> Block:
        raise NotImplementedError

    def _entry_kind(self, variable: str) -> Kind:
        return self.kinds.before.get(self.function.node.body[0], {}).get(variable, K.UNKNOWN)

    def is_there(self, value: Node) -> bool:
        """Say whether a value is memory that was there before: nothing is computed or copied."""
        if isinstance(value, gast.Name) or self._repeats(value):
            return True
        if not isinstance(value, gast.Subscript | gast.Attribute) or value in self.kinds.methods:
            return False
        owner = self.kinds.of.get(value.value, K.UNKNOWN)
        if isinstance(owner, K.Array):
            if isinstance(value, gast.Attribute):
                return value.attr in ("T", "mT", "real")
            return self.basic(value.slice)
        if isinstance(getattr(value, "slice", None), gast.Slice):
            return False
        return isinstance(owner, K.Tuple) or K.is_container(owner)

    def _repeats(self, value: Node) -> bool:
        """Say whether a value is a view in which elements may stand again and again."""
        fn = self.kinds.objects.get(getattr(value, "func", None))
        return isinstance(value, gast.Call) and fn is np.broadcast_to

    def _one_element(self, index: Node, kind: K.Array) -> bool:
        """Say whether an index names one element of an array."""
        parts = index.elts if isinstance(index, gast.Tuple) else [index]
        kinds = [self.kinds.of.get(p, K.UNKNOWN) for p in parts]
        return len(parts) == kind.rank and all(
            isinstance(k, K.Num) and k.type == "int" for k in kinds
        )

    def basic(self, index: Node) -> bool:
        """Say whether an index gives a view."""
        if isinstance(index, gast.Tuple):
            return all(map(self.basic, index.elts))
        kind = self.kinds.of.get(index, K.UNKNOWN)
        whole = isinstance(index, gast.Slice) or getattr(index, "value", None) is Ellipsis
        number = isinstance(kind, K.Num) and kind.type == "int"
        return whole or number or isinstance(kind, K.NoneKind)

    def no_look_up(self, s: Node, variable: str, value: Node) -> Error | None:
        """Return why the shadow of a view is not found by memory: it overlaps, or has a sign."""
        if isinstance(value, gast.Attribute):
            word = value.attr if value.attr == "imag" else ""
        elif value in self.kinds.methods:
            return None
        else:
            func = getattr(value, "func", None)
            fn, attr = self.kinds.objects.get(func), getattr(func, "attr", "")
            strange = fn in _STRANGE or (fn is None and attr == "view")
            word = getattr(fn, "__name__", attr) if strange else ""
        if not word:
            return None
        return self.refuse(
            s,
            f"`{word}` makes a view of memory that has several names and is written in place; "
            f"s2sad cannot find the derivative of such a view (`{variable}`).",
            f"Copy it: {variable} = {variable}.copy().",
        )


_STRANGE: tuple[Any, ...] = (np.imag, np.broadcast_arrays, np.meshgrid)
