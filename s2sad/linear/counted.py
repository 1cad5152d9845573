"""A loop that counts its rounds, or puts an entry on the tape on each way to the end of a round.

rounds = 0                            saved = []
while t:                              while t:
    rounds += 1                           saved.append(x)
    x = f(x)                              x = f(x)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.left_last import leaves_loop, may_leave
from s2sad.ir.program import Op, Operand, Place, Var
from s2sad.ir.rebuilt import with_blocks
from s2sad.linear.tangent_table import NOTHING
from s2sad.linear.tape import Loop, heads_of
from s2sad.primitives import language as L

T = TypeVar("T")


def counted(loop: Loop) -> tuple[Loop, Var]:
    """Return a loop that counts its rounds, and their number."""
    start, number, rounds = (Var("rounds", K.INT) for _ in range(3))
    at = len(loop.outs)
    one = Op((number,), L.AUGMENTED["Add"], (start, P.Const(1)), origin=loop.origin)
    body = _handing(P.Block((), (one, *loop.body.ops), loop.body.end), at, number)
    if body.end.how == "next":
        body = _with_result(body, at, number)
    outs, starts = (*loop.outs, rounds), _put(loop.starts, at, P.Const(0))
    carried = _put(heads_of(loop), at, start)
    if isinstance(loop, P.While):
        made = dataclasses.replace(loop, outs=outs, carried=carried, starts=starts, body=body)
        return made, rounds
    body = dataclasses.replace(body, params=carried)
    return dataclasses.replace(loop, outs=outs, starts=starts, body=body), rounds


def _handing(block: P.Block, at: int, number: Var) -> P.Block:
    """Return the block of a round that leaves the loop with a number, too."""
    if block.end.how == "break":
        return _with_result(block, at, number)
    return _in_arms(block, lambda b: _handing(b, at, number))


def _in_arms(block: P.Block, change: Callable[[P.Block], P.Block]) -> P.Block:
    """Return a block whose last operation, if it may leave the loop, has other arms."""
    last = block.ops[-1] if block.ops else None
    if not isinstance(last, P.If) or not leaves_loop(last):
        return block
    return dataclasses.replace(block, ops=(*block.ops[:-1], with_blocks(last, change)))


def _with_result(block: P.Block, at: int, number: Var) -> P.Block:
    end = dataclasses.replace(block.end, results=_put(block.end.results, at, number))
    return dataclasses.replace(block, end=end)


def _put(found: tuple[T, ...], at: int, one: T) -> tuple[T, ...]:
    return (*found[:at], one, *found[at:])


@dataclass(frozen=True)
class Put:
    """How an entry is put on a tape: not before so many operations of the round."""

    saved: Var
    origin: P.Code
    start: int = 0


def behind(block: P.Block, saved: Var) -> int:
    """Return behind how many operations of a round nobody puts anything on a tape."""
    found = 0
    for at, operation in enumerate(block.ops):
        every = P.every(P.Block((), (operation,), P.End("next")))
        if any(isinstance(o, Op) and saved in o.operands for o in every):
            found = at + 1
    return found


def at_last(loop: Loop, needed: Sequence[Var], written: Callable[[P.Code], object]) -> int:
    """Return before which operation of a round an entry reads best.

    That is the statement, as it is `written`, that gives a name in it another value, or the write
    into what it holds a part of. What may leave the loop stands behind the entry.
    """
    ops, end = loop.body.ops, loop.body.end
    if may_leave(loop.body):
        return 0
    pairs = zip(heads_of(loop), end.results if end.how == "next" else (), strict=False)
    next_ones = {r for p, r in pairs if p in needed and r is not p}
    makers: dict[Operand, Op] = {}
    for at, operation in enumerate(ops):
        if not next_ones.isdisjoint(operation.outs):
            said = written(operation.origin)
            while at and said is not None and written(ops[at - 1].origin) is said:
                at -= 1
            return at
        if isinstance(operation, Op):
            if _writes_part(operation, needed, makers):
                return at
            makers |= dict.fromkeys(operation.outs, operation)
    return len(ops)


def _writes_part(op: Op, needed: Sequence[Var], makers: Mapping[Operand, Op]) -> bool:
    """Say whether a part that is kept is written, with a value that has a name in any case."""
    if op.primitive is not L.PUT_ITEM:
        return False
    owner, _, value = op.operands
    if value in makers and value not in needed:
        return False
    return any(_owner(v, makers) is owner for v in needed)


def _owner(v: Operand, makers: Mapping[Operand, Op]) -> Operand | None:
    """Return what a value is an item of, or a copy of one."""
    made = makers.get(v)
    if made is not None and made.primitive is L.method("copy"):
        made = makers.get(made.operands[0])
    return made.operands[0] if made is not None and made.primitive is L.ITEM else None


def putting(
    block: P.Block, needed: Sequence[Operand], seen: set[Var], put: Put
) -> tuple[P.Block, tuple[Var, ...]]:
    """Return the block of a round that puts an entry on the tape, as soon as all of it is there,
    and the entries.

    That is so on each way to the end. What another way binds is missing: None stands for it. What
    an arm that goes on hands over is there before the end of that arm, under another name.
    """
    if block.end.how == "raise":
        return block, ()
    ops, at = block.ops, put.start
    last = ops[-1] if ops else None
    leaving = last if isinstance(last, P.If) and leaves_loop(last) else None
    ends = len(ops) - 1 if leaving is not None else len(ops)
    there = {v for v in needed if not isinstance(v, Var)}
    found = seen.union(*(o.outs for o in ops[:at]))
    while at < ends and not found.issuperset({*needed} - there):
        found |= {*ops[at].outs}
        at += 1
    if leaving is not None and not found.issuperset({*needed} - there):
        outs, made = leaving.outs, list[Var]()

        def arm(block: P.Block) -> P.Block:
            results = block.end.results if block.end.how == "next" else ()
            handed = dict[Operand, Operand](zip(outs, results, strict=False))
            inner = [handed.get(v, v) for v in needed]
            new, entries = putting(block, inner, found, dataclasses.replace(put, start=0))
            made.extend(entries)
            return new

        return _in_arms(block, arm), tuple(made)
    values = [v if v in there or v in found else NOTHING for v in needed]
    entry, entered = entry_of(values, put.saved, put.origin)
    return dataclasses.replace(block, ops=(*ops[:at], *entered, *ops[at:])), (entry,)


def entry_of(
    values: Sequence[Operand], saved: Var, origin: P.Code
) -> tuple[Var, tuple[P.Operation, ...]]:
    """Return the entry of a tape that values make, and what puts it there."""
    entry, out = Var("", K.UNKNOWN), Var("", K.NONE)
    display = Op((entry,), L.TUPLE, tuple(values), (), (), (), origin)
    places = (Place(saved, (P.Anywhere(),)),)
    append = Op((out,), L.method("append"), (saved, entry), (), (), places, origin)
    return entry, (display, append, Op((), L.DISCARD, (out,), (), (), (), origin))
