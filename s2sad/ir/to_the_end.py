"""Loops give all that they carry, as it is where they end.

    h, s = for i in r: h, s              h_1, s_1 = for i in r: h, s
    s_1 alone is read behind the loop    both are there behind the loop

A backward sweep begins with the shape of what the last round has made. What nobody reads goes
later.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir import rebuilt as R
from s2sad.ir.program import Op, Operand, Var


def to_the_end(program: P.Program) -> P.Program:
    """Return a program whose loops give all that they carry, unless the rest is numbers."""
    return replace(program, block=_block(program.block))


def _block(block: P.Block) -> P.Block:
    done: list[P.Operation] = []
    for operation in block.ops:
        made = operation if isinstance(operation, Op) else R.with_blocks(operation, _block)
        done.append(_all_given(made) if isinstance(made, P.For | P.While) else made)
    return P.Block(block.params, tuple(done), block.end)


def _all_given(loop: P.For | P.While) -> P.For | P.While:
    carried = loop.carried if isinstance(loop, P.While) else loop.body.params
    more = carried[len(loop.outs) :]
    if all(isinstance(v.kind, K.Num) for v in more):
        return loop
    env: dict[str, Operand] = {v.name: v for v in carried}
    outs = (*loop.outs, *(Var(v.name, v.kind) for v in more))
    return replace(loop, outs=outs, body=_leaving(loop.body, env, more))


def _leaving(block: P.Block, env: Mapping[str, Operand], more: tuple[Var, ...]) -> P.Block:
    """Return a block that leaves its loop with more: with what these names mean there."""
    known, done = dict(env), list[P.Operation]()

    def inside(inner: P.Block) -> P.Block:
        return _leaving(inner, known, more)

    for operation in block.ops:
        if not isinstance(operation, Op | P.For | P.While | P.Collect):
            known |= {v.name: v for v in P.bound(operation)}
            operation = R.with_blocks(operation, inside)
        done.append(operation)
        known |= {v.name: v for v in operation.outs}
    end = block.end
    if end.how == "break":
        end = replace(end, results=(*end.results, *(known[v.name] for v in more)))
    return P.Block(block.params, tuple(done), end)
