"""What has computed each value, where computing it anew would still give the same.

    t = u[1:] * 2.0
    s = t + x            t is still u[1:] * 2.0
    u[0] = 3.0
    r = t + y            t is not

A walk through a program says what it passes: `made` for an operation, `entered` for a block.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from s2sad.ir import program as P
from s2sad.ir.deeds import deed
from s2sad.ir.memories import memories
from s2sad.ir.program import Op, Operand, Var


class Makers:
    """The operations that a walk through a program has passed, and when memory was written."""

    def __init__(self, program: P.Program) -> None:
        self.memory = memories(program)
        self.uses = uses_of(program)
        self._clock = 0
        self._made: dict[Var, tuple[Op, int, P.Block]] = {}
        self._written: dict[Var, int] = {}
        self._acted = -1
        self._block = program.block

    @contextmanager
    def entered(self, block: P.Block, again: bool) -> Iterator[None]:
        """Be in a block, which may run `again` after what it writes."""
        around, self._block = self._block, block
        if again:
            for operation in P.every(block):
                if isinstance(operation, Op):
                    self._writes(operation)
        yield
        self._block = around

    def made(self, op: Op) -> None:
        """Note what an operation computes and writes."""
        self._clock += 1
        self._writes(op)
        for v in op.outs:
            self._made[v] = op, self._clock, self._block

    def instead(self, old: Op, made: Sequence[Op]) -> None:
        """Note that operations take the place of one: what it alone has read is read less often."""
        self.uses.update(v for op in made for v in map(P.variable, P.operands(op)) if v is not None)
        pending = [old]
        while pending:
            for v in filter(None, map(P.variable, P.operands(pending.pop()))):
                self.uses[v] -= 1
                found = self._made.get(v)
                if not self.uses[v] and found is not None and len(found[0].outs) == 1:
                    pending.append(found[0])

    def of(self, given: Operand, here: bool = False) -> Op | None:
        """Return what has computed a value, if that gives it still; in this block if `here`."""
        found = self._made.get(given) if isinstance(given, Var) else None
        if found is None or (here and found[2] is not self._block):
            return None
        op, at, _ = found
        return op if all(self.is_still(v, at) for v in (given, *P.operands(op))) else None

    def maker(self, v: Var) -> Op | None:
        """Return what has computed a value, whoever has written its memory since."""
        found = self._made.get(v)
        return None if found is None else found[0]

    def is_still(self, given: Operand, since: int) -> bool:
        """Say whether nobody has written the memory of a value since a moment."""
        v = P.variable(given)
        root = self.memory.of(v) if v is not None else None
        if root is None:
            return True
        if self.memory.is_outside(root) and self._acted > since:
            return False
        return self._written.get(root, -1) <= since

    def _writes(self, op: Op) -> None:
        done = deed(op)
        touched: list[Operand] = [*done.writes, *done.draws]
        if done.acts:
            self._acted = self._clock
            touched += P.operands(op)
        for v in filter(None, map(P.variable, touched)):
            root = self.memory.of(v)
            if root is not None:
                self._written[root] = self._clock


def uses_of(program: P.Program) -> Counter[Var]:
    """Count how often each variable is read."""
    return Counter(_read(program))


def _read(program: P.Program) -> Iterator[Var]:
    """Yield each variable as often as it is read."""
    given = list(program.block.end.results)
    for operation in P.every(program.block):
        given += P.operands(operation)
        if not isinstance(operation, Op):
            given += [r for block in P.blocks(operation) for r in block.end.results]
    yield from filter(None, map(P.variable, given))
