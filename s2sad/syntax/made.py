"""Which variables hold structures that a function makes itself."""

from __future__ import annotations

import gast

from s2sad.nodes import Node, all_inside, blocks_of, names_written
from s2sad.stages import Function, KindFacts


def made_here(function: Function, kinds: KindFacts, variable: str) -> bool:
    """Say whether a variable is always a list or dict that the function makes itself.

    Whatever is put into it: it is none of the structures that the function is given.
    """
    if variable in function.params or variable not in function.locals:
        return False
    reached = (s for s in all_inside(function.node.body) if s in kinds.before)
    made = [s for s in reached if variable in _binds(function, s)]
    return bool(made) and all(
        isinstance(s, gast.Assign)
        and isinstance(s.targets[0], gast.Name)
        and isinstance(s.value, gast.List | gast.Dict)
        for s in made
    )


def _binds(function: Function, s: Node) -> set[str]:
    """Return the names that a statement binds, before its blocks and by its header."""
    if isinstance(s, gast.For):
        plan = function.loops.get(s)
        bindings = plan.bindings if plan is not None else ()
        return names_written(s.target).union(*map(names_written, bindings))
    if isinstance(s, gast.With):
        return {n for i in s.items if i.optional_vars for n in names_written(i.optional_vars)}
    if blocks_of(s):
        return set() if isinstance(s, gast.If | gast.While) else names_written(s)
    return names_written(s)
