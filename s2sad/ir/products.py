"""A product of numbers and arrays: its factors, and the operations that it is put together of.

2.0 * a * u / n        coefficient 2.0, above a and u, below n
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field, replace

from s2sad import kinds as K
from s2sad.ir import identities as I
from s2sad.ir import program as P
from s2sad.ir.deeds import kind_of
from s2sad.ir.program import Op, Operand, Var
from s2sad.kinds import Kind
from s2sad.primitives import language as L
from s2sad.primitives.record import Primitive

Ops = list[Op]
MULT, DIV, MINUS = L.INFIX["Mult"], L.INFIX["Div"], L.PREFIX["USub"]


@dataclass
class Product:
    """coefficient * above[0] * above[1] ... / below[0] / below[1] ..., from so many operations.

    With `literals` it stands for t = 0.5 * a where another one reads that number, too.
    """

    coefficient: float = 1.0
    above: list[Operand] = field(default_factory=list)
    below: list[Operand] = field(default_factory=list)
    count: int = 0
    literals: bool = False


@dataclass
class Term:
    """A product in a sum, and the value that it is, as long as it stands as it was."""

    product: Product
    value: Operand | None


@dataclass
class Chain:
    """Operations one after the other, each on what the last one gives."""

    out: Var
    origin: P.Code
    value: Operand | None = None
    ops: Ops = field(default_factory=list)

    def then(self, primitive: Primitive, right: Operand) -> None:
        left = P.Const(1.0) if self.value is None else self.value
        kind = joined_kind(kind_of(left), kind_of(right), self.out.kind)
        self.add(Op((Var("", kind),), primitive, (left, right), origin=self.origin))

    def times(self, factor: Operand, minus: bool) -> bool:
        """Multiply by a factor, the first one with its sign; say whether a sign is left."""
        if self.value is not None:
            self.then(MULT, factor)
            return minus
        self.value = factor
        if minus:
            self.add(Op((Var("", kind_of(factor)),), MINUS, (factor,), origin=self.origin))
        return False

    def add(self, op: Op) -> None:
        self.ops.append(op)
        self.value = op.outs[0]

    def ended(self) -> Ops | None:
        """Return the operations, of which the last gives the result; None where there are none."""
        if not self.ops:
            return None
        return [*self.ops[:-1], replace(self.ops[-1], outs=(self.out,))]


# --- kinds ---------------------------------------------------------------------------------------


def is_real(kind: Kind) -> bool:
    """Say whether a kind is of numbers with a point: nothing wraps, and an order is a rounding."""
    return I.elements(kind) in ("float", "complex")


def are_real(product: Product) -> bool:
    """Say whether the factors of a product are real; what divides may be an integer."""
    below = (kind_of(v) for v in product.below)
    above = all(is_real(kind_of(v)) for v in product.above)
    return above and all(is_real(k) or (above and I.elements(k) == "int") for k in below)


def is_exact(product: Product) -> bool:
    """Say whether the first operation of a product is none of integers, nor a sign of one."""
    if not math.isfinite(product.coefficient):
        return False
    first = sorted(product.above, key=lambda v: not is_number(kind_of(v)))[:2]
    if abs(product.coefficient) != 1.0 or not first or is_real(kind_of(first[0])):
        return all(K.is_numeric(kind_of(v)) for v in (*product.above, *product.below))
    return False


def is_number(kind: Kind) -> bool:
    """Say whether a kind is of numbers, or of arrays without axes."""
    return isinstance(kind, K.Num) or (isinstance(kind, K.Array) and not kind.rank)


def rank_of(given: Operand) -> int:
    """Return how many axes a value has."""
    kind = kind_of(given)
    return kind.rank if isinstance(kind, K.Array) else 0


def alike(one: Kind, other: Kind) -> bool:
    """Say whether two kinds have the same shape."""
    if isinstance(one, K.Array) and isinstance(other, K.Array):
        return K.same_shape(one.dims, other.dims)
    return is_number(one) and is_number(other)


def as_wide(one: Kind, other: Kind) -> bool:
    """Say whether two kinds have the same number of axes."""
    if isinstance(one, K.Array) and isinstance(other, K.Array):
        return one.rank == other.rank
    return is_number(one) and is_number(other)


def joined_kind(left: Kind, right: Kind, out: Kind) -> Kind:
    """Return the kind of an operation between two, on the way to a result."""
    dims = [k.dims for k in (left, right) if isinstance(k, K.Array)]
    if not dims:
        return K.erase_value(out) if isinstance(out, K.Num) else K.FLOAT
    like = next(k for k in (out, left, right) if isinstance(k, K.Array))
    return replace(like, dims=functools.reduce(K.broadcast, dims))


def kind_of_product(product: Product, out: Kind) -> Kind:
    """Return the kind of a product that becomes a part of a result."""
    found: Kind = K.FLOAT
    for v in (*product.above, *product.below):
        found = joined_kind(found, kind_of(v), out)
    return found
