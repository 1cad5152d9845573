"""The story of one derived function: its activity, what its forward sweep keeps, and causes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from s2sad.causes import Note, Story
from s2sad.modes.readers import Everything, Read, as_first_meant, readers
from s2sad.modes.reverse import Reverse
from s2sad.modes.storage import Held, wanted
from s2sad.nodes import Block

NOBODY: Read = ({}, {})
"""What stands for that where nobody asks: to find out takes a tenth of a derivation."""


def who_reads(worker: Reverse, backward: Block, live_out: frozenset[str] | None = None) -> Read:
    """Return who reads what is put back, before storage is decided.

    Without `live_out` it is not decided yet what is wanted.
    """
    function = worker.function
    origins = dict(function.origins)
    for loop, plan in function.loops.items():
        origins |= {b: origins.get(loop, loop) for b in plan.bindings}
    keys = Everything() if live_out is None else wanted(backward, live_out)
    return readers(backward, keys, origins)


def tell(worker: Reverse, wrt: tuple[str, ...], held: Held, early: Read, late: Read) -> Story:
    """Return the story of a function, once it is decided what is kept."""
    back, start = as_first_meant(early, late)
    kept = tuple(replace(k, readers=back.get(key, ())) for key, k in held.causes.items())
    calls = {n: s for s, n in worker.kept.items()}
    return Story(worker.activity, wrt, kept, start, _notes(worker), calls)


def _notes(worker: Reverse) -> Mapping[str, Note]:
    notes = worker.notes
    found = {c.note: Note("arm", s) for s, c in notes.chains.items() if c.note is not None}
    found |= {n: Note("rounds", s) for s, n in notes.rounds.items()}
    found |= {n: Note("bound", s) for s, table in notes.stops.items() for n in table}
    return found
