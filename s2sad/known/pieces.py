"""The lengths of slices of arguments: known when the function is called, though not before.

z[n : 2 * n]      where z is as long as W, and n = len(V)

Such a length has a symbol that says how it is found from the lengths of arguments: two slices found
alike are of one length, and what a call is given tells what length that is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from s2sad.kinds import Dim
from s2sad.tree import is_array


@dataclass(frozen=True)
class Form:
    """A sum: lengths of arguments, by their symbols, each so many times, and a number."""

    terms: tuple[tuple[str, int], ...] = ()
    plus: int = 0

    def added(self, other: Form, times: int = 1) -> Form:
        """Return the sum with another form, so many times."""
        total = dict(self.terms)
        for symbol, n in other.terms:
            total[symbol] = total.get(symbol, 0) + times * n
        kept = tuple(sorted((s, n) for s, n in total.items() if n))
        return Form(kept, self.plus + times * other.plus)

    def text(self) -> str:
        """Return an expression for it, in terms of the arguments."""
        parts = [f"{'' if n == 1 else f'{n} * '}{length_text(s)}" for s, n in self.terms]
        if self.plus or not parts:
            parts.append(str(self.plus))
        return " + ".join(parts).replace("+ -", "- ")

    def count(self, lengths: Mapping[str, int]) -> int:
        """Return it as a number, for given lengths; raises KeyError where one is missing."""
        return self.plus + sum(n * lengths[s] for s, n in self.terms)


class Piece(str):
    """The symbol of the length of `x[lower:upper]`, with what is needed to find that length."""

    of: Form
    start: Form | None
    stop: Form | None

    def text(self) -> str:
        """Return an expression for the length, in terms of the arguments."""
        bounds = ["" if b is None else b.text() for b in (self.start, self.stop)]
        return f"len(range({self.of.text()})[{bounds[0]}:{bounds[1]}])"

    def number(self, lengths: Mapping[str, int]) -> int:
        """Return the length, for given lengths; raises KeyError where one is missing."""
        bounds = (None if b is None else b.count(lengths) for b in (self.start, self.stop))
        return len(range(self.of.count(lengths))[slice(*bounds)])


def piece(of: Form, lower: Form | None, upper: Form | None) -> Piece:
    """Return the symbol of a slice's length; equal ones have equal symbols."""
    bounds = ["" if b is None else b.text() for b in (lower, upper)]
    made = Piece(f"slice of {of.text()} from {bounds[0]} to {bounds[1]}")
    made.of, made.start, made.stop = of, lower, upper
    return made


def length_form(dim: Dim | None) -> Form | None:
    """Return a length as a form, where it is that of an argument's axis, or less."""
    if dim is None or isinstance(dim.symbol, Piece) or not _OF_ARGUMENT(dim.symbol):
        return None
    return Form(((dim.symbol, 1),), -dim.cut)


# `ws[].0` is how long an item is of a list in which each has a length of its own.
_OF_ARGUMENT = re.compile(r"[^?=]((?!\[\]).)*\.\d+$", re.DOTALL).match


def lengths_given(names: Iterable[str], values: Iterable[Any]) -> Iterator[tuple[str, int]]:
    """Yield the lengths of the arrays in arguments, by the symbols that kinds have for them."""
    for n, value in zip(names, values, strict=False):
        yield from _lengths_in(n, value)


def _lengths_in(path: str, value: Any) -> Iterator[tuple[str, int]]:
    if is_array(value):
        yield from ((f"{path}.{axis}", length) for axis, length in enumerate(value.shape))
    elif path.count("[") > _DEPTH:
        return
    elif type(value) is dict:
        for k, part in value.items():
            yield from _lengths_in(f"{path}[{k!r}]", part)
    elif type(value) in (tuple, list):
        for i, part in enumerate(value):
            yield from _lengths_in(f"{path}[{i}]", part)


_DEPTH = 4


def length_text(symbol: str) -> str:
    """Return an expression for the length of an argument's axis."""
    path, axis = symbol.rsplit(".", 1)
    return f"{path}.shape[{axis}]"


def not_one_text(symbol: str, cut: int) -> str:
    """Return a test that a length is not 1."""
    text = symbol.text() if isinstance(symbol, Piece) else length_text(symbol)
    return f"{text} != {1 + cut}"


def count(dim: Dim, lengths: Mapping[str, int]) -> int | None:
    """Return a length as a number, for given lengths of arguments; None where one is missing."""
    try:
        if isinstance(dim.symbol, Piece):
            return dim.symbol.number(lengths) - dim.cut
        return lengths[dim.symbol] - dim.cut
    except KeyError:
        return None
