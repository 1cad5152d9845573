"""Cotangents that are found by what a value is where the program runs: one for each memory.

    row = M[1]; parts.append(row)      row_bar = twin_of(shadows, row)      a part of that of M

Two names of one memory have one cotangent; which names these are, nobody has to know. That of an
array that is written, or that stands in a structure, and of a structure itself is found that way.
In the cotangent of a structure only the numbers matter: what memory stands in it, the value tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from s2sad import kinds as K
from s2sad import runtime
from s2sad.inside import stop_gradient
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Place, Var
from s2sad.kinds import Kind
from s2sad.linear.operands import kind_of
from s2sad.linear.tangent_table import NotYet, Table, Tangents, tangent_kind
from s2sad.primitives import language as L

_READS = ("item", "field", "unpack", "method")


@dataclass
class Shadows:
    """The variable that holds all shadows while the program runs, and whose are found there.

    `kept` are copies of the lists that the operation at hand reads.
    """

    table: Var
    dots: frozenset[Var]
    kept: dict[Var, Var] = field(default_factory=dict)

    def of(self, t: Tangents, v: Operand, helper: Callable[..., object] = runtime.twin_of) -> Var:
        """Return the shadow of a value."""
        return act(t, helper, (self.table, v), tangent_kind(kind_of(v)))

    def taken(self, t: Tangents, v: Operand) -> Var:
        """Return what the shadow of a value holds, which then holds zeros."""
        return act(t, runtime.take_from_shadow, (self.of(t, v),), tangent_kind(kind_of(v)))

    def add(self, t: Tangents, v: Var, value: Operand) -> None:
        """Add to the shadow of a value."""
        if v in self.kept and (holds_numbers(v.kind) or any(map(is_structure, K.together(v.kind)))):
            raise NotYet("a structure that changes after a function has read all of it")
        act(t, runtime.add_into_shadow, (self.of(t, self.kept.get(v, v)), value), K.NONE)


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
    """Say whether a kind is of structures that may be changed."""
    return K.is_container(kind) and not isinstance(kind, K.Tuple)


def is_memory(kind: Kind) -> bool:
    """Say whether the cotangent of a kind may be found by identity."""
    return is_structure(kind) or isinstance(kind, K.Array)


def holds_numbers(kind: Kind) -> bool:
    """Say whether a structure, or a tuple, may hold numbers: their cotangents stand in its own."""
    if isinstance(kind, K.OneOf | K.Union) or K.is_empty(kind):
        return True  # what is empty where it is made may be filled with anything
    return any(_has_slot(k) for k in K.together(kind))


def _has_slot(kind: Kind) -> bool:
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
    dots = frozenset(dot for dot in found if is_memory(values[dot].kind))
    return Shadows(Var("shadows", K.UNKNOWN), dots)


def _reads_structure(op: Op, values: Mapping[Var, Var]) -> bool:
    owner = op.operands[0] if op.operands else None
    held = isinstance(owner, Var) and owner in values and is_structure(values[owner].kind)
    return held and op.primitive.form in _READS


def _refuse(block: P.Block, values: Mapping[Var, Var], table: Table) -> None:
    """Stop at what shares memory and has another derivative, and at memory of unknown kind."""
    if table.facts.analysed.function.stopped:
        raise NotYet("a value that is stopped, among those that may share memory")
    for op in P.every(block):
        for o in P.operands(op):
            if kind_of(o) == K.Known(stop_gradient):
                raise NotYet("a value that is stopped, among those that may share memory")
    for v in values.values():
        kind = v.kind
        if isinstance(kind, K.Array) and kind.namespace != "numpy":
            raise NotYet("cotangents by identity on a device")
        if isinstance(kind, K.Union) and any(map(is_memory, kind.inside)):
            raise NotYet("a value that may be memory, or none")


def parts_of_tuple(
    t: Tangents, v: Operand, kind: K.Tuple
) -> Iterator[tuple[int, Kind, Callable[[], Var]]]:
    """Yield the parts of a tuple: their places, kinds, and how to read them."""
    for i, k in enumerate(kind.items):
        yield i, k, lambda i=i, k=k: t.emit(L.ITEM, (v, P.Const(i)), k)  # type: ignore[misc]


def holds_both(kind: Kind) -> bool:
    """Say whether a structure holds memory, and numbers in it or anywhere below."""
    return any(map(is_memory, _below(kind))) and any(map(_has_slot, _below(kind)))


def _below(kind: Kind) -> Iterator[Kind]:
    for k in K.together(kind):
        yield k
        yield from _below(k)


def are_plain(dots: Sequence[Operand], values: Mapping[Var, Var], shadows: Shadows) -> list[Var]:
    """Return the tangents of arrays among some operands whose cotangents are variables."""
    found = [o for o in dots if isinstance(o, Var) and o in values and o not in shadows.dots]
    return [o for o in found if isinstance(values[o].kind, K.Array)]
