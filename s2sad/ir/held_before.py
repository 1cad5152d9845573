"""What a branch gives another value, and is read behind it, is held under another name.

    if t:                       x_0 = x
        x_0 = np.exp(x)         if t:
    else:                           x = np.exp(x)
        x_0 = x                 x_bar = x_bar * x_0 + x
    x_bar = x_bar * x + x_0

Before: a derived program. After: the same with copies of names. The user's statements go on to read
and bind the names that they have in the source.
"""

from __future__ import annotations

from dataclasses import replace

from s2sad.ir import program as P
from s2sad.ir.makers import uses_of
from s2sad.ir.program import Op, Operand, Var
from s2sad.ir.rebuilt import substituted, with_blocks
from s2sad.primitives import language as L


def held_before(program: P.Program) -> P.Program:
    """Return a program that holds what branches give another value."""
    return replace(program, block=_block(program.block))


def _block(block: P.Block) -> P.Block:
    ops = [o if isinstance(o, Op) else with_blocks(o, _block) for o in block.ops]
    block = replace(block, ops=tuple(ops))
    for at in reversed(range(len(ops))):
        region = block.ops[at]
        if isinstance(region, P.If) and region.style == "if":
            block = _held(block, at, region)
    return block


def _held(block: P.Block, at: int, region: P.If) -> P.Block:
    """Return a block that holds what the branch at a place changes, if it is read behind that."""
    behind = P.Block((), block.ops[at + 1 :], block.end)
    read = uses_of(P.Program("", behind, None))
    table: dict[Var, Operand] = {v: Var(v.name, v.kind) for v in _changed(region) if read[v]}
    if not table:
        return block
    pairs = ((held, v) for v, held in table.items() if isinstance(held, Var))
    copies = [Op((held,), L.SAME, (v,), origin=region.origin) for held, v in pairs]
    behind = substituted(behind, table)
    before, test = block.ops[:at], list[P.Operation]()
    while before and region.test in before[-1].outs and table.keys().isdisjoint(before[-1].outs):
        before, test = before[:-1], [before[-1], *test]
    return P.Block(block.params, (*before, *copies, *test, region, *behind.ops), behind.end)


def _changed(region: P.If) -> list[Var]:
    """Return the variables to which a branch gives another value under the same name."""
    ends = [b.end for b in P.blocks(region)]
    if any(end.how != "next" for end in ends):
        return []
    found = []
    for out, *results in zip(region.outs, *(end.results for end in ends), strict=True):
        inside = {v for b in P.blocks(region) for o in b.ops for v in o.outs}
        kept = [r for r in results if isinstance(r, Var) and r not in inside and not r.cell]
        found += [v for v in kept if v.name == out.name and v.name and results.count(v) == 1]
    return found
