"""Rules that are linear have derivatives without anybody writing them: each is the other turned.

    pull_diff(out_bar, out, a, n=2)     has the pullback    push_diff(out, a, bars_bar, n=2)
    push_diff(out, a, a_dot, n=2)       has the pullback    pull_diff(dot_bar, out, a, n=2)

A rule is linear where what it does to a cotangent does not depend on the numbers in the arrays, or
only by steps: a sum, a transform, a permutation. What is made here is text, as all rules are.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from s2sad.runtime import zeros_like
from s2sad.syntax.snippets import register

Rules = tuple[Callable[..., Any], Callable[..., Any]]

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@functools.lru_cache(1024)
def of_pullback(pull: Callable[..., Any], push: Callable[..., Any]) -> Rules:
    """Return the pullback and the pushforward of a linear pullback."""
    p = Parameters.of(pull)
    out, arrays = p.names[1], p.names[2:]
    if p.rest:
        back = f"""def pull_pull(bars_bar, bars, *given{p.defaults}):
    bars = push(*given[1:], *bars_bar{p.passed})
    return (bars, *filled([None] * (len(given) - 1), given[1:]))
"""
        forth = f"""def push_pull(bars, *given{p.defaults}):
    half = len(given) // 2
    bar_dot = zeros_like(given[0]) if given[half] is None else given[half]
    return pull(bar_dot, *given[1:half]{p.passed})
"""
        return made(back, pull, push), made(forth, pull, push)
    tangents = [f"bars_bar[{i}]" for i in range(len(arrays))] if len(arrays) > 1 else ["bars_bar"]
    nothing = ", None" * (1 + len(arrays))
    back = f"""def pull_pull(bars_bar, bars, {listed(p.names)}{p.keywords}):
    return push({listed([out, *arrays, *tangents])}{p.passed}){nothing}
"""
    dots = [f"{n}_tangent" for n in p.names]
    forth = f"""def push_pull(bars, {listed([*p.names, *dots])}{p.keywords}):
    if {dots[0]} is None:
        return None
    return pull({listed([dots[0], out, *arrays])}{p.passed})
"""
    return made(back, pull, push), made(forth, pull, push)


@functools.lru_cache(1024)
def of_pushforward(pull: Callable[..., Any], push: Callable[..., Any]) -> Rules:
    """Return the pullback and the pushforward of a linear pushforward."""
    p = Parameters.of(push)
    if p.rest:
        back = f"""def pull_push(dot_bar, dot, out, *given{p.defaults}):
    half = len(given) // 2
    bars = pull(dot_bar, out, *given[:half]{p.passed})
    return (zeros_like(out), *filled([None] * half, given[:half]), *bars)
"""
        forth = f"""def push_push(dot, *given{p.defaults}):
    half = len(given) // 2
    arrays = half // 2
    return push(*given[: 1 + arrays], *given[half + 1 + arrays :]{p.passed})
"""
        return made(back, pull, push), made(forth, pull, push)
    out, *rest = p.names
    arrays = rest[: len(rest) // 2]
    nothing = "None, " * (1 + len(arrays))
    bars = [f"bars[{i}]" for i in range(len(arrays))] if len(arrays) > 1 else ["bars"]
    back = f"""def pull_push(dot_bar, dot, {listed(p.names)}{p.keywords}):
    bars = pull(dot_bar, {listed([out, *arrays])}{p.passed})
    return {nothing}{listed(bars)}
"""
    dots = [f"{n}_tangent" for n in p.names]
    moving = dots[1 + len(arrays) :]
    forth = f"""def push_push(dot, {listed([*p.names, *dots])}{p.keywords}):
    if {" and ".join(f"{n} is None" for n in moving)}:
        return None
    return push({listed([out, *arrays, *moving])}{p.passed})
"""
    return made(back, pull, push), made(forth, pull, push)


@dataclass(frozen=True)
class Parameters:
    """The parameters of a rule: those by position, whether there are any more, and the settings."""

    names: tuple[str, ...]
    rest: bool
    settings: dict[str, Any]

    @staticmethod
    def of(rule: Callable[..., Any]) -> Parameters:
        """Return those of a rule."""
        found = inspect.signature(rule).parameters.values()
        names = tuple(p.name for p in found if p.kind in _POSITIONAL)
        rest = any(p.kind is p.VAR_POSITIONAL for p in found)
        return Parameters(
            names, rest, {p.name: p.default for p in found if p.kind is p.KEYWORD_ONLY}
        )

    @property
    def keywords(self) -> str:
        """The settings as parameters, after others."""
        return ", *" + self.defaults if self.settings else ""

    @property
    def defaults(self) -> str:
        """The settings as parameters with their defaults, which are literals."""
        return "".join(f", {k}={v!r}" for k, v in self.settings.items())

    @property
    def passed(self) -> str:
        """The settings as arguments."""
        return "".join(f", {k}={k}" for k in self.settings)


def listed(names: Any) -> str:
    """Return names as they stand in a call."""
    return ", ".join(names)


def added(sums: list[Any], parts: Any, but: int) -> list[Any]:
    """Return sums with what is given added to all but one of them."""
    return [
        s if i == but or part is None else part if s is None else s + part
        for i, (s, part) in enumerate(zip(sums, parts, strict=True))
    ]


def filled(sums: list[Any], arrays: Any) -> list[Any]:
    """Return sums with zeros where arrays got nothing."""
    return [
        zeros_like(a) if s is None and not isinstance(a, str | None) else s
        for s, a in zip(sums, arrays, strict=True)
    ]


def made(text: str, pull: Any, push: Any) -> Callable[..., Any]:
    """Return the function of a text."""
    name = text[4 : text.index("(")]
    filename = f"<linear {name} {pull.__module__}.{pull.__qualname__} {push.__qualname__}>"
    register(text, filename)
    space: dict[str, Any] = {"pull": pull, "push": push, "added": added, "filled": filled}
    space["zeros_like"] = zeros_like
    exec(compile(text, filename, "exec"), space)
    function = space[name]
    function.__module__ = pull.__module__
    return function  # type: ignore[no-any-return]
