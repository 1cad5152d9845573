"""Attributes that are asked for by a name that the program says, as what they are.

    y = getattr(v, "x")                          ->   y = v.x
    y = getattr(v, "x", 1.0)                     ->   y = v.x, or y = 1.0 where v has no x
    setattr(v, "x", y)                           ->   v.x = y

    for n in ("x", "y"):                         ->   n = "x"
        s += getattr(v, n) ** 2                       s += v.x ** 2
                                                      n = "y"
                                                      s += v.y ** 2

What such a loop does with each name depends on the kind of what has that name. So does what a loop
over a dict does with each key, where the items are of many kinds, or the keys name attributes.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection
from dataclasses import replace
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.facts.rewrite import NumPy, Rewriter
from s2sad.known.open_dicts import literal_key
from s2sad.nodes import (
    SCOPES,
    Block,
    Node,
    all_inside,
    assign,
    block_writes,
    call,
    clone,
    constant,
    locate,
    name,
    names_written,
    rename,
    subscript,
    substitute,
    walk,
)
from s2sad.stages import Ahead, Function, KindFacts, Loop


def _renamed(plan: Loop, table: dict[str, str]) -> Loop:
    """Return how a loop is run backward, under other names."""
    bounds = plan.bounds
    if bounds is not None:
        bounds = tuple(rename(clone(b), table) for b in bounds)
    return replace(
        plan, bounds=bounds, bindings=tuple(rename(clone(b), table) for b in plan.bindings)
    )


_ASKING = (getattr, setattr, hasattr, delattr)
_MANY = 16


def by_name(
    function: Function,
    kinds: KindFacts,
    taken: set[str],
    numpy: NumPy,
    apart: Collection[str] = (),
) -> Function | None:
    """Return the function with attributes written out, None where none is asked for by name.

    Loops over keys are written out where that lets dicts be taken `apart`, too.
    """
    worker = _ByName(function, kinds, taken, numpy, apart)
    made = worker.rewritten()
    return None if made is None else replace(made, ahead={**made.ahead, **worker.ahead})


class _ByName(Rewriter):
    def __init__(
        self,
        function: Function,
        kinds: KindFacts,
        taken: set[str],
        numpy: NumPy,
        apart: Collection[str],
    ) -> None:
        super().__init__(function, kinds, taken, numpy)
        self.apart = apart
        self.ahead: dict[str, Ahead] = {}

    def block(self, body: Block) -> Block:
        """Write loops over names out, then the attributes that single statements ask for."""
        out: Block = []
        for s in body:
            each = (self._each_name(s) or self._each_key(s)) if isinstance(s, gast.For) else None
            lines = each
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
            kind = self.kind(owner)
            options = kind.inside if kind.how == "option" else (kind,)
            return self._with_default(s, read, {_has(k, word) for k in options})
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

    def _with_default(self, s: Node, read: Node, has: set[bool | None]) -> Block | None:
        """Return what reads an attribute that some of the objects have; None where nobody knows."""
        if None in has:
            return None
        there = gast.Assign(s.targets, read, None)
        missing = gast.Assign([clone(t) for t in s.targets], clone(s.value.args[2]), None)
        if len(has) == 1:
            return [there if True in has else missing]
        test = call("hasattr", *map(clone, s.value.args[:2]))
        return [gast.If(test, [there], [missing])]

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
            lines += self._once_more(s, known)
        return self._noted(s, lines)

    def _once_more(self, s: Node, known: dict[str, Node]) -> Block:
        """Return the body of a loop for one turn, of which some names are known."""
        again = [substitute(clone(inner), known) for inner in s.body]
        table = self._own_names(s)
        for new, old in zip(all_inside(again), all_inside(s.body), strict=True):
            self.origins[new] = self.origins.get(old, self.origins.get(s, s))
            if old in self.function.loops:
                loops: Any = self.function.loops
                loops[new] = _renamed(self.function.loops[old], table)
        return [rename(line, table) for line in again]

    def _own_names(self, s: Node) -> dict[str, str]:
        """Return new names for the temporaries of a turn that nothing else reads."""
        bound = block_writes(s.body) & self.function.temps
        plans = [self.function.loops[b] for b in all_inside(s.body) if b in self.function.loops]
        bound -= {plan.index for plan in plans}
        uses = [n.id for n in walk(self.function.node) if isinstance(n, gast.Name)]
        inside = [n.id for inner in s.body for n in walk(inner) if isinstance(n, gast.Name)]
        own = {n: self.names.fresh(n) for n in sorted(bound) if uses.count(n) == inside.count(n)}
        self.temps |= set(own.values())
        known = self.function.ahead
        self.ahead |= {own[n]: known[n].renamed(own) for n in own if n in known}
        return own

    def _noted(self, s: Node, lines: Block) -> Block:
        """Return what a loop is written out as, with where it comes from."""
        for line in lines:
            if line not in self.origins:
                self.origins[line] = self.origins.get(s, s)
                for n in walk(line):
                    locate(n, s)
        return lines

    def _each_key(self, s: Node) -> Block | None:
        """Return what a loop over a dict does with its keys, where its items are of many kinds."""
        found = self._dict_over(s)
        strange = (gast.Break, gast.Continue, *SCOPES)
        if (
            found is None
            or s.orelse
            or any(isinstance(n, strange) for b in s.body for n in walk(b))
        ):
            return None
        d, key, part, keys = found
        if block_writes(s.body) & {d, key, part}:
            return None
        lines: Block = []
        for word in keys:
            literal = gast.Constant(word, None)
            lines.append(assign(key, literal) if key else gast.Pass())
            if part:
                lines.append(assign(part, subscript(name(d), clone(literal))))
            lines += self._once_more(s, {key: literal})
        return self._noted(s, [line for line in lines if not isinstance(line, gast.Pass)])

    def _dict_over(self, s: Node) -> tuple[str, str, str, list[Any]] | None:
        """Return the dict that a loop goes through, the names it binds, and the dict's keys."""
        over, how = self._listed(s), "keys"
        if isinstance(over, gast.Call) and isinstance(over.func, gast.Attribute) and not over.args:
            over, how = over.func.value, over.func.attr
        kind = self.kind(over)
        if not isinstance(over, gast.Name) or not isinstance(kind, K.Dict):
            return None
        if over is not s.iter and self.kinds.before.get(s, {}).get(over.id) != kind:
            return None  # between its keys are listed and the loop it changes
        keys = list(kind.steps)
        plain = all(isinstance(k, str | int) for k in keys) and len(keys) <= _MANY
        joined = K.one_of(map(K.erase_value, kind.inside))
        if not plain or not keys:
            return None
        alike = not isinstance(joined, K.Unknown | K.Union)
        if alike and not self._asks(s) and not self._looks_up(s, over.id):
            return None
        names = [getattr(t, "id", "") for t in getattr(s.target, "elts", [s.target])]
        if not all(names) or len(names) != (2 if how == "items" else 1):
            return None
        table = {"keys": (names[0], ""), "items": tuple(names), "values": ("", names[0])}
        return (over.id, *table[how], keys) if how in table else None

    def _listed(self, s: Node) -> Node:
        """Return what a loop goes through: where it is a list of that, of what no round changes."""
        over = s.iter
        calls = [n for b in s.body for n in walk(b) if isinstance(n, gast.Call)]
        fns = [self.kinds.objects.get(n.func) for n in calls]
        stores = (n for b in s.body for n in walk(b) if isinstance(n, gast.Subscript))
        if not self._asks(s) or not all(any(fn is f for f in _ASKING) for fn in fns):
            return over
        if any(not isinstance(n.ctx, gast.Load) for n in stores):
            return over
        while isinstance(over, gast.Name) and over.id in self.function.temps:
            made = [b for b in all_inside(self.function.node.body) if over.id in names_written(b)]
            value = getattr(made[0], "value", None) if len(made) == 1 else None
            if not isinstance(value, gast.Call):
                break
            if self.kinds.objects.get(value.func) is list and len(value.args) == 1:
                over = value.args[0]
            elif isinstance(value.func, gast.Attribute) and not value.args:
                return value
            else:
                break
        return over

    def _looks_up(self, s: Node, over: str) -> bool:
        """Say whether a loop over a dict keeps it, or another one, from being taken apart."""
        parts = [n for b in s.body for n in walk(b) if isinstance(n, gast.Subscript)]
        return over in self.apart or any(
            getattr(n.value, "id", None) in self.apart
            and literal_key(self.kind(n.slice)) is K.MISSING
            for n in parts
        )

    def _asks(self, s: Node) -> bool:
        """Say whether the body of a loop asks for attributes by what its header binds."""
        plan = self.function.loops.get(s)
        bound = names_written(s.target)
        for b in plan.bindings if plan is not None else ():
            bound |= names_written(b)
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


def _has(kind: K.Kind, word: str) -> bool | None:
    """Say whether an object has an attribute; None of what may work it out when it is asked."""
    if kind == K.NONE:
        return hasattr(None, word)
    if not isinstance(kind, K.Obj):
        return None
    if inspect.getattr_static(kind.cls, "__getattr__", None) is not None:
        return None
    held = inspect.getattr_static(kind.cls, word, K.MISSING)
    return word in dict(kind.fields) or held is not K.MISSING
