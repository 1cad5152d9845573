"""Shifts that cancel: m + log(sum(exp(x - m))) is the same for every m.

    top = np.max(x, axis=1, keepdims=True)
    y = top[:, 0] + np.log(np.sum(np.exp(x - top), axis=1))

y does not depend on top, which only keeps the exponentials small: top is constant here, whatever
it was computed from, and the derivative is the softmax.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad import registry
from s2sad.ir import program as P
from s2sad.ir.program import Var
from s2sad.nodes import Block, Node, blocks_of, number, walk
from s2sad.stages import Function, KindFacts

_MAXIMA: tuple[Any, ...] = (np.max, np.amax)


def cancelling(function: Function, kinds: KindFacts) -> frozenset[Any]:
    """Return the statements that compute nothing but a shift that cancels."""
    if not any(fn is np.log for fn in kinds.objects.values()):
        return frozenset()
    uses = Counter(n.id for s in function.node.body for n in walk(s) if isinstance(n, gast.Name))
    found: set[Any] = set()
    pending = [function.node.body]
    while pending:
        block = pending.pop()
        found |= _Finder(block, kinds, uses).shifts()
        pending += [part for s in block for part in blocks_of(s)]
    return frozenset(found)


def cancelled(function: Function, kinds: KindFacts, program: P.Program) -> frozenset[Var]:
    """Return the variables of a program on which nothing depends, since they cancel."""
    found = cancelling(function, kinds)
    every = (op for op in P.every(program.block) if op.origin in found) if found else ()
    return frozenset(v for op in every for v in op.outs)


class _Finder:
    def __init__(self, block: Block, kinds: KindFacts, uses: Counter[str]) -> None:
        self.kinds = kinds
        self.uses = uses
        self.chain: list[str] = []
        self.position = {s: i for i, s in enumerate(block)}
        self.made = {
            s.targets[0].id: s
            for s in block
            if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name)
        }

    def shifts(self) -> set[Any]:
        found = set()
        for s in self.made.values():
            if isinstance(s.value, gast.BinOp) and isinstance(s.value.op, gast.Add):
                for outside, log in (
                    (s.value.left, s.value.right),
                    (s.value.right, s.value.left),
                ):
                    self.chain = [s.targets[0].id]
                    shift = self._shift(outside, log)
                    if shift is not None and self._in_order(shift):
                        found.add(self.made[shift])
        return found

    def _shift(self, outside: Node, log: Node) -> str | None:
        """Return the m of m + log(sum(exp(x - m))), if it is read in these two places only."""
        total = self._call(self._value(log), np.log)
        summed = self._value(total.args[0]) if total is not None else None
        settings = self._reduction(summed, (np.sum,))
        if summed is None or settings is None:
            return None
        source = summed.func.value if self._is_method(summed) else summed.args[0]
        powers = self._call(self._value(source), np.exp)
        moved = self._value(powers.args[0]) if powers is not None else None
        if not isinstance(moved, gast.BinOp) or not isinstance(moved.op, gast.Sub):
            return None
        shift = moved.right
        if not isinstance(shift, gast.Name) or self.uses[shift.id] != 3:
            return None
        made = self.made.get(shift.id)
        if made is None or not self._fits(moved, made, settings):
            return None
        axis, keepdims = settings
        if axis is None or keepdims:
            same = isinstance(outside, gast.Name) and outside.id == shift.id
        else:
            same = self._drops(self._value(outside), shift.id, self._rank(shift) or 0, axis)
        return str(shift.id) if same else None

    def _in_order(self, shift: str) -> bool:
        """Say whether everything is computed before it is read, and nothing in another round."""
        at = [self.position[self.made[n]] for n in self.chain]
        inner, view = at[:5], at[5:]
        return inner == sorted(inner, reverse=True) and all(
            self.position[self.made[shift]] < i <= inner[0] for i in [*inner, *view]
        )

    def _fits(self, moved: Node, made: Node, settings: tuple[int | None, bool]) -> bool:
        """Say whether a shift is one number for everything that is summed together."""
        axis = settings[0]
        rank = self._rank(moved.right)
        if axis is None:
            return rank == 0 and not settings[1]
        if rank is None or rank == 0 or rank != self._rank(moved):
            return False
        over = self._reduction(made.value, _MAXIMA)
        if over is None or over[0] is None:
            return False
        return over[1] and over[0] % rank == axis % rank

    def _drops(self, view: Node | None, shift: str, rank: int, axis: int) -> bool:
        """Say whether an expression is the shift without the axis of length 1: shift[:, 0]."""
        if not isinstance(view, gast.Subscript) or not isinstance(view.value, gast.Name):
            return False
        index = view.slice.elts if isinstance(view.slice, gast.Tuple) else [view.slice]
        if view.value.id != shift or len(index) > rank or axis % rank >= len(index):
            return False
        return all(
            number(e) in (0, -1) if i == axis % rank else _is_whole(e) for i, e in enumerate(index)
        )

    def _value(self, node: Node) -> Node | None:
        """Return what a name was made of that nothing else reads."""
        if not isinstance(node, gast.Name) or self.uses[node.id] != 2:
            return None
        made = self.made.get(node.id)
        if made is None:
            return None
        self.chain.append(node.id)
        return made.value

    def _call(self, node: Node | None, fn: Any) -> Node | None:
        if not isinstance(node, gast.Call) or len(node.args) != 1 or node.keywords:
            return None
        return node if self.kinds.objects.get(node.func) is fn else None

    def _reduction(self, node: Node | None, fns: tuple[Any, ...]) -> tuple[int | None, bool] | None:
        """Return the axis and keepdims of a call of one of some reductions."""
        if not isinstance(node, gast.Call) or not any(self._denotes(node, fn) for fn in fns):
            return None
        method = self._is_method(node)
        axes = node.args if method else node.args[1:]
        given = {k.arg: k.value for k in node.keywords}
        if len(axes) > 1 or not given.keys() <= {"axis", "keepdims"}:
            return None
        where = axes[0] if axes else given.get("axis")
        kept = given.get("keepdims")
        if kept is not None and not (isinstance(kept, gast.Constant) and type(kept.value) is bool):
            return None
        axis = None if where is None else number(where)
        if where is not None and type(axis) is not int:
            return None
        return axis, kept is not None and kept.value  # type: ignore[return-value]

    def _denotes(self, node: Node, fn: Any) -> bool:
        if self._is_method(node):
            return registry.method_function(node.func.attr) is fn
        return self.kinds.objects.get(node.func) is fn and bool(node.args)

    def _is_method(self, node: Node) -> bool:
        return isinstance(node.func, gast.Attribute) and isinstance(
            self.kinds.of.get(node.func.value), K.Array
        )

    def _rank(self, node: Node) -> int | None:
        kind = self.kinds.of.get(node)
        if isinstance(kind, K.Num):
            return 0
        return kind.rank if isinstance(kind, K.Array) else None


def _is_whole(index: Node) -> bool:
    return isinstance(index, gast.Slice) and not (index.lower or index.upper or index.step)
