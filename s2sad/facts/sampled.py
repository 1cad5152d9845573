"""The kind of what a function makes of samples: run twice, with other lengths."""

from __future__ import annotations

import functools
import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from s2sad import kinds as K
from s2sad.facts.lengths import symbols
from s2sad.kinds import MISSING, Kind
from s2sad.known.samples import (
    Sampler,
    by_content,
    free_lengths,
    if_empty,
    lengths_said,
    read_back,
    same_axes,
    same_lengths,
    says_one,
)

_CONTENTS = (0.7, 1.7, 2.0)
_NUMBERS = 0, 1, 2, 3, 17
_FAILURES = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RuntimeError,
    TypeError,
    ValueError,
    np.linalg.LinAlgError,
)


def two_runs(run: Callable[[Sampler, float], Any], kinds: tuple[Kind, ...]) -> Kind:
    """Return the kind of what `run` makes of two samples of these kinds, of different lengths."""
    for attempt in _attempts(kinds):
        for content in _CONTENTS:
            one, two = (Sampler(kinds, r, **attempt) for r in (0, 1))
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                try:
                    first = run(one, content)
                except _FAILURES:
                    continue
                try:
                    second = run(two, content)
                except _FAILURES:
                    second = MISSING
                kind = read_back(first, second, one, two)
                if one.guessed and not isinstance(kind, K.Unknown):
                    others = list(_by_numbers(run, kinds, attempt, content))
                    alike = list(_by_numbers(run, kinds, {"uniform": 3}, content))
                    for other in (*others, *alike):
                        kind = same_axes(kind, first, other)
                    every = len(others) == len(_NUMBERS)  # else they would speak for some alone
                    kind = same_lengths(kind, others if every else [])
                if not symbols(kind) and not _constant_lengths(kind):
                    return kind
                try:
                    other = run(Sampler(kinds, 0, **attempt, varied=True), content)
                except _FAILURES:
                    return _if_empty(kind, run, kinds, one, attempt)
            return _if_empty(by_content(kind, first, other), run, kinds, one, attempt)
    return K.UNKNOWN


def _if_empty(
    kind: Kind,
    run: Callable[[Sampler, float], Any],
    kinds: tuple[Kind, ...],
    one: Sampler,
    attempt: dict[str, Any],
) -> Kind:
    """Return a kind that holds, too, where arguments are empty that the samples `one` had not."""
    if not one.none:
        return kind
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return if_empty(kind, run(Sampler(kinds, 0, **attempt, emptied=True), _CONTENTS[0]))
        except _FAILURES:
            return kind


def _by_numbers(
    run: Callable[[Sampler, float], Any],
    kinds: tuple[Kind, ...],
    attempt: dict[str, Any],
    content: float,
) -> Iterator[Any]:
    """Yield what other integers give, in the place of those that are not known.

    They may want lengths to be the same that else need not be.
    """
    for number in _NUMBERS:
        try:
            yield run(Sampler(kinds, 0, **attempt, number=number), content)
        except _FAILURES:
            continue


def _attempts(kinds: tuple[Kind, ...]) -> Iterator[dict[str, Any]]:
    """Yield how samplers choose: all lengths differ, all are the same, or each is one that is said.

    That they are 1 is the last thing to try: axes of one entry are broadcast, or dropped.
    """
    said = lengths_said(kinds)
    for small in (False, True):
        yield from ({"uniform": n, "small": small} for n in (0, *said))
    free = sorted(set().union(*map(free_lengths, kinds)))
    if len(said) > 1 and len(said) ** len(free) <= _MOST_ATTEMPTS:
        for chosen in itertools.product(said, repeat=len(free)):
            yield {"assigned": dict(zip(free, chosen, strict=True))}
    if free and any(map(says_one, kinds)):  # a slice of one entry, where a square matrix is wanted
        yield from ({"uniform": 1, "small": small} for small in (False, True))


_MOST_ATTEMPTS = 128


def _constant_lengths(kind: Kind) -> bool:
    """Say whether there are arrays of known lengths in a value."""
    if isinstance(kind, K.Tuple):
        return any(map(_constant_lengths, kind.items))
    return isinstance(kind, K.Array) and kind.rank > 0


_OF_SPLINES = frozenset("splev splint sproot spalde splder splantider insert bisplev".split())


def kills(fn: Any, values: list[Any]) -> bool:
    """Say whether a call with samples that nothing has made fit may end the process.

    NumPy's running sums of 0-d into 0-d arrays do, and so does what FITPACK reads beyond the knots
    of a spline, of which it believes that they go with the coefficients and the degree.
    """
    word = getattr(fn, "__name__", "")
    if word in _OF_SPLINES:
        return str(getattr(fn, "__module__", "")).startswith("scipy.interpolate")
    flat = [v for v in values if isinstance(v, np.ndarray | np.inexact) and v.ndim == 0]
    return word in ("cumsum", "cumprod") and len(flat) > 1 and np.ndim(values[0]) == 0


@functools.lru_cache(4096)
def survives_none(fn: Any, args: tuple[Kind, ...]) -> bool:
    """Say whether a library function may take these arguments, of which one is None."""
    sampler = Sampler(args, 0)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            values = [sampler.sample(a, 0.7) for a in args]
            if not kills(fn, values):
                fn(*values)
        except TypeError:
            return False
        except _FAILURES:
            return True
    return True
