"""Reverse mode on the program: the gradient of a function, with or without its value."""

from __future__ import annotations

import dataclasses

from s2sad import kinds as K
from s2sad import runtime
from s2sad.emitted.found import surely_real
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand
from s2sad.known.mixed import may_be_complex_number
from s2sad.linear.both_sweeps import Asked, BothSweeps, both_sweeps, one
from s2sad.linear.finished import finished
from s2sad.linear.forward_entry import on_copies
from s2sad.linear.guards import Arrival
from s2sad.linear.handed_back import derivatives
from s2sad.linear.tangent_table import Tangents
from s2sad.linear.zero_tangents import part
from s2sad.nodes import Block, Node, assign, call, name
from s2sad.primitives import language as L
from s2sad.requests import Request
from s2sad.steps.copying import look_before_copies, work_on_copies
from s2sad.steps.derivation import Analysed, Derivation
from s2sad.syntax.definitions import define_with
from s2sad.syntax.identity import refuse_copy


def reverse_function(d: Derivation, a: Analysed, request: Request, entry: str, doc: str) -> Node:
    """Return f_grad(*args), or f_value_and_grad(*args)."""
    result = a.function.result
    arrival = Arrival(one=not request.has_aux)
    asked = Asked(request, a, arrival, frozenset({result}))
    found = both_sweeps(d, asked, lambda t: {result: one(t, a.kinds.result, request.has_aux)})
    table, value = found.table, found.value
    t = Tangents(table)
    _check_result(t, a, value, request.has_aux)
    checks, t.ops = t.ops, []
    bars = derivatives(t, found, request)
    given = bars[0] if request.single else t.emit(L.TUPLE, bars, K.UNKNOWN)
    if request.mode == "value_and_grad":
        given = t.emit(L.TUPLE, (value, given), K.UNKNOWN)
    elif request.has_aux:
        given = t.emit(L.TUPLE, (given, item(t, value, 1)), K.UNKNOWN)
    made = found.made
    ops = (*found.forward, *checks, *made.backward, *t.ops)
    kept = request.has_aux and not K.shares_nothing(a.kinds.result)
    copies = [*work_on_copies(d, a, kept or made.shadows is not None)]
    if made.shadows is not None:
        copies += owned_arguments(d, found, request, copies)
    block = P.Block(found.program.block.params, ops, P.End("next", (given,)))
    whole = dataclasses.replace(found.program, block=block)
    body = finished(found, on_copies(whole, copies, found.linear, table))
    node = define_with(a.function.node, entry, doc, body, [])
    return look_before_copies(d, a, node) if copies else node


def item(t: Tangents, value: Operand, at: int) -> Operand:
    """Return an item of the pair that a function gives."""
    kind = value.kind if isinstance(value, P.Var) else K.UNKNOWN
    assert isinstance(kind, K.Tuple)
    return part(t, value, kind, at)


def owned_arguments(d: Derivation, found: BothSweeps, request: Request, copies: Block) -> Block:
    """Return copies of arguments that are memory: each is known apart from all others."""
    done = {s.targets[0].id for s in copies}
    params = found.program.block.params
    names = [v.name for v in params if not K.shares_nothing(v.kind)]
    again = [n for n in names if n in request.wrt and n not in done]
    asking = [(a.function, a.kinds) for a in d.analysed.values()]
    for v in (v for v in params if v.name in again):
        refuse_copy(v.name, v.kind, asking)
    return [assign(n, call(d.refs.function(runtime.private), name(n))) for n in again]


def _check_result(t: Tangents, a: Analysed, value: Operand, has_aux: bool) -> None:
    """Add what refuses, at run time, a result that has no gradient: None, or a complex number."""
    kind = a.kinds.result
    if has_aux and isinstance(kind, K.Tuple):
        kind, value = kind.items[0], item(t, value, 0)
    elif K.NONE in K.options(kind):
        _refuse_none(t, value, a.function.source.name)
    if may_be_complex_number(kind):
        looked = t.call(t.table.helper(surely_real), (value,), K.NONE)
        t.add(Op((), L.DISCARD, (looked,), (), (), (), t.origin))


def _refuse_none(t: Tangents, value: Operand, label: str) -> None:
    test = t.emit(L.compare("Is"), (value, P.Const(None)), K.BOOL)
    with t.inside() as ops:
        words = P.Const(f"{label} returned None, which has no gradient")
        error = t.call(P.Outer("TypeError", K.Known(TypeError)), (words,), K.UNKNOWN)
    refused = P.Block((), tuple(ops), P.End("raise", (error,)))
    t.add(P.If((), test, refused, P.Block((), (), P.End("next")), "if", t.origin))
