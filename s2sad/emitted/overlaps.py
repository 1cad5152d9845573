"""Helpers of derived text that check memory before it is written; emitted files have copies.

They need only NumPy, the helpers of s2sad.runtime and one another.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.runtime import address, is_array, share_memory


def in_order(place: Any, value: Any, at: str) -> None:
    """Raise a ValueError if the result of a store depends on NumPy's order of copying.

    If value and place overlap, NumPy copies the value first; it does not do so if both have one
    axis with the same direction, or for the items of a list. `at` names the line of the store.
    """
    if isinstance(value, list | tuple):
        if len(value) != len(place):
            return
        for i, part in enumerate(value):
            apart_from(place[:i], part, at)
            if isinstance(place[i], np.ndarray):
                in_order(place[i], part, at)
        return
    if not isinstance(place, np.ndarray) or not isinstance(value, np.ndarray):
        return
    if place.ndim != 1 or value.ndim == 0 or not np.may_share_memory(place, value):
        return
    step, other = place.strides[0], value.strides[-1]
    if value.size <= 1 or step == other or step * other <= 0:
        return
    start, origin = (x.__array_interface__["data"][0] for x in (place, value))
    size = place.size
    if step < 0:
        start, origin = start + (size - 1) * step, origin + (size - 1) * other
        step, other = -step, -other
    turn, width = np.arange(size), max(place.itemsize, value.itemsize)
    away = origin + other * turn - start
    first = np.maximum((away - width) // step + 1, 0)
    last = np.minimum((away + width - 1) // step, size - 1)
    backward = origin < start < origin + size * other
    early = last > turn if backward else first < turn
    if np.any(early & (first <= last)):
        raise ValueError(
            f"{at}: the stored value shares memory with the place where it is stored, and "
            "NumPy changes the value on the way; s2sad cannot differentiate that. Store a "
            "copy: .copy()"
        )


def moved_apart(place: Any, value: Any, at: str) -> None:
    """Raise a ValueError if the result of a store on a device is not defined.

    If value and place overlap, CuPy copies the value first; it does not do so if both have the same
    layout without gaps: then it moves the memory in an unspecified order.
    """
    if not is_array(place) or not is_array(value) or not place.flags.c_contiguous:
        return
    alike = (place.shape, place.strides, place.dtype) == (value.shape, value.strides, value.dtype)
    if alike and address(place) != address(value) and np.may_share_memory(place, value):
        raise ValueError(
            f"{at}: the stored value shares memory with the place where it is stored, and a "
            "GPU writes in no fixed order; s2sad cannot differentiate that. Store a copy: "
            ".copy()"
        )


def apart_from(x: Any, value: Any, at: str) -> None:
    """Raise a ValueError if a value to be stored shares memory with x: NumPy does not copy it."""
    if isinstance(value, list | tuple):
        for part in value:
            apart_from(x, part, at)
    elif share_memory(x, value):
        raise ValueError(
            f"{at}: the stored value shares memory with the place where it is stored, and "
            "NumPy may change the value on the way; s2sad cannot differentiate that. Store a "
            "copy: .copy()"
        )
