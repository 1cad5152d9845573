"""What ufunc.at does to an array, as a function that writes nothing; derived code may call it."""

from __future__ import annotations

from typing import Any

import numpy as np

UFUNCS = (
    *(np.multiply, np.true_divide, np.power, np.float_power, np.remainder, np.fmod),
    *(np.maximum, np.minimum, np.hypot, np.arctan2, np.logaddexp),
)
"""The rule of `applied_at` knows the derivatives of these."""


def turns(positions: Any) -> Any:
    """Return which positions are taken in each turn: none twice in one, the first ones first."""
    order = np.argsort(positions, kind="stable")
    ordered = positions[order]
    starts = np.flatnonzero(np.append(np.ones(1, dtype=bool), ordered[1:] != ordered[:-1]))
    counts = np.diff(np.append(starts, len(ordered)))
    turn = np.empty(len(ordered), dtype=int)
    turn[order] = np.arange(len(ordered)) - np.repeat(starts, counts)
    return [np.flatnonzero(turn == k) for k in range(np.max(counts, initial=0))]


def applied_at(a: Any, b: Any, *, ufunc: Any, positions: Any) -> Any:
    """Return a copy of an array, with a ufunc applied once for each of the positions.

    They count elements as if the array were flat.
    """
    made = np.ravel(np.array(a))
    ufunc.at(made, positions, b)
    return np.reshape(made, a.shape)
