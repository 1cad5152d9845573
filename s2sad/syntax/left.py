"""What a write into a structure leaves where it is."""

from __future__ import annotations

import gast

from s2sad.kinds import Kind
from s2sad.nodes import Node, names_read
from s2sad.stages import Names, Write, surely_others


def leaves(write: Write, holders: Names, value: Node, owner: Kind) -> bool:
    """Say whether a write leaves in its place what an expression takes of a structure.

    `holders` are the names that may hold what is written, `owner` is the kind of that structure.
    """
    apart = not names_read(value) & holders or surely_others(write.owner, owner)
    return apart or _other_slot(write.statement, value)


def _other_slot(s: Node, value: Node) -> bool:
    """Say whether a statement leaves what a link reads alone: another name, or another part."""
    if isinstance(value, gast.Name):
        return True
    place = s.targets[0] if isinstance(s, gast.Assign | gast.Delete) else None
    if isinstance(place, gast.Attribute) and isinstance(value, gast.Attribute):
        return bool(place.attr != value.attr)
    if isinstance(place, gast.Attribute | gast.Subscript):
        if type(place) is not type(value):
            return isinstance(value, gast.Attribute | gast.Subscript)
    if isinstance(place, gast.Subscript) and isinstance(value, gast.Subscript):
        parts = (place.slice, value.slice)
        if all(isinstance(p, gast.Constant) for p in parts):
            one, other = (p.value for p in parts)
            return bool(one != other)
    func = getattr(getattr(s, "value", None), "func", None)
    appends = isinstance(func, gast.Attribute) and func.attr == "append"
    return appends and isinstance(getattr(value, "slice", None), gast.Constant)
