"""Lengths of axes, before the program runs: two are the same only where they carry one symbol."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Dim:
    """The length of an axis: `symbol` less `cut`; `many` says that it is known not to be 1.

    `none` says that it is 0 where an argument is empty: slices of one element then have none.
    """

    symbol: str
    cut: int = 0
    many: bool = False
    none: bool = False


ONE = Dim("=1")
_fresh = itertools.count()


def fresh_dim() -> Dim:
    """Return a length about which nothing is known."""
    return Dim(f"?{next(_fresh)}")


def newer_symbols() -> Callable[[str], bool]:
    """Return what tells the symbols that are made from now on from older ones and named ones."""
    mark = next(_fresh)
    return lambda symbol: symbol[0] == "?" and int(symbol[1:]) > mark


def join_dim(left: Dim, right: Dim) -> Dim:
    """Return what is known of a length that is either of two."""
    if left == right:
        return left
    same = left.symbol == right.symbol and left.cut == right.cut
    none = left.none or right.none
    return replace(left if same else fresh_dim(), many=left.many and right.many, none=none)


def broadcast(left: tuple[Dim, ...], right: tuple[Dim, ...]) -> tuple[Dim, ...]:
    """Return the axis lengths of an elementwise operation's result."""
    rank = max(len(left), len(right))
    left = (ONE,) * (rank - len(left)) + left
    right = (ONE,) * (rank - len(right)) + right
    return tuple(_broadcast_dim(a, b) for a, b in zip(left, right, strict=True))


def _broadcast_dim(left: Dim, right: Dim) -> Dim:
    if left == ONE:
        return right
    if right == ONE:
        return left
    if (left.symbol, left.cut) == (right.symbol, right.cut):
        return left if left.many else right
    if left.many:
        return left
    if right.many:
        return right
    return fresh_dim()


def length_of(dim: Dim) -> int | None:
    """Return a length that the program itself says; None where it does not."""
    return int(dim.symbol[1:]) - dim.cut if dim.symbol.startswith("=") else None


def same_length(left: Dim, right: Dim) -> bool:
    """Say whether two lengths are the same by what the program does."""
    return (left.symbol, left.cut) == (right.symbol, right.cut)


def same_shape(left: tuple[Dim, ...], right: tuple[Dim, ...]) -> bool:
    """Say whether two shapes are the same by what the program does."""
    return len(left) == len(right) and all(map(same_length, left, right))
