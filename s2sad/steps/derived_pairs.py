"""A call of a user's function, and the pair of functions that is derived for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from s2sad.kinds import Kind


@dataclass
class Pair:
    """The forward and the reverse of a derivative that is called, written as others are not.

    The reverse takes what the forward saved (where `saved`), then the parameters in `passed` as
    the caller has them, and last the cotangent of the result; it returns those of `active`. What
    is `lent` is memory that others may change before the reverse runs: the forward copies it.
    """

    forward: str
    reverse: str
    active: tuple[str, ...]
    passed: tuple[str, ...] = ()
    saved: bool = True
    lent: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Target:
    """A user's function as one call sees it.

    `params` are the kinds of its parameters; `args` say what each parameter is given in the
    caller: a node, a tuple of nodes for *args, a dict of nodes for **kwargs, or MISSING for a
    default. `extra` are parameters added for what inner functions capture: pairs of parameter and
    variable of the caller.
    """

    fn: Any
    params: dict[str, Kind]
    args: dict[str, Any]
    extra: tuple[tuple[str, str], ...]
