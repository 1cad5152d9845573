"""Values that are read once, where what they are made of is still what it was.

stopped = h; t = stopped; g = t.copy()      `stopped` is copied at once
"""

from __future__ import annotations

from s2sad.ir import program as P
from s2sad.ir.deeds import deed
from s2sad.ir.makers import uses_of
from s2sad.ir.program import Op, Var
from s2sad.primitives import language as L


def copied_at_once(block: P.Block, v: Var) -> bool:
    """Say whether all that is done with a value is that new memory is made of it, at once."""
    uses = uses_of(P.Program("", block, None))
    inside = [block, *(b for o in P.every(block) if not isinstance(o, Op) for b in P.blocks(o))]
    for b in inside:
        bound = [i for i, o in enumerate(b.ops) if v in o.outs]
        if bound:
            return _copied(b.ops[bound[0] + 1 :], v, uses)
    return False


def _copied(ops: tuple[P.Operation, ...], v: Var, uses: dict[Var, int]) -> bool:
    for operation in ops:
        if not isinstance(operation, Op):
            return False
        done = deed(operation)
        reads = v in map(P.variable, operation.operands)
        if reads and uses[v] == 1 and operation.primitive is L.SAME:
            (v,) = operation.outs
        elif reads:
            return uses[v] == 1 and done.fresh and not done.acts and not done.writes
        elif done.acts or done.writes:
            return False
    return False
