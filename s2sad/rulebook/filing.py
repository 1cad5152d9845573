"""The identity under which what is known of a function is filed."""

from __future__ import annotations

import inspect
from collections.abc import Hashable

from s2sad.known import fixed


def key_of(fn: object) -> Hashable:
    """Return the identity under which a rule is filed.

    Each access of a bound ufunc method (`np.add.reduce`) makes a new object, so such methods are
    filed under the ufunc and the method's name. Everything else is filed under its own identity.
    """
    owner = getattr(fn, "__self__", None)
    name = getattr(fn, "__name__", None)
    if owner is not None and not inspect.ismodule(owner) and isinstance(name, str):
        owner = fixed.original(owner)
        try:
            return ("method", id(owner), name) if not isinstance(owner, type) else (owner, name)
        except TypeError:
            pass
    return id(fn)
