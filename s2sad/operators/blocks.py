"""Blocks of a Jacobian: an array for each leaf of one structure and each of another.

    unit(y, i, k)                  y's structure of zeros, with 1 at place k of leaf i
    Blocks(y, x, "f").row(...)     the derivatives of one number of y by all of x
    Blocks(y, x, "f").column(...)  the derivatives of all of y by one number of x

By a complex x, a real y has the derivative dy/da - i dy/db where x = a + i b, as under grad; a
complex one dy/dx, which there is where y is holomorphic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2sad.errors import ActivityError
from s2sad.known.spaces import NUMPY, module_of, space_of
from s2sad.tree import is_array, leaves, map_leaves


def sizes(structure: Any) -> list[int]:
    """Return how many numbers the leaves of a structure have."""
    return [int(np.size(leaf.value)) for leaf in leaves(structure)]


def unit(structure: Any, i: int = -1, k: int = 0, value: complex = 0) -> Any:
    """Return zeros in a structure, with a value at place k of leaf i."""
    met = iter(range(len(leaves(structure))))

    def filled(leaf: Any) -> Any:
        mine = next(met) == i
        if not is_array(leaf):
            return type(leaf)(value if mine else 0)
        made = _space(leaf).zeros(leaf.shape, leaf.dtype)
        if mine:
            made.reshape(-1)[k] = value
        return made

    return map_leaves(filled, structure, other=lambda leaf: None)


def _space(leaf: Any) -> Any:
    return module_of(space_of(type(leaf)) or NUMPY)


def aligned(structure: Any, derivative: Any) -> list[Any]:
    """Return the leaves of a derivative in the order of those of what it is built like."""
    found: list[Any] = []

    def keep(leaf: Any, part: Any) -> Any:
        found.append(part)
        return leaf

    map_leaves(keep, structure, derivative)
    return found


@dataclass
class Blocks:
    """The derivatives of y by x, as they come in; `name` is the function's in messages."""

    y: Any
    x: Any
    name: str
    outs: list[Any] = field(init=False)
    ins: list[Any] = field(init=False)
    made: list[list[Any]] = field(init=False)

    def __post_init__(self) -> None:
        self.outs = [leaf.value for leaf in leaves(self.y)]
        self.ins = [leaf.value for leaf in leaves(self.x)]
        self.made = [[_empty(out, given) for given in self.ins] for out in self.outs]

    def row(self, i: int, k: int, first: Any, second: Any) -> None:
        """Take the cotangents of x for 1 and, of a complex y, for -i at one place of y."""
        ones = aligned(self.x, first)
        turned = aligned(self.x, second) if second is not None else [None] * len(ones)
        for j, (one, other) in enumerate(zip(ones, turned, strict=True)):
            if other is not None and np.iscomplexobj(self.ins[j]):
                self._holomorphic(other, -1j * one)
            elif other is not None:
                one = one + 1j * other
            self.made[i][j][k, :] = _flat(one)

    def column(self, j: int, k: int, first: Any, second: Any) -> None:
        """Take the tangents of y along 1 and, of a complex x, along i at one place of x."""
        ones = aligned(self.y, first)
        turned = aligned(self.y, second) if second is not None else [None] * len(ones)
        for i, (one, other) in enumerate(zip(ones, turned, strict=True)):
            if other is not None and np.iscomplexobj(self.outs[i]):
                self._holomorphic(other, 1j * one)
            elif other is not None:
                one = one - 1j * other
            self.made[i][j][:, k] = _flat(one)

    def _holomorphic(self, turned: Any, wanted: Any) -> None:
        """Raise where a complex number of x has no one derivative."""
        turned, wanted = _flat(turned), _flat(wanted)
        size = abs(wanted) + abs(turned)
        eps = np.finfo(turned.dtype).eps
        limit = np.sqrt(eps) * size + 1e4 * eps * size.max(initial=0.0)
        if (abs(turned - wanted) > limit).any():
            raise ActivityError(
                f"{self.name} is not holomorphic here: its change along i is not i times its "
                "change along 1, so its derivative is not a complex number.",
                remedy="Take the real and imaginary parts as arguments, or return them.",
            )

    def structure(self) -> Any:
        """Return the blocks in the structure of x, and these in the structure of y."""
        outer = iter(range(len(self.outs)))

        def by_all(out: Any) -> Any:
            i, inner = next(outer), iter(range(len(self.ins)))
            return map_leaves(
                lambda given: _shaped(self.made[i][next(inner)], out, given),
                self.x,
                other=lambda leaf: None,
            )

        return map_leaves(by_all, self.y, other=lambda leaf: None)


def _flat(value: Any) -> Any:
    return value.reshape(-1) if is_array(value) else np.asarray(value).reshape(-1)


def _empty(out: Any, given: Any) -> Any:
    """Return room for a block: in the precision of what is differentiated, if it has one."""
    dtype = np.result_type(_dtype(given) or _dtype(out) or np.float64)
    if np.iscomplexobj(out) or np.iscomplexobj(given):
        dtype = np.result_type(dtype, np.complex64)
    space = _space(given if is_array(given) else out)
    return space.zeros((int(np.size(out)), int(np.size(given))), dtype)


def _dtype(leaf: Any) -> Any:
    return getattr(leaf, "dtype", None)


def _shaped(block: Any, out: Any, given: Any) -> Any:
    """Return a block in its shape: an array where one of the two is, else a number."""
    if is_array(out) or is_array(given):
        return block.reshape((*np.shape(out), *np.shape(given)))
    number = block[0, 0]
    make: Callable[[Any], Any] = number.dtype.type if _dtype(given) is not None else _plain
    return make(number)


def _plain(number: Any) -> Any:
    return number.item()
