"""Helpers of derived text for values that turn out to be real or complex at run time."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.runtime import fitted


def as_found(x_bar: Any, x: Any) -> Any:
    """Return a cotangent with the dtype that its primal has at run time, real or complex.

    None means zero.
    """
    return np.zeros_like(x) if x_bar is None else fitted(x_bar, x)


def surely_real(result: Any) -> None:
    """Raise a TypeError for a result that is complex at run time: it has no gradient."""
    if np.iscomplexobj(result):
        raise TypeError(
            "grad needs a real scalar, but the result is complex here: return its real part "
            "(np.real), or use s2sad.jacobian or s2sad.vjp"
        )
