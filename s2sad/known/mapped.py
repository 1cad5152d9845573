"""The kind of a structure, with another kind in the place of each part.

mapped(K.Tuple((K.FLOAT, K.FLOAT)), f)    K.Tuple((f(K.FLOAT), f(K.FLOAT)))
mapped(K.FLOAT, f)                        None: it has no parts
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from s2sad import kinds as K
from s2sad.kinds import Kind


def mapped(kind: Kind, each: Callable[[Kind], Kind]) -> Kind | None:
    """Return a structure's kind where each part has the kind that `each` makes of its own."""
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


def tangent_kind(kind: Kind) -> Kind:
    """Return the kind of a tangent of a value: None beside what carries no derivative."""
    structure = mapped(kind, tangent_kind)
    if structure is not None:
        return structure
    return kind if K.differentiable(kind) or isinstance(kind, K.Unbound) else K.NONE
