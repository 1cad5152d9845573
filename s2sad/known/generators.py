"""Random generators: neither values nor memory. They advance in the forward sweep, once."""

from __future__ import annotations

import random
import types
from collections.abc import Callable
from typing import Any

import numpy as np

GENERATORS: dict[type, Callable[[int], Any]] = {
    np.random.Generator: np.random.default_rng,
    np.random.RandomState: np.random.RandomState,
    random.Random: random.Random,
}


def generator_of(fn: object) -> type | None:
    """Return the class of the generator that a function is a method of, or None."""
    bound = isinstance(fn, types.BuiltinMethodType | types.MethodType)
    owner = type(getattr(fn, "__self__", None))
    return owner if bound and owner in GENERATORS else None


def is_drawing(fn: object) -> bool:
    """Say whether a function is a method of a generator's class, not yet of a generator."""
    name = getattr(fn, "__name__", "")
    return any(fn is getattr(cls, name, None) for cls in GENERATORS)


def draws(fn: object, owner: object, attr: str) -> Any:
    """Return the method of a generator's class that a call draws by, or None.

    Called is `fn`, or `attr` of an object of the class `owner`. A shuffle changes what it is given.
    """
    cls: Any = generator_of(fn)
    if cls is not None:
        attr = getattr(fn, "__name__", "")
    elif fn is None and isinstance(owner, type) and owner in GENERATORS:
        cls = owner
    return getattr(cls, attr, None) if cls is not None and attr != "shuffle" else None
