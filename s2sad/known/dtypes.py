"""Does a function of the library give floats, or what it is given? It is asked, with samples.

np.argmax(x)     integers, whatever x is
np.take(x, i)    floats of floats, integers of integers
np.sqrt(x)       floats of both
"""

from __future__ import annotations

import builtins
import functools
import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from s2sad import registry
from s2sad.known.generators import generator_of, is_drawing

_FAILURES = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)


@functools.lru_cache(1024)
def gives_floats(fn: Any, *, of_integers: bool) -> bool | None:
    """Say whether a function gives floats, of floats or of integers; None where nobody knows."""
    home = str(getattr(fn, "__module__", None) or "").partition(".")[0]
    asked = home in (np.__name__, math.__name__, builtins.__name__)
    if generator_of(fn) is not None or is_drawing(fn):
        return None  # it would draw
    if not asked or registry.rule_for(fn) is None:
        return None
    for given in _samples(np.uint8 if of_integers else np.float64):
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return bool(np.result_type(fn(*given)).kind in "fc")
        except _FAILURES:
            continue
    return None


def _samples(dtype: Any) -> Iterator[tuple[Any, ...]]:
    """Yield arguments as functions want them: arrays, a number, a shape, two axes, a list."""
    one, a = dtype(1), np.ones(2, dtype)
    yield from ((a,), (a, a), (a, 1), (a, (2,)), (a, 0, 0), ([a],), (one,))
