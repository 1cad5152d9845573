"""Memory reached by two ways: what a function writes may overlap nothing else that it is given.

    f(z[::2], z[1::2])      no element in common: fine
    f(z[:4], z[2:])         z[2] and z[3] are reached by both: AliasError, where f writes one

Overlap is checked exactly, when a derivative is called, and only for functions that write.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from s2sad.errors import AliasError
from s2sad.runtime import attributes, stands_at
from s2sad.stages import ANYWHERE, Places, Steps
from s2sad.tree import is_array, is_cupy_array

_WORK: Any = (
    100_000  # how long NumPy looks for a common element before the two count as overlapping
)


@dataclass(frozen=True)
class Reached:
    """Memory, the way by which it is reached, and whether it is written."""

    way: str
    memory: Any
    written: bool


def reach(way: str, value: Any, written: Places = (), changed: Places = ()) -> Iterator[Reached]:
    """Yield the arrays in a value, and the containers that hold them, with their ways.

    The arrays may be `written` at some places, the containers `changed`.
    """
    yield from _reach(way, value, (), written, changed, frozenset())


def reach_shadow(way: str, shadow: Any) -> Iterator[Reached]:
    """Yield what is written in a shadow: the arrays of floats, and the containers."""
    for r in reach(way, shadow, (ANYWHERE,), (ANYWHERE,)):
        if not is_array(r.memory) or r.memory.dtype.kind in "fc":
            yield r


def _reach(
    way: str, value: Any, path: Steps, written: Places, changed: Places, above: frozenset[int]
) -> Iterator[Reached]:
    if is_array(value):
        yield Reached(way, value, stands_at(path, written))
        return
    if isinstance(value, str | bytes | int | float | complex | type | np.generic) or value is None:
        return
    if id(value) in above:
        return
    above = above | {id(value)}
    parts: list[tuple[str, Any, Any]] = []
    if isinstance(value, list | tuple):
        parts = [(f"{way}[{i}]", i, part) for i, part in enumerate(value)]
    elif isinstance(value, dict):
        parts = [(f"{way}[{key!r}]", key, part) for key, part in value.items()]
    else:
        parts = [(f"{way}.{n}", n, part) for n, part in attributes(value).items()]
    if parts and not isinstance(value, tuple):
        yield Reached(way, value, stands_at(path, changed))
    for place, step, part in parts:
        yield from _reach(place, part, (*path, step), written, changed, above)


def refuse_overlap(reached: Iterable[Reached], name: str) -> None:
    """Raise AliasError where memory that is written is reached by two ways."""
    found = list(reached)
    if not any(r.written for r in found):
        return
    _same_container(found, name)
    spans = []
    for r in found:
        if is_array(r.memory) and r.memory.size:
            lying = _lying(r.memory)
            if r.written and _overlaps_itself(lying):
                raise AliasError(
                    f"Some elements of {r.way} share memory with each other, and {name} "
                    "writes into it.",
                    remedy=f"Pass a copy: {r.way}.copy().",
                )
            spans.append((*_bounds(lying), lying, r))
    spans.sort(key=lambda span: span[0])
    open_: list[tuple[int, int, Any, Reached]] = []
    for low, high, lying, r in spans:
        open_ = [other for other in open_ if other[1] > low]
        for _, _, known, other in open_:
            together = is_cupy_array(r.memory) == is_cupy_array(other.memory)
            if together and (r.written or other.written) and _overlap(lying, known):
                raise _refusal(r.way, other.way, name)
        open_.append((low, high, lying, r))


def _refusal(one: str, other: str, name: str) -> AliasError:
    one, other = sorted((one, other))
    return AliasError(
        f"{one} and {other} share memory, and {name} or its derivative writes there.",
        remedy=f"Pass a copy of one of them: {other}.copy().",
    )


def _same_container(found: list[Reached], name: str) -> None:
    """A list, dict or object is the same memory where it is the same object."""
    known: dict[int, Reached] = {}
    for r in found:
        if is_array(r.memory):
            continue
        other = known.setdefault(id(r.memory), r)
        if other is not r and (r.written or other.written):
            raise _refusal(r.way, other.way, name)


def _lying(a: Any) -> Any:
    """Return an array of NumPy's that lies as an array does: the device's must not be read."""
    if isinstance(a, np.ndarray):
        return a
    place = {"data": (a.data.ptr, True), "shape": a.shape, "strides": a.strides}
    place |= {"typestr": a.dtype.str, "version": 3}
    return np.asarray(SimpleNamespace(__array_interface__=place))


def overlap(a: Any, b: Any) -> bool:
    """Say whether two arrays of one namespace have a byte in common."""
    return bool(a.size and b.size) and _overlap(_lying(a), _lying(b))


def _bounds(a: Any) -> tuple[int, int]:
    """Return the first byte of an array and the one behind its last."""
    low = high = a.__array_interface__["data"][0]
    for n, stride in zip(a.shape, a.strides, strict=True):
        low += min(0, (n - 1) * stride)
        high += max(0, (n - 1) * stride)
    return low, high + a.itemsize


def _overlap(a: Any, b: Any) -> bool:
    """Say whether two arrays have a byte in common; what is too hard to decide counts as one."""
    if not np.may_share_memory(a, b):
        return False
    try:
        return np.shares_memory(a, b, max_work=_WORK)
    except np.exceptions.TooHardError:
        return True


def _overlaps_itself(a: Any) -> bool:
    """Say whether two elements of an array may have a byte in common.

    Certainly not where each axis steps over all that the finer ones reach.
    """
    if a.flags.c_contiguous or a.flags.f_contiguous:
        return False
    reach_ = int(a.itemsize)
    for stride, n in sorted((abs(s), n) for s, n in zip(a.strides, a.shape, strict=True) if n > 1):
        if stride < reach_:
            return True
        reach_ += (n - 1) * stride
    return False
