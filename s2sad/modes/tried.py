"""Rules of somebody's own: tried on samples of a call's arguments, and looked at as they run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from s2sad import kinds as K
from s2sad import registry, returned
from s2sad.errors import UnsupportedError
from s2sad.modes.bind import BoundCall
from s2sad.modes.refs import Refs
from s2sad.nodes import Node, call, clone, constant
from s2sad.rehearsed import Trial, may_be_none, sure_to_fit, wrong_with


def refuse_useless(
    worker: Any,
    node: Node,
    fn: Any,
    rule: Any,
    word: str,
    bound: BoundCall,
    args: list[Node],
    keywords: list[Any],
) -> None:
    """Refuse a rule that returns for samples what can be no derivative of this call."""
    if registry.is_ours(rule):
        return
    nodes = [*args, *(k.value for k in keywords)]
    rest = bound.varargs[1] if bound.varargs is not None else ()
    for n in [*(a for _, a in bound.arrays), *bound.settings.values(), *rest]:
        if n not in nodes:
            nodes.append(n)
    kinds = tuple(worker.kind(n) for n in nodes)
    if any(isinstance(k, K.Unknown | K.Union | K.OneOf | K.Opaque | K.Obj) for k in kinds):
        return
    trial = Trial(
        fn,
        rule,
        word,
        kinds,
        len(args),
        tuple(k.arg for k in keywords),
        tuple((n, nodes.index(a)) for n, a in bound.arrays),
        tuple(map(nodes.index, rest)),
        tuple((n, nodes.index(a)) for n, a in bound.settings.items()),
    )
    why = wrong_with(trial)
    if why is not None:
        label = getattr(fn, "__name__", repr(fn))
        own = getattr(rule, "__name__", "")
        raise worker.refuse(
            UnsupportedError,
            node,
            f"The rule {own} of {label} does not fit this call: {why}.",
            f"Mend the rule; s2sad.testing.check_rule({label}, ...) says whether it is right.",
        )


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

    def looked_at(self, found: Node, arrays: list[Node], refs: Refs) -> Node:
        """Return the call of a rule for several arrays, with a look at what it returns."""
        if self.ours or self.sure:
            return found
        if self.partials:
            return call(refs.function(returned.partials), found, constant(len(arrays)))
        return call(refs.function(returned.cotangents), found, *map(clone, arrays))

    def one(self, found: Node, i: int, arrays: list[Node], refs: Refs) -> Node:
        """Return the call of a rule for one array, with a look at what it returns."""
        if not (self.ours or self.sure or self.partials):
            found = call(refs.function(returned.cotangent), found, clone(arrays[0]))
        return self.part(found, i, arrays, refs)

    def part(self, found: Node, i: int, arrays: list[Node], refs: Refs) -> Node:
        """Return what a rule returned for one of the arrays."""
        if not self.nothing[i]:
            return found
        if self.partials:
            return call(refs.function(returned.or_zero), found)
        return call(refs.function(returned.or_zeros), found, clone(arrays[i]))
