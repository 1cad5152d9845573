"""Sharing: what was derived for one function serves all others of its code.

Functions made in a loop have one code object and each its own captured values. A Recipe is a
derivation without these: it holds code, and kinds of what was seen, and is bound to the closure of
the function at hand. A captured function may differ too, as long as its code does not.
"""

from __future__ import annotations

import functools
import threading
import types
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from s2sad import registry
from s2sad.capture.read import read
from s2sad.errors import (
    Place,
    SourceError,
    UnsupportedError,
)
from s2sad.operators.guard import (
    DERIVED,
    OTHERWISE,
    SLOPE,
    Question,
    Role,
    bound_role,
)
from s2sad.operators.parameters import Settled
from s2sad.stages import Written

Guard = Callable[[], bool]
_SHARED = 512  # how many recipes are kept, those used last
_EACH = 8  # how many for one key, where what functions see goes to and fro


@dataclass(frozen=True)
class Part:
    """A function that a derivation read: found in a cell of another, and not kept itself."""

    role: Role
    code: types.CodeType
    namespace: dict[str, Any]
    holder: Role | None = None
    cell: str = ""


@dataclass(frozen=True)
class Loaded:
    """A derived function without its closure: a name of another, a part's cell, or a cell."""

    code: types.CodeType
    namespace: dict[str, Any]
    part: Role | None
    defaults: tuple[Any, ...] | None
    kwdefaults: dict[str, Any] | None
    closure: tuple[str | tuple[Role, str] | types.CellType, ...]


@dataclass(frozen=True)
class Outside:
    """A name by which a function reaches arrays outside, and whether it writes them."""

    reader: Any
    path: str
    written: bool

    def value(self) -> Any:
        """Return what the name denotes now."""
        root, *rest = self.path.split(".")
        cells = cells_of(self.reader)
        value: Any = content_of(cells[root]) if root in cells else None
        if root not in cells:
            value = self.reader.__globals__.get(root)
        for part in rest:
            value = getattr(value, part, None)
        return value


@functools.lru_cache(256)
def _compiled(tests: tuple[str, ...]) -> types.CodeType:
    return compile(" and ".join(tests), "<s2sad lengths>", "eval")


@dataclass(frozen=True)
class Bound:
    """A recipe bound to one function.

    What is `written` of the arguments may overlap nothing else, `outside` included; `not_one` are
    tests of lengths that it was derived for.
    """

    call: Callable[..., Any]
    guards: tuple[Guard, ...]
    shortcut: Callable[..., Any] | None
    written: Written = field(default_factory=Written)
    outside: tuple[Outside, ...] = ()
    not_one: tuple[str, ...] = ()

    def fits(self, values: Mapping[str, Any]) -> bool:
        """Say whether no length is 1 that was taken not to be."""
        return bool(eval(_compiled(self.not_one), {"len": len, "range": range}, dict(values)))

    @property
    def writes(self) -> bool:
        """Whether memory that was there before the call is written."""
        return bool(self.written) or any(o.written for o in self.outside)


@dataclass(frozen=True)
class Recipe:
    """A derivation that can be bound to any function of the code it was made for."""

    entry: str
    settled: Settled
    parts: tuple[Part, ...]
    fixed: frozenset[Any]
    loaded: Mapping[str, Loaded]
    guards: tuple[tuple[Any, Question], ...]
    shortcut: Question | None
    written: Written = field(default_factory=Written)
    outside: tuple[Outside, ...] = ()
    not_one: tuple[str, ...] = ()
    repeatable: bool = False
    valued: Hashable = None

    def bind(
        self,
        fn: types.FunctionType,
        prefix: tuple[Any, ...],
        ends: tuple[Callable[..., Any], Callable[..., Any] | None],
        defaults: tuple[Any, ...],
        fresh: bool = False,
    ) -> Bound | None:
        """Return the derived function and its guards for `fn`, or None where they do not fit.

        The `ends` of a shortcut are what it calls otherwise, and what makes slopes of tangents.
        What is `fresh` was derived from `fn` just now, and fits unless code has changed meanwhile.
        """
        found = self._resolve(fn)
        if found is None or not (fresh or self._may_stand_in(found)):
            return None
        guards = []
        for asked, question in self.guards:
            about = found[asked] if isinstance(asked, Role) else asked
            guards.append(question.about(about, found))
        if not fresh and not all(same() for same in guards):
            return None
        call = self._call(found)
        outside = tuple(
            Outside(found.get(o.reader, o.reader), o.path, o.written) for o in self.outside
        )
        if self.shortcut is None:
            return Bound(call, tuple(guards), None, self.written, outside, self.not_one)
        stand_ins = {**found, DERIVED: call, OTHERWISE: ends[0], SLOPE: ends[1]}
        stand_ins |= {bound_role(i): value for i, value in enumerate(prefix)}
        stand_ins |= {guard_role(i): same for i, same in enumerate(guards)}
        short = self.shortcut.about(fn, stand_ins, defaults, fn.__name__, call)
        return Bound(call, tuple(guards), short, self.written, outside, self.not_one)

    def _resolve(self, fn: types.FunctionType) -> dict[Role, Any] | None:
        """Return the functions that play the parts, or None where one is of other code."""
        found: dict[Role, Any] = {}
        for part in self.parts:
            player: Any = fn if part.holder is None else _contents(found[part.holder], part.cell)
            if not is_plain_function(player) or player.__code__ is not part.code:
                return None
            if player.__globals__ is not part.namespace:
                return None
            found[part.role] = player
        return found

    def _may_stand_in(self, found: Mapping[Role, Any]) -> bool:
        """Say whether the players are told apart as those were that they stand in for."""
        players = set(found.values())
        captured = [found[part.role] for part in self.parts if part.holder is not None]
        return (
            len(players) == len(found)
            and not players & self.fixed
            and all(registry.rule_for(player) is None for player in captured)
        )

    def _call(self, found: Mapping[Role, Any]) -> types.FunctionType:
        """Return the derived function with the closures of those that play the parts."""
        cells = {name: types.CellType() for name in self.loaded}
        for name, made in self.loaded.items():
            closure = []
            for place in made.closure:
                if isinstance(place, str):
                    place = cells[place]
                elif isinstance(place, tuple):
                    place = cells_of(found[place[0]])[place[1]]
                closure.append(place)
            defaults, kwdefaults = made.defaults, made.kwdefaults
            if made.part is not None:
                player = found[made.part]
                defaults, kwdefaults = player.__defaults__, player.__kwdefaults__
            function = types.FunctionType(made.code, made.namespace, name, defaults, tuple(closure))
            function.__kwdefaults__ = kwdefaults
            cells[name].cell_contents = function
        call: types.FunctionType = cells[self.entry].cell_contents
        return call


def guard_role(number: int) -> Role:
    """Return what stands for one of the guards of a recipe."""
    return Role(f"guard_{number}")


def is_plain_function(value: Any) -> bool:
    """Say whether a value is a Python function itself."""
    return type(value) is types.FunctionType


def place_of(fn: types.FunctionType) -> Place | None:
    """Return where a function is defined, or None where its source cannot be had."""
    try:
        source = read(fn)
    except (SourceError, UnsupportedError):
        return None
    return source.place(source.node)


def cells_of(fn: types.FunctionType) -> dict[str, types.CellType]:
    """Return the closure cells of a function by name."""
    return dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))


def _contents(fn: types.FunctionType, name: str) -> Any:
    return content_of(cells_of(fn)[name])


def content_of(cell: types.CellType) -> Any:
    """Return what a cell holds, None where it is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


class Recipes:
    """The recipes used last, by what they were made for; a key holds code, never a function."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Any, tuple[Recipe, ...]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Any) -> tuple[Recipe, ...]:
        """Return what was made for a key, the last first."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key, ())

    def add(self, key: Any, made: Recipe) -> None:
        """Keep a recipe, and forget what was not used for the longest time."""
        with self._lock:
            self._kept[key] = (made, *self._kept.pop(key, ()))[:_EACH]
            if len(self._kept) > _SHARED:
                self._kept.popitem(last=False)

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._kept.clear()
