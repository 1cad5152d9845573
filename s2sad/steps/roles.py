"""What each derived function is: the source it comes from, and the sweep it is or begins with."""

from __future__ import annotations

from s2sad.steps.derivation import Derivation
from s2sad.write.lines import BACKWARD, FORWARD, Role


def roles_of(d: Derivation) -> dict[str, Role]:
    """Return for each derived function its source, and the sweep it is, or begins with."""
    reverses = {p.reverse for p in d.pairs.values()}
    forwards = {p.forward for p in d.pairs.values()}
    roles = {}
    for node in d.functions:
        if node.name in d.stories:
            source = d.stories[node.name][0].function.source
            sweep = BACKWARD if node.name in reverses else FORWARD
            roles[node.name] = Role(source, sweep, node.name in reverses | forwards)
    return roles
