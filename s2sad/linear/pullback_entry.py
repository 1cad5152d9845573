"""Reverse mode on the program: a function that gives the value and a pullback.

    def f_vjp(x):                         the forward sweep
        ...
        def pullback(value_bar):          the backward sweep, which may run several times
            ...
            return x_bar
        return value, pullback

A pullback that lasts runs later: what it reads, and others may change by then, is copied.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import gast

from s2sad import kinds as K
from s2sad import runtime
from s2sad.ir import program as P
from s2sad.ir.memories import Memories, memories
from s2sad.ir.program import Op, Operand, Var
from s2sad.known.spaces import NUMPY
from s2sad.linear.both_sweeps import Asked, BothSweeps, both_sweeps
from s2sad.linear.cotangents_of import Bar
from s2sad.linear.finished import Apart, apart, tell, text_of_sweeps, with_forward
from s2sad.linear.forward_entry import on_copies
from s2sad.linear.guards import Arrival
from s2sad.linear.handed_back import derivatives
from s2sad.linear.inner_pullbacks import backward_block, pullback_of
from s2sad.linear.read_outside import kept_outside
from s2sad.linear.ready import Stands
from s2sad.linear.reverse_entry import item, owned_arguments
from s2sad.linear.stories import Sides
from s2sad.linear.tangent_table import Tangents, tangent_kind
from s2sad.nodes import Block, Node, assign, attribute, call, name
from s2sad.primitives import language as L
from s2sad.requests import Request
from s2sad.steps.copying import look_before_copies, work_on_copies
from s2sad.steps.derivation import Analysed, Derivation
from s2sad.syntax.definitions import define_with
from s2sad.syntax.identity import refuse_copy
from s2sad.syntax.layouts import asks_for_layout


def all_of(t: Tangents, bars: Sequence[Operand]) -> Operand:
    """Return a tuple of cotangents."""
    return t.emit(L.TUPLE, bars, K.UNKNOWN)


@dataclass(frozen=True)
class Pullback:
    """A function of value and pullback: its name, what it says of itself, its cotangent's name.

    The pullback may be `lasting`, or run at once. What it gives is what `together` makes of several
    cotangents.
    """

    entry: str
    doc: str
    seed: str
    lasting: bool = True
    together: Callable[[Tangents, Sequence[Operand]], Operand] = all_of


@dataclass(frozen=True)
class _Vjp:
    """A derivation with both sweeps of the function that is asked for."""

    d: Derivation
    analysed: Analysed
    request: Request
    found: BothSweeps
    how: Pullback


def pullback_entry(d: Derivation, a: Analysed, request: Request, how: Pullback) -> Node:
    """Return f_vjp(*args), which gives the value and a pullback."""
    result, kind = a.function.result, a.kinds.result
    if request.has_aux and isinstance(kind, K.Tuple):
        kind = kind.items[0]
    bar = Var(how.seed, _given(kind))
    given = Bar(None, parts=(Bar(bar), None)) if request.has_aux else Bar(bar)
    asked = Asked(request, a, Arrival(), frozenset({result}), Stands(apart=True))
    vjp = _Vjp(d, a, request, both_sweeps(d, asked, lambda t: {result: given}), how)
    t = Tangents(vjp.found.table)
    block = _inner(vjp, bar)
    if how.lasting:
        block = kept_outside(t, block)
    forward = (*vjp.found.forward, *t.ops)
    inner = apart(vjp.found, block, forward)
    end = P.End("next", (vjp.found.value, *inner.needed))
    block = P.Block(vjp.found.program.block.params, forward, end)
    program = dataclasses.replace(vjp.found.program, block=block)
    copies = _copies(vjp, program, inner.needed)
    whole = on_copies(program, copies, vjp.found.linear, vjp.found.table)
    whole = with_forward(vjp.found, _with_pullback(vjp, whole, inner), inner.entries)
    text = text_of_sweeps(vjp.found, whole)
    tell(vjp.found, Sides(text.program.block, text.names, inner.block, tuple(inner.entries)))
    node = define_with(a.function.node, how.entry, how.doc, text.body, [])
    return look_before_copies(d, a, node) if how.lasting else node


def _given(kind: K.Kind) -> K.Kind:
    """Return the kind of a cotangent that is given: a number of the host's, of one on a device."""
    if isinstance(kind, K.Array) and not kind.rank and kind.namespace != NUMPY:
        return K.Num("complex" if K.is_complex(kind) else "float")
    return tangent_kind(kind)


def _inner(vjp: _Vjp, bar: Var) -> P.Block:
    """Return the block of a pullback."""
    found, request = vjp.found, vjp.request
    t = Tangents(found.table)
    bars = derivatives(t, found, request)
    result = bars[0] if request.single else vjp.how.together(t, bars)
    return backward_block(found, (bar,), t.ops, result)


def _copies(vjp: _Vjp, program: P.Program, needed: Iterable[Var]) -> Block:
    """Return the copies of arguments that are written, or that a pullback reads later."""
    d, a, found = vjp.d, vjp.analysed, vjp.found
    copies = [*work_on_copies(d, a)]
    if found.made.shadows is not None:
        copies += owned_arguments(d, found, vjp.request, copies)
    if not vjp.how.lasting:
        return copies
    done = {s.targets[0].id for s in copies}
    known = memories(program)
    read = set(filter(None, map(known.of, needed)))
    functions = list(d.analysed.values())
    exact = asks_for_layout(b.function for b in functions)
    for v in program.block.params:
        enumerated = isinstance(v.kind, K.Obj) and K.is_enumerated(v.kind.cls)
        if v.name in done or known.of(v) not in read or enumerated:
            continue
        refuse_copy(v.name, v.kind, [(b.function, b.kinds) for b in functions])
        if exact:
            made = call(d.refs.function(runtime.apart), name(v.name))
        elif isinstance(v.kind, K.Array):
            made = call(attribute(name(v.name), "copy"), order=gast.Constant("K", None))
        else:
            made = call(d.refs.function(runtime.private), name(v.name))
        copies.append(assign(v.name, made))
    return copies


def _with_pullback(vjp: _Vjp, whole: P.Program, inner: Apart) -> P.Program:
    """Return a program that gives the value and a pullback, which shares no memory with others."""
    t = Tangents(vjp.found.table)
    known = memories(whole)
    value = whole.block.end.results[0]
    needed = inner.needed
    captured = _apart(t, known, needed) if vjp.how.lasting else needed
    function = pullback_of(vjp.found, t, inner.block, dict(zip(needed, captured, strict=True)))
    read = set[Var]()
    if vjp.how.lasting and captured == needed:
        read |= set(filter(None, map(known.of, needed)))
    given: list[Operand] = [_own(t, known, read, value)]
    if vjp.request.has_aux:
        parts = [item(t, value, 0), item(t, value, 1)]
        given = [_own(t, known, read, v, value) for v in parts]
    given.insert(1, function)
    result = t.emit(L.TUPLE, given, K.UNKNOWN)
    block = whole.block
    made = P.Block(block.params, (*block.ops, *t.ops), P.End("next", (result,)))
    return dataclasses.replace(whole, block=made)


def _apart(t: Tangents, known: Memories, needed: list[Var]) -> list[Var]:
    """Return what a pullback reads, copied together where some of it may be known to others."""
    held = [v for v in needed if known.of(v) is not None]
    roots = (known.of(v) for v in held)
    if not any(root is not None and known.is_outside(root) for root in roots):
        return needed
    made = {v: Var(f"{v.name}_own", v.kind) for v in held}
    places = tuple(P.Place(v, (P.Anywhere(),)) for v in held)
    several = len(held) > 1
    whole = Var("", K.UNKNOWN) if several else made[held[0]]
    value: Operand = t.emit(L.TUPLE, held, K.UNKNOWN) if several else held[0]
    given = (t.table.helper(runtime.apart), value)
    t.add(Op((whole,), L.CALL, given, (), places, (), t.origin))
    if several:
        t.add(Op(tuple(made.values()), L.UNPACK, (whole,), (), (), (), t.origin))
    return [made.get(v, v) for v in needed]


def _own(
    t: Tangents, known: Memories, read: set[Var], value: Operand, whole: Operand | None = None
) -> Operand:
    """Return a value that the caller gets, copied where a pullback reads the same memory."""
    root = P.variable(value if whole is None else whole)
    if root is None or known.of(root) not in read:
        return value
    kind = value.kind if isinstance(value, Var) else K.UNKNOWN
    if K.shares_nothing(kind):
        return value
    if isinstance(kind, K.Array):
        return t.emit(L.method("copy"), (value,), kind)
    return t.call(t.table.helper(runtime.private), (value,), kind)
