"""Powers of Python floats, which are complex where the base is negative: `x ** 0.5`.

A base that is never negative by what the function does is no such power: `max(r, 1e-3) ** -0.2`.
"""

from __future__ import annotations

import builtins
import operator

import gast

from s2sad import kinds as K
from s2sad import registry
from s2sad.kinds import MISSING, Kind
from s2sad.nodes import Node, all_inside, count_writes, walk
from s2sad.rulebook.facts import NEVER_NEGATIVE
from s2sad.stages import Function, KindFacts


def may_turn_complex(function: Function, kinds: KindFacts) -> bool:
    """Say whether some power in a function is one of Python floats, and not surely real."""
    odd = [b for s in function.node.body for n in walk(s) if (b := _odd(n, kinds)) is not None]
    if not odd:
        return False
    signs = _Signs(function, kinds)
    return not all(signs.never_negative(base) for base in odd)


def _odd(node: Node, kinds: KindFacts) -> Node | None:
    """Return the base of a power that may turn complex, as far as kinds tell; None of others."""
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Pow):
        base, exponent = node.left, node.right
    elif isinstance(node, gast.AugAssign) and isinstance(node.op, gast.Pow):
        base, exponent = node.target, node.value
    elif isinstance(node, gast.Call) and len(node.args) == 2:
        fn = kinds.objects.get(node.func)
        if fn is not builtins.pow and fn is not operator.pow:
            return None
        base, exponent = node.args
    else:
        return None
    known = kinds.of.get(base, K.UNKNOWN), kinds.of.get(exponent, K.UNKNOWN)
    odd = all(map(_is_plain, known)) and not _never_negative(known[0]) and not _whole(known[1])
    return base if odd else None


def _is_plain(kind: Kind) -> bool:
    """Say whether a value may be a Python number."""
    return any(isinstance(k, K.Num) and k.dtype in (None, "any") for k in K.options(kind))


def _never_negative(kind: Kind) -> bool:
    value = getattr(kind, "value", MISSING)
    return isinstance(value, int | float) and value >= 0


def _whole(kind: Kind) -> bool:
    """Say whether an exponent is a whole number."""
    value = getattr(kind, "value", MISSING)
    if isinstance(value, int | float):
        return float(value).is_integer()
    return all(isinstance(k, K.Num) and k.type in ("int", "bool") for k in K.options(kind))


class _Signs:
    """Which variables of a function are never negative, by all that is bound to them."""

    def __init__(self, function: Function, kinds: KindFacts) -> None:
        self.kinds = kinds
        values: dict[str, list[Node]] = {}
        for s in all_inside(function.node.body):
            if isinstance(s, gast.Assign) and all(isinstance(t, gast.Name) for t in s.targets):
                for target in s.targets:
                    values.setdefault(target.id, []).append(s.value)
        counts = count_writes(function.node.body)
        self.known = {n for n, found in values.items() if len(found) == counts[n]}
        self.known -= {*function.params}
        while wrong := {n for n in self.known if not all(map(self.never_negative, values[n]))}:
            self.known -= wrong

    def never_negative(self, node: Node) -> bool:
        """Say whether a number is never negative, if those that are `known` are not."""
        if isinstance(node, gast.Constant):
            return isinstance(node.value, int | float) and node.value >= 0
        if isinstance(node, gast.Name):
            return node.id in self.known
        if isinstance(node, gast.IfExp):
            return self.never_negative(node.body) and self.never_negative(node.orelse)
        if isinstance(node, gast.BinOp):
            return self._operation(node)
        return isinstance(node, gast.Call) and self._call(node)

    def _operation(self, node: Node) -> bool:
        left, right = node.left, node.right
        if isinstance(node.op, gast.Pow):
            even = isinstance(right, gast.Constant) and right.value in (2, 4, 6)
            return even or self.never_negative(left)
        if isinstance(node.op, gast.Mult) and isinstance(left, gast.Name):
            if isinstance(right, gast.Name) and left.id == right.id:
                return True
        both = isinstance(node.op, gast.Add | gast.Mult | gast.Div)
        return both and self.never_negative(left) and self.never_negative(right)

    def _call(self, node: Node) -> bool:
        fn = self.kinds.objects.get(node.func)
        if fn is max and len(node.args) > 1:
            return any(map(self.never_negative, node.args))
        if fn in (min, float) and node.args:
            return len(node.args) > (fn is min) and all(map(self.never_negative, node.args))
        return registry.numbers_of(fn).form in NEVER_NEGATIVE
