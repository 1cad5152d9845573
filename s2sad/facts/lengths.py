"""Symbols of lengths: what two axes of one symbol are, while the program goes on.

A symbol says that two axes have one length only where both are looked at by the same run of the
same function, in the same round of every loop around it. What leaves that is named anew: here in
the next round of a loop and in the next look at a library function, in `passing` across a call.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from s2sad import kinds as K
from s2sad.kinds import Dim, Kind

Naming = Callable[[Dim], "Dim | None"]


def relabel(kind: Kind, naming: Naming) -> Kind:
    """Return a kind with other lengths: None stands for one about which nothing is known."""

    def array(leaf: K.Array) -> K.Array:
        return replace(leaf, dims=tuple(naming(d) or K.fresh_dim() for d in leaf.dims))

    def renamed(leaf: Kind) -> Kind:
        if isinstance(leaf, K.Array):
            return array(leaf)
        if isinstance(leaf, K.Num):
            return leaf if leaf.dim is None else replace(leaf, dim=naming(leaf.dim))
        return replace(leaf, like=array(leaf.like)) if isinstance(leaf, K.Opaque) else leaf

    return K.mapped(renamed, kind)


def inhabited(kind: K.Array) -> K.Array:
    """Return the kind of an array that is not known to be empty: there an item is never reached."""
    if all(K.length_of(d) != 0 for d in kind.dims):
        return kind
    dims = (replace(K.fresh_dim(), none=True) if K.length_of(d) == 0 else d for d in kind.dims)
    return replace(kind, dims=tuple(dims))


_DEPTH = 4


def shallow(kind: Kind, depth: int = _DEPTH) -> Kind:
    """Return the kind of what a recursion gives: where it holds itself, no kind is deep enough."""
    if depth or not kind.inside:
        if all(shallow(part, depth - 1) is part for part in kind.inside):
            return kind
    return K.Unknown("a structure that grows as deep as a recursion goes")


def anew(keep: Callable[[str], bool], known: Mapping[str, Dim | None] | None = None) -> Naming:
    """Return what gives every symbol that is not kept, nor known, a fresh one: the same each time.

    `known` are the lengths that some symbols stand for, None for one of which nothing is known.
    """
    fresh: dict[str, str] = {}

    def naming(dim: Dim) -> Dim | None:
        if dim.symbol.startswith("=") or keep(dim.symbol):
            return dim
        if known is not None and dim.symbol in known:
            other = known[dim.symbol]
            if other is not None:
                return _less(other, dim)
        if dim.symbol not in fresh:
            fresh[dim.symbol] = K.fresh_dim().symbol
        return replace(dim, symbol=fresh[dim.symbol])

    return naming


def _less(other: Dim, dim: Dim) -> Dim:
    """Return `dim`, counted from the length that its symbol stands for."""
    return Dim(
        other.symbol, other.cut + dim.cut, dim.many or (other.many and not dim.cut), other.none
    )


def renewed(kind: Kind, operands: Iterable[Kind]) -> Kind:
    """Return what an operation gives, looked up: lengths not of its operands are fresh each time.

    Another slice of the same array, by a number about which as little is known, has another length.
    """
    own = symbols(kind)
    if not own or own <= (known := frozenset[str]().union(*map(symbols, operands))):
        return kind
    return relabel(kind, anew(lambda symbol: symbol in known))


def symbols(kind: Kind) -> frozenset[str]:
    """Return the symbols in a kind, constants aside."""
    found: set[str] = set()

    def note(dim: Dim) -> Dim:
        if not dim.symbol.startswith("="):
            found.add(dim.symbol)
        return dim

    relabel(kind, note)
    return frozenset(found)


def own_lengths(kind: Kind) -> Kind:
    """Items of a list have lengths of their own: return a kind with fresh symbols."""

    def naming(dim: Dim) -> Dim | None:
        if dim.symbol.startswith("="):
            return dim
        return replace(K.fresh_dim(), many=dim.many and not dim.cut, none=dim.none)

    return relabel(kind, naming)


Env = Mapping[str, Kind]


def last_round(env: Env, born: Callable[[str], bool]) -> dict[str, Kind]:
    """Return the kinds that a loop's body leaves, as its next round finds them.

    A length met in the body is another one in each round:

        for n in ns:
            x = xs[:n]      # x and last have different lengths, though last was
            ... x * last    # x a round ago
            last = x
    """
    naming = anew(lambda symbol: not born(symbol))
    return {n: relabel(k, naming) for n, k in env.items()}


def _nameless(symbol: str) -> bool:
    return symbol.startswith("?")


def alike(one: Env, other: Env, born: Callable[[str], bool] = _nameless) -> bool:
    """Say whether two sets of kinds are the same but for the names of what was `born`.

    The lengths of parameters have names that say which they are: they are never born.
    """
    return one.keys() == other.keys() and _in_order(one, born) == _in_order(other, born)


def _in_order(env: Env, born: Callable[[str], bool]) -> dict[str, Kind]:
    order: dict[str, str] = {}

    def naming(dim: Dim) -> Dim:
        if dim.symbol.startswith("=") or not born(dim.symbol):
            return dim
        return replace(dim, symbol=order.setdefault(dim.symbol, f"#{len(order)}"))

    return {n: relabel(env[n], naming) for n in sorted(env)}


_FURTHEST = 2


def shifted_length(fn: Any, operands: tuple[Kind, ...]) -> Dim | None:
    """Return the length that `n + 1` or `n - 1` is, where n is the length of an axis."""
    if fn is not operator.add and fn is not operator.sub:
        return None
    left, right = operands if len(operands) == 2 else (operands[0], K.UNBOUND)
    if fn is operator.add and isinstance(right, K.Num) and right.dim is not None:
        left, right = right, left
    if not isinstance(left, K.Num) or not isinstance(right, K.Num) or left.dim is None:
        return None
    by = right.value
    if type(by) is not int or left.dtype is not None or left.dim.symbol.startswith("="):
        return None
    cut = left.dim.cut + (by if fn is operator.sub else -by)
    if not by:
        return left.dim
    return Dim(left.dim.symbol, cut) if abs(cut) <= _FURTHEST else None


def learn(env: dict[str, Kind], dim: Dim, count: int, always: bool) -> None:
    """Note in what is known of variables that a length is a number.

    Where that is not so on all paths (not `always`), it keeps its name, by which it is known to be
    the same as others where the paths meet, and is known not to be 1.
    """
    whole = count + dim.cut

    def known(other: Dim) -> Dim:
        if other.symbol != dim.symbol:
            return other
        if always:
            length = max(whole - other.cut, 0)
            return Dim(f"={length}", 0, length != 1)
        return replace(other, many=other.many or (other.cut == dim.cut and count != 1))

    if not dim.symbol.startswith("="):
        for n, kind in env.items():
            env[n] = relabel(kind, known)


def without_some(fn: Any, args: Sequence[Kind], keywords: Mapping[str, Kind]) -> Kind | None:
    """Return the kind of an array of which an axis is taken off, or a slice along one."""
    if fn is np.squeeze:
        return _squeezed(args, keywords)
    if fn is not np.delete or len(args) < 2 or not isinstance(args[0], K.Array):
        return None
    if not isinstance(args[1], K.Unknown) or args[1].cls is not slice:
        return None
    axis = args[2] if len(args) == 3 else keywords.get("axis", K.NONE)
    if not isinstance(axis, K.NoneKind | K.Num) or not args[0].rank:
        return None
    rank = 1 if isinstance(axis, K.NoneKind) else args[0].rank
    return replace(args[0], dims=tuple(K.fresh_dim() for _ in range(rank)))


def _squeezed(args: Sequence[Kind], keywords: Mapping[str, Kind]) -> Kind | None:
    """Return the kind of an array without one axis, where it is not known which one."""
    axis = args[1] if len(args) == 2 else keywords.get("axis")
    if not args or not isinstance(args[0], K.Array) or not isinstance(axis, K.Num):
        return None
    if axis.type != "int" or axis.value is not K.MISSING:
        return None
    dims = tuple(K.fresh_dim() for _ in args[0].dims[1:])
    return K.Array(args[0].dtype, dims, args[0].namespace)
