"""Derived code leaves the flags of arrays alone.

    z.setflags(write=False)      goes: what a forward sweep overwrites is put back all the same

Before: the operations of a forward sweep. After: the same without calls that only change whether an
array may be written. Nobody but the plain function may change that for what a caller gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.deeds import kind_of
from s2sad.ir.program import Op, Operand
from s2sad.ir.rebuilt import with_blocks
from s2sad.primitives import language as L


def without_flags(operations: Sequence[P.Operation]) -> tuple[P.Operation, ...]:
    """Return operations that change no flags of arrays; the calls gave None."""
    ops: list[P.Operation] = []
    given: set[Operand] = set()
    for op in operations:
        if not isinstance(op, Op):
            ops.append(with_blocks(op, lambda b: replace(b, ops=without_flags(b.ops))))
        elif _sets_flags(op):
            given.update(op.outs)
            nothing = (P.Const(None),)
            ops += [Op((v,), L.SAME, nothing, origin=op.origin) for v in op.outs]
        elif op.primitive is not L.DISCARD or given.isdisjoint(op.operands):
            ops.append(op)
    return tuple(ops)


def _sets_flags(op: Op) -> bool:
    if op.primitive.form != "method" or not isinstance(kind_of(op.operands[0]), K.Array):
        return False
    return getattr(np.ndarray, op.primitive.word, None) is np.ndarray.setflags
