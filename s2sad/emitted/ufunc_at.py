"""The effect of ufunc.at, as a function that does not write; derived code may call it."""

from __future__ import annotations

from typing import Any

import numpy as np

UFUNCS = (
    *(np.multiply, np.true_divide, np.power, np.float_power, np.remainder, np.fmod),
    *(np.maximum, np.minimum, np.hypot, np.arctan2, np.logaddexp),
)
"""The ufuncs whose derivatives the rule of `applied_at` knows."""


def turns(positions: Any) -> Any:
    """Return the indices into positions for each turn; no position occurs twice in a turn."""
    order = np.argsort(positions, kind="stable")
    ordered = positions[order]
    starts = np.flatnonzero(np.append(np.ones(1, dtype=bool), ordered[1:] != ordered[:-1]))
    counts = np.diff(np.append(starts, len(ordered)))
    turn = np.empty(len(ordered), dtype=int)
    turn[order] = np.arange(len(ordered)) - np.repeat(starts, counts)
    return [np.flatnonzero(turn == k) for k in range(np.max(counts, initial=0))]


def applied_at(a: Any, b: Any, *, ufunc: Any, positions: Any) -> Any:
    """Return a copy of an array, with a ufunc applied once for each of the positions.

    The positions are indices into the flattened array.
    """
    made = np.ravel(np.array(a))
    ufunc.at(made, positions, b)
    return np.reshape(made, a.shape)
