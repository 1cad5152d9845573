"""What a try has done to tangents where an exception leaves it in its middle.

try:
    u[0] = x               done, or not: only the run could tell
    y = math.log(x)
except ValueError: ...

Before: the body of a try behind which the program goes on. After: the same, or a stop where it
writes memory of tangents, or binds what others look at, and may be left behind that.
"""

from __future__ import annotations

from s2sad.ir import program as P
from s2sad.ir.program import Op
from s2sad.linear.sweep_state import Sweep
from s2sad.linear.tangent_table import NotYet

_CALM = ("same", "tuple", "list", "look", "bind", "discard", "closure")
_IN_PLACE = ("augmented", "augmented item", "augmented field")


def check_half_done(sweep: Sweep, body: P.Block) -> None:
    """Stop at a body that an exception may leave behind what it does to tangents."""
    _left(sweep, body, None)


def _left(sweep: Sweep, block: P.Block, done: P.Code) -> P.Code:
    """Walk a block; return the statement that has done something last, here or before."""
    for op in block.ops:
        done = _by_one(sweep, op, done) if isinstance(op, Op) else _region(sweep, op, done)
    if done is not None and block.end.how == "raise":
        raise NotYet("a try that may be left behind a write")
    return done


def _region(sweep: Sweep, region: P.Region, done: P.Code) -> P.Code:
    if isinstance(region, P.Try):
        body = _left(sweep, region.body, done)  # no exception leaves it where it has done something
        ends = [_left(sweep, h.body, done) for h in region.handlers]
        ends.append(_left(sweep, region.orelse, body))
        return _left(sweep, region.final, _any(ends))
    turns = 2 if isinstance(region, P.For | P.While | P.Collect) else 1
    for _ in range(turns):
        done = _any([_left(sweep, b, done) for b in P.blocks(region)]) or done
    if done is not None and isinstance(region, P.With):
        raise NotYet("a try that may be left behind a write")
    return done


def _any(ends: list[P.Code]) -> P.Code:
    return next((end for end in ends if end is not None), None)


def _by_one(sweep: Sweep, op: Op, done: P.Code) -> P.Code:
    form = op.primitive.form
    if sweep.is_linear(op):
        acts = any(p.object in sweep.values for p in op.writes)
        if acts and form == "tangent of call":
            raise NotYet("a call in a try that writes memory")
        return (op.origin or op) if acts else done
    same = op.origin is done and form in _IN_PLACE  # of one statement: the tangent comes first
    if done is not None and not same and form not in _CALM:
        raise NotYet("a try that may be left behind a write")
    return done
