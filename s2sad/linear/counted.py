"""A loop that counts its rounds, or puts an entry on the tape on each way to the end of a round.

rounds = 0                            saved = []
while t:                              while t:
    rounds += 1                           saved.append(x)
    x = f(x)                              x = f(x)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TypeVar

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.left_last import leaves_loop
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


def putting(
    block: P.Block, needed: Sequence[Var], seen: set[Var], saved: Var, origin: P.Code
) -> tuple[P.Block, tuple[Var, ...]]:
    """Return the block of a round that puts an entry on the tape, as soon as all of it is there,
    and the entries.

    That is so on each way to the end. What another way binds is missing: None stands for it.
    """
    if block.end.how == "raise":
        return block, ()
    ops, found, at = block.ops, {*seen}, 0
    while at < len(ops) and not found.issuperset(needed):
        found |= {*ops[at].outs}
        at += 1
    last = ops[-1] if ops else None
    if isinstance(last, P.If) and leaves_loop(last) and not found.issuperset(needed):
        inner = found - {*last.outs}
        made = list[Var]()

        def arm(block: P.Block) -> P.Block:
            new, entries = putting(block, needed, inner, saved, origin)
            made.extend(entries)
            return new

        return _in_arms(block, arm), tuple(made)
    entry, put = entry_of([v if v in found else NOTHING for v in needed], saved, origin)
    return dataclasses.replace(block, ops=(*ops[:at], *put, *ops[at:])), (entry,)


def entry_of(
    values: Sequence[Operand], saved: Var, origin: P.Code
) -> tuple[Var, tuple[P.Operation, ...]]:
    """Return the entry of a tape that values make, and what puts it there."""
    entry, out = Var("", K.UNKNOWN), Var("", K.NONE)
    display = Op((entry,), L.TUPLE, tuple(values), (), (), (), origin)
    places = (Place(saved, (P.Anywhere(),)),)
    append = Op((out,), L.method("append"), (saved, entry), (), (), places, origin)
    return entry, (display, append, Op((), L.DISCARD, (out,), (), (), (), origin))
