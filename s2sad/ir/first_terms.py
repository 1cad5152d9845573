"""What is added first is not added to zeros: it is put there.

    x_bar = np.zeros_like(x)         x_bar = np.zeros_like(x)
    x_bar[1:] += t                   x_bar[1:] = t
    u_bar[i] = 0.0
    u_bar[i] += v                    u_bar[i] = v

Before: a derived program. After: the same, where nobody has met a part of zeros before something
is added to it. Zeros that are overwritten at once go.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace

import numpy as np

from s2sad import kinds as K
from s2sad.ir import identities as I
from s2sad.ir import program as P
from s2sad.ir.accesses import Accesses, accesses
from s2sad.ir.deeds import kind_of
from s2sad.ir.program import Op, Operand, Var
from s2sad.ir.rebuilt import substituted, with_blocks
from s2sad.primitives import language as L

_TO_PARTS = (L.AUGMENTED_ITEM["Add"], L.AUGMENTED_ITEM["Sub"])
_TO_ALL = (L.AUGMENTED["Add"], L.AUGMENTED["Sub"])
_ALL = P.Const(...)


def with_first_terms(program: P.Program, own: Set[Var]) -> P.Program:
    """Return a program that puts what it adds first; the user's `own` arrays stay as written."""
    if not any(is_sum(op, own) for op in P.every(program.block)):
        return program
    worker = _Worker(accesses(program), own, {})
    block = worker.block(program.block)
    return replace(program, block=substituted(block, worker.same) if worker.same else block)


def is_sum(op: P.Operation, own: Set[Var]) -> bool:
    """Say whether an operation adds to an array of derived code, or to a part of one."""
    if not isinstance(op, Op) or op.primitive not in (*_TO_PARTS, *_TO_ALL):
        return False
    owner = op.operands[0]
    if not isinstance(owner, Var) or owner in own or not own.isdisjoint(op.outs):
        return False
    array, value = (kind_of(op.operands[k]) for k in (0, -1))
    return isinstance(array, K.Array) and I.elements(value) in ("float", I.elements(array))


@dataclass(frozen=True)
class _Worker:
    """An array to which nothing is added is the `same` behind an operation."""

    found: Accesses
    own: Set[Var]
    same: dict[Var, Operand]

    def block(self, block: P.Block) -> P.Block:
        here = frozenset(block.ops)
        gone: set[P.Operation] = set()
        made: dict[P.Operation, list[P.Operation]] = {}
        for op in block.ops:
            if not isinstance(op, Op):
                made[op] = [with_blocks(op, self.block)]
            elif is_sum(op, self.own):
                zeros = self.zeros(op, here)
                if zeros is not None:
                    made[op] = self.put(op)
                    gone |= {zeros} if zeros.primitive is L.PUT_ITEM else set()
        ops = [o for op in block.ops if op not in gone for o in made.get(op, (op,))]
        return P.Block(block.params, tuple(ops), block.end)

    def zeros(self, op: Op, here: Set[P.Operation]) -> Op | None:
        """Return what has made all that an operation adds to zero, if nobody has met it since.

        It has made the array, or it has set the very same elements.
        """
        owner, index = op.operands[0], place_of(op)
        assert isinstance(owner, Var)
        parts, stands = self.found.parts, self.found.stands
        root = parts.memory.of(owner)
        if root is None or parts.copies(index) or not parts.is_plain(root):
            return None
        part, at, whole = parts.met(owner, index), stands[op].at, parts.base(owner)
        before = [
            m for m in self.found.of[root] if m.stand.at <= at and not (m.op is op and m.writes)
        ]
        before = [m for m in before if not self.found.are_others(whole, m)]
        last = next((m for m in reversed(before) if not parts.are_apart(part, m.part)), None)
        base = parts.maker(whole)
        born = base is not None and base in here and makes_zeros(base)
        if born and base is not None and (last is None or last.stand.at < stands[base].at):
            return base
        if last is None or last.op not in here or last.reads or not isinstance(last.op, Op):
            return None
        clears = last.op.primitive is L.PUT_ITEM and last.op.operands[2] == P.Const(0.0)
        same = last.op.operands[0] is owner and self.are_same(last.op.operands[1], index)
        return last.op if clears and same else None

    def are_same(self, one: Operand, other: Operand) -> bool:
        """Say whether two indices name the same elements."""
        made = self.found.parts.maker(one)
        every = made is not None and made.primitive is L.SLICE
        if every and made is not None and {*made.operands} == {P.Const(None)}:
            one = _ALL
        return self.found.parts.are_same(one, other)

    def put(self, op: Op) -> list[P.Operation]:
        """Return what puts what an operation adds."""
        owner, value = op.operands[0], op.operands[-1]
        assert isinstance(owner, Var)
        owner = self.same.get(owner, owner)
        self.same.update(dict.fromkeys(op.outs, owner))
        ops: list[P.Operation] = []
        if op.primitive in (_TO_PARTS[1], _TO_ALL[1]):
            minus = Var("", kind_of(value))
            ops = [Op((minus,), L.PREFIX["USub"], (value,), origin=op.origin)]
            value = minus
        places = tuple(P.Place(p.object, (P.Item(place_of(op)),)) for p in op.writes)
        given = (owner, place_of(op), value)
        return [*ops, Op((), L.PUT_ITEM, given, (), (), places, op.origin)]


def makes_zeros(op: Op) -> bool:
    """Say whether an operation makes an array of zeros."""
    return op.primitive is L.CALL and I.function_of(op.operands[0]) is np.zeros_like


def place_of(op: Op) -> Operand:
    """Return the index at which an operation adds to an array; `...` is all of it."""
    return _ALL if op.primitive in _TO_ALL else op.operands[1]
