"""Truth values that are decided when code is derived: what within_gradient() gives, and what is
made of that. A test of one leaves one branch; a literal of the user's leaves both.

A rule, and what rules are made of, is derived for the literals that it is given: they are settled.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeGuard

import gast

from s2sad.kinds import MISSING, Kind, NoneKind, Num, Str, Tuple
from s2sad.nodes import Node

TOLD = "told"
"""The `kind` of a constant that stands for such a value."""


@dataclass(frozen=True)
class Decided(Num):
    """A truth value that is the same in all that is derived."""

    lasting: ClassVar[bool] = True


def decided(value: bool) -> Decided:
    """Return the kind of a truth value that is decided."""
    return Decided("bool", None, value)


def told(value: bool) -> Node:
    """Return the constant for a truth value that is decided."""
    return gast.Constant(value, TOLD)


@dataclass(frozen=True)
class SettledNum(Num):
    """A literal bool or int that a rule is given, or what a comparison of such a one gives."""

    lasting: ClassVar[bool] = True


@dataclass(frozen=True)
class SettledStr(Str):
    """A literal string that a rule is given."""

    lasting: ClassVar[bool] = True


def is_word(kind: Kind) -> TypeGuard[SettledNum | SettledStr]:
    """Say whether a kind says the value: a word, a truth value or an integer."""
    return isinstance(kind, SettledNum | SettledStr)


def settled(kind: Kind) -> Kind | None:
    """Return the kind of a literal that a rule is given, or of a tuple of such, else None."""
    if isinstance(kind, Num) and kind.dtype is None and type(kind.value) in (bool, int):
        return SettledNum(kind.type, None, kind.value)
    if isinstance(kind, Str) and isinstance(kind.value, str):
        return SettledStr(kind.value)
    if isinstance(kind, Tuple) and kind.cls is None:
        parts = [settled(k) for k in kind.items]
        return Tuple(tuple(k for k in parts if k is not None)) if all(parts) else None
    return None


def unsettled(kind: Kind) -> Kind:
    """Return the kind of a variable that may hold another value than what it was given."""
    if isinstance(kind, SettledNum):
        return Num(kind.type)
    if isinstance(kind, SettledStr):
        return Str()
    return kind.over(unsettled) if isinstance(kind, Tuple) else kind


def compared(op: Node, left: Kind, right: Kind) -> Kind | None:
    """Return the kind of a comparison of what is settled with literals, else None."""
    test = COMPARISONS.get(type(op))
    if test is None or not (_is_settled(left) or _is_settled(right)):
        return None
    one, other = _literal(left), _literal(right)
    if one is MISSING or other is MISSING:
        return None
    try:
        return SettledNum("bool", None, bool(test(one, other)))
    except TypeError:
        return None


COMPARISONS: dict[type, Callable[[Any, Any], Any]] = {
    gast.Eq: operator.eq,
    gast.NotEq: operator.ne,
    gast.Lt: operator.lt,
    gast.LtE: operator.le,
    gast.Gt: operator.gt,
    gast.GtE: operator.ge,
    gast.In: lambda one, other: one in other,
    gast.NotIn: lambda one, other: one not in other,
}
"""What comparisons do, but for `is`, of which kinds say less than values."""


def _is_settled(kind: Kind) -> bool:
    if isinstance(kind, Tuple) and kind.cls is None and kind.items:
        return all(map(_is_settled, kind.items))
    return isinstance(kind, SettledNum | SettledStr | NoneKind)


def _literal(kind: Kind) -> Any:
    """Return the value that a kind is known to have, or MISSING."""
    if isinstance(kind, Tuple) and kind.cls is None:
        parts = [_literal(k) for k in kind.items]
        return MISSING if any(p is MISSING for p in parts) else tuple(parts)
    if isinstance(kind, NoneKind):
        return None
    return kind.value if isinstance(kind, Num | Str) else MISSING


def verdict(kind: Kind | None) -> bool | None:
    """Return the truth value that a kind decides, or None."""
    known = isinstance(kind, Decided | SettledNum | SettledStr)
    return bool(kind.value) if known else None  # type: ignore[union-attr]
