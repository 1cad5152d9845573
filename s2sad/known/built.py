"""What is built like a structure: the kind of its tangent, and its display of other parts.

tangent_kind(K.Tuple((K.FLOAT, K.INT)))         K.Tuple((K.FLOAT, K.NONE))
read(name("d"), part)                           d["w"]
display(K.Dict((("w", K.FLOAT),)), [node])      {"w": node}
"""

from __future__ import annotations

import gast

from s2sad import kinds as K
from s2sad.kinds import Kind
from s2sad.nodes import Node, attribute, clone, constant, subscript, tuple_


def tangent_kind(kind: Kind) -> Kind:
    """Return the kind of a tangent of a value: None beside what carries no derivative."""
    if kind.structure and not isinstance(kind, K.Iterable_):
        return kind.over(tangent_kind)
    return kind if K.differentiable(kind) or isinstance(kind, K.Unbound) else K.NONE


def read(whole: Node, part: K.Part) -> Node:
    """Return the expression of a part of a structure."""
    if part.how == "field":
        return attribute(clone(whole), part.step)
    return subscript(clone(whole), constant(part.step))


def display(kind: Kind, parts: list[Node]) -> Node:
    """Return the display of a dict, list or tuple such as this one, with other parts."""
    if isinstance(kind, K.Dict):
        return gast.Dict([constant(key) for key in kind.steps], parts)
    return gast.List(parts, gast.Load()) if isinstance(kind, K.List) else tuple_(parts)
