"""What is asked for when something is to be derived."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from s2sad.kinds import Kind
from s2sad.selected import Selected


@dataclass(frozen=True)
class Request:
    """What is to be derived: a function, kinds of its parameters, which of them, and what for.

    Of those in `wrt` the `shadowed` have shadows of the caller's. A parameter that is `constant`
    keeps no derivative. With `seeded` the cotangent of the result is a parameter, with `batch` the
    backward sweep is a function of its own, and a jvp does several directions. The `lengths` are
    those of example arrays: where a write could be broadcast, it is derived for lengths that are
    not 1 if the example's are not. Where it is to be `explained`, it is noted who reads what is
    kept. In a `plain` text cotangents are not put into one another: each has its statement. What
    is derived `by_value` is so for the words, truth values and integers that parameters and
    surroundings hold; `valued` are the parameters with these.
    """

    fn: Any
    params: tuple[tuple[str, Kind], ...]
    wrt: tuple[str, ...]
    single: bool
    mode: str
    has_aux: bool = False
    shadowed: tuple[str, ...] = ()
    constant: frozenset[str] = frozenset()
    seeded: bool | None = False
    batch: bool = False
    lengths: tuple[tuple[str, int], ...] = ()
    picked: tuple[Selected, ...] = ()  # parts of those in `wrt`, where parts are asked for
    extra: tuple[str, ...] = ()  # parameters besides those of `fn`: what it captures
    explained: bool = False
    plain: bool = False
    by_value: bool = False
    valued: tuple[tuple[str, Kind], ...] = ()

    def results(self) -> tuple[Selected, ...]:
        """Return what there are derivatives by, in their order."""
        return self.picked or tuple(map(Selected, self.wrt))
