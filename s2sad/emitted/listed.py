"""A helper of derived text for lists that a rule converts to arrays."""

from __future__ import annotations

from typing import Any


def listed_like(x_bar: Any, x: Any) -> Any:
    """Return the cotangent of a list or tuple x as a list or tuple; rules return an array."""
    if x_bar is not None and isinstance(x, (list, tuple)):
        parts = [listed_like(part, a) for part, a in zip(x_bar, x, strict=True)]
        return tuple(parts) if isinstance(x, tuple) else parts
    return x_bar
