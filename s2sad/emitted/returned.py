"""What rules of somebody's own return, looked at where it comes into derived text.

Nothing here is called for a rule whose text says that it returns what it should.
"""

from __future__ import annotations

from typing import Any

from s2sad.runtime import zeros_like


def for_each(found: Any, count: int) -> Any:
    """Return what a rule returned for several arrays, if that is something for each."""
    if not isinstance(found, tuple | list):
        raise NotImplementedError(
            f"the rule returned a {type(found).__name__}, and not a tuple of {count}, one for "
            "each array"
        )
    if len(found) != count:
        raise NotImplementedError(f"the rule returned {len(found)} for {count} arrays")
    return found


def cotangent(bar: Any, x: Any) -> Any:
    """Return what a rule returned for an array, if that has the shape of the array."""
    shape = getattr(x, "shape", None)
    if bar is not None and shape is not None and getattr(bar, "shape", ()) != shape:
        raise NotImplementedError(
            f"the rule returned a cotangent of the shape {getattr(bar, 'shape', ())} "
            f"for an argument of the shape {shape}"
        )
    return bar


def or_zeros(bar: Any, x: Any) -> Any:
    """Return a cotangent, for which None may stand where it is zero."""
    return zeros_like(x) if bar is None else bar


def or_zero(partial: Any) -> Any:
    """Return a partial derivative, for which None may stand where it is zero."""
    return 0.0 if partial is None else partial
