"""The frozen records handed from room to room, and the few statement kinds of our own.

`Comment` prints as a comment. `Save` and `Restore` are abstract until the storage pass has decided
what is kept and how: a pair shares one key.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import gast

from s2sad.kinds import UNBOUND, Kind

if TYPE_CHECKING:
    from s2sad.errors import Place


class Comment(gast.AST):  # type: ignore[misc]
    """One comment line in a statement list; `text` is without `# `, empty for an empty line."""

    _fields = ("text",)


class Save(gast.AST):  # type: ignore[misc]
    """Forward sweep: the value of `name` at this point may be wanted back; paired by `key`."""

    _fields = ("name", "key")


class Restore(gast.AST):  # type: ignore[misc]
    """Backward sweep: `name` gets back the value it had where the Save of the same key stands."""

    _fields = ("name", "key")


class Undo(gast.AST):  # type: ignore[misc]
    """Backward sweep: the list `name` loses the item that the forward sweep appended."""

    _fields = ("name",)


class SourceLike(Protocol):
    """What later rooms need of a Source: names, and places for errors."""

    @property
    def fn(self) -> types.FunctionType: ...
    @property
    def name(self) -> str: ...
    @property
    def file(self) -> str: ...
    @property
    def node(self) -> Any: ...
    def place(self, node: Any) -> Place: ...


@dataclass(frozen=True)
class Loop:
    """How a `for` loop can be run backward.

    `index` counts the rounds or is the user's own variable (`own`); `bounds` are the arguments of
    the range it runs over; `bindings` say what the loop's targets are in terms of the index, as
    statements that the loop's header performs in the forward sweep. `bounds` is None where the
    iterable can be read only once: then what the header binds is saved.
    """

    index: str
    own: bool
    bounds: tuple[Any, ...] | None
    bindings: tuple[Any, ...]


@dataclass(frozen=True)
class Function:
    """A user's function in few statement shapes.

    `node` is the normalised definition (its last statement returns a name), `origins` maps every
    normalised statement to the user's statement it comes from, `loops` every `for` to its Loop,
    `temps` are the names that normalisation made up, `spread` the lists and dicts whose items were
    written out where a call unpacks them, each with that call: nobody may change them. `held` are
    the temporaries that hold defaults of inner functions.
    """

    source: SourceLike
    node: Any
    params: tuple[str, ...]
    origins: Mapping[Any, Any]
    loops: Mapping[Any, Loop]
    temps: frozenset[str]
    locals: frozenset[str]
    result: str
    spread: Mapping[str, Any] = field(default_factory=dict)
    held: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The user's name of the function."""
        return self.source.name


@dataclass
class KindFacts:
    """The kinds of a function: by expression node, and before and after each statement.

    `decided` holds the tests that kinds decide, `objects` what function expressions denote,
    `methods` the functions behind method calls and properties, each with its self.
    """

    of: dict[Any, Kind] = field(default_factory=dict)
    before: dict[Any, dict[str, Kind]] = field(default_factory=dict)
    after: dict[Any, dict[str, Kind]] = field(default_factory=dict)
    decided: dict[Any, bool] = field(default_factory=dict)
    objects: dict[Any, Any] = field(default_factory=dict)
    methods: dict[Any, tuple[Any, Any]] = field(default_factory=dict)
    result: Kind = UNBOUND


Names = frozenset[str]
NONE: Names = frozenset()


@dataclass
class Activity:
    """Varied and useful names before and after every statement, and at the head of every loop.

    `cause` names, for a varied variable, the statement that first made it so.
    """

    varied_before: dict[Any, Names] = field(default_factory=dict)
    varied_after: dict[Any, Names] = field(default_factory=dict)
    useful_before: dict[Any, Names] = field(default_factory=dict)
    useful_after: dict[Any, Names] = field(default_factory=dict)
    head_varied: dict[Any, Names] = field(default_factory=dict)
    head_useful: dict[Any, Names] = field(default_factory=dict)
    cause: dict[str, Any] = field(default_factory=dict)

    def before(self, statement: Any) -> Names:
        """Return the names that are active before a statement."""
        return self.varied_before.get(statement, NONE) & self.useful_before.get(statement, NONE)

    def after(self, statement: Any) -> Names:
        """Return the names that are active after a statement."""
        return self.varied_after.get(statement, NONE) & self.useful_after.get(statement, NONE)

    def head(self, loop: Any) -> Names:
        """Return the names that are active whenever a loop starts a round or ends."""
        return self.head_varied.get(loop, NONE) & self.head_useful.get(loop, NONE)


@dataclass(frozen=True)
class Arrival:
    """What a function meets in its caller, as far as zeros by structure are concerned.

    `zeros` says that the cotangent of its result may hold some; `wild` are the parameters that
    may be infinite or nan.
    """

    zeros: bool = False
    wild: Names = NONE


@dataclass(frozen=True)
class Guard:
    """A cotangent with zeros by structure reaches an operation here that may be infinite there.

    `singular` says that the operation itself may be, `wild` are the operands that may be, and
    `out` says whether its result may be.
    """

    singular: bool
    wild: Names = NONE
    out: bool = False


@dataclass(frozen=True)
class Zeros:
    """Where zeros by structure are guarded: at operations, and inside called functions.

    `reached` are the parameters whose cotangents may hold such zeros, `wild` says whether the
    result may be infinite or nan.
    """

    guards: Mapping[Any, Guard] = field(default_factory=dict)
    arrivals: Mapping[Any, Arrival] = field(default_factory=dict)
    reached: Names = NONE
    wild: bool = False


@dataclass(frozen=True)
class Text:
    """A derived module: its text, the entry function, and what the functions in it see."""

    text: str
    entry: str
    namespaces: Mapping[str, dict[str, object]]
    cells: Mapping[str, Mapping[str, object]]
    imports: Mapping[str, str] = field(default_factory=dict)
