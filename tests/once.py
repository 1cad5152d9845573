"""docs/second.md: the rules of which there are calls that are not differentiated twice, and why."""

import importlib

import numpy as np
import tables

from s2sad import registry

HEAD = """Rules are differentiated as other functions are, so second derivatives go through all
that has a rule; the functions below have calls where they are refused. Those are errors of s2sad's
that say where, as ever. `check_rule` holds every other rule to it: a refusal that is not declared
(`once="why"`, docs/rules.md) fails there.
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
    lines = ["# What is not differentiated twice", "", tables.MADE, "", *HEAD.splitlines(), ""]
    lines += ["| calls of | are refused where |", "|---|---|"]
    listed = [(", ".join(f"`{n}`" for n in sorted(names)), why) for why, names in rows.items()]
    lines += [f"| {names} | {why} |" for names, why in sorted(listed)]
    halves = [name_of(r, homes) for r in registry.all_rules() if tables.is_ours(r) and is_half(r)]
    lines += ["", "Without a pushforward, and so without a second derivative: "]
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
