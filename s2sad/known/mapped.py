"""The kind of a tangent: built like the value's, with None beside what carries no derivative.

tangent_kind(K.Tuple((K.FLOAT, K.INT)))    K.Tuple((K.FLOAT, K.NONE))
"""

from __future__ import annotations

from s2sad import kinds as K
from s2sad.kinds import Kind


def tangent_kind(kind: Kind) -> Kind:
    """Return the kind of a tangent of a value: None beside what carries no derivative."""
    if kind.structure and not isinstance(kind, K.Iterable_):
        return kind.over(tangent_kind)
    return kind if K.differentiable(kind) or isinstance(kind, K.Unbound) else K.NONE
