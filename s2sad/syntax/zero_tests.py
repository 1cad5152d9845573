"""Tests of derived text for a zero that has to stay one where a derivative is infinite.

    0.5 * r_bar / np.where(r_bar == 0, 1.0, r)

The 0 of such a test is marked, so that it is known among those of the user.
"""

from __future__ import annotations

import gast

from s2sad.nodes import Node, compare, walk

STRONG = "strong"
"""The `kind` of the 0 in such a test."""


def is_zero(value: Node) -> Node:
    """Return the test `value == 0`."""
    return compare(value, gast.Eq, gast.Constant(0, STRONG))


def zero_tests(node: Node) -> list[Node]:
    """Return the tests for such a zero in an expression or a statement."""
    return [n for n in walk(node) if _is_test(n)]


def _is_test(node: Node) -> bool:
    if not isinstance(node, gast.Compare) or not isinstance(node.comparators[0], gast.Constant):
        return False
    return bool(node.comparators[0].kind == STRONG)
