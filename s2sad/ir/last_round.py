"""What only the next round reads is not computed in the last one, where it costs a matrix product.

    for t in range(n - 1, -1, -1):            for t in range(n - 1, -1, -1):
        W_bar[t] = h_bar @ x.T                    W_bar[t] = h_bar @ x.T
        h_bar = W[t].T @ h_bar                    if t > 0:
                                                      h_bar = W[t].T @ h_bar

Before: a derived program. After: the same, where nobody reads behind a loop that counts down to 0
what the loop hands on.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.makers import uses_of
from s2sad.ir.program import Op, Operand, Var
from s2sad.ir.rebuilt import with_blocks
from s2sad.primitives import language as L


def without_last_products(program: P.Program) -> P.Program:
    """Return a program whose loops leave out the products that their last round wastes."""
    every = [op for op in P.every(program.block) if isinstance(op, Op)]
    if not any(op.primitive is L.INFIX["MatMult"] for op in every):
        return program
    worker = _Worker({v: op for op in every for v in op.outs}, uses_of(program))
    return replace(program, block=worker.block(program.block))


@dataclass(frozen=True)
class _Worker:
    made: dict[Var, Op]
    uses: Counter[Var]

    def block(self, block: P.Block) -> P.Block:
        ops = (o if isinstance(o, Op) else self.region(o) for o in block.ops)
        return replace(block, ops=tuple(ops))

    def region(self, region: P.Region) -> P.Region:
        region = with_blocks(region, self.block)
        if not isinstance(region, P.For) or not isinstance(region.target, Var):
            return region
        if region.target.cell or not self.counts_to_zero(region.over):
            return region
        body = region.body
        places = {r: k for k, r in enumerate(body.end.results) if body.end.how == "next"}
        wasted = {
            op: body.params[places[op.outs[0]]]
            for op in body.ops
            if isinstance(op, Op) and self.is_heavy(op) and self.is_left(region, op, places)
        }
        if not wasted:
            return region
        ops, results = list[P.Operation](), dict[Operand, Operand]()
        views = [op for op in body.ops if isinstance(op, Op) and self.is_view(op)]
        for op in body.ops:
            if op in views and any(op.outs[0] in heavy.operands for heavy in wasted):
                continue
            if not isinstance(op, Op) or op not in wasted:
                ops.append(op)
                continue
            test, out = Var("", K.BOOL), Var(op.outs[0].name, op.outs[0].kind)
            ops.append(Op((test,), L.compare("Gt"), (region.target, P.Const(0)), origin=op.origin))
            inner = [v for v in views if v.outs[0] in op.operands]
            quiet = [replace(o, origin=_without_heading(o.origin)) for o in (*inner, op)]
            then = P.Block((), tuple(quiet), P.End("next", op.outs))
            orelse = P.Block((), (), P.End("next", (wasted[op],)))
            ops.append(P.If((out,), test, then, orelse, "if", op.origin))
            results[op.outs[0]] = out
        end = replace(body.end, results=tuple(results.get(r, r) for r in body.end.results))
        return replace(region, body=P.Block(body.params, tuple(ops), end))

    def counts_to_zero(self, over: Operand) -> bool:
        """Say whether this is range(..., -1, -1)."""
        op = self.made.get(over) if isinstance(over, Var) else None
        if op is None or op.primitive is not L.CALL or len(op.operands) != 4 or op.settings:
            return False
        fn, _, *ends = op.operands
        known = fn.kind if isinstance(fn, P.Outer) else None
        return known == K.Known(range) and all(e == P.Const(-1) for e in ends)

    def is_heavy(self, op: Op) -> bool:
        """Say whether an operation is a product of matrices, and nobody else reads it."""
        if op.primitive is not L.INFIX["MatMult"] or self.uses[op.outs[0]] != 1:
            return False
        kind = op.outs[0].kind
        return isinstance(kind, K.Array) and kind.rank >= 2

    def is_view(self, op: Op) -> bool:
        """Say whether an operation turns an array, and one product alone reads it."""
        return op.primitive is L.field("T") and self.uses[op.outs[0]] == 1

    def is_left(self, loop: P.For, op: Op, places: dict[Operand, int]) -> bool:
        """Say whether a value is handed to the next round, and nobody reads it behind the loop."""
        k = places.get(op.outs[0])
        if k is None:
            return False
        return k >= len(loop.outs) or not self.uses[loop.outs[k]]


def _without_heading(origin: P.Code) -> P.Code:
    """Return an origin of which nothing is said where the statement stands: it is said above."""
    return replace(origin, heading=None) if isinstance(origin, P.Undone) else origin
