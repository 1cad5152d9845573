"""Which variables have no value on some path: a name that is bound there was not bound here.

Before: a program. After: the variables that a region may leave unbound, or that it may be given so.

    z.1 = for i in r, z.2 = unbound      z.2 in the first round, z.1 behind no round
        z.3 = x * x[i]                   z.3 always has a value
        next z.3
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.handings import handings
from s2sad.ir.program import Op, Operand, Var


def perhaps_unbound(block: P.Block) -> frozenset[Var]:
    """Return what may have no value in a block, or in those inside."""
    pairs = [*handed_over(block)]
    return _reached({v for v, r in pairs if isinstance(r, P.Unbound)}, pairs)


def brought_in(program: P.Program) -> frozenset[Var]:
    """Return what may be None because memory held that, or the program was given it.

    Other values are None where a literal is, and regions choose that.
    """
    pairs, found = [*handed_over(program.block)], {*program.block.params}
    for operation in P.every(program.block):
        if not isinstance(operation, Op):
            found |= {*P.bound(operation)}
        elif operation.primitive.form == "same":
            pairs.append((operation.outs[0], operation.operands[0]))
        elif operation.primitive.form in ("item", "field", "unpack", "call", "method"):
            found |= {*operation.outs}
    found -= {v for v, _ in pairs}
    return _reached({v for v in found if K.NONE in K.options(v.kind)}, pairs)


def _reached(found: set[Var], pairs: Sequence[tuple[Var, Operand]]) -> frozenset[Var]:
    """Return some variables, and all that take them up."""
    size = -1
    while size != len(found):
        size = len(found)
        found |= {v for v, r in pairs if r in found}
    return frozenset(found)


def handed_over(block: P.Block) -> Iterator[tuple[Var, Operand]]:
    """Yield what blocks inside of a block hand over, each with what takes it up."""
    for step in handings(block):
        if not isinstance(step, Op) and not step.part:
            yield step.target, step.source
