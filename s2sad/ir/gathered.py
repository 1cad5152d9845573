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
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from s2sad import kinds as K
from s2sad.ir import identities as I
from s2sad.ir import program as P
from s2sad.ir import rebuilt as R
from s2sad.ir.broadcasts import of_one_sort, repeated_in
from s2sad.ir.deeds import deed, kind_of
from s2sad.ir.makers import Makers
from s2sad.ir.products import (
    DIV,
    MINUS,
    MULT,
    Chain,
    Ops,
    Product,
    Term,
    alike,
    are_real,
    as_wide,
    is_exact,
    is_number,
    is_real,
    kind_of_product,
    rank_of,
)
from s2sad.ir.program import Op, Operand, Var
from s2sad.ir.shapes_asked import ShapesAsked, shape_read
from s2sad.kinds import Kind
from s2sad.known import spaces
from s2sad.primitives import language as L

_LINEAR = (np.sum, np.mean)
_ADD, _SUB = (L.INFIX[w] for w in ("Add", "Sub"))
_IN_PLACE = {L.AUGMENTED["Add"]: _ADD, L.AUGMENTED["Sub"]: _SUB}
_PRODUCTS = (MULT, DIV, MINUS)
_TURNED = {
    table[word]: table[other]
    for table in (L.AUGMENTED, L.AUGMENTED_ITEM)
    for word, other in (("Add", "Sub"), ("Sub", "Add"))
}
_COPY = L.method("copy")


def gathered(
    program: P.Program, fixed: frozenset[Var], temps: frozenset[str] = frozenset()
) -> P.Program:
    """Return a program whose own products and sums are in order, but for what is fixed.

    No user wrote the names in `temps`.
    """
    makers = Makers(program)
    worker = _Worker(makers, ShapesAsked.of(program, makers, temps), fixed)
    return replace(program, block=worker.block(program.block))


@dataclass
class _Worker:
    makers: Makers
    shapes: ShapesAsked
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
        if op.primitive.form == "call" and self.computes(op):
            table = {v: self.copied(v) for v in op.operands[1:] if isinstance(v, Var)}
        elif op.primitive.form != "infix" or op.outs[0] in self.fixed:
            return op
        else:
            table = {v: self.plain(v) for v in op.operands if isinstance(v, Var)}
        return op if all(v is w for v, w in table.items()) else R.op_with(op, table)

    def stored(self, op: Op) -> Op:
        """Return u[i] = x for u[i] = x + np.zeros_like(y), u[i] *= 2.0 for u[i] = 2.0 * u[i]."""
        owner, index, value = op.operands
        if not isinstance(kind_of(owner), K.Array) or not isinstance(value, Var):
            return op
        bare = self.spread(value) or self.whole(value, kind_of(owner))
        if bare is not None:
            return replace(op, operands=(owner, index, bare[0]))
        made = self.own(value, kind_of(owner)) if op.primitive is L.PUT_ITEM else None
        if made is not None and made.primitive in (MULT, DIV):
            one, other = made.operands
            if made.primitive is MULT and self.is_part(other, owner, index):
                one, other = other, one
            if self.is_part(one, owner, index):
                given, word = (owner, index, other), made.primitive.word
                return replace(op, primitive=L.AUGMENTED_ITEM[word], operands=given)
        return op

    def is_part(self, given: Operand, owner: Operand, index: Operand) -> bool:
        """Say whether a value is what stands at an index of an array, read for that alone."""
        if index == P.Const(...):
            return given is owner
        op = self.makers.of(given, here=True) if self.uses(given) == 1 else None
        return op is not None and op.primitive is L.ITEM and op.operands == (owner, index)

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

    def whole(self, given: Operand, owner: Kind) -> tuple[Operand] | None:
        """Return i for 1.0 * i, a number of Python's that is stored among numbers with a point."""
        op = self.own(given, kind_of(given))
        if op is None or op.primitive is not MULT or not is_real(owner):
            return None
        for number, value in (op.operands, op.operands[::-1]):
            kind = kind_of(value)
            if I.number_of(number) == 1.0 and isinstance(kind, K.Num) and kind.dtype is None:
                return (value,) if kind.type == "int" and not kind.either else None
        return None

    def computes(self, op: Op) -> bool:
        """Say whether a call of ours makes an array of what it is given, and does no more."""
        known = deed(op)
        new = known.fresh and self.fixed.isdisjoint(op.outs)
        return new and not (known.acts or known.writes or known.draws)

    def copied(self, given: Var) -> Operand:
        """Return x for a copy of x that is read here alone, as long as x holds the same."""
        alone = isinstance(given.kind, K.Array) and self.makers.uses[given] == 1
        if given in self.fixed or not alone:
            return given
        op = self.makers.of(given)
        copies = op is not None and op.primitive is _COPY and not op.settings
        return op.operands[0] if op is not None and copies else given

    def plain(self, given: Var) -> Operand:
        """Return x for x + (x == 0) * False, for a copy of x, and for x.conj() of reals."""
        copied = self.copied(given)
        if copied is not given:
            return copied
        op = self.makers.of(given) if given not in self.fixed else None
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
        if op is None or op.primitive is not MULT:
            return False
        one, other = op.operands
        return other == P.Const(False) and I.elements(kind_of(one)) == "bool"

    def op(self, op: Op) -> Ops:
        """Return what stands in the place of an operation."""
        if op.primitive in _TURNED and self.fixed.isdisjoint(op.outs):
            turned = self.turned(op)
            if turned is not None:
                return turned
        if len(op.outs) != 1 or op.outs[0] in self.fixed:
            return [op]
        made: Ops | None = None
        asked = self.shapes.elsewhere(op)
        if asked is not None:
            return [asked]
        if op.primitive.form == "call":
            made = self.summed(op)
        elif op.primitive is _COPY:
            made = self.filled(op)
        elif not is_real(op.outs[0].kind):
            return [op]
        elif op.primitive in (MULT, DIV, MINUS):
            made = self.product(op)
        elif op.primitive in (_ADD, _SUB):
            made = self.sum(op)
        elif op.primitive in _IN_PLACE:
            plain = Op(op.outs, _IN_PLACE[op.primitive], op.operands, origin=op.origin)
            made = self.sum(plain, one=True)
        return [op] if made is None else made

    def turned(self, op: Op) -> Ops | None:
        """u += -2.0 * x -> u -= 2.0 * x"""
        *first, value = op.operands
        made = self.own(value, kind_of(value)) if is_real(kind_of(first[0])) else None
        found = self.factors(made) if made is not None and made.primitive in _PRODUCTS else None
        if made is None or found is None or found.coefficient >= 0:
            return None
        inner = replace(made, outs=(Var("", made.outs[0].kind),))
        ops = self.rebuilt(replace(found, coefficient=-found.coefficient), inner)
        if ops is None and (len(found.above) != 1 or found.below):
            return None
        bare = found.above[0] if ops is None else inner.outs[0]
        if ops is None and not as_wide(kind_of(bare), kind_of(value)):
            return None
        return [*(ops or []), replace(op, primitive=_TURNED[op.primitive], operands=(*first, bare))]

    def filled(self, op: Op) -> Ops | None:
        """np.broadcast_to(c, x.shape).copy() -> np.full_like(x, c), for a number of one dtype"""
        made = self.makers.of(op.operands[0]) if not op.settings else None
        number, kind = repeated_in(made), op.outs[0].kind
        if made is None or number is None or not isinstance(kind_of(number), K.Num):
            return None
        callee, _, shape = made.operands
        asked = self.makers.maker(shape) if isinstance(shape, Var) else None
        home = callee.name.rpartition(".")[0] if isinstance(callee, P.Outer) else ""
        like = shape_read(asked) if asked is not None else None
        if not home or like is None or not of_one_sort(kind_of(like), kind):
            return None
        there = spaces.counterpart(np.full_like, kind.namespace)  # type: ignore[attr-defined]
        full = P.Outer(f"{home}.full_like", K.Known(there))
        return [Op(op.outs, L.CALL, (full, like, number), (), (), (), op.origin)]

    def own(self, given: Operand, like: Kind) -> Op | None:
        """Return what has computed a number that nobody else reads, with the shape of another."""
        if not isinstance(given, Var) or given in self.fixed or not is_real(given.kind):
            return None
        if self.makers.uses[given] > 1 or not (is_number(given.kind) or as_wide(given.kind, like)):
            return None
        return self.makers.of(given, here=True)

    # products

    def product(self, op: Op) -> Ops | None:
        with_literals = self.factors(op, True)
        if with_literals is not None:
            made = self.rebuilt(with_literals, op)
            if made is not None and len(made) < with_literals.count:
                return made
        found = self.factors(op)
        if found is None:
            return None
        made = self.rebuilt(found, op) or self.only_factor(found, op)
        if made is None or len(made) > found.count:
            return None
        return None if len(made) == 1 and _same(made[0], op) else made

    def factors(self, op: Op, literals: bool = False) -> Product | None:
        """Return the factors of an operation, None where their order matters.

        Their `literals` may be those of numbers that others read, too.
        """
        found = Product(literals=literals)
        self.take_apart(found, op, op.outs[0].kind, True)
        self.inverted(found)
        self.narrowed(found)
        return found if is_exact(found) else None

    def narrowed(self, out: Product) -> None:
        """Let x stand for x + np.zeros_like(y) beside a factor of the shape of y.

        So it does for np.broadcast_to(x, y.shape): the product has the shape, and the dtype.
        """
        for i, v in enumerate(out.above):
            bare = self.spread(v)
            if bare is None:
                continue
            shape = kind_of(bare[1])
            others = [*out.above[:i], *out.above[i + 1 :], *out.below]
            if any(w is bare[1] or alike(kind_of(w), shape) for w in others):
                out.above[i] = bare[0]
        for v in list(out.above):
            value = repeated_in(self.makers.of(v))
            others = [w for w in (*out.above, *out.below) if w is not v]
            if value is None or not any(of_one_sort(kind_of(w), kind_of(v)) for w in others):
                continue
            at = out.above.index(v)
            inner = Product(above=[value])
            if self.uses(v) == 1 or isinstance(value, P.Const):
                inner.above = []
                self.gather(inner, value, kind_of(value), True)
            out.coefficient *= inner.coefficient
            out.above[at : at + 1] = inner.above
            out.below += inner.below
            out.count += inner.count

    def inverted(self, out: Product) -> None:
        """Let p * y * p stand for p * y / x, where p is 1.0 / x: as x did, p comes last.

        p * p may be too small for a number where p * y is not.
        """
        for x in list(out.below):
            for p in out.above:
                op = self.makers.of(p)
                if op is not None and op.primitive is DIV and op.operands == (P.Const(1.0), x):
                    out.below.remove(x)
                    out.above.append(p)
                    break

    def take_apart(self, out: Product, op: Op, like: Kind, above: bool) -> None:
        out.count += 1
        if op.primitive is MINUS:
            out.coefficient = -out.coefficient
        self.gather(out, op.operands[0], like, above)
        if len(op.operands) == 2:
            self.gather(out, op.operands[1], like, above and op.primitive is MULT)

    def gather(self, out: Product, given: Operand, like: Kind, above: bool) -> None:
        value = I.number_of(given)
        if value is not None and above:
            out.coefficient *= value
        elif value is not None and I.is_power_of_two(abs(value)):
            out.coefficient /= value
        else:
            op = self.own(given, like) if above else None
            shared = self.with_literal(given) if out.literals and op is None and above else None
            if op is not None and op.primitive in (MULT, DIV, MINUS, L.SAME, _COPY):
                self.take_apart(out, op, like, above)
            elif shared is not None:
                out.coefficient *= shared[0]
                out.above.append(shared[1])
            else:
                (out.above if above else out.below).append(given)

    def with_literal(self, given: Operand) -> tuple[float, Operand] | None:
        """Return a literal and a number whose product is a number."""
        op = self.makers.of(given) if is_real(kind_of(given)) else None
        if op is None or op.primitive is not MULT or not is_number(kind_of(given)):
            return None
        for literal, other in (op.operands, op.operands[::-1]):
            value = I.number_of(literal)
            if value is not None and is_real(kind_of(other)):
                return value, other
        return None

    def rebuilt(self, product: Product, op: Op) -> Ops | None:
        """Return the operations of a product, scalars before arrays, a minus sign in front."""
        out = op.outs[0]
        chain = Chain(out, op.origin)
        minus, size = product.coefficient < 0, abs(product.coefficient)
        numbers = [v for v in product.above if is_number(kind_of(v))]
        arrays = [v for v in product.above if not is_number(kind_of(v))]
        if size != 1.0 or not product.above:
            chain.value = P.Const(-size if minus else size)
            minus = False
        for v in numbers:
            minus = chain.times(v, minus)
        below = [v for v in product.below if is_number(kind_of(v))]
        below.sort(key=lambda v: v in self.choices)
        if chain.value is None and minus and below:
            chain.value, minus = P.Const(-1.0), False
        if chain.value is None and arrays and below:
            minus = chain.times(arrays.pop(0), minus)
        for v in below:
            chain.then(DIV, v)
        for v in arrays:
            minus = chain.times(v, minus)
        for v in product.below:
            if v not in below:
                chain.then(DIV, v)
        return chain.ended()

    def only_factor(self, product: Product, op: Op) -> Ops | None:
        """Return a copy of the only factor that is left; a new array is its own copy."""
        (out,), factors = op.outs, product.above
        if len(factors) != 1 or product.below:
            return None
        (value,), kind = factors, kind_of(factors[0])
        made = self.makers.of(value, here=True) if value not in self.fixed else None
        new = made is not None and self.uses(value) == 1 and deed(made).fresh
        if new or (isinstance(kind, K.Num) and isinstance(out.kind, K.Num)):
            return [Op((out,), L.SAME, (value,), origin=op.origin)]
        copied = of_one_sort(out.kind, kind) and rank_of(out)
        return [Op((out,), _COPY, (value,), origin=op.origin)] if copied else None

    # sums

    def sum(self, op: Op, one: bool = False) -> Ops | None:
        """Return a sum with equal terms as one; nothing if there must be but `one` term."""
        terms: list[Term] = []
        count = self.terms(op, 1.0, terms)
        if not all(is_exact(t.product) and are_real(t.product) for t in terms):
            return None
        merged = self.merged([t for t in terms if t.product.coefficient != 0.0] or terms[:1])
        if one and len(merged) > 1:
            return None
        if len(merged) < len(terms):
            self.take_numbers_apart(merged, terms)
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

    def take_numbers_apart(self, merged: Sequence[Term], terms: Sequence[Term]) -> None:
        """Let factors stand for a number that only terms read which are one now.

        So do they for a number that others read, too, where literals cancel.
        """
        for product in (t.product for t in merged if t.value is None):
            for v in [v for v in product.above if is_number(kind_of(v))]:
                count = sum(t.product.above.count(v) for t in terms)
                op = self.makers.of(v, here=True) if v not in self.fixed else None
                shared = self.with_literal(v)
                if op is not None and op.primitive is DIV and self.uses(v) == count > 1:
                    product.above.remove(v)
                    self.take_apart(product, op, kind_of(v), True)
                elif shared is not None and abs(product.coefficient * shared[0]) == 1.0:
                    product.above[product.above.index(v)] = shared[1]
                    product.coefficient *= shared[0]

    def uses(self, given: Operand) -> int:
        """Return how often a value is read."""
        return self.makers.uses[given] if isinstance(given, Var) else 0

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
        alike = all(I.elements(kind_of(v)) == "float" and rank_of(v) == 1 for v in vectors)
        return frozenset(Counter(vectors).items()) if plain and alike else given

    def terms(self, op: Op, sign: float, found: list[Term]) -> int:
        """Add the terms of a sum; return of how many operations it consists."""
        like, count = op.outs[0].kind, 1
        signs = (sign, -sign if op.primitive is _SUB else sign)
        for given, mine in zip(op.operands, signs, strict=True):
            inner = self.own(given, like) if as_wide(kind_of(given), like) else None
            if inner is not None and inner.primitive in (_ADD, _SUB):
                count += self.terms(inner, mine, found)
                continue
            product = Product(mine)
            self.gather(product, given, kind_of(given), True)
            factors = [*product.above]
            self.narrowed(product)
            stays = product.coefficient * mine > 0 and product.above == factors
            found.append(Term(product, given if stays else None))
        return count

    def added(self, terms: Sequence[Term], op: Op) -> Ops | None:
        """Return the operations of a sum: those of the terms that are new, then the sum."""
        if len(terms) == 1:
            (product,) = (t.product for t in terms)
            one = product.coefficient == 1.0
            return self.rebuilt(product, op) or (self.only_factor(product, op) if one else None)
        ops: Ops = []
        chain = Chain(op.outs[0], op.origin)
        for i, term in enumerate(terms):
            product, value = term.product, term.value
            minus = product.coefficient < 0
            if value is None or (minus and not i):
                size = product.coefficient if minus and not i else abs(product.coefficient)
                inner = Op((Var("", kind_of_product(product, op.outs[0].kind)),), MULT, ())
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
        if len(given) != 1 or op.settings or not is_real(op.outs[0].kind):
            return None
        inner = self.own(given[0], kind_of(given[0]))
        if inner is None or inner.primitive not in (MULT, DIV, MINUS):
            return None
        found = self.factors(inner)
        if found is None or not are_real(found):
            return None
        arrays = [v for v in found.above if not is_number(kind_of(v))]
        below = [v for v in found.below if is_number(kind_of(v))]
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
            if I.function_of(callee) is np.sum and alike(first, others[0]):
                home = callee.name.rpartition(".")[0]
                there = spaces.counterpart(np.dot, first.namespace)
                dot = P.Outer(f"{home}.dot", K.Known(there))
                if home:
                    return [replace(op, operands=(dot, *arrays))]
        inner = Op(
            (Var("", kind_of_product(Product(1.0, arrays), first)),), MULT, (), origin=op.origin
        )
        made = self.rebuilt(Product(1.0, list(arrays)), inner)
        value = arrays[0] if made is None else inner.outs[0]
        return [*(made or []), replace(op, operands=(callee, value))]


def _covers(whole: Operand, part: Operand) -> bool:
    """Say whether adding zeros changes nothing about a value: not its shape, not its dtype."""
    one, other = kind_of(whole), kind_of(part)
    return is_real(one) and (is_number(other) or alike(one, other))


def _same(one: Op, other: Op) -> bool:
    """Say whether two operations print alike: 2.0 is another literal than 2."""
    plain = all(
        type(v.value) is type(w.value)
        for v, w in zip(one.operands, other.operands, strict=False)
        if isinstance(v, P.Const) and isinstance(w, P.Const)
    )
    return one.primitive is other.primitive and one.operands == other.operands and plain
