"""What a try has done to tangents where an exception leaves it in its middle.

try:
    u[0] = x               done, or not: only the run could tell
    y = math.log(x)
except ValueError: ...

Before: the body of a try behind which the program goes on. After: the same, or a stop where it
writes memory of tangents, or binds what others look at, and may be left behind that. Memory that
the body makes, and that nobody else knows while it runs, is gone where the body is left.
"""

from __future__ import annotations

from dataclasses import dataclass

from s2sad.ir import program as P
from s2sad.ir.program import Op, Var
from s2sad.linear.sweep_state import Sweep
from s2sad.linear.tangent_table import NotYet

_CALM = ("same", "tuple", "list", "look", "bind", "discard", "closure")
_IN_PLACE = ("augmented", "augmented item", "augmented field")


def check_half_done(sweep: Sweep, body: P.Block) -> None:
    """Stop at a body that an exception may leave behind what it does to tangents."""
    _Body(sweep, _known_outside(sweep, body)).left(body, None)


def _known_outside(sweep: Sweep, body: P.Block) -> frozenset[Var | None]:
    """Return the classes of memory that are known outside of a body while it runs."""
    inside, met = {*body.params}, set[Var]()
    for op in P.every(body):
        inside |= {*op.outs, *P.bound(op)}
        inner = () if isinstance(op, Op) else P.blocks(op)
        inside |= {v for b in inner for v in b.params}
        read = (*P.operands(op), *(o for b in inner for o in b.end.results))
        met |= {v for v in map(P.variable, read) if v is not None}
    outside = {v for v in met if v not in inside or v.cell}
    for op in P.every(body):
        if isinstance(op, Op) and any(p.object in outside for p in op.writes):
            outside |= {v for v in map(P.variable, P.operands(op)) if v is not None}
    return frozenset(sweep.written.memory.of(sweep.values.get(v, v)) for v in outside)


@dataclass(frozen=True)
class _Body:
    """The body of a try, with the classes of memory that are known `outside` while it runs."""

    sweep: Sweep
    outside: frozenset[Var | None]

    def left(self, block: P.Block, done: P.Code) -> P.Code:
        """Walk a block; return the statement that has done something last, here or before."""
        for op in block.ops:
            done = self._by_one(op, done) if isinstance(op, Op) else self._region(op, done)
        if done is not None and block.end.how == "raise":
            raise NotYet("a try that may be left behind a write")
        return done

    def _region(self, region: P.Region, done: P.Code) -> P.Code:
        if isinstance(region, P.Try):
            body = self.left(region.body, done)  # no exception leaves it behind what it has done
            ends = [self.left(h.body, done) for h in region.handlers]
            ends.append(self.left(region.orelse, body))
            return self.left(region.final, _any(ends))
        turns = 2 if isinstance(region, P.For | P.While | P.Collect) else 1
        for _ in range(turns):
            done = _any([self.left(b, done) for b in P.blocks(region)]) or done
        if done is not None and isinstance(region, P.With):
            raise NotYet("a try that may be left behind a write")
        return done

    def _by_one(self, op: Op, done: P.Code) -> P.Code:
        form = op.primitive.form
        if self.sweep.is_linear(op):
            written = [p.object for p in op.writes if p.object in self.sweep.values]
            if written and form == "tangent of call":
                raise NotYet("a call in a try that writes memory")
            seen = any(isinstance(dot, Var) and self._is_known(dot) for dot in written)
            return (op.origin or op) if seen else done
        same = op.origin is done and form in _IN_PLACE  # of one statement: the tangent comes first
        if done is not None and not same and form not in _CALM:
            raise NotYet("a try that may be left behind a write")
        return done

    def _is_known(self, dot: Var) -> bool:
        """Say whether memory, by its tangent, is known outside while the body runs."""
        memory = self.sweep.written.memory
        root = memory.of(self.sweep.values[dot])
        return dot.cell or root is None or root in self.outside or memory.is_outside(root)


def _any(ends: list[P.Code]) -> P.Code:
    return next((end for end in ends if end is not None), None)
