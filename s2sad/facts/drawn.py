"""Lazy sequences that are read to their end, as the loops that fill a list.

    t = zip(xs, ys)                ->   pairs = []
    pairs = list(t)                     for p, q in zip(xs, ys): pairs.append((p, q))
    for a, b in t: ...                  for a, b in zip(xs, ys): ...

A lazy sequence must be read once, in the block that makes it, and nothing that may change what it
goes through stands between. What carries no derivative stays as it is.
"""

from __future__ import annotations

import itertools
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import registry
from s2sad.facts.results import element_kind
from s2sad.facts.rewrite import NumPy, Rewriter
from s2sad.nodes import (
    Block,
    Node,
    all_inside,
    assign,
    attribute,
    block_writes,
    blocks_of,
    call,
    clone,
    constant,
    locate,
    name,
    names_read,
    names_written,
    store,
    subscript,
    tuple_,
    walk,
)
from s2sad.stages import Function, KindFacts, Loop
from s2sad.syntax.elements import element

_LAZY: tuple[Any, ...] = (zip, enumerate, reversed)
_READERS: tuple[Any, ...] = (list, tuple, sorted, sum, max, min)
_PICKING: tuple[Any, ...] = (sorted, max, min)
_COMBINING: tuple[Any, ...] = (
    itertools.product,
    itertools.combinations,
    itertools.combinations_with_replacement,
    itertools.permutations,
    itertools.pairwise,
    itertools.chain,
)
_MOST = 8


def drawn(function: Function, kinds: KindFacts, taken: set[str], numpy: NumPy) -> Function | None:
    """Return the function without lazy sequences of what carries derivatives, None without any."""
    return _Drawn(function, kinds, taken, numpy).rewritten()


def _last_bound(lines: Block) -> str:
    """Return the list that lines make: the last that is assigned, or filled by their loop."""
    return next(str(s.targets[0].id) for s in reversed(lines) if isinstance(s, gast.Assign))


class _Drawn(Rewriter):
    def __init__(self, function: Function, kinds: KindFacts, taken: set[str], numpy: NumPy) -> None:
        super().__init__(function, kinds, taken, numpy)
        self.made: dict[str, list[Node]] = {}
        for s in all_inside(function.node.body):
            for n in names_written(s) if not blocks_of(s) else ():
                self.made.setdefault(n, []).append(s)
        self.reads: dict[str, int] = {}
        for n in walk(function.node):
            if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load):
                self.reads[n.id] = self.reads.get(n.id, 0) + 1

    def block(self, body: Block) -> Block:
        """Put loops in the place of what reads lazy sequences, then rewrite the statements."""
        for s in list(body):
            if isinstance(s, gast.For):
                self._run_over(body, s)
            elif isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
                self._read(body, s)
        return super().block(body)

    def statement(self, s: Node) -> Block | None:
        value = getattr(s, "value", None)
        if not isinstance(s, gast.Assign) or not isinstance(s.targets[0], gast.Name):
            return None
        if not isinstance(value, gast.Call):
            return None
        if not any(self.kinds.objects.get(value.func) is fn for fn in _PICKING):
            return None
        asked = [k for k in value.keywords if k.arg != "key" or self.kind(k.value) != K.NONE]
        if len(asked) < len(value.keywords):  # key=None is that there is none
            return [gast.Assign(s.targets, gast.Call(value.func, value.args, asked), None)]
        return self._from_list(s, value)

    def _fresh(self, base: str) -> str:
        found = self.names.fresh(base)
        self.temps.add(found)
        return found

    # lazy sequences

    def _lazy(self, node: Node, body: Block, before: Node) -> tuple[Node, list[Node]] | None:
        """Return what makes a lazy sequence, written as one call, and the statements that do."""
        if not isinstance(node, gast.Name) or self.reads.get(node.id) != 1:
            return None
        made = self.made.get(node.id, [])
        if len(made) != 1 or made[0] not in body or not isinstance(made[0], gast.Assign):
            return None
        value = made[0].value
        if not isinstance(made[0].targets[0], gast.Name) or not self._is_lazy(value):
            return None
        between = body[body.index(made[0]) + 1 : body.index(before)]
        args: list[Node] = []
        makers = [made[0]]
        for arg in value.args:
            inner = self._lazy(arg, body, before)
            args.append(arg if inner is None else inner[0])
            makers += [] if inner is None else inner[1]
        if not all(s in makers or self._harmless(s, names_read(value)) for s in between):
            return None
        whole = locate(gast.Call(value.func, args, value.keywords), value)
        return whole, makers

    def _is_lazy(self, node: Node) -> bool:
        if not isinstance(node, gast.Call):
            return False
        fn = self.kinds.objects.get(node.func)
        named = any(fn is f for f in _LAZY) and isinstance(node.func, gast.Name)
        if not named and not any(fn is f for f in _COMBINING):
            return False
        return not any(isinstance(a, gast.Starred) for a in node.args)

    def _harmless(self, s: Node, used: set[str]) -> bool:
        """Say whether a statement leaves the content of some variables as it is."""
        if isinstance(s, gast.FunctionDef):
            return True
        if not isinstance(s, gast.Assign) or names_written(s) & used:
            return False
        if not all(isinstance(t, gast.Name) for t in s.targets):
            return False
        for n in walk(s.value):
            if n in self.kinds.methods:
                return False
            if isinstance(n, gast.Call) and not self._is_lazy(n):
                if registry.rule_for(self.kinds.objects.get(n.func)) is None:
                    return False
        return True

    def _read(self, body: Block, s: Node) -> None:
        """`t = list(z)` of a lazy sequence z fills a list by a loop."""
        value = s.value
        if not isinstance(value, gast.Call) or not value.args:
            return
        if not any(self.kinds.objects.get(value.func) is fn for fn in _READERS):
            return
        kind = self.kind(value.args[0])
        found = self._lazy(value.args[0], body, s)
        if found is None or not K.differentiable(element_kind(kind)):
            return
        lines = self._filled(found[0])
        if lines is None:
            return
        items = _last_bound(lines)
        if self.kinds.objects.get(value.func) is list and len(value.args) == 1:
            last = assign(s.targets[0].id, name(items))
        else:
            again = gast.Call(value.func, [name(items), *value.args[1:]], value.keywords)
            last = assign(s.targets[0].id, locate(again, value))
        self._put(body, s, found[1], [*lines, last])

    def _filled(self, whole: Node) -> Block | None:
        """Return a list and the loop that fills it with what a lazy sequence gives."""
        if any(self.kinds.objects.get(whole.func) is fn for fn in _COMBINING):
            return self._combined(whole)
        index = self._fresh("i")
        bounds, item = element(whole, name(index), False)
        if bounds is None:
            return None
        items = self._fresh("items")
        target, start, shown = self._target(item)
        if isinstance(item, tuple):
            held = self._fresh("item")
            start.append(assign(held, shown))
            shown = name(held)
        append = gast.Expr(call(attribute(name(items), "append"), shown))
        loop = gast.For(target, whole, [*start, append], [], None)
        self._plan(loop, index, bounds, self._bound(target, item))
        return [assign(items, gast.List([], gast.Load())), loop]

    def _combined(self, whole: Node) -> Block | None:
        """Return a list of what itertools puts together, by the places in what it is given."""
        fn, args = self.kinds.objects[whole.func], list(whole.args)
        sequences = args if fn in (itertools.product, itertools.chain) else args[:1]
        for a in sequences:
            kind = self.kind(a)
            indexed = isinstance(kind, K.List | K.Tuple | K.Array)
            indexed = indexed or (isinstance(kind, K.Iterable_) and kind.indexed)
            if not isinstance(a, gast.Name) or not indexed:
                return None
        if whole.keywords:
            return None
        if fn is itertools.chain:
            return self._joined(args)
        lengths = [call("len", clone(a)) for a in sequences]
        if fn is itertools.pairwise:
            ones = [gast.BinOp(lengths[0], gast.Sub(), constant(1))]
            index = self._fresh("i")
            after = gast.BinOp(name(index), gast.Add(), constant(1))
            reads = [subscript(clone(args[0]), name(index)), subscript(clone(args[0]), after)]
            return self._gathered(index, call("range", *ones), None, reads)
        if fn is itertools.product:
            ranges = [call("range", n) for n in lengths]
            made, owners = gast.Call(clone(whole.func), ranges, []), sequences
        else:
            count = getattr(self.kind(args[1]), "value", None) if len(args) == 2 else None
            if type(count) is not int or not 0 < count <= _MOST:
                return None
            made = gast.Call(clone(whole.func), [call("range", lengths[0]), args[1]], [])
            owners = sequences * count
        places = [self._fresh("at") for _ in owners]
        reads = [subscript(clone(a), name(p)) for a, p in zip(owners, places, strict=True)]
        return self._gathered(self._fresh("places"), call("list", made), places, reads)

    def _joined(self, args: Block) -> Block:
        """`chain(xs, ys)` is one list after the other."""
        lines: Block = []
        total: Node | None = None
        for a in args:
            part = self._fresh("items")
            lines.append(assign(part, call("list", clone(a))))
            if total is None:
                total = name(part)
                continue
            both = self._fresh("items")
            lines.append(assign(both, gast.BinOp(total, gast.Add(), name(part))))
            total = name(both)
        return lines

    def _gathered(self, start: str, over: Node, places: list[str] | None, reads: Block) -> Block:
        """Return a list and the loop that fills it with tuples of what stands at places."""
        items, item = self._fresh("items"), self._fresh("item")
        parts = [self._fresh("part") for _ in reads]
        body = [assign(p, r) for p, r in zip(parts, reads, strict=True)]
        body.append(assign(item, tuple_([name(p) for p in parts])))
        body.append(gast.Expr(call(attribute(name(items), "append"), name(item))))
        empty = assign(items, gast.List([], gast.Load()))
        loops: Any = self.function.loops
        if places is None:
            loop = gast.For(store(start), over, body, [], None)
            loops[loop] = Loop(start, True, tuple(over.args), ())
            return [empty, loop]
        index = self._fresh("i")
        target = gast.Tuple([store(p) for p in places], gast.Store())
        held = self._fresh("place")
        loop = gast.For(target, name(start), body, [], None)
        bound = [
            assign(held, subscript(name(start), name(index))),
            gast.Assign([clone(target)], name(held), None),
        ]
        self._plan(loop, index, (call("len", name(start)),), bound)
        return [assign(start, over), empty, loop]

    def _target(self, item: Any) -> tuple[Node, Block, Node]:
        """Return new variables for what a loop binds, and it as a value again, step by step."""
        if not isinstance(item, tuple):
            part = self._fresh("part")
            return store(part), [], name(part)
        targets, lines, values = [], [], []
        for inner in item:
            target, more, value = self._target(inner)
            if isinstance(inner, tuple):
                held = self._fresh("pair")
                more.append(assign(held, value))
                value = name(held)
            targets.append(target)
            lines += more
            values.append(value)
        return gast.Tuple(targets, gast.Store()), lines, tuple_(values)

    def _bound(self, target: Node, item: Any) -> Block | None:
        """Return what a loop's header binds, from the elements it goes through."""
        if isinstance(target, gast.Name):
            lines, value = self._value(item)
            return [*lines, assign(target.id, value)]
        if isinstance(item, tuple):
            if len(item) != len(target.elts):
                return None
            parts = [self._bound(t, i) for t, i in zip(target.elts, item, strict=True)]
            return None if any(p is None for p in parts) else [s for p in parts for s in p or ()]
        if any(isinstance(e, gast.Starred) for e in target.elts):
            return None
        held = self._fresh("item")
        return [assign(held, item), gast.Assign([clone(target)], name(held), None)]

    def _value(self, item: Any) -> tuple[Block, Node]:
        if not isinstance(item, tuple):
            return [], item
        lines: Block = []
        parts = []
        for inner in item:
            more, value = self._value(inner)
            held = self._fresh("part")
            lines += [*more, assign(held, value)]
            parts.append(name(held))
        return lines, tuple_(parts)

    def _plan(self, loop: Node, index: str, bounds: Any, bound: Block | None) -> None:
        plan = Loop(index, False, None, ())
        if bound is not None:
            plan = Loop(index, False, bounds, tuple(bound))
        loops: Any = self.function.loops
        loops[loop] = plan

    def _run_over(self, body: Block, loop: Node) -> None:
        """A loop over a variable that holds a lazy sequence goes through what that does."""
        found = self._lazy(loop.iter, body, loop)
        if found is None or not K.differentiable(element_kind(self.kind(loop.iter))):
            return
        whole, makers = found
        bound_here = block_writes(loop.body) | names_written(loop.target)
        if names_read(whole) & bound_here:
            return
        index = self._fresh("i")
        bounds, item = element(whole, name(index), False)
        if bounds is None:
            return
        loop.iter = whole
        self._plan(loop, index, bounds, self._bound(loop.target, item))
        for n in walk(loop.iter):
            locate(n, loop)
        self._located(self.function.loops[loop].bindings, loop)
        self._put(body, loop, makers, [loop])

    def _settled(self, line: Node, s: Node) -> None:
        """Give all that stands in the place of a statement its place, and its origin."""
        for inner in all_inside([line]):
            self.origins[inner] = self.origins.get(s, s)
            self._located(getattr(self.function.loops.get(inner), "bindings", ()), s)
        for n in walk(line):
            locate(n, s)

    def _located(self, lines: Any, at: Node) -> None:
        for line in lines:
            for n in walk(line):
                locate(n, at)
            self.origins[line] = self.origins.get(at, at)

    def _put(self, body: Block, s: Node, gone: list[Node], lines: Block) -> None:
        """Put statements in the place of one, and leave out those that made what it read."""
        for line in lines:
            if line is s:
                continue
            self._settled(line, s)
        at = body.index(s)
        body[at : at + 1] = lines
        for made in gone:
            body.remove(made)
        self.changed = True

    # what is picked by a key

    def _from_list(self, s: Node, node: Node) -> Block | None:
        """`max(a, b, key=f)` picks from a list of numbers."""
        plain = not any(isinstance(a, gast.Starred) for a in node.args)
        if len(node.args) < 2 or not plain or not any(k.arg == "key" for k in node.keywords):
            return None
        choices = self._fresh("choices")
        made = gast.List([clone(a) for a in node.args], gast.Load())
        chosen = gast.Call(clone(node.func), [name(choices)], node.keywords)
        return [assign(choices, made), gast.Assign(s.targets, chosen, None)]
