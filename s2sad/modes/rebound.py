"""Names outside that a function binds: its derivative leaves them as a plain call leaves them.

nonlocal n                     nonlocal n
n += 1                         n += 1
y = x * n              ->      y = x * n
                               n_0 = n
                               ...
                               x_bar = y_bar * n_0
"""

from __future__ import annotations

import gast

from s2sad.names import Names
from s2sad.nodes import Block, assign, block_writes, name, rename
from s2sad.stages import Function
from s2sad.syntax.flow import live_in


def rebound_outside(function: Function) -> frozenset[str]:
    """Return the names of its surroundings that a function binds anew."""
    found: set[str] = set()
    for s in function.node.body:
        if isinstance(s, gast.Nonlocal | gast.Global):
            found |= set(s.names)
    return frozenset(found)


def own_names(function: Function, forward: Block, backward: Block, names: Names) -> dict[str, str]:
    """Let the backward sweep bind names of its own where it undoes what stands outside.

    What the function leaves there stays as it left it.
    """
    table: dict[str, str] = {}
    live = live_in(backward, frozenset())
    used = block_writes(backward) | live
    for n in sorted(rebound_outside(function) & used):
        table[n] = names.numbered(n)
        if n in live:
            forward.append(assign(table[n], name(n)))
    for s in backward if table else ():
        rename(s, table)
    return table
