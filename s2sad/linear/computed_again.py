"""Arrays that one or two operators make of what is kept anyway are computed again, and not kept.

    saved.append((t, exp_t))            saved.append(exp_t)
    ...                                 ...
    t, exp_t = saved.pop()              exp_t = saved.pop()
                                        t = 1.0 + exp_t

Before: a derived program whose algebra is done. After: the same, where tapes of loops, and what a
forward keeps for its reverse, hold fewer arrays. Nobody writes such an array, nor what it is
computed from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.deeds import deed
from s2sad.ir.program import Op, Operand, Var
from s2sad.ir.rebuilt import substituted
from s2sad.linear.operands import kind_of
from s2sad.linear.slots import Entry, rows_of
from s2sad.linear.sweep_state import Sweep
from s2sad.linear.tape import met_in
from s2sad.primitives import language as L

_OPERATORS = (*(L.INFIX[w] for w in ("Add", "Sub", "Mult", "Div")), L.PREFIX["USub"])
_MOST = 2  # operators for one array


def with_less_on_tapes(
    program: P.Program, entries: Sequence[Entry], sweep: Sweep, forward: Sequence[P.Operation]
) -> list[Entry]:
    """Return what tapes hold, and what is computed of that again.

    A program holds a backward sweep; `forward` is the forward sweep as it was turned round.
    """
    if not any(e.stay for e in entries):
        return [*entries]
    there, told = {*_there(program)}, _told_apart(program.block)
    found = []
    for entry, rows in zip(entries, rows_of(entries, forward), strict=True):
        row = rows[0] if len({*rows}) == 1 and len(rows) == len(entry.given) else ()
        part = dict(zip(row, entry.parts, strict=False)) if len(row) == len(entry.parts) else {}
        shapes = dict(entry.shapes)
        whole = [k for k in entry.stay if k not in shapes]
        stay = {row[k]: entry.parts[k] for k in whole} if part else {}
        anew = _Anew(sweep, stay, there, told).all()
        gone = {v for op in anew for v in op.outs}
        left = tuple(k for k in entry.stay if entry.parts[k] not in gone)
        found.append(replace(entry, stay=left, anew=tuple(anew)))
    return found


def with_less_kept(block: P.Block, needed: Sequence[Var], sweep: Sweep) -> P.Block:
    """Return the block of a reverse that computes again what its forward need not keep."""
    told = _told_apart(block)
    anew = _Anew(sweep, {v: v for v in needed}, frozenset(), told).all()
    gone = {v for op in anew for v in op.outs}
    kept: dict[Operand, Var] = {v: Var(v.name, v.kind) if v in gone else v for v in needed}
    table: dict[Var, Operand] = {v: kept[v] for v in needed if v in gone}
    if not table:
        return block
    block = substituted(block, table)
    again = _Anew(sweep, kept, frozenset(), told).all()
    return replace(block, ops=(*again, *block.ops))


def _there(program: P.Program) -> Iterator[Var]:
    """Yield what is bound outside of all loops and arms, and a backward sweep reads anyway."""
    block = program.block
    bound = {*block.params, *(v for o in block.ops if isinstance(o, Op) for v in o.outs)}
    back = tuple(o for o in block.ops if isinstance(o.origin, P.Undone))
    yield from (v for v in met_in(P.Block((), back, P.End("next"))) if v in bound)


def _told_apart(block: P.Block) -> frozenset[Var]:
    """Return the variables that are not read for their elements alone: the array itself matters."""
    told = {v for v in map(P.variable, block.end.results) if v is not None}
    shown: list[Op] = []
    for op in P.every(block):
        if not isinstance(op, Op):
            ends = [r for b in P.blocks(op) for r in b.end.results]
            told.update(v for v in map(P.variable, (*P.operands(op), *ends)) if v is not None)
        elif op.primitive.form in ("item", "field", "same"):
            shown.append(op)
        elif not _computes(op):
            given = op.operands[:1] if _stores_numbers(op) else P.operands(op)
            told.update(v for v in map(P.variable, given) if v is not None)
    more = True
    while more:
        whole = (op.operands[0] for op in shown if not told.isdisjoint(op.outs))
        owners = {v for v in whole if isinstance(v, Var)}
        more = not owners <= told
        told |= owners
    return frozenset(told)


def _stores_numbers(op: Op) -> bool:
    """Say whether an operation puts the elements of a value into an array, or adds them there."""
    array = bool(op.operands) and isinstance(kind_of(op.operands[0]), K.Array)
    return array and op.primitive.form in ("put item", "augmented item", "augmented")


def _computes(op: Op) -> bool:
    """Say whether an operation makes a value of its own of what it is given, and does no more."""
    known = deed(op)
    own = known.fresh or all(K.shares_nothing(v.kind) for v in op.outs)
    return own and not (known.acts or known.writes or known.draws or known.checks)


@dataclass(frozen=True)
class _Anew:
    """What is kept: each value of the forward sweep, with the variable that it is in the backward.

    Other values are `there` for both. Who reads those that are `told` may tell an array from
    another one that holds the same.
    """

    sweep: Sweep
    kept: dict[Operand, Var]
    there: Collection[Var]
    told: Collection[Var]

    def all(self) -> list[Op]:
        """Return the operations that compute again what need not be kept, in order."""
        found: list[Op] = []
        done: set[Operand] = set()
        for v in self.kept:
            self.add(v, found, done)
        return found

    def add(self, v: Operand, found: list[Op], done: set[Operand]) -> None:
        """Compute an array again, behind what it is computed from."""
        if v in done or not isinstance(v, Var):
            return
        done.add(v)
        ops = self.made(v)
        if ops is None:
            return
        for op in ops:
            for o in op.operands:
                if o in self.kept:
                    self.add(o, found, done)
        found += self.renamed(ops)

    def made(self, v: Var) -> list[Op] | None:
        """Return what computes an array of what is kept beside it, if that is little."""
        if not isinstance(v.kind, K.Array) or not v.kind.rank or not self.is_steady(v):
            return None
        if self.kept[v] in self.told:
            return None
        ops: list[Op] = []
        return ops if self.expand(v, ops, _MOST) else None

    def expand(self, v: Var, ops: list[Op], most: int) -> bool:
        """Add what computes a value, its operands first; say whether that are so few operators."""
        op = self.sweep.makers.get(v)
        if op is None or op.primitive not in _OPERATORS or len(ops) >= most:
            return False
        for o in op.operands:
            if self.is_there(o) or any(o in known.outs for known in ops):
                continue
            if not isinstance(o, Var) or not self.is_steady(o):
                return False
            if not self.expand(o, ops, most - 1):
                return False
        ops.append(op)
        return len(ops) <= most

    def is_there(self, o: Operand) -> bool:
        if isinstance(o, P.Const):
            return K.is_numeric(kind_of(o))
        return isinstance(o, Var) and (o in self.kept or o in self.there) and self.is_steady(o)

    def is_steady(self, v: Var) -> bool:
        """Say whether a number, or an array of numbers, is never written."""
        if v.cell or not K.is_numeric(v.kind):
            return False
        return isinstance(v.kind, K.Num) or self.sweep.is_unwritten(v)

    def renamed(self, ops: Sequence[Op]) -> Iterator[Op]:
        """Yield operations as the backward sweep has them."""
        table: dict[Operand, Var] = {**self.kept}
        for op in ops:
            (out,) = op.outs
            new = table.get(out) or Var(out.name, out.kind)
            table[out] = new
            given = tuple(table.get(o, o) for o in op.operands)
            yield Op((new,), op.primitive, given, origin=P.Undone(None))
