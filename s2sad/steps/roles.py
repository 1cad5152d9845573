"""What each derived function is: the source it comes from, and the sweep it is or begins with."""

from __future__ import annotations

import gast

from s2sad.steps.derivation import Analysed, Derivation
from s2sad.write.lines import BACKWARD, FORWARD, Role


def names_of_user(a: Analysed) -> frozenset[str]:
    """Return the names of a function's variables that the user wrote."""
    function = a.function
    written = {n.id for n in gast.walk(function.source.node) if isinstance(n, gast.Name)}
    return function.locals - function.temps - ({function.result} - written)


def roles_of(d: Derivation) -> dict[str, Role]:
    """Return for each derived function its source, and the sweep it is, or begins with."""
    forwards, reverses = {*d.reverses}, {*d.reverses.values()}
    roles = {}
    for node in d.functions:
        if node.name in d.stories:
            source = d.stories[node.name][0].function.source
            sweep = BACKWARD if node.name in reverses else FORWARD
            roles[node.name] = Role(source, sweep, node.name in reverses | forwards)
    return roles
