"""Reverse mode on the program: the gradient of a function, with or without its value."""

from __future__ import annotations

import dataclasses

from s2sad import kinds as K
from s2sad import runtime
from s2sad.facts.fence import fence_meaning
from s2sad.ir import program as P
from s2sad.ir.program import Operand, Var
from s2sad.ir.unused import without_unused
from s2sad.linear.bar_names import named
from s2sad.linear.forward_entry import on_copies, printed_of, settled, table_of
from s2sad.linear.function_facts import activity_of
from s2sad.linear.headings import headed
from s2sad.linear.linearise import linearise
from s2sad.linear.put_back import without_needless
from s2sad.linear.slots import narrowed, read_in
from s2sad.linear.tangent_table import NotYet, Tangents
from s2sad.linear.transpose import transpose
from s2sad.modes.shadows import define_with
from s2sad.nodes import Block, Node, assign, call, name
from s2sad.primitives import language as L
from s2sad.requests import Request
from s2sad.stages import Arrival
from s2sad.steps.derivation import Analysed, Derivation, memory_of
from s2sad.steps.strong import zeros_of


def reverse_function(
    d: Derivation, a: Analysed, request: Request, entry: str, doc: str, copies: Block
) -> Node:
    """Return f_grad(*args), or f_value_and_grad(*args)."""
    if request.has_aux or request.picked or request.batch:
        raise NotYet("a result beside the one that is differentiated, or parts of arguments")
    if not isinstance(a.kinds.result, K.Num) or a.kinds.result.dtype in ("float16", "float32"):
        raise NotYet(f"a gradient of {K.describe(a.kinds.result)}")
    facts = activity_of(d, a, request.wrt, True)
    fence_meaning(a.function, a.kinds, facts, memory_of(d, a), request.constant)
    program, table = table_of(d, a, request.wrt, facts, True)
    table.guarded = zeros_of(d, a, facts, frozenset(request.wrt), Arrival(one=True))
    linear = linearise(program, table, request.wrt)
    value, dot = linear.program.block.end.results
    seeds: dict[Var, Operand] = {dot: P.Const(1.0)} if isinstance(dot, Var) else {}
    made = transpose(linear, table, request.wrt, seeds)
    before: tuple[P.Operation, ...] = ()
    start: tuple[P.Operation, ...] = ()
    if made.shadows is not None:
        before = (P.Op((made.shadows,), L.DICT, ()),)
        start = made.start
        copies = [*copies, *_own(d, program, request, copies)]
    t = Tangents(table)
    result: Operand = made.bars[0]
    if not request.single:
        result = t.emit(L.TUPLE, made.bars, K.UNKNOWN)
    if request.mode == "value_and_grad":
        result = t.emit(L.TUPLE, (value, result), K.UNKNOWN)
    backward = headed((*before, *made.backward), table)
    ops = (*start, *made.forward, *backward, *t.ops)
    block = P.Block(program.block.params, ops, P.End("next", (result,)))
    whole = on_copies(dataclasses.replace(program, block=block), copies, linear, table)
    whole = without_needless(settled(table, linear, whole))
    whole = without_unused(narrowed(whole, read_in(whole, made.sweep.entries)))
    whole = named(whole, made.words)
    return define_with(a.function.node, entry, doc, printed_of(table, linear, whole), [])


def _own(d: Derivation, program: P.Program, request: Request, copies: Block) -> Block:
    """Return copies of arguments that are memory: each is known apart from all others."""
    done = {s.targets[0].id for s in copies}
    names = [v.name for v in program.block.params if not K.shares_nothing(v.kind)]
    again = [n for n in names if n in request.wrt and n not in done]
    return [assign(n, call(d.refs.function(runtime.private), name(n))) for n in again]
