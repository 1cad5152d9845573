"""What a try has done to tangents where an exception leaves it in its middle.

try:
    u[0] = x               done, or not: only the run could tell
    y = math.log(x)
except ValueError: ...

Before: the body of a try behind which the program goes on. After: the same, or a refusal where it
writes memory of tangents, or binds what others look at, and may be left behind that. Memory that
the body makes, and that nobody else knows while it runs, is gone where the body is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from s2sad import kinds as K
from s2sad.errors import Error
from s2sad.ir import program as P
from s2sad.ir.memories import Memories, memories
from s2sad.ir.program import Op, Var
from s2sad.ir.rebuilt import with_blocks
from s2sad.linear.operands import kind_of
from s2sad.linear.sweep_state import Sweep
from s2sad.linear.tangent_table import Table
from s2sad.linear.user_calls import CallOfUser, parts_of
from s2sad.primitives import language as L
from s2sad.steps.derivation import analyse, memory_of

_CALM = ("same", "tuple", "list", "look", "bind", "discard", "closure")
_IN_PLACE = ("augmented", "augmented item", "augmented field")


def check_half_done(sweep: Sweep, region: P.Try, table: Table) -> None:
    """Refuse a body that an exception may leave behind what it does to tangents."""
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
    calls = {c.op: c for c in _calls(body)}
    values = _Values(sweep, {op: _instead(c, table) for op, c in calls.items() if _is_seen_into(c)})
    memory = memories(P.Program("", values.block(P.Block((), body.ops, body.end)), None))
    known = frozenset(memory.of(sweep.values.get(v, v)) for v in outside)
    return _Body(sweep, memory, known, table, region.origin)


@dataclass(frozen=True)
class _Values:
    """What a body does to values; for calls of the user's functions stands what they share."""

    sweep: Sweep
    calls: Mapping[Op, Op]

    def block(self, block: P.Block) -> P.Block:
        """Return a block without operations on tangents, and without what binds cells.

        The memory of tangents is that of the values, and what a cell gets is known from then on.
        """
        ops: list[P.Operation] = []
        for op in block.ops:
            if not isinstance(op, Op):
                ops.append(with_blocks(op, self.block))
            elif not self.sweep.is_linear(op) and op.primitive is not L.BIND:
                ops.append(self.calls.get(op, op))
        return P.Block(block.params, tuple(ops), block.end)


def _calls(body: P.Block) -> Iterator[CallOfUser]:
    """Yield the calls of the user's functions that have a tangent."""
    for op in P.every(body):
        if isinstance(op, Op) and op.primitive is L.TANGENT_OF_CALL:
            noted = dict(op.settings)["call"]
            assert isinstance(noted, CallOfUser)
            yield noted


def _is_seen_into(noted: CallOfUser) -> bool:
    """Say whether a function is given arrays and numbers alone: it can store them nowhere."""
    given = (*noted.call.given.values(), *noted.call.extra.values())
    return all(K.is_numeric(kind_of(o)) for part in given for o in parts_of(part))


def _instead(noted: CallOfUser, table: Table) -> Op:
    """Return an operation whose result shares the memory that a call's result shares."""
    d, call = table.derivation, noted.call
    a = analyse(d, call.fn, call.params, tuple(call.extra))
    shared = memory_of(d, a).aliases.ever(a.function.result)
    everything = {**call.given, **call.extra}
    held = tuple(o for p, part in everything.items() if p in shared for o in parts_of(part))
    return Op(noted.op.outs, L.TUPLE, held, (), (), (), noted.op.origin)


@dataclass(frozen=True)
class _Body:
    """The body of the try `at` hand; its memory of some classes is known `outside` meanwhile."""

    sweep: Sweep
    memory: Memories
    outside: frozenset[Var | None]
    table: Table
    at: P.Code

    def left(self, block: P.Block, done: Op | None) -> Op | None:
        """Walk a block; return what has done something to tangents last, here or before."""
        for op in block.ops:
            done = self._by_one(op, done) if isinstance(op, Op) else self._region(op, done)
        if done is not None and block.end.how == "raise":
            raise self.cannot(done)
        return done

    def _region(self, region: P.Region, done: Op | None) -> Op | None:
        if isinstance(region, P.Try):
            body = self.left(region.body, done)  # no exception leaves it behind what it has done
            ends = [self.left(h.body, done) for h in region.handlers]
            ends.append(self.left(region.orelse, body))
            return self.left(region.final, _any(ends))
        turns = 2 if isinstance(region, P.For | P.While | P.Collect) else 1
        for _ in range(turns):
            done = _any([self.left(b, done) for b in P.blocks(region)]) or done
        if done is not None and isinstance(region, P.With):
            raise self.cannot(done)
        return done

    def _by_one(self, op: Op, done: Op | None) -> Op | None:
        form = op.primitive.form
        if self.sweep.is_linear(op):
            written = [p.object for p in op.writes if p.object in self.sweep.values]
            seen = any(isinstance(dot, Var) and self._is_known(dot) for dot in written)
            if seen and form == "tangent of call":
                raise self.cannot(op)  # it may be left half way, too
            return op if seen else done
        same = done is not None and op.origin is done.origin  # the tangent comes first
        same = same and form in _IN_PLACE
        if done is not None and not same and form not in _CALM:
            raise self.cannot(done)
        return done

    def cannot(self, done: Op) -> Error:
        """Return an error that says what may be done, or not, where the try is left."""
        written = [p.object for p in done.writes if isinstance(p.object, Var)]
        word = next(self.sweep.values[dot].name for dot in written if dot in self.sweep.values)
        shown = f"`{word}`" if word else "memory"
        if done.primitive in (L.BIND, L.FORGET):
            return self.table.cannot(
                self.at,
                f"An exception may leave this try after it has bound `{word}`: s2sad cannot tell "
                "how far the try got, and the result depends on the names that it binds.",
                f"Bind `{word}` before the try or in a try of its own, or use another name there.",
            )
        return self.table.cannot(
            done.origin,
            f"The derivative depends on {shown}, which is written in place in a try: an exception "
            "may leave the try after this write, and s2sad cannot tell how far it got.",
            "Compute the new values in the try, and write them after it.",
        )

    def _is_known(self, dot: Var) -> bool:
        """Say whether memory, by its tangent, is known outside while the body runs."""
        root = self.memory.of(self.sweep.values[dot])
        return dot.cell or root is None or root in self.outside or self.memory.is_outside(root)


def _any(ends: list[Op | None]) -> Op | None:
    return next((end for end in ends if end is not None), None)
