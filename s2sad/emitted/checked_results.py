"""Helpers of derived text that check the results of users' rules at run time.

Derived text does not call them for a rule whose source shows that its result is right.
"""

from __future__ import annotations

from typing import Any

from s2sad.runtime import zeros_like


def for_each(found: Any, count: int) -> Any:
    """Return the result of a rule for several arrays; raise if it is not one entry for each."""
    if not isinstance(found, tuple | list):
        raise NotImplementedError(
            f"the rule returned a {type(found).__name__}, and not a tuple of {count}, one for "
            "each array"
        )
    if len(found) != count:
        raise NotImplementedError(f"the rule returned {len(found)} for {count} arrays")
    return found


def cotangent(bar: Any, x: Any) -> Any:
    """Return the cotangent of an array; raise if it does not have the shape of the array."""
    shape = getattr(x, "shape", None)
    if bar is not None and shape is not None and getattr(bar, "shape", ()) != shape:
        raise NotImplementedError(
            f"the rule returned a cotangent of the shape {getattr(bar, 'shape', ())} "
            f"for an argument of the shape {shape}"
        )
    return bar


def or_zeros(bar: Any, x: Any) -> Any:
    """Return a cotangent, or zeros for None."""
    return zeros_like(x) if bar is None else bar


def or_zero(partial: Any) -> Any:
    """Return a partial derivative, or 0.0 for None."""
    return 0.0 if partial is None else partial
