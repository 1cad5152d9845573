"""Where integers stand among floats: what derived code takes for floats, though the run finds ints.

[1, 2.0]            a list of floats to derived code: the 1 has a cotangent there, and a tangent
{0: 1, 5: 2.0}      so are the values of a dict whose keys are no words
{"n": 1, "x": 2.0}  each has a kind of its own: the 1 has neither
"""

from __future__ import annotations

from typing import Any

from s2sad import kinds as K
from s2sad.kinds import Kind


def joins(value: Any) -> bool:
    """Say whether the items of a container are of one kind to derived code."""
    return type(value) is list or (type(value) is dict and not K.are_names(value))


def holds_joined(kind: Kind, within: bool = False) -> bool:
    """Say whether a structure may hold integers where its kind has floats."""
    if isinstance(kind, K.Num):
        return within and K.differentiable(kind) and kind.dtype in (None, "any")
    within = within or isinstance(kind, K.List | K.OpenDict)
    return any(holds_joined(part, within) for part in K.together(kind))
