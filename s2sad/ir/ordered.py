"""Tangents stand before the values that take the place of what they are made of.

    t_dot = A_dot @ v                     v_dot[:] = A_dot @ v
    v[:] = A @ v                          v[:] = A @ v
    v_dot[:] = t_dot

Before: a derived program, in which a tangent follows its value. After: the same operations; a value
that binds a name anew, or writes memory, stands behind the tangents that read what was there. Then
these can stand where they are used. A value depends on no tangent, so nothing else changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from s2sad.ir import program as P
from s2sad.ir import rebuilt as R
from s2sad.ir.effects import Derived, Footprint, commute, footprint
from s2sad.ir.makers import uses_of
from s2sad.ir.program import Op, Var


def ordered(program: P.Program, derived: Derived, loose: Callable[[Var], bool]) -> P.Program:
    """Return a program whose tangents stand before what overwrites that they are made of.

    A value that is `loose` and used once is a part of the expression that uses it.
    """
    uses = uses_of(program)
    parts = frozenset(v for v, count in uses.items() if count == 1 and loose(v))
    return replace(program, block=_Worker(derived, parts).block(program.block))


@dataclass
class _Worker:
    derived: Derived
    parts: frozenset[Var]
    prints: dict[P.Operation, Footprint] = field(default_factory=dict)

    def block(self, block: P.Block) -> P.Block:
        ops: list[P.Operation] = [
            o if isinstance(o, Op) else R.with_blocks(o, self.block) for o in block.ops
        ]
        line = _Line(self, ops)
        for start in reversed(range(len(ops))):
            operation = ops[start]
            if not isinstance(operation, Op) or self.is_ours(operation):
                continue
            if any(v.name for v in operation.outs) or self.foot(operation).acts:
                line.let_pass(operation, start)
        return P.Block(block.params, tuple(ops), block.end)

    def is_ours(self, operation: P.Operation) -> bool:
        """Say whether an operation computes a tangent, or writes memory of tangents alone."""
        if not isinstance(operation, Op):
            inner = [o for block in P.blocks(operation) for o in block.ops]
            ours = self.derived.values.isdisjoint(operation.outs) and all(map(self.is_ours, inner))
            return ours and isinstance(operation, P.If)
        owners = [p.object for p in operation.writes]
        theirs = any(isinstance(o, P.Outer) or o in self.derived.values for o in owners)
        return not theirs and self.derived.values.isdisjoint(operation.outs)

    def foot(self, op: P.Operation) -> Footprint:
        if op not in self.prints:
            self.prints[op] = footprint(op, self.derived)
        return self.prints[op]

    def may_pass(self, tangent: P.Operation, value: Op) -> bool:
        """Say whether what follows a value may as well stand before it."""
        if not {*value.outs}.isdisjoint(_met(tangent)):
            return False
        one, other = self.foot(tangent), self.foot(value)
        if not (one.acts and other.acts):
            return commute(one, other)
        if not isinstance(tangent, Op):
            return False
        both = all(op.primitive.effect == "writes" and op.writes for op in (tangent, value))
        return both and one.unseen and self.apart(tangent, value)

    def apart(self, tangent: Op, value: Op) -> bool:
        """Say whether each of two writes is of memory that the other does not know."""
        mine, theirs = (self.derived.where(_met(op)) for op in (tangent, value))
        return mine is not None and theirs is not None and mine.isdisjoint(theirs)


def _met(op: P.Operation) -> list[Var]:
    """Return the variables that an operation reads or writes, and those in it."""
    if not isinstance(op, Op):
        ends = [v for block in P.blocks(op) for v in map(P.variable, block.end.results)]
        inner = [v for block in P.blocks(op) for o in block.ops for v in _met(o)]
        return [*filter(None, [*map(P.variable, P.operands(op)), *ends]), *inner]
    owners = [p.object for p in op.writes if isinstance(p.object, Var)]
    return [*(v for v in map(P.variable, P.operands(op)) if v is not None), *owners]


@dataclass
class _Line:
    """The operations of one block; those in it are in order already."""

    worker: _Worker
    ops: list[P.Operation]
    made: dict[Var, P.Operation] = field(init=False)

    def __post_init__(self) -> None:
        self.made = {v: op for op in self.ops for v in op.outs}

    def let_pass(self, value: Op, start: int) -> None:
        """Put a value behind the last tangent of a run that reads what it overwrites."""
        last = start
        for at in range(start + 1, len(self.ops)):
            tangent = self.ops[at]
            if not self.worker.is_ours(tangent) or not self.worker.may_pass(tangent, value):
                break
            if self.is_made_of_old(tangent, value):
                last = at
        self.ops[start : last + 1] = [*self.ops[start + 1 : last + 1], value]

    def is_made_of_old(self, tangent: P.Operation, value: Op) -> bool:
        """Say whether the expression of a tangent reads what a value overwrites."""
        words = {v.name for v in value.outs} - {""}
        old = P.variable(value.operands[0]) if value.primitive.form == "augmented" else None
        mine = self.worker.foot(value)
        pending = [tangent]
        while pending:
            op = pending.pop()
            is_read = op is not tangent or not self.worker.foot(op).acts
            if mine.acts and is_read and not commute(self.worker.foot(op), mine):
                return True
            for v in _met(op):
                if v.name in words or v is old:
                    return True
                made = self.made.get(v) if v in self.worker.parts else None
                if made is not None and made is not value:
                    pending.append(made)
        return False
