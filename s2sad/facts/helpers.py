"""Kinds of what helpers of derived text give, which go through structures of any kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from s2sad import kinds as K
from s2sad import runtime
from s2sad.kinds import Kind


def helper_kind(fn: Any, args: list[Kind]) -> Kind | None:
    """Return the kind of a call of a helper, None for any other function."""
    if fn is runtime.zeros_like and len(args) == 1:
        return _zeros(args[0], K.NONE)
    if fn is runtime.no_tangent and len(args) == 1:
        return _zeros(args[0], K.FLOAT)
    if fn is runtime.twin_of and len(args) == 2:
        return _zeros(args[1], K.FLOAT)
    if fn is runtime.private and len(args) == 1:
        return K.erase_value(args[0])
    return None


def _zeros(kind: Kind, integer: Kind) -> Kind:
    """Return the kind of zeros for a value, where `integer` is that of those for an int."""

    def zeros(part: Kind) -> Kind:
        return _zeros(part, integer)

    if isinstance(kind, K.Num):
        if K.differentiable(kind):
            return K.erase_value(kind)
        return integer if kind.dtype is None else K.NONE
    if isinstance(kind, K.Array):
        return kind if K.is_float_dtype(kind.dtype) else K.NONE
    mapped = _mapped(kind, zeros)
    if mapped is not None:
        return mapped
    return kind if isinstance(kind, K.Unknown | K.Unbound) else K.NONE


def _mapped(kind: Kind, each: Callable[[Kind], Kind]) -> Kind | None:
    if isinstance(kind, K.Tuple):
        return K.Tuple(tuple(map(each, kind.items)), kind.cls)
    if isinstance(kind, K.List):
        items = None if kind.items is None else tuple(map(each, kind.items))
        return K.List(each(kind.item), kind.length, items)
    if isinstance(kind, K.Dict):
        return K.Dict(tuple((key, each(k)) for key, k in kind.items))
    if isinstance(kind, K.OpenDict):
        return replace(kind, item=each(kind.item))
    if isinstance(kind, K.Obj):
        return K.Obj(kind.cls, tuple((n, each(k)) for n, k in kind.fields))
    return None
