"""Reverse mode: the forward sweep is the user's program, the backward sweep undoes it.

Both sweeps are written at once from the structured program. Every assignment of the forward sweep
has a Save before it and every undoing a Restore of the same key; the storage pass keeps those
whose value the backward sweep reads. A cotangent is assigned by its first contribution and added
to by later ones; where paths meet, what only one of them has set is set to zero on the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad import runtime
from s2sad.errors import Error, InternalError, UnsupportedError
from s2sad.flow import live_in
from s2sad.kinds import Kind
from s2sad.modes.notes import Chain, Notes, note_rounds
from s2sad.modes.operations import Contribution, Operations, Site
from s2sad.modes.refs import Refs
from s2sad.names import Names
from s2sad.nodes import (
    Block,
    Node,
    assign,
    assign_tuple,
    attribute,
    binary,
    block_writes,
    blocks_of,
    call,
    clone,
    constant,
    dotted,
    is_constant,
    name,
    names_read,
    names_written,
    rename,
    store,
    subscript,
    substitute,
    tuple_,
)
from s2sad.stages import Activity, Comment, Function, KindFacts, Restore, Save, Undo

_CHEAP_OPERATORS = (gast.Add, gast.Sub, gast.Mult, gast.Div)


@dataclass
class Sweeps:
    """The two sweeps of one function, before storage is decided."""

    forward: Block
    backward: Block
    bars: dict[str, str] = field(default_factory=dict)
    bar_kinds: dict[str, Kind] = field(default_factory=dict)


CallBack = Callable[[Site, frozenset[str]], "tuple[Block, list[Contribution], Node | None] | None"]


class Reverse:
    """Writes the sweeps of one function; state is the set of cotangents that are set."""

    def __init__(
        self,
        function: Function,
        kinds: KindFacts,
        activity: Activity,
        notes: Notes,
        refs: Refs,
        names: Names,
        calls: CallBack,
        heading: Callable[[Any], str],
    ) -> None:
        self.function = function
        self.kinds = kinds
        self.activity = activity
        self.notes = notes
        self.names = names
        self.refs = refs
        self.calls = calls
        self.heading = heading
        self.operations = Operations(function.source, kinds.of, kinds.objects, refs, names)
        self.bars: dict[str, str] = {}
        self.bar_kinds: dict[str, Kind] = {}
        self.live: set[str] = set()
        self.replaced: dict[Any, Node] = {}
        self.loops: list[Any] = []
        self.kept: dict[Any, str] = {}
        self.live_after: dict[Any, frozenset[str]] = {}
        self.live_head: dict[Any, frozenset[str]] = {}
        self.writes: dict[str, int] = {}
        self.cheap: dict[str, tuple[Any, Node]] = {}
        self._liveness()
        self.elements: dict[str, tuple[Any, Node]] = {}
        self.aliased: set[str] = set()
        self._find_cheap(function.node.body, None)
        self._find_elements(function.node.body, None)

    def keep(self, statement: Any, base: str) -> str:
        """Return a name for what a statement hands on from forward to backward."""
        kept = self.names.fresh(base)
        self.kept[statement] = kept
        return kept

    # entry

    def sweeps(self, seed: Node, has_aux: bool = False) -> Sweeps:
        """Return both sweeps; `seed` is the expression of the result's cotangent.

        With `has_aux` the result is a pair whose second item has no cotangent.
        """
        body = self.function.node.body[:-1]
        result = self.function.result
        backward: Block = []
        if has_aux:
            self.operations.aux_result = result
            kind = self.kinds.result
            aux = kind.items[1] if isinstance(kind, K.Tuple) else K.UNKNOWN
            rest = gast.Constant(None, None)
            if K.differentiable(aux) and not isinstance(aux, K.Unknown):
                rest = self.zero(subscript(name(result), constant(1)), aux)
            seed = tuple_([seed, rest])
        if body and result in self.activity.after(body[-1]):
            if not (isinstance(seed, gast.Name) and seed.id == self.bar(result)):
                backward.append(assign(self.bar(result), seed))
            self.live.add(result)
            self.note_kind(result, self.kinds.result)
        backward += self.block(body)
        forward = self.forward(body)
        return Sweeps(forward, backward, self.bars, self.bar_kinds)

    def _liveness(self) -> None:
        def note(statement: Any, live: frozenset[str]) -> None:
            self.live_after[statement] = live

        def header(loop: Any) -> tuple[set[str], set[str]]:
            plan = self.function.loops.get(loop)
            if plan is None:
                return set(), set()
            return set(), {plan.index}

        body = self.function.node.body
        live_in(body, frozenset(), note, extra=header)
        for statement in body:
            self._count(statement)

    def _count(self, statement: Node) -> None:
        parts = blocks_of(statement)
        if isinstance(statement, gast.For):
            written = names_written(statement.target)
        elif parts:
            inner = [block_writes(p) for p in parts]
            written = names_written(statement) - set().union(*inner)
        else:
            written = names_written(statement)
        for n in written:
            self.writes[n] = self.writes.get(n, 0) + 1
        for part in parts:
            for s in part:
                self._count(s)

    # cotangents

    def bar(self, variable: str) -> str:
        """Return the name of a variable's cotangent."""
        if variable not in self.bars:
            self.bars[variable] = self.names.fresh(f"{variable}_bar")
        return self.bars[variable]

    def note_kind(self, variable: str, kind: Kind) -> None:
        bar = self.bar(variable)
        known = self.bar_kinds.get(bar)
        self.bar_kinds[bar] = kind if known is None else K.join(known, kind)

    def np(self, path: str) -> Node:
        return dotted(f"{self.refs.module(np)}.{path}")

    def zero(self, value: Node, kind: Kind) -> Node:
        """Return zeros like a value: its structure, shape and dtype."""
        if isinstance(kind, K.Num) and kind.type == "float":
            return constant(0.0)
        if isinstance(kind, K.Num) and kind.type == "complex":
            return gast.Constant(0j, None)
        if isinstance(kind, K.Array):
            return call(self.np("zeros_like"), value)
        if isinstance(kind, K.Tuple):
            parts = [
                self.zero(subscript(clone(value), constant(i)), k) if K.differentiable(k)
                else gast.Constant(None, None)
                for i, k in enumerate(kind.items)
            ]
            return tuple_(parts)
        if isinstance(kind, K.List | K.Dict | K.Obj):
            return call(name(self.refs.function(runtime.zeros_like)), value)
        if not K.differentiable(kind):
            return gast.Constant(None, None)
        raise UnsupportedError(
            f"The cotangent of {K.describe(kind)} cannot be set up.",
            remedy="Use floats, arrays, and lists, tuples or dicts of these.",
            place=self.function.source.place(self.function.source.node),
        )

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
        return [assign(self.bar(variable), self.zero(name(variable), kind))]

    def _part_of_shadow(
        self, variable: str, kind: Kind, element: tuple[Any, Node], at: Any
    ) -> Block:
        """The cotangent of a part of a structure is that part of the structure's cotangent."""
        s, value = element
        base = value.value.id
        before = self.kinds.before[s]
        out = self.ensure(base, before.get(base, K.UNKNOWN), at)
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
                f"`{variable}` carries a derivative here, but its kind is {why}.",
                "Give it one kind on all paths: start sums of arrays with np.zeros(...), not 0.",
            )

    def refuse(self, at: Any, reason: str, remedy: str) -> Error:
        origin = self.function.origins.get(at, at)
        place = None
        if getattr(origin, "lineno", None) is not None:
            place = self.function.source.place(origin)
        return UnsupportedError(reason, remedy=remedy, place=place)

    def add(self, c: Contribution, kind: Kind, at: Any) -> Block:
        """Return the statements that add a contribution to its operand's cotangent."""
        if c.path is not None or c.operand in self.live:
            self._decided(c.operand, kind, at)
        self.note_kind(c.operand, kind)
        bar = self.bar(c.operand)
        if c.path is None:
            if c.operand in self.aliased:
                return [*self._into_shadow(c, kind)]
            if c.operand not in self.live:
                self.live.add(c.operand)
                return [assign(bar, c.value)]
            return [assign(bar, self.sum(name(bar), c.value, kind))]
        how, where = c.path
        if how == "item":
            return self._add_item(c, where, kind)
        out = self.ensure(c.operand, kind, at)
        if c.repeats:
            ufunc = call(self.np("add.at"), name(bar), clone(where), c.value)
            return [*out, gast.Expr(ufunc)]
        if how == "at":
            helper = name(self.refs.function(runtime.add_at))
            return [*out, assign(bar, call(helper, name(bar), clone(where), c.value))]
        if how == "attr" and isinstance(kind, K.Obj) and _frozen(kind.cls):
            old = attribute(name(bar), where)
            part = self._part_kind(kind, how, where)
            total = self.sum(old, c.value, part)
            setter = call("object.__setattr__", name(bar), gast.Constant(where, None), total)
            return [*out, gast.Expr(setter)]
        if how == "attr":
            place = gast.Attribute(name(bar), where, gast.Store())
        else:
            place = gast.Subscript(name(bar), clone(where), gast.Store())
        inner = self._part_kind(kind, how, where)
        if K.is_container(inner) or isinstance(inner, K.Tuple):
            target = gast.Assign([place], self.sum(_loaded(place), c.value, inner), None)
            return [*out, target]
        return [*out, gast.AugAssign(place, gast.Add(), c.value)]

    def _into_shadow(self, c: Contribution, kind: Kind) -> Block:
        """A whole contribution to a part of a shadow is added to it in place."""
        helper = name(self.refs.function(runtime.add_into))
        return [gast.Expr(call(helper, name(self.bar(c.operand)), c.value))]

    def _part_kind(self, kind: Kind, how: str, where: Any) -> Kind:
        if isinstance(kind, K.List):
            return kind.item if not isinstance(where, gast.Slice) else kind
        if isinstance(kind, K.Dict):
            key = self.kinds.of.get(where, K.UNKNOWN)
            literal = getattr(key, "value", K.MISSING)
            return dict(kind.items).get(literal, kind.items[0][1] if kind.items else K.UNKNOWN)
        if isinstance(kind, K.Obj):
            return dict(kind.fields).get(where, K.UNKNOWN)
        return K.FLOAT

    def sum(self, left: Node, right: Node, kind: Kind) -> Node:
        """Return the sum of two cotangents of one kind."""
        if isinstance(kind, K.Num | K.Array):
            return binary(left, gast.Add, right)
        if isinstance(kind, K.Tuple):
            parts = []
            for i, k in enumerate(kind.items):
                if not K.differentiable(k):
                    parts.append(gast.Constant(None, None))
                    continue
                one = subscript(clone(left), constant(i))
                other = subscript(clone(right), constant(i))
                parts.append(self.sum(one, other, k))
            return tuple_(parts)
        return call(name(self.refs.function(runtime.add)), left, right)

    def _add_item(self, c: Contribution, index: int, kind: Kind) -> Block:
        """Add to one item of a tuple's cotangent, which is a tuple anew."""
        assert isinstance(kind, K.Tuple)
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

    # backward sweep

    def block(self, body: Block) -> Block:
        out: Block = []
        for s in reversed(body):
            out += self.statement(s)
        return out

    def statement(self, s: Node) -> Block:
        handler: Callable[[Node], Block] | None = getattr(self, f"st_{type(s).__name__}", None)
        if handler is not None:
            return handler(s)
        return self._inert(s)

    def _inert(self, s: Node) -> Block:
        """A statement without derivative; refused where it touches what has a cotangent."""
        written = names_written(s)
        if written & self.live:
            raise self.refuse(
                s,
                f"A {_word(s)} that binds `{min(written & self.live)}`, on which the result "
                "depends, cannot be differentiated yet.",
                "Move the computation out of it.",
            )
        return [self._restore(n, s) for n in sorted(written)]

    def _restore(self, variable: str, key: Any) -> Node:
        return Restore(variable, ("over", key, variable))

    def _comment(self, s: Node) -> Block:
        origin = self.function.origins.get(s)
        if origin is None:
            return []
        comment = Comment(self.heading(origin))
        comment.origin = origin
        return [comment]

    def st_Pass(self, s: Node) -> Block:
        return []

    st_Break = st_Assert = st_Raise = st_Pass

    def st_FunctionDef(self, s: Node) -> Block:
        self.live.discard(s.name)
        return [self._restore(s.name, s)]

    def st_Assign(self, s: Node) -> Block:
        target = s.targets[0]
        if isinstance(target, gast.Name):
            return self.assignment(s, target.id, s.value)
        if isinstance(target, gast.Tuple | gast.List):
            return self.unpack(s, target)
        return self.write(s, target)

    def write(self, s: Node, target: Node) -> Block:
        """A write into memory: fine where nothing active is concerned."""
        owner = target
        while isinstance(owner, gast.Subscript | gast.Attribute):
            owner = owner.value
        base = owner.id if isinstance(owner, gast.Name) else None
        varied = self.activity.varied_before.get(s, frozenset())
        given = names_read(s.value) & varied
        if (base is not None and base in self.live) or (given and K.differentiable(
            self.kinds.of.get(s.value, K.UNKNOWN)
        )):
            raise self.refuse(
                s,
                f"Writing into `{base}` in place, on which the result depends, cannot be "
                "differentiated yet.",
                "Build a new value instead: np.where, np.concatenate, or a list and np.array.",
            )
        return []

    def st_AugAssign(self, s: Node) -> Block:
        if not isinstance(s.target, gast.Name):
            return self.write(s, s.target)
        variable = s.target.id
        before = self.kinds.of.get(s.target, K.UNKNOWN)
        if not isinstance(before, K.Num | K.Str | K.Tuple):
            varied = self.activity.varied_after.get(s, frozenset())
            if variable in self.live and variable in varied:
                raise self.refuse(
                    s,
                    f"`{variable}` is {K.describe(before)} and is changed in place; that cannot "
                    "be differentiated yet.",
                    f"Write {variable} = {variable} ... instead, which makes a new value.",
                )
            return []
        value = gast.BinOp(name(variable), s.op, s.value)
        self.kinds.of[value.left] = before
        self.kinds.of[value] = self.kinds.after[s][variable]
        value.lineno = getattr(s, "lineno", None)
        value.col_offset = getattr(s, "col_offset", 0)
        value.end_lineno = getattr(s, "end_lineno", None)
        value.end_col_offset = getattr(s, "end_col_offset", 0)
        return self.assignment(s, variable, value)

    def assignment(self, s: Node, variable: str, value: Node) -> Block:
        """Undo `variable = value`: pass its cotangent on, then put its old value back."""
        restore = self._restore(variable, s)
        if variable not in self.live:
            return [restore]
        self.live.discard(variable)
        if variable not in self.activity.varied_after.get(s, frozenset()):
            return [restore]
        if variable in self.aliased and self.elements.get(variable, (None,))[0] is s:
            self.aliased.discard(variable)
            return [restore]
        kind = self.kinds.after.get(s, {}).get(variable, K.UNKNOWN)
        varied = self.activity.varied_before[s]
        out = self._comment(s)
        bar: Node = name(self.bar(variable))
        if variable in names_read(value):
            held = self.names.fresh(f"{variable}_bar")
            self.bar_kinds[held] = kind
            out.append(assign(held, bar))
            bar = name(held)
        own = variable in names_read(value)
        marker = f"{variable}@out"
        site = Site(s, value, name(marker if own else variable), bar, kind)
        pre, found = self.back(site, varied)
        first = self._recompute(s, variable, own, pre, found)
        after = [self._restore(self.kept[s], s)] if s in self.kept else []
        placed = self._place(s, variable, marker if own or first else None, pre, found, restore)
        return out + placed + after

    def _recompute(
        self, s: Node, variable: str, own: bool, pre: Block, found: list[Contribution]
    ) -> bool:
        """Read cheap temporaries of the same statement by computing them again.

        Says whether the variable must get its old value back before.
        """
        origin = self.function.origins.get(s)
        read = set().union(*(names_read(p) for p in pre), *(names_read(c.value) for c in found))
        table: dict[str, Node] = {}
        first = False
        for temp, (where, value) in self.cheap.items():
            if where is not origin or temp not in read or (temp == variable and own):
                continue
            whole = substitute(value, {
                n: v for n, (w, v) in self.cheap.items() if w is origin and n != temp
            })
            if variable in names_read(whole) and not own:
                if variable in read:
                    continue
                first = True
            table[temp] = whole
        if not table:
            return False
        for position, p in enumerate(pre):
            for f in ("value",):
                if isinstance(getattr(p, f, None), gast.AST):
                    setattr(p, f, substitute(getattr(p, f), table))
            pre[position] = p
        found[:] = [
            Contribution(c.operand, substitute(c.value, table), _path(c.path, table), c.repeats)
            for c in found
        ]
        return first

    def _find_cheap(self, block: Block, in_loop: Any) -> None:
        """Note the temporaries that cost no more to compute again than to keep."""
        for s in block:
            if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
                target = s.targets[0].id
                if target in self.function.temps and self.writes.get(target) == 1:
                    if self._is_cheap(s, in_loop):
                        self.cheap[target] = (self.function.origins.get(s), s.value)
            inner = s if isinstance(s, gast.For | gast.While) else in_loop
            for part in blocks_of(s):
                self._find_cheap(part, inner)

    def _find_elements(self, block: Block, in_loop: Any) -> None:
        """Note the variables that are parts of structures, and what makes displays and ranges."""
        for s in block:
            if isinstance(s, gast.For):
                for b in self.function.loops[s].bindings:
                    self._find_element(b, s)
            inner = s if isinstance(s, gast.For | gast.While) else in_loop
            self._find_element(s, in_loop)
            for part in blocks_of(s):
                self._find_elements(part, inner)

    def _find_element(self, s: Node, in_loop: Any) -> None:
        if not isinstance(s, gast.Assign) or not isinstance(s.targets[0], gast.Name):
            return
        target, value = s.targets[0].id, s.value
        if self.writes.get(target) != 1:
            return
        if isinstance(value, gast.List) and target in self.function.temps and value.elts:
            self.operations.displays.add(target)
        if isinstance(value, gast.Call) and self.kinds.objects.get(value.func) is np.arange:
            self.operations.distinct.add(target)
        if self._is_element(s, target, value, in_loop):
            self.elements[target] = (s, value)

    def _is_element(self, s: Node, target: str, value: Node, in_loop: Any) -> bool:
        """Say whether a variable is always the same part of a structure where it is active."""
        kind = self.kinds.after.get(s, {}).get(target, K.UNKNOWN)
        if not isinstance(value, gast.Subscript | gast.Attribute):
            return False
        if not isinstance(value.value, gast.Name) or not K.is_container(kind):
            return False
        if not K.is_container(self.kinds.of.get(value.value, K.UNKNOWN)):
            return False
        sliced = isinstance(value, gast.Subscript) and isinstance(value.slice, gast.Slice)
        if sliced and not (isinstance(kind, K.List) and K.is_container(kind.item)):
            return False
        if in_loop is not None and target in self.activity.head(in_loop):
            return False
        index = self.function.loops[in_loop].index if isinstance(in_loop, gast.For) else None
        for n in names_read(value):
            if n != index and self.writes.get(n, 0) > (0 if n in self.function.params else 1):
                return False
        return True

    def _is_cheap(self, s: Node, in_loop: Any) -> bool:
        value = s.value
        if in_loop is not None and self._is_reference(value):
            return not names_read(value) & block_writes(in_loop.body)
        if not isinstance(self.kinds.after.get(s, {}).get(s.targets[0].id), K.Num):
            return False
        if isinstance(value, gast.UnaryOp):
            return True
        if isinstance(value, gast.Subscript) and in_loop is not None:
            changed = block_writes(in_loop.body)
            plain = isinstance(value.value, gast.Name)
            return plain and not names_read(value) & changed
        if isinstance(value, gast.BinOp) and type(value.op) in _CHEAP_OPERATORS:
            one_constant = is_constant(value.left) or is_constant(value.right)
            if one_constant and isinstance(value.op, gast.Mult | gast.Div):
                return True
            if in_loop is None:
                return False
            changed = block_writes(in_loop.body)
            moving = {n for n in names_read(value) if n in changed}
            return len(moving) <= 1 or self._both_active(s, value)
        return False

    def _is_reference(self, value: Node) -> bool:
        """Say whether an expression only looks up a part of a structure."""
        if not isinstance(value, gast.Subscript | gast.Attribute):
            return False
        if isinstance(value, gast.Subscript) and isinstance(value.slice, gast.Slice):
            return False
        owner = self.kinds.of.get(value.value, K.UNKNOWN)
        return isinstance(value.value, gast.Name) and (
            K.is_container(owner) or isinstance(owner, K.Tuple)
        )

    def _both_active(self, s: Node, value: Node) -> bool:
        """Both factors of an active product are read by the backward sweep anyway."""
        if not isinstance(value.op, gast.Mult | gast.Div):
            return False
        varied = self.activity.varied_before.get(s, frozenset())
        return names_read(value) <= varied

    def back(self, site: Site, varied: frozenset[str]) -> tuple[Block, list[Contribution]]:
        """Ask for the contributions of an operation: a user's function, or a rule."""
        if isinstance(site.node, gast.Call | gast.Attribute):
            answer = self.calls(site, varied)
            if answer is not None:
                pre, found, forward = answer
                if forward is not None:
                    self.replaced[site.statement] = forward
                return pre, found
        return self.operations.back(site, varied)

    def _place(
        self,
        s: Node,
        variable: str,
        marker: str | None,
        pre: Block,
        found: list[Contribution],
        restore: Node,
    ) -> Block:
        """Order contributions and the restoring: a result is read before, an operand after it.

        Where the variable is its own operand, `marker` stands for the result in what was built.
        """
        before = self.kinds.before.get(s, {})
        out: Block = []
        if marker is not None:
            reads = [*pre, *(c.value for c in found)]
            if any(marker in names_read(r) for r in reads):
                held = self.names.fresh(f"{variable}_out")
                out.append(assign(held, name(variable)))
                for r in reads:
                    rename(r, {marker: held})
            out.append(restore)
        out += pre
        out += self._unpacked(s, found, before) or [
            x for c in found for x in self.add(c, before.get(c.operand, K.UNKNOWN), s)
        ]
        if marker is None:
            out.append(restore)
        return out

    def _unpacked(
        self, s: Node, found: list[Contribution], before: dict[str, Kind]
    ) -> Block | None:
        """Undo `t = (a, b)` by `a_bar, b_bar = t_bar`, where these are first contributions."""
        value = getattr(s, "value", None)
        if not isinstance(value, gast.Tuple | gast.List) or len(found) != len(value.elts) or len(found) < 2:
            return None
        operands = [c.operand for c in found]
        if len(set(operands)) != len(operands) or set(operands) & self.live:
            return None
        if any(c.path is not None or not isinstance(c.value, gast.Subscript) for c in found):
            return None
        for c in found:
            self._decided(c.operand, before.get(c.operand, K.UNKNOWN), s)
            self.note_kind(c.operand, before[c.operand])
            self.live.add(c.operand)
        return [assign_tuple([self.bar(n) for n in operands], found[0].value.value)]

    def unpack(self, s: Node, target: Node) -> Block:
        """Undo `a, b = t`: the cotangent of t is made of those of a and b."""
        names = [e.id for e in target.elts]
        restores: Block = [self._restore(n, s) for n in names]
        set_ = [n for n in names if n in self.live]
        for n in set_:
            self.live.discard(n)
        source = s.value.id
        if not set_ or source not in self.activity.varied_before[s]:
            return restores
        after = self.kinds.after[s]
        owner = self.kinds.of.get(s.value, K.UNKNOWN)
        out = self._comment(s)
        bars: list[Node] = []
        for n in names:
            kind = after.get(n, K.UNKNOWN)
            if n in set_:
                bars.append(name(self.bar(n)))
            else:
                bars.append(self.zero(name(n), kind))
        if isinstance(owner, K.Tuple):
            value: Node = tuple_(bars)
        elif isinstance(owner, K.List):
            value = gast.List(bars, gast.Load())
        elif isinstance(owner, K.Array):
            value = call(self.np("array"), gast.List(bars, gast.Load()))
        else:
            raise self.operations.undecided(s.value, owner)
        if source in names:
            held = self.names.fresh(f"{source}_bar")
            out.append(assign(held, value))
            value = name(held)
            out += restores
            restores = []
        before = self.kinds.before[s]
        out += self.add(Contribution(source, value), before.get(source, K.UNKNOWN), s)
        return out + restores

    def st_Expr(self, s: Node) -> Block:
        value = s.value
        if not isinstance(value, gast.Call) or not isinstance(value.func, gast.Attribute):
            return []
        owner = value.func.value
        if not isinstance(owner, gast.Name) or owner.id not in self.function.locals:
            return []
        kind = self.kinds.before[s].get(owner.id)
        if isinstance(kind, K.List) and value.func.attr == "append":
            return self.append(s, owner.id, value.args[0])
        if owner.id in self.live and isinstance(kind, K.List | K.Dict | K.Array | K.Obj):
            raise self.refuse(
                s,
                f"`{owner.id}.{value.func.attr}(...)` changes {K.describe(kind)} on which the "
                "result depends; that cannot be differentiated yet.",
                "Build a new value, or fill a list by append.",
            )
        return []

    def append(self, s: Node, owner: str, item: Node) -> Block:
        """Undo `xs.append(x)`: x gets the last cotangent of xs, which loses it."""
        undo = Undo(owner)
        if owner not in self.live:
            return [undo]
        popped = call(attribute(name(self.bar(owner)), "pop"))
        out = self._comment(s)
        varied = self.activity.varied_before[s]
        if isinstance(item, gast.Name) and item.id in varied:
            kind = self.kinds.before[s].get(item.id, K.UNKNOWN)
            held = self.names.fresh(f"{item.id}_bar")
            self.bar_kinds[held] = kind
            out.append(assign(held, popped))
            out += self.add(Contribution(item.id, name(held)), kind, s)
        else:
            out.append(gast.Expr(popped))
        return [*out, undo]

    def st_If(self, s: Node) -> Block:
        verdict = self.kinds.decided.get(s)
        if verdict is not None:
            return self.block(s.body if verdict else s.orelse)
        return self.chain(s)

    def st_Match(self, s: Node) -> Block:
        return self.chain(s)

    def chain(self, s: Node) -> Block:
        """Undo a branch: each arm from the same state, to a state that all arms share."""
        chain = self.notes.chains[s]
        start = frozenset(self.live)
        sweeps: list[Block] = []
        ends: list[frozenset[str] | None] = []
        for arm in chain.arms:
            self.live = set(start)
            code = self._with_restored_deaths(s, arm)
            sweeps.append(code)
            ends.append(None if _raises(arm) else frozenset(self.live))
        open_match = isinstance(s, gast.Match) and not _exhaustive(s)
        union = frozenset().union(*(e for e in ends if e is not None))
        if open_match:
            union |= start
        for code, end in zip(sweeps, ends, strict=True):
            if end is None:
                continue
            self.live = set(end)
            code += self._fill(union, s)
        before = self.kinds.before[s]
        self.live = {n for n in union if not isinstance(before.get(n, K.UNBOUND), K.Unbound)}
        if open_match and union - start:
            self.live = set(start)
            sweeps.append(self._fill(union, s))
        return self._taken(s, chain) + self._select(chain, sweeps) + self._untaken(s, chain)

    def _taken(self, s: Node, chain: Chain) -> Block:
        """A note that ends a round is kept apart: it is wanted before all else of the round."""
        if self.exit_note(s, chain) != "taped":
            return []
        return [Restore(chain.note, ("note", s, chain.note))]

    def _untaken(self, s: Node, chain: Chain) -> Block:
        """All rounds but the last took the one arm that goes on."""
        if self.exit_note(s, chain) != "last":
            return []
        going_on = [i for i, arm in enumerate(chain.arms) if not always_leaves(arm)]
        return [assign(chain.note or "", constant(going_on[0]))]

    def exit_note(self, s: Node, chain: Chain) -> str:
        """Say how the note of a branch that may leave its loop is kept.

        "" for a branch that does not leave, "last" where all rounds but the last must have taken
        the one arm that goes on, "taped" otherwise.
        """
        if chain.note is None or not _breaks(s) or isinstance(s, gast.Match):
            return "taped" if chain.note is not None and _breaks(s) else ""
        going_on = [arm for arm in chain.arms if not always_leaves(arm)]
        clean = len(going_on) == 1 and not any(_breaks(x) for x in going_on[0])
        return "last" if clean else "taped"

    def _fill(self, wanted: frozenset[str], s: Node) -> Block:
        out: Block = []
        before = self.kinds.before[s]
        for n in sorted(wanted - self.live):
            kind = before.get(n, K.UNBOUND)
            if not isinstance(kind, K.Unbound):
                out += self.ensure(n, kind, s)
        return out

    def _select(self, chain: Chain, sweeps: list[Block]) -> Block:
        """Return the backward sweep's if-chain over the arms."""
        if chain.note is None:
            code: Block = sweeps[len(chain.tests)]
            for position in range(len(chain.tests) - 1, -1, -1):
                code = [gast.If(chain.test(position), sweeps[position], code)]
            return code
        code = sweeps[-1]
        for position in range(len(sweeps) - 2, -1, -1):
            code = [gast.If(chain.test(position), sweeps[position], code)]
        return code

    # loops

    def st_While(self, s: Node) -> Block:
        return self.loop(s)

    def st_For(self, s: Node) -> Block:
        plan = self.function.loops[s]
        bound = names_written(s.target)
        inside = self.activity.before(s.body[0]) if s.body else frozenset()
        if plan.bounds is None and bound & (inside | self.activity.after(s)):
            raise self.refuse(
                s,
                "A loop over something that can be read only once cannot pass on derivatives.",
                "Loop over a list, a tuple, an array, range, enumerate or zip.",
            )
        out = self.loop(s)
        return out + [self._restore(n, s) for n in sorted(names_written(s.target))]

    def loop(self, s: Node) -> Block:
        """Undo a loop: as many rounds as it ran, each from the state that every round starts in."""
        out = self._fill_head(s)
        head = frozenset(self.live)
        self.loops.append(s)
        body = self._bound(s) + self._with_restored_deaths(s, s.body)
        body += self._undo_bindings(s)
        extra = self.live - head
        if extra:
            raise InternalError(f"cotangents of {sorted(extra)} set in a loop but not before it")
        for n in sorted(head - self.live):
            body += self.ensure(n, self.kinds.before[s.body[0]].get(
                n, self.kinds.before[s].get(n, K.UNKNOWN)), s)
        self.loops.pop()
        before = self.kinds.before[s]
        self.live = {n for n in head if not isinstance(before.get(n, K.UNBOUND), K.Unbound)}
        loop = self._header(s, body)
        return [*out, loop, *self._after_loop(s)]

    def _fill_head(self, s: Node) -> Block:
        out: Block = []
        after = self.kinds.after.get(s, {})
        for n in sorted(self.activity.head(s) - self.live):
            kind = after.get(n, K.UNKNOWN)
            if K.differentiable(kind) and not isinstance(kind, K.Unbound):
                out += self.ensure(n, kind, s)
        return out

    def _bound(self, s: Node) -> Block:
        """What the header bound is computed again, where the body leaves it alone."""
        plan = self.function.loops.get(s)
        if plan is None or plan.bounds is None:
            return []
        changed = block_writes(s.body)
        return [
            clone(b) for b in plan.bindings if not names_written(b) & changed
        ]

    def _undo_bindings(self, s: Node) -> Block:
        plan = self.function.loops.get(s)
        if plan is None:
            return []
        if plan.bounds is None:
            for n in names_written(s.target):
                self.live.discard(n)
            return []
        out: Block = []
        for b in reversed(plan.bindings):
            out += [x for x in self.st_Assign(b) if not isinstance(x, Restore | Comment)]
        return out

    def _header(self, s: Node, body: Block) -> Node:
        plan = self.function.loops.get(s)
        rounds = self.notes.rounds.get(s)
        if plan is None or plan.bounds is None:
            index = self.names.fresh("_")
            loop = gast.For(store(index), call("range", name(rounds or "")), body, [], None)
            loop.undoes = s
            return loop
        bounds = self.notes.bounds[s]
        span = backward_range(bounds, rounds)
        loop = gast.For(store(plan.index), span, body, [], None)
        loop.undoes = s
        return loop

    def _after_loop(self, s: Node) -> Block:
        return []

    def _with_restored_deaths(self, s: Node, body: Block) -> Block:
        """Undo a block; what ends with it comes back behind the statement that may leave it."""
        at, _ = _split_exit(body)
        exit_ = self.block(body[at:])
        rest = self.block(body[:at])
        return exit_ + self._deaths(s, body) + rest

    def _deaths(self, s: Node, body: Block) -> Block:
        """Names that a block binds and nobody reads afterwards get their last values back first.

        Outside loops a name keeps its value unless it is bound elsewhere too.
        """
        dying = self.dying(s, body)
        return [Restore(n, ("death", _anchor(s, body), n)) for n in sorted(dying)]

    def dying(self, s: Node, body: Block) -> set[str]:
        """Return the names whose values end with a block."""
        at, inner = _split_exit(body)
        written = block_writes(body[:at]) | self._noted(body[:at])
        if isinstance(s, gast.For | gast.While):
            plan = self.function.loops.get(s)
            head = self._live_at_head(s)
            if plan is not None and isinstance(s, gast.For):
                changed = block_writes(s.body)
                targets = names_written(s.target)
                written |= targets & changed if plan.bounds is not None else targets
                written -= set() if plan.bounds is None else targets - changed
            rounds = self.notes.rounds.get(s)
            del rounds
            return {n for n in written if n not in head} - block_writes(inner)
        live = self.live_after.get(s, frozenset())
        found = {n for n in written if n not in live} - block_writes(inner)
        if not self.loops:
            own: dict[str, int] = {}
            for x in body:
                _tally(x, own)
            found = {n for n in found if self.writes.get(n, 0) > own.get(n, 0)}
        return found

    def _noted(self, body: Block) -> set[str]:
        """Return the notes that the forward sweep makes in a block, blocks inside left out."""
        found: set[str] = set()
        for s in body:
            chain = self.notes.chains.get(s)
            if chain is not None and chain.note is not None:
                found.add(chain.note)
            if s in self.notes.rounds:
                found.add(self.notes.rounds[s])
            found |= set(self.notes.stops.get(s, {}))
            if s in self.kept:
                found.add(self.kept[s])
            if isinstance(s, gast.For | gast.While):
                found |= self._exit_notes(s.body)
        return found

    def _exit_notes(self, body: Block) -> set[str]:
        """Return the notes of a loop's exits that carry over from round to round."""
        found: set[str] = set()
        for s in body[-1:]:
            chain = self.notes.chains.get(s)
            if chain is None:
                for part in blocks_of(s):
                    if not isinstance(s, gast.For | gast.While):
                        found |= self._exit_notes(part)
                continue
            if self.exit_note(s, chain) == "last" and chain.note is not None:
                found.add(chain.note)
            for arm in chain.arms:
                found |= self._exit_notes(arm)
        return found

    def _live_at_head(self, s: Node) -> frozenset[str]:
        if s not in self.live_head:
            plan = self.function.loops.get(s)

            def header(loop: Any) -> tuple[set[str], set[str]]:
                inner = self.function.loops.get(loop)
                return set(), ({inner.index} if inner is not None else set())

            exits = self.live_after.get(s, frozenset())
            del exits
            live: frozenset[str] = frozenset()
            while True:
                start = live_in(s.body, live, exits=frozenset(), extra=header)
                if isinstance(s, gast.While):
                    start |= names_read(s.test)
                else:
                    start -= names_written(s.target)
                    if plan is not None:
                        start -= {plan.index}
                if start <= live:
                    break
                live |= start
            self.live_head[s] = live
        return self.live_head[s]

    # forward sweep

    def forward(self, body: Block) -> Block:
        out: Block = []
        for s in body:
            out += self.forward_statement(s)
        return out

    def forward_statement(self, s: Node) -> Block:
        if isinstance(s, gast.If):
            return self._forward_if(s)
        if isinstance(s, gast.Match):
            cases = []
            chain = self.notes.chains[s]
            for i, case in enumerate(s.cases):
                arm = self._forward_arm(s, chain, i, case.body)
                cases.append(gast.match_case(case.pattern, case.guard, arm))
            start = [] if _exhaustive(s) else [assign(chain.note or "", constant(len(s.cases)))]
            return [*start, gast.Match(s.subject, cases)]
        if isinstance(s, gast.For | gast.While):
            return self._forward_loop(s)
        if isinstance(s, gast.Break):
            return [gast.Break()]
        if isinstance(s, gast.With):
            return [*self._saves(s), gast.With(s.items, self.forward(s.body), None)]
        replaced = self.replaced.get(s)
        return [*self._saves(s), replaced if replaced is not None else clone(s)]

    def _saves(self, s: Node) -> Block:
        written = names_written(s)
        if s in self.kept:
            written = written | {self.kept[s]}
        return [Save(n, ("over", s, n)) for n in sorted(written)]

    def _forward_if(self, s: Node) -> Block:
        verdict = self.kinds.decided.get(s)
        if verdict is not None:
            return self.forward(s.body if verdict else s.orelse)
        chain = self.notes.chains[s]
        code = self._forward_arm(s, chain, len(chain.arms) - 1, chain.arms[-1])
        for position in range(len(chain.tests) - 1, -1, -1):
            arm = self._forward_arm(s, chain, position, chain.arms[position])
            code = [gast.If(clone(chain.tests[position]), arm, code)]
        return code

    def _forward_arm(self, s: Node, chain: Chain, position: int, body: Block) -> Block:
        start: Block = []
        if chain.note is not None:
            start.append(assign(chain.note, constant(position)))
            if self.exit_note(s, chain) == "taped":
                start.append(Save(chain.note, ("note", s, chain.note)))
        return start + self._with_deaths(s, body)

    def _with_deaths(self, s: Node, body: Block) -> Block:
        """Return a block's forward sweep, with the saves of what ends with it."""
        self.loops.append(s) if isinstance(s, gast.For | gast.While) else None
        at, _ = _split_exit(body)
        code = self.forward(body[:at])
        if isinstance(s, gast.For | gast.While):
            dying = self.dying(s, body)
        else:
            dying = self.dying(s, body)
        code += [Save(n, ("death", _anchor(s, body), n)) for n in sorted(dying)]
        code += self.forward(body[at:])
        if isinstance(s, gast.For | gast.While):
            self.loops.pop()
        return code

    def _forward_loop(self, s: Node) -> Block:
        out: Block = []
        rounds = self.notes.rounds.get(s)
        for stop, bound in self.notes.stops.get(s, {}).items():
            out.append(assign(stop, clone(bound)))
        body: Block = []
        if rounds is not None:
            start, step = note_rounds(rounds)
            out.append(start)
            body.append(step)
        body += self._with_deaths(s, s.body)
        if isinstance(s, gast.While):
            loop = gast.While(clone(s.test), body, [])
        else:
            out += [Save(n, ("over", s, n)) for n in sorted(names_written(s.target))]
            loop = gast.For(clone(s.target), clone(s.iter), body, [], None)
        loop.undoes = s
        return [*out, loop]


def _path(path: tuple[str, Any] | None, table: dict[str, Node]) -> tuple[str, Any] | None:
    if path is None or path[0] != "index":
        return path
    return path[0], substitute(path[1], table)


def backward_range(bounds: tuple[Any, ...], rounds: str | None) -> Node:
    """Return the range that runs backward over the rounds a loop ran."""
    if len(bounds) == 1:
        stop = name(rounds) if rounds is not None else clone(bounds[0])
        return call("range", _less_one(stop), constant(-1), constant(-1))
    if len(bounds) == 2:
        start = clone(bounds[0])
        stop = clone(bounds[1])
        if rounds is not None:
            stop = binary(clone(start), gast.Add, name(rounds))
        return call("range", _less_one(stop), _less_one(start), constant(-1))
    span: Node = call("range", *[clone(b) for b in bounds])
    if rounds is not None:
        span = subscript(span, gast.Slice(None, name(rounds), None))
    return call("reversed", span)


def _less_one(node: Node) -> Node:
    if isinstance(node, gast.Constant) and type(node.value) is int:
        return constant(node.value - 1)
    return binary(node, gast.Sub, constant(1))


def _split_exit(body: Block) -> tuple[int, Block]:
    """Return where the last statement of a block stands if it may break, and that statement."""
    if body and _breaks(body[-1]):
        return len(body) - 1, body[-1:]
    return len(body), []


def _breaks(s: Node) -> bool:
    if isinstance(s, gast.Break):
        return True
    if isinstance(s, gast.For | gast.While | gast.FunctionDef):
        return False
    return any(_breaks(x) for part in blocks_of(s) for x in part)


def always_leaves(body: Block) -> bool:
    """Say whether a block always ends in a break or a raise."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, gast.Break | gast.Raise):
        return True
    if isinstance(last, gast.If):
        return always_leaves(last.body) and always_leaves(last.orelse)
    return False


def _anchor(s: Node, body: Block) -> Any:
    """Return what identifies a block: the statement it belongs to and its first statement."""
    return (s, body[0]) if body else (s, None)


def _raises(body: Block) -> bool:
    return bool(body) and isinstance(body[-1], gast.Raise)


def _exhaustive(s: Node) -> bool:
    return any(
        c.guard is None and isinstance(c.pattern, gast.MatchAs) and c.pattern.pattern is None
        for c in s.cases
    )


def _loaded(place: Node) -> Node:
    copy = clone(place)
    copy.ctx = gast.Load()
    return copy


def _tally(s: Node, counts: dict[str, int]) -> None:
    parts = blocks_of(s)
    if isinstance(s, gast.For):
        written = names_written(s.target)
    elif parts:
        written = names_written(s) - set().union(*(block_writes(p) for p in parts))
    else:
        written = names_written(s)
    for n in written:
        counts[n] = counts.get(n, 0) + 1
    for part in parts:
        for x in part:
            _tally(x, counts)


def _frozen(cls: type) -> bool:
    params = getattr(cls, "__dataclass_params__", None)
    return bool(getattr(params, "frozen", False)) or cls.__setattr__ is not object.__setattr__


def _word(s: Node) -> str:
    words = {"Try": "try statement", "With": "with statement", "Delete": "del"}
    return words.get(type(s).__name__, type(s).__name__.lower())
