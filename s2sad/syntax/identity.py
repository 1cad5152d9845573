"""Copies must not be told apart from the originals.

Derived code works on copies of what is written, or read again later. Where a function asks whether
two names are the very same object, a copy would answer otherwise than the original:

    if unit is METER: ...       # `unit` is an argument that is copied
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.errors import UnsupportedError
from s2sad.kinds import Kind
from s2sad.nodes import Node, walk
from s2sad.stages import Function, KindFacts

_IDENTITY = (gast.Is, gast.IsNot)
_MEMORY = (K.Array, K.List, K.Dict, K.OpenDict, K.Obj, K.Tuple)


def refuse_copy(name: str, kind: Kind, functions: Iterable[tuple[Function, KindFacts]]) -> None:
    """Raise where some function tells objects apart that a copy of this argument consists of."""
    for function, kinds in functions:
        for node, found in _asked(function, kinds):
            if any(K.may_hold(kind, k) for k in found):
                raise UnsupportedError(
                    f"The derivative works on a copy of `{name}`, so s2sad cannot ask here "
                    "whether two objects are the same.",
                    remedy=(
                        "Compare something that the objects hold: a name, a number, or a "
                        "member of an Enum."
                    ),
                    place=function.source.place(node),
                )


def _asked(function: Function, kinds: KindFacts) -> Iterable[tuple[Node, list[Kind]]]:
    """Yield the comparisons of a function that go by identity, with what they compare."""
    for node in walk(function.node):
        if isinstance(node, gast.Compare) and len(node.ops) == 1:
            left, right = (kinds.of.get(n) for n in (node.left, node.comparators[0]))
            found = _by_identity(node.ops[0], left, right)
            if found:
                yield node, found


def _by_identity(op: Any, left: Kind | None, right: Kind | None) -> list[Kind]:
    if isinstance(op, _IDENTITY):
        return [left, right] if left and right and _may_be_one(left, right) else []
    lone: list[Kind] = [k for k in (left, right) if isinstance(k, K.Obj) and _only_itself(k.cls)]
    if isinstance(op, gast.In | gast.NotIn):
        return lone[:1] if isinstance(left, K.Obj) else []
    if isinstance(op, gast.Eq | gast.NotEq):
        return lone
    return []


def _may_be_one(left: Kind, right: Kind) -> bool:
    """Say whether two names may denote one object that is copied."""
    if isinstance(left, K.Obj) and isinstance(right, K.Obj):
        return left.cls is right.cls and not K.is_enumerated(left.cls)
    return type(left) is type(right) and isinstance(left, _MEMORY)


def _only_itself(cls: Any) -> bool:
    """Say whether objects of a class are equal to themselves only."""
    return cls.__eq__ is object.__eq__ and not K.is_enumerated(cls)
