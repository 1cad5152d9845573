"""A backward sweep that works on the very shadows of a caller.

    A_bar_1 = A_bar.copy()
    A_bar_1[1:-1] = 0.0          A_bar[1:-1] = 0.0
    A_bar[...] = A_bar_1

Before: operations that copy shadows, work on the copies, and put these back. After: the same on the
shadows, where what is put back is the memory of the copy on all paths, nothing else reads or writes
the shadow, and no result may share that memory. The shadows themselves share none with anything
else: who calls is told by AliasError.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from s2sad.ir import program as P
from s2sad.ir.makers import uses_of
from s2sad.ir.memories import memories
from s2sad.ir.products import rank_of
from s2sad.ir.program import Op, Operand, Var
from s2sad.ir.rebuilt import substituted
from s2sad.primitives import language as L

_COPY = L.method("copy")


def on_shadows(
    ops: Sequence[P.Operation], shadows: Iterable[Var], results: Sequence[Operand]
) -> tuple[P.Operation, ...]:
    """Return operations of a backward sweep that leave copies of shadows out."""
    block = P.Block((), tuple(ops), P.End("next", tuple(results)))
    program = P.Program("", block, None)
    uses, shared = uses_of(program), memories(program)
    given = {shared.of(o) for o in results if isinstance(o, Var)}
    table: dict[Var, Operand] = {}
    gone: set[P.Operation] = set()
    for shadow in shadows:
        met = [o for o in block.ops if isinstance(o, Op) and shadow in o.operands[:1]]
        once = uses[shadow] == 2 and [o.primitive for o in met] == [_COPY, L.PUT_ITEM]
        if not once or not rank_of(shadow):  # an array without axes may become a number
            continue
        copy, put = met
        (out,), bar = copy.outs, put.operands[2]
        if shared.of(out) not in given and isinstance(bar, Var) and bar in _names(block, {out}):
            table[out] = shadow
            gone.update(met)
    left = tuple(o for o in block.ops if o not in gone)
    return substituted(P.Block((), left, P.End("next")), table).ops if table else block.ops


def _names(block: P.Block, known: set[Var]) -> set[Var]:
    """Return the variables that are on all paths the array that the known ones are."""
    found = set(known)
    for operation in block.ops:
        match operation:
            case Op():
                form, given = operation.primitive.form, operation.operands[:1]
                if form in ("augmented", "same") and found.issuperset(given):
                    found.update(operation.outs)
            case P.If():
                found |= _names(operation.then, found) | _names(operation.orelse, found)
                found |= _agreed(operation.outs, (operation.then, operation.orelse), found)
            case P.For():
                found |= _carried(operation, found)
    return found


def _agreed(outs: Sequence[Var], blocks: Sequence[P.Block], found: set[Var]) -> set[Var]:
    """Return those of some variables for which all blocks hand over the array."""
    if any(b.end.how != "next" for b in blocks):
        return set()
    rows = zip(outs, *(b.end.results for b in blocks), strict=False)
    return {v for v, *results in rows if found.issuperset(results)}


def _carried(region: P.For, found: set[Var]) -> set[Var]:
    """Return what a loop carries that is the array before, and in the end of each round."""
    body = region.body
    regions = [o for o in P.every(body) if not isinstance(o, Op)]
    if any(b.end.how == "break" for o in regions for b in P.blocks(o)):
        return set()
    pairs = zip(body.params, region.starts, strict=True)
    held = {p for p, start in pairs if start in found}
    while True:
        inside = _names(body, found | held)
        kept = held & _agreed(body.params, (body,), inside)
        if kept == held:
            break
        held = kept
    outs = zip(region.outs, body.params, strict=False)
    return {v for v, p in outs if p in held} | (inside if held else set())
