"""A function of the user's turned round: its forward keeps what its reverse reads.

    y = g(a, b)     forward sweep     y, saved = g_forward(a, b)
                    backward sweep    a_bar, b_bar = g_reverse(saved, y_bar)

It is made once per pattern of kinds and activities.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.causes import Story
from s2sad.facts.fence import fence
from s2sad.facts.given import written_parameters
from s2sad.ir import program as P
from s2sad.ir.program import Var
from s2sad.linear.both_sweeps import BothSweeps
from s2sad.linear.by_identity import is_memory, is_structure
from s2sad.linear.cotangents_of import Bar
from s2sad.linear.finished import apart, text_with_names, with_forward
from s2sad.linear.forward_entry import Around, table_of
from s2sad.linear.function_facts import activity_of
from s2sad.linear.headings import headed
from s2sad.linear.linearise import linearise
from s2sad.linear.read_outside import kept_outside, note_outside
from s2sad.linear.tangent_table import NotYet, Tangents, tangent_kind
from s2sad.linear.transpose import Stands, parted, transpose
from s2sad.linear.user_calls import UserCall, name_of
from s2sad.modes.shadows import define_with
from s2sad.primitives import language as L
from s2sad.stages import Arrival
from s2sad.steps.derivation import Derivation, analyse, analysis_key, memory_of
from s2sad.steps.joining import add
from s2sad.steps.strong import zeros_of


@dataclass(frozen=True)
class Reverse:
    """The names of a forward and a reverse.

    The reverse takes what was saved, the cotangents of parameters whose memory the function writes
    (`shadows`), and the cotangent of the result, where it is `seeded`.
    """

    forward: str
    reverse: str
    shadows: tuple[str, ...]
    seeded: bool


def own_bar(v: Var) -> Bar:
    """Return a cotangent that is handed over: memory that may be changed in place."""
    return Bar(v, isinstance(v.kind, K.Array))


def reverse_pair(
    d: Derivation, call: UserCall, wrt: tuple[str, ...], lent: frozenset[str]
) -> Reverse:
    """Return the forward and the reverse of a function that is called."""
    extra = tuple(call.extra)
    key: Any = ("reverse on the program", analysis_key(call.fn, call.params, extra), wrt, lent)
    known = d.forwards.get(key)
    if isinstance(known, Reverse):
        return known
    a = analyse(d, call.fn, call.params, extra)
    facts = activity_of(d, a, wrt, True)
    fence(a.function, a.kinds, facts, memory_of(d, a), on_program=True)
    d.told[a] = Story(facts, wrt)
    lent = frozenset(a.function.result if n == "@result" else n for n in lent)
    program, table = table_of(d, a, wrt, facts, False, Around(lent=lent))
    table.guarded = zeros_of(d, a, facts, frozenset(wrt), Arrival(zeros=True))
    arrays, others = written_parameters(a.function, a.kinds, memory_of(d, a))
    if d.by_identity:
        arrays, others = frozenset(), frozenset()
    if others & {*wrt} or any(is_structure(call.params[p]) for p in arrays & {*wrt}):
        raise NotYet("a function that changes a structure, turned round")
    shadows = tuple(p for p in wrt if p in arrays)
    base = name_of(call.fn)
    seeded = K.differentiable(a.kinds.result)
    if d.by_identity and is_memory(a.kinds.result):
        seeded = False
    found = Reverse(
        d.names.fresh(f"{base}_forward"), d.names.fresh(f"{base}_reverse"), shadows, seeded
    )
    d.forwards[key] = found
    linear = linearise(program, table, wrt)
    value, dot = linear.program.block.end.results
    bar = Var(f"{a.function.result}_bar", tangent_kind(a.kinds.result))
    params = {v.name: v for v in program.block.params}
    bars = {p: Var(f"{p}_bar", tangent_kind(params[p].kind)) for p in shadows}
    seeds = {linear.of[params[p]]: own_bar(v) for p, v in bars.items()}
    if seeded and isinstance(dot, Var):
        seeds[dot] = own_bar(bar)
    made = transpose(linear, table, wrt, seeds, Stands(lent=bool(lent)))
    made = dataclasses.replace(made, backward=headed(made.backward, table))
    note_outside(d, a, program, made.backward)
    both = BothSweeps(program, table, linear, made)
    given = (*([] if made.shadows is None else [made.shadows]), *bars.values())
    given = (*given, *([bar] if seeded else []))
    t = Tangents(table)
    result = made.bars[0] if len(made.bars) == 1 else t.emit(L.TUPLE, made.bars, K.UNKNOWN)
    block = P.Block(given, (*made.backward, *t.ops), P.End("next", (result,)))
    block = parted(made, table, block)
    t = Tangents(table)
    if d.lasting:  # what is outside may be something else when a pullback runs
        block = kept_outside(t, block)
    forward = (*made.forward, *t.ops)
    reverse = apart(both, block, forward)
    t = Tangents(table)
    kept = t.emit(L.TUPLE, reverse.needed, K.UNKNOWN)
    pair = t.emit(L.TUPLE, (value, kept), K.UNKNOWN)
    block = P.Block(program.block.params, (*forward, *t.ops), P.End("next", (pair,)))
    whole = with_forward(both, dataclasses.replace(program, block=block), reverse.entries)
    doc = f"Value of {base}, and what its reverse needs."
    node = define_with(a.function.node, found.forward, doc, text_with_names(both, whole), [])
    add(d, node, a.function.source.fn, a)
    saved = Var("saved", K.UNKNOWN)
    start: tuple[P.Operation, ...] = ()
    if reverse.needed:
        start = (P.Op(tuple(reverse.needed), L.UNPACK, (saved,)),)
    given = (saved, *given)
    block = P.Block(given, (*start, *reverse.block.ops), reverse.block.end)
    node = gast.FunctionDef(
        found.reverse,
        gast.arguments(
            [gast.Name(v.name, gast.Param(), None, None) for v in given], [], None, [], [], None, []
        ),
        [
            gast.Expr(gast.Constant(f"Cotangents of the arguments of {base}.", None)),
            *text_with_names(both, P.Program(found.reverse, block, None)),
        ],
        [],
        None,
        None,
        [],
    )
    add(d, node, a.function.source.fn, a)
    return found
