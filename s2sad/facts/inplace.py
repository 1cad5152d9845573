"""Say of augmented assignments whether they bind a name or change an array in place.

`A += v` reads the same for a number, which binds A anew, and for an array, which is changed. Once
kinds are known the second is written `A[...] += v`, which binds nothing; so a loop over the rows
of an array needs no second name for its row:

    for row_item in A:
        row = row_item           ->      for row in A:
        row /= np.sum(row)                   row[...] /= np.sum(row)
"""

from __future__ import annotations

import dataclasses
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.nodes import (
    Block,
    Node,
    block_writes,
    blocks_of,
    locate,
    name,
    names_written,
    rename,
    walk,
)
from s2sad.stages import Function, KindFacts


def in_place(function: Function, kinds: KindFacts) -> bool:
    """Rewrite the augmented assignments of arrays; say whether there were any."""
    return _block(function, function.node.body, kinds, undecided(function, kinds))


def undecided(function: Function, kinds: KindFacts) -> frozenset[str]:
    """Return the variables that are augmented where they may be a number or an array."""
    return frozenset(
        n.target.id
        for s in function.node.body
        for n in walk(s)
        if isinstance(n, gast.AugAssign) and isinstance(n.target, gast.Name)
        if isinstance(kinds.of.get(n.target), K.Union)
    )


def _block(function: Function, block: Block, kinds: KindFacts, unsure: frozenset[str]) -> bool:
    changed = False
    for s in block:
        if isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Name):
            if isinstance(kinds.of.get(s.target), K.Array) and s.target.id not in unsure:
                owner = locate(name(s.target.id), s.target)
                whole = gast.Subscript(owner, gast.Constant(Ellipsis, None), gast.Store())
                s.target = locate(whole, s.target)
                changed = True
        for part in blocks_of(s):
            changed = _block(function, part, kinds, unsure) or changed
        if isinstance(s, gast.For) and changed:
            _one_name(function, s)
    return changed


def _one_name(function: Function, loop: Node) -> None:
    """Let a loop bind a variable itself where the body does not bind it any more."""
    for first in list(loop.body):
        if not isinstance(first, gast.Assign) or not isinstance(first.value, gast.Name):
            return
        item, target = first.value.id, first.targets[0]
        if not isinstance(target, gast.Name) or item not in function.temps:
            return
        rest = [s for s in loop.body if s is not first]
        if item not in names_written(loop.target) or target.id in block_writes(rest):
            return
        loop.body.remove(first)
        table = {item: target.id}
        plan = function.loops[loop]
        for node in [loop.target, *plan.bindings, *rest]:
            rename(node, table)
        loops: Any = function.loops
        loops[loop] = dataclasses.replace(plan)
