"""Dicts that one statement fills, with another key in each round: each place is written once.

    q = {}
    for k in list(p):        q = {k: f(p[k]) for k in p}
        q[k] = f(p[k])

What the place held before is nothing, so the backward sweep takes the cotangent and leaves it.
"""

from __future__ import annotations

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.identities import function_of
from s2sad.ir.program import Op, Operand
from s2sad.linear.operands import kind_of
from s2sad.linear.swapped import followed
from s2sad.linear.sweep_state import Sweep
from s2sad.primitives import language as L


def fills_once(sweep: Sweep, op: Op) -> bool:
    """Say whether an operation puts something into a new dict, each time under another key."""
    if op.primitive.form != "put item" or op not in sweep.written.order:
        return False
    owner, key, _ = op.operands
    v, order = followed(sweep, owner), sweep.written.order
    made = sweep.makers.get(v) if isinstance(v, P.Var) else None
    if made is None or made.primitive is not L.DICT or made.operands or made not in order:
        return False
    around, outer = order[op][1], order[made][1]
    loop = around[-1] if around else None
    if not isinstance(loop, P.For) or around[:-1] != outer or loop.target is not key:
        return False
    assert isinstance(owner, P.Var)
    return sweep.written.of(owner) == [op] and _is_of_distinct(sweep, loop.over)


def _is_of_distinct(sweep: Sweep, over: Operand) -> bool:
    """Say whether a loop meets nothing twice: the keys of a dict, or a range."""
    if isinstance(kind_of(over), K.AnyDict):
        return True
    made = sweep.makers.get(over) if isinstance(over, P.Var) else None
    if made is None or made.primitive is not L.CALL or not made.operands:
        return False
    fn, given = function_of(made.operands[0]), made.operands[1:]
    keys = fn is list and len(given) == 1 and isinstance(kind_of(given[0]), K.AnyDict)
    return fn is range or keys
