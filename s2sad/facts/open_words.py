"""Settings that are words, where the program does not say which: `np.convolve(x, y, mode=mode)`.

The kind of a result is what all words that the function takes agree on.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from s2sad import kinds as K
from s2sad.kinds import Kind

Keywords = tuple[tuple[str, Kind], ...]
_UNKNOWN = K.Str()


def kind_by_words(
    sample: Callable[[Any, tuple[Kind, ...], Keywords], Kind],
    fn: Any,
    args: tuple[Kind, ...],
    keywords: Keywords,
) -> Kind | None:
    """Return the kind that a call has for all words that it may be given; None without any."""
    open_ = list(_open_words(fn, args, keywords))
    if not open_:
        return None
    undecided = K.Unknown(_why(fn, open_[0][1]), None, _ADVICE)
    if len(open_) > _MOST or any(name not in WORDS for _, name in open_):
        return undecided
    found = []
    for chosen in itertools.product(*(WORDS[name].split() for _, name in open_)):
        told = dict(zip((place for place, _ in open_), map(K.Str, chosen), strict=True))
        given = tuple(told.get(i, a) for i, a in enumerate(args))
        named = tuple((n, told.get(n, k)) for n, k in keywords)
        found.append(sample(fn, given, named))
    known = [k for k in found if not isinstance(k, K.Unknown)]
    if not known or len({_outline(k) for k in known}) > 1:
        return undecided
    return functools.reduce(K.join, known)


def _open_words(
    fn: Any, args: tuple[Kind, ...], keywords: Keywords
) -> Iterator[tuple[int | str, str]]:
    """Yield the place and the name of each setting that is a word which is not known."""
    names = _names(fn)
    for i, a in enumerate(args):
        if a == _UNKNOWN:
            yield i, names[i] if i < len(names) else ""
    for n, k in keywords:
        if k == _UNKNOWN:
            yield n, n


@functools.lru_cache(2048)
def _names(fn: Any) -> tuple[str, ...]:
    """Return the names of the parameters that a function takes by position, where it tells them."""
    word = getattr(fn, "__name__", "")
    if getattr(fn, "__module__", "") == "s2sad.facts.results":  # it calls a method of an array
        fn = getattr(np, {"flatten": "ravel"}.get(word, word), None)
    try:
        listed = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return ()
    return tuple(p.name for p in listed if p.kind is p.POSITIONAL_OR_KEYWORD)


def _why(fn: Any, setting: str) -> str:
    said = f"whose `{setting}` is a string" if setting else "called with a string"
    name = getattr(fn, "__name__", "a function")
    return f"the result of {name}(), {said} that s2sad does not know"


def _outline(kind: Kind) -> Any:
    """Return what kinds have to agree on: all but the lengths of axes."""
    if isinstance(kind, K.Array):
        return kind.dtype, kind.rank, kind.namespace
    if isinstance(kind, K.Tuple):
        return kind.cls, *map(_outline, kind.items)
    if isinstance(kind, K.List):
        return list, _outline(kind.item)
    return (kind.type, kind.dtype) if isinstance(kind, K.Num) else kind


_MOST = 2
_ADVICE = 'Write the string where it is used, or branch over it: `if mode == "full":`.'
WORDS = {
    "UPLO": "L U",
    "boundary": "fill wrap symm",
    "casting": "no equiv safe same_kind unsafe",
    "indexing": "xy ij",
    "method": "inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf "
    "hazen weibull linear median_unbiased normal_unbiased lower higher midpoint nearest "
    "auto direct fft pad gust",
    "mode": "full same valid constant edge linear_ramp maximum mean median minimum reflect "
    "symmetric wrap empty raise clip nearest mirror interp grid-wrap grid-mirror grid-constant "
    "reduced complete r raw economic",
    "nan_policy": "propagate omit raise",
    "norm": "backward ortho forward",
    "ord": "fro nuc",
    "order": "C F A K",
    "side": "left right",
}
"""The words that functions take, by the name of the parameter."""
