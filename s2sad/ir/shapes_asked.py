"""The shape of a value that is asked for, and another value that has that shape, too.

    t = r**2
    n = t.size            n = r.size, and nobody reads t

Kinds tell which values are of one shape: where a value is computed from another one, both are there
in the same round of every loop. An array that is written keeps its shape.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from s2sad import kinds as K
from s2sad.ir import identities as I
from s2sad.ir import program as P
from s2sad.ir.makers import Makers
from s2sad.ir.program import Op, Operand, Var
from s2sad.primitives import language as L

_SHAPE, _SIZE = L.field("shape"), L.field("size")


def shape_read(op: Op) -> Operand | None:
    """Return the value whose shape an operation gives: x.shape, np.shape(x)."""
    if op.settings:
        return None
    if op.primitive is _SHAPE:
        return op.operands[0]
    asks = op.primitive is L.CALL and len(op.operands) == 2
    return op.operands[1] if asks and I.function_of(op.operands[0]) is np.shape else None


def _asks(op: Op) -> Operand | None:
    """Return the value of which an operation asks the shape, or the size."""
    return op.operands[0] if op.primitive is _SIZE else shape_read(op)


@dataclass(frozen=True)
class ShapesAsked:
    """Finds values to ask for shapes. `asked` says how often each value is asked for its own.

    No user wrote the names in `temps`.
    """

    makers: Makers
    temps: frozenset[str]
    asked: Counter[Var]

    @classmethod
    def of(cls, program: P.Program, makers: Makers, temps: frozenset[str]) -> ShapesAsked:
        """Return what is asked for shapes in a program."""
        ops = (op for op in P.every(program.block) if isinstance(op, Op))
        found = (P.variable(v) for v in map(_asks, ops) if v is not None)
        return cls(makers, temps, Counter(v for v in found if v is not None))

    def elsewhere(self, op: Op) -> Op | None:
        """Return an operation that asks another value for its shape; None for any other one."""
        given = _asks(op)
        if not isinstance(given, Var) or not isinstance(given.kind, K.Array):
            return None
        home = self._home(given, 0)
        if home is given:
            return None
        self.asked[given] -= 1
        self.asked[home] += 1
        return replace(op, operands=tuple(home if o is given else o for o in op.operands), reads=())

    def _home(self, v: Var, gone: int) -> Var:
        """Return a value of the user's with the shape of one that may go.

        `gone` is how many of those who read the value are gone with the one that was asked.
        """
        alone = self.makers.uses[v] - gone <= self.asked[v]
        if self._is_users(v) and not alone:
            return v
        found = [self._home(w, count if alone else 0) for w, count in self._alike(v)]
        users = [w for w in found if self._is_users(w)]
        return users[0] if users else found[0] if alone and found else v

    def _is_users(self, v: Var) -> bool:
        return bool(v.name) and v.name not in self.temps

    def _alike(self, v: Var) -> Iterator[tuple[Var, int]]:
        """Yield what a value is computed from that has its shape, and how often it reads it."""
        op = self.makers.maker(v)
        for w, count in Counter(P.operands(op) if op is not None else ()).items():
            if isinstance(w, Var) and isinstance(w.kind, K.Array) and not w.cell:
                assert isinstance(v.kind, K.Array)
                if K.same_shape(w.kind.dims, v.kind.dims):
                    yield w, count
