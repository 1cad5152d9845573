"""Products and sums of derived code as a careful person writes them.

    %1 = 1.0 / y                    z = z_dot / y
    z = z_dot * %1
    %2 = x_dot * x                  t = 2.0 * x_dot * x
    %3 = x_dot * x
    t = %2 + %3
    %4 = -b; s = a + %4 * 0.5       s = a - 0.5 * b
    %5 = u * v; d = np.sum(%5)      d = np.dot(u, v)

Before: a program. After: factors and terms that nobody else reads are gathered: a literal first,
then numbers, arrays, and what divides; equal terms are one. What is `fixed` (the user's own values)
stays as it is written. What is left over is a value that nobody reads.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from s2sad import kinds as K
from s2sad.ir import identities as I
from s2sad.ir import program as P
from s2sad.ir import rebuilt as R
from s2sad.ir.deeds import kind_of
from s2sad.ir.makers import Makers
from s2sad.ir.program import Op, Operand, Var
from s2sad.kinds import Kind
from s2sad.known import spaces
from s2sad.primitives import language as L
from s2sad.primitives.record import Primitive
from s2sad.rulebook.facts import numbers_of

Ops = list[Op]
_LINEAR = (np.sum, np.mean)
_MULT, _DIV, _ADD, _SUB = (L.INFIX[w] for w in ("Mult", "Div", "Add", "Sub"))
_IN_PLACE = {L.AUGMENTED["Add"]: _ADD, L.AUGMENTED["Sub"]: _SUB}
_MINUS, _COPY = L.PREFIX["USub"], L.method("copy")


def gathered(program: P.Program, fixed: frozenset[Var]) -> P.Program:
    """Return a program whose own products and sums are in order, but for what is fixed."""
    worker = _Worker(Makers(program), fixed)
    return replace(program, block=worker.block(program.block))


@dataclass
class Product:
    """coefficient * above[0] * above[1] ... / below[0] / below[1] ..., from so many operations."""

    coefficient: float = 1.0
    above: list[Operand] = field(default_factory=list)
    below: list[Operand] = field(default_factory=list)
    count: int = 0


@dataclass
class Term:
    """A product in a sum, and the value that it is, as long as it stands as it was."""

    product: Product
    value: Operand | None


@dataclass
class _Worker:
    makers: Makers
    fixed: frozenset[Var]
    choices: set[Operand] = field(default_factory=set)

    def block(self, block: P.Block) -> P.Block:
        done: list[P.Operation] = []
        for operation in block.ops:
            if isinstance(operation, Op):
                made = self.op(self.bare(operation))
                if made != [operation]:
                    self.makers.instead(operation, made)
                for op in made:
                    self.makers.made(op)
                    done.append(op)
            else:
                self.choices.update(operation.outs if isinstance(operation, P.If) else ())
                loops = isinstance(operation, P.For | P.While | P.Collect)
                done.append(R.with_blocks(operation, functools.partial(self.inner, loops)))
        return P.Block(block.params, tuple(done), block.end)

    def inner(self, again: bool, block: P.Block) -> P.Block:
        with self.makers.entered(block, again):
            return self.block(block)

    def bare(self, op: Op) -> Op:
        """Return arithmetic that reads a value to which nothing is added, instead of the sum.

        What is stored in a part of an array need not have the shape of that part.
        """
        if op.primitive.form in ("put item", "augmented item"):
            return self.stored(op)
        if op.primitive.form != "infix" or op.outs[0] in self.fixed:
            return op
        table = {v: self.plain(v) for v in op.operands if isinstance(v, Var)}
        return op if all(v is w for v, w in table.items()) else R.op_with(op, table)

    def stored(self, op: Op) -> Op:
        """Return u[i] = x for u[i] = x + np.zeros_like(y), u *= 2.0 for u[...] = 2.0 * u."""
        owner, index, value = op.operands
        if not isinstance(kind_of(owner), K.Array) or not isinstance(value, Var):
            return op
        bare = self.spread(value)
        if bare is not None:
            return replace(op, operands=(owner, index, bare[0]))
        made = self.own(value, kind_of(owner)) if op.primitive is L.PUT_ITEM else None
        if made is not None and made.primitive is _MULT and index == P.Const(...):
            factors = [v for v in made.operands if v is not owner]
            if len(factors) == 1:
                given = (owner, index, factors[0])
                return replace(op, primitive=L.AUGMENTED_ITEM["Mult"], operands=given)
        return op

    def spread(self, given: Operand) -> tuple[Operand, Operand] | None:
        """Return x and y for x + np.zeros_like(y), of a value that nobody else reads."""
        op = self.own(given, kind_of(given))
        if op is None or op.primitive is not _ADD:
            return None
        value, zeros = op.operands
        made = self.makers.of(zeros)
        if made is None or made.primitive is not L.CALL or len(made.operands) != 2:
            return None
        fn, like = made.operands
        is_zeros = I.function_of(fn) is np.zeros_like
        return (value, like) if is_zeros and not made.settings else None

    def plain(self, given: Var) -> Operand:
        """Return x for x + (x == 0) * False, for a copy of x, and for x.conj() of reals."""
        op = self.makers.of(given) if given not in self.fixed else None
        if op is not None and op.primitive is _COPY and not op.settings:
            alone = isinstance(given.kind, K.Array) and self.makers.uses[given] == 1
            return op.operands[0] if alone else given
        real = I.kept(op) if op is not None else None
        if real is not None:
            return real
        if op is not None and op.primitive is _ADD:
            left, right = op.operands
            if self.is_nothing(right) and _covers(left, right):
                return left
        return given

    def is_nothing(self, given: Operand) -> bool:
        op = self.makers.of(given)
        if op is None or op.primitive is not _MULT:
            return False
        one, other = op.operands
        return other == P.Const(False) and I.elements(kind_of(one)) == "bool"

    def op(self, op: Op) -> Ops:
        """Return what stands in the place of an operation."""
        if len(op.outs) != 1 or op.outs[0] in self.fixed:
            return [op]
        made: Ops | None = None
        if op.primitive.form == "call":
            made = self.summed(op)
        elif not _is_real(op.outs[0].kind):
            return [op]
        elif op.primitive in (_MULT, _DIV, _MINUS):
            made = self.product(op)
        elif op.primitive in (_ADD, _SUB):
            made = self.sum(op)
        elif op.primitive in _IN_PLACE:
            plain = Op(op.outs, _IN_PLACE[op.primitive], op.operands, origin=op.origin)
            made = self.sum(plain, one=True)
        return [op] if made is None else made

    def own(self, given: Operand, like: Kind) -> Op | None:
        """Return what has computed a number that nobody else reads, with the shape of another."""
        if not isinstance(given, Var) or given in self.fixed or not _is_real(given.kind):
            return None
        if self.makers.uses[given] > 1 or not (
            _is_number(given.kind) or _as_wide(given.kind, like)
        ):
            return None
        return self.makers.of(given, here=True)

    # products

    def product(self, op: Op) -> Ops | None:
        found = self.factors(op)
        if found is None:
            return None
        made = self.rebuilt(found, op) or _bare(found, op)
        if made is None or len(made) > found.count:
            return None
        return None if len(made) == 1 and _same(made[0], op) else made

    def factors(self, op: Op) -> Product | None:
        """Return the factors of an operation, None where their order matters."""
        found = Product()
        self.take_apart(found, op, op.outs[0].kind, True)
        self.inverted(found)
        self.narrowed(found)
        return found if _is_exact(found) else None

    def narrowed(self, out: Product) -> None:
        """Let x stand for x + np.zeros_like(y) beside a factor of the shape of y.

        A number stands for an array that is filled with it.
        """
        for i, v in enumerate(out.above):
            bare = self.spread(v)
            if bare is None:
                continue
            shape = kind_of(bare[1])
            others = [*out.above[:i], *out.above[i + 1 :], *out.below]
            if any(w is bare[1] or _alike(kind_of(w), shape) for w in others):
                out.above[i] = bare[0]
        for v in list(out.above):
            number = self.filled(v)
            others = [w for w in (*out.above, *out.below) if w is not v]
            if number is None or not any(_of_one_sort(kind_of(w), kind_of(v)) for w in others):
                continue
            at = out.above.index(v)
            value = I.number_of(number)
            out.above[at : at + 1] = [] if value is not None else [number]
            out.coefficient *= 1 if value is None else value

    def filled(self, given: Operand) -> Operand | None:
        """Return the number of which all entries of an array are: np.broadcast_to(x, shape)."""
        op, kind = self.makers.of(given), kind_of(given)
        callee = op.operands[0] if op is not None and op.operands else None
        fn = I.function_of(callee) if callee is not None else None
        if op is None or op.primitive is not L.CALL or fn is None:
            return None
        if numbers_of(fn).form != "fitted" or not isinstance(kind, K.Array):
            return None
        number = op.operands[1]
        return number if isinstance(kind_of(number), K.Num) else None

    def inverted(self, out: Product) -> None:
        """Let p * p stand for p / x, where p is 1.0 / x."""
        for x in list(out.below):
            for p in out.above:
                op = self.makers.of(p)
                if op is not None and op.primitive is _DIV and op.operands == (P.Const(1.0), x):
                    out.below.remove(x)
                    out.above.insert(out.above.index(p), p)
                    break

    def take_apart(self, out: Product, op: Op, like: Kind, above: bool) -> None:
        out.count += 1
        if op.primitive is _MINUS:
            out.coefficient = -out.coefficient
        self.gather(out, op.operands[0], like, above)
        if len(op.operands) == 2:
            self.gather(out, op.operands[1], like, above and op.primitive is _MULT)

    def gather(self, out: Product, given: Operand, like: Kind, above: bool) -> None:
        value = I.number_of(given)
        if value is not None and above:
            out.coefficient *= value
        elif value is not None and I.is_power_of_two(abs(value)):
            out.coefficient /= value
        else:
            op = self.own(given, like) if above else None
            if op is not None and op.primitive in (_MULT, _DIV, _MINUS, L.SAME):
                self.take_apart(out, op, like, above)
            else:
                (out.above if above else out.below).append(given)

    def rebuilt(self, product: Product, op: Op) -> Ops | None:
        """Return the operations of a product, scalars before arrays, a minus sign in front."""
        out = op.outs[0]
        chain = _Chain(out, op.origin)
        minus, size = product.coefficient < 0, abs(product.coefficient)
        numbers = [v for v in product.above if _is_number(kind_of(v))]
        arrays = [v for v in product.above if not _is_number(kind_of(v))]
        if size != 1.0 or not product.above:
            chain.value = P.Const(-size if minus else size)
            minus = False
        for v in numbers:
            minus = chain.times(v, minus)
        below = [v for v in product.below if _is_number(kind_of(v))]
        below.sort(key=lambda v: v in self.choices)
        if chain.value is None and arrays and below:
            minus = chain.times(arrays.pop(0), minus)
        for v in below:
            chain.then(_DIV, v)
        for v in arrays:
            minus = chain.times(v, minus)
        for v in product.below:
            if v not in below:
                chain.then(_DIV, v)
        return chain.ended()

    # sums

    def sum(self, op: Op, one: bool = False) -> Ops | None:
        """Return a sum with equal terms as one; nothing if there must be but `one` term."""
        terms: list[Term] = []
        count = self.terms(op, 1.0, terms)
        if not all(_is_exact(t.product) and _are_real(t.product) for t in terms):
            return None
        merged = self.merged([t for t in terms if t.product.coefficient != 0.0] or terms[:1])
        if one and len(merged) > 1:
            return None
        first = next((i for i, t in enumerate(merged) if t.product.coefficient > 0), 0)
        merged.insert(0, merged.pop(first))
        made = self.added(merged, op)
        if made is None or len(made) > count + sum(t.product.count for t in terms):
            return None
        return None if len(made) == 1 and _same(made[0], op) else made

    def merged(self, terms: Sequence[Term]) -> list[Term]:
        """Return terms of which equal ones are one."""
        found: dict[object, Term] = {}
        for term in terms:
            p = term.product
            key = (self.key(p), p.coefficient > 0) if p.above else object()
            if key in found:
                total = found[key].product.coefficient + p.coefficient
                found[key] = Term(replace(p, coefficient=total), None)
            else:
                found[key] = term
        return list(found.values())

    def key(self, product: Product) -> object:
        """Return what two products have in common that differ in their coefficients."""
        above, below = product.above, product.below
        return frozenset(Counter(map(self.factor, above)).items()), frozenset(
            Counter(below).items()
        )

    def factor(self, given: Operand) -> object:
        """Return what stands for a factor: np.dot(u, v) is np.dot(v, u), of real vectors."""
        op = self.makers.of(given)
        if op is None or op.primitive is not L.CALL or len(op.operands) != 3 or op.settings:
            return given
        fn, *vectors = op.operands
        plain = I.function_of(fn) is np.dot
        alike = all(I.elements(kind_of(v)) == "float" and _rank(v) == 1 for v in vectors)
        return frozenset(Counter(vectors).items()) if plain and alike else given

    def terms(self, op: Op, sign: float, found: list[Term]) -> int:
        """Add the terms of a sum; return of how many operations it consists."""
        like, count = op.outs[0].kind, 1
        signs = (sign, -sign if op.primitive is _SUB else sign)
        for given, mine in zip(op.operands, signs, strict=True):
            inner = self.own(given, like) if _as_wide(kind_of(given), like) else None
            if inner is not None and inner.primitive in (_ADD, _SUB):
                count += self.terms(inner, mine, found)
                continue
            product = Product(mine)
            self.gather(product, given, kind_of(given), True)
            found.append(Term(product, given if product.coefficient * mine > 0 else None))
        return count

    def added(self, terms: Sequence[Term], op: Op) -> Ops | None:
        """Return the operations of a sum: those of the terms that are new, then the sum."""
        if len(terms) == 1:
            return self.rebuilt(terms[0].product, op)
        ops: Ops = []
        chain = _Chain(op.outs[0], op.origin)
        for i, term in enumerate(terms):
            product, value = term.product, term.value
            minus = product.coefficient < 0
            if value is None or (minus and not i):
                size = product.coefficient if minus and not i else abs(product.coefficient)
                inner = Op((Var("", _kind_of(product, op.outs[0].kind)),), _MULT, ())
                inner = replace(inner, origin=op.origin)
                made = self.rebuilt(replace(product, coefficient=size), inner)
                value = inner.outs[0]
                if made is None:  # it is one factor, or a number alone
                    value = product.above[0] if product.above else P.Const(size)
                ops += made or []
            if chain.value is None:
                chain.value = value
            else:
                chain.then(_SUB if minus else _ADD, value)
        made = chain.ended()
        return None if made is None else [*ops, *made]

    def summed(self, op: Op) -> Ops | None:
        """np.sum(2.0 * u * v) -> 2.0 * np.dot(u, v), for vectors"""
        callee, *given = op.operands
        if not isinstance(callee, P.Outer) or I.function_of(callee) not in _LINEAR:
            return None
        if len(given) != 1 or op.settings or not _is_real(op.outs[0].kind):
            return None
        inner = self.own(given[0], kind_of(given[0]))
        if inner is None or inner.primitive not in (_MULT, _DIV, _MINUS):
            return None
        found = self.factors(inner)
        if found is None or not _are_real(found):
            return None
        arrays = [v for v in found.above if not _is_number(kind_of(v))]
        below = [v for v in found.below if _is_number(kind_of(v))]
        if not arrays or len(below) != len(found.below):
            return None
        total = Var("", op.outs[0].kind)
        made = self.total(callee, arrays, replace(op, outs=(total,)))
        numbers = [v for v in found.above if v not in arrays]
        outer = self.rebuilt(Product(found.coefficient, [*numbers, total], below), op)
        return [*made[:-1], replace(made[-1], outs=op.outs)] if outer is None else [*made, *outer]

    def total(self, callee: P.Outer, arrays: list[Operand], op: Op) -> Ops:
        """Return the sum of a product of arrays; that of two vectors has a name."""
        first, *others = (kind_of(v) for v in arrays)
        if len(others) == 1 and isinstance(first, K.Array) and first.rank == 1:
            if I.function_of(callee) is np.sum and _alike(first, others[0]):
                home = callee.name.rpartition(".")[0]
                there = spaces.counterpart(np.dot, first.namespace)
                dot = P.Outer(f"{home}.dot", K.Known(there))
                if home:
                    return [replace(op, operands=(dot, *arrays))]
        inner = Op((Var("", _kind_of(Product(1.0, arrays), first)),), _MULT, (), origin=op.origin)
        made = self.rebuilt(Product(1.0, list(arrays)), inner)
        value = arrays[0] if made is None else inner.outs[0]
        return [*(made or []), replace(op, operands=(callee, value))]


@dataclass
class _Chain:
    """Operations one after the other, each on what the last one gives."""

    out: Var
    origin: P.Code
    value: Operand | None = None
    ops: Ops = field(default_factory=list)

    def then(self, primitive: Primitive, right: Operand) -> None:
        left = P.Const(1.0) if self.value is None else self.value
        kind = _joined(kind_of(left), kind_of(right), self.out.kind)
        self.add(Op((Var("", kind),), primitive, (left, right), origin=self.origin))

    def times(self, factor: Operand, minus: bool) -> bool:
        """Multiply by a factor, the first one with its sign; say whether a sign is left."""
        if self.value is not None:
            self.then(_MULT, factor)
            return minus
        self.value = factor
        if minus:
            self.add(Op((Var("", kind_of(factor)),), _MINUS, (factor,), origin=self.origin))
        return False

    def add(self, op: Op) -> None:
        self.ops.append(op)
        self.value = op.outs[0]

    def ended(self) -> Ops | None:
        """Return the operations, of which the last gives the result; None where there are none."""
        if not self.ops:
            return None
        return [*self.ops[:-1], replace(self.ops[-1], outs=(self.out,))]


def _bare(product: Product, op: Op) -> Ops | None:
    """Return a copy of the only factor, where that is a number."""
    (out,), factors = op.outs, product.above
    if len(factors) != 1 or not all(isinstance(k, K.Num) for k in (out.kind, kind_of(factors[0]))):
        return None
    return [Op((out,), L.SAME, (factors[0],), origin=op.origin)]


# --- kinds ---------------------------------------------------------------------------------------


def _is_real(kind: Kind) -> bool:
    """Say whether a kind is of numbers with a point: nothing wraps, and an order is a rounding."""
    return I.elements(kind) in ("float", "complex")


def _are_real(product: Product) -> bool:
    return all(_is_real(kind_of(v)) for v in (*product.above, *product.below))


def _is_exact(product: Product) -> bool:
    """Say whether the first operation of a product is none of integers, nor a sign of one."""
    if not math.isfinite(product.coefficient):
        return False
    first = sorted(product.above, key=lambda v: not _is_number(kind_of(v)))[:2]
    if abs(product.coefficient) != 1.0 or not first or _is_real(kind_of(first[0])):
        return all(K.is_numeric(kind_of(v)) for v in (*product.above, *product.below))
    return False


def _is_number(kind: Kind) -> bool:
    return isinstance(kind, K.Num) or (isinstance(kind, K.Array) and not kind.rank)


def _rank(given: Operand) -> int:
    kind = kind_of(given)
    return kind.rank if isinstance(kind, K.Array) else 0


def _alike(one: Kind, other: Kind) -> bool:
    """Say whether two kinds have the same shape."""
    if isinstance(one, K.Array) and isinstance(other, K.Array):
        return K.same_shape(one.dims, other.dims)
    return _is_number(one) and _is_number(other)


def _of_one_sort(one: Kind, other: Kind) -> bool:
    """Say whether two kinds are of arrays of one shape and dtype."""
    if not isinstance(one, K.Array) or not isinstance(other, K.Array):
        return False
    return one.dtype == other.dtype and _alike(one, other)


def _as_wide(one: Kind, other: Kind) -> bool:
    """Say whether two kinds have the same number of axes."""
    if isinstance(one, K.Array) and isinstance(other, K.Array):
        return one.rank == other.rank
    return _is_number(one) and _is_number(other)


def _covers(whole: Operand, part: Operand) -> bool:
    """Say whether adding zeros changes nothing about a value: not its shape, not its dtype."""
    one, other = kind_of(whole), kind_of(part)
    return _is_real(one) and (_is_number(other) or _alike(one, other))


def _joined(left: Kind, right: Kind, out: Kind) -> Kind:
    """Return the kind of an operation between two, on the way to a result."""
    dims = [k.dims for k in (left, right) if isinstance(k, K.Array)]
    if not dims:
        return K.erase_value(out) if isinstance(out, K.Num) else K.FLOAT
    like = next(k for k in (out, left, right) if isinstance(k, K.Array))
    return replace(like, dims=functools.reduce(K.broadcast, dims))


def _kind_of(product: Product, out: Kind) -> Kind:
    found: Kind = K.FLOAT
    for v in (*product.above, *product.below):
        found = _joined(found, kind_of(v), out)
    return found


def _same(one: Op, other: Op) -> bool:
    return one.primitive is other.primitive and one.operands == other.operands
