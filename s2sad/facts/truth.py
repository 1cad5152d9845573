"""What a test is known to be by kinds alone: isinstance, `is None`, ranks."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad.kinds import MISSING, Kind
from s2sad.nodes import Node


def truth(test: Node, kinds: dict[Any, Kind]) -> bool | None:
    """Return what a test is known to be by kinds alone, or None."""
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        inner = truth(test.operand, kinds)
        return None if inner is None else not inner
    if isinstance(test, gast.BoolOp):
        verdicts = [truth(v, kinds) for v in test.values]
        stop = isinstance(test.op, gast.Or)
        if verdicts[0] is stop or all(v is (not stop) for v in verdicts):
            return verdicts[0] if verdicts[0] is stop else not stop
        return None
    if isinstance(test, gast.Compare) and len(test.ops) == 1:
        return _compare_truth(test, kinds)
    if isinstance(test, gast.Call) and isinstance(test.func, gast.Name):
        if test.func.id == "isinstance" and len(test.args) == 2:
            return _isinstance_truth(kinds.get(test.args[0]), kinds.get(test.args[1]))
        if test.func.id == "callable" and len(test.args) == 1:
            kind = kinds.get(test.args[0])
            return True if isinstance(kind, K.Known | K.LocalFunction | K.Choice) else None
    return None


def _compare_truth(test: Node, kinds: dict[Any, Kind]) -> bool | None:
    left = kinds.get(test.left, K.UNKNOWN)
    right = kinds.get(test.comparators[0], K.UNKNOWN)
    op = test.ops[0]
    if isinstance(op, gast.Is | gast.IsNot):
        known = _is_truth(left, right)
        return known if known is None or isinstance(op, gast.Is) else not known
    ndim = isinstance(test.left, gast.Attribute) and test.left.attr == "ndim"
    if ndim and isinstance(left, K.Num) and isinstance(right, K.Num):
        if left.value is MISSING or right.value is MISSING:
            return None
        table = {
            gast.Eq: operator.eq,
            gast.NotEq: operator.ne,
            gast.Lt: operator.lt,
            gast.LtE: operator.le,
            gast.Gt: operator.gt,
            gast.GtE: operator.ge,
        }
        fn = table.get(type(op))
        return None if fn is None else bool(fn(left.value, right.value))
    return None


def _is_truth(left: Kind, right: Kind) -> bool | None:
    for one, other in ((left, right), (right, left)):
        if isinstance(one, K.NoneKind):
            if isinstance(other, K.NoneKind):
                return True
            if not any(isinstance(k, K.Unknown | K.Unbound | K.NoneKind) for k in K.options(other)):
                return False
    if isinstance(left, K.Known) and isinstance(right, K.Known):
        return left.value is right.value
    return None


def _isinstance_truth(value: Kind | None, cls: Kind | None) -> bool | None:
    wanted: Any = None
    if isinstance(cls, K.Known):
        wanted = cls.value
    elif isinstance(cls, K.Tuple) and all(isinstance(k, K.Known) for k in cls.items):
        wanted = tuple(k.value for k in cls.items)  # type: ignore[attr-defined]
    actual = python_type(value)
    if wanted is None or actual is None:
        return None
    try:
        return issubclass(actual, wanted)
    except TypeError:
        return None


def narrowed(test: Node, verdict: bool, env: dict[str, Kind], kinds: dict[Any, Kind]) -> None:
    """Note in `env` what is known of the variables of a test where it came out as `verdict`."""
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        narrowed(test.operand, not verdict, env, kinds)
    elif isinstance(test, gast.BoolOp):
        if isinstance(test.op, gast.And) is verdict:
            for value in test.values:
                narrowed(value, verdict, env, kinds)
    elif isinstance(test, gast.Name):
        if verdict:
            _keep(test, env, lambda k: not isinstance(k, K.NoneKind))
    elif isinstance(test, gast.Compare) and len(test.ops) == 1:
        op = test.ops[0]
        none = isinstance(kinds.get(test.comparators[0]), K.NoneKind)
        if none and isinstance(op, gast.Is | gast.IsNot):
            wanted = verdict is isinstance(op, gast.Is)
            _keep(test.left, env, lambda k: isinstance(k, K.NoneKind) is wanted)
    elif isinstance(test, gast.Call) and len(test.args) == 2:
        if isinstance(test.func, gast.Name) and test.func.id == "isinstance":
            cls = kinds.get(test.args[1])
            _keep(test.args[0], env, lambda k: _isinstance_truth(k, cls) is not (not verdict))


def _keep(node: Node, env: dict[str, Kind], test: Callable[[Kind], bool]) -> None:
    """Leave a variable only those of the kinds it may have that pass a test."""
    known = env.get(node.id) if isinstance(node, gast.Name) else None
    if isinstance(known, K.Union):
        left = [k for k in known.options if test(k)]
        env[node.id] = K.union(left) if left else K.UNBOUND


def python_type(kind: Kind | None) -> type | None:
    """Return the class of all values of a kind, or None where it is not one class."""
    if isinstance(kind, K.Num):
        if kind.dtype is None:
            return {"bool": bool, "int": int, "float": float, "complex": complex}[kind.type]
        return None if kind.dtype == "any" else np.dtype(kind.dtype).type
    if isinstance(kind, K.Array) and kind.namespace == "numpy":
        return np.ndarray
    if isinstance(kind, K.Tuple):
        return kind.cls or tuple
    if isinstance(kind, K.Obj):
        return kind.cls
    table: dict[type, type] = {K.Str: str, K.List: list, K.Dict: dict, K.NoneKind: type(None)}
    return table.get(type(kind))
