"""Algebra for derived code: what a careful person would not have written is replaced.

    t = x * 1.0               t = x
    n = -b                    n = -b
    z = t + n                 z = x - b
    if 1 == 1: ...            ...

An operation that is replaced stays as a plain copy, which nobody reads then: `unused` drops it.
What is `fixed` (the user's own values) is computed as it is written, to the last bit.

A rule that reads through a name, or makes two names of one array, holds only where nobody writes
into the memory at hand, and nobody else gets to know it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from s2sad import kinds as K
from s2sad.ir import identities as I
from s2sad.ir import program as P
from s2sad.ir import rebuilt as R
from s2sad.ir.broadcasts import of_one_sort, repeated_in
from s2sad.ir.deeds import deed, kind_of, part_shown
from s2sad.ir.makers import uses_of
from s2sad.ir.memories import Memories, memories
from s2sad.ir.products import alike
from s2sad.ir.program import Op, Operand, Var
from s2sad.ir.shapes_asked import shape_read
from s2sad.ir.unchanged import unchanged
from s2sad.known import spaces
from s2sad.primitives import language as L
from s2sad.rulebook.facts import numbers_of

Ops = list[P.Operation]


def simplified(
    program: P.Program, fixed: frozenset[Var], temps: frozenset[str] = frozenset()
) -> P.Program:
    """Return a program that computes the same in fewer words, but for what is fixed.

    No user wrote the names in `temps`.
    """
    worker = _Worker(fixed, _touched(program), uses_of(program), temps)
    return replace(program, block=worker.block(program.block))


# --- memory --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Touched:
    """Classes of memory that somebody writes, and those that others get to know."""

    memory: Memories
    written: frozenset[Var]
    known: frozenset[Var]

    def steady(self, given: Operand) -> bool:
        """Say whether a value stays what it is."""
        return self._free(given, self.written)

    def private(self, given: Operand) -> bool:
        """Say whether nobody can tell whether a value is an array of its own."""
        return self.steady(given) and self._free(given, self.known)

    def _free(self, given: Operand, classes: frozenset[Var]) -> bool:
        v = P.variable(given)
        root = self.memory.of(v) if v is not None else None
        return root not in classes


def _touched(program: P.Program) -> _Touched:
    memory = memories(program)
    written: list[Operand] = []
    known: list[Operand] = [*program.block.params, *program.block.end.results]
    for operation in P.every(program.block):
        if isinstance(operation, Op):
            deed = memory.deeds[operation]
            written += [*deed.writes, *deed.draws]
            if deed.acts:
                written += P.operands(operation)
                known += P.operands(operation)
        else:
            ends = [b.end for b in P.blocks(operation)]
            known += [r for end in ends if end.how == "raise" for r in end.results]
    return _Touched(memory, _classes(memory, written), _classes(memory, known))


def _classes(memory: Memories, given: Iterable[Operand]) -> frozenset[Var]:
    roots = [memory.of(v) for v in map(P.variable, given) if v is not None]
    return frozenset(r for r in roots if r is not None)


# --- the walk ------------------------------------------------------------------------------------

# The first operand of these is an object, no number: a literal cannot stand there.
_OF_OBJECTS = (
    *("item", "field", "put item", "put field", "drop item", "drop field", "call", "method"),
    *("augmented item", "augmented field", "each item", "unpack"),
)
# These know what they read by its name: a cell, a variable that code captures or binds anew.
_BY_NAME = ("closure", "statement", "look", "forget")


@dataclass
class _Worker:
    """`copies` are variables with what they are equal to, `made` is what computes the others.

    `uses` says how often each variable is read, `here` are those that this block has made.
    """

    fixed: frozenset[Var]
    touched: _Touched
    uses: Counter[Var]
    temps: frozenset[str]
    copies: dict[Var, Operand] = field(default_factory=dict)
    made: dict[Var, Op] = field(default_factory=dict)
    here: set[Var] = field(default_factory=set)

    def block(self, block: P.Block) -> P.Block:
        return self.walked(block, True)

    def walked(self, block: P.Block, may_end: bool) -> P.Block:
        """Return a block simplified; it ends where an arm that is taken ends, if it `may_end`."""
        around, self.here = self.here, set()
        try:
            return self.simple(block, may_end)
        finally:
            self.here = around

    def simple(self, block: P.Block, may_end: bool) -> P.Block:
        done: Ops = []
        for operation in block.ops:
            if isinstance(operation, Op):
                done += self.op(self.replaced(operation))
                continue
            region = R.with_operands(operation, self.copies)
            assert not isinstance(region, Op)
            arm = _taken(region, may_end)
            if arm is None:
                done += self.whole(region)
                continue
            inner = self.block(arm)
            done += inner.ops
            if inner.end.how != "next":
                return P.Block(block.params, tuple(done), inner.end)
            done += self.bound(region.outs, inner.end.results)
        return R.with_end(P.Block(block.params, tuple(done), block.end), self.copies)

    def whole(self, region: P.Region) -> Ops:
        """Return what stands in the place of a region."""
        if isinstance(region, P.For):
            return self.looped(region)
        made = self.region(region)
        return self.chosen(made) if isinstance(made, P.If) else [made]

    def chosen(self, region: P.If) -> Ops:
        """Return a branch that gives what its arms give differently; the rest is what it was."""
        ends = [b.end for b in P.blocks(region)]
        if region.style != "if" or any(end.how != "next" for end in ends):
            return [region]
        triples = list(zip(region.outs, *(end.results for end in ends), strict=True))
        same = [k for k, (v, a, b) in enumerate(triples) if a is b and self.may_be(v, a)]
        if not same:
            return [region]
        for k in same:
            self.copies[region.outs[k]] = triples[k][1]
        stay = [k for k in range(len(triples)) if k not in same]
        then, orelse = (_handing(b, stay, "next") for b in P.blocks(region))
        outs = tuple(region.outs[k] for k in stay)
        copies = [
            Op((v,), L.SAME, (a,), origin=region.origin)
            for v, a, _ in map(triples.__getitem__, same)
        ]
        return [replace(region, outs=outs, then=then, orelse=orelse), *copies]

    def may_be(self, v: Var, value: Operand) -> bool:
        """Say whether a name may go, as another one stands for its value."""
        if not isinstance(value, Var) or value.cell:
            return False
        return v not in self.fixed or v.name in (value.name, *self.temps)

    def region(self, region: P.Region) -> P.Region:
        if isinstance(region, P.Try):  # its blocks hand over as many values as they did
            return R.with_blocks(region, lambda b: self.walked(b, False))
        return R.with_blocks(region, self.block)

    def looped(self, region: P.For) -> Ops:
        """Return a loop that carries what changes alone; the rest is what it was before."""
        same = unchanged(region) - {k for k, v in enumerate(region.body.params) if v in self.fixed}
        if not same:
            return [self.region(region)]
        params, starts, body = region.body.params, region.starts, region.body
        before = self.bound(*_at(same, params, starts))
        outs = [k for k in range(len(region.outs)) if k not in same]
        stay = [k for k in range(len(params)) if k not in same]
        inner = P.Block(tuple(params[k] for k in stay), body.ops, body.end)
        inner = _handing(inner, stay, "next")
        loop = replace(
            region,
            outs=tuple(region.outs[k] for k in outs),
            starts=tuple(starts[k] for k in stay),
            body=_handing(inner, outs, "break"),
        )
        after = _at(frozenset(k for k in same if k < len(region.outs)), region.outs, starts)
        return [*before, self.region(loop), *self.bound(*after)]

    def bound(self, outs: tuple[Var, ...], results: tuple[Operand, ...]) -> Ops:
        """Return what binds the results of a region to those of the arm in its place."""
        pairs = zip(outs, results, strict=False)
        return [op for v, r in pairs for op in self.op(Op((v,), L.SAME, (r,)))]

    def replaced(self, op: Op) -> Op:
        """Return an operation that reads what its operands are copies of."""
        form = op.primitive.form
        if form in _BY_NAME:
            return op
        if form == "augmented":
            old, value = op.operands
            return replace(op, operands=(old, R.operand(value, self.copies)))
        if form in _OF_OBJECTS:
            at = 1 if form == "each item" else 0
            owner = P.variable(op.operands[at])
            if owner is not None and isinstance(self.copies.get(owner), P.Const):
                return op
        return R.op_with(op, self.copies)

    # operations

    def op(self, op: Op) -> Ops:
        """Return what stands in the place of an operation, its operands being simple."""
        if op.primitive.form in ("put item", "augmented item"):
            before, op = self.placed(op)
            return [*before, *self.kept(self.in_place(op))]
        if op.primitive.form == "augmented":
            return self.kept(self.in_place(op))
        if op.primitive.form == "unpack":
            return self.unpacked(op)
        item = self.item(op)
        if item is not None:
            return item
        if op.primitive.form == "same" and self.may_be(op.outs[0], op.operands[0]):
            return self.copied(op)
        if len(op.outs) != 1 or op.outs[0] in self.fixed:
            return self.kept(op)
        if op.primitive.form == "same":
            return self.copied(op)
        for rule in _RULES.get(op.primitive.form, ()):
            found = rule(self, op)
            if found is not None:
                return found
        return self.kept(op)

    def kept(self, op: Op) -> Ops:
        for v in op.outs:
            self.made[v] = op
        self.here.update(op.outs)
        return [op]

    def unpacked(self, op: Op) -> Ops:
        """a, b = (x, y) -> a = x; b = y"""
        given = P.variable(op.operands[0])
        made = self.made.get(given) if given is not None else None
        parts = None if made is None else _parts(made)
        if parts is None or len(parts) != len(op.outs) or not self.fixed.isdisjoint(op.outs):
            return self.kept(op)
        return self.bound(op.outs, parts)

    def copied(self, op: Op) -> Ops:
        (value,) = op.operands
        plain = isinstance(value, P.Const) and isinstance(
            value.value, int | float | complex | str | bytes | None
        )
        if plain or (isinstance(value, Var) and not value.cell):
            self.copies[op.outs[0]] = value
        if isinstance(value, Var):  # it is read where the copy was
            self.uses[value] += self.uses[op.outs[0]]
        return [op]

    def same(self, op: Op, value: Operand) -> Ops | None:
        """Let an operation be a copy of a value, where nobody can tell."""
        (out,) = op.outs
        kind = kind_of(value)
        if isinstance(kind, K.Array) and not kind.rank and kind.namespace == spaces.NUMPY:
            return None  # NumPy makes a number of it
        alike = self.touched.private(out) and self.touched.steady(value)
        if not (alike or isinstance(value, P.Const) or K.shares_nothing(out.kind)):
            return None
        if isinstance(value, Var) and value in op.operands:
            self.uses[value] -= 1  # this does not read it any more
        return self.op(Op((out,), L.SAME, (value,), origin=op.origin))

    def placed(self, op: Op) -> tuple[Ops, Op]:
        """w = u[1:]; w[...] = x -> u[1:] = x, for a view that is ours"""
        owner, index, value = op.operands
        made = self.made.get(owner) if isinstance(owner, Var) and owner not in self.fixed else None
        if index != P.Const(...) or made is None or made.primitive is not L.ITEM:
            return [], op
        whole, inner = made.operands
        arrays = all(isinstance(kind_of(v), K.Array) for v in (whole, owner))
        if not arrays or not isinstance(whole, Var) or not self.is_basic(inner):
            return [], op
        before: Ops = []
        at = self.again(inner, before) if self.is_shared(owner) else inner
        places = (P.Place(whole, (P.Item(at),)),)
        return before, replace(op, operands=(whole, at, value), writes=places)

    def is_basic(self, index: Operand) -> bool:
        """Say whether an index shows a part of an array: of numbers, slices, None and `...`."""
        made = self.made.get(index) if isinstance(index, Var) else None
        if made is not None and made.primitive in (L.SLICE, L.TUPLE):
            return all(map(self.is_basic, made.operands))
        kind = kind_of(index)
        literal = isinstance(index, P.Const) and index.value in (None, ...)
        return literal or (isinstance(kind, K.Num) and kind.type == "int" and not kind.either)

    def again(self, index: Operand, ops: Ops) -> Operand:
        """Return an index that stands a second time."""
        made = self.made.get(index) if isinstance(index, Var) else None
        shared = self.is_shared(index)  # it has a name
        if shared or made is None or made.primitive not in (L.SLICE, L.TUPLE):
            self.uses.update([index] if isinstance(index, Var) else [])
            return index
        out = Var(made.outs[0].name, made.outs[0].kind)
        given = tuple(self.again(o, ops) for o in made.operands)
        self.uses[out] += 1
        ops += self.kept(replace(made, outs=(out,), operands=given))
        return out

    def in_place(self, op: Op) -> Op:
        """u[i] += -x -> u[i] -= x, for a sign that is ours"""
        *first, value = op.operands
        table = L.AUGMENTED if op.primitive.form == "augmented" else L.AUGMENTED_ITEM
        if op.primitive.form == "put item":
            return op
        word = {"Add": "Sub", "Sub": "Add"}.get(op.primitive.word)
        bare = self.without_minus(value)
        if word is None or bare is None or value in self.fixed or not _numeric(first[:1]):
            return op
        return replace(op, primitive=table[word], operands=(*first, bare))

    def item(self, op: Op) -> Ops | None:
        """(a, b)[0] -> a, for a tuple that no user named: the value is the same to the last bit.

        A named tuple is read by attributes, too. A list that nobody writes is read likewise.
        """
        if op.primitive is not L.ITEM and op.primitive.form != "field":
            return None
        owner, *index = op.operands
        loose = isinstance(owner, Var) and (not owner.name or owner.name in self.temps)
        made = self.made.get(owner) if isinstance(owner, Var) and loose else None
        listed = made is not None and made.primitive is L.LIST and self.touched.steady(owner)
        parts = None if made is None else _parts(made, listed)
        if made is None or parts is None:
            return None
        names = getattr(getattr(made.outs[0].kind, "cls", None), "_fields", ())
        if index:
            at = I.number_of(index[0])
        else:
            at = names.index(op.primitive.word) if op.primitive.word in names else None
        if not isinstance(at, int) or not 0 <= at < len(parts):
            return None
        (out,), value = op.outs, parts[at]
        alike = self.touched.steady(out) and self.touched.steady(value)
        return self.op(Op((out,), L.SAME, (value,), origin=op.origin)) if alike else None

    def infix(self, op: Op, word: str, operands: tuple[Operand, ...]) -> Ops:
        return self.op(Op(op.outs, L.INFIX[word], operands, origin=op.origin))

    def without_minus(self, given: Operand) -> Operand | None:
        """Return a value of which another one is the negative, as it still is."""
        op = self.maker(given)
        if op is None or op.primitive is not L.PREFIX["USub"]:
            return None
        (value,) = op.operands
        return value if self.touched.steady(value) and I.is_signed(kind_of(value)) else None

    def is_shared(self, given: Operand) -> bool:
        """Say whether others read a value, too: then it is computed in any case."""
        v = P.variable(given)
        return v is not None and self.uses[v] > 1

    def is_new(self, given: Operand) -> bool:
        """Say whether an array is read here for the only time, and is no part of another one."""
        if not isinstance(given, Var) or given not in self.here or self.is_shared(given):
            return False
        op = self.made[given]
        if given in self.fixed:
            return False
        if deed(op).fresh:
            return True
        whole = part_shown(op)
        return whole is not None and self.is_new(whole)

    def maker(self, given: Operand) -> Op | None:
        """Return what has computed a value, where that is what the value still is."""
        known = isinstance(given, Var) and self.touched.steady(given)
        return self.made.get(given) if isinstance(given, Var) and known else None


def _at(
    places: frozenset[int], variables: tuple[Var, ...], values: tuple[Operand, ...]
) -> tuple[tuple[Var, ...], tuple[Operand, ...]]:
    """Return the variables at some places, and their values."""
    found = sorted(places)
    return tuple(variables[k] for k in found), tuple(values[k] for k in found)


def _handing(block: P.Block, places: list[int], how: str) -> P.Block:
    """Return a block whose ends of one sort hand over the results at some places."""
    end, results = block.end, block.end.results
    if end.how == how:
        end = replace(end, results=tuple(results[k] for k in places if k < len(results)))
    ops: Ops = []
    for operation in block.ops:
        leaves = how == "break" and not isinstance(operation, Op | P.For | P.While | P.Collect)
        if leaves and not isinstance(operation, Op):
            operation = R.with_blocks(operation, lambda b: _handing(b, places, how))
        ops.append(operation)
    return P.Block(block.params, tuple(ops), end)


def _parts(made: Op, listed: bool = False) -> tuple[Operand, ...] | None:
    """Return what stands in the display of a tuple, or a list; None for any other operation."""
    given = made.operands
    if made.primitive is L.ANEW and isinstance(made.outs[0].kind, K.Tuple):
        given = given[1:]  # the first one tells the class alone
    elif made.primitive is not L.TUPLE and not (listed and made.primitive is L.LIST):
        return None
    return None if any(isinstance(o, P.Spread) for o in given) else given


def _numeric(given: Iterable[Operand]) -> bool:
    return all(K.is_numeric(kind_of(v)) for v in given)


def _taken(region: P.Region, may_end: bool) -> P.Block | None:
    """Return the arm of a branch whose test is a literal, if it can stand in its place."""
    if not isinstance(region, P.If) or region.style == "filter":
        return None
    holds = I.holds(region.test)
    if holds is None or (region.style == "assert" and not holds):
        return None
    arm = region.then if holds else region.orelse
    return arm if may_end or arm.end.how == "next" else None


# --- the rules -----------------------------------------------------------------------------------


def _folded(worker: _Worker, op: Op) -> Ops | None:
    """2.0 + 3.0 -> 5.0, 1 < 2 -> True"""
    if len(op.operands) != 2:
        return None
    left, right = map(I.number_of, op.operands)
    value = None if left is None or right is None else I.folded(op.primitive.word, left, right)
    return None if value is None else worker.same(op, value)


def _whole(worker: _Worker, op: Op) -> Ops | None:
    """x[...] -> x, x[:] -> x, of an array with axes: it is the same memory"""
    owner, index = op.operands
    kind, made = kind_of(owner), worker.made.get(index) if isinstance(index, Var) else None
    if made is not None and made.primitive is L.SLICE and {*made.operands} == {P.Const(None)}:
        index = P.Const(...)
    if index != P.Const(...) or not isinstance(kind, K.Array) or not kind.rank:
        return None
    return worker.op(Op(op.outs, L.SAME, (owner,), origin=op.origin))


def _neutral(worker: _Worker, op: Op) -> Ops | None:
    """x * 1.0 -> x, x + 0.0 -> x"""
    word = op.primitive.word
    for row in I.NEUTRAL.get(word, ()):
        literal, other = I.number_of(op.operands[row.at]), op.operands[1 - row.at]
        if literal == row.literal and I.stays(kind_of(other), literal, word):
            return worker.same(op, other)
    return None


def _unmoved(worker: _Worker, op: Op) -> Ops | None:
    """x + (x == 0) * False -> x: what is added is zero, for each element"""
    if op.primitive.word != "Add":
        return None
    for at in (0, 1):
        made, other = worker.maker(op.operands[at]), op.operands[1 - at]
        if made is None or made.primitive is not L.INFIX["Mult"]:
            continue
        of_tests = all(I.elements(kind_of(o)) == "bool" for o in made.operands)
        kinds = kind_of(other), kind_of(op.operands[at])
        zero = of_tests and P.Const(False) in made.operands and alike(*kinds)
        if zero and I.elements(kinds[0]) == "float":
            return worker.same(op, other)
    return None


def _signed(worker: _Worker, op: Op) -> Ops | None:
    """a + (-b) -> a - b, (-a) * b -> -(a * b)"""
    for row in I.SIGNS.get(op.primitive.word, ()):
        bare, other = worker.without_minus(op.operands[row.at]), op.operands[1 - row.at]
        if bare is None or not _numeric((other,)):
            continue
        if row.out and worker.is_shared(op.operands[row.at]):
            continue
        given = (bare, other) if (row.at == 0) != row.turned else (other, bare)
        if not row.out:
            return worker.infix(op, row.word, given)
        inner = Var("", op.outs[0].kind)
        positive = Op((inner,), L.INFIX[row.word], given, origin=op.origin)
        first = worker.op(positive)
        value = worker.copies.get(inner, inner)
        return [*first, *worker.op(replace(op, primitive=L.PREFIX["USub"], operands=(value,)))]
    return None


def _scaled(worker: _Worker, op: Op) -> Ops | None:
    """2.0 * (0.5 * x) -> x, 2.0 * (4.0 * x) -> 8.0 * x: exact for powers of two

    Where others read 4.0 * x, too, it is computed in any case, and x need not be kept for this.
    """
    outer, rest = _factor(op)
    inner, value = _factor(worker.maker(rest) if rest is not None else None)
    if outer is None or inner is None or rest is None or value is None:
        return None
    if outer * inner != 1.0 and worker.is_shared(rest):
        return None
    exact = I.elements(kind_of(value)) == "float" and worker.touched.steady(value)
    if not exact:
        return None
    if outer * inner == 1.0:
        return worker.same(op, value)
    return worker.infix(op, "Mult", (P.Const(outer * inner), value))


def _factor(op: Op | None) -> tuple[float | None, Operand | None]:
    """Return the power of two, and what it multiplies."""
    if op is not None and op.primitive is L.INFIX["Mult"]:
        for at in (0, 1):
            number = I.number_of(op.operands[at])
            if number is not None and I.is_power_of_two(number):
                return float(number), op.operands[1 - at]
    return None, None


def _minus(worker: _Worker, op: Op) -> Ops | None:
    """-(-x) -> x, -(2.0) -> -2.0"""
    if op.primitive is not L.PREFIX["USub"]:
        return None
    (given,) = op.operands
    literal = I.negated(given)
    value = worker.without_minus(given) if literal is None else literal
    return None if value is None else worker.same(op, value)


def _denied(worker: _Worker, op: Op) -> Ops | None:
    """not True -> False"""
    if op.primitive is not L.PREFIX["Not"]:
        return None
    holds = I.holds(op.operands[0])
    return None if holds is None else worker.same(op, P.Const(not holds))


def _spread(worker: _Worker, op: Op) -> Ops | None:
    """np.broadcast_to(c, x.shape) * x -> c * x: the product has the shape, and the dtype"""
    if op.primitive.word not in ("Mult", "Div"):
        return None
    for at, given in enumerate(op.operands):
        made, other = worker.maker(given), op.operands[1 - at]
        value = repeated_in(made)
        if value is not None and of_one_sort(kind_of(other), kind_of(given)):
            pass
        elif made is not None:
            value = _number_for(worker, made, kind_of(other))
        if value is not None:
            worker.uses.update([value] if isinstance(value, Var) else [])
            return worker.infix(
                op, op.primitive.word, (value, other) if at == 0 else (other, value)
            )
    return None


def _number_for(worker: _Worker, op: Op, kind: K.Kind) -> Operand | None:
    """Return the number that a function repeats in the shape of an array of wide elements.

    Whether that is one of Python's, nobody need know: the product is as wide as the array.
    """
    callee, *given = op.operands
    if op.primitive is not L.CALL or len(given) != 2 or op.settings:
        return None
    fn, asked = I.function_of(callee), worker.made.get(given[1])  # type: ignore[arg-type]
    of = shape_read(asked) if asked is not None else None
    like = None if of is None else kind_of(of)
    if fn is None or numbers_of(fn).form != "fitted" or not isinstance(like, K.Array):
        return None
    wide = isinstance(kind, K.Array) and kind.dtype == "float64"
    real = isinstance(kind_of(given[0]), K.Num) and I.elements(kind_of(given[0])) == "float"
    same = wide and isinstance(kind, K.Array) and K.same_shape(like.dims, kind.dims)
    return given[0] if real and same else None


def _fitted(worker: _Worker, op: Op) -> Ops | None:
    """np.broadcast_to(x, y.shape) -> x, where x has the shape of y"""
    callee, *given = op.operands
    fn = I.function_of(callee)
    if fn is None or len(given) != 2 or op.settings:
        return None
    if numbers_of(fn).form != "fitted":
        return None
    asked = worker.made.get(given[1]) if isinstance(given[1], Var) else None
    of = shape_read(asked) if asked is not None else None
    like = None if of is None else kind_of(of)
    value = kind_of(given[0])
    if not isinstance(value, K.Array) or not isinstance(like, K.Array):
        return None
    if not K.same_shape(value.dims, like.dims):
        return None
    return worker.same(op, given[0])


def _owned(worker: _Worker, op: Op) -> Ops | None:
    """a.copy() -> a, where nobody can tell, or nobody else knows the array"""
    if op.primitive is not _COPY or op.settings or len(op.operands) != 1:
        return None
    (value,) = op.operands
    if not worker.is_new(value):
        arrays = all(isinstance(k, K.Array) for k in (op.outs[0].kind, kind_of(value)))
        private = worker.touched.private(op.outs[0]) and worker.touched.steady(value)
        if not (arrays and private):
            return None
    same = Op(op.outs, L.SAME, (value,), origin=op.origin)
    return worker.op(same) if worker.is_shared(value) else worker.kept(same)


def _kept(worker: _Worker, op: Op) -> Ops | None:
    """np.real(a) -> a, for an array of real numbers"""
    value = I.kept(op)
    return None if value is None else worker.same(op, value)


_COPY = L.method("copy")
_RULES = {
    "item": (_whole,),
    "call": (_kept, _fitted),
    "method": (_owned,),
    "infix": (_folded, _neutral, _unmoved, _spread, _signed, _scaled),
    "compare": (_folded,),
    "prefix": (_minus, _denied),
}
