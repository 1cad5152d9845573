"""Truth values that are decided when code is derived: what within_gradient() gives, and what is
made of that. A test of one leaves one branch; a literal of the user's leaves both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import gast

from s2sad.kinds import Kind, Num
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


def verdict(kind: Kind | None) -> bool | None:
    """Return the truth value that a kind decides, or None."""
    return bool(kind.value) if isinstance(kind, Decided) else None
