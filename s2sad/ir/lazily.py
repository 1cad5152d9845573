"""Numbers that one arm of a branch reads alone are computed in that arm.

    t = 0.5 / y
    x_bar = t if x >= 0.0 else 0.0          x_bar = 0.5 / y if x >= 0.0 else 0.0

So a mask keeps out what is infinite, and Python's errors where it divides by zero. Only operations
of a backward sweep are moved: what the function computes raises where it did. They read numbers,
which nobody writes, and do nothing else, so it does not matter when they run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir import rebuilt as R
from s2sad.ir.deeds import deed
from s2sad.ir.makers import uses_of
from s2sad.ir.program import Op, Operand, Var


def lazily(program: P.Program) -> P.Program:
    """Return a program whose arms compute what they alone read."""
    uses = uses_of(program)

    def block(given: P.Block) -> P.Block:
        return _block(given, uses, block)

    return replace(program, block=block(program.block))


def _block(given: P.Block, uses: Counter[Var], inside: R.Change) -> P.Block:
    done: dict[P.Operation, None] = {}
    made: dict[Var, P.Operation] = {}
    for operation in given.ops:
        if not isinstance(operation, Op):
            operation = R.with_blocks(operation, inside)
        if isinstance(operation, P.If) and operation.style in ("either", "if"):
            arms = (operation.then, operation.orelse)
            taken = [_alone(arm, made, uses) for arm in arms]
            then, orelse = (
                replace(arm, ops=(*(o for o in done if o in more), *arm.ops))
                for arm, more in zip(arms, taken, strict=True)
            )
            for one in set[P.Operation]().union(*taken):
                del done[one], made[one.outs[0]]
            operation = replace(operation, then=then, orelse=orelse)
        done[operation] = None
        if _is_plain(operation):
            made[operation.outs[0]] = operation
    return replace(given, ops=tuple(done))


def _alone(arm: P.Block, made: dict[Var, P.Operation], uses: Counter[Var]) -> set[P.Operation]:
    """Return the operations before an arm whose values it reads alone, and once."""
    read = _read(arm)
    taken: set[P.Operation] = set()
    while read:
        v = P.variable(read.pop())
        one = made.get(v) if v is not None else None
        if one is not None and uses[one.outs[0]] == 1:
            taken.add(one)
            read += P.operands(one)
            read += [o for b in P.blocks(one) for o in _read(b)] if isinstance(one, P.If) else []
    return taken


def _read(block: P.Block) -> list[Operand]:
    """Return what a block reads, and hands over."""
    return [*block.end.results, *(o for op in P.every(block) for o in P.operands(op))]


def _is_plain(operation: P.Operation) -> bool:
    """Say whether an operation of a backward sweep makes a number of numbers, and no more."""
    numbers = len(operation.outs) == 1 and _are_numbers((*operation.outs, *P.operands(operation)))
    if not isinstance(operation.origin, P.Undone) or not numbers:
        return False
    if isinstance(operation, Op):
        done = deed(operation)
        return not (done.acts or done.writes or done.draws or done.checks)
    if not isinstance(operation, P.If) or operation.style != "either":
        return False
    arms = P.blocks(operation)
    return all(_are_numbers(b.end.results) and all(map(_is_plain, b.ops)) for b in arms)


def _are_numbers(given: Iterable[Operand]) -> bool:
    """Say whether operands are numbers that nobody binds anew, or known functions."""
    return all(
        isinstance(o.kind, K.Num) and not o.cell
        if isinstance(o, Var)
        else isinstance(o, P.Const) or (isinstance(o, P.Outer) and isinstance(o.kind, K.Known))
        for o in given
    )
