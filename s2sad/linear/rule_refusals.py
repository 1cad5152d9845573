"""What is said of rules that do not fit a call; those of somebody's own are tried on samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from s2sad import registry
from s2sad.rulebook.rehearsed import WRITES, Trial, asks_for_none, wrong_with


class RuleRefusal(Exception):
    """The rule itself refuses these settings; the message says what is not possible."""


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


def wants_zeros(push: Callable[..., Any]) -> bool:
    """Say whether a pushforward gets zeros for what does not move: it does not ask for None."""
    return not registry.is_ours(push) and not asks_for_none(push)


def label_of(fn: object) -> str:
    """Return what a function is called in messages."""
    return str(getattr(fn, "__name__", repr(fn)))
