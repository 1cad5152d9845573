"""Kinds of what helpers of derived text give, which go through structures of any kind."""

from __future__ import annotations

from typing import Any

from s2sad import kinds as K
from s2sad import runtime
from s2sad.emitted.found import surely_real
from s2sad.emitted.owned import COPYING
from s2sad.kinds import Kind


def helper_kind(fn: Any, args: list[Kind]) -> Kind | None:
    """Return the kind of a call of a helper, None for any other function."""
    if fn is runtime.zeros_like and args:
        return _zeros(args[0], K.NONE if len(args) == 1 else K.FLOAT)
    if fn is runtime.twin_of and len(args) == 2:
        return _zeros(args[1], K.FLOAT)
    if any(fn is copying for copying in (*COPYING, runtime.apart)):
        return K.erase_value(args[0]) if args else None
    if fn is runtime.add and len(args) == 2 and K.is_container(args[0]):
        return _zeros(args[0], K.NONE)
    if fn is runtime.refuse_twice or fn is surely_real:
        return K.NONE
    return None


def _zeros(kind: Kind, integer: Kind) -> Kind:
    """Return the kind of zeros for a value, where `integer` is that of those for an int."""
    if isinstance(kind, K.Num):
        if K.differentiable(kind):
            return K.erase_value(kind)
        return integer if kind.dtype is None else K.NONE
    if isinstance(kind, K.Array):
        return kind if K.is_float_dtype(kind.dtype) else K.NONE
    if kind.how == "option":
        return K.one_of(_zeros(part, integer) for part in kind.inside)
    if kind.structure and not isinstance(kind, K.Iterable_):
        return kind.over(lambda part: _zeros(part, integer))
    return kind if isinstance(kind, K.Unknown | K.Unbound) else K.NONE
