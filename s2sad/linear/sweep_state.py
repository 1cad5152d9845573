"""What is known while a program is turned round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from s2sad import kinds as K
from s2sad import runtime
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Place, Var
from s2sad.ir.rebuilt import with_operands
from s2sad.linear.by_identity import Shadows, is_structure
from s2sad.linear.cotangents_of import Bar, Cotangents
from s2sad.linear.tangent_table import NOTHING, NotYet, Tangents
from s2sad.primitives import language as L


@dataclass
class Sweep:
    """What is known while a program is turned round.

    `values` are the variables by their tangents. Behind the operations that are `unstable` memory
    is written; `copies` are made of such memory where an operation reads it. `last` says where each
    variable is read last, `makers` what has bound it. `instead` says what stands in the forward
    sweep in the place of a call, `temps` are results of operations on tangents. So many loops are
    around as `rounds` says; a function that is called counts as one.
    """

    values: dict[Var, Var]
    unstable: frozenset[P.Operation]
    last: Mapping[Var, P.Operation]
    copies: list[Op] = field(default_factory=list)
    makers: dict[Var, Op] = field(default_factory=dict)
    instead: dict[Op, tuple[Op, ...]] = field(default_factory=dict)
    temps: set[Var] = field(default_factory=set)
    rounds: int = 0

    def is_linear(self, op: Op) -> bool:
        """Say whether an operation computes tangents, or handles their memory."""
        read = map(P.variable, P.operands(op))
        written = (p.object for p in op.writes)
        met = (*op.outs, *read, *written)
        return any(v in self.values or v in self.temps for v in met)

    def stable(self, op: Op, t: Tangents, shadows: Shadows | None = None) -> Op:
        """Return an operation on tangents that reads copies of what is written later."""
        if op not in self.unstable:
            return op
        table: dict[Var, Operand] = {}
        for v in filter(None, map(P.variable, op.operands)):
            if v in self.values or not isinstance(v.kind, K.Array | K.List | K.Tuple):
                continue
            numbers = all(isinstance(k, K.Num) for k in K.together(t.kind(v)))
            if not self.is_memory(v, t) or (isinstance(v.kind, K.Tuple) and numbers):
                continue
            if isinstance(v.kind, K.Tuple) and op.primitive.form != "tangent":
                raise NotYet("a tuple of memory that is written later, turned round")
            table[v] = kept = Var(v.name, v.kind)
            deep = (t.table.helper(runtime.private), v)
            places = (Place(v, (P.Anywhere(),)),)
            made = Op((kept,), L.CALL, deep, (), places, (), op.origin)
            if isinstance(v.kind, K.Array) or numbers:
                made = Op((kept,), L.method("copy"), (v,), (), (Place(v),), (), op.origin)
            self.copies.append(made)
            if shadows is not None and isinstance(v.kind, K.List):
                self.keep(v, shadows, op)
        again = with_operands(op, table)
        assert isinstance(again, Op)
        return again

    def keep(self, v: Var, shadows: Shadows, op: Op) -> None:
        """Keep which items a list has, that another operation may change."""
        kept = shadows.kept[v] = Var(v.name, v.kind)
        self.copies.append(Op((kept,), L.method("copy"), (v,), (), (Place(v),), (), op.origin))

    def counted(self, v: Var, op: Op, t: Tangents) -> Var:
        """Return how many items a list has where an operation reads it."""
        if op not in self.unstable:
            return t.call(P.Outer("len", K.Known(len)), (v,), K.INT)
        count = Var("", K.INT)
        given = (P.Outer("len", K.Known(len)), v)
        self.copies.append(Op((count,), L.CALL, given, (), (Place(v),), (), op.origin))
        return count

    def is_memory(self, v: Var, t: Tangents) -> bool:
        """Say whether an array is memory that is written somewhere, or a part of it."""
        maker = self.makers.get(v)
        if v in t.table.facts.written:
            return True
        if maker is None or maker.primitive.form not in ("item", "field", "same"):
            return False
        owner = P.variable(maker.operands[0])
        return owner is not None and (is_structure(owner.kind) or self.is_memory(owner, t))

    def is_number(self, operand: Operand) -> bool:
        """Say whether this is the tangent of a number."""
        v = self.values.get(operand) if isinstance(operand, Var) else None
        return v is not None and isinstance(v.kind, K.Num)

    def missing(self, v: Var) -> Operand:
        """Return what stands for a value that another arm computes: None where it is kept."""
        return NOTHING if self.rounds else P.Unbound(v.name)


def in_place(sweep: Sweep, dot: Var) -> bool:
    """Say whether a cotangent is a structure, which is changed in place and never replaced."""
    return is_structure(sweep.values[dot].kind)


def owned(sweep: Sweep, acc: Cotangents, dot: Var) -> Operand:
    """Return a cotangent that is handed over: an array is memory of its own."""
    kind = sweep.values[dot].kind
    if isinstance(kind, K.Array) or is_structure(kind):
        return acc.buffer(dot)
    return acc.whole(dot)


def value_of(bar: Bar) -> Operand:
    """Return a cotangent that is one value."""
    if bar.value is None:
        raise NotYet("the cotangent of a tuple that is not taken apart")
    return bar.value


def bar_name(v: Var) -> str:
    """Return the name of the cotangent of a variable; what has no name has one without."""
    return f"{v.name}_bar" if v.name else ""
