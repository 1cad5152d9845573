"""Powers of Python floats, which are complex where the base is negative: `x ** 0.5`."""

from __future__ import annotations

import builtins
import operator

import gast

from s2sad import kinds as K
from s2sad.kinds import MISSING, Kind
from s2sad.nodes import Node, walk
from s2sad.stages import Function, KindFacts


def may_turn_complex(function: Function, kinds: KindFacts) -> bool:
    """Say whether some power in a function is one of Python floats, and not surely real."""
    return any(_odd(n, kinds) for s in function.node.body for n in walk(s))


def _odd(node: Node, kinds: KindFacts) -> bool:
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Pow):
        base, exponent = node.left, node.right
    elif isinstance(node, gast.AugAssign) and isinstance(node.op, gast.Pow):
        base, exponent = node.target, node.value
    elif isinstance(node, gast.Call) and len(node.args) == 2:
        fn = kinds.objects.get(node.func)
        if fn is not builtins.pow and fn is not operator.pow:
            return False
        base, exponent = node.args
    else:
        return False
    known = kinds.of.get(base, K.UNKNOWN), kinds.of.get(exponent, K.UNKNOWN)
    return all(map(_is_plain, known)) and not _never_negative(known[0]) and not _whole(known[1])


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
