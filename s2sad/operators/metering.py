"""How much memory the forward sweep keeps for the backward sweep, measured on example arguments.

The derived functions are loaded once more with a meter wherever something is kept, and run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import gast
import numpy as np

from s2sad.causes import Story
from s2sad.nodes import Node, all_inside, assign, attribute, call, name, walk
from s2sad.operators.deriving import loaded
from s2sad.operators.reports import Size, places_kept, run_again
from s2sad.steps.derivation import Derivation
from s2sad.steps.joining import printed
from s2sad.steps.roles import names_of_user
from s2sad.tree import branch_of, is_array

Key = tuple[str, str, int]  # the forward function, the variable, and which of its values
_WORD = "s2sad_meter"
_NUMBER = {bool: 1, int: 8, float: 8, complex: 16}


@dataclass
class Meter:
    """Counts what is kept; in the `whole`, memory that is kept twice counts once."""

    keys: list[Key] = field(default_factory=list)
    loops: dict[int, int] = field(default_factory=dict)
    rounds: dict[int, int] = field(default_factory=dict)
    times: dict[int, int] = field(default_factory=dict)
    bytes: dict[int, int] = field(default_factory=dict)
    seen: dict[tuple[int, int], Any] = field(default_factory=dict)
    whole: int = 0
    passing: set[int] = field(default_factory=set)

    def __call__(self, number: int, value: Any) -> Any:
        """Count a value that is being kept, and return it; not for long, if it is in `passing`."""
        before = self.whole
        self.times[number] = self.times.get(number, 0) + 1
        self.bytes[number] = self.bytes.get(number, 0) + self.size(value)
        if number in self.passing:
            self.whole = before
        return value

    def begin(self, loop: int) -> None:
        """Count a round of a loop."""
        self.rounds[loop] = self.rounds.get(loop, 0) + 1

    def size(self, value: Any) -> int:
        """Return the bytes of the numbers in a value, and count them in the whole."""
        if is_array(value):
            place = (_address(value), int(value.nbytes))
            self.whole += 0 if place in self.seen else int(value.nbytes)
            self.seen[place] = value  # as long as it is held, nothing else has its address
            return int(value.nbytes)
        if isinstance(value, np.generic) or type(value) in _NUMBER:
            count = _NUMBER.get(type(value)) or int(value.nbytes)
            self.whole += count
            return count
        branch = branch_of(value)
        return 0 if branch is None else sum(map(self.size, branch.parts))

    def sizes(self) -> dict[Key, Size]:
        """Return what was counted."""
        found = {}
        for i, key in enumerate(self.keys):
            rounds = self.rounds.get(self.loops[i], 0) if i in self.loops else None
            found[key] = Size(self.times.get(i, 0), rounds, self.bytes.get(i, 0))
        return found


def _address(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return int(value.__array_interface__["data"][0])
    return int(value.data.ptr)


def metered(d: Derivation) -> tuple[Callable[..., Any], Meter]:
    """Return the entry of a derivation with a meter in it; the derivation is used up by that."""
    meter = Meter()
    again = run_again(d)
    for node in d.functions:
        if node.name in d.stories:
            first = len(meter.keys)
            _install(node, d, meter)
            meter.passing |= set(range(first, len(meter.keys))) if node.name in again else set()
            d.cells[node.name][_WORD] = meter
    return loaded(printed(d), d)[d.entry], meter


def _install(node: Node, d: Derivation, meter: Meter) -> None:
    """Put the meter into a forward function, in the order in which a report lists what is kept."""
    a, story = d.stories[node.name]
    users = names_of_user(a)
    loops = [s for s in all_inside(node.body) if isinstance(s, gast.For | gast.While)]
    around = {id(part): i for i, s in enumerate(loops) for part in _lists_in(s)}
    first = len(meter.rounds)
    meter.rounds |= {first + i: 0 for i in range(len(loops))}
    _bind_parameters(node, story)
    for kept, owner, at in places_kept(node, story):
        if id(owner) in around:
            meter.loops[len(meter.keys)] = first + around[id(owner)]
        if kept.variable not in story.calls:  # which count where the called function keeps it
            _wrap(owner, at, node.name, kept.variable, meter)
    bare = node.name in d.bare
    for s in node.body:
        if isinstance(s, gast.Return) and node.name in d.reverses and story.handed:
            lists = {k.holder for k in story.kept}
            for n, (owner, at) in zip(story.handed, _handed(s, bare, story), strict=True):
                own = story.names.get(n, n)
                if n not in lists and n not in story.calls:
                    _wrap(owner, at, node.name, own if own in users else n, meter)
    for i, s in enumerate(loops):
        begun = call(attribute(name(_WORD), "begin"), gast.Constant(first + i, None))
        s.body.insert(0, gast.Expr(begun))


def _bind_parameters(node: Node, story: Story) -> None:
    """Let parameters that are kept be assigned, where the meter can count them."""
    held = {k.holder for k in story.kept if not k.taped}
    given = {n.id for n in walk(node.args) if isinstance(n, gast.Name)}
    for n in sorted(given & held) if story.settled else ():
        node.body.insert(0, assign(n, name(n)))


def _lists_in(loop: Node) -> Iterator[list[Any]]:
    """Yield the lists of expressions in a loop: arguments, and items of tuples."""
    for n in walk(loop):
        if isinstance(n, gast.Call):
            yield n.args
        elif isinstance(n, gast.Tuple):
            yield n.elts


def _handed(last: Node, bare: bool, story: Story) -> list[tuple[Any, Any]]:
    """Return where the values stand that a forward function returns for its reverse."""
    whole = last.value if bare else last.value.elts[1]
    if len(story.handed) == 1:
        return [(last, "value") if bare else (last.value.elts, 1)]
    return [(whole.elts, i) for i in range(len(story.handed))]


def _wrap(owner: Any, at: Any, function: str, variable: str, meter: Meter) -> None:
    """Let a value go through the meter on its way to where it is kept."""
    which = sum(key[:2] == (function, variable) for key in meter.keys)
    meter.keys.append((function, variable, which))
    value = owner[at] if isinstance(owner, list) else getattr(owner, at)
    counted = call(_WORD, gast.Constant(len(meter.keys) - 1, None), value)
    if isinstance(owner, list):
        owner[at] = counted
    else:
        setattr(owner, at, counted)
