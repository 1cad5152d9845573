"""Refuse what cannot be shown to be right, pointing at it, before anything is derived.

Memory that is written in place has no derivative yet: a write is refused where the memory may be
that of an active variable, or hold what the backward sweep reads.
"""

from __future__ import annotations

from typing import Any

from s2sad import kinds as K
from s2sad.errors import Error, MissingRuleError, UnsupportedError
from s2sad.facts.memory import Memory, Write, shares_nothing
from s2sad.stages import Activity, Function, KindFacts

_ADVICE = "Build a new value instead: np.where, np.concatenate, or a list and np.array."


def fence(function: Function, kinds: KindFacts, activity: Activity, memory: Memory) -> None:
    """Raise for the first statement that touches active memory in a way not understood."""
    active = ever_active(activity)
    for write in memory.writes:
        hit = memory.shares(write.base, active)
        before = kinds.before.get(write.statement, {})
        hit = {n for n in hit if write.touches(before.get(n, K.UNBOUND))}
        if not hit or _plain_append(write, hit, kinds, memory):
            continue
        name = write.base if write.base in hit else min(hit)
        how = "" if name == write.base else f" through `{write.base}`"
        raise _refusal(
            function, write.statement, UnsupportedError,
            f"`{name}`, on which the result depends, is written in place{how}; that cannot be "
            "differentiated yet.",
            _ADVICE,
        )
    for statement, call, given in memory.opaque:
        varied = activity.varied_before.get(statement, frozenset())
        hit = {n for n in given if n in varied and n in active}
        hit = {n for n in hit if not _immutable(kinds, statement, n)}
        if hit:
            raise _refusal(
                function, statement, MissingRuleError,
                f"`{min(hit)}`, on which the result depends, goes into a function with neither a "
                "rule nor readable source, which may change it.",
                "Write a rule for it with @s2sad.pullback, or give it a copy.",
                call,
            )


def check_reads(
    function: Function, kinds: KindFacts, memory: Memory, read: frozenset[str]
) -> None:
    """Raise where the backward sweep reads memory that the function writes in place."""
    arrays = {n for n in read if n in function.locals}
    for write in memory.writes:
        if write.how == "append":
            continue
        known = kinds.before.get(write.statement, {})
        hit = memory.shares(write.base, arrays)
        hit = {n for n in hit if write.touches(known.get(n, K.UNKNOWN))}
        if hit:
            raise _refusal(
                function, write.statement, UnsupportedError,
                f"The derivative needs the old content of `{min(hit)}`, which is written in place "
                "here; that cannot be differentiated yet.",
                _ADVICE,
            )


def ever_active(activity: Activity) -> frozenset[str]:
    """Return the names that are active at some point of a function."""
    found: set[str] = set()
    for statement in activity.varied_before:
        found |= activity.before(statement) | activity.after(statement)
    for loop in activity.head_varied:
        found |= activity.head(loop)
    return frozenset(found)


def _immutable(kinds: KindFacts, statement: Any, name: str) -> bool:
    kind = kinds.before.get(statement, {}).get(name, K.UNKNOWN)
    return shares_nothing(kind)


def _plain_append(write: Write, hit: set[str], kinds: KindFacts, memory: Memory) -> bool:
    """Appending to a list that has one name only is undone by the backward sweep."""
    if write.how != "append":
        return False
    before = kinds.before.get(write.statement, {})
    lists = {n for n, k in before.items() if K.is_container(k) or isinstance(k, K.Unknown)}
    others = memory.shares(write.base, lists) - {write.base}
    return not others and write.base in hit


def _refusal(
    function: Function,
    statement: Any,
    cls: type[Error],
    reason: str,
    remedy: str,
    node: Any = None,
) -> Error:
    origin = function.origins.get(statement, statement)
    at = node if node is not None and getattr(node, "lineno", None) is not None else origin
    return cls(reason, remedy=remedy, place=function.source.place(at))


