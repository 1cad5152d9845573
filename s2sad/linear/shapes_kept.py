"""Arrays of which a backward sweep reads nothing but the shape are not kept: their shape is.

    saved.append((t, h))                saved.append((t.shape, h))
    ...                                 ...
    t, h = saved.pop()                  t_shape, h = saved.pop()
    t_bar = unbroadcast(x, t.shape)     t_bar = unbroadcast(x, t_shape)

Before: a derived program whose algebra is done. After: the same, where tapes hold shapes in the
place of arrays. Where another array of the same shape is kept anyway, that is asked.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from s2sad import kinds as K
from s2sad.ir import identities as I
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Var
from s2sad.ir.rebuilt import with_blocks
from s2sad.ir.shapes_asked import shape_read
from s2sad.known import spaces
from s2sad.linear.slots import Entry, rows_of
from s2sad.linear.tangent_table import NOTHING
from s2sad.linear.transpose import Turned
from s2sad.primitives import language as L


def with_shapes_on_tapes(
    program: P.Program, entries: Sequence[Entry], made: Turned, temps: frozenset[str]
) -> tuple[P.Program, list[Entry]]:
    """Return a program that reads shapes in the place of arrays, and what its tapes hold.

    No user wrote the names in `temps`. What an arm alone computes is None where another one ran.
    """
    alone = _asked_alone(program.block) if any(e.stay for e in entries) else set()
    shapes, there = _Shapes(temps), bound_by_operations(made.forward)
    found = []
    for entry, rows in zip(entries, rows_of(entries, made.forward), strict=True):
        whole = len(rows) == len(entry.given) and all(len(r) == len(entry.parts) for r in rows)
        given = {k: {r[k] for r in rows} for k in entry.stay} if whole else {}
        bound = {k for k, vs in given.items() if vs <= there}
        sure = bound | {k for k, vs in given.items() if vs <= {*there, NOTHING}}
        asked = {k: entry.parts[k] for k in sure if entry.parts[k] in alone}
        others = [entry.parts[k] for k in entry.stay if k in bound and k not in asked]
        gone = {k for k, v in asked.items() if shapes.like(v, others)}
        kept = tuple((k, shapes.of(v)) for k, v in asked.items() if k not in gone)
        stay = tuple(k for k in entry.stay if k not in gone)
        found.append(replace(entry, stay=stay, shapes=kept))
    if not shapes.instead:
        return program, found
    return replace(program, block=shapes.block(program.block)), found


def shapes_alone(
    block: P.Block, needed: Sequence[Var], bound: Container[Operand], temps: frozenset[str]
) -> tuple[P.Block, dict[Var, Var]]:
    """Return the block of a reverse, and the shapes that it reads in the place of arrays.

    What is `bound` by an operation is surely there.
    """
    alone = _asked_alone(block)
    shapes = _Shapes(temps)
    sure = [v for v in needed if v in bound]
    others = [v for v in sure if v not in alone]
    asked = [v for v in sure if v in alone and not shapes.like(v, others)]
    found = {v: shapes.of(v) for v in asked}
    return (shapes.block(block) if shapes.instead else block), found


def bound_by_operations(forward: Sequence[P.Operation]) -> set[Operand]:
    """Return what operations compute; what a region gives may be None."""
    every = P.every(P.Block((), tuple(forward), P.End("next")))
    return {v for o in every if isinstance(o, Op) for v in o.outs}


def _asked_alone(block: P.Block) -> set[Var]:
    """Return the arrays of which nothing is read but the shape, and that is."""
    asked: set[Var] = set()
    read = {v for v in map(P.variable, block.end.results) if v is not None}
    for op in P.every(block):
        given = {v for v in map(P.variable, P.operands(op)) if v is not None}
        if isinstance(op, Op) and _asks(op):
            asked |= given
            continue
        read |= given
        if isinstance(op, Op):
            read |= {p.object for p in op.writes if isinstance(p.object, Var)}
        else:
            ends = (r for b in P.blocks(op) for r in b.end.results)
            read |= {v for v in map(P.variable, ends) if v is not None}
    return {v for v in asked - read if isinstance(v.kind, K.Array) and not v.cell}


def _asks(op: Op) -> bool:
    """Say whether an operation reads the shape of an array alone, and could do with that."""
    return shape_read(op) is not None or _zeros_like(op) is not None


def _zeros_like(op: Op) -> Var | None:
    """Return the array of NumPy's numbers with a point to which zeros are made alike."""
    if op.primitive is not L.CALL or len(op.operands) != 2 or op.settings:
        return None
    fn, given = op.operands
    kind = given.kind if isinstance(given, Var) else None
    plain = isinstance(kind, K.Array) and (kind.dtype, kind.namespace) == ("float64", spaces.NUMPY)
    alike = plain and I.function_of(fn) is np.zeros_like
    dotted = isinstance(fn, P.Outer) and "." in fn.name
    return given if alike and dotted and isinstance(given, Var) else None


@dataclass(frozen=True)
class _Shapes:
    """What is read `instead` of an array: another array of its shape, or its shape.

    No user wrote the names in `temps`.
    """

    temps: frozenset[str]
    instead: dict[Var, Var] = field(default_factory=dict)

    def like(self, v: Var, others: Sequence[Var]) -> bool:
        """Let another array be asked for the shape of one, if there is one of that shape."""
        kind = v.kind
        assert isinstance(kind, K.Array)
        for w in others:
            if isinstance(w.kind, K.Array) and K.same_shape(w.kind.dims, kind.dims):
                if (w.kind.dtype, w.kind.namespace) == (kind.dtype, kind.namespace):
                    self.instead[v] = w
                    return True
        return False

    def of(self, v: Var) -> Var:
        """Return what holds the shape of an array."""
        assert isinstance(v.kind, K.Array)
        word = v.name.rstrip("_0123456789") if v.name in self.temps else v.name
        shape = Var(f"{word}_shape" if word else "shape", K.Tuple((K.INT,) * v.kind.rank))
        self.instead[v] = shape
        return shape

    def block(self, block: P.Block) -> P.Block:
        ops = (self.op(o) if isinstance(o, Op) else with_blocks(o, self.block) for o in block.ops)
        return P.Block(block.params, tuple(ops), block.end)

    def op(self, op: Op) -> Op:
        given = _zeros_like(op) or (shape_read(op) if _asks(op) else None)
        instead = self.instead.get(given) if isinstance(given, Var) else None
        if instead is None:
            return op
        if isinstance(instead.kind, K.Array):
            table: dict[Operand, Operand] = {given: instead} if isinstance(given, Var) else {}
            return replace(op, operands=tuple(table.get(o, o) for o in op.operands), reads=())
        if _zeros_like(op) is None:
            return Op(op.outs, L.SAME, (instead,), origin=op.origin)
        fn = op.operands[0]
        assert isinstance(fn, P.Outer)
        zeros = P.Outer(f"{fn.name.rpartition('.')[0]}.zeros", K.Known(np.zeros))
        return replace(op, operands=(zeros, instead), reads=())
