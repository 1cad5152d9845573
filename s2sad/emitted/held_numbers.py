"""Helpers of derived text for the numbers in structures: cotangents stand at the same places.

The shadow of a list, a dict or an object has the cotangent of a number where the number stands,
and at the place of a tuple a tuple of such. Of memory that stands there nothing is read here: its
cotangent is found by what it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.runtime import (
    add_into_shadow,
    attributes,
    bare,
    is_array,
    shadow_of,
    take_from_shadow,
    twin_of,
)


def more(held: Any, value: Any) -> Any:
    """Return what a shadow holds at one place, with a derivative added to the numbers."""
    if value is None:
        return held
    if held is None or (isinstance(value, tuple) and not isinstance(held, tuple)):
        return value
    if isinstance(held, tuple):
        parts = [more(h, v) for h, v in zip(held, value, strict=True)]
        return type(held)(*parts) if hasattr(held, "_fields") else tuple(parts)
    return held + value if isinstance(held, float | complex | np.inexact) else held


def nothing_of(held: Any) -> Any:
    """Return what a shadow holds where a value stands whose cotangent is zero."""
    if isinstance(held, tuple):
        parts = [nothing_of(h) for h in held]
        return type(held)(*parts) if hasattr(held, "_fields") else tuple(parts)
    if isinstance(held, int | np.integer | np.bool_):
        return 0.0
    return type(held)(0.0) if isinstance(held, float | complex | np.inexact) else None


def add_items(shadow: Any, items: Any, at: Any = slice(None)) -> None:
    """Add derivatives to the items of the shadow of a list, or to those in a slice.

    Arrays that came into an empty list later may still stand in its shadow: nothing is added.
    """
    places = range(len(shadow))[at]
    if len(places) < len(items) and not any(map(is_slot, items)):
        return
    for k, value in zip(places, items, strict=True):
        shadow[k] = more(shadow[k], value)


def is_slot(held: Any) -> bool:
    """Return whether a shadow holds a number, or a tuple that may hold some."""
    return isinstance(held, float | complex | np.inexact | tuple)


def add_repeated(shadow: Any, items: Any, count: int) -> None:
    """Add derivatives of the items of a list: so many of another one stand there again and again.

    That one may have grown since.
    """
    for k, value in enumerate(items if count else ()):
        shadow[k % count] = more(shadow[k % count], value)


def add_entries(shadow: Any, taken: Any, held: Any) -> None:
    """Move derivatives to the shadow of a dict from that of one that got what it `held`."""
    for key in held:
        shadow[key] = more(shadow[key], taken[key])
        taken[key] = nothing_of(taken[key])


def add_values(shadow: Any, items: Any, held: Any, pairs: bool) -> None:
    """Add the derivatives of a list of the values of a dict, or of pairs of keys and values."""
    for key, value in zip(held, items, strict=True):
        shadow[key] = more(shadow[key], value[1] if pairs and value is not None else value)


def chosen_at(out: Any, xs: Any, key: Any) -> int:
    """Return the place of the item that max or min chose by a key: the first with out's key."""
    return [key(x) for x in xs].index(key(out))


def add_to_entry(shadow: Any, there: Any, key: Any, value: Any) -> None:
    """Add a derivative to that of an entry of a dict, if it was there."""
    if there:
        shadow[key] = more(shadow[key], value)


def put_entry(shadow: Any, there: Any, key: Any, value: Any) -> None:
    """Put a derivative where an entry was, if it was there, before it was taken out of a dict."""
    if there:
        shadow[key] = value


def put_back(shadow: Any, index: Any, value: Any) -> None:
    """Put a derivative where an item was, before it was taken out of a list."""
    shadow.insert(range(len(shadow) + 1)[index], value)


def taken_back(shadow: Any, index: Any) -> Any:
    """Return the derivative of an item that was inserted, which is taken out of the shadow."""
    return shadow.pop(slice(index, None).indices(len(shadow) - 1)[0])


def undo_slice(shadow: Any, at: slice, count: int, nothing: Any) -> Any:
    """Undo that a slice of a list of so many items got others; return the derivatives of these."""
    places = range(count)[at]
    if places.step != 1:
        found = [shadow[k] for k in places] if len(shadow) == count else []
        for k in sorted(places):
            shadow[k : k + bool(found)] = [nothing]
        return found
    new = len(shadow) - count + len(places)
    found = shadow[places.start : places.start + new]
    shadow[places.start : places.start + new] = [nothing] * len(places)
    return found


def undo_entries(shadow: Any, held: Any) -> None:
    """Let the shadow of a dict have a place for each entry that the dict held."""
    for key in held:
        shadow[key] = nothing_of(held[key])


def picture(x: Any) -> Any:
    """Return what a structure holds now: of each list, dict and object itself and its parts."""
    if isinstance(x, tuple):
        items = map(picture, x)
        return type(x)(*items) if hasattr(x, "_fields") else tuple(items)
    if isinstance(x, list):
        return [x, list(map(picture, x))]
    parts = x if isinstance(x, dict) else {} if is_array(x) else attributes(x)
    if not parts and not isinstance(x, dict):
        return x
    return [x, {key: picture(parts[key]) for key in parts}]


def conjugate(x: Any) -> Any:
    """Return the cotangent of what a shadow of memory holds, or the other way round."""
    turned = isinstance(x, complex) or (hasattr(x, "dtype") and x.dtype.kind == "c")
    return x.conjugate() if turned else x


def add_to_picture(shadows: dict[int, Any], seen: Any, value: Any) -> None:
    """Add a derivative of what a structure held: to shadows of its memory, and of its numbers."""
    if value is None:
        return
    if isinstance(seen, tuple):
        for part, v in zip(seen, value, strict=True):
            add_to_picture(shadows, part, v)
    elif isinstance(seen, list):
        x, parts = seen
        shadow = twin_of(shadows, x)
        if isinstance(x, list | dict):
            for key in parts if isinstance(parts, dict) else range(len(parts)):
                add_to_picture(shadows, parts[key], value[key])
                if not is_array(parts[key]) and not isinstance(parts[key], list):
                    shadow[key] = more(shadow[key], value[key])
            return
        for name in parts:
            v = getattr(value, name)
            add_to_picture(shadows, parts[name], v)
            object.__setattr__(shadow, name, more(getattr(shadow, name), v))
    elif is_array(seen):
        add_into_shadow(twin_of(shadows, seen), conjugate(value))


def left_of(shadows: dict[int, Any], x: Any, value: Any) -> Any:
    """Add a derivative to the shadow of an array; return what is left: that of a number."""
    if not is_array(x):
        return value
    add_into_shadow(twin_of(shadows, x), conjugate(value))
    return 0.0


def taken_from_picture(shadows: dict[int, Any], seen: Any, held: Any = None) -> Any:
    """Return the derivative of what a structure held, which is zero then; None where there is none.

    Where a number stands a shadow `held` its derivative.
    """
    if isinstance(seen, tuple):
        inner = held if isinstance(held, tuple) else (None,) * len(seen)
        items = [taken_from_picture(shadows, s, h) for s, h in zip(seen, inner, strict=True)]
        return type(seen)(*items) if hasattr(seen, "_fields") else tuple(items)
    if not isinstance(seen, list):
        if is_array(seen):
            return conjugate(take_from_shadow(shadow_of(shadows, seen)))
        return held if isinstance(seen, float | complex | np.inexact) else None
    x, parts = seen
    shadow = twin_of(shadows, x)
    if isinstance(x, list):
        memory = all(is_array(part) or isinstance(part, list) for part in parts)
        kept = (None,) * len(parts) if memory else shadow  # memory needs no slots: none is kept
        found = [taken_from_picture(shadows, p, h) for p, h in zip(parts, kept, strict=True)]
        shadow[:] = map(nothing_of, shadow)
        return found
    made = x.copy() if isinstance(x, dict) else bare(type(x))
    if isinstance(x, dict):
        made.clear()
    slots = shadow if isinstance(x, dict) else attributes(shadow)  # without what is deleted since
    for key in parts:
        value = taken_from_picture(shadows, parts[key], slots.get(key))
        if isinstance(x, dict):
            made[key] = value
        else:
            object.__setattr__(made, key, value)
        if isinstance(x, dict) and key in slots:
            shadow[key] = nothing_of(slots[key])
        elif key in slots:
            object.__setattr__(shadow, key, nothing_of(slots[key]))
    return made
