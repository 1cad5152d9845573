"""Rules of what is linear in each of several arrays: products of matrices, tensors, polynomials.

The derivatives of such rules are made of the rules: where an array moves, another of the arrays is
replaced by what the rule is given.

    pull(out_bar, out, a, b)         a moves: pull(out_bar, out, a_dot, b), but for a's own part
    push(out, a, b, a_dot, b_dot)    b moves: push(out, a_dot, b, None, b_tangent), for a_dot's part
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from s2sad.rulebook.linear import Parameters, Rules, listed, made


@functools.lru_cache(1024)
def of_pullback(pull: Callable[..., Any], push: Callable[..., Any]) -> Rules:
    """Return the pullback and the pushforward of the pullback of a multilinear function."""
    p = Parameters.of(pull)
    if p.rest:
        return made(_REST_PULL_PULL.format(p=p), pull, push), made(
            _REST_PUSH_PULL.format(p=p), pull, push
        )
    out_bar, out, *arrays = p.names
    bars = [f"bars_bar[{i}]" for i in range(len(arrays))]
    back = [f"def pull_pull(bars_bar, bars, {listed(p.names)}{p.keywords}):"]
    back += [f"    moved = push({listed([out, *arrays, *bars])}{p.passed})"]
    back += _replaced(out_bar, out, arrays, bars, p.passed) + _zeros(arrays, arrays)
    back += [f"    return moved, zeros_like({out}), {listed(f'{a}_bar' for a in arrays)}"]
    dots = [f"{n}_tangent" for n in p.names]
    forth = [f"def push_pull(bars, {listed([*p.names, *dots])}{p.keywords}):"]
    forth += _replaced(out_bar, out, arrays, dots[2:], p.passed)
    forth += [f"    if {dots[0]} is not None:"]
    forth += [f"        first = pull({listed([dots[0], out, *arrays])}{p.passed})"]
    for i, a in enumerate(arrays):
        forth += [f"        {a}_bar = first[{i}] if {a}_bar is None else {a}_bar + first[{i}]"]
    forth += _zeros(arrays, [f"bars[{i}]" for i in range(len(arrays))])
    forth += [f"    return {listed(f'{a}_bar' for a in arrays)}"]
    return made("\n".join(back) + "\n", pull, push), made("\n".join(forth) + "\n", pull, push)


@functools.lru_cache(1024)
def of_pushforward(pull: Callable[..., Any], push: Callable[..., Any]) -> Rules:
    """Return the pullback and the pushforward of the pushforward of a multilinear function."""
    p = Parameters.of(push)
    if p.rest:
        return made(_REST_PULL_PUSH.format(p=p), pull, push), made(
            _REST_PUSH_PUSH.format(p=p), pull, push
        )
    out, *rest = p.names
    arrays, moving = rest[: len(rest) // 2], rest[len(rest) // 2 :]
    back = [f"def pull_push(dot_bar, dot, {listed(p.names)}{p.keywords}):"]
    back += [f"    bars = pull({listed(['dot_bar', out, *arrays])}{p.passed})"]
    back += _replaced("dot_bar", out, arrays, moving, p.passed) + _zeros(arrays, arrays)
    bars = [f"{a}_bar" for a in arrays] + [f"bars[{i}]" for i in range(len(arrays))]
    back += [f"    return zeros_like({out}), {listed(bars)}"]
    dots = [f"{n}_tangent" for n in p.names]
    a_dots, m_dots = dots[1 : 1 + len(arrays)], dots[1 + len(arrays) :]
    forth = [f"def push_push(dot, {listed([*p.names, *dots])}{p.keywords}):", "    total = None"]
    forth += [f"    if {_some(m_dots)}:"]
    forth += [f"        total = push({listed([out, *arrays, *m_dots])}{p.passed})"]
    for i, m in enumerate(moving):
        others = [None if i == j else d for j, d in enumerate(a_dots)]
        instead = [m if i == j else a for j, a in enumerate(arrays)]
        forth += [f"    if {m} is not None and ({_some(d for d in others if d)}):"]
        given = listed([out, *instead, *map(str, others)])
        forth += [f"        moved = push({given}{p.passed})"]
        forth += ["        total = moved if total is None else total + moved"]
    forth += ["    return total"]
    return made("\n".join(back) + "\n", pull, push), made("\n".join(forth) + "\n", pull, push)


def _some(names: Any) -> str:
    return " or ".join(f"{n} is not None" for n in names)


def _replaced(
    out_bar: str, out: str, arrays: list[str], instead: list[str], passed: str
) -> list[str]:
    """Return lines that sum, for each array, its cotangents where another array is replaced."""
    lines = [f"    {a}_bar = None" for a in arrays]
    for k, moving in enumerate(instead):
        given = [moving if j == k else a for j, a in enumerate(arrays)]
        lines += [f"    if {moving} is not None:"]
        lines += [f"        part = pull({listed([out_bar, out, *given])}{passed})"]
        for j, a in enumerate(arrays):
            if j != k:
                lines += [
                    f"        {a}_bar = part[{j}] if {a}_bar is None else {a}_bar + part[{j}]"
                ]
    return lines


def _zeros(arrays: list[str], like: list[str]) -> list[str]:
    """Return lines that give zeros to what got nothing."""
    lines = []
    for a, b in zip(arrays, like, strict=True):
        lines += [f"    if {a}_bar is None:", f"        {a}_bar = zeros_like({b})"]
    return lines


_REST_PULL_PULL = """def pull_pull(bars_bar, bars, out_bar, out, *arrays{p.defaults}):
    moved = push(out, *arrays, *bars_bar{p.passed})
    sums = [None] * len(arrays)
    for k in range(len(arrays)):
        if bars_bar[k] is not None:
            part = pull(out_bar, out, *arrays[:k], bars_bar[k], *arrays[k + 1 :]{p.passed})
            sums = added(sums, part, k)
    return (moved, zeros_like(out), *filled(sums, arrays))
"""

_REST_PUSH_PULL = """def push_pull(bars, *given{p.defaults}):
    half = len(given) // 2
    out_bar, out, *arrays = given[:half]
    bar_dot, _, *dots = given[half:]
    sums = [None] * len(arrays)
    if bar_dot is not None:
        sums = added(sums, pull(bar_dot, out, *arrays{p.passed}), -1)
    for k in range(len(arrays)):
        if dots[k] is not None:
            part = pull(out_bar, out, *arrays[:k], dots[k], *arrays[k + 1 :]{p.passed})
            sums = added(sums, part, k)
    return tuple(filled(sums, bars))
"""

_REST_PULL_PUSH = """def pull_push(dot_bar, dot, out, *given{p.defaults}):
    half = len(given) // 2
    arrays, dots = given[:half], given[half:]
    bars = pull(dot_bar, out, *arrays{p.passed})
    sums = [None] * half
    for k in range(half):
        if dots[k] is not None:
            part = pull(dot_bar, out, *arrays[:k], dots[k], *arrays[k + 1 :]{p.passed})
            sums = added(sums, part, k)
    return (zeros_like(out), *filled(sums, arrays), *bars)
"""

_REST_PUSH_PUSH = """def push_push(dot, *given{p.defaults}):
    half = len(given) // 2
    n = half // 2
    out, arrays, dots = given[0], given[1 : 1 + n], given[1 + n : half]
    moved, turned = given[half + 1 : half + 1 + n], given[half + 1 + n :]
    total = zeros_like(dot)
    if any(t is not None for t in turned):
        total = total + push(out, *arrays, *turned{p.passed})
    for k in range(n):
        others = (*moved[:k], None, *moved[k + 1 :])
        if dots[k] is not None and any(t is not None for t in others):
            given_here = (*arrays[:k], dots[k], *arrays[k + 1 :])
            total = total + push(out, *given_here, *others{p.passed})
    return total
"""
