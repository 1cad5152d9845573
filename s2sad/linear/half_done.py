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

from s2sad.errors import Error
from s2sad.ir import program as P
from s2sad.ir.memories import Memories, memories
from s2sad.ir.program import Op, Var
from s2sad.ir.rebuilt import with_blocks
from s2sad.linear.sweep_state import Sweep
from s2sad.linear.tangent_table import Table
from s2sad.primitives import language as L

_CALM = ("same", "tuple", "list", "look", "bind", "discard", "closure")
_IN_PLACE = ("augmented", "augmented item", "augmented field")


def check_half_done(sweep: Sweep, region: P.Try, table: Table) -> None:
    """Stop at a body that an exception may leave behind what it does to tangents."""
    _of_body(sweep, region, table).left(region.body, None)


def _of_body(sweep: Sweep, region: P.Try, table: Table) -> _Body:
    """Return a body with what is known of its memory while it runs, not of what becomes of it.

    To give memory to others is a deed as well, of which its tangents tell.
    """
    body = region.body
    inside, met = {*body.params}, set[Var]()
    for op in P.every(body):
        inside |= {*op.outs, *P.bound(op)}
        inner = () if isinstance(op, Op) else P.blocks(op)
        inside |= {v for b in inner for v in b.params}
        read = (*P.operands(op), *(o for b in inner for o in b.end.results))
        met |= {v for v in map(P.variable, read) if v is not None}
    outside = {v for v in met if v not in inside or v.cell}
    memory = memories(P.Program("", _of_values(sweep, P.Block((), body.ops, body.end)), None))
    known = frozenset(memory.of(sweep.values.get(v, v)) for v in outside)
    return _Body(sweep, memory, known, table, region.origin)


def _of_values(sweep: Sweep, block: P.Block) -> P.Block:
    """Return a block without operations on tangents, and without what binds cells.

    The memory of tangents is that of the values, and what a cell gets is known from then on.
    """
    ops: list[P.Operation] = []
    for op in block.ops:
        if not isinstance(op, Op):
            ops.append(with_blocks(op, lambda b: _of_values(sweep, b)))
        elif not sweep.is_linear(op) and op.primitive is not L.BIND:
            ops.append(op)
    return P.Block(block.params, tuple(ops), block.end)


@dataclass(frozen=True)
class _Done:
    """What a statement has done: it has bound a variable anew, or has written into its memory."""

    at: P.Code
    name: str
    bound: bool


@dataclass(frozen=True)
class _Body:
    """The body of a try, and which classes of its memory are known `outside` while it runs."""

    sweep: Sweep
    memory: Memories
    outside: frozenset[Var | None]
    table: Table
    origin: P.Code

    def refused(self, done: _Done) -> Error:
        """Return an error that says what an exception may leave half done."""
        if done.bound:
            return self.table.cannot(
                self.origin,
                f"An exception may leave this try after it has bound `{done.name}`: s2sad cannot "
                "tell how far the try got, and the result depends on the names that it binds.",
                f"Bind `{done.name}` before the try or in a try of its own, or use another name "
                "there.",
            )
        return self.table.cannot(
            done.at,
            f"The derivative depends on `{done.name}`, which is written in place in a try: an "
            "exception may leave the try after this write, and s2sad cannot tell how far it got.",
            "Compute the new values in the try, and write them after it.",
        )

    def left(self, block: P.Block, done: _Done | None) -> _Done | None:
        """Walk a block; return what a statement has done last, here or before."""
        for op in block.ops:
            done = self._by_one(op, done) if isinstance(op, Op) else self._region(op, done)
        if done is not None and block.end.how == "raise":
            raise self.refused(done)
        return done

    def _region(self, region: P.Region, done: _Done | None) -> _Done | None:
        if isinstance(region, P.Try):
            body = self.left(region.body, done)  # no exception leaves it behind what it has done
            ends = [self.left(h.body, done) for h in region.handlers]
            ends.append(self.left(region.orelse, body))
            return self.left(region.final, _any(ends))
        turns = 2 if isinstance(region, P.For | P.While | P.Collect) else 1
        for _ in range(turns):
            done = _any([self.left(b, done) for b in P.blocks(region)]) or done
        if done is not None and isinstance(region, P.With):
            raise self.refused(done)
        return done

    def _by_one(self, op: Op, done: _Done | None) -> _Done | None:
        form = op.primitive.form
        if self.sweep.is_linear(op):
            written = [p.object for p in op.writes if p.object in self.sweep.values]
            met = [dot for dot in written if isinstance(dot, Var)]
            if met and form == "tangent of call":
                raise self.refused(self._done(op, met[0]))
            known = next(filter(self._is_known, met), None)
            return done if known is None else self._done(op, known)
        # In one statement the tangent comes first.
        same = done is not None and op.origin is done.at and form in _IN_PLACE
        if done is not None and not same and form not in _CALM:
            raise self.refused(done)
        return done

    def _done(self, op: Op, dot: Var) -> _Done:
        value = self.sweep.values[dot]
        return _Done(op.origin or op, value.name, value.cell)

    def _is_known(self, dot: Var) -> bool:
        """Say whether memory, by its tangent, is known outside while the body runs."""
        root = self.memory.of(self.sweep.values[dot])
        return dot.cell or root is None or root in self.outside or self.memory.is_outside(root)


def _any(ends: list[_Done | None]) -> _Done | None:
    return next((end for end in ends if end is not None), None)
