"""What classes of the user's make of statements, as the calls that it is equal to.

    gas.temperature = t          ->   Gas.temperature.fset(gas, t)
    gas.temperature += t         ->   old = gas.temperature;  old += t;  gas.temperature = old
    grid[i] = v                  ->   grid.__setitem__(i, v)
    del grid[i]                  ->   grid.__delitem__(i)
    u += v                       ->   u = u.__iadd__(v)
    y = abs(q)                   ->   y = q.__abs__()
    t = model.lu                 ->   made = Model.lu.func(model);  model.lu = made;  t = made
    y = net.first(x)             ->   net_first = net.first;  y = net_first(x)

The last but one where `lu` is a `functools.cached_property` that the object does not hold yet, the
last where `first` is an object: what it holds has derivatives, and only a name is given to a call.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Iterator
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import registry
from s2sad.errors import UnsupportedError
from s2sad.facts.members import in_place_word
from s2sad.facts.rewrite import NumPy, Rewriter
from s2sad.nodes import (
    SCOPES,
    Block,
    Node,
    assign,
    attribute,
    clone,
    locate,
    name,
    names_read,
    names_written,
    walk,
)
from s2sad.stages import Function, KindFacts

_COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


def overloads(
    function: Function, kinds: KindFacts, taken: set[str], numpy: NumPy
) -> Function | None:
    """Return the function with such statements as calls, None where there are none."""
    if not any(isinstance(k, K.Obj) for k in kinds.of.values()):
        return None
    return _Overloads(function, kinds, taken, numpy).rewritten()


class _Overloads(Rewriter):
    def __init__(self, function: Function, kinds: KindFacts, taken: set[str], numpy: NumPy) -> None:
        super().__init__(function, kinds, taken, numpy)
        self.read_first: dict[Any, str] = {}
        self.kept = False  # a cached property, by which other reads of it find their value

    def block(self, body: Block) -> Block:
        """Read the place of `gas.temperature += t` before what computes t, as Python does."""
        out: Block = []
        for s in body:
            start = self._first_of(s, out) if isinstance(s, gast.AugAssign) else len(out)
            if start < len(out) and self._is_asked(s.target):
                read = clone(s.target)
                read.ctx = gast.Load()
                (line,) = self.lines("old = v", v=read)
                for n in walk(line):
                    locate(n, s)
                self.origins[line] = self.origins.get(s, s)
                out.insert(start, line)
                self.read_first[s] = line.targets[0].id
            out.append(s)
        return super().block(out)

    def _first_of(self, s: Node, before: Block) -> int:
        """Return where that begins which computes what is added, behind what finds the place."""
        at, origin = len(before), self.origins.get(s, s)
        while at and self.origins.get(before[at - 1]) is origin:
            if names_written(before[at - 1]) & names_read(s.target):
                break
            at -= 1
        return at

    def statement(self, s: Node) -> Block | None:
        held = self._held(s)
        if held:
            return [*held, s]
        if isinstance(s, gast.AugAssign):
            return self._augmented(s)
        if isinstance(s, gast.Delete) and len(s.targets) == 1:
            return self._deleted(s.targets[0])
        if isinstance(s, gast.Assign) and len(s.targets) == 1:
            target = s.targets[0]
            if isinstance(target, gast.Attribute | gast.Subscript):
                return self._stored(target, s.value)
            if isinstance(target, gast.Name) and isinstance(s.value, gast.Attribute):
                return self._cached(target.id, s.value)
            if isinstance(s.value, gast.Subscript):
                return self._read(s, s.value)
            asked = self._asked(s, s.value) if isinstance(s.value, gast.Call) else None
            if asked is not None:
                return asked
        self._look_for_cached(s)
        return None

    def _held(self, s: Node) -> Block:
        """Name the objects that a statement calls where others hold them."""
        lines: Block = []
        for n in _expressions(s):
            method = self.kinds.methods.get(n) if isinstance(n, gast.Call) else None
            if method is None or method[1] is not n.func or not isinstance(n.func, gast.Attribute):
                continue
            owner = n.func.value.id if isinstance(n.func.value, gast.Name) else "held"
            made = self.lines(f"{owner}_{n.func.attr} = v", v=n.func)
            n.func = name(made[0].targets[0].id)
            lines += made
        return lines

    def _stored(self, place: Node, value: Node) -> Block | None:
        owner = place.value
        if isinstance(place, gast.Attribute):
            found = self._static(owner, place.attr)
            if not isinstance(found, property) or not _is_plain(found.fset):
                return None
            lines, cls = self._class_of(owner)
            setter = attribute(attribute(cls, place.attr), "fset")
            return [*lines, gast.Expr(gast.Call(setter, [clone(owner), clone(value)], []))]
        if not _is_plain(self._static(owner, "__setitem__")):
            return None
        lines, key = self._key(place.slice)
        return [*lines, gast.Expr(_method(owner, "__setitem__", key, value))]

    def _asked(self, s: Node, node: Node) -> Block | None:
        """A function of Python's own that has a derivative asks an object for its method."""
        fn: Any = self.kinds.objects.get(node.func)
        if getattr(fn, "__module__", "") != "builtins" or registry.rule_for(fn) is None:
            return None
        word = f"__{fn.__name__}__"
        if not node.args or node.keywords or not _is_plain(self._static(node.args[0], word)):
            return None
        return [gast.Assign(s.targets, _method(node.args[0], word, *node.args[1:]), None)]

    def _deleted(self, place: Node) -> Block | None:
        if not isinstance(place, gast.Subscript):
            return None
        if not _is_plain(self._static(place.value, "__delitem__")):
            return None
        lines, key = self._key(place.slice)
        return [*lines, gast.Expr(_method(place.value, "__delitem__", key))]

    def _read(self, s: Node, node: Node) -> Block | None:
        """Give an index of several parts to `__getitem__` as the tuple that it is."""
        if not isinstance(node.slice, gast.Tuple):
            return None
        if not _is_plain(self._static(node.value, "__getitem__")):
            return None
        if any(isinstance(n, gast.Slice) for n in walk(node.slice)):
            return None
        lines, key = self._key(node.slice)
        made = gast.Assign(s.targets, _method(node.value, "__getitem__", key), None)
        return [*lines, made]

    def _augmented(self, s: Node) -> Block | None:
        place = s.target
        if isinstance(place, gast.Name):
            word = in_place_word(s.op)
            owner = name(place.id)
            self.kinds.of[owner] = self.kind(place)
            if not _is_plain(self._static(owner, word)):
                return None
            return [assign(place.id, _method(owner, word, s.value))]
        if not self._is_asked(place):
            return None
        lines: Block = []
        old = self.read_first.get(s)
        if old is None:
            read = clone(place)
            read.ctx = gast.Load()
            lines = self.lines("old = v", v=read)
            old = lines[0].targets[0].id
        turn = gast.AugAssign(gast.Name(old, gast.Store(), None, None), s.op, clone(s.value))
        return [*lines, turn, gast.Assign([place], name(old), None)]

    def _is_asked(self, place: Node) -> bool:
        """Say whether a property or method of the user's gives what is in a place."""
        found = None
        if isinstance(place, gast.Attribute):
            found = self._static(place.value, place.attr)
            found = found if isinstance(found, property) else None
        elif isinstance(place, gast.Subscript):
            found = self._static(place.value, "__setitem__")
        parts = isinstance(place, gast.Attribute | gast.Subscript)
        return parts and (bool(found) or isinstance(self.kind(place), K.Obj))

    # cached properties

    def _cached(self, target: str, node: Node) -> Block | None:
        """The first use of a `cached_property` computes and keeps it."""
        if self.kept or not self._is_uncached(node):
            return None
        self.kept = True
        owner = node.value
        lines, cls = self._class_of(owner)
        getter = attribute(attribute(cls, node.attr), "func")
        lines += self.lines("made = v", v=gast.Call(getter, [clone(owner)], []))
        made = name(lines[-1].targets[0].id)
        place = gast.Attribute(clone(owner), node.attr, gast.Store())
        return [*lines, gast.Assign([place], made, None), assign(target, clone(made))]

    def _is_uncached(self, node: Node) -> bool:
        if not isinstance(node, gast.Attribute) or not isinstance(node.ctx, gast.Load):
            return False
        found = self._static(node.value, node.attr)
        if not isinstance(found, functools.cached_property) or not _is_plain(found.func):
            return False
        return node.attr not in dict(self.kind(node.value).fields)  # type: ignore[attr-defined]

    def _look_for_cached(self, s: Node) -> None:
        """What is computed in the middle of an expression could be kept too late."""
        if self.kept:
            return
        parts = [getattr(s, f, None) for f in ("test", "iter", "value", "targets", "target")]
        flat = [p for part in parts for p in (part if isinstance(part, list) else [part])]
        for n in (n for part in flat if part is not None for n in walk(part)):
            if self._is_uncached(n):
                raise UnsupportedError(
                    f"`.{n.attr}` is a cached property, and it is computed here inside a "
                    "test, an index or another part of a statement; s2sad cannot keep its "
                    "value in time.",
                    remedy=f"Read it before, in a statement of its own: value = ....{n.attr}",
                    place=self.function.source.place(n),
                )

    # parts

    def _static(self, owner: Node, attr: str) -> Any:
        """Return what the class of an object has under a name, or None."""
        kind = self.kind(owner)
        if not isinstance(kind, K.Obj) or not isinstance(owner, gast.Name):
            return None
        return inspect.getattr_static(kind.cls, attr, None)

    def _class_of(self, owner: Node) -> tuple[Block, Node]:
        """Return an expression for the class of an object, and what computes it."""
        cls = self.kind(owner).cls  # type: ignore[attr-defined]
        fn: Any = self.function.source.fn
        known = [n for n, v in fn.__globals__.items() if v is cls and n.isidentifier()]
        hidden = self.function.locals | set(fn.__code__.co_freevars)
        found = min(set(known) - hidden, key=lambda n: (n != cls.__name__, n), default=None)
        if found is not None:
            self.names.take(found)
            return [], name(found)
        lines = self.lines("cls = type(v)", v=owner)
        return lines, name(lines[0].targets[0].id)

    def _key(self, index: Node) -> tuple[Block, Node]:
        """Return an index as an argument, and what makes it one."""
        if any(isinstance(n, gast.Slice) for n in walk(index)):
            raise UnsupportedError(
                "This statement writes or deletes a slice of an object whose class defines "
                "`__setitem__` or `__delitem__`; s2sad cannot pass a slice to these methods "
                "yet.",
                remedy="Write into the array that the object holds.",
                place=self.function.source.place(index),
            )
        if isinstance(index, gast.Name | gast.Constant):
            return [], clone(index)
        lines = self.lines("key = k", k=index)
        return lines, name(lines[0].targets[0].id)


def _expressions(s: Node) -> Iterator[Node]:
    """Yield what a statement evaluates once, before the blocks that it has."""
    if isinstance(s, gast.For):
        yield from _here(s.iter)
    elif isinstance(s, gast.Assign | gast.AugAssign | gast.Expr | gast.Return):
        yield from _here(s)


def _here(node: Node) -> Iterator[Node]:
    """Yield a node and what is inside of it, without what is evaluated elsewhere."""
    yield node
    for child in gast.iter_child_nodes(node):
        if not isinstance(child, (*SCOPES, *_COMPREHENSIONS)):
            yield from _here(child)


def _method(owner: Node, attr: str, *args: Node) -> Node:
    return gast.Call(attribute(clone(owner), attr), [clone(a) for a in args], [])


def _is_plain(fn: Any) -> bool:
    return isinstance(fn, types.FunctionType)
