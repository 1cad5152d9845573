"""Where derivatives need a guard: zeros by structure meet what may be infinite."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from s2sad.ir.program import Code, Var

NO_NAMES = frozenset[str]()
NO_VARS = frozenset[Var]()


@dataclass(frozen=True)
class Guard:
    """A cotangent with zeros by structure reaches an operation here that may be infinite there.

    `singular` says that the operation itself may be, `wild` are the operands that may be, and
    `out` says whether its result may be. A `steep` operation is finite itself: it is guarded for
    any zero, not only for those by structure. What arrives may be `infinite` where it is masked.
    """

    singular: bool
    wild: frozenset[Var] = NO_VARS
    out: bool = False
    steep: bool = False
    infinite: bool = False


@dataclass(frozen=True)
class Guards:
    """Guards by the value that an operation gives; of `u[i] **= p`, which gives none, `in_place`
    has that of the statement.
    """

    of: Mapping[Var, Guard] = field(default_factory=dict)
    in_place: Mapping[Code, Guard] = field(default_factory=dict)

    def at(self, out: Var, statement: Code) -> Guard | None:
        """Return the guard of an operation."""
        return self.of.get(out, self.in_place.get(statement))


NO_GUARDS = Guards()


@dataclass(frozen=True)
class Arrival:
    """What a function meets in its caller, as far as zeros by structure are concerned.

    `zeros` says that the cotangent of its result may hold some; `wild` are the parameters that
    may be infinite or nan. `one` says that the cotangent is a number that is not 0, as that of a
    loss is.
    """

    zeros: bool = False
    wild: frozenset[str] = NO_NAMES
    one: bool = False


@dataclass(frozen=True)
class Zeros:
    """Where zeros by structure are guarded: at operations, and inside called functions.

    `arrivals` say by its value what a call's function meets, `reached` are the parameters whose
    cotangents may hold such zeros, `wild` says whether the result may be infinite or nan.
    """

    guards: Guards = NO_GUARDS
    arrivals: Mapping[Var, Arrival] = field(default_factory=dict)
    reached: frozenset[str] = NO_NAMES
    wild: bool = False


@dataclass(frozen=True)
class Met:
    """What tangents may be: zero by structure in places, and infinite."""

    zeros: bool = False
    wild: bool = False

    def join(self, other: Met) -> Met:
        """Return what holds of either."""
        return Met(self.zeros or other.zeros, self.wild or other.wild)


@dataclass(frozen=True)
class Pushed:
    """Where forward mode needs a guard.

    `guards` are at operations where zeros by structure may meet what is infinite; `masked` are the
    operands whose tangents an operation leaves out, and which may be infinite, by its value.
    `arrivals` say by its value what a call's function is given, and `result` what the tangent of
    the result may be.
    """

    guards: Guards = NO_GUARDS
    masked: Mapping[Var, frozenset[Var]] = field(default_factory=dict)
    arrivals: Mapping[Var, Met] = field(default_factory=dict)
    result: Met = Met()


NO_ZEROS = Pushed()
