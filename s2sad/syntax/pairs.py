"""Pairs of names, kept as numbers: a bit for each name, so that to unite sets is one step.

Before: a with b, a with c. After: {"a": 0b110, "b": 0b001, "c": 0b001}, read as sets of names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

Names = frozenset[str]
NOBODY: Names = frozenset()


@dataclass(frozen=True)
class Numbered:
    """The bit of each name, in the order in which they came, and the sets that were read."""

    of: dict[str, int] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)
    sets: dict[int, Names] = field(default_factory=dict)

    def bits(self, names: Iterable[str]) -> int:
        """Return a set of names as a number."""
        found = 0
        for n in names:
            bit = self.of.get(n)
            if bit is None:
                bit = self.of[n] = 1 << len(self.order)
                self.order.append(n)
            found |= bit
        return found

    def names(self, bits: int) -> Names:
        """Return the names of a set."""
        found = self.sets.get(bits)
        if found is None:
            found = self.sets[bits] = frozenset(self.each(bits))
        return found

    def each(self, bits: int) -> Iterator[str]:
        """Yield the names of a set."""
        while bits:
            last = bits & -bits
            yield self.order[last.bit_length() - 1]
            bits ^= last


@dataclass(frozen=True, eq=False)
class Pairs(Mapping[str, Names]):
    """Which names are paired with which; a copy is changed, what others hold is not."""

    numbered: Numbered = field(default_factory=Numbered)
    sets: dict[str, int] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Names:
        return self.numbered.names(self.sets[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.sets)

    def __len__(self) -> int:
        return len(self.sets)

    def copy(self) -> Pairs:
        """Return the same pairs, to be changed."""
        return Pairs(self.numbered, dict(self.sets))

    def bits(self, name: str) -> int:
        """Return the partners of a name, as a number."""
        return self.sets.get(name, 0)

    def around(self, names: Iterable[str]) -> int:
        """Return names and all their partners, as a number."""
        names = tuple(names)
        found = self.numbered.bits(names)
        for n in names:
            found |= self.sets.get(n, 0)
        return found

    def unite(self, some: int, others: int) -> None:
        """Pair each of some names with each of others."""
        if some and others:
            for one, with_them in ((some, others), (others, some)):
                for n in self.numbered.each(one):
                    found = (self.sets.get(n, 0) | with_them) & ~self.numbered.of[n]
                    if found:
                        self.sets[n] = found

    def forget(self, name: str) -> None:
        """Leave a name without partners."""
        own = self.numbered.bits((name,))
        for n in self.numbered.each(self.sets.pop(name, 0)):
            left = self.sets.get(n, 0) & ~own
            if left:
                self.sets[n] = left
            else:
                self.sets.pop(n, None)

    def add(self, other: Pairs) -> None:
        """Pair what others say is paired."""
        for n, partners in other.sets.items():
            self.sets[n] = self.sets.get(n, 0) | partners

    def joined(self, other: Pairs) -> Pairs:
        """Return what either says."""
        found = self.copy()
        found.add(other)
        return found
