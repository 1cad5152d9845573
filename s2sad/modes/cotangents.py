"""The cotangents of one function: their names, zeros and sums, and which of them are set."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import registry, runtime
from s2sad.emitted.found import as_found
from s2sad.errors import Error, UnsupportedError
from s2sad.kinds import Kind
from s2sad.known.built import is_few, is_frozen, like, read
from s2sad.known.callees import Callees
from s2sad.known.joined import holds_joined
from s2sad.known.lifted import space_among
from s2sad.known.mixed import is_mixed
from s2sad.modes.refs import Refs
from s2sad.modes.structured import Contribution
from s2sad.names import Names
from s2sad.nodes import (
    Block,
    Node,
    assign,
    attribute,
    binary,
    call,
    clone,
    constant,
    dotted,
    name,
    names_read,
    stand_in,
    subscript,
    tuple_,
    walk,
)
from s2sad.stages import Function, KindFacts
from s2sad.syntax.flow import surely_bound


def may_be_integer(kind: Kind) -> bool:
    """Say whether numbers of this kind, or in lists of this kind, may have begun as integers."""
    if isinstance(kind, K.List) and kind.items is None:
        return may_be_integer(kind.item)
    return isinstance(kind, K.Num) and kind.type != "bool" and kind.dtype in (None, "any")


class Cotangents:
    """State of a backward sweep: `live` are the variables whose cotangents are set.

    `elements` are variables that are parts of structures: their cotangents are the same parts of
    the structures' cotangents, as long as they are in `aliased`; those `shared` by the arms of a
    branch are that from the first contribution on, so that the arms agree. `now` are the kinds that
    variables have where the sweep stands.
    """

    def __init__(self, function: Function, kinds: KindFacts, refs: Refs, names: Names) -> None:
        self.function = function
        self.kinds = kinds
        self.refs = refs
        self.names = names
        self.bars: dict[str, str] = {}
        self.bar_kinds: dict[str, Kind] = {}
        self.callees = Callees(refs.modules, refs.functions, self.bar_kinds)
        self.live: set[str] = set()
        self.absent: set[str] = set()
        self.elements: dict[str, tuple[Any, Node]] = {}
        self.aliased: set[str] = set()
        self.shared: frozenset[str] = frozenset()
        self.now: dict[str, Kind] = {}

    def bar(self, variable: str) -> str:
        """Return the name of a variable's cotangent."""
        if variable not in self.bars:
            self.bars[variable] = self.names.fresh(f"{variable}_bar")
        return self.bars[variable]

    def note_kind(self, variable: str, kind: Kind) -> None:
        bar = self.bar(variable)
        if isinstance(kind, K.Union):
            kind = K.union(K.FLOAT if not K.carriers(k) else k for k in kind.options)
        known = self.bar_kinds.get(bar)
        self.bar_kinds[bar] = kind if known is None else K.join(known, kind)

    def may_be_complex(self, variable: str) -> bool:
        """Say whether a variable has complex numbers on some path, so that its cotangent may."""
        return K.is_complex(self.bar_kinds.get(self.bar(variable), K.UNKNOWN))

    def np(self, path: str, kind: Kind = K.UNKNOWN) -> Node:
        """Return `np.path` under the name that the text has for the namespace of a kind."""
        return dotted(f"{self.refs.space(space_among([kind]))}.{path}")

    def zero(self, value: Node, kind: Kind) -> Node:
        """Return zeros like a value: its structure, shape and dtype."""
        if isinstance(kind, K.Num) and kind.dtype in ("float16", "float32", "complex64"):
            return call(self.np(str(kind.dtype)), constant(0.0))
        if isinstance(kind, K.Num) and kind.type == "float":
            return constant(0.0)
        if isinstance(kind, K.Num) and kind.type == "complex":
            return gast.Constant(0j, None)
        if isinstance(kind, K.Array):
            return self._zeros_of_known_shape(kind) or call(self.np("zeros_like", kind), value)
        if isinstance(kind, K.Union):
            return self._zero_of_union(value, kind)
        if isinstance(kind, K.Tuple):
            return self._zeros_by_step(value, kind)
        if isinstance(kind, K.List) and isinstance(kind.item, K.Num) and kind.item.type == "float":
            zeros = gast.List([constant(0.0)], gast.Load())
            return binary(zeros, gast.Mult, call("len", value))
        if isinstance(kind, K.List) and isinstance(kind.item, K.Tuple) and _flat(kind.item):
            # An integer among floats is a float here: as a value it would have no zero.
            zeros = gast.List([self.zero(name("_"), kind.item)], gast.Load())
            return binary(zeros, gast.Mult, call("len", value))
        if is_few(kind) and all(isinstance(k, K.Num) for k in kind.inside):
            return self._zeros_by_step(value, kind)
        if isinstance(kind, K.OpenDict) and getattr(kind.item, "type", "") == "float":
            return call("dict.fromkeys", value, constant(0.0))
        if isinstance(kind, K.OpenDict) and isinstance(kind.item, K.Union):
            if any(isinstance(k, K.Num) for k in K.carriers(kind.item)):
                # An integer may be among the numbers: which entry it is nobody knows.
                return self.counting(value)
        given = isinstance(value, gast.Name) and value.id in self.function.params
        began = isinstance(kind, K.List) and not given and may_be_integer(kind)
        if isinstance(kind, K.Dict) and isinstance(value, gast.Name) and holds_joined(kind):
            return self._zeros_by_step(value, kind)
        if began or (not isinstance(kind, K.Opaque) and holds_joined(kind)):
            return self.counting(value)
        known = registry.objects_of(kind.cls) if isinstance(kind, K.Opaque) else None
        if known is not None and known.zero is not None:
            return call(name(self.refs.function(known.zero)), value)
        if K.is_container(kind):
            return call(name(self.refs.function(runtime.zeros_like)), value)
        if not K.differentiable(kind):
            return gast.Constant(None, None)
        raise UnsupportedError(
            f"s2sad cannot set up a cotangent for {K.describe(kind)}.",
            remedy="Use floats, arrays, and lists, tuples or dicts of these.",
            place=self.function.source.place(self.function.source.node),
        )

    def counting(self, value: Node) -> Node:
        """Return zeros like a structure in which any integer may stand for a float."""
        return call(name(self.refs.function(runtime.zeros_like)), value, constant(0.0))

    def _zeros_by_step(self, value: Node, kind: Kind) -> Node:
        """Return zeros like the parts of a structure, one after the other; None for integers."""
        parts = [
            self.zero(read(value, part), part.kind)
            if K.differentiable(part.kind)
            else gast.Constant(None, None)
            for part in kind.parts
        ]
        return like(value, kind, parts)

    def _zeros_of_known_shape(self, kind: K.Array) -> Node | None:
        """Return zeros where the program itself says how many: the array need not be there."""
        shape = [K.length_of(d) for d in kind.dims]
        if not shape or None in shape or kind.dtype != "float64":
            return None
        sizes = [constant(n) for n in shape]
        return call(self.np("zeros", kind), sizes[0] if len(sizes) == 1 else tuple_(sizes))

    def _zero_of_union(self, value: Node, kind: K.Union) -> Node:
        """Return zeros like what of a union carries a derivative; never None where sums follow."""
        carriers = K.carriers(kind)
        if len(carriers) == 1 and isinstance(carriers[0], K.Num):
            return self.zero(value, carriers[0])
        if any(isinstance(k, K.Tuple) for k in kind.options):
            return call(name(self.refs.function(runtime.zeros_like)), value)
        if not carriers:
            return gast.Constant(None, None)
        if K.NONE not in kind.options:
            return call(self.np("zeros_like", kind), value)
        dtype = next(k.dtype for k in carriers if isinstance(k, K.Array))
        given = [] if dtype == "float64" else [self.np(dtype)]
        return call(self.np("zeros", kind), call(self.np("shape", kind), value), *given)

    def ensure(self, variable: str, kind: Kind, at: Any) -> Block:
        """Return what sets a cotangent to zero where it is not set yet."""
        if variable in self.live:
            return []
        element = self.elements.get(variable)
        if element is not None:
            return self._part_of_shadow(variable, kind, element, at)
        self.live.add(variable)
        self.note_kind(variable, kind)
        self._decided(variable, kind, at)
        made = assign(self.bar(variable), self._zero_of(variable, kind, at))
        return [stand_in(made, self.function.origins.get(at, at), self.function.source)]

    def _zero_of(self, variable: str, kind: Kind, at: Any) -> Node:
        """Return zeros like a variable; where it has no value they are wanted by nobody."""
        zero = self.zero(name(variable), kind)
        sure = variable in self.function.params or variable not in names_read(zero)
        if sure or surely_bound(self.function.node.body, variable, at):
            return zero
        self.absent.add(variable)
        if isinstance(kind, K.Tuple):
            return call(name(self.refs.function(runtime.zeros_like)), name(variable))
        if isinstance(kind, K.List | K.OpenDict) and not _helps(zero):
            return self.counting(name(variable))
        return zero

    def _part_of_shadow(
        self, variable: str, kind: Kind, element: tuple[Any, Node], at: Any
    ) -> Block:
        """The cotangent of a part of a structure is that part of the structure's cotangent."""
        _, value = element
        base = value.value.id
        out = self.ensure(base, self.now.get(base, K.UNKNOWN), at)
        self.live.add(variable)
        self.aliased.add(variable)
        self.note_kind(variable, kind)
        place = clone(value)
        place.value = name(self.bar(base))
        return [*out, assign(self.bar(variable), place)]

    def _decided(self, variable: str, kind: Kind, at: Any) -> None:
        if isinstance(kind, K.Unknown | K.Unbound):
            why = kind.why if isinstance(kind, K.Unknown) and kind.why else "not known"
            raise self.refuse(
                at,
                f"`{variable}` carries a derivative here, but its type is {why}.",
                "Give it the same kind on all paths: start sums of arrays with "
                "np.zeros(...), not 0.",
            )

    def refuse(self, at: Any, reason: str, remedy: str) -> Error:
        origin = self.function.origins.get(at, at)
        place = None
        if getattr(origin, "lineno", None) is not None:
            place = self.function.source.place(origin)
        return UnsupportedError(reason, remedy=remedy, place=place)

    def add(self, c: Contribution, kind: Kind, at: Any) -> Block:
        """Return the statements that add a contribution to its operand's cotangent.

        One that is computed, a call of a reverse, say, stands once: a tuple is added part by part.
        """
        if not any(isinstance(n, gast.Call) for n in walk(c.value)) or _no_tuple(kind):
            return self._add(c, kind, at)
        held = self.names.fresh(f"{c.operand}_part_bar")
        return [assign(held, c.value), *self._add(replace(c, value=name(held)), kind, at)]

    def _add(self, c: Contribution, kind: Kind, at: Any) -> Block:
        if c.path is not None or c.operand in self.live:
            self._decided(c.operand, kind, at)
        if c.path is not None:
            kind = K.without_none(kind)
        self.note_kind(c.operand, kind)
        bar = self.bar(c.operand)
        if c.path is None:
            if is_mixed(kind):
                c = replace(c, value=self._as_found(c.value, name(c.operand)))
            out = self.ensure(c.operand, kind, at) if c.operand in self.shared else []
            if c.operand in self.aliased:
                return [*out, *self._into_shadow(c, kind)]
            if c.operand not in self.live:
                self.live.add(c.operand)
                return [assign(bar, c.value)]
            if K.is_container(kind) and self._has_views(c.operand):
                helper = name(self.refs.function(runtime.add_into))
                return [*out, gast.Expr(call(helper, name(bar), c.value))]
            return [assign(bar, self.sum(name(bar), c.value, kind))]
        how, where = c.path
        if how == "item":
            return self._add_item(c, where, kind)
        out = self.ensure(c.operand, kind, at)
        if is_mixed(kind):
            c = replace(c, value=self._as_found(c.value, name(bar)))
        if c.repeats:
            ufunc = call(self.np("add.at", kind), name(bar), as_value(clone(where)), c.value)
            return [*out, gast.Expr(ufunc)]
        if how == "at":
            helper = name(self.refs.function(runtime.add_at))
            return [*out, assign(bar, call(helper, name(bar), clone(where), c.value))]
        bars = name(bar)
        place = attribute(bars, where) if how == "attr" else subscript(bars, clone(where))
        inner = self._part_kind(kind, how, where)
        if is_mixed(inner):
            c = replace(c, value=self._as_found(c.value, clone(place)))
        if K.is_container(inner) and (self._is_slice(c.operand) or self._has_views(c.operand)):
            helper = name(self.refs.function(runtime.add_into))
            return [*out, gast.Expr(call(helper, place, c.value))]
        if K.is_container(inner) or isinstance(inner, K.Tuple):
            return [*out, assign_place(place, self.sum(clone(place), c.value, inner), kind)]
        if isinstance(inner, K.Union) and K.NONE in inner.options:
            helper = name(self.refs.function(runtime.add))  # of a None, the shadow has none
            return [*out, assign_place(place, call(helper, clone(place), c.value), kind)]
        if is_frozen(kind):
            return [*out, assign_place(place, self.sum(clone(place), c.value, inner), kind)]
        target = clone(place)
        target.ctx = gast.Store()
        return [*out, gast.AugAssign(target, gast.Add(), c.value)]

    def _as_found(self, value: Node, primal: Node) -> Node:
        """Return a contribution to what is found to be real or complex at run time."""
        return call(name(self.refs.function(as_found)), value, primal)

    def _has_views(self, variable: str) -> bool:
        """Say whether a part of a structure's cotangent has another name: it has to stay a part."""
        views = self.aliased & self.live - {variable}
        return any(self._whole(view) == self._whole(variable) for view in views)

    def _whole(self, variable: str) -> str:
        """Return the structure of whose cotangent that of a variable is a part."""
        while variable in self.aliased and variable in self.elements:
            variable = self.elements[variable][1].value.id
        return variable

    def _is_slice(self, variable: str) -> bool:
        """Say whether a cotangent is a slice of a shadow: a list of its own, with shared items."""
        _, value = self.elements.get(variable, (None, None))
        return (
            variable in self.aliased
            and isinstance(value, gast.Subscript)
            and isinstance(value.slice, gast.Slice)
        )

    def _into_shadow(self, c: Contribution, kind: Kind) -> Block:
        """A whole contribution to a part of a shadow is added to it in place."""
        fn = runtime.add_into_each if self._is_slice(c.operand) else runtime.add_into
        helper = name(self.refs.function(fn))
        return [gast.Expr(call(helper, name(self.bar(c.operand)), c.value))]

    def _part_kind(self, kind: Kind, how: str, where: Any) -> Kind:
        if isinstance(kind, K.Obj):
            return kind.at(where) or K.UNKNOWN
        if not isinstance(kind, K.BuiltIn):
            return K.FLOAT
        if isinstance(kind, K.List) and isinstance(where, gast.Slice):
            return kind
        step = getattr(self.kinds.of.get(where), "value", K.MISSING)
        if isinstance(kind, K.List) and kind.items is not None and isinstance(step, int):
            step += len(kind.items) if step < 0 else 0
        return kind.at(step) or next(iter(kind.inside), K.UNKNOWN)

    def sum(self, left: Node, right: Node, kind: Kind) -> Node:
        """Return the sum of two cotangents of one kind."""
        if K.is_numeric(K.without_none(kind)):
            return binary(left, gast.Add, right)
        if isinstance(kind, K.Tuple) or is_small(kind):
            parts: list[Node] = []
            for part in kind.parts:
                if not K.differentiable(part.kind):
                    parts.append(gast.Constant(None, None))
                    continue
                maybe = K.NONE in K.options(part.kind)  # of a None, the shadow has none
                known = K.UNKNOWN if maybe else part.kind
                parts.append(self.sum(read(left, part), read(right, part), known))
            return like(left, kind, parts)
        return call(name(self.refs.function(runtime.add)), left, right)

    def _add_item(self, c: Contribution, index: int, kind: Kind) -> Block:
        """Add to one item of a tuple's cotangent, which is a tuple anew."""
        assert isinstance(kind, K.Tuple)
        if is_mixed(kind.items[index]):
            primal = subscript(name(c.operand), constant(index))
            c = replace(c, value=self._as_found(c.value, primal))
        bar = self.bar(c.operand)
        fresh = c.operand not in self.live
        self.live.add(c.operand)
        parts: list[Node] = []
        for i, k in enumerate(kind.items):
            old = subscript(name(bar), constant(i))
            if i == index:
                parts.append(c.value if fresh else self.sum(old, c.value, k))
            elif not fresh:
                parts.append(old)
            else:
                parts.append(self.zero(subscript(name(c.operand), constant(i)), k))
        return [assign(bar, tuple_(parts))]


def _helps(zero: Node) -> bool:
    """Say whether zeros come from a helper, which makes None of None."""
    return isinstance(zero, gast.Call) and getattr(zero.func, "id", "len") != "len"


def _no_tuple(kind: Kind) -> bool:
    """Return whether the sum of two such cotangents reads each of them once."""
    parts = (kind, *kind.inside) if kind.mutable else (kind,)
    found = [k for part in parts for k in K.options(part)]
    return not any(isinstance(k, K.Tuple) or is_small(k) for k in found)


def is_small(kind: Kind) -> bool:
    """Return whether the sum of two such structures is written out: of a few numbers and arrays."""
    return is_few(kind) and all(K.is_numeric(k) or not K.differentiable(k) for k in kind.inside)


def as_value(index: Node) -> Node:
    """Write slices as slice(...): an index that is an argument has no colons."""
    if isinstance(index, gast.Tuple):
        index.elts = [as_value(e) for e in index.elts]
        return index
    if not isinstance(index, gast.Slice):
        return index
    parts = [
        p if p is not None else gast.Constant(None, None)
        for p in (index.lower, index.upper, index.step)
    ]
    if index.step is None:
        parts = parts[:2]
    return call("slice", *parts)


def assign_place(place: Node, value: Node, owner: Kind = K.UNKNOWN) -> Node:
    """Return `place = value` for an expression that names a place, in `owner` or in its shadow."""
    if isinstance(place, gast.Attribute) and is_frozen(owner):
        word = gast.Constant(place.attr, None)
        return gast.Expr(call("object.__setattr__", place.value, word, value))
    target = clone(place)
    target.ctx = gast.Store()
    return gast.Assign([target], value, None)


def _flat(kind: K.Tuple) -> bool:
    """Say whether zeros like a plain tuple are numbers and None, with at least one number."""
    numbers = [k for k in kind.items if K.differentiable(k)]
    plain = all(isinstance(k, K.Num) and k.type in ("float", "complex") for k in numbers)
    return kind.cls is None and bool(numbers) and plain
