"""A backward loop that reads no index need not count down.

for _ in range(n - 1, -1, -1):      for _ in range(n):
    x_bar = 2.0 * x_bar                 x_bar = 2.0 * x_bar
"""

from __future__ import annotations

from typing import Any

import gast

from s2sad.nodes import Block, Node, blocks_of, call, constant, names_read, number


def rounds(block: Block) -> Block:
    """Return a block whose loops count down only where somebody reads the count."""
    read: list[str] = []
    for s in block:
        read += names_read(s)
    _visit(block, set(read))
    return block


def _visit(block: Block, read: set[str]) -> None:
    for s in block:
        for part in blocks_of(s):
            _visit(part, read)
        if isinstance(s, gast.For) and isinstance(s.target, gast.Name):
            count = _counted_down(s.iter)
            if count is not None and s.target.id not in read:
                s.iter = call("range", count)


def _counted_down(node: Node) -> Node | None:
    """Return n for `range(n - 1, -1, -1)`."""
    if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Name):
        return None
    if node.func.id != "range" or len(node.args) != 3:
        return None
    first, stop, step = node.args
    if number(stop) != -1 or number(step) != -1:
        return None
    value: Any = number(first)
    if isinstance(value, int):
        return constant(value + 1)
    if isinstance(first, gast.BinOp) and isinstance(first.op, gast.Sub):
        return first.left if number(first.right) == 1 else None
    return None
