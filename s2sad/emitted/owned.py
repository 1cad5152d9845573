"""Copies of what derived code writes in its arguments, and of nothing else that these hold."""

from __future__ import annotations

from typing import Any

from s2sad.runtime import attributes, bare, private, refuse_twice, unshared


def owned(x: Any, *places: Any) -> Any:
    """Return a structure to be written at some places: what leads there is copied, the rest not.

    Nothing stands twice that is only reached as the whole.
    """
    if places != ((),):
        refuse_twice(x, *places)
    return along(x, places)


def along(x: Any, places: Any) -> Any:
    """Return a structure with copies of its own of what stands at some places, and on the way."""
    below: dict[Any, Any] = {}
    for place in places:
        if place:
            below.setdefault(place[0], []).append(place[1:])
    fields = () if isinstance(x, list | tuple | dict) else attributes(x)
    if ... in below or not (fields or isinstance(x, list | tuple | dict)):
        return private(x)
    if fields:
        twin = bare(type(x))
        for name in fields:
            part = fields[name]
            part = along(part, below[name]) if name in below else part
            object.__setattr__(twin, name, part)
        return twin
    whole = below.pop(None, [])
    parts: Any = [*x]
    if isinstance(x, dict):
        parts = x.copy() if type(x.copy()) is type(x) else type(x)(x)
    for step in x if isinstance(x, dict) else range(len(x)):
        if whole or step in below:
            parts[step] = along(x[step], [*whole, *below.get(step, [])])
    if isinstance(x, tuple):
        return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
    return parts


COPYING = (private, unshared, owned)  # what gives structures that may be taken for copies
