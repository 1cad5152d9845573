"""Objects of a library that never change: which one it is, is known as it is of a function."""

from __future__ import annotations

from typing import Any

import numpy as np

_originals: dict[type, tuple[object, tuple[str, ...]]] = {}
_like_functions: dict[type, tuple[str, ...]] = {}


def copied(*originals: object, told_by: tuple[str, ...]) -> None:
    """Say of which objects a library makes copies, that have the same rules.

    A copy is of the same class, and has the same under the names that tell.
    """
    _originals.update({type(one): (one, told_by) for one in originals})


def original(owner: Any) -> Any:
    """Return the object of which one is a copy, itself where it is none."""
    one, told_by = _originals.get(type(owner), (owner, ()))
    return one if all(getattr(owner, n) == getattr(one, n) for n in told_by) else owner


def like_functions(*classes: type, holding: tuple[str, ...]) -> None:
    """Say which objects never change: which one it is, is known as of a function.

    What they hold under some names takes part where their methods are written out.
    """
    _like_functions.update(dict.fromkeys(classes, holding))


def held_by(value: object) -> tuple[str, ...] | None:
    """Return what an object that is known as functions are holds, None of any other."""
    return _like_functions.get(type(value))


def the_same(value: Any) -> Any:
    """Return the one object that stands for all of its class that hold the same numbers."""
    held = tuple(getattr(value, n) for n in held_by(value) or ())
    if not held or not all(isinstance(part, _NUMBERS) for part in held):
        return value
    return _same.setdefault((type(value), held), value)


_NUMBERS = (int, float, str, np.generic, np.dtype)
_same: dict[Any, object] = {}
