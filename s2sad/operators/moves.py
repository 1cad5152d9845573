"""The numbers that something is differentiated by, and the tangents of arguments along each.

moves = Moves(values, ("p", "k"), (Selected("p", ("w",)), Selected("k")))
moves.point             (values["p"]["w"], values["k"])
moves.along(0, 2)       p's tangent moves the third number of w, and k's is zero
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2sad.operators.blocks import unit
from s2sad.operators.cotangents import caster, mixes
from s2sad.selected import Selected
from s2sad.tree import leaves


@dataclass(frozen=True)
class Moves:
    """Arguments by name, the parameters that have tangents, and what of them moves."""

    values: Mapping[str, Any]
    names: tuple[str, ...]
    picked: tuple[Selected, ...]

    @functools.cached_property
    def point(self) -> tuple[Any, ...]:
        """What moves."""
        return tuple(one.value(self.values[one.parameter]) for one in self.picked)

    def each(self) -> Iterator[tuple[int, int, bool]]:
        """Yield each number that moves: its leaf, its place, and whether it moves along i, too."""
        for j, leaf in enumerate(leaves(self.point)):
            for k in range(np.size(leaf.value)):
                yield j, k, np.iscomplexobj(leaf.value)

    def along(self, j: int = -1, k: int = 0, length: complex = 1) -> dict[str, Any]:
        """Return the tangents of all parameters where one number moves; by default, none does."""
        found = dict(self._still)
        at = j
        for one, part, count in zip(self.picked, self.point, self._counts, strict=True):
            if 0 <= at < count:
                n = one.parameter
                found[n] = one.put(found[n], unit(part, at, k, length))
            at -= count
        return {n: self._casts[n](t) if n in self._casts else t for n, t in found.items()}

    @functools.cached_property
    def _casts(self) -> dict[str, Any]:
        """What gives integers in lists of floats a tangent of zero: there they are floats."""
        return {n: caster(self.values[n], n) for n in self.names if mixes(self.values[n])}

    @functools.cached_property
    def _still(self) -> dict[str, Any]:
        return {n: unit(self.values[n]) for n in self.names}

    @functools.cached_property
    def _counts(self) -> list[int]:
        return [len(leaves(part)) for part in self.point]
