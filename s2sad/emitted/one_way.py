"""Helpers of derived text that works on what a caller gives it, not on copies.

    layers[0].W is layers[1].W      each has a derivative of its own: that of what is reached there

Where cotangents are found by identity, memory that is reached by two ways would have one. It is
only read, or AliasError has been raised: while the derivative runs a copy stands at the second way.
"""

from __future__ import annotations

from typing import Any

from s2sad.runtime import attributes, is_array, private, share_memory


def by_one_way(ways: dict[int, Any], x: Any) -> Any:
    """Return a structure in which nothing is reached that has been reached before: copies stand.

    `ways` keeps what has been reached: arrays, by the id of the owner of their memory, and the
    rest. It keeps what each copy stands for, too.
    """
    if is_array(x):
        owner = x
        while is_array(owner.base):
            owner = owner.base
        _, _, known = ways.setdefault(id(owner), (owner, None, []))
        if any(share_memory(x, other) for other in known):
            return instead_of(ways, x, private(x))
        known.append(x)
        return x
    if isinstance(x, tuple):
        items = [by_one_way(ways, part) for part in x]
        if all(new is part for new, part in zip(items, x, strict=True)):
            return x
        return instead_of(ways, x, type(x)(*items) if hasattr(x, "_fields") else tuple(items))
    fields = {} if isinstance(x, list | dict) else attributes(x)
    if not fields and not isinstance(x, list | dict):
        return x
    if id(x) in ways:
        return instead_of(ways, x, private(x))
    ways[id(x)] = x, None, []
    for at, part in parts_of(x):
        put_part(x, at, part, by_one_way(ways, part))
    return x


def instead_of(ways: dict[int, Any], x: Any, copy: Any) -> Any:
    """Note what a copy stands for, and return it."""
    ways[id(copy)] = copy, x, []
    return copy


def as_given(ways: dict[int, Any], x: Any) -> Any:
    """Return a structure as its owner knows it: what copies stand for in their places."""
    met: set[int] = set()

    def given(part: Any) -> Any:
        _, original, _ = ways.get(id(part), (None, None, None))
        if original is not None:
            return original
        if isinstance(part, tuple):
            items = [*map(given, part)]
            if all(new is old for new, old in zip(items, part, strict=True)):
                return part
            return type(part)(*items) if hasattr(part, "_fields") else tuple(items)
        if not is_array(part) and id(part) not in met:
            met.add(id(part))
            for at, inner in parts_of(part):
                put_part(part, at, inner, given(inner))
        return part

    return given(x)


def parts_of(x: Any) -> Any:
    """Return the parts of a list, a dict or an object, each with its place."""
    if isinstance(x, list):
        return [*enumerate(x)]
    return [*(x if isinstance(x, dict) else attributes(x)).items()]


def put_part(x: Any, at: Any, part: Any, new: Any) -> None:
    """Put something at a place of a list, a dict or an object, if it is not there."""
    if new is part:
        return
    if isinstance(x, list | dict):
        x[at] = new
    else:
        object.__setattr__(x, at, new)
