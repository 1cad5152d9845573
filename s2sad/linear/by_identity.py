"""Cotangents that are found by what a value is where the program runs: one for each memory.

    row = M[1]; parts.append(row)      row_bar = twin_of(shadows, row)      a part of that of M

Two names of one memory have one cotangent; which names these are, nobody has to know. That of an
array that is written, or that stands in a structure, and of a structure itself is found that way.
In the cotangent of a structure only the numbers matter: what memory stands in it, the value tells.

The shadow of a complex array lies like the array: where that has an imaginary part it has the
derivative by the imaginary part. So the shadow of `z.imag` is that of `z`, seen alike. A cotangent
of complex numbers has that with the other sign: it is the conjugate of what the shadow holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from s2sad import kinds as K
from s2sad import runtime
from s2sad.emitted import held_numbers
from s2sad.inside import stop_gradient
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Place, Var
from s2sad.kinds import Kind
from s2sad.linear.operands import is_array, kind_of
from s2sad.linear.tangent_table import Table, Tangents, tangent_kind
from s2sad.linear.zero_tangents import part
from s2sad.primitives import language as L

_READS = ("item", "field", "unpack", "method")


@dataclass
class Shadows:
    """The variable that holds all shadows while the program runs, and whose are found there.

    `seen` are pictures of the structures that the operation at hand reads, and that change later.
    """

    table: Var
    dots: frozenset[Var]
    seen: dict[Var, Var] = field(default_factory=dict)

    def of(self, t: Tangents, v: Operand, helper: Callable[..., object] = runtime.twin_of) -> Var:
        """Return the shadow of a value."""
        return act(t, helper, (self.table, v), tangent_kind(kind_of(v)))

    def taken(self, t: Tangents, v: Operand) -> Var:
        """Return what the shadow of a value holds, which then holds zeros."""
        kind = tangent_kind(kind_of(v))
        if is_structure(kind) or lies_turned(kind):
            return act(t, held_numbers.taken_from_picture, (self.table, self.picture(t, v)), kind)
        return act(t, runtime.take_from_shadow, (self.of(t, v),), kind)

    def add(self, t: Tangents, v: Operand, value: Operand) -> None:
        """Add to the shadow of a value, and of the memory that a structure holds."""
        if is_structure(kind_of(v)) or lies_turned(kind_of(v)):
            given = (self.table, self.picture(t, v), value)
            act(t, held_numbers.add_to_picture, given, K.NONE)
            return
        act(t, runtime.add_into_shadow, (self.of(t, v), value), K.NONE)

    def picture(self, t: Tangents, v: Operand) -> Operand:
        """Return what a structure holds at the operation at hand; an array is what it is."""
        if is_array(kind_of(v)):
            return v
        known = self.seen.get(v) if isinstance(v, Var) else None
        return known or t.call(t.table.helper(held_numbers.picture), (v,), K.UNKNOWN)

    def part(self, t: Tangents, v: Operand, kind: K.Tuple, at: int) -> Operand:
        """Return an item of a tuple; of one that has been seen, what it held then is known."""
        made = part(t, v, kind, at)
        known = self.seen.get(v) if isinstance(v, Var) else None
        if known is not None and isinstance(made, Var):
            self.seen[made] = t.emit(L.ITEM, (known, P.Const(at)), K.UNKNOWN)
        return made


def act(t: Tangents, helper: Callable[..., object], given: tuple[Operand, ...], kind: Kind) -> Var:
    """Call a helper that changes the first of what it is given, and may give a part of it."""
    out = Var("", kind)
    places = tuple(Place(v, (P.Anywhere(),)) for v in given if isinstance(v, Var))
    unknown = P.Outer(t.table.refs.function(helper), K.UNKNOWN)  # of it nothing is foreseen
    made = (unknown, *given)
    t.add(Op((out,), L.CALL, made, (), places, places[:1], t.origin))
    if kind == K.NONE:
        t.add(Op((), L.DISCARD, (out,), (), (), (), t.origin))
    return out


def is_structure(kind: Kind) -> bool:
    """Say whether a kind is of structures that may be changed, or of such or None."""
    return K.is_container(K.without_none(kind))


def lies_turned(kind: Kind) -> bool:
    """Say whether a shadow may hold conjugates of cotangents: that of a complex array does."""
    arrays = [k for k in K.leaves(kind) if isinstance(k, K.Array)]
    return any(K.is_complex(k) or k.dtype == "any" for k in arrays)


def is_memory(kind: Kind) -> bool:
    """Say whether the cotangent of a kind may be found by identity."""
    kind = K.without_none(kind)
    return is_structure(kind) or all(isinstance(k, K.Array) for k in K.options(kind))


def may_be_either(kind: Kind) -> bool:
    """Say whether a value may be an array or a number: which it is, only the run tells."""
    kinds = K.options(kind)
    numeric = all(isinstance(k, K.Num | K.Array) for k in kinds)
    return numeric and K.may_be_array(kind) and not is_memory(kind)


def holds_structures(kind: Kind) -> bool:
    """Say whether a value is a structure that may be changed, or a tuple that holds one."""
    return is_structure(kind) or (
        isinstance(kind, K.Tuple) and any(map(is_structure, parts_below(kind)))
    )


def holds_numbers(kind: Kind) -> bool:
    """Say whether a structure, or a tuple, may hold numbers: their cotangents stand in its own."""
    kind = K.without_none(kind)
    if isinstance(kind, K.OneOf) or K.is_empty(kind):
        return True  # what is empty where it is made may be filled with anything
    if any(isinstance(k, K.NoneKind) for k in K.together(kind)) and kind.mutable:
        return True  # where None stood, a number may come
    if isinstance(kind, K.List) and any(isinstance(k, K.Num) for k in K.together(kind)):
        return True  # where an integer stood, a number with a derivative may come
    return any(has_slot(k) for k in K.together(kind))


def has_slot(kind: Kind) -> bool:
    """Say whether the cotangent of a value, or a part of it, stands in that of its structure."""
    kind = K.without_none(kind)
    if isinstance(kind, K.Tuple):
        return holds_numbers(kind)
    return not is_memory(kind) and K.differentiable(kind)


def shadows_of(block: P.Block, values: Mapping[Var, Var], table: Table) -> Shadows:
    """Return which tangents of a program have cotangents that are found by identity."""
    _refuse(block, values, table)
    bound = {*block.params}
    found = {v for v in block.params if not table.outermost and v in values}
    for op in P.every(block):
        bound |= {*op.outs, *P.bound(op)}
        if not isinstance(op, Op):
            bound |= {v for b in P.blocks(op) for v in b.params}
        elif op.primitive.form in ("tangent of call", "look") or _reads_structure(op, values):
            found |= {v for v in op.outs if v in values}
    found |= {dot for dot in values if dot not in bound}  # what a loop binds
    found |= {dot for dot, v in values.items() if v in table.facts.written or is_structure(v.kind)}
    found |= {dot for dot, v in values.items() if isinstance(v.kind, K.Union)}  # None has no zeros
    dots = frozenset(dot for dot in found if is_memory(values[dot].kind))
    return Shadows(Var("shadows", K.UNKNOWN), dots)


def _reads_structure(op: Op, values: Mapping[Var, Var]) -> bool:
    owner = op.operands[0] if op.operands else None
    held = isinstance(owner, Var) and owner in values and is_structure(values[owner].kind)
    return held and op.primitive.form in _READS


def _refuse(block: P.Block, values: Mapping[Var, Var], table: Table) -> None:
    """Stop at what may be memory or a number, and is written; and where a function stops values."""
    facts, names = table.facts, table.facts.analysed.function.stopped
    for op in P.every(block):
        given = any(kind_of(o) == K.Known(stop_gradient) for o in P.operands(op))
        if given and not any(v.name in names for v in op.outs):
            raise table.cannot(
                op.origin,
                "stop_gradient is given to a function here, among arrays that may share memory.",
                "Call it where the value is used: stop_gradient(x).",
            )
    _refuse_numbers_among_arrays(block, values, table)
    for v in values.values():
        kind = v.kind
        mixed = isinstance(kind, K.Union) and not is_memory(kind)
        written = facts.filled if may_be_either(kind) else facts.written
        if mixed and v in written and any(map(is_memory, kind.inside)):
            raise table.cannot(
                table.binds(v) or facts.analysed.function.node,
                f"`{v.name}` is written in place, and it may be an array or a number.",
                f"Write {v.name} = {v.name} + ..., which makes a new value, or give it the same "
                "kind on all paths.",
            )


def _refuse_numbers_among_arrays(block: P.Block, values: Mapping[Var, Var], table: Table) -> None:
    """Stop where a number comes into a list of arrays whose places move: it has no slot there."""
    moved, numbers = False, list[Op]()
    for op in P.every(block):
        owner = op.operands[0] if isinstance(op, Op) and op.operands else None
        if not isinstance(op, Op) or not isinstance(owner, Var) or owner not in values:
            continue
        whole, form = values[owner].kind, op.primitive.form
        if not isinstance(whole, K.List) or holds_numbers(whole) or form not in _CHANGES:
            continue
        one = form == "put item" and isinstance(kind_of(op.operands[1]), K.Num)
        moved |= not one and not all(map(is_structure, whole.inside))
        stored = values.get(op.operands[-1]) if isinstance(op.operands[-1], Var) else None
        if stored is not None and stored is not values[owner]:
            many = not one and (form != "method" or op.primitive.word == "extend")
            if holds_numbers(stored.kind) if many else has_slot(stored.kind):
                numbers.append(op)
    if moved and numbers:
        raise table.cannot(
            numbers[0].origin,
            "This puts a number into a list that held arrays where it was made, and the list "
            "changes its length, or a slice of it is written.",
            "Start with an empty list, or put values of one kind into it.",
        )


_CHANGES = ("put item", "drop item", "method", "augmented")


def parts_below(kind: Kind) -> Iterator[Kind]:
    """Yield the kinds of the parts of a value, and of their parts."""
    for k in K.together(kind):
        yield k
        yield from parts_below(k)


def are_plain(dots: Sequence[Operand], values: Mapping[Var, Var], shadows: Shadows) -> list[Var]:
    """Return the tangents of arrays among some operands whose cotangents are variables."""
    found = [o for o in dots if isinstance(o, Var) and o in values and o not in shadows.dots]
    return [o for o in found if isinstance(values[o].kind, K.Array)]
