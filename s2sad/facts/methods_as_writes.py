"""What changes lists and dicts by methods and slices, as the plain writes that it is equal to.

    xs.sort()              ->   t = sorted(xs);  xs[:] = t
    xs[:2] = ys            ->   t = xs[2:];  t_1 = ys + t;  xs[:] = t_1
    d.update(a=x)          ->   d["a"] = x
    for x in xs: xs[i] = y      for i in range(len(xs)): x = xs[i];  xs[i] = y

Appending, popping, inserting and reversing stay: they are undone as they are. So does what has no
equal plain write, such as `d.update` of a dict whose keys are not known.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.facts.dicts import entries
from s2sad.facts.drawn import drawn
from s2sad.facts.flat import flat
from s2sad.facts.indices import indices
from s2sad.facts.inplace import displays
from s2sad.facts.read_before import may_set
from s2sad.facts.rewrite import NumPy, Rewriter
from s2sad.facts.stores import stores
from s2sad.facts.tuples import tuples
from s2sad.known.signature import by_position
from s2sad.nodes import (
    Block,
    Node,
    all_inside,
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
from s2sad.stages import Function, KindFacts, Loop, place_of, plain_field

_MANY = 32


def plain_writes(
    function: Function,
    kinds: KindFacts,
    taken: set[str],
    numpy: NumPy,
    helper: Callable[[Any], str],
) -> Function | None:
    """Return the function with its writing calls as plain writes, None where there are none."""
    written = indices(function, kinds, taken, numpy)
    if written is None:
        written = flat(function, kinds, taken, numpy)
    if written is None:
        written = drawn(function, kinds, taken, numpy)
    if written is None:
        written = tuples(function, kinds, taken, numpy)
    if written is None:
        written = stores(function, kinds, taken, numpy, helper)
    if written is None:
        written = methods(function, kinds, taken, numpy)
    return written if written is not None else entries(function, kinds, taken, numpy)


def methods(function: Function, kinds: KindFacts, taken: set[str], numpy: NumPy) -> Function | None:
    """Return the function with changes of lists and dicts as plain writes, None without any."""
    return _Methods(function, kinds, taken, numpy).rewritten()


class _Methods(Rewriter):
    def __init__(self, function: Function, kinds: KindFacts, taken: set[str], numpy: NumPy) -> None:
        super().__init__(function, kinds, taken, numpy)
        self.displays = displays(function)

    def statement(self, s: Node) -> Block | None:
        if isinstance(s, gast.For):
            self._over_written(s)
            return None
        if isinstance(s, gast.AugAssign):
            return self._augmented(s)
        if isinstance(s, gast.Delete):
            return self._deleted(s)
        value = getattr(s, "value", None)
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Subscript):
            return self._sliced(s.targets[0], value)
        if not isinstance(s, gast.Assign | gast.Expr) or not isinstance(value, gast.Call):
            return None
        if isinstance(s, gast.Assign) and not isinstance(s.targets[0], gast.Name):
            return None
        if any(isinstance(a, gast.Starred) for a in value.args):
            return None
        if any(k.arg is None for k in value.keywords):
            return None
        target = s.targets[0].id if isinstance(s, gast.Assign) else None
        func = value.func
        made = self.kinds.objects.get(func)
        if isinstance(made, type) and dataclasses.is_dataclass(made):
            return self._with_defaults(s, value, made)
        if self.kinds.objects.get(func) is dict and target is not None:
            return self._dict_of(target, value)
        if not isinstance(func, gast.Attribute) or not isinstance(func.value, gast.Name):
            return None
        owner = self.kind(func.value)
        if isinstance(owner, K.List) and func.attr == "sort" and value.keywords and target is None:
            return self._sorted(func.value, value)
        if isinstance(owner, K.List) and not value.keywords:
            return self._of_list(target, func.value, func.attr, value.args)
        if isinstance(owner, K.AnyDict):
            return self._of_dict(target, func.value, owner, value)
        return None

    # lists

    def _of_list(self, target: str | None, xs: Node, method: str, args: Block) -> Block | None:
        if method == "copy" and not args and target is not None:
            return [assign(target, subscript(clone(xs), gast.Slice(None, None, None)))]
        if target is not None and method in ("append", "extend", "insert", "clear", "reverse"):
            call_ = gast.Call(attribute(clone(xs), method), [clone(a) for a in args], [])
            return [gast.Expr(call_), assign(target, gast.Constant(None, None))]
        if target is not None:
            return None
        if method == "clear" and not args:
            return self.lines("t = []\nxs[:] = t", xs=xs)
        if method == "sort" and not args and K.differentiable(self._items(xs)):
            return self.lines("t = sorted(xs)\nxs[:] = t", xs=xs)
        if method == "extend" and len(args) == 1:
            return self._extended(xs, args[0])
        return None

    def _sorted(self, xs: Node, node: Node) -> Block | None:
        """`xs.sort(key=f)` puts what sorted(xs, key=f) gives in the place of the list."""
        if node.args or not K.differentiable(self._items(xs)):
            return None
        ordered = self._fresh("ordered")
        call_ = gast.Call(name("sorted"), [clone(xs)], node.keywords)
        place = gast.Subscript(clone(xs), gast.Slice(None, None, None), gast.Store())
        return [assign(ordered, call_), gast.Assign([place], name(ordered), None)]

    def _fresh(self, base: str) -> str:
        found = self.names.fresh(base)
        self.temps.add(found)
        return found

    def _items(self, xs: Node) -> K.Kind:
        kind = self.kind(xs)
        return kind.item if isinstance(kind, K.List) else K.UNKNOWN

    def _extended(self, xs: Node, more: Node) -> Block | None:
        """Extending by a display stays: it is appending its items."""
        if isinstance(more, gast.Name) and more.id in self.displays:
            return None
        found = self._listed(more)
        if found is None:
            return None
        lines, ys = found
        return [*lines, *self.lines("t = xs + ys\nxs[:] = t", xs=xs, ys=ys)]

    def _listed(self, value: Node) -> tuple[Block, Node] | None:
        """Return a value as a list, and what makes it one."""
        kind = self.kind(value)
        if isinstance(kind, K.List):
            return [], value
        if not isinstance(kind, K.Tuple | K.Array):
            return None
        lines = self.lines("t = list(v)", v=value)
        return lines, name(lines[-1].targets[0].id)

    def _augmented(self, s: Node) -> Block | None:
        if not isinstance(s.target, gast.Name):
            return self._part_augmented(s)
        kind = self.kind(s.target)
        owner = name(s.target.id)
        self.kinds.of[owner] = kind
        if isinstance(kind, K.List) and isinstance(s.op, gast.Add):
            return self._extended(owner, s.value)
        if isinstance(kind, K.List) and isinstance(s.op, gast.Mult):
            if isinstance(self.kind(s.value), K.Num):
                return self.lines("t = xs * n\nxs[:] = t", xs=owner, n=s.value)
        if isinstance(kind, K.AnyDict) and isinstance(s.op, gast.BitOr):
            return self._updated(owner, [s.value], [])
        return None

    def _part_augmented(self, s: Node) -> Block | None:
        """`d[k] += [x]` extends the list that is there; that it is stored again changes nothing."""
        place = s.target
        owner = self.kind(place.value)
        plain = isinstance(owner, K.BuiltIn) and isinstance(place, gast.Subscript)
        if isinstance(owner, K.Obj) and isinstance(place, gast.Attribute):
            plain = plain_field(owner.cls, place.attr)
        read = clone(place)
        read.ctx = gast.Load()
        if not plain or not isinstance(self.kind(place), K.List):
            return None
        if not isinstance(s.op, gast.Add | gast.Mult):
            return None
        first = self._read_first(s)
        if first is not None and self._set_between(first, s):
            return None
        held = self._fresh("part") if first is None else first.targets[0].id
        before = [assign(held, read)] if first is None else []
        return [*before, gast.AugAssign(store(held), s.op, s.value)]

    def _read_first(self, s: Node) -> Node | None:
        """Return the read of a place that comes before the value that is added to it."""
        origin = self.origins.get(s, s)
        for other in all_inside(self.function.node.body):
            if self.origins.get(other) is origin and names_written(other) & self.function.was:
                return other
        return None

    def _set_between(self, first: Node, last: Node) -> bool:
        every = list(all_inside(self.function.node.body))
        return any(
            may_set(n, last.target) for n in every[every.index(first) + 1 : every.index(last)]
        )

    def _deleted(self, s: Node) -> Block | None:
        place = s.targets[0]
        if len(s.targets) != 1 or not isinstance(place, gast.Subscript):
            return None
        if isinstance(place.slice, gast.Slice) and isinstance(self.kind(place.value), K.List):
            return self._sliced(place, None)
        return None

    def _sliced(self, place: Node, value: Node | None) -> Block | None:
        """Put a list in the place of a slice of a list; None stands for an empty one."""
        xs, part = place.value, place.slice
        if not isinstance(part, gast.Slice) or part.step is not None:
            return None
        if not isinstance(xs, gast.Name) or not isinstance(self.kind(xs), K.List):
            return None
        lines: Block = []
        if value is not None:
            found = self._listed(value)
            if found is None:
                return None
            lines, value = [*found[0]], found[1]
        whole = part.lower is None and part.upper is None
        if whole and value is not None and not lines:
            return None
        parts = [value] if value is not None else []
        if part.lower is not None:
            lines += self.lines("t = xs[:a]", xs=xs, a=part.lower)
            parts.insert(0, name(lines[-1].targets[0].id))
        if part.upper is not None:
            lines += self._behind(xs, part.lower, part.upper, parts)
            parts.append(name(lines[-1].targets[0].id))
        if not parts:
            return self.lines("t = []\nxs[:] = t", xs=xs)
        made = parts[0]
        for more in parts[1:]:
            lines += self.lines("t = xs + ys", xs=made, ys=more)
            made = name(lines[-1].targets[0].id)
        return [*lines, *self.lines("xs[:] = t", xs=xs, t=made)]

    def _behind(self, xs: Node, lower: Node | None, upper: Node, parts: Block) -> Block:
        """Return what takes the part of a list behind a slice: never before where that starts."""
        start, stop = (place_of(b) if b is not None else 0 for b in (lower, upper))
        apart = start is not None and stop is not None and 0 <= start <= stop
        if lower is None or apart:
            return self.lines("t = xs[b:]", xs=xs, b=upper)
        text = "t = xs[:b]\nend = max(len(start), len(t))\nrest = xs[end:]"
        return self.lines(text, xs=xs, b=upper, start=parts[0])

    def _over_written(self, s: Node) -> None:
        """A loop over a list whose items it sets reads them one by one, in its body."""
        plan = self.function.loops.get(s)
        if plan is None or plan.bounds is None or not plan.bindings:
            return
        over = {
            n.value.id
            for b in plan.bindings
            for n in walk(b.value)
            if isinstance(n, gast.Subscript) and isinstance(n.value, gast.Name)
        }
        set_ = {n.value.id for part in s.body for n in walk(part) if self._sets_item(n)}
        if not over & set_:
            return
        index = name(plan.index)
        index.ctx = gast.Store()
        s.target = index
        s.iter = call("range", *[clone(b) for b in plan.bounds])
        s.body[:0] = [clone(b) for b in plan.bindings]
        for b in s.body[: len(plan.bindings)]:
            self.origins[b] = self.origins.get(s, s)
        loops: Any = self.function.loops
        loops[s] = Loop(plan.index, True, plan.bounds, ())
        self.changed = True

    def _sets_item(self, n: Node) -> bool:
        return (
            isinstance(n, gast.Subscript)
            and isinstance(n.ctx, gast.Store)
            and isinstance(n.value, gast.Name)
            and isinstance(self.kind(n.value), K.List)
        )

    # dataclasses

    def _with_defaults(self, s: Node, node: Node, cls: Any) -> Block | None:
        """Write out the lists, dicts and the like that fields are by default."""
        fields = [f for f in dataclasses.fields(cls) if f.init]
        given = {*by_position(cls)[: len(node.args)]} | {k.arg for k in node.keywords}
        lines: Block = []
        keywords = list(node.keywords)
        for f in fields:
            if f.default_factory is dataclasses.MISSING or f.name in given:
                continue
            value = self._made_by(f.default_factory, node.func, f.name)
            lines += self.lines("t = v", v=value)
            keywords.append(gast.keyword(f.name, name(lines[-1].targets[0].id)))
        if not lines:
            return None
        call_ = gast.Call(node.func, node.args, keywords)
        return [
            *lines,
            assign(s.targets[0].id, call_) if isinstance(s, gast.Assign) else gast.Expr(call_),
        ]

    def _made_by(self, factory: Any, cls: Node, field: str) -> Node:
        """Return the call of a default factory, by its name if it has one here."""
        if factory is list:
            return gast.List([], gast.Load())
        if factory is dict:
            return gast.Dict([], [])
        source: Any = self.function.source.fn
        known = [n for n, v in source.__globals__.items() if v is factory and n.isidentifier()]
        found = [n for n in known if n not in self.function.locals]
        if found:
            return gast.Call(name(min(found)), [], [])
        table = subscript(attribute(clone(cls), "__dataclass_fields__"), constant(field))
        return gast.Call(attribute(table, "default_factory"), [], [])

    # dicts

    def _of_dict(self, target: str | None, d: Node, owner: K.AnyDict, node: Node) -> Block | None:
        method, args = node.func.attr, node.args
        if method == "update" and target is None:
            return self._updated(d, args, node.keywords)
        if node.keywords:
            return None
        if method == "copy" and not args and target is not None:
            return [assign(target, gast.Dict([None], [clone(d)]))]
        if isinstance(owner, K.OpenDict):
            return None
        if method == "clear" and not args and target is None:
            keys = [key for key, _ in owner.items]
            return [self._gone(d, key) for key in reversed(keys)] if _plain(keys) else None
        return None

    def _gone(self, d: Node, key: Any) -> Node:
        return gast.Delete([gast.Subscript(clone(d), constant(key), gast.Del())])

    def _entry(self, d: Node, key: Any, value: Node) -> Node:
        place = gast.Subscript(clone(d), constant(key), gast.Store())
        return gast.Assign([place], clone(value), None)

    def _updated(self, d: Node, others: Block, keywords: Block) -> Block | None:
        """Set the entries of a dict to those of another one with known keys, one by one."""
        lines: Block = []
        if len(others) > 1:
            return None
        for other in others:
            kind = self.kind(other)
            keys = [key for key, _ in kind.items] if isinstance(kind, K.Dict) else []
            known = isinstance(kind, K.Dict) and isinstance(other, gast.Name) and _plain(keys)
            if not known or len(keys) > _MANY:
                return None
            for key in keys:
                lines += self.lines("t = e[k]", e=other, k=constant(key))
                lines.append(self._entry(d, key, name(lines[-1].targets[0].id)))
        return [*lines, *(self._entry(d, k.arg, k.value) for k in keywords)]

    def _dict_of(self, target: str, node: Node) -> Block | None:
        """`dict(d)` and `dict(d, a=x)` are displays."""
        if len(node.args) != 1 or not isinstance(self.kind(node.args[0]), K.AnyDict):
            return None
        keys = [None, *(constant(k.arg) for k in node.keywords)]
        values = [clone(node.args[0]), *(clone(k.value) for k in node.keywords)]
        return [assign(target, gast.Dict(keys, values))]


def _plain(keys: list[Any]) -> bool:
    """Say whether keys can be written as literals."""
    return all(isinstance(k, str | int) for k in keys)
