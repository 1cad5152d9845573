"""The cotangents that are known at one point of the backward sweep, and what is added to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import gast
import numpy as np

from s2sad import kinds as K
from s2sad import runtime
from s2sad.facts.results import binary_kind
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Place, Var
from s2sad.kinds import Kind
from s2sad.linear.by_identity import Shadows, is_memory, is_structure
from s2sad.linear.operands import kind_of
from s2sad.linear.tangent_table import NotYet, Tangents, tangent_kind
from s2sad.linear.zero_tangents import memories_in, nothing, zeros_like
from s2sad.linear.zero_tangents import part as part_of
from s2sad.primitives import language as L


@dataclass(frozen=True)
class Bar:
    """A cotangent; what is our `own` may be changed in place. A tuple's is one of its `parts`."""

    value: Operand | None
    own: bool = False
    parts: tuple[Bar | None, ...] = ()


@dataclass
class Cotangents:
    """The cotangent of each tangent that has one, by tangent; `t` is where operations are added.

    `values` are the variables whose tangents they are. The cotangent of a part of memory is the
    same part of the cotangent of that memory: `refs` are the operations that read such parts. Or
    memory has its `shadows`, which are found by identity.
    """

    t: Tangents
    values: Mapping[Var, Var]
    refs: Mapping[Var, Op]
    shadows: Shadows | None = None
    of: dict[Var, Bar] = field(default_factory=dict)

    def value(self, dot: Var) -> Var:
        """Return the variable whose tangent this is."""
        return self.values[dot]

    def inner(self, of: dict[Var, Bar]) -> Cotangents:
        """Return the cotangents of a block inside."""
        return Cotangents(self.t, self.values, self.refs, self.shadows, of)

    def is_shadowed(self, dot: Var) -> bool:
        """Say whether a cotangent is found by identity."""
        return self.shadows is not None and dot in self.shadows.dots

    def taken(self, dot: Var) -> Bar | None:
        """Return a cotangent that is complete; there is none any more."""
        if self.shadows is not None and dot in self.shadows.dots:
            v = self.value(dot)
            if not isinstance(v.kind, K.Array) and v in self.t.table.facts.written:
                raise NotYet("a structure that a function makes, and that is changed")
            return Bar(self.shadows.taken(self.t, v), True)
        return self.of.pop(dot, None)

    def has(self, dot: Var) -> bool:
        """Say whether a cotangent may be other than zero."""
        ref = self.refs.get(dot)
        return (
            self.is_shadowed(dot) or dot in self.of or (ref is not None and self.has(owner_of(ref)))
        )

    def add(self, dot: Operand, bar: Bar) -> None:
        """Add to the cotangent of a tangent."""
        if not isinstance(dot, Var) or dot not in self.values:
            return
        kind = self.values[dot].kind
        if self.shadows is not None and dot in self.shadows.dots:
            assert bar.value is not None
            self.shadows.add(self.t, self.values[dot], bar.value)
        elif K.is_container(kind) and not isinstance(kind, K.Tuple):
            self._into_structure(dot, bar)
        elif dot in self.refs:
            self._into_part(dot, bar)
        else:
            known = self.of.get(dot)
            self.of[dot] = bar if known is None else self._sum(known, bar, kind)

    def _into_structure(self, dot: Var, bar: Bar) -> None:
        assert bar.value is not None
        shadow = self.buffer(dot)
        out = Var("", K.NONE)
        places = (Place(shadow, (P.Anywhere(),)),)
        given = (self.t.table.helper(runtime.add_into), shadow, bar.value)
        self.t.add(Op((out,), L.CALL, given, (), places, places, self.t.origin))
        self.t.add(Op((), L.DISCARD, (out,), (), (), (), self.t.origin))

    def _into_part(self, dot: Var, bar: Bar) -> None:
        """Add to a part of an array: `u_bar[1:] += v_bar`."""
        t, op = self.t, self.refs[dot]
        assert bar.value is not None
        if op.primitive is L.SAME:
            self.add(owner_of(op), bar)
            return
        owner = self.buffer(owner_of(op))
        if op.primitive is L.ITEM:
            index = t.index(op.operands[1])
            places = (Place(owner, (P.Item(index),)),)
            given: tuple[Operand, ...] = (owner, index, bar.value)
            t.add(Op((), L.AUGMENTED_ITEM["Add"], given, (), (), places, t.origin))
            return
        word = op.primitive.word
        places = (Place(owner, (P.Field(word),)),)
        added = L.augmented_field(word, "Add")
        t.add(Op((), added, (owner, bar.value), (), (), places, t.origin))

    def _sum(self, one: Bar, other: Bar, of: Kind) -> Bar:
        """Return the sum of two cotangents of a value of some kind."""
        if isinstance(of, K.Tuple):
            left, right = self._apart(one, of), self._apart(other, of)
            triples = zip(left, right, of.items, strict=True)
            parts = ((a and b and self._sum(a, b, k)) or a or b for a, b, k in triples)
            return Bar(None, parts=tuple(parts))
        assert one.value is not None and other.value is not None
        if not K.is_numeric(K.without_none(of)):
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

    def _apart(self, bar: Bar, kind: K.Tuple) -> tuple[Bar | None, ...]:
        """Return the cotangents of the parts of a tuple."""
        if bar.parts or bar.value is None:
            return bar.parts or (None,) * len(kind.items)
        return tuple(
            Bar(self.t.emit(L.ITEM, (bar.value, P.Const(i)), tangent_kind(k)))
            if K.differentiable(k)
            else None
            for i, k in enumerate(kind.items)
        )

    def whole(self, dot: Var) -> Operand:
        """Return a cotangent, zeros where there is none, which may be anybody's memory."""
        bar, v = self.of.get(dot), self.value(dot)
        if dot in self.refs or self.is_shadowed(dot):
            return self.buffer(dot)
        if bar is None:
            return zeros_like(self.t, v)
        return self._built(bar, v.kind, v)

    def made(self, dot: Var) -> Bar | None:
        """Return the cotangent of what a rule gives, if it has one; there is none any more.

        That of memory in a tuple has been found by identity.
        """
        bar, v = self.of.get(dot), self.value(dot)
        if not isinstance(v.kind, K.Tuple) or (bar is None and not self._shows(v.kind)):
            return self.taken(dot)
        if self.shadows is not None:
            bar = self._with_shadows(bar, v.kind, v, self.shadows)
        self.of.pop(dot, None)
        return None if bar is None else Bar(self._built(bar, v.kind, v))

    def _shows(self, kind: Kind) -> bool:
        """Say whether a part of a tuple may be memory whose cotangent is found by identity."""
        parts = kind.inside if isinstance(kind, K.Tuple) else ()
        memory = (K.differentiable(k) and is_memory(k) for k in parts)
        return self.shadows is not None and (any(memory) or any(map(self._shows, parts)))

    def _with_shadows(
        self, bar: Bar | None, kind: K.Tuple, v: Operand, shadows: Shadows
    ) -> Bar | None:
        """Return a tuple's cotangent with what has been found for the arrays in it."""
        if not self._shows(kind):
            return bar
        given = (None,) * len(kind.items) if bar is None else self._apart(bar, kind)
        structures = any(is_structure(k) and K.differentiable(k) for k in kind.items)
        if structures and any(is_structure(w.kind) for w in self.t.table.facts.written):
            raise NotYet("a structure that a function makes, and that is changed")
        parts: list[Bar | None] = []
        for i, (part, k) in enumerate(zip(given, kind.items, strict=True)):
            if isinstance(k, K.Array) and K.differentiable(k):
                item = part_of(self.t, v, kind, i)
                more = Bar(shadows.taken(self.t, item), True)
                part = more if part is None else self._sum(part, more, k)
            elif is_structure(k) and K.differentiable(k):
                part = Bar(shadows.taken(self.t, part_of(self.t, v, kind, i)), True)
            elif isinstance(k, K.Tuple) and self._shows(k):
                item = part_of(self.t, v, kind, i)
                part = self._with_shadows(part, k, item, shadows)
            parts.append(part)
        return Bar(None, parts=tuple(parts))

    def _built(self, bar: Bar, kind: Kind, value: Operand) -> Operand:
        if not bar.parts:
            assert bar.value is not None
            return bar.value
        assert isinstance(kind, K.Tuple)
        found: list[Operand] = []
        for i, (part, k) in enumerate(zip(bar.parts, kind.items, strict=True)):
            item = part_of(self.t, value, kind, i)
            found.append(nothing(self.t, item, k) if part is None else self._built(part, k, item))
        return self.t.emit(L.TUPLE, found, tangent_kind(kind))

    def buffer(self, dot: Var) -> Var:
        """Return the cotangent of memory as memory that may be changed in place."""
        bar, v = self.of.get(dot), self.value(dot)
        if self.shadows is not None and dot in self.shadows.dots:
            return self.shadows.of(self.t, v)
        ref = self.refs.get(dot)
        if ref is not None:
            owner = self.buffer(owner_of(ref))
            if ref.primitive is L.SAME:
                return owner
            rest = tuple(self.t.index(o) for o in ref.operands[1:])
            return self.t.emit(ref.primitive, (owner, *rest), tangent_kind(v.kind))
        if isinstance(v.kind, K.Tuple) or not (
            isinstance(v.kind, K.Array) or K.is_container(v.kind)
        ):
            raise NotYet(f"a cotangent in place of {K.describe(v.kind)}")
        if bar is None:
            if not isinstance(v.kind, K.Array):
                raise NotYet("a structure that comes from a region")
            value = zeros_like(self.t, v)
        elif isinstance(v.kind, K.Array) and not v.kind.rank:
            assert bar.value is not None  # NumPy makes a number of such an array
            value = self.t.call(self.t.table.outer(np, "array"), (bar.value,), tangent_kind(v.kind))
        elif bar.own:
            value = bar.value or P.Const(None)
        else:
            assert bar.value is not None
            value = self.t.emit(L.method("copy"), (bar.value,), tangent_kind(v.kind))
        assert isinstance(value, Var)
        self.of[dot] = Bar(value, True)
        return value

    def born(self, dot: Var) -> None:
        """Let a structure have a cotangent, zeros in all places that it has in the end."""
        if dot not in self.of and dot not in self.refs and self.shadows is None:
            v = self.value(dot)
            if self.t.table.facts.written and memories_in(v.kind) > 1:
                raise NotYet("parts of a structure that may share memory, turned round")
            helper = self.t.table.helper(runtime.zeros_like)
            more = (
                ()
                if v in self.t.table.facts.params and v not in self.t.table.facts.written
                else (P.Const(0.0),)
            )
            value = self.t.call(helper, (v, *more), tangent_kind(v.kind))
            self.of[dot] = Bar(value, True)


def owner_of(ref: Op) -> Var:
    """Return the tangent of the memory of which an operation reads a part."""
    owner = ref.operands[0]
    assert isinstance(owner, Var)
    return owner
