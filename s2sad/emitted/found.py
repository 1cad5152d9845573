"""Helpers of derived text for what is found to be real or complex at run time."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.runtime import fitted


def as_found(x_bar: Any, x: Any) -> Any:
    """Return a cotangent as its primal is found to be at run time, real or complex.

    None is zero.
    """
    return np.zeros_like(x) if x_bar is None else fitted(x_bar, x)


def surely_real(result: Any) -> None:
    """Refuse a result that is found to be complex: it has no gradient."""
    if np.iscomplexobj(result):
        raise TypeError(
            "grad needs a real scalar, but the result is complex here: return its real part "
            "(np.real), or use s2sad.jacobian or s2sad.vjp"
        )
