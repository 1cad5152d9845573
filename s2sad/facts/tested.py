"""What the tests around a statement say of numbers there.

    if d > 0.0:
        r = math.sqrt(d)      d is positive here
    else:
        r = 0.0               and here it is not

It holds for numbers that are not nan: whether one may be is for `finite` to say.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.nodes import Block, Node, blocks_of, names_written, number, walk
from s2sad.stages import Function, KindFacts


@dataclass(frozen=True)
class Tested:
    """A number is at least `low`, and not `low` itself where that is `strict`; perhaps no zero."""

    low: float = -math.inf
    strict: bool = False
    nonzero: bool = False

    @property
    def positive(self) -> bool:
        """Whether the number is more than 0."""
        return self.low > 0 or (self.low == 0 and (self.strict or self.nonzero))

    def both(self, other: Tested) -> Tested:
        """Return what is known where both are."""
        first = max(self, other, key=lambda t: (t.low, t.strict))
        return replace(first, nonzero=self.nonzero or other.nonzero)


Env = Mapping[str, Tested]


def tested(function: Function, kinds: KindFacts) -> dict[Any, Env]:
    """Return, for every statement of a function, what tests say of numbers before it."""
    walker = _Walker(function, kinds)
    walker.block(function.node.body, {})
    return walker.found


def rebound_within(body: Block) -> frozenset[str]:
    """Return the names that inner functions may bind anew."""
    inner = [n for s in body for n in walk(s) if isinstance(n, gast.FunctionDef | gast.Lambda)]
    found = [n.names for f in inner for n in walk(f) if isinstance(n, gast.Nonlocal | gast.Global)]
    return frozenset(n for names in found for n in names)


class _Walker:
    def __init__(self, function: Function, kinds: KindFacts) -> None:
        self.loops = function.loops
        self.kinds = kinds
        self.rebound = rebound_within(function.node.body)
        self.found: dict[Any, Env] = {}

    def block(self, body: Block, env: Env) -> Env | None:
        """Return what is known after a block, None where nothing comes after it."""
        known: Env | None = env
        for s in body:
            if known is None:
                return None
            self.found[s] = known
            known = self._statement(s, known)
        return known

    def _statement(self, s: Node, env: Env) -> Env | None:
        if isinstance(s, gast.Raise | gast.Return | gast.Break | gast.Continue):
            return None
        if isinstance(s, gast.Assert):
            return _with(env, self._says(s.test, True))
        if isinstance(s, gast.If):
            ends = [
                self.block(s.body, _with(env, self._says(s.test, True))),
                self.block(s.orelse, _with(env, self._says(s.test, False))),
            ]
            return _meet([end for end in ends if end is not None])
        bindings = self.loops[s].bindings if s in self.loops else ()
        written = {n for part in (s, *bindings) for n in names_written(part)}
        after = {n: t for n, t in env.items() if n not in written}
        for block in blocks_of(s):
            inside = self._says(s.test, True) if isinstance(s, gast.While) else {}
            self.block(block, _with(after, inside if block is getattr(s, "body", None) else {}))
        return after

    def _says(self, test: Node, holds: bool) -> dict[str, Tested]:
        """Return what it says of numbers that a test holds, or that it does not."""
        if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
            return self._says(test.operand, not holds)
        if isinstance(test, gast.BoolOp) and isinstance(test.op, gast.And) == holds:
            found: dict[str, Tested] = {}
            for part in test.values:
                found = dict(_with(found, self._says(part, holds)))
            return found
        if isinstance(test, gast.Compare) and len(test.ops) == 1:
            return self._compared(test.left, type(test.ops[0]), test.comparators[0], holds)
        return {}

    def _compared(self, left: Node, op: type, right: Node, holds: bool) -> dict[str, Tested]:
        if number(left) is not None:
            left, op, right = right, _TURNED.get(op, op), left
        bound = number(right)
        if bound is None or isinstance(bound, complex) or not self._is_number(left):
            return {}
        if not holds:
            op = _OPPOSITE.get(op, op)
        if op is gast.Gt or op is gast.GtE:
            return {left.id: Tested(bound, op is gast.Gt)}
        if op is gast.Eq:
            return {left.id: Tested(bound, nonzero=bound != 0)}
        return {left.id: Tested(nonzero=True)} if op is gast.NotEq and bound == 0 else {}

    def _is_number(self, node: Node) -> bool:
        """Say whether a node is a variable that holds a real number, which only this code binds."""
        if not isinstance(node, gast.Name) or node.id in self.rebound:
            return False
        kind = self.kinds.of.get(node)
        return isinstance(kind, K.Num) and kind.type != "complex"


_TURNED: dict[type, type] = {
    gast.Lt: gast.Gt,
    gast.LtE: gast.GtE,
    gast.Gt: gast.Lt,
    gast.GtE: gast.LtE,
}
_OPPOSITE: dict[type, type] = {
    gast.Eq: gast.NotEq,
    gast.NotEq: gast.Eq,
    gast.Lt: gast.GtE,
    gast.LtE: gast.Gt,
    gast.Gt: gast.LtE,
    gast.GtE: gast.Lt,
}


def _with(env: Env, more: Env) -> Env:
    return {**env, **{n: t.both(env[n]) if n in env else t for n, t in more.items()}}


def _meet(ends: list[Env]) -> Env | None:
    """Return what is known on all of several ways; None where there is none."""
    if not ends:
        return None
    first, *others = ends
    return {n: t for n, t in first.items() if all(end.get(n) == t for end in others)}
