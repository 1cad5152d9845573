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
from s2sad.facts.fence import fence_meaning
from s2sad.facts.given import written_parameters
from s2sad.ir import program as P
from s2sad.ir.program import Operand, Var
from s2sad.ir.unused import without_unused
from s2sad.linear.bar_names import named
from s2sad.linear.by_identity import is_memory, is_structure
from s2sad.linear.forward_entry import Around, printed_of, settled, table_of
from s2sad.linear.function_facts import activity_of
from s2sad.linear.headings import headed
from s2sad.linear.linearise import linearise
from s2sad.linear.put_back import without_needless
from s2sad.linear.slots import narrowed, read_in
from s2sad.linear.tangent_table import NotYet, Tangents, tangent_kind
from s2sad.linear.tape import met_in
from s2sad.linear.transpose import parted, transpose
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
    fence_meaning(a.function, a.kinds, facts, memory_of(d, a))
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
    seeds: dict[Var, Operand] = {linear.of[params[p]]: v for p, v in bars.items()}
    if seeded and isinstance(dot, Var):
        seeds[dot] = bar
    made = transpose(linear, table, wrt, seeds, bool(lent))
    back, needed = parted(made, table)
    given = (*([] if made.shadows is None else [made.shadows]), *bars.values())
    given = (*given, *([bar] if seeded else []))
    t = Tangents(table)
    bars_ = back.end.results
    result: Operand = bars_[0] if len(bars_) == 1 else t.emit(L.TUPLE, bars_, K.UNKNOWN)
    end = P.End("next", (result,))
    reverse = P.Program(
        found.reverse, P.Block((*needed, *given), (*headed(back.ops, table), *t.ops), end), None
    )
    reverse = without_needless(settled(table, linear, reverse))
    entries = read_in(reverse, made.sweep.entries)
    reverse = without_unused(narrowed(reverse, entries))
    read = {*met_in(P.Block((), reverse.block.ops, reverse.block.end))}
    needed = [v for v in needed if v in read]
    t = Tangents(table)
    kept = t.emit(L.TUPLE, needed, K.UNKNOWN)
    pair = t.emit(L.TUPLE, (value, kept), K.UNKNOWN)
    block = P.Block(program.block.params, (*made.forward, *t.ops), P.End("next", (pair,)))
    whole = narrowed(settled(table, linear, dataclasses.replace(program, block=block)), entries)
    whole = without_unused(whole)
    doc = f"Value of {base}, and what its reverse needs."
    node = define_with(a.function.node, found.forward, doc, printed_of(table, linear, whole), [])
    add(d, node, a.function.source.fn, a)
    saved = Var("saved", K.UNKNOWN)
    start: tuple[P.Operation, ...] = ()
    if needed:
        start = (P.Op(tuple(needed), L.UNPACK, (saved,)),)
    given = (saved, *given)
    block = P.Block(given, (*start, *reverse.block.ops), reverse.block.end)
    reverse = named(dataclasses.replace(reverse, block=block), made.words)
    node = gast.FunctionDef(
        found.reverse,
        gast.arguments(
            [gast.Name(v.name, gast.Param(), None, None) for v in given], [], None, [], [], None, []
        ),
        [
            gast.Expr(gast.Constant(f"Cotangents of the arguments of {base}.", None)),
            *printed_of(table, linear, reverse),
        ],
        [],
        None,
        None,
        [],
    )
    add(d, node, a.function.source.fn, a)
    return found
