"""Rules of somebody's own are tried on samples of a call's arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from s2sad import kinds as K
from s2sad import registry
from s2sad.errors import UnsupportedError
from s2sad.modes.bind import BoundCall
from s2sad.modes.guarded import Site
from s2sad.nodes import Node, attribute, call, clone
from s2sad.rulebook.rehearsed import WRITES, Trial, asks_for_none, wrong_with


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
        frozenset(n for n, a in bound.arrays if worker.is_active(a)),
    )
    found = useless(trial)
    if found is not None:
        raise worker.refuse(UnsupportedError, node, *found)


def useless(trial: Trial) -> tuple[str, str] | None:
    """Return why a rule returns for samples what can be no derivative, and what to do about it."""
    why = wrong_with(trial)
    if why is None:
        return None
    label = label_of(trial.fn)
    if why.startswith(WRITES):
        return (
            f"This call of {label} cannot be differentiated: it {why}.",
            "Let the function return new arrays, or pass it a copy: a.copy().",
        )
    return (
        f"The rule {getattr(trial.rule, '__name__', '')} of {label} does not fit this call: {why}.",
        f"Correct the rule: s2sad.testing.check_rule({label}, ...) tests it.",
    )


def not_taken(fn: object, rule: Callable[..., object], why: str) -> tuple[str, str]:
    """Return the words about a call that a rule does not take, and what to do about it."""
    remedy = "Leave that argument out, or make the inputs of the call Const."
    if not registry.is_ours(rule):
        remedy = (
            "Give the rule a parameter of that name; the rule returns None for parameters that "
            "are not arrays."
        )
    return f"This call of {label_of(fn)} cannot be differentiated: {why}.", remedy


def refused(fn: object, why: str) -> tuple[str, str]:
    """Return the words about a call that a rule refuses, and what to do about it."""
    return (
        f"This call of {label_of(fn)} cannot be differentiated: {why}.",
        "Write the call with other settings, or make its inputs Const.",
    )


def without(fn: object, word: str) -> tuple[str, str]:
    """Return the words about a rule that lacks something, and what to do about it."""
    rule = registry.rule_for(fn)
    named = label_of(fn) if rule is None else rule.name
    return f"The rule of {named} has no {word}.", f"Write one with @s2sad.{word}({named})."


def label_of(fn: object) -> str:
    """Return what a function is called in messages."""
    return str(getattr(fn, "__name__", repr(fn)))


def as_result(site: Site, rule: Callable[..., Any]) -> Node:
    """Return the cotangent of a result for a rule of somebody's own: of a named tuple, one."""
    named = isinstance(site.kind, K.Tuple) and site.kind.cls is not None
    if registry.is_ours(rule) or not named:
        return clone(site.bar)
    return call(attribute(clone(site.out), "_make"), clone(site.bar))


def wants_zeros(push: Callable[..., Any]) -> bool:
    """Say whether a pushforward gets zeros for what does not move: it does not ask for None."""
    return not registry.is_ours(push) and not asks_for_none(push)
