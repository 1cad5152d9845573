"""A call of a user's function, and the pair of functions that is derived for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from s2sad import kinds as K
from s2sad.kinds import Kind
from s2sad.known.pieces import Assume, never
from s2sad.modes.outside import NOTHING_LENT, Lent
from s2sad.stages import Arrival

PartsOf = Callable[..., Any]  # sweeps.parts_of, given to what it calls itself


@dataclass
class Pair:
    """The forward and the reverse of a user's function, for calls of it in derived code.

    The reverse takes what the forward saved (where `saved`), then the parameters in `passed` as
    the caller has them, then the shadows of the arrays in `shadows`, which the function writes, and
    last the cotangent of the result (where `seeded`); it returns those of `active`. `bare` calls
    want no result of the forward. A reverse that `consumes` the cotangent of the result may change
    it. `arrival` says what of the caller it is made for; `assumed` are lengths in the function
    that are taken not to be 1, by what its caller knows and `assume` tells. What is `lent` to it is
    memory that others may change before the reverse runs, which keeps copies. It leaves old
    content in what the parameters that it `puts_back` were given; None where that is not known yet.
    It `spoils` the result of the forward where it puts old content back into memory that this has.
    """

    forward: str
    reverse: str
    active: tuple[str, ...]
    shadows: tuple[str, ...] = ()
    seeded: bool = True
    bare: bool = False
    passed: tuple[str, ...] = ()
    saved: bool = True
    recursive: bool = False
    done: bool = False
    consumes: bool = False
    arrival: Arrival = field(default_factory=Arrival)
    assumed: set[K.Dim] = field(default_factory=set)
    assume: Assume = never
    lent: Lent = NOTHING_LENT
    puts_back: frozenset[str] | None = None
    spoils: bool = True


@dataclass(frozen=True)
class Target:
    """A user's function as one call sees it.

    `params` are the kinds of its parameters; `args` say what each parameter is given in the
    caller: a node, a tuple of nodes for *args, a dict of nodes for **kwargs, or MISSING for a
    default. `extra` are parameters added for what inner functions capture: pairs of parameter and
    variable of the caller. `leading` and `brought` are the positional and keyword arguments that
    a bound method or a partial brings along. `lengths` are those of the caller for which the
    function has names. `spread` says that the first argument comes out of a starred tuple.
    """

    fn: Any
    params: dict[str, Kind]
    args: dict[str, Any]
    extra: tuple[tuple[str, str], ...]
    leading: tuple[Any, ...] = ()
    brought: tuple[tuple[str, Any], ...] = ()
    lengths: Mapping[str, K.Dim] = field(default_factory=dict)
    spread: bool = False
