"""Derived code leaves memory alone that nobody reads any more.

    hs[t + 1] = hs_0             goes: only hs[t], and what stands before it, is read later
    hs_bar[t + 1] = 0.0          goes: this row is not read any more

Before: a derived program. After: the same without stores that nobody reads. The user's own stores
stay; what is put back for the backward sweep is none of them. A store goes where the program alone
knows its memory, and no operation that may run later reads a part of what it sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import replace

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.accesses import Access, Accesses, accesses
from s2sad.ir.deeds import kind_of
from s2sad.ir.program import Op, Var
from s2sad.ir.rebuilt import with_blocks
from s2sad.primitives import language as L


def without_needless(
    program: P.Program, own: Set[Var], together: Iterable[Sequence[Var]] = ()
) -> P.Program:
    """Return a program without stores that nobody reads.

    Of the user's `own` values only what is put back is looked at. Variables may share memory
    `together` of which the program does not tell.
    """
    if not any(_is_store(op, own) for op in P.every(program.block)):
        return program
    found = accesses(program, together)
    outside = {r for r in found.of if found.parts.memory.is_outside(r)}
    drop = {
        met.op
        for root, every in found.of.items()
        for met in every
        if met.op is not None and met.writes and not met.reads and _is_store(met.op, own)
        if (root not in outside or _is_back(met.op)) and not _is_read(found, every, met)
    }
    return replace(program, block=_without(program.block, drop)) if drop else program


def _is_store(op: P.Operation, own: Set[Var]) -> bool:
    if not isinstance(op, Op) or op.primitive.form != "put item":
        return False
    return isinstance(kind_of(op.operands[0]), K.Array) and (
        _is_back(op) or op.operands[0] not in own
    )


def _is_back(op: P.Operation) -> bool:
    return isinstance(op, Op) and op.primitive is L.PUT_BACK


def _is_read(found: Accesses, every: Iterable[Access], store: Access) -> bool:
    """Say whether an operation that may run later reads what a store sets."""
    return any(
        not found.parts.are_apart(store.part, met.part, later)
        for met in every
        if met.reads and not found.are_others(store.base, met)
        for later in found.may_follow(store.stand, met.stand)
    )


def _without(block: P.Block, drop: Set[P.Operation]) -> P.Block:
    ops = tuple(
        op if isinstance(op, Op) else with_blocks(op, lambda b: _without(b, drop))
        for op in block.ops
        if op not in drop
    )
    return P.Block(block.params, ops, block.end)
