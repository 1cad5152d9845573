"""Copies of a rule's operations say nothing that is so anyway: NumPy's defaults, a mask of True.

    np.sum(a_dot, axis=None, keepdims=False)     ->     np.sum(a_dot)
    where & mask, where all is counted           ->     mask

Before: an operation with the caller's operands, and the rule's own. After: a shorter one.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.kinds import MISSING
from s2sad.known.open_dicts import literal_key
from s2sad.primitives import language as L


def shorter(op: P.Op, rule: P.Op) -> P.Op:
    """Return a copy of a rule's operation that does not say what is so anyway.

    `where & mask` is the mask where all is counted; `np.sum(a, axis=None)` is `np.sum(a)`.
    """
    if op.primitive.form == "infix" and op.primitive.word == "BitAnd":
        left, right = op.operands
        return replace(op, primitive=L.SAME, operands=(right,)) if _value(left) is True else op
    fn = op.operands[0] if op.primitive is L.CALL else None
    if not isinstance(fn, P.Outer) or not isinstance(fn.kind, K.Known) or "." not in fn.name:
        return op
    said = rule.operands[0]
    known = said.kind.value if isinstance(said, P.Outer) and isinstance(said.kind, K.Known) else fn
    listed = _parameters(known)
    settings = tuple((n, v) for n, v in op.settings if not _is_default(listed.get(n), v))
    args = list(op.operands[1:])
    order = list(listed.values())[: len(args)]
    while len(order) == len(args) > 1 and _is_default(order[-1], args[-1]):
        order.pop()
        args.pop()
    return replace(op, operands=(fn, *args), settings=settings)


def _value(operand: object) -> object:
    """Return the value of an operand that stands in the program, or MISSING."""
    if isinstance(operand, P.Const):
        return operand.value
    return literal_key(operand.kind) if isinstance(operand, P.Var) else MISSING


def _is_default(parameter: inspect.Parameter | None, operand: object) -> bool:
    """Say whether an argument is known to be what the parameter is anyway."""
    if parameter is None or parameter.kind in _GATHERING:
        return False
    known, default = _value(operand), parameter.default
    if default is np._NoValue:
        default = _NO_VALUES.get(parameter.name, MISSING)
    return known is not MISSING and type(known) is type(default) and bool(known == default)


_GATHERING = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_NO_VALUES: Mapping[str, object] = {"where": True, "keepdims": False}


@functools.lru_cache(2048)
def _parameters(fn: Callable[..., object]) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a library function, where it tells them."""
    try:
        return inspect.signature(fn).parameters
    except (TypeError, ValueError):
        return {}
