"""What is only added to an array is added to it at once: it is no array of its own.

    Tn_bar = np.zeros_like(Tn)
    Tn_bar[1:] += t                  T_bar[1:] += t
    Tn_bar[:-1] -= t                 T_bar[:-1] -= t
    T_bar += Tn_bar

Before: a derived program whose sums begin with zeros. After: the same with fewer arrays. An array
goes where it is made of zeros, where nothing but sums meet it until it is added, as a whole, to one
of the same shape, and where nobody meets that one between.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, field, replace

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.accesses import Access, Accesses, accesses
from s2sad.ir.first_terms import is_sum, makes_zeros
from s2sad.ir.parts import Parts
from s2sad.ir.program import Op, Operand, Var
from s2sad.ir.rebuilt import substituted, with_blocks
from s2sad.primitives import language as L

_ADDS = L.AUGMENTED["Add"]


def with_one_sum(program: P.Program, own: Set[Var]) -> P.Program:
    """Return a program that adds to arrays at once; the user's `own` arrays stay as written."""
    if not any(_is_last(op, own) for op in P.every(program.block)):
        return program
    found = accesses(program)
    worker = _Worker(found, own, {}, _Merged(found.parts))
    block = worker.block(program.block)
    return replace(program, block=substituted(block, worker.same) if worker.same else block)


def _is_last(op: P.Operation, own: Set[Var]) -> bool:
    """Say whether an operation adds all of an array of derived code to another one."""
    if not is_sum(op, own) or not isinstance(op, Op) or op.primitive is not _ADDS:
        return False
    total, added = op.operands
    return isinstance(total, Var) and isinstance(added, Var) and _are_alike(total, added)


def _are_alike(one: Var, other: Var) -> bool:
    """Say whether two arrays surely have the same shape and the same type of elements."""
    left, right = one.kind, other.kind
    if not isinstance(left, K.Array) or not isinstance(right, K.Array):
        return False
    same = (left.dtype, left.namespace) == (right.dtype, right.namespace)
    return same and K.same_shape(left.dims, right.dims)


@dataclass(frozen=True)
class _Merged:
    """What has become another array's memory, or has taken in another one: `accesses` tell no more
    of that. It is one of the `arrays` of our own, or any one of a class that is `open`.
    """

    parts: Parts
    arrays: set[Var] = field(default_factory=set)
    classes: set[Var] = field(default_factory=set)
    open: set[Var] = field(default_factory=set)

    def note(self, v: Var) -> None:
        """Note that an array, or a part of it, has become the memory of another one."""
        root, base = self.parts.memory.of(v), self.parts.base(v)
        assert root is not None
        self.classes.add(root)
        if self.parts.is_own_array(base):
            self.arrays.add(base)
        else:
            self.open.add(root)

    def has(self, v: Var) -> bool:
        """Say whether an array may have become the memory of another one."""
        root, base = self.parts.memory.of(v), self.parts.base(v)
        if self.parts.is_own_array(base):
            return base in self.arrays or root in self.open
        return root in self.classes


@dataclass(frozen=True)
class _Worker:
    """An array that goes is the `same` as the one that it is added to; both are `merged`."""

    found: Accesses
    own: Set[Var]
    same: dict[Var, Operand]
    merged: _Merged

    def block(self, block: P.Block) -> P.Block:
        places = {op: k for k, op in enumerate(block.ops)}
        gone: set[P.Operation] = set()
        made: dict[P.Operation, P.Operation] = {}
        for op in block.ops:
            if not isinstance(op, Op):
                made[op] = with_blocks(op, self.block)
            elif _is_last(op, self.own):
                zeros = self.zeros(op, block, places)
                if zeros is not None:
                    gone |= {zeros, op}
                    self.note(op, zeros)
        ops = tuple(made.get(op, op) for op in block.ops if op not in gone)
        return P.Block(block.params, ops, block.end)

    def note(self, op: Op, zeros: Op) -> None:
        """Note what an array that goes is, and what the sum is."""
        total, added = op.operands
        assert isinstance(added, Var)
        self.same[zeros.outs[0]] = self.same.get(total, total) if isinstance(total, Var) else total
        self.same.update(dict.fromkeys(op.outs, self.same.get(added, added)))
        for v in filter(None, map(P.variable, (total, added))):
            self.merged.note(v)

    def zeros(self, op: Op, block: P.Block, places: dict[P.Operation, int]) -> Op | None:
        """Return what has made an array, if that may go where this operation adds it."""
        total, added = op.operands
        assert isinstance(total, Var) and isinstance(added, Var)
        parts, stands = self.found.parts, self.found.stands
        base = parts.base(added)
        zeros = parts.maker(base)
        if zeros is None or zeros not in places or not makes_zeros(zeros) or base in self.own:
            return None
        mine, others = parts.memory.of(base), parts.memory.of(total)
        target = parts.base(total)
        own = all(map(parts.is_own_array, (base, target))) and base is not target
        if mine is None or others is None or (mine == others and not own):
            return None
        if self.merged.has(total) or self.merged.has(added) or not parts.is_plain(mine):
            return None
        between = block.ops[places[zeros] : places[op]]
        if any(total in (*o.outs, *P.bound(o)) for o in between):
            return None
        last = stands[op].at
        of_mine = (m for m in self.found.of[mine] if not self.found.are_others(base, m))
        if not all(m.op is op or self.is_added(m, last) for m in of_mine):
            return None
        first = stands[zeros].at
        met = [m for m in self.found.of[others] if first <= m.stand.at < last]
        met = [m for m in met if not self.found.are_others(target, m)]
        if met or (parts.memory.is_outside(others) and not self.found.is_calm(between, mine)):
            return None
        return zeros

    def is_added(self, met: Access, last: float) -> bool:
        """Say whether an access adds to an array, before all of that is added to another one."""
        adds = met.op is not None and is_sum(met.op, self.own)
        return adds and met.writes and met.stand.at < last
