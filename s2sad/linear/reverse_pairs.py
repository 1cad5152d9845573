"""A function of the user's turned round: its forward keeps what its reverse reads.

    y = g(a, b)     forward sweep     y, g_saved = g_forward(a, b)
                    backward sweep    a_bar, b_bar = g_reverse(g_saved, b, y_bar)

It is made once per pattern of kinds and activities. A number without a derivative is passed by the
caller, who has it still: a step, a factor. Where nothing else is read, the function is called as it
is. In a function that calls itself the reverse is called before it is known what it reads: there
the forward keeps all.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.facts.given import written_parameters
from s2sad.ir import program as P
from s2sad.ir.memories import is_written
from s2sad.ir.program import Var
from s2sad.linear.both_sweeps import BothSweeps
from s2sad.linear.by_identity import is_memory, is_structure
from s2sad.linear.by_symmetry import goes_by_symmetry, pair_by_symmetry
from s2sad.linear.cotangents_of import Bar
from s2sad.linear.finished import apart, tell, text_of_sweeps, with_forward
from s2sad.linear.function_facts import listed
from s2sad.linear.headings import headed
from s2sad.linear.read_outside import data_outside, kept_outside, note_outside
from s2sad.linear.ready import Meets, key_of, ready_to_reverse
from s2sad.linear.shapes_kept import bound_by_operations, shapes_alone
from s2sad.linear.stories import Sides, story_of_reverse
from s2sad.linear.tangent_table import Tangents, tangent_kind
from s2sad.linear.tape import needed_in
from s2sad.linear.transpose import parted, transpose
from s2sad.linear.user_calls import UserCall, name_of
from s2sad.names import Names
from s2sad.nodes import Block, Node
from s2sad.primitives import language as L
from s2sad.steps.derivation import Derivation, memory_of
from s2sad.steps.joining import add
from s2sad.steps.texts_read_again import sentence, title_of
from s2sad.syntax.definitions import define_with, wrapped


@dataclass(frozen=True)
class Reverse:
    """The names of a forward and a reverse.

    The reverse takes what was `saved`, if anything, then the parameters in `passed`, the cotangents
    of parameters whose memory the function writes (`shadows`), and the cotangent of the result,
    where it is `seeded`. It gives those of the parameters that are `active`. With `values` it does
    so in any case, and knows no shadows that are found by identity.
    """

    forward: str
    reverse: str
    active: tuple[str, ...]
    shadows: tuple[str, ...] = ()
    seeded: bool = True
    saved: bool = True
    passed: tuple[str, ...] = ()
    values: bool = False


_SHAPE = L.field("shape")


def own_bar(v: Var) -> Bar:
    """Return a cotangent that is handed over: memory that may be changed in place."""
    return Bar(v, isinstance(v.kind, K.Array) or is_structure(v.kind))


def reverse_pair(
    d: Derivation,
    call: UserCall,
    wrt: tuple[str, ...],
    meets: Meets,
    bare: bool = False,
) -> Reverse:
    """Return the forward and the reverse of a function that is called.

    A `bare` forward runs beside the reverse: it gives no value, only what the reverse reads.
    """
    key: Any = ("reverse on the program", key_of(call, wrt, meets), bare)
    key += (frozenset(call.given),) if goes_by_symmetry(d, call) else ()
    supplied = _supplied(call) - {*wrt}
    key += (supplied,)
    known = d.found.get(key)
    if isinstance(known, Reverse):
        if _begun(key) in d.found:
            d.found[_met(key)] = True
        return known
    symmetric = pair_by_symmetry(d, call, wrt, meets.lent)
    if symmetric is not None:
        known = Reverse(
            symmetric.forward,
            symmetric.reverse,
            symmetric.active,
            saved=symmetric.saved,
            passed=symmetric.passed,
            values=True,
        )
        d.found[key] = known
        return known
    first = ready_to_reverse(d, call, wrt, meets)
    linear, table = first.linear, first.table
    a, program = table.facts.analysed, table.facts.program
    d.met_outside |= {*data_outside(program.block.ops)}
    arrays, _ = written_parameters(a.function, a.kinds, memory_of(d, a))
    if d.by_identity:
        arrays = frozenset()
    shadows = tuple(p for p in wrt if p in arrays)
    base = name_of(call.fn)
    seeded = K.differentiable(a.kinds.result)
    if d.by_identity and is_memory(a.kinds.result):
        seeded = False
    found = Reverse(
        d.names.fresh(f"{base}_forward"), d.names.fresh(f"{base}_reverse"), wrt, shadows, seeded
    )
    d.found[key] = found
    d.found[_begun(key)] = True
    d.reverses[found.forward] = found.reverse
    d.bare |= {found.forward} if bare else set()
    value, dot = linear.program.block.end.results
    bar = Var(f"{a.function.result}_bar", tangent_kind(a.kinds.result))
    params = {v.name: v for v in program.block.params}
    bars = {p: Var(f"{p}_bar", tangent_kind(params[p].kind)) for p in shadows}
    seeds = {linear.of[params[p]]: own_bar(v) for p, v in bars.items()}
    if seeded and isinstance(dot, Var):
        seeds[dot] = own_bar(bar)
    made = transpose(first, wrt, seeds)
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
    del d.found[_begun(key)]
    met = _met(key) in d.found
    mine = {params[p] for p in supplied & params.keys() if not params[p].cell}
    passed = [v for v in reverse.needed if v in mine and not met]
    saved = [v for v in reverse.needed if v not in passed]
    bound = bound_by_operations(forward) | {*program.block.params}
    block, shapes = shapes_alone(reverse.block, saved, bound, a.function.temps)
    read = {*needed_in(block, forward, program.block.params)}
    reverse = dataclasses.replace(reverse, block=block)
    saved = [v for v in saved if v in read or v in shapes]
    taken = [shapes.get(v, v) for v in saved]
    keeps = bool(saved) or met or bool(call.extra)
    found = dataclasses.replace(found, passed=tuple(v.name for v in passed), saved=keeps)
    d.found[key] = found
    t = Tangents(table)
    values = [t.emit(_SHAPE, (v,), shapes[v].kind) if v in shapes else v for v in saved]
    kept = values[0] if len(saved) == 1 else t.emit(L.TUPLE, values, K.UNKNOWN)
    given_back = kept if bare else t.emit(L.TUPLE, (value, kept), K.UNKNOWN)
    block = P.Block(program.block.params, (*forward, *t.ops), P.End("next", (given_back,)))
    whole = with_forward(both, dataclasses.replace(program, block=block), reverse.entries)
    where = title_of(d, a.function.source)
    doc = f"{sentence(where)}, with the values that {found.reverse} reads."
    if bare:
        doc = f"What {found.reverse} reads of {where}."
    text = text_of_sweeps(both, whole)
    sides = Sides(
        text.program.block, text.names, reverse.block, tuple(reverse.entries), tuple(taken)
    )
    story = d.told[a]
    tell(both, sides)
    if keeps:
        node = define_with(a.function.node, found.forward, doc, text.body, [])
        add(d, node, a.function.source.fn, a)
    block = _of_reverse(reverse.block, taken, [*passed, *given], keeps)
    turned = P.Program(found.reverse, block, None)
    text = text_of_sweeps(both, turned)
    if d.telling:
        there = dataclasses.replace(sides, names_there=text.names)
        d.told[a] = story_of_reverse(both, there, story)
    doc = _doc_of_reverse(found, where, [v.name for v in bars.values()], is_written(turned, bar))
    add(d, _defined(found.reverse, block.params, doc, text.body), a.function.source.fn, a)
    return found


def _begun(key: Any) -> Any:
    """Return the key that says that a pair is being made."""
    return "begun", key


def _met(key: Any) -> Any:
    """Return the key that says that a pair was called while it was made."""
    return "met", key


def _supplied(call: UserCall) -> frozenset[str]:
    """Return the parameters that are given numbers which the caller has still, by their names."""
    everything = {**call.given, **call.extra}
    return frozenset(
        p
        for p, o in everything.items()
        if isinstance(o, P.Const) or (isinstance(o, Var) and not o.cell)
        if isinstance(call.params.get(p), K.Num)
    )


def _of_reverse(block: P.Block, saved: list[Var], given: list[Var], keeps: bool) -> P.Block:
    """Return the block of a reverse, with what it is given: what was kept, then the rest."""
    if not keeps:
        return P.Block(tuple(given), block.ops, block.end)
    inside = (o for op in P.every(block) for o in P.operands(op))
    taken = {v.name for v in given} | {o.name for o in inside if isinstance(o, P.Outer)}
    if len(saved) == 1 and saved[0].name and saved[0].name not in taken:
        return P.Block((saved[0], *given), block.ops, block.end)
    kept = Var(Names(taken).fresh("kept"), K.UNKNOWN)
    start: tuple[P.Operation, ...] = ()
    if saved:
        start = (P.Op(tuple(saved), L.UNPACK if len(saved) > 1 else L.SAME, (kept,)),)
    return P.Block((kept, *given), (*start, *block.ops), block.end)


def _doc_of_reverse(pair: Reverse, where: str, shadows: list[str], overwritten: bool) -> str:
    """Return the docstring of a reverse; the adjoint of the result may be `overwritten`."""
    by = f" with respect to {listed(pair.active)}" if pair.active else ""
    result = "its result (overwritten)" if overwritten else "its result"
    results = (*pair.shadows, *([result] if pair.seeded else []))
    several = "adjoints" if len(results) > 1 else "adjoint"
    given = f", given the {several} of {listed(results)}" if results else ""
    updated = f"; updates {listed(tuple(shadows))} in place" if shadows else ""
    return f"Adjoint of {where}{by}{given}{updated}."


def _defined(function: str, given: tuple[Var, ...], doc: str, body: Block) -> Node:
    """Return the definition of a function of plain parameters."""
    params = [gast.Name(v.name, gast.Param(), None, None) for v in given]
    args = gast.arguments(params, [], None, [], [], None, [])
    docstring = gast.Expr(gast.Constant(wrapped(doc), None))
    return gast.FunctionDef(function, args, [docstring, *body], [], None, None, [])
