"""What random generators give: kinds of their results, found by drawing from a generator apart.

What is drawn depends on the parameters of a distribution as rules say, if there is one.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from s2sad import kinds as K
from s2sad.facts.results import sample_call
from s2sad.kinds import Kind
from s2sad.known.generators import GENERATORS

_WITHOUT_RESULT = ("shuffle", "seed", "setstate", "set_state")
# Where samples do not fit together, these leave the kind of a result as it is.
_DROPPED = ("p", "replace", "weights")


def generator_made(fn: object) -> Kind | None:
    """Return the kind of what makes a random generator, None for any other function."""
    if fn is np.random.default_rng:
        fn = np.random.Generator
    known = isinstance(fn, type) and fn in GENERATORS
    return K.Unknown("a random generator", fn) if known else None  # type: ignore[arg-type]


def drawn(cls: type, method: str, args: Sequence[Kind], keywords: Mapping[str, Kind]) -> Kind:
    """Return the kind of what a method of a random generator gives."""
    why = K.Unknown(f"the result of .{method}() of a random generator")
    if method in _WITHOUT_RESULT:
        return K.NONE
    if "out" in keywords or not callable(getattr(cls, method, None)):
        return why
    fn = _apart(cls, method)
    plain = tuple(sorted(keywords.items()))
    kind = sample_call(fn, tuple(args), plain)
    if kind == K.UNKNOWN:
        kind = sample_call(fn, tuple(args), tuple(k for k in plain if k[0] not in _DROPPED))
    if kind == K.UNKNOWN:
        kind = _of_size(fn, cls, method, args, keywords)
    return why if kind == K.UNKNOWN else K.erase_value(kind)


def _of_size(
    fn: Any, cls: type, method: str, args: Sequence[Kind], keywords: Mapping[str, Kind]
) -> Kind:
    """Return the kind of what is drawn where a size is given, whatever the parameters are."""
    try:
        given = inspect.signature(getattr(cls, method)).bind(None, *args, **keywords).arguments
    except (TypeError, ValueError):
        return K.UNKNOWN
    size = given.get("size", K.NONE)
    return K.UNKNOWN if size == K.NONE else sample_call(fn, (), (("size", size),))


@functools.cache
def _apart(cls: type, method: str) -> Callable[..., Any]:
    """Return what calls the method of a generator of its own."""

    def draw(*args: Any, **keywords: Any) -> Any:
        return getattr(GENERATORS[cls](1), method)(*args, **keywords)

    return draw
