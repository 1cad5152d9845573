"""Lists that are empty where they are made: their kind is what they hold later.

    items: list = []                 items: list of arrays = []
    for v in x                       for v in x
        items.append(v * x)              items.append(v * x)

Before: a program, and the kinds of names by statement. After: a program in which the variable of a
list that grows has the kind that it has where it is read last. It is one memory under each name.
"""

from __future__ import annotations

from dataclasses import replace

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Var
from s2sad.ir.rebuilt import substituted, with_blocks
from s2sad.kinds import Kind
from s2sad.stages import KindFacts


def grown(program: P.Program, kinds: KindFacts) -> P.Program:
    """Return a program whose lists have the kinds of what is put into them."""
    table = _kinds_at_last(program, kinds)
    if not table:
        return program
    uses: dict[Var, Operand] = dict(table.items())
    block = _bound(substituted(program.block, uses), table)
    return replace(program, block=block)


def _kinds_at_last(program: P.Program, kinds: KindFacts) -> dict[Var, Var]:
    """Return the variables of what grows, each with one of the kind that it has at last."""
    made: dict[Var, Kind] = {}
    every = list(P.every(program.block))
    for operation in every:
        if isinstance(operation, Op):
            lists = (v for v in operation.outs if v.name and isinstance(v.kind, K.List))
            made |= {v: v.kind for v in lists if K.is_empty(v.kind)}
    for operation in every:
        for v in filter(None, map(P.variable, P.operands(operation))):
            known = kinds.after.get(operation.origin, {}).get(v.name)
            if v in made and isinstance(known, K.List) and not K.is_empty(known):
                made[v] = K.List(known.item)  # how many items there are changes
    return {v: Var(v.name, kind) for v, kind in made.items() if not K.is_empty(kind)}


def _bound(block: P.Block, table: dict[Var, Var]) -> P.Block:
    """Return a block that binds other variables in the place of some."""
    ops: list[P.Operation] = []
    for operation in block.ops:
        if isinstance(operation, Op):
            ops.append(replace(operation, outs=tuple(table.get(v, v) for v in operation.outs)))
        else:
            ops.append(with_blocks(operation, lambda b: _bound(b, table)))
    return P.Block(block.params, tuple(ops), block.end)
