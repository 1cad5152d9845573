"""Tuples that are made of what a loop gives.

    t = tuple(f(a, b) for a, b in zip(p, q))    ->   t = (f(p[0], q[0]), f(p[1], q[1]))

where p and q are tuples: how many items they have is part of their kind. A tuple of unknown length
is a list where nobody can tell: where it is indexed, looped over, summed, made an array.

    t = (x, y) * 2                              ->   t = (x, y, x, y)
    rows = tuple(g(x) for x in xs)              ->   rows = list(...)
    path = path + (x,)                               path = path + [x]
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad import registry
from s2sad.facts.filled import appended, rounds
from s2sad.facts.results import element_kind, listed
from s2sad.facts.rewrite import NumPy, Rewriter
from s2sad.nodes import (
    SCOPES,
    Block,
    Node,
    all_inside,
    assign,
    attribute,
    blocks_of,
    call,
    children,
    clone,
    constant,
    locate,
    name,
    names_written,
    rename,
    store,
    subscript,
    substitute,
    tuple_,
    walk,
)
from s2sad.stages import Function, KindFacts, Loop

_MOST = 16
_LOOKING: tuple[Any, ...] = (
    *(len, sum, max, min, sorted, list, zip, enumerate, reversed, any, all),
    *(math.fsum, math.prod, np.array, np.asarray, np.stack, np.concatenate),
    *(np.hstack, np.vstack, np.column_stack, np.block),
)
_OVER = ("zip", "enumerate", "reversed")


def tuples(function: Function, kinds: KindFacts, taken: set[str], numpy: NumPy) -> Function | None:
    """Return the function with tuples made of sequences as displays or lists, None without any."""
    return _Tuples(function, kinds, taken, numpy).rewritten()


class _Tuples(Rewriter):
    def __init__(self, function: Function, kinds: KindFacts, taken: set[str], numpy: NumPy) -> None:
        super().__init__(function, kinds, taken, numpy)
        self.uses = _uses(function.node.body)
        self.instead: dict[Any, Block] = {}

    def rewritten(self) -> Function | None:
        """Return the function with tuples as displays or lists, None where all stay."""
        self._grown()
        return super().rewritten()

    # tuples that a loop makes longer

    def _grown(self) -> None:
        """`t = t + (x,)` in a loop is that of a list, where nobody can tell."""
        made: dict[str, list[Node]] = {}
        for s in all_inside(self.function.node.body):
            for n in names_written(s) if not blocks_of(s) else ():
                made.setdefault(n, []).append(s)
        for variable in sorted(made.keys() - set(self.function.params)):
            parts = [self._grows(s, variable, made) for s in made[variable]]
            if all(p is None for p in parts) or not self._lost(variable, made[variable]):
                continue
            first = [s for s, p in zip(made[variable], parts, strict=True) if p is None]
            if not all(_is_display(s, variable) for s in first):
                continue
            sums = [s.value for s, p in zip(made[variable], parts, strict=True) if p is not None]
            others = [u for u in self.uses.get(variable, ()) if not any(u is v for v in sums)]
            if all(self._looks(use, variable) for use in others):
                self._as_lists(first, [p for p in parts if p is not None])

    def _lost(self, variable: str, made: list[Node]) -> bool:
        """Say whether the kind of a tuple gets lost: it has another length in every round."""
        known = [self.kinds.before.get(s, {}).get(variable) for s in made]
        return any(isinstance(k, K.Unknown) for k in known)

    def _grows(self, s: Node, variable: str, made: dict[str, list[Node]]) -> _Growth | None:
        """Return what makes a tuple longer: `t = t + u` or `t += u`, where u is a display."""
        if isinstance(s, gast.AugAssign):
            left, right = name(variable), s.value
        elif isinstance(s, gast.Assign) and isinstance(s.value, gast.BinOp):
            left, right = s.value.left, s.value.right
        else:
            return None
        op = s.op if isinstance(s, gast.AugAssign) else s.value.op
        other = right if getattr(left, "id", None) == variable else left
        sides = {getattr(left, "id", None), getattr(right, "id", None)}
        if not isinstance(op, gast.Add) or variable not in sides or len(sides) != 2:
            return None
        found = made.get(getattr(other, "id", ""), [])
        if isinstance(other, gast.Tuple):
            return _Growth(s, left, right, other, None)
        once = len(found) == 1 and len(self.uses.get(other.id, ())) == 1
        if not once or not _is_display(found[0], other.id):
            return None
        return _Growth(s, left, right, found[0].value, found[0])

    def _as_lists(self, first: list[Node], sums: list[_Growth]) -> None:
        """Note what stands in the place of the statements that make a tuple, and make it longer."""
        for s in first:
            self.instead[s] = [assign(s.targets[0].id, gast.List(s.value.elts, gast.Load()))]
        for growth in sums:
            s, lines, left, right = growth.statement, [], clone(growth.left), clone(growth.right)
            listed_ = gast.List(growth.display.elts, gast.Load())
            if growth.made is not None:
                self.instead[growth.made] = [assign(growth.made.targets[0].id, listed_)]
            else:
                part = self._fresh("part")
                lines = [assign(part, listed_)]
                left, right = (
                    name(part) if isinstance(n, gast.Tuple) else n for n in (left, right)
                )
            target = s.target if isinstance(s, gast.AugAssign) else s.targets[0]
            self.instead[s] = [*lines, assign(target.id, gast.BinOp(left, gast.Add(), right))]

    def block(self, body: Block) -> Block:
        """Put displays and lists in the place of tuples, then rewrite the inner blocks."""
        for s in list(body):
            lines = self._made(body, s) or self._unzipped(body, s)
            if lines is None:
                continue
            for line in lines:
                for inner in all_inside([line]):
                    self.origins.setdefault(inner, self.origins.get(s, s))
                for n in walk(line):
                    locate(n, s)
            at = body.index(s)
            body[at : at + 1] = lines
            self.changed = True
        return super().block(body)

    def statement(self, s: Node) -> Block | None:
        return self.instead.get(s) or self._unstacked(s) or self._repeated(s)

    def _unstacked(self, s: Node) -> Block | None:
        """`np.unstack(A, axis=k)` is the list of the parts of an array, where nobody can tell."""
        value = getattr(s, "value", None)
        if not isinstance(s, gast.Assign) or not isinstance(value, gast.Call):
            return None
        if self.kinds.objects.get(value.func) is not getattr(np, "unstack", ...):
            return None
        target = getattr(s.targets[0], "id", None)
        given = {k.arg: k.value for k in value.keywords}
        if target is None or len(value.args) != 1 or given.keys() - {"axis"}:
            return None
        kind = self.kind(value.args[0])
        if not isinstance(kind, K.Array) or not kind.rank or not self._nobody_can_tell(target):
            return None
        axis = given.get("axis", constant(0))
        lines: Block = []
        xs = value.args[0]
        if given and getattr(self.kind(axis), "value", None) != 0:
            lines = self.lines("rows = np.moveaxis(A, axis, 0)", A=xs, axis=axis)
            xs = name(lines[-1].targets[0].id)
        return [*lines, assign(target, call("list", clone(xs)))]

    def _repeated(self, s: Node) -> Block | None:
        """`t = u * 2` is a display of the items of u, again and again."""
        value = getattr(s, "value", None)
        if not isinstance(s, gast.Assign) or not isinstance(value, gast.BinOp):
            return None
        if not isinstance(value.op, gast.Mult):
            return None
        for node, times in ((value.left, value.right), (value.right, value.left)):
            kind, count = self.kind(node), getattr(self.kind(times), "value", None)
            if not isinstance(kind, K.Tuple) or type(count) is not int:
                continue
            if not 0 <= count * len(kind.items) <= _MOST or not K.differentiable(kind):
                return None
            whole = self._fresh("repeated")
            parts = [self._fresh("item") for _ in kind.items]
            taken = [assign(p, subscript(name(whole), constant(i))) for i, p in enumerate(parts)]
            shown = tuple_([name(p) for p in parts * count])
            return [assign(whole, node), *taken, gast.Assign(s.targets, shown, None)]
        return None

    def _made(self, body: Block, s: Node) -> Block | None:
        """Return what makes a tuple step by step; None where that is not known, or is plain."""
        value = getattr(s, "value", None)
        if not isinstance(s, gast.Assign) or not isinstance(s.targets[0], gast.Name):
            return None
        if not isinstance(value, gast.Call) or self.kinds.objects.get(value.func) is not tuple:
            return None
        if len(value.args) != 1 or not isinstance(value.args[0], gast.Name):
            return None
        target, xs = s.targets[0].id, value.args[0]
        kind = self.kind(xs)
        item = element_kind(kind)
        if not isinstance(kind, K.List | K.Tuple | K.Array) or isinstance(item, K.Unbound):
            return None
        if not K.differentiable(item):
            return None
        if isinstance(kind, K.Tuple) and kind.cls is None:
            return [assign(target, clone(xs))]
        if isinstance(kind, K.Tuple):
            return self._displayed(target, xs, len(kind.items))
        written = self._written_out(body, s, xs.id)
        if written is not None:
            return written
        known = listed(kind) if isinstance(kind, K.List) else None
        if known is not None:
            return self._displayed(target, xs, len(known))
        if self._nobody_can_tell(target):
            once = xs.id in self.function.temps and len(self.uses.get(xs.id, ())) == 2
            return [assign(target, clone(xs) if once else call("list", clone(xs)))]
        return None

    def _displayed(self, target: str, xs: Node, count: int) -> Block:
        parts = [self._fresh("item") for _ in range(count)]
        lines = [assign(p, subscript(clone(xs), constant(i))) for i, p in enumerate(parts)]
        return [*lines, assign(target, tuple_([name(p) for p in parts]))]

    def _fresh(self, base: str) -> str:
        found = self.names.fresh(base)
        self.temps.add(found)
        return found

    def _unzipped(self, body: Block, s: Node) -> Block | None:
        """`xs, ys = zip(*pairs)` takes pairs apart, one by one."""
        if not isinstance(s, gast.Assign) or not isinstance(s.targets[0], gast.Tuple):
            return None
        targets = [getattr(e, "id", None) for e in s.targets[0].elts]
        at = body.index(s)
        made = body[at - 1] if at else None
        if not isinstance(made, gast.Assign) or not isinstance(made.value, gast.Call):
            return None
        if getattr(s.value, "id", "") not in names_written(made) & self.function.temps:
            return None
        args = made.value.args
        if self.kinds.objects.get(made.value.func) is not zip:
            return None
        if len(args) != 1 or not isinstance(args[0], gast.Starred):
            return None
        pairs = args[0].value
        kind = self.kind(pairs)
        item = kind.item if isinstance(kind, K.List) else K.UNKNOWN
        if not isinstance(item, K.Tuple) or len(item.items) != len(targets):
            return None
        if not all(isinstance(t, str) and self._nobody_can_tell(t) for t in targets):
            return None
        if not K.differentiable(item) or getattr(pairs, "id", None) in {None, *targets}:
            return None
        body.remove(made)
        return self._apart(targets, pairs)

    def _apart(self, targets: list[Any], pairs: Node) -> Block:
        pair, index = self._fresh("pair"), self._fresh("i")
        parts = [self._fresh("item") for _ in targets]
        steps = []
        for at, (target, part) in enumerate(zip(targets, parts, strict=True)):
            steps.append(assign(part, subscript(name(pair), constant(at))))
            steps.append(gast.Expr(call(attribute(name(target), "append"), name(part))))
        words = constant(f"not enough values to unpack (expected {len(targets)}, got 0)")
        empty = gast.UnaryOp(gast.Not(), clone(pairs))
        loop = gast.For(store(pair), clone(pairs), steps, [], None)
        bound = assign(pair, subscript(clone(pairs), name(index)))
        loops: Any = self.function.loops
        loops[loop] = Loop(index, False, (call("len", clone(pairs)),), (bound,))
        return [
            gast.If(empty, [gast.Raise(call("ValueError", words), None)], []),
            *(assign(t, gast.List([], gast.Load())) for t in targets),
            loop,
        ]

    # a loop that is gone through as often as a tuple has items

    def _written_out(self, body: Block, s: Node, items: str) -> Block | None:
        """Write a generator expression over tuples out, item by item."""
        at = body.index(s)
        if at < 2 or items not in self.function.temps or len(self.uses.get(items, ())) != 2:
            return None
        loop = body[at - 1]
        start = next((p for p in body[at - 2 :: -1] if items in names_written(p)), None)
        if not isinstance(loop, gast.For) or start is None or not _is_empty_list(start, items):
            return None
        count = rounds(loop.iter, self.kind)
        value = appended(loop).get(items)
        plan = self.function.loops.get(loop)
        if value is None or plan is None or plan.bounds is None or count is None or count > _MOST:
            return None
        if any(isinstance(n, (*SCOPES, gast.For, gast.While)) for p in loop.body for n in walk(p)):
            return None
        lines: Block = []
        shown: list[Node] = []
        if getattr(getattr(loop.body[-1], "value", None), "args", None) != [value]:
            return None
        steps = [*plan.bindings, *loop.body[:-1]]
        for turn in range(count):
            bound = {n for step in steps for n in names_written(step)}
            table = {n: self._fresh(n) for n in sorted(bound & self.function.temps)}
            first = [assign(plan.index, constant(turn))] if plan.own else []
            place = {} if plan.own else {plan.index: constant(turn)}
            for step in [*first, *steps]:
                new = rename(substitute(clone(step), place), table)
                for copy, old in zip(all_inside([new]), all_inside([step]), strict=True):
                    self.origins[copy] = self.origins.get(old, self.origins.get(s, s))
                lines.append(new)
            last = rename(substitute(clone(value), place), table)
            if (
                not isinstance(last, gast.Constant)
                and getattr(last, "id", "") not in table.values()
            ):
                part = self._fresh("item")
                lines.append(assign(part, last))
                last = name(part)
            shown.append(last)
        body.remove(start)
        body.remove(loop)
        return [*lines, assign(s.targets[0].id, tuple_(shown))]

    # a list will do

    def _nobody_can_tell(self, variable: str) -> bool:
        """Say whether a tuple is only used as a list could be."""
        for s in all_inside(self.function.node.body):
            if isinstance(s, gast.AugAssign) and variable in names_written(s):
                return False
        return all(self._looks(use, variable) for use in self.uses.get(variable, ()))

    def _looks(self, use: Node, variable: str) -> bool:
        """Say whether an expression or a statement only looks at the items of a sequence."""
        if isinstance(use, gast.Subscript):
            index = self.kind(use.slice)
            return isinstance(use.ctx, gast.Load) and isinstance(index, K.Num)
        if isinstance(use, gast.For | gast.Starred):
            return True
        if isinstance(use, gast.Assign):
            return isinstance(use.targets[0], gast.Tuple)
        if not isinstance(use, gast.Call) or use.keywords:
            return False
        fn = self.kinds.objects.get(use.func)
        if isinstance(use.func, gast.Name) and use.func.id in ("len", *_OVER):
            return True
        if any(fn is looking for looking in _LOOKING):
            return True
        rule = registry.rule_for(fn)
        return rule is not None and fn in (np.sum, np.mean, np.max, np.min, np.prod, np.dot)


@dataclass(frozen=True)
class _Growth:
    """A statement that makes a tuple longer by a display, which another statement may have made."""

    statement: Any
    left: Node
    right: Node
    display: Node
    made: Any


def _is_display(s: Node, variable: str) -> bool:
    plain = isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name)
    return plain and s.targets[0].id == variable and isinstance(s.value, gast.Tuple)


def _is_empty_list(s: Node, items: str) -> bool:
    plain = isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name)
    plain = plain and s.targets[0].id == items and isinstance(s.value, gast.List)
    return plain and not s.value.elts


def _uses(body: Block) -> dict[str, list[Node]]:
    """Return, for every variable, the nodes in which it stands where it is read."""
    found: dict[str, list[Node]] = {}

    def visit(node: Node) -> None:
        for child in children(node):
            if isinstance(child, gast.Name) and not isinstance(child.ctx, gast.Store):
                found.setdefault(child.id, []).append(node)
            visit(child)

    for s in body:
        visit(s)
    return found
