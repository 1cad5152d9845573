"""The rule of a call is tried on samples of its arguments, where it is somebody's own."""

from __future__ import annotations

from typing import Any

from s2sad import kinds as K
from s2sad import registry
from s2sad.errors import UnsupportedError
from s2sad.modes.bind import BoundCall
from s2sad.nodes import Node
from s2sad.rehearsed import Trial, wrong_with


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
