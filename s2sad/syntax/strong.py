"""Tests of derived text for a zero that has to stay one where a derivative is infinite.

    0.5 * r_bar / np.where(r_bar == 0, 1.0, r)

The 0 of such a test is marked, so that it is known among those of the user.
"""

from __future__ import annotations

import collections
from typing import Any

import gast

from s2sad.names import Names
from s2sad.nodes import Block, Node, assign, compare, name, root_name, walk

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


def _test_of(node: Node) -> Node:
    """Return by what a number or an array is chosen, None where nothing is."""
    if isinstance(node, gast.IfExp):
        return node.test
    if isinstance(node, gast.Call) and len(node.args) == 3:
        return node.args[0]
    return None


def chosen_once(
    pre: Block, values: list[Node | None], names: Names
) -> tuple[Block, list[Node | None]]:
    """Give a name to what such a test chooses, where a rule reads it more than once.

        1.0 / np.sqrt(1.0 - np.where(y_bar == 0, 0.0, x) * np.where(y_bar == 0, 0.0, x))

    ->  x_safe = np.where(y_bar == 0, 0.0, x)
        1.0 / np.sqrt(1.0 - x_safe * x_safe)
    """
    made = [*pre, *(v for v in values if v is not None)]
    chosen = [n for part in made for n in walk(part) if _chooses(n)]
    count = collections.Counter(map(gast.dump, chosen))
    named: dict[str, str] = {}
    first: Block = []
    for n in chosen:
        text = gast.dump(n)
        if count[text] > 1 and text not in named:
            operand = n.orelse if isinstance(n, gast.IfExp) else n.args[2]
            root = (root_name(operand) or "value").partition("@")[0].rstrip("_0123456789")
            named[text] = names.fresh(f"{root or 'value'}_safe")
            first.append(assign(named[text], n))
    if not named:
        return pre, values
    put = _Named(named)
    pre = [put.visit(s) for s in pre]
    return [*first, *pre], [v if v is None else put.visit(v) for v in values]


def _chooses(node: Node) -> bool:
    test = _test_of(node)
    return test is not None and any(map(_is_test, walk(test)))


class _Named(gast.NodeTransformer):  # type: ignore[misc]
    def __init__(self, named: dict[str, str]) -> None:
        self.named = named

    def visit(self, node: Node) -> Any:
        if _chooses(node) and gast.dump(node) in self.named:
            return name(self.named[gast.dump(node)])
        return self.generic_visit(node)
