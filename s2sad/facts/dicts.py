"""Dicts whose keys are not known, as plain reads and writes of single entries.

    z = d.get(k, y)                ->   if k in d: z = d[k] else: z = y
    d.update(e)                    ->   for key in list(e): d[key] = e[key]
    d = {**e, k: y}                ->   d = {**e};  d[k] = y
    for k, v in d.items(): ...     ->   for k in list(d): v = d[k]; ...

What a loop runs over is a list of keys: the entries are read from the dict itself, so that their
cotangents go to the entries of its shadow.
"""

from __future__ import annotations

from typing import Any

import gast

from s2sad import kinds as K
from s2sad.facts.rewrite import Rewriter
from s2sad.known.open_dicts import keys_of_other_kinds, literal_key, some_without, surely_has
from s2sad.nodes import (
    Block,
    Node,
    all_inside,
    assign,
    block_writes,
    call,
    clone,
    compare,
    constant,
    locate,
    name,
    names_read,
    names_written,
    store,
    subscript,
    substitute,
    walk,
)
from s2sad.stages import Function, KindFacts, Loop

_LINES = 12
_PICKING: tuple[Any, ...] = (sum, max, min, sorted)


def entries(function: Function, kinds: KindFacts, taken: set[str], numpy: Any) -> Function | None:
    """Return the function with changes of dicts as those of single entries, None without any."""
    return _Entries(function, kinds, taken, numpy).rewritten()


class _Entries(Rewriter):
    def block(self, body: Block) -> Block:
        """Rewrite the loops of a block over dicts, then its statements."""
        position = 0
        while position < len(body):
            if isinstance(body[position], gast.For):
                position += self._over_dict(body, position)
            position += 1
        return super().block(body)

    def statement(self, s: Node) -> Block | None:
        lines = self._lines(s)
        for line in lines or ():
            for inner in all_inside([line]):
                self.origins[inner] = self.origins.get(s, s)
                locate(inner, s)
        return lines

    def _lines(self, s: Node) -> Block | None:
        value = getattr(s, "value", None)
        if isinstance(s, gast.AugAssign):
            whole = isinstance(s.target, gast.Name) and isinstance(s.op, gast.BitOr)
            if whole and self._is_dict(s.target) and self._is_dict(value):
                return self._updated(name(s.target.id), value, [])
            return None
        target = None
        if isinstance(s, gast.Assign):
            if len(s.targets) != 1 or not isinstance(s.targets[0], gast.Name):
                return None
            target = s.targets[0].id
        elif not isinstance(s, gast.Expr):
            return None
        if isinstance(value, gast.Dict) and target is not None:
            return self._display(target, value)
        if isinstance(value, gast.BinOp) and isinstance(value.op, gast.BitOr) and target:
            if self._is_dict(value.left) and self._is_dict(value.right):
                display = gast.Dict([None, None], [value.left, value.right])
                return [assign(target, display)]
        if not isinstance(value, gast.Call) or any(isinstance(a, gast.Starred) for a in value.args):
            return None
        if any(k.arg is None for k in value.keywords):
            return None
        picking = any(self.kinds.objects.get(value.func) is fn for fn in _PICKING)
        if picking and value.args and target is not None:
            return self._picked(s, value)
        owner = getattr(value.func, "value", None)
        if isinstance(value.func, gast.Attribute) and self._is_dict(owner):
            return self._method(target, owner, value.func.attr, value)
        return None

    def _is_dict(self, node: Node | None) -> bool:
        kind = self.kind(node)
        return isinstance(node, gast.Name) and isinstance(kind, K.AnyDict)

    def _fresh(self, base: str) -> str:
        found = self.names.fresh(base)
        self.temps.add(found)
        return found

    # methods

    def _method(self, target: str | None, d: Node, method: str, node: Node) -> Block | None:
        args = node.args
        if method == "update" and target is None and len(args) < 2:
            other = args[0] if args else None
            if other is not None and not self._is_dict(other):
                return None
            return self._updated(d, other, node.keywords)
        if node.keywords:
            return None
        if method == "clear" and not args and target is None:
            return self._cleared(d)
        return self._got(target, d, *args) if method == "get" and len(args) == 2 else None

    def _got(self, target: str | None, d: Node, key: Node, default: Node) -> Block | None:
        """`d.get(k, y)` reads an entry, or what stands for one that is lacking."""
        known = isinstance(self.kind(d), K.Dict) and literal_key(self.kind(key)) is not K.MISSING
        if known or surely_has(self.kind(d), self.kind(key)) is not None or target is None:
            return None
        if not isinstance(default, gast.Name) or not K.differentiable(self.kind(default)):
            return None
        read, other = assign(target, _entry(d, key)), assign(target, clone(default))
        return [gast.If(compare(clone(key), gast.In, clone(d)), [read], [other])]

    def _updated(self, d: Node, other: Node | None, keywords: Block) -> Block:
        """Set the entries of a dict to those of another one, one by one."""
        lines: Block = []
        if other is not None:
            key = self._fresh("key")
            put = _set(d, name(key), _entry(other, name(key)))
            lines = self._over_keys(other, key, put, self._fresh("item"))
        return [*lines, *(_set(d, gast.Constant(k.arg, None), k.value)[0] for k in keywords)]

    def _cleared(self, d: Node) -> Block | None:
        if not isinstance(self.kind(d), K.OpenDict):
            return None
        key = self._fresh("key")
        return self._over_keys(d, key, [gast.Delete([_entry(d, name(key), gast.Del())])], "")

    def _over_keys(self, d: Node, key: str, body: Block, item: str) -> Block:
        """Return a loop over the keys that a dict has now."""
        if item and isinstance(body[0], gast.Assign):
            body = [assign(item, body[0].value), _with_value(body[0], name(item))]
        keys = self._fresh("keys")
        loop = gast.For(store(key), name(keys), body, [], None)
        self._plan(loop, keys, key)
        return [assign(keys, call("list", clone(d))), loop]

    def _plan(self, loop: Node, keys: str, key: str) -> None:
        index = self._fresh("i")
        bound = assign(key, subscript(name(keys), name(index)))
        plan = Loop(index, False, (call("len", name(keys)),), (bound,))
        loops: Any = self.function.loops
        loops[loop] = plan

    # displays, and what picks from the values

    def _display(self, target: str, node: Node) -> Block | None:
        """A display whose keys may be equal sets one entry after the other."""
        if not isinstance(self.kinds.of.get(node), K.OpenDict) or len(node.keys) < 2:
            return None
        made = target
        if target in names_read(node):
            made = self._fresh(f"{target}_made")
        pairs = list(zip(node.keys, node.values, strict=True))
        first = [pairs.pop(0)[1]] if pairs[0][0] is None else []
        lines: Block = [assign(made, gast.Dict([None] * len(first), first))]
        for key, value in pairs:
            if key is None:
                lines += self._updated(name(made), value, [])
            else:
                lines += _set(name(made), key, value)
        return lines if made == target else [*lines, assign(target, name(made))]

    def _picked(self, s: Node, node: Node) -> Block | None:
        """`sum(d.values())` is that of a list of the values."""
        kind = self.kind(node.args[0])
        if not isinstance(kind, K.Iterable_) or not isinstance(node.args[0], gast.Name):
            return None
        if not isinstance(kind.item, K.Num | K.Array) or not K.differentiable(kind.item):
            return None
        view = self._view(node.args[0].id)
        if view is None:
            return None
        if self.kinds.objects.get(node.func) is sum and len(node.args) == 1:
            if isinstance(kind.item, K.Num) and not some_without(self.kind(view.func.value)):
                return [_with_value(s, gast.Call(node.func, [clone(view)], node.keywords))]
        if some_without(self.kind(view.func.value)):
            return self._one_by_one(s, node, view.func.value)
        listed = self._fresh("values")
        again = gast.Call(node.func, [name(listed), *node.args[1:]], node.keywords)
        return [assign(listed, call("list", node.args[0])), _with_value(s, again)]

    def _one_by_one(self, s: Node, node: Node, d: Node) -> Block | None:
        """Name each of the values of a dict of which some carry no derivative."""
        keys = keys_of_other_kinds(self.kind(d))
        if not keys or len(node.args) > 1:
            return None
        parts = [self._fresh("item") for _ in keys]
        lines: Block = [
            assign(part, _entry(d, constant(key))) for part, key in zip(parts, keys, strict=True)
        ]
        listed = self._fresh("values")
        lines.append(assign(listed, gast.List([name(p) for p in parts], gast.Load())))
        again = gast.Call(node.func, [name(listed)], node.keywords)
        return [*lines, _with_value(s, again)]

    def _view(self, variable: str) -> Node | None:
        """Return the `d.values()` that a variable is."""
        made = [
            n.value
            for n in all_inside(self.function.node.body)
            if isinstance(n, gast.Assign) and variable in names_written(n)
        ]
        known = len(made) == 1 and self._viewed(made[0]) == "values"
        return made[0] if known else None

    def _viewed(self, value: Node) -> str:
        """Return which view of a dict an expression is."""
        func = getattr(value, "func", None)
        if not isinstance(func, gast.Attribute) or value.args or not self._is_dict(func.value):
            return ""
        return func.attr if func.attr in ("items", "values") else ""

    # loops

    def _over_dict(self, body: Block, position: int) -> int:
        """Let a loop over a dict run over a list of its keys; return how many lines that adds."""
        loop = body[position]
        if not isinstance(loop.iter, gast.Name):
            return 0
        if isinstance(self.kind(loop.iter), K.OpenDict):
            return self._directly(body, position)
        if isinstance(self.kind(loop.iter), K.Dict):
            return self._each_by_name(body, position, loop.iter, [], loop.target)
        found = self._over_view(body[:position], loop)
        if found is None:
            return 0
        listed, view = found
        d = view.value.func.value
        mixed = some_without(self.kind(d))
        in_order = self.kinds.objects.get(listed.value.func) is sorted
        if in_order and (mixed or view.value.func.attr != "items"):
            return 0
        if d.id in block_writes(loop.body) or not self._may_look_up(loop, d):
            return 0
        key, start = self._header(loop, view.value.func.attr, d)
        if key is None:
            return 0
        if not in_order:
            more = self._each_by_name(body, position, d, start, store(key))
            if more:
                body.remove(view)
                body.remove(listed)
                return more - 2
        if mixed:
            return 0
        keys = self._fresh("keys")
        listed.targets = [store(keys)]
        listed.value = gast.Call(listed.value.func, [clone(d)], [])
        body.remove(view)
        loop.iter = name(keys)
        loop.target = store(key)
        loop.body = [*start, *loop.body]
        self._own(loop, start)
        self._plan(loop, keys, key)
        self.changed = True
        return -1

    def _own(self, loop: Node, lines: Block) -> None:
        origin = self.origins.get(loop, loop)
        for line in lines:
            self.origins[line] = origin
            for n in walk(line):
                locate(n, loop)

    def _each_by_name(self, body: Block, position: int, d: Node, start: Block, target: Node) -> int:
        """Write a loop out, entry by entry, over a dict of known keys and values of other kinds.

        What the body does with each value depends on its kind.
        """
        loop = body[position]
        keys = keys_of_other_kinds(self.kind(d))
        inner = [*start, *loop.body]
        if not keys or not isinstance(target, gast.Name) or not _short(loop):
            return 0
        if target.id in block_writes(inner) or d.id in block_writes(inner):
            return 0
        lines: Block = []
        for key in keys:
            turn = {target.id: constant(key)}
            lines.append(assign(target.id, constant(key)))
            again = [substitute(s, turn) for s in inner]
            for new, old in zip(all_inside(again), all_inside(inner), strict=True):
                self.origins[new] = self.origins.get(old, self.origins.get(loop, loop))
            lines += _taken(again)
        self._own(loop, [s for s in lines if s not in self.origins])
        body[position : position + 1] = lines
        self.changed = True
        return len(lines) - 1

    def _directly(self, body: Block, position: int) -> int:
        """`for k in d` runs over a list of the keys that d has."""
        loop = body[position]
        d = loop.iter
        if not _flat(loop.target):
            return 0
        key, start = self._key_of(loop.target)
        keys = self._fresh("keys")
        made = assign(keys, call("list", clone(d)))
        loop.iter = name(keys)
        loop.target = store(key)
        loop.body = [*start, *loop.body]
        self._own(loop, [made, *start])
        self._plan(loop, keys, key)
        body.insert(position, made)
        self.changed = True
        return 1

    def _over_view(self, before: Block, loop: Node) -> tuple[Node, Node] | None:
        """Return what makes the list that a loop runs over, and the view of a dict it is of."""
        listed = _last_of(before, loop.iter.id)
        if listed is None or not isinstance(listed.value, gast.Call) or len(listed.value.args) != 1:
            return None
        fn = self.kinds.objects.get(listed.value.func)
        if (fn is not list and fn is not sorted) or listed.value.keywords:
            return None
        inner = listed.value.args[0]
        view = _last_of(before, inner.id) if isinstance(inner, gast.Name) else None
        if view is None or not self._viewed(view.value):
            return None
        temps = self.function.temps
        for n in (loop.iter.id, inner.id):
            if n not in temps or self._reads(n) != 1:
                return None
        kind = self.kind(view.value.func.value)
        values = K.opened(kind).item if isinstance(kind, K.AnyDict) else K.UNKNOWN
        return (listed, view) if K.differentiable(values) else None

    def _reads(self, variable: str) -> int:
        return sum(
            isinstance(n, gast.Name) and n.id == variable and not isinstance(n.ctx, gast.Store)
            for n in walk(self.function.node)
        )

    def _may_look_up(self, loop: Node, d: Node) -> bool:
        """Say whether entries read when their turn comes are those that the loop is given.

        Who loops over a list of the items has those that were there before the loop.
        """
        origin = self.origins.get(loop)
        made = getattr(getattr(origin, "iter", None), "func", None)
        if getattr(made, "id", None) not in ("list", "sorted", "tuple"):
            return True
        kind = self.kind(d)
        return not any(self._may_change(n, kind) for s in loop.body for n in walk(s))

    def _may_change(self, n: Node, kind: K.Kind) -> bool:
        """Say whether a place or a call may change a dict such as one of a kind."""
        if isinstance(n, gast.Subscript) and not isinstance(n.ctx, gast.Load):
            return K.may_hold(self.kind(n.value), kind)
        return isinstance(n, gast.Call) and self._given(n, kind)

    def _given(self, node: Node, kind: K.Kind) -> bool:
        """Say whether a call may reach a dict such as one of a kind."""
        given = [*node.args, *(k.value for k in node.keywords)]
        if isinstance(node.func, gast.Attribute) and node.func not in self.kinds.objects:
            given.append(node.func.value)
        inner = isinstance(self.kind(node.func), K.LocalFunction | K.Unknown)
        return inner or any(K.may_hold(self.kind(a), kind) for a in given)

    def _header(self, loop: Node, view: str, d: Node) -> tuple[str | None, Block]:
        """Return the key that a loop binds, and what it binds besides, where that is plain."""
        value: Node = loop.target
        start: Block = []
        if view == "values":
            key = self._fresh("key")
        else:
            if not isinstance(value, gast.Tuple) or len(value.elts) != 2:
                return None, []
            first, value = value.elts
            if not _flat(first):
                return None, []
            key, start = self._key_of(first)
        if not _flat(value) or key in names_written(value):
            return None, []
        entry = _entry(d, name(key))
        if isinstance(value, gast.Name):
            return key, [*start, assign(value.id, entry)]
        whole = self._fresh("item")
        return key, [*start, assign(whole, entry), gast.Assign([value], name(whole), None)]

    def _key_of(self, target: Node) -> tuple[str, Block]:
        """Return the name of a key, and what takes it apart."""
        if isinstance(target, gast.Name) and target.id != "_":
            return target.id, []
        key = self._fresh("key")
        if isinstance(target, gast.Name):
            return key, []
        return key, [gast.Assign([target], name(key), None)]


def _taken(block: Block) -> Block:
    """Leave out the branches that a test of two literals does not take."""
    out: Block = []
    for s in block:
        if isinstance(s, gast.If):
            verdict = _literally(s.test)
            s.body, s.orelse = _taken(s.body), _taken(s.orelse)
            if verdict is not None:
                out += s.body if verdict else s.orelse
                continue
            s.body = s.body or [gast.Pass()]
        out.append(s)
    return out


def _literally(test: Node) -> bool | None:
    """Return what a comparison of literals gives, or None."""
    if not isinstance(test, gast.Compare) or len(test.ops) != 1:
        return None
    left, right = test.left, test.comparators[0]
    if not isinstance(left, gast.Constant):
        return None
    if isinstance(right, gast.Tuple) and isinstance(test.ops[0], gast.In | gast.NotIn):
        if not all(isinstance(e, gast.Constant) for e in right.elts):
            return None
        found = left.value in [e.value for e in right.elts]
        return found is isinstance(test.ops[0], gast.In)
    if isinstance(right, gast.Constant) and isinstance(test.ops[0], gast.Eq | gast.NotEq):
        return (left.value == right.value) is isinstance(test.ops[0], gast.Eq)
    return None


def _short(loop: Node) -> bool:
    """Say whether a loop's body is a few plain statements."""
    inside = list(all_inside(loop.body))
    plain = (gast.Assign, gast.AugAssign, gast.Expr, gast.If, gast.Delete, gast.Pass)
    return len(inside) <= _LINES and all(isinstance(s, plain) for s in inside)


def _flat(target: Node) -> bool:
    """Say whether a target is a name or a tuple of names."""
    if isinstance(target, gast.Tuple):
        return all(isinstance(e, gast.Name) for e in target.elts)
    return isinstance(target, gast.Name)


def _entry(d: Node, key: Node, ctx: Any = None) -> Node:
    return gast.Subscript(clone(d), clone(key), ctx if ctx is not None else gast.Load())


def _set(d: Node, key: Node, value: Node) -> Block:
    return [gast.Assign([_entry(d, key, gast.Store())], clone(value), None)]


def _with_value(s: Node, value: Node) -> Node:
    return gast.Assign([clone(t) for t in s.targets], value, None)


def _last_of(before: Block, variable: str) -> Node | None:
    """Return the assignment of a variable, where nothing else before binds it."""
    found = [s for s in before if variable in names_written(s)]
    last = found[-1] if len(found) == 1 else None
    return last if isinstance(last, gast.Assign) else None
