"""What the calls of derived text call, and what is known of that: never told by how a name reads.

np.add(x, y)       NumPy's function of that name, which has a rule: the result is new
mylib.add(x, y)    one of the user's: it may give back what it is given
x_bar.copy()       a method of an array, where x_bar is one
"""

from __future__ import annotations

import gast

from s2sad import kinds as K
from s2sad.kinds import Kind
from s2sad.nodes import Node


def part_kind(node: Node, owner: Kind | None) -> Kind | None:
    """Return the kind of a part of something, where that is of this kind."""
    if isinstance(node, gast.Attribute):
        return owner.at(node.attr) if isinstance(owner, K.Obj) else None
    if isinstance(owner, K.Array):
        return owner
    if not isinstance(owner, K.BuiltIn) or isinstance(node.slice, gast.Slice):
        return None
    return owner.at(getattr(node.slice, "value", K.MISSING))
