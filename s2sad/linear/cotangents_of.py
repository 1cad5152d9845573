"""The cotangents that are known at one point of the backward sweep, and what is added to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import gast

from s2sad import kinds as K
from s2sad import runtime
from s2sad.emitted import held_numbers
from s2sad.emitted.found import as_found
from s2sad.facts.results import binary_kind
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Place, Var
from s2sad.kinds import Kind
from s2sad.known.mixed import is_mixed, surely_real
from s2sad.linear.by_identity import (
    Shadows,
    act,
    is_memory,
    is_structure,
    lies_turned,
    may_be_either,
    parts_below,
)
from s2sad.linear.operands import is_array, kind_of
from s2sad.linear.part_by_part import (
    add_into,
    add_to_field,
    copied,
    kind_in_the_end,
    zeros_of,
)
from s2sad.linear.seen_alike import seen_alike
from s2sad.linear.tangent_table import NOTHING, NotYet, Tangents, tangent_kind
from s2sad.linear.tangents_of import told_by
from s2sad.linear.zero_tangents import check_bound, nothing, zeros_like
from s2sad.linear.zero_tangents import part as part_of
from s2sad.primitives import language as L


@dataclass(frozen=True)
class Bar:
    """A cotangent; what is our `own` may be changed in place. A tuple's is one of its `parts`.

    That of what may be unbound, or None, is `perhaps` None: then nobody has read a number of it.
    """

    value: Operand | None
    own: bool = False
    parts: tuple[Bar | None, ...] = ()
    perhaps: bool = False


@dataclass
class Cotangents:
    """The cotangent of each tangent that has one, by tangent; `t` is where operations are added.

    `values` are the variables whose tangents they are. The cotangent of a part of memory is the
    same part of the cotangent of that memory: `refs` are the operations that read such parts. Or
    memory has its `shadows`, which are found by identity. `words` are good names of cotangents.
    The structures of this block that are `unborn` have no cotangent yet.
    """

    t: Tangents
    values: Mapping[Var, Var]
    refs: Mapping[Var, Op]
    shadows: Shadows | None = None
    of: dict[Var, Bar] = field(default_factory=dict)
    words: dict[Var, str] = field(default_factory=dict)
    unborn: set[Var] = field(default_factory=set)

    def value(self, dot: Var) -> Var:
        """Return the variable whose tangent this is."""
        return self.values[dot]

    def inner(self, of: dict[Var, Bar]) -> Cotangents:
        """Return the cotangents of a block inside."""
        return Cotangents(self.t, self.values, self.refs, self.shadows, of, self.words)

    def is_shadowed(self, dot: Var) -> bool:
        """Say whether a cotangent is found by identity."""
        return self.shadows is not None and dot in self.shadows.dots

    def taken(self, dot: Var) -> Bar | None:
        """Return a cotangent that is complete; there is none any more."""
        if self.shadows is not None and dot in self.shadows.dots:
            return Bar(self.shadows.taken(self.t, self.value(dot)), True)
        return self.of.pop(dot, None)

    def has(self, dot: Var) -> bool:
        """Say whether a cotangent may be other than zero; that of a structure always may."""
        if self.is_shadowed(dot) or dot in self.of or dot in self.unborn:
            return True
        ref = self.refs.get(dot)
        return ref is not None and self.has(owner_of(ref))

    def shows_memory(self, dot: Var) -> bool:
        """Say whether a tuple holds memory whose cotangent is found by identity, and only so."""
        v = self.values.get(dot)
        tuple_ = v is not None and isinstance(v.kind, K.Tuple)
        return tuple_ and self.shadows is not None and v in self.t.table.facts.written

    def without_memory(self, bar: Bar, read: Callable[[], Operand], kind: Kind) -> Bar | None:
        """Add the memory in a cotangent to its shadows; return what is left, of numbers."""
        if not K.differentiable(kind):
            return None
        assert self.shadows is not None
        if is_memory(kind):
            assert bar.value is not None
            self.shadows.add(self.t, read(), bar.value)
            return None
        if may_be_either(kind):
            assert bar.value is not None
            given = (self.shadows.table, read(), bar.value)
            return Bar(act(self.t, held_numbers.left_of, given, tangent_kind(kind)))
        below = (*parts_below(kind),)
        known = any(map(is_memory, below)) or any(map(may_be_either, below))
        if not isinstance(kind, K.Tuple) or not known:
            return bar
        value, shadows = read(), self.shadows
        left = [
            p and self.without_memory(p, lambda i=i: shadows.part(self.t, value, kind, i), k)  # type: ignore[misc]
            for i, (k, p) in enumerate(zip(kind.items, self.apart(bar, kind), strict=True))
        ]
        return Bar(None, parts=tuple(left)) if any(left) else None

    def add(self, dot: Operand, bar: Bar) -> None:
        """Add to the cotangent of a tangent."""
        if not isinstance(dot, Var) or dot not in self.values:
            return
        v = self.values[dot]
        kind = v.kind
        if not self.may_be_none(dot):
            bar = self._settled_with(dot, bar)
        if v.cell:
            self._into_cell(dot, bar)
        elif self.shows_memory(dot):
            left = self.without_memory(bar, lambda: v, kind)
            if left is not None:
                known = self.of.get(dot)
                self.of[dot] = left if known is None else self.summed(known, left, kind)
        elif self.shadows is not None and dot in self.shadows.dots:
            found = self._as_found(bar, v)
            assert found.value is not None
            self.shadows.add(self.t, v, found.value)
        elif K.is_container(kind) and not isinstance(kind, K.Tuple):
            self._into_structure(dot, bar)
        elif dot in self.refs:
            self._into_part(dot, self._as_found(bar, v))
        else:
            known, bar = self.of.get(dot), self._as_found(bar, v)
            self._hold(dot, bar if known is None else self.summed(known, bar, kind))

    def add_in_arms(self, dot: Var, bar: Bar) -> None:
        """Add to the cotangent of what a branch gives; memory is there in the arms that give it."""
        if not self.is_shadowed(dot) and not self.shows_memory(dot):
            self.add(dot, bar)
            return
        known = self.of.get(dot)
        self.of[dot] = bar if known is None else self.summed(known, bar, self.value(dot).kind)

    def may_be_missing(self, dot: Var) -> bool:
        """Say whether nobody can make zeros for a cotangent that a region hands over.

        That of what may be None has none: None has no cotangent, and zero would be one.
        """
        v = self.values[dot]
        unbound = v in self.t.table.facts.unbound and not isinstance(v.kind, K.Num)
        if v.cell or not (unbound or self._may_be_none(v)):
            return False
        apart = dot in self.refs or self.is_shadowed(dot) or self.shows_memory(dot)
        return not apart and not is_structure(v.kind)

    def may_be_none(self, dot: Var) -> bool:
        """Say whether a cotangent is None where its value is None, or nobody has read that."""
        return self._may_be_none(self.values[dot]) and self.may_be_missing(dot)

    def _may_be_none(self, v: Var) -> bool:
        """Say whether a cotangent has to be None where a value is: a zero will do for a number.

        It will not for one that memory holds, where nothing is to be added.
        """
        numbers = all(isinstance(k, K.Num | K.NoneKind) for k in K.options(v.kind))
        return is_option(v.kind) and (not numbers or v in self.t.table.facts.brought_in)

    def settled(self, bar: Bar, v: Var) -> Bar:
        """Return the cotangent of a variable that is bound: zeros where it is None."""
        assert bar.value is not None
        if bar.value == NOTHING:
            return Bar(nothing(self.t, v, v.kind), True)
        test = self.t.emit(L.compare("Is"), (bar.value, NOTHING), K.BOOL)
        with self.t.inside() as ops:
            zeros = nothing(self.t, v, v.kind)
        then = P.Block((), tuple(ops), P.End("next", (zeros,)))
        orelse = P.Block((), (), P.End("next", (bar.value,)))
        out = Var("", tangent_kind(v.kind))
        self.t.add(P.If((out,), test, then, orelse, "either", self.t.origin))
        return Bar(out)

    def _settled_with(self, dot: Var, bar: Bar) -> Bar:
        """Return a cotangent that may be None as it can be added to that of a variable."""
        v = self.values[dot]
        known = self.of.get(dot)
        if not bar.perhaps:
            if known is not None and known.perhaps:
                self.of[dot] = self.settled(known, v)  # it is read, so it is bound
            return bar
        if known is None and self.may_be_missing(dot):
            return bar
        if known is not None and known.perhaps:
            check_bound(self.t, v)
        return self.settled(bar, v)

    def _as_found(self, bar: Bar, v: Var) -> Bar:
        """Return the cotangent of a value, real where the value is found to be real."""
        if bar.value is None or bar.perhaps:
            return bar
        if is_mixed(v.kind):
            helper = self.t.table.helper(as_found)
            return Bar(self.t.call(helper, (bar.value, v), tangent_kind(v.kind)))
        given = kind_of(bar.value)
        if surely_real(v.kind) and (is_mixed(given) or K.is_complex(given)):
            real = self.t.table.numpy("real", given)
            return Bar(self.t.call(real, (bar.value,), tangent_kind(v.kind)))
        return bar

    def _hold(self, dot: Var, bar: Bar) -> None:
        """Let a tangent have a cotangent; what has no name is called after the variable."""
        self.of[dot] = bar
        word = bar_name(self.values[dot])
        if word and isinstance(bar.value, Var) and not bar.value.name:
            self.words.setdefault(bar.value, word)

    def _into_cell(self, dot: Var, bar: Bar) -> None:
        """Add to the cotangent of what a cell holds, which may be 0.0 in the place of an array."""
        known = self.of.get(dot)
        if known is None:
            self.of[dot] = Bar(bar.value, parts=bar.parts)
            return
        assert known.value is not None and bar.value is not None
        kinds = kind_of(known.value), kind_of(bar.value)
        kind = binary_kind(gast.Add, *kinds) if all(map(K.is_numeric, kinds)) else K.UNKNOWN
        self.of[dot] = Bar(self.t.emit(L.INFIX["Add"], (known.value, bar.value), kind))

    def _into_structure(self, dot: Var, bar: Bar) -> None:
        """Add to the shadow of a structure; what comes first is that shadow, until it changes."""
        assert bar.value is not None
        v, ref = self.value(dot), self.refs.get(dot)
        if ref is not None and ref.primitive is L.SAME:
            self._into_structure(owner_of(ref), bar)
            return
        if dot in self.unborn:
            self.unborn.discard(dot)
            self._hold(dot, bar)
            return
        kind = kind_in_the_end(self.t.table, v) if bar.own else None
        add_into(self.t, self.buffer(dot), bar.value, kind)

    def _into_part(self, dot: Var, bar: Bar) -> None:
        """Add to a part of an array: `u_bar[1:] += v_bar`."""
        t, op = self.t, self.refs[dot]
        assert bar.value is not None
        if op.primitive is L.SAME:
            self.add(owner_of(op), bar)
            return
        owner = self.buffer(dot if op.primitive is L.TANGENT else owner_of(op))
        if op.primitive in (L.ITEM, L.TANGENT):
            index = t.index(op.operands[1]) if op.primitive is L.ITEM else P.Const(...)
            places = (Place(owner, (P.Item(index),)),)
            given: tuple[Operand, ...] = (owner, index, bar.value)
            t.add(Op((), L.AUGMENTED_ITEM["Add"], given, (), (), places, t.origin))
            return
        kind = self.value(owner_of(op)).kind
        add_to_field(t, owner, kind, op.primitive.word, bar.value)

    def summed(self, one: Bar, other: Bar, of: Kind) -> Bar:
        """Return the sum of two cotangents of a value of some kind, which is there."""
        missing, of = K.NONE in K.options(of), K.without_none(of)
        if isinstance(of, K.Tuple):
            left, right = self.apart(one, of), self.apart(other, of)
            triples = zip(left, right, of.items, strict=True)
            parts = ((a and b and self.summed(a, b, k)) or a or b for a, b, k in triples)
            return Bar(None, parts=tuple(parts))
        assert one.value is not None and other.value is not None
        if isinstance(of, K.Opaque):
            return Bar(self.t.emit(L.INFIX["Add"], (one.value, other.value), of))
        if is_structure(of) or missing:  # either may be None
            helper = self.t.table.helper(runtime.add)
            added = self.t.call(helper, (one.value, other.value), tangent_kind(of))
            return Bar(added, perhaps=one.perhaps and other.perhaps)
        if not K.is_numeric(of):
            raise NotYet(f"cotangents of {K.describe(of)} that are added")
        kind = binary_kind(gast.Add, kind_of(one.value), kind_of(other.value))
        if not isinstance(kind, K.Array):
            return Bar(self.t.emit(L.INFIX["Add"], (one.value, other.value), kind))
        first, second = one.value, other.value
        if not one.own and other.own:
            first, second = second, first
        if (one.own or other.own) and isinstance(first, Var) and first.kind == kind:
            out = Var(first.name, kind)
            given = (first, second)
            op = Op((out,), L.AUGMENTED["Add"], given, (), (), (Place(first),), self.t.origin)
            self.t.add(op)
            return Bar(out, True)
        return Bar(self.t.emit(L.INFIX["Add"], (first, second), kind), True)

    def apart(self, bar: Bar, kind: K.Tuple) -> tuple[Bar | None, ...]:
        """Return the cotangents of the parts of a tuple."""
        if bar.parts or bar.value is None:
            return bar.parts or (None,) * len(kind.items)
        if len(kind.items) > 1 and all(map(K.differentiable, kind.items)):
            outs = tuple(Var("", tangent_kind(k)) for k in kind.items)
            self.t.add(P.Op(outs, L.UNPACK, (bar.value,), origin=self.t.origin))
            return tuple(Bar(v, perhaps=is_option(v.kind)) for v in outs)
        return tuple(
            Bar(self.t.emit(L.ITEM, (bar.value, P.Const(i)), tangent_kind(k)), perhaps=is_option(k))
            if K.differentiable(k)
            else None
            for i, k in enumerate(kind.items)
        )

    def whole(self, dot: Var) -> Operand:
        """Return a cotangent, zeros where there is none, which may be anybody's memory."""
        bar = self.of.get(dot)
        if dot in self.refs or self.is_shadowed(dot):
            return self.seen(dot, self.buffer(dot))
        value = self.value(dot)
        options = K.options(value.kind) if isinstance(value.kind, K.Union) else ()
        numeric = bool(options) and all(isinstance(k, K.Num | K.Array) for k in options)
        mixed = numeric and not is_array(value.kind)
        if bar is None and (value.cell or mixed):
            return P.Const(0.0)
        if bar is None and not self.is_part_shadowed(value.kind):
            return zeros_like(self.t, value)
        return self.built(bar or Bar(None), value)

    def seen(self, dot: Operand, value: Operand) -> Operand:
        """Return a cotangent for what the shadow of memory holds, or the other way round."""
        if not isinstance(dot, Var) or not self.is_shadowed(dot):
            return value
        kind = self.value(dot).kind
        if not lies_turned(kind) or not isinstance(kind, K.Array):
            return value
        return self.t.call(self.t.table.numpy("conj", kind), (value,), kind_of(value))

    def built(self, bar: Bar, value: Operand) -> Operand:
        """Return the cotangent of a value as one; the parts of a tuple without one get zeros.

        Structures have shadows that are found by identity, where there are any: they get none.
        """
        if bar.perhaps and isinstance(value, Var):
            bar = self.settled(bar, value)
        if bar.value is not None:
            return bar.value
        kind = K.without_none(kind_of(value))
        assert isinstance(kind, K.Tuple)
        found: list[Operand] = []
        for i, (part, k) in enumerate(zip(self.apart(bar, kind), kind.items, strict=True)):
            shadowed = self.shadows is not None and is_structure(k)
            if part is None and (shadowed or not K.differentiable(k)):
                found.append(P.Const(None))
                continue
            item = part_of(self.t, value, kind, i)
            if part is None and not self.is_part_shadowed(k):
                found.append(nothing(self.t, item, k))
            else:
                found.append(self.built(part or Bar(None), item))
        return self.t.emit(L.TUPLE, found, tangent_kind(kind))

    def is_part_shadowed(self, kind: Kind) -> bool:
        """Say whether a tuple holds a structure, whose cotangent is found by identity."""
        tuple_ = self.shadows is not None and isinstance(kind, K.Tuple)
        return tuple_ and any(map(is_structure, parts_below(kind)))

    def buffer(self, dot: Var) -> Var:
        """Return the cotangent of memory as memory that may be changed in place.

        What is bound is read where this is turned round: zeros can be made like it.
        """
        bar, v = self.of.get(dot), self.value(dot)
        if self.shadows is not None and dot in self.shadows.dots:
            return self.shadows.of(self.t, v)
        ref = self.refs.get(dot)
        if bar is not None and isinstance(bar.value, Var) and self.picks_items(dot):
            return bar.value
        if ref is not None:
            owner = self.buffer(owner_of(ref))
            if ref.primitive is L.SAME:
                return owner
            if ref.primitive is L.TANGENT:
                return seen_alike(self.t, told_by(ref), owner)
            rest = tuple(self.t.index(o) for o in ref.operands[1:])
            shown = self.t.emit(ref.primitive, (owner, *rest), tangent_kind(v.kind))
            if self.picks_items(dot):
                self._hold(dot, Bar(shown, True))
            return shown
        if isinstance(v.kind, K.Tuple) or not (is_array(v.kind) or K.is_container(v.kind)):
            raise NotYet(f"a cotangent in place of {K.describe(v.kind)}")
        if bar is None:
            if is_array(v.kind):
                value = nothing(self.t, v, v.kind)
            elif dot in self.unborn:
                self.unborn.discard(dot)
                value = zeros_of(self.t, v)
            else:
                raise NotYet("a structure that comes from a region")
        elif isinstance(v.kind, K.Array) and not v.kind.rank:
            assert bar.value is not None  # NumPy makes a number of such an array
            made = self.t.table.numpy("array", v.kind)
            value = self.t.call(made, (bar.value,), tangent_kind(v.kind))
        elif bar.own:
            value = bar.value or P.Const(None)
        elif not is_array(v.kind):
            assert bar.value is not None
            value = copied(self.t, v, bar.value)
        else:
            assert bar.value is not None
            value = self.t.emit(L.method("copy"), (bar.value,), tangent_kind(v.kind))
        assert isinstance(value, Var)
        self._hold(dot, Bar(value, True))
        return value

    def picks_items(self, dot: Var) -> bool:
        """Say whether this is a slice of a list: its cotangent is a list of the same shadows."""
        ref = self.refs.get(dot)
        if ref is None or ref.primitive is not L.ITEM:
            return False
        of_list = isinstance(K.without_none(self.value(owner_of(ref)).kind), K.List)
        return of_list and not isinstance(kind_of(ref.operands[1]), K.Num)

    def born(self, dot: Var) -> None:
        """Let a structure have a cotangent from here on: none yet, or zeros in all its places."""
        if dot not in self.of and dot not in self.refs and self.shadows is None:
            self.unborn.add(dot)

    def shared(self, dot: Var, bar: Bar) -> None:
        """Let a part of a structure's cotangent be that of what stands there, which is memory."""
        self.unborn.discard(dot)
        self.of[dot] = bar

    def before_region(self, dots: Iterable[Var]) -> None:
        """Let structures that a region meets have shadows, which are changed in place there."""
        every = dict.fromkeys(d for dot in dots for d in owners_of(self.refs, dot))
        for dot in reversed(every):
            if self.picks_items(dot):
                self.buffer(dot)
            held = None if dot in self.refs else self.of.get(dot)
            lent = held is not None and not held.own and dot in self.values
            if dot in self.unborn or (lent and is_structure(self.value(dot).kind)):
                self.buffer(dot)


def is_option(kind: Kind) -> bool:
    """Say whether a value may be None, or else is a number or an array."""
    return K.NONE in K.options(kind) and K.is_numeric(K.without_none(kind))


def bar_out(v: Var, perhaps: bool) -> Var:
    """Return what takes the cotangent of a variable that a region hands over."""
    return Var(bar_name(v), K.UNKNOWN if perhaps else tangent_kind(v.kind))


def bar_of(out: Var, perhaps: bool) -> Bar:
    """Return the cotangent that a region has handed over."""
    own = is_array(out.kind) or is_structure(out.kind)
    return Bar(out, own and not perhaps, perhaps=perhaps)


def bar_name(v: Var) -> str:
    """Return the name of the cotangent of a variable; what has no name has one without."""
    return f"{v.name}_bar" if v.name else ""


def owner_of(ref: Op) -> Var:
    """Return the tangent of the memory of which an operation reads a part."""
    owner = ref.operands[0]
    if ref.primitive is L.TANGENT:
        told = told_by(ref)
        owner = told.dots[told.bases[0]]
    assert isinstance(owner, Var)
    return owner


def root_of(refs: Mapping[Var, Op], dot: Var) -> Var:
    """Return the tangent of the memory that one is a part of."""
    return [*owners_of(refs, dot)][-1]


def owners_of(refs: Mapping[Var, Op], dot: Var) -> Iterator[Var]:
    """Yield a tangent, and those of the memory that it is a part of."""
    yield dot
    while dot in refs:
        dot = owner_of(refs[dot])
        yield dot
