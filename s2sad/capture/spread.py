"""Unpacking at a call becomes plain arguments, where kinds know what there is to unpack.

Defaults that an inner function got where it was defined become plain arguments too.

    g(x, *pair, **table)        ->        a, b = pair
                                          c = table["c"]
                                          g(x, a, b, c=c)

A list or an array of unknown length fills exactly the parameters that are left: `a, b = pair`
fails, as the call would, where the length is another. For functions of a library these are the
arrays that a rule knows. It may leave out parameters whose defaults are literals. What takes any
number of items is called on the sequence:

    Line(*xs)                   ->        slope = xs[0]
                                          start = xs[1] if len(xs) > 1 else 0.0
                                          Line(slope, start)

    max(*xs)                    ->        max(xs)
    math.hypot(*xs)             ->        math.dist(xs, [0.0] * len(xs))

A loop that takes apart what `zip(*rows)` gives says how many rows there are.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import itertools
import math
import types
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad.capture.applied import handing_on
from s2sad.kinds import Kind
from s2sad.names import Names
from s2sad.nodes import (
    Block,
    Node,
    all_inside,
    assign,
    assign_tuple,
    attribute,
    block_writes,
    blocks_of,
    call,
    clone,
    compare,
    constant,
    count_writes,
    locate,
    name,
    names_beside,
    names_written,
    subscript,
    walk,
)
from s2sad.stages import Function, KindFacts

SignatureOf = Callable[[Node], "inspect.Signature | None"]


def spread(
    function: Function,
    kinds: KindFacts,
    signatures: tuple[SignatureOf, SignatureOf],
    taken: set[str],
    maths: Callable[[], str],
) -> Function | None:
    """Return the function without unpacking at calls, or None where there is none to replace.

    `signatures` give the parameters that a call's own arguments may fill: of the user's functions,
    and of those of a library. `maths()` gives the name that stands for the module math.
    """
    worker = _Spreader(function, kinds, signatures, taken, maths)
    function.node.body[:] = worker.block(function.node.body)
    if not worker.changed:
        return None
    return dataclasses.replace(
        function,
        origins=worker.origins,
        temps=function.temps | worker.temps,
        locals=function.locals | worker.temps,
        spread=worker.spread,
    )


class _Spreader:
    def __init__(
        self,
        function: Function,
        kinds: KindFacts,
        signatures: tuple[SignatureOf, SignatureOf],
        taken: set[str],
        maths: Callable[[], str],
    ) -> None:
        self.kinds = kinds
        self.signature, self.library_signature = signatures
        self.maths = maths
        self.origins = dict(function.origins)
        self.spread = dict(function.spread)
        self.function = function
        self.taken = taken
        self.temps: set[str] = set()
        self.changed = False
        self.fresh = _comprehensions(function)
        self.taken_apart = _taken_apart(function)
        self.writes = count_writes(function.node.body, function.params)
        inner = [n for s in function.node.body for n in walk(s) if isinstance(n, gast.Nonlocal)]
        self.rebound = frozenset(n for s in inner for n in s.names)

    @functools.cached_property
    def names(self) -> Names:
        return names_beside(self.function.node, self.function.locals | self.taken)

    def block(self, body: Block, moving: frozenset[str] = frozenset()) -> Block:
        """Return a block without unpacking; loops around it bind what is `moving`."""
        out: Block = []
        for s in body:
            for part in blocks_of(s):
                loop = isinstance(s, gast.For | gast.While)
                part[:] = self.block(part, moving | block_writes([s]) if loop else moving)
            s = self.rebinds(s)
            value = getattr(s, "value", None)
            if isinstance(s, gast.Assign) and isinstance(value, gast.Attribute):
                out += self.method(s, value, moving)
            if isinstance(value, gast.Call) and _unpacks(value):
                out += self.whole(s, value) or self.call(s, value)
            elif isinstance(value, gast.Call):
                self.fill(s, value)
            out.append(s)
        return out

    def call(self, s: Node, node: Node) -> Block:
        """Return what stands before a call that gets plain arguments; nothing where it cannot."""
        before: Block = []
        args: list[Node] = []
        keywords: list[Node] = []
        bases: list[str] = []
        for k in node.keywords:
            if k.arg is not None:
                keywords.append(k)
                continue
            table = self.table(k.value, before)
            if table is None:
                return []
            keywords += table
            bases += _root(k.value)
        if len({k.arg for k in keywords}) != len(keywords):
            return []
        for arg in node.args:
            if not isinstance(arg, gast.Starred):
                args.append(arg)
                continue
            kind = self.kinds.of.get(arg.value, K.UNKNOWN)
            left, exact = self.left(node, len(args), keywords, _has_floats(kind))
            length = _length(kind)
            if length is None and exact and left and arg is node.args[-1] and _has_items(kind):
                length = len(left)
            elif length is None and _has_items(kind):
                length = self.zipped(s, node)
            elif isinstance(kind, K.List) and not self.own(arg.value):
                bases += _root(arg.value)
            if length is None and arg is node.args[-1] and _has_items(kind):
                filled = self.with_defaults(node, arg.value, args, keywords)
                before += filled
                length = 0 if filled else None
            if length is None:
                return []
            args += self.items(arg.value, length, left, before)
        for base in bases:
            self.spread.setdefault(base, s)
        return self.replaced(s, node, before, gast.Call(node.func, args, keywords))

    def zipped(self, s: Node, node: Node) -> int | None:
        """Return how many rows `zip(*rows)` gets, where a loop takes apart what it gives."""
        if self.kinds.objects.get(node.func) is not zip or len(node.args) > 1:
            return None
        return self.taken_apart.get(getattr(s.targets[0], "id", ""))

    def replaced(self, s: Node, node: Node, before: Block, made: Node) -> Block:
        """Put another call in the place of one, and return what stands before it, located."""
        for statement in before:
            for n in walk(statement):
                locate(n, s)
        self.origins |= dict.fromkeys(all_inside(before), self.origins.get(s, s))
        for n in walk(made):
            locate(n, node)
        s.value = made
        self.changed = True
        return before

    def whole(self, s: Node, node: Node) -> Block:
        """Return what stands before a call that gets a sequence of numbers whole, if it may."""
        fn = self.kinds.objects.get(node.func)
        if not any(fn is f for f in _OF_MANY):
            return []
        if any(k.arg is None or k.arg == "default" for k in node.keywords):
            return []
        starred = [isinstance(a, gast.Starred) for a in node.args]
        values = [a.value if isinstance(a, gast.Starred) else a for a in node.args]
        kinds = [self.kind(s, v) for v in values]
        given = list(zip(starred, kinds, strict=True))
        if not any(many and _length(kind) is None for many, kind in given):
            return []
        if not all(_of_numbers(k) if many else isinstance(k, K.Num) for many, k in given):
            return []
        before: Block = []
        xs = self.joined(starred, values, before)
        if fn is math.hypot:
            count, origin = self.temp("count"), self.temp("origin")
            zeros = gast.BinOp(gast.List([constant(0.0)], gast.Load()), gast.Mult(), name(count))
            before += [assign(count, call("len", clone(xs))), assign(origin, zeros)]
            dist = attribute(name(self.maths()), "dist")
            return self.replaced(s, node, before, gast.Call(dist, [clone(xs), name(origin)], []))
        if len(values) == 1 and not _surely_many(kinds[0]):
            before += self.refuse_one(xs)
        return self.replaced(s, node, before, gast.Call(node.func, [clone(xs)], node.keywords))

    def kind(self, s: Node, value: Node) -> Kind:
        """Return the kind of a variable or a number; behind a * nobody may have asked for it."""
        if isinstance(value, gast.Constant):
            return K.kind_of(value.value, "literal", literal=True)
        known = self.kinds.before.get(s, {}).get(getattr(value, "id", ""), K.UNKNOWN)
        return self.kinds.of.get(value, known)

    def joined(self, starred: list[bool], values: list[Node], before: Block) -> Node:
        """Return the name of a sequence of all that a call is given, and note what makes it."""
        if len(values) == 1 and isinstance(values[0], gast.Name):
            return values[0]
        held = []
        for many, value in zip(starred, values, strict=True):
            part = call("list", clone(value)) if many else gast.List([clone(value)], gast.Load())
            held.append(self.temp("part"))
            before.append(assign(held[-1], part))
        total = held[0]
        for part in held[1:]:
            parts = self.temp("parts")
            before.append(assign(parts, gast.BinOp(name(total), gast.Add(), name(part))))
            total = parts
        return name(total)

    def refuse_one(self, xs: Node) -> Block:
        """Raise what max(*xs) does of a single number."""
        count = self.temp("count")
        wrong = gast.Raise(call("TypeError", constant(_ONE)), None)
        test = compare(name(count), gast.Eq, constant(1))
        return [assign(count, call("len", clone(xs))), gast.If(test, [wrong], [])]

    def rebinds(self, s: Node) -> Node:
        """`v += w` is `v = v + w` for objects without an operator of that kind."""
        kind = self.kinds.of.get(getattr(s, "target", None))
        if not isinstance(s, gast.AugAssign) or not isinstance(kind, K.Obj):
            return s
        if not isinstance(s.target, gast.Name):
            return s
        word = {"Div": "truediv", "Mult": "mul", "MatMult": "matmul", "FloorDiv": "floordiv"}
        op = type(s.op).__name__
        if inspect.getattr_static(kind.cls, f"__i{word.get(op, op.lower())}__", None) is not None:
            return s
        value = locate(gast.BinOp(name(s.target.id), s.op, s.value), s)
        new = locate(assign(s.target.id, value), s)
        self.origins[new] = self.origins.get(s, s)
        self.changed = True
        return new

    def method(self, s: Node, value: Node, moving: frozenset[str]) -> Block:
        """`f = v.method` is a function that captures the object as it is now.

        In a loop it is where v is the same object in every round: f may be kept for later ones.
        """
        kind = self.kinds.of.get(value.value)
        if not isinstance(kind, K.Obj) or not isinstance(value.value, gast.Name):
            return []
        if value.value.id in moving | self.rebound:
            return []
        static = inspect.getattr_static(kind.cls, value.attr, None)
        if not isinstance(static, types.FunctionType) or value.attr in dict(kind.fields):
            return []
        held = value.value.id
        before: Block = []
        outside = held not in self.function.locals
        if outside or self.writes.get(held, 0) > 1:
            held = self.temp(held)
            before.append(locate(assign(held, clone(value.value)), s))
            self.origins[before[0]] = self.origins.get(s, s)
        s.value = handing_on([attribute(name(held), value.attr)], self.names)
        for n in walk(s.value):
            locate(n, value)
        self.changed = True
        return before

    def fill(self, s: Node, node: Node) -> None:
        """Pass the defaults of an inner function that were worked out where it was defined."""
        kind = self.kinds.of.get(node.func)
        if not isinstance(kind, K.LocalFunction):
            return
        args = kind.node.args
        positional = [a.id for a in [*args.posonlyargs, *args.args]]
        given = {*positional[: len(node.args)], *(k.arg for k in node.keywords)}
        for param, variable in kind.defaults:
            if variable and param not in given:
                node.keywords.append(gast.keyword(param, name(variable)))
                self.changed = True

    def temp(self, base: str) -> str:
        fresh = self.names.fresh(base)
        self.temps.add(fresh)
        return fresh

    def own(self, value: Node) -> bool:
        """Say whether this is a list that a comprehension has made: nobody else knows it."""
        return getattr(value, "id", None) in self.fresh

    def table(self, value: Node, before: Block) -> list[Node] | None:
        """Return `**table` as keywords."""
        kind = self.kinds.of.get(value, K.UNKNOWN)
        if not isinstance(kind, K.Dict) or not all(isinstance(k, str) for k in kind.steps):
            return None
        out = []
        for k in kind.steps:
            temp = self.temp(k if k.isidentifier() else "t")
            before.append(assign(temp, subscript(clone(value), constant(k))))
            out.append(gast.keyword(k, name(temp)))
        return out

    def items(self, value: Node, length: int, left: list[str], before: Block) -> list[Node]:
        """Bind the items of a sequence to names, those of the parameters that they fill."""
        bases = left if len(left) >= length else ["t"] * length
        parts = [self.temp(base) for base in bases[:length]]
        if len(parts) == 1 and not isinstance(self.kinds.of.get(value), K.List | K.Array):
            before.append(assign(parts[0], subscript(clone(value), constant(0))))
        elif parts:
            before.append(assign_tuple(parts, clone(value)))
        return [name(p) for p in parts]

    def with_defaults(
        self, node: Node, value: Node, args: list[Node], keywords: list[Node]
    ) -> Block:
        """Bind what a sequence fills to names: its items, and defaults where it has no more.

        These are further arguments of the call; nothing where the sequence fills others.
        """
        signature = self.signature(node)
        left = [] if signature is None else [*signature.parameters.values()][len(args) :]
        named = {k.arg for k in keywords}
        left = [*itertools.takewhile(lambda p: p.kind in _BY_PLACE and p.name not in named, left)]
        last = [p.default for p in left if p.default is not inspect.Parameter.empty]
        if not last or not all(isinstance(v, bool | int | float | str | None) for v in last):
            return []
        least, count = len(left) - len(last), self.temp("count")
        out: Block = [assign(count, call("len", clone(value)))]
        for op, bound in ((gast.Lt, least), (gast.Gt, len(left))):
            wrong = gast.Raise(call("TypeError", constant(_OTHER_LENGTH)), None)
            out.append(gast.If(compare(name(count), op, constant(bound)), [wrong], []))
        for i, p in enumerate(left):
            part = self.temp(p.name)
            made = assign(part, subscript(clone(value), constant(i)))
            if i >= least:
                test = compare(name(count), gast.Gt, constant(i))
                made = gast.If(test, [made], [assign(part, constant(p.default))])
            out.append(made)
            args.append(name(part))
        return out

    def left(
        self, node: Node, given: int, keywords: list[Node], floats: bool
    ) -> tuple[list[str], bool]:
        """Return the parameters still to be filled by position, and whether all of them must be."""
        signature = self.signature(node)
        fn = getattr(self.kinds.of.get(node.func), "value", None)
        if signature is None and (floats or isinstance(fn, np.ufunc)):
            signature = self.library_signature(node)
        if signature is None:
            return [], False
        found: list[str] = []
        exact = True
        named = {k.arg for k in keywords}
        for p in list(signature.parameters.values())[given:]:
            if p.kind is inspect.Parameter.VAR_POSITIONAL:
                exact = False
            elif p.kind in _BY_PLACE:
                exact = exact and p.default is inspect.Parameter.empty and p.name not in named
                found.append(p.name)
        return found, exact


def _comprehensions(function: Function) -> set[str]:
    """Return the temporaries that hold lists which are made by comprehensions."""
    found: dict[str, bool] = {}
    for s in all_inside(function.node.body):
        for n in names_written(s) & function.temps if not blocks_of(s) else ():
            value = getattr(s, "value", None)
            found[n] = isinstance(value, gast.List) and not value.elts and found.get(n, True)
    return {n for n, made in found.items() if made}


def _taken_apart(function: Function) -> dict[str, int]:
    """Return, for temporaries that a loop goes through, how many names it binds in each round."""
    found: dict[str, int] = {}
    for s in all_inside(function.node.body):
        items = getattr(s.target, "elts", []) if isinstance(s, gast.For) else []
        if items and not any(isinstance(e, gast.Starred) for e in items):
            found[getattr(s.iter, "id", "")] = len(items)
    return found


def _length(kind: Kind) -> int | None:
    """Return how many items a sequence is known to have."""
    if isinstance(kind, K.Tuple):
        return len(kind.items)
    return kind.length if isinstance(kind, K.List) else None


_OF_MANY: tuple[Any, ...] = (max, min, math.hypot)
_OTHER_LENGTH = "a sequence fills fewer or more parameters than there are"
_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_ONE = "'float' object is not iterable"


def _of_numbers(kind: Kind) -> bool:
    """Say whether these are items that may be handed over as one sequence of numbers."""
    if isinstance(kind, K.Array):
        return kind.rank == 1
    if isinstance(kind, K.Tuple):
        return all(isinstance(k, K.Num) for k in kind.items)
    return isinstance(kind, K.List) and isinstance(kind.item, K.Num)


def _surely_many(kind: Kind) -> bool:
    """Say whether a sequence is known not to have a single item."""
    return isinstance(kind, K.Array) and getattr(kind.dims[0], "many", False)


def _has_floats(kind: Kind) -> bool:
    return _has_items(kind) and K.differentiable(kind)


def _has_items(kind: Kind) -> bool:
    return isinstance(kind, K.List) or (isinstance(kind, K.Array) and kind.rank > 0)


def _unpacks(node: Node) -> bool:
    return any(isinstance(a, gast.Starred) for a in node.args) or any(
        k.arg is None for k in node.keywords
    )


def _root(value: Node) -> list[str]:
    while isinstance(value, gast.Subscript | gast.Attribute):
        value = value.value
    return [value.id] if isinstance(value, gast.Name) else []
