"""What only the next round reads is not computed in the last one, where it costs a matrix product.

for i in range(n - 1, -1, -1):            for i in range(n - 1, -1, -1):
    W_bar[i] = h_bar @ x.T         ->         W_bar[i] = h_bar @ x.T
    h_bar = W[i].T @ h_bar                    if i > 0:
                                                  h_bar = W[i].T @ h_bar
"""

from __future__ import annotations

from collections.abc import Mapping

import gast

from s2sad import kinds as K
from s2sad.kinds import Kind
from s2sad.nodes import (
    Block,
    Node,
    blocks_of,
    compare,
    constant,
    name,
    names_read,
    names_written,
    number,
    walk,
)
from s2sad.polish.effects import Pure, pure_expression
from s2sad.syntax.flow import live_in

Names = frozenset[str]


def skip_last(
    block: Block, live_out: Names, movable: Names, kinds: Mapping[str, Kind], pure: Pure
) -> Block:
    """Return a block in which loops that count down to 0 leave out what their last round wastes."""
    after: dict[object, Names] = {}
    live_in(block, live_out, lambda s, live: after.__setitem__(s, live))
    worker = _Skipper(after, movable, kinds, pure)
    worker.block(block)
    return block


class _Skipper:
    def __init__(
        self,
        after: Mapping[object, Names],
        movable: Names,
        kinds: Mapping[str, Kind],
        pure: Pure,
    ) -> None:
        self.after = after
        self.movable = movable
        self.kinds = kinds
        self.pure = pure

    def block(self, block: Block) -> None:
        for s in block:
            for part in blocks_of(s):
                self.block(part)
            if isinstance(s, gast.For) and _counts_to_zero(s):
                self.loop(s)

    def loop(self, loop: Node) -> None:
        """Put what the last round wastes behind a test of the index."""
        body = loop.body
        for position, s in enumerate(body):
            if self._is_heavy(s) and s.targets[0].id not in self.after.get(loop, self.movable):
                if not any(s.targets[0].id in names_read(later) for later in body[position + 1 :]):
                    test = compare(name(loop.target.id), gast.Gt, constant(0))
                    body[position] = gast.If(test, [s], [])

    def _is_heavy(self, s: Node) -> bool:
        """Say whether a statement gives a name of ours a product of matrices."""
        if not isinstance(s, gast.Assign) or not isinstance(s.targets[0], gast.Name):
            return False
        kind = self.kinds.get(s.targets[0].id)
        return (
            s.targets[0].id in self.movable
            and isinstance(kind, K.Array)
            and kind.rank >= 2
            and any(isinstance(n, gast.BinOp) and isinstance(n.op, gast.MatMult) for n in walk(s))
            and pure_expression(s.value, self.pure)
        )


def _counts_to_zero(loop: Node) -> bool:
    """Say whether a loop runs over range(..., -1, -1) and leaves its index alone."""
    span = loop.iter
    return (
        isinstance(loop.target, gast.Name)
        and isinstance(span, gast.Call)
        and isinstance(span.func, gast.Name)
        and span.func.id == "range"
        and len(span.args) == 3
        and [number(a) for a in span.args[1:]] == [-1, -1]
        and not any(loop.target.id in names_written(s) for s in loop.body)
    )
