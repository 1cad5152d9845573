"""How arrays lie in memory, where a program asks: copies of its arguments then lie as those do.

x.ravel("A"), x.reshape(n, order=order), x.flags, x.strides, np.isfortran(x)
"""

from __future__ import annotations

from collections.abc import Iterable

import gast

from s2sad.nodes import Node, walk
from s2sad.stages import Function

_ASKING = frozenset({"flags", "strides", "isfortran", "__array_interface__", "ctypes"})
_BY_LAYOUT = ("A", "K")
_PLAIN = ("C", "F", None)


def asks_for_layout(functions: Iterable[Function]) -> bool:
    """Say whether what some function does may depend on how an array lies in memory.

    What BLAS does to the last bit is not meant.
    """
    return any(_asks(n) for f in functions for n in walk(f.node))


def _asks(n: Node) -> bool:
    if isinstance(n, gast.Attribute):
        return n.attr in _ASKING
    if isinstance(n, gast.Name):
        return n.id in _ASKING
    if not isinstance(n, gast.Call):
        return False
    given = [*n.args, *(k.value for k in n.keywords)]
    if any(isinstance(a, gast.Constant) and a.value in _BY_LAYOUT for a in given):
        return True
    orders = [k.value for k in n.keywords if k.arg == "order"]
    return any(not (isinstance(o, gast.Constant) and o.value in _PLAIN) for o in orders)
