"""Names for what the transformer makes up: readable, and different from all that are taken."""

from __future__ import annotations

import builtins
import keyword
import re
import unicodedata
from collections.abc import Iterable

_NEVER = frozenset(keyword.kwlist) | frozenset(dir(builtins))


def identifier(word: str, instead: str = "lambda_") -> str:
    """Return a name like a word that need be none: a function may be called `cube of x`."""
    if word == "<lambda>":
        return instead
    made = re.sub(r"\W+", "_", unicodedata.normalize("NFKC", word))
    if made != word:
        made = made.strip("_")
    if not made:
        return instead
    return made if made.isidentifier() else f"_{made}"


class Names:
    """Hands out names; a number is appended on any clash, in the order of asking."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)

    def take(self, *names: str) -> None:
        """Mark names as taken."""
        self._taken.update(names)

    def fresh(self, base: str, start: int = 1) -> str:
        """Return `base`, or `base_<start>`, `base_<start + 1>`, ... where that is taken."""
        name, number = base, start
        while name in self._taken or name in _NEVER:
            name = f"{base}_{number}"
            number += 1
        self._taken.add(name)
        return name

    def fresh_with(self, base: str, *endings: str) -> str:
        """Return a fresh name such that no name taken is that with one of the endings."""
        name, number = base, 1
        while name in _NEVER or {name, *(name + e for e in endings)} & self._taken:
            name = f"{base}_{number}"
            number += 1
        self._taken.add(name)
        return name

    def numbered(self, base: str) -> str:
        """Return `base_0`, `base_1`, ...: the name of an earlier value of `base`."""
        number = 0
        while f"{base}_{number}" in self._taken:
            number += 1
        name = f"{base}_{number}"
        self._taken.add(name)
        return name

    def copy(self) -> Names:
        """Return an independent copy."""
        return Names(self._taken)
