"""Zeros of a structure, and what is added to them: a display of the sums.

    s_bar = type(s)(0.0, 0.0)
    s_bar.a += x                     s_bar = type(s)(x, y)
    s_bar.b += y

Before: a derived program. After: each display of derived code stands where it is first read, and
holds what has been added to its parts before that. Nobody else knows what has just been made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.makers import uses_of
from s2sad.ir.program import Op, Operand, Var
from s2sad.ir.rebuilt import with_blocks
from s2sad.linear.operands import kind_of
from s2sad.primitives import language as L


def filled(program: P.Program, fixed: frozenset[Var]) -> P.Program:
    """Return a program whose displays of zeros hold what is added to them first.

    What is `fixed` (the user's own values) stays as it is written.
    """
    worker = _Worker(uses_of(program), fixed)
    return replace(program, block=worker.block(program.block))


@dataclass
class _Worker:
    """`uses` says how often each variable is read, `made` what has computed it in this block.

    The displays at hand are `open`. A value may be the `same` as a part of one: where that is a
    display, too, what gives it its value is `waiting`.
    """

    uses: Counter[Var]
    fixed: frozenset[Var]
    made: dict[Var, Op] = field(default_factory=dict)
    open: dict[Var, Op] = field(default_factory=dict)
    same: dict[Var, Var] = field(default_factory=dict)
    waiting: dict[Var, list[Op]] = field(default_factory=dict)

    def block(self, block: P.Block) -> P.Block:
        around, self.made, self.open = (self.made, self.open), {}, {}
        done: list[P.Operation] = []
        for operation in block.ops:
            if isinstance(operation, Op) and self.taken(operation, done):
                continue
            self.close(_read_in(operation), done)
            if not isinstance(operation, Op):
                done.append(with_blocks(operation, self.block))
                continue
            self.made |= dict.fromkeys(operation.outs, operation)
            if operation.primitive in (L.ANEW, L.DICT) and self.is_new(operation):
                self.open[operation.outs[0]] = operation
            else:
                done.append(operation)
        self.close({*self.open}, done)
        self.made, self.open = around
        return P.Block(block.params, tuple(done), block.end)

    def close(self, read: Iterable[Var], done: list[P.Operation]) -> None:
        """Put displays that are read now: they are filled."""
        for v in read:
            op = self.open.pop(self.same.get(v, v), None)
            if op is not None:
                self.close(_read_in(op), done)
                done += [op, *self.waiting.pop(op.outs[0], ())]

    def taken(self, op: Op, done: list[P.Operation]) -> bool:
        """Say whether an operation is one on a part of a display at hand, which is done there."""
        owner = P.variable(op.operands[0]) if op.operands else None
        display = self.open.get(self.same.get(owner, owner)) if owner is not None else None
        at = None if display is None else _place(display, op)
        if display is None or at is None:
            return False
        if op.primitive.form in ("item", "field"):
            self.give(display.operands[at], op, done)
            return True
        value, part = op.operands[-1], None
        if op.primitive.form in ("put item", "put field"):
            part = value
        elif op.primitive.word.split()[-1] == "Add":
            part = self.whole(display.operands[at], value, op, done)
        if part is None or value == owner:
            return False
        given = (*display.operands[:at], part, *display.operands[at + 1 :])
        self.open[display.outs[0]] = replace(display, operands=given)
        return True

    def give(self, part: Operand, op: Op, done: list[P.Operation]) -> None:
        """Give what reads a part of a display that part."""
        (out,) = op.outs
        made = Op((out,), L.SAME, (part,), origin=op.origin)
        if isinstance(part, Var):
            self.uses[part] += 1
            self.same[out] = self.same.get(part, part)
        if isinstance(part, Var) and self.same[out] in self.open:
            self.waiting.setdefault(self.same[out], []).append(made)
        else:
            done.append(made)

    def is_new(self, op: Op) -> bool:
        """Say whether an operation makes a structure of derived code."""
        plain = not any(isinstance(o, P.Spread) for o in op.operands)
        return plain and op.outs[0] not in self.fixed

    def is_zero(self, part: Operand) -> bool:
        made = self.made.get(part) if isinstance(part, Var) else None
        if made is None or made.primitive is not L.CALL:
            return part == P.Const(0.0)
        once = isinstance(part, Var) and self.uses[part] == 1
        return once and kind_of(made.operands[0]) == K.Known(np.zeros_like)

    def whole(
        self, part: Operand, value: Operand, op: Op, done: list[P.Operation]
    ) -> Operand | None:
        """Return a part with a value added; None where the sum has to be made in place."""
        if _is_float(kind_of(part)) and _is_float(kind_of(value)):
            if part == P.Const(0.0):
                return value
            out = Var("", kind_of(value))
            done.append(Op((out,), L.INFIX["Add"], (part, value), origin=op.origin))
            self.made[out] = done[-1]  # type: ignore[assignment]
            return out
        kind = kind_of(value)
        if not self.is_zero(part) or not isinstance(kind, K.Array) or kind != kind_of(part):
            return None
        if not kind.rank or not isinstance(value, Var):
            return None
        made = self.made.get(value)
        if self.uses[value] == 1 and made is not None and made.primitive.form in _NEW:
            return value
        return self.copied(value, op, done)

    def copied(self, value: Var, op: Op, done: list[P.Operation]) -> Var:
        """Return a copy of an array, which others know or may not be written."""
        out = Var("", value.kind)
        done.append(Op((out,), L.method("copy"), (value,), (), (P.Place(value),), (), op.origin))
        return out


_NEW = ("infix", "prefix")


def _place(display: Op, op: Op) -> int | None:
    """Return at which operand of a display the part stands that an operation has to do with."""
    field_ = ("field", "augmented field", "put field")
    item = ("item", "augmented item", "put item")
    if display.primitive is L.ANEW:
        names, word = kind_of(display.outs[0]).steps, op.primitive.word.split()
        known = op.primitive.form in field_ and word[0] in names
        return names.index(word[0]) + 1 if known else None
    keys = [*display.operands[::2]]
    known = op.primitive.form in item and op.operands[1] in keys
    return 2 * keys.index(op.operands[1]) + 1 if known else None


def _is_float(kind: K.Kind) -> bool:
    return isinstance(kind, K.Num) and kind.type in ("float", "complex")


def _read_in(operation: P.Operation) -> set[Var]:
    """Return all variables that stand in an operation."""
    found = {v for v in map(P.variable, P.operands(operation)) if v is not None}
    if isinstance(operation, Op):
        return found | {p.object for p in operation.writes if isinstance(p.object, Var)}
    for block in P.blocks(operation):
        found |= {v for v in map(P.variable, block.end.results) if v is not None}
        for inner in block.ops:
            found |= _read_in(inner)
    return found
