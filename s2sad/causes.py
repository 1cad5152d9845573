"""Why: what a derivation decided about the variables of a function, each fact with its cause.

A Story is written beside each derived function, for `explain`, `S2SAD_LOGS` and `s2sad view`.
Its statements are those of the normalised program; `Function.origins` leads to the user's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from s2sad.stages import Activity


@dataclass(frozen=True)
class Kept:
    """One value that the forward sweep keeps for the backward sweep, and why.

    Under the name `item` it lies in `holder`: a list, or that name itself. What is put on a list
    together is a `group`, in which the value has a place; the `size` of the group is given where
    not all in it are told of. The statements `over` give the variable, or the memory that it holds,
    something else (none: it only ends); `readers` are the user's statements whose undoing reads the
    value.
    """

    variable: str
    item: str
    holder: str
    over: tuple[Any, ...] = ()
    readers: tuple[Any, ...] = ()
    group: tuple[int, int] = (0, 0)
    size: int = 0

    @property
    def taped(self) -> bool:
        """Whether it is put on a list, once in every round of a loop."""
        return self.holder != self.item


@dataclass(frozen=True)
class Note:
    """A note that the forward sweep makes of its path: "arm" of a branch, "rounds" of a loop."""

    about: str
    statement: Any


@dataclass(frozen=True)
class Story:
    """What is known of the variables of one derived function.

    `reads` says by undoing which of the user's statements the backward sweep reads a variable,
    `notes` which names are notes, `calls` which hold what a call keeps for its own reverse,
    `handed` what a forward function returns for its reverse. Names are those of the derived text,
    `names` leads from them to those of the normalised program. A story that is `settled` tells of
    the text as it stands; else polishing may have dropped what it tells of.
    """

    activity: Activity
    wrt: tuple[str, ...]
    kept: tuple[Kept, ...] = ()
    reads: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    notes: Mapping[str, Note] = field(default_factory=dict)
    calls: Mapping[str, Any] = field(default_factory=dict)
    handed: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    settled: bool = False

    def renamed(self, table: Mapping[str, str]) -> Story:
        """Return the same story where the derived text has other names; `names` leads back."""
        if not table:
            return self

        def new(name: str) -> str:
            return table.get(name, name)

        def each(names: Iterable[str]) -> tuple[str, ...]:
            return tuple(map(new, names))

        return replace(
            self,
            kept=tuple(
                replace(k, variable=new(k.variable), item=new(k.item), holder=new(k.holder))
                for k in self.kept
            ),
            reads={new(n): found for n, found in self.reads.items()},
            notes={new(n): note for n, note in self.notes.items()},
            calls={new(n): s for n, s in self.calls.items()},
            handed=each(self.handed),
            names={new(n): old for n, old in self.names.items()}
            | {new: self.names.get(old, old) for old, new in table.items()},
        )
