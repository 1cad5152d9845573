"""What a rule of somebody's own returns is looked at where it is called, as far as is needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from s2sad import registry
from s2sad.emitted import returned
from s2sad.nodes import Node, call, clone, constant
from s2sad.rulebook.rehearsed import may_be_none, sure_to_fit
from s2sad.steps.refs import Refs


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

    def looked_at(self, found: Node, count: int, refs: Refs) -> Node:
        """Return the call of a rule for several arrays, with a look at what it returns."""
        if self.ours or self.sure:
            return found
        return call(refs.function(returned.for_each), found, constant(count))

    def part(self, found: Node, i: int, arrays: list[Node], refs: Refs) -> Node:
        """Return what a rule returned for one of the arrays, with a look at it."""
        if not (self.ours or self.sure or self.partials):
            found = call(refs.function(returned.cotangent), found, clone(arrays[i]))
        if not self.nothing[i]:
            return found
        if self.partials:
            return call(refs.function(returned.or_zero), found)
        return call(refs.function(returned.or_zeros), found, clone(arrays[i]))
