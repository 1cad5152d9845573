"""Which cotangents may be infinite: those of what comes into a steep operation, at its edge.

    y = np.maximum(x, 0.0)       where x < 0, y_bar is infinite, and y does not depend on x
    return np.sum(np.sqrt(y))    y_bar is 0.5 / sqrt(y)

A variable stands for all values that it takes.
"""

from __future__ import annotations

from s2sad.facts.activity import flows
from s2sad.facts.finite import Finite, assignments
from s2sad.nodes import names_read
from s2sad.stages import Activity, Function, KindFacts, Names


def infinite(function: Function, kinds: KindFacts, activity: Activity, finite: Finite) -> Names:
    """Return the variables whose cotangents may be infinite though the values are finite."""
    found: set[str] = set()
    steps: list[tuple[bool, set[str], set[str]]] = []
    for s, names, value in assignments(function, finite):
        operation = finite.operation(value)
        active = activity.before(s)
        steep = operation is not None and finite.steep(s, *operation, active)
        passed = flows(value, kinds) if value in kinds.of else names_read(value)
        steps.append((steep, {*names}, passed & active))
    grows = True
    while grows:
        grows = False
        for steep, targets, passed in steps:
            if (steep or targets & found) and not passed <= found:
                found |= passed
                grows = True
    return frozenset(found)
