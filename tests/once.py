"""docs/second.md: the rules with calls that s2sad does not differentiate twice, and why."""

import importlib

import numpy as np
import tables

from s2sad import registry

HEAD = """In a second derivative, s2sad differentiates rules like other functions, so functions with
a rule have second derivatives. The functions below are exceptions: s2sad refuses the second
derivative of some of their calls, with an `s2sad.Error` that names the line. A rule declares such
calls by `once="why"` (docs/rules.md); `check_rule` fails if a rule without this declaration is
refused.
"""


def page():
    """Return docs/second.md."""
    registry.load_rules()
    homes = [importlib.import_module(f"scipy.{part}") for part in tables.SCIPY]
    registry.load_rules()
    rows = {}
    for rule in registry.all_rules():
        if tables.is_ours(rule) and rule.once:
            rows.setdefault(rule.once, []).append(name_of(rule, homes))
    lines = ["# What is not differentiated twice", ""]
    lines += [*tables.made_from("the registered rules"), "", *HEAD.splitlines(), ""]
    lines += ["| calls of | are refused because |", "|---|---|"]
    listed = [(", ".join(f"`{n}`" for n in sorted(names)), why) for why, names in rows.items()]
    lines += [f"| {names} | {why} |" for names, why in sorted(listed)]
    halves = [name_of(r, homes) for r in registry.all_rules() if tables.is_ours(r) and is_half(r)]
    lines += [
        "",
        "Functions without a second derivative, because their rule serves only one mode: ",
    ]
    lines[-1] += (", ".join(f"`{n}`" for n in sorted(halves)) or "none") + "."
    return "\n".join(lines) + "\n"


def is_half(rule):
    """Say whether a rule is for one mode only."""
    if rule.zero or rule.partials is not None:
        return False
    return (rule.pullback is None) is not (rule.pushforward is None)


def name_of(rule, homes):
    """Return how a reader writes the function of a rule."""
    for home in homes:
        if getattr(home, rule.name, None) is rule.fn:
            return f"{home.__name__}.{rule.name}"
    found = tables.spelled(rule.fn)
    if found is None and getattr(np.linalg, rule.name, None) is rule.fn:
        found = f"np.linalg.{rule.name}"
    return found or rule.name
