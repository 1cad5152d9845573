"""What a rule of somebody's own returns is looked at where it is called, as far as is needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from s2sad import registry
from s2sad.rulebook.rehearsed import may_be_none, sure_to_fit


@dataclass(frozen=True)
class Returned:
    """What a rule that is called returns: whether that is looked at, and where None may stand."""

    ours: bool
    partials: bool
    sure: bool
    nothing: tuple[bool, ...]

    @staticmethod
    def of(rule: Callable[..., Any], count: int, partials: bool) -> Returned:
        """Return what is known of a rule for a number of arrays."""
        if registry.is_ours(rule):
            return Returned(True, partials, True, (False,) * count)
        return Returned(False, partials, sure_to_fit(rule, count), may_be_none(rule, count))
