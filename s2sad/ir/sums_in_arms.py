"""A number that is zero on one arm of a branch is added on the other arm alone.

    if t:
        x_bar = 0.0
    else:                           if not t:
        x_bar = s_bar * s               xs_bar[i] += s_bar * s
    xs_bar[i] += x_bar

Before: a derived program. After: the same, where the sum alone reads the number, and nobody meets
what it adds to between the branch and the sum.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from s2sad import kinds as K
from s2sad.ir import identities as I
from s2sad.ir import program as P
from s2sad.ir.accesses import Accesses, accesses
from s2sad.ir.deeds import kind_of
from s2sad.ir.first_terms import is_sum
from s2sad.ir.makers import uses_of
from s2sad.ir.program import Op, Operand, Var
from s2sad.ir.rebuilt import with_blocks
from s2sad.primitives import language as L

_OTHER = {"Add": "Sub", "Sub": "Add"}


def with_sums_in_arms(program: P.Program, own: Set[Var]) -> P.Program:
    """Return a program that adds no zeros of arms; the user's `own` arrays stay as written."""
    every = [*P.every(program.block)]
    given = {v for o in every if isinstance(o, P.If) for v in o.outs if _has_zero(o, v)} - own
    if not any(_adds(o, own) and P.operands(o)[-1] in given for o in every):
        return program
    worker = _Worker(accesses(program), uses_of(program), own)
    return replace(program, block=worker.block(program.block))


def _adds(op: P.Operation, own: Set[Var]) -> bool:
    """Say whether an operation adds a number to an element of an array of derived code."""
    if not is_sum(op, own) or not isinstance(op, Op) or op.primitive.form != "augmented item":
        return False
    return isinstance(kind_of(op.operands[-1]), K.Num)


def _has_zero(region: P.If, v: Var) -> bool:
    """Say whether a branch gives a zero on one of its arms, or on an arm of these; it ends none."""
    arms = P.blocks(region)
    if region.style not in ("if", "either") or any(b.end.how != "next" for b in arms):
        return False
    at = region.outs.index(v)
    given = [(b, b.end.results[at]) for b in arms]
    inner = ((o, r) for b, r in given for o in b.ops if isinstance(o, P.If) and r in o.outs)
    return any(_is_zero(r) for _, r in given) or any(
        isinstance(r, Var) and _has_zero(o, r) for o, r in inner
    )


def _is_zero(given: Operand) -> bool:
    return I.number_of(given) == 0


@dataclass(frozen=True)
class _Worker:
    """What is `found` of memory stays as it is: a sum passes what does not meet its memory."""

    found: Accesses
    uses: Counter[Var]
    own: Set[Var]

    def block(self, block: P.Block) -> P.Block:
        ops = list(block.ops)
        regions = {o: o for o in ops if isinstance(o, P.If)}
        for op in block.ops:
            if not isinstance(op, Op) or not _adds(op, self.own):
                continue
            region = self.region(op, block.ops)
            if region is not None:
                regions[region] = self.adding(regions[region], op)
                ops.remove(op)
        made = (regions.get(o, o) if isinstance(o, P.If) else o for o in ops)
        done = (o if isinstance(o, Op) else with_blocks(o, self.block) for o in made)
        return P.Block(block.params, tuple(done), block.end)

    def region(self, op: Op, ops: Sequence[P.Operation]) -> P.If | None:
        """Return the branch into whose arms a sum may go."""
        value, at = op.operands[-1], ops.index(op)
        if not isinstance(value, Var) or value in self.own or self.uses[value] != 1:
            return None
        start = next((k for k in range(at) if value in ops[k].outs), None)
        region = None if start is None else ops[start]
        if start is None or not isinstance(region, P.If) or not _has_zero(region, value):
            return None
        late = {v for o in ops[start:at] for v in o.outs}
        if not late.isdisjoint(op.operands[:-1]):
            return None
        return region if self.found.may_pass(op, ops[start + 1 : at]) else None

    def adding(self, region: P.If, op: Op) -> P.If:
        """Return a branch that adds on its arms what it gave."""
        value = op.operands[-1]
        assert isinstance(value, Var)
        at = region.outs.index(value)
        then, orelse = (self.arm(b, at, op) for b in P.blocks(region))
        outs = tuple(v for v in region.outs if v is not value)
        style = region.style if outs else "if"
        return replace(region, outs=outs, then=then, orelse=orelse, style=style)

    def arm(self, arm: P.Block, at: int, op: Op) -> P.Block:
        value, results = arm.end.results[at], list(arm.end.results)
        del results[at]
        end = replace(arm.end, results=tuple(results))
        if _is_zero(value):
            return P.Block(arm.params, arm.ops, end)
        primitive, made = op.primitive, next((o for o in arm.ops if value in o.outs), None)
        minus = self.minus(value, made)
        if minus is not None:
            primitive, value = L.AUGMENTED_ITEM[_OTHER[op.primitive.word]], minus
        origin = op.origin if made is None else made.origin  # it is said above what this undoes
        given = (*op.operands[:-1], value)
        added = replace(op, primitive=primitive, operands=given, origin=origin)
        return P.Block(arm.params, (*arm.ops, added), end)

    def minus(self, value: Operand, made: P.Operation | None) -> Operand | None:
        """Return the number of which a value that nobody else reads is the negative."""
        if not isinstance(made, Op) or made.primitive is not L.PREFIX["USub"]:
            return None
        (given,) = made.operands
        alone = isinstance(value, Var) and self.uses[value] == 1
        return given if alone and I.is_signed(kind_of(given)) else None
