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
    """Return a program that holds what branches give another value, or what a cell loses."""
    return replace(program, block=_out_of_cells(_block(program.block)))


def _out_of_cells(block: P.Block) -> P.Block:
    """Hold parameters that are read when the variable of their name may have another value.

    def f(x):                    x_0 = x
        x = x * 2.0              x = x * 2.0            an inner function reads x: it is a cell
        g = lambda: x            ...  x_0
    """
    held: dict[Var, Operand] = {}
    for v in (v for v in block.params if v.name and not v.cell):
        rebound = (i for i, o in enumerate(block.ops) if _rebinds(o, v))
        start = next(rebound, len(block.ops))
        behind = P.Block((), block.ops[start:], block.end)
        if start < len(block.ops) and uses_of(P.Program("", behind, None))[v]:
            held[v] = Var(f"{v.name}_0", v.kind)
    if not held:
        return block
    copies = [Op((new,), L.SAME, (v,)) for v, new in held.items() if isinstance(new, Var)]
    first = [o for o in block.ops if any(_begins(o, v) for v in held)]
    rest = substituted(replace(block, ops=tuple(o for o in block.ops if o not in first)), held)
    return P.Block(block.params, (*copies, *first, *rest.ops), rest.end)


def _rebinds(operation: P.Operation, v: Var) -> bool:
    """Say whether an operation may give another value to the cell of a parameter."""
    every = _all(operation)
    found = (o for o in every if isinstance(o, Op) and not _begins(o, v))
    return any(
        isinstance(place.object, Var) and place.object.cell and place.object.name == v.name
        for o in found
        for place in o.writes
    )


def _all(operation: P.Operation) -> list[P.Operation]:
    if isinstance(operation, Op):
        return [operation]
    return [o for b in P.blocks(operation) for o in P.every(b)]


def _begins(operation: P.Operation, v: Var) -> bool:
    """Say whether an operation gives the cell of a parameter what the function was given."""
    binds = isinstance(operation, Op) and operation.primitive is L.BIND
    return binds and P.operands(operation)[1] is v


def _block(block: P.Block) -> P.Block:
    ops = [o if isinstance(o, Op) else with_blocks(o, _block) for o in block.ops]
    block = replace(block, ops=tuple(ops))
    for at in reversed(range(len(ops))):
        region = block.ops[at]
        if isinstance(region, P.If) and region.style == "if" and _changed(region):
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
