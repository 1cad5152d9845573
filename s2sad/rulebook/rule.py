"""What is known about one function: a rule, and what becomes of it when another one comes.

What comes later counts. What s2sad brings is loaded when the first derivative is asked for, and
some of it when a library is imported: it counts as if it had been there first.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from s2sad.errors import UnsupportedError

View = Literal["never", "always", "maybe"]
Masks = bool | tuple[str, ...] | Callable[[tuple[Any, ...]], bool]


@dataclass(frozen=True)
class Window:
    """A view that shows each element of the first argument at most once, if that is an array.

    Where it may be a copy instead (`copied`), that is seen when the program runs. NumPy may let
    nobody write through it (`read_only`). Nothing of this is known where a setting of `unless` is
    given. Of an array that has another `rank` the function makes a new one.
    """

    copied: bool = False
    read_only: bool = False
    unless: tuple[str, ...] = ()
    rank: int | None = None


@dataclass(frozen=True)
class Rule:
    """All that is known about one function: its derivatives, and whether it returns views.

    `partials` is the elementwise rule (broadcasting, settings-free), `pullback` and
    `pushforward` the general ones. `zero` means: the derivative is zero by decision; where there
    is a pullback too, that is for complex arguments.
    `view` says whether the result may share memory with an argument, `window` that it is the
    first one, seen otherwise. The cotangent of a list of arrays is a list of arrays; a rule that
    takes lists in it apart, too, is `nested`. `masks` says that the
    pullback gives zero by structure to some entries: always, or where one of the named settings
    is given, or a function tells from the arguments of the call (None for what is no literal).
    `regular` gives, for a function that is singular somewhere, numbers for parameters
    of its rule (arrays or `out`) at which the rule is finite whatever the others are. `steep` are
    the arrays by which the derivative may be infinite where the value is finite, as at the root of
    0: there a cotangent or a tangent that is zero gives zero, for whatever reason it is zero.
    `turns_complex` says that the content of real arguments decides whether the result is complex.
    `unknown` are arrays for which no derivative is known: the rule gives None for them.
    `samples` makes sample arguments fit one another, where the function wants that.
    `calls` says, for parameters that are functions, how they are called, and `result` stands in
    for the function where the kind of its result is found. Of `constant` parameters the result
    does not depend: the rule gives None for them. `linear` says that what the rules do does not
    depend on the numbers in the arrays, or only by steps: then each is the other's derivative.
    `multilinear` says that the function is linear in each array while the others stay.
    `derivative_of` is for the rule of a rule: the function whose derivative that rule is.
    `once` tells why there are calls of which there is no second derivative.
    """

    fn: object
    partials: Callable[..., Any] | None = None
    pullback: Callable[..., Any] | None = None
    pushforward: Callable[..., Any] | None = None
    zero: bool = False
    view: View = "never"
    window: Window | None = None
    nested: bool = False
    masks: Masks = False
    regular: Mapping[str, float] = field(default_factory=dict)
    steep: tuple[str, ...] = ()
    turns_complex: bool = False
    unknown: tuple[str, ...] = ()
    samples: Callable[..., Any] | None = None
    calls: Mapping[str, str] = field(default_factory=dict)
    result: Callable[..., Any] | None = None
    constant: tuple[str, ...] = ()
    linear: bool = False
    multilinear: bool = False
    derivative_of: Callable[..., Any] | None = None
    once: str = ""

    def is_zero(self, of_complex: bool) -> bool:
        """Say whether there is no derivative; a pullback beside `zero` is for complex numbers."""
        return self.zero and not (of_complex and self.pullback is not None)

    def shows(self, rank: int | None) -> bool:
        """Say whether the result may share memory with an argument of some rank, if it is known."""
        only = None if self.window is None else self.window.rank
        return self.view != "never" and (rank is None or only in (None, rank))

    @property
    def turns(self) -> bool:
        """Whether the pullback and the pushforward are made into their own derivatives."""
        both = self.pullback is not None and self.pushforward is not None
        return both and (self.linear or self.multilinear)

    @property
    def name(self) -> str:
        """The name a reader knows the function by."""
        return getattr(self.fn, "__name__", None) or repr(self.fn)


class Outcome:
    """What a function returns, as far as its rule knows it, if that is an object.

    A named tuple that is an Outcome names the attributes that have derivatives; its own class
    attributes are examples of others, which have none. `advice` tells how to have the value.
    """

    advice = ""


@dataclass(frozen=True)
class Kin:
    """One of several functions that share a rule: what differs between them goes by these names.

    The rule gets by keyword those that it asks for: functions that a module holds under their own
    names.
    """

    fn: object
    given: Mapping[str, Callable[..., Any]]


class Shared(functools.partial[Any]):
    """A rule that several functions share, with what it gets for one of them."""


def _kept(old: Rule, changes: Mapping[str, Any]) -> Rule:
    """Return what of a rule stays beside a new one: what comes later counts.

    The rules that s2sad brings may be elementwise where no keyword is given, and general else.
    """
    if "zero" in changes and "pullback" not in changes:
        return Rule(old.fn, view=old.view)
    if old.zero:
        old = replace(old, zero=old.pullback is not None and "pushforward" in changes)
    for word, other in (("partials", "pullback"), ("pullback", "partials")):
        rule, rival = changes.get(word), getattr(old, other)
        if rule is None or rival is None or (is_brought(rule) and is_brought(rival)):
            continue
        if not is_brought(rival):
            raise UnsupportedError(
                f"{old.name} has a rule by @elementwise and another by @pullback; s2sad "
                "cannot choose between them.",
                remedy="Keep only one of them.",
            )
        old = replace(old, pullback=None) if word == "partials" else replace(old, partials=None)
    return old


def is_brought(rule: Callable[..., Any]) -> bool:
    """Say whether a rule, or a helper of one, is s2sad's own."""
    made = rule.func if isinstance(rule, functools.partial) else rule
    return str(getattr(made, "__module__", "")).startswith("s2sad.rules")


def changed(rule: Rule, changes: Mapping[str, Any]) -> Rule:
    """Return a rule after a registration."""
    return replace(_kept(rule, changes), **changes)


class History:
    """What has been registered for one function, in whatever order."""

    def __init__(self, fn: object) -> None:
        self._brought = Rule(fn)
        self._own: list[Mapping[str, Any]] = []

    def add(self, rule: Rule, changes: Mapping[str, Any], *, brought: bool) -> Rule:
        """Return the rule as it is now, with a registration.

        What s2sad brings comes before all that others have registered.
        """
        if not brought:
            made = changed(rule, changes)
            self._own.append(changes)
            return made
        made = self._brought = changed(self._brought, changes)
        for own in self._own:
            made = changed(made, own)
        return made
