"""Forward mode on the program: a function of values and tangents.

f(x, n)       ->   f_jvp(x, n, x_dot)       returns the value and its tangent
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import runtime
from s2sad.causes import Story
from s2sad.errors import InternalError
from s2sad.facts.fence import fence
from s2sad.ir import program as P
from s2sad.ir.effects import Derived
from s2sad.ir.first_terms import with_first_terms
from s2sad.ir.gathered import gathered
from s2sad.ir.handed_last import handed_last
from s2sad.ir.held_before import held_before
from s2sad.ir.memories import memories
from s2sad.ir.needless_memory import without_needless
from s2sad.ir.one_sum import with_one_sum
from s2sad.ir.ordered import ordered
from s2sad.ir.printed import Named, printed, printed_with_names
from s2sad.ir.program import Op, Operand, Var
from s2sad.ir.simpler import simplified
from s2sad.ir.spared_copies import without_copies
from s2sad.ir.sums_first import with_sums_first
from s2sad.ir.sums_in_arms import with_sums_in_arms
from s2sad.ir.unused import without_unused
from s2sad.ir.verify import checked
from s2sad.ir.what_stays import with_what_stays
from s2sad.linear.abreast import Asked, abreast
from s2sad.linear.caught import ANYTHING, Raised
from s2sad.linear.device_numbers import with_arrays
from s2sad.linear.directions import tangents_of
from s2sad.linear.function_facts import activity_of, doc_of
from s2sad.linear.guards import Met
from s2sad.linear.headings import crossing
from s2sad.linear.linearise import Linear, linearise
from s2sad.linear.programs_seen import ALONE, Around, active_in, seen
from s2sad.linear.push import pushed
from s2sad.linear.slots import UNREAD
from s2sad.linear.strong_zeros import pushed_of
from s2sad.linear.tangent_table import NOTHING, Facts, Table, TangentNames, Tangents
from s2sad.linear.user_calls import UserCall, name_of
from s2sad.linear.zero_tangents import nothing
from s2sad.nodes import Block, Node
from s2sad.primitives import language as L
from s2sad.requests import Request
from s2sad.stages import Activity
from s2sad.steps.derivation import Analysed, Derivation, analyse, analysis_key, memory_of
from s2sad.steps.joining import add
from s2sad.syntax.definitions import define_with


@dataclass(frozen=True)
class Forward:
    """A function of values and tangents: its name, and those of the tangents it takes.

    It is `bare` where they can be given by position. One that is `seeded` gives a pair. `raises` is
    what its tangents alone may raise.
    """

    name: str
    dots: tuple[str, ...]
    bare: bool
    seeded: bool
    raises: Raised = ANYTHING


def forward_entry(d: Derivation, a: Analysed, request: Request, entry: str, copies: Block) -> Node:
    """Return f_jvp(*args, *tangents), which gives the value and its tangent."""
    facts = activity_of(d, a, request.wrt, has_aux=request.has_aux)
    fence(a.function, a.kinds, facts, memory_of(d, a), request.constant)
    d.told[a] = Story(facts, request.wrt)
    around = Around(beside=request.has_aux)
    table = table_of(d, a, request.wrt, facts, True, around)
    table.strong = pushed_of(d, seen(d, a, around), frozenset(request.wrt), Met())
    linear = linearise(table.facts.program, table, request.wrt)
    result = a.kinds.result.parts[0].kind if request.has_aux else a.kinds.result
    made = _with_one_result(pushed(linear.program, table), table, result)
    made = on_copies(made, copies, linear, table)
    text = text_of(table, linear, made, True)
    return define_with(a.function.node, entry, doc_of(d, a, request.wrt), text, table.names.passed)


def forward_function(
    d: Derivation, call: UserCall, wrt: tuple[str, ...], met: Met, seeded: bool
) -> Forward:
    """Return the function of values and tangents of a function that is called.

    It is one of its own for tangents that are `met` only where that makes a difference. It gives
    the tangent of its result where that is `seeded`, and has one.
    """
    fn, extra = call.fn, tuple(call.extra)
    a = analyse(d, fn, call.params, extra)
    facts = activity_of(d, a, wrt, None if seeded else frozenset(wrt))
    plain, own = (pushed_of(d, seen(d, a), frozenset(wrt), m) for m in (Met(), met))
    if dataclasses.replace(plain, result=own.result) == own:
        met = Met()
    seeded = seeded and K.differentiable(a.kinds.result)
    key: Any = ("jvp on the program", analysis_key(fn, call.params, extra), wrt, met, seeded)
    known = d.found.get(key)
    if isinstance(known, Forward):
        return known
    args = a.function.node.args
    bare = not (args.defaults or args.vararg or args.kwarg or args.kwonlyargs)
    table = table_of(d, a, wrt, facts, False, Around(seeded=seeded))
    table.strong = own
    names = tuple(table.names.passed)
    found = Forward(d.names.fresh(f"{name_of(fn)}_jvp"), names, bare, seeded)
    d.found[key] = found
    fence(a.function, a.kinds, facts, memory_of(d, a))
    d.told[a] = Story(facts, wrt)
    linear = linearise(table.facts.program, table, wrt)
    made = pushed(linear.program, table)
    if seeded:
        made = _with_one_result(made, table, a.kinds.result)
    elif made.block.end.how == "next":
        end = P.End("next", made.block.end.results[:1])
        made = dataclasses.replace(made, block=dataclasses.replace(made.block, end=end))
    body = text_of(table, linear, made, seeded)
    node = define_with(a.function.node, found.name, doc_of(d, a, wrt), body, list(names))
    add(d, node, a.function.source.fn, a)
    found = dataclasses.replace(found, raises=frozenset[type[BaseException]]().union(*table.raised))
    d.found[key] = found
    return found


def table_of(
    d: Derivation,
    a: Analysed,
    wrt: tuple[str, ...],
    facts: Activity,
    outermost: bool,
    around: Around = ALONE,
) -> Table:
    """Return what is known of the tangents of a function's program."""
    found = seen(d, a, around)
    active = active_in(d, found, frozenset(wrt), around.seeded)
    aliases = memory_of(d, a).aliases
    known = Facts(a, found.program, active, found.flows, aliases, facts)
    table = Table(d, known, TangentNames(_taken(d, a)), outermost)
    dots = map(table.names.dot, wrt)
    table.names.passed += map(table.names.several, dots) if d.abreast else dots
    return table


def _made_up(a: Analysed, linear: Linear, made: P.Program) -> frozenset[str]:
    """Return the names that no user wrote, and no tangent of a user's name has."""
    users = a.function.locals - a.function.temps - {a.function.result}
    kept = users | {dot.name for v, dot in linear.of.items() if v.name in users}
    kept |= {v.name for v in made.block.params} | {UNREAD}
    found = {v.name for op in P.every(made.block) for v in (*op.outs, *P.bound(op))}
    return frozenset(found - kept)


def settled(
    table: Table, linear: Linear, made: P.Program, together: Iterable[Sequence[Var]] = ()
) -> P.Program:
    """Return a derived program in fewer words, without what nobody reads.

    Variables may share memory `together` of which the program does not tell.
    """
    fixed = frozenset(linear.values)
    temps = table.facts.analysed.function.temps
    made = without_unused(checked(simplified(checked(made), fixed, temps)), fixed)
    if table.backward:
        made = with_one_sum(without_needless(made, fixed, together), fixed)
        made = with_what_stays(made, fixed)
        made = with_first_terms(with_sums_in_arms(made, fixed), fixed)
        made = checked(without_copies(made, fixed))
    made = in_order(table, linear, made)
    made = with_sums_first(made, fixed) if table.backward else made
    return checked(with_arrays(made, table, fixed))


def in_order(table: Table, linear: Linear, made: P.Program) -> P.Program:
    """Return a derived program whose products and sums are in order, without what nobody reads."""
    fixed = frozenset(linear.values)
    return without_unused(gathered(made, fixed, table.facts.analysed.function.temps), fixed)


def text_of(table: Table, linear: Linear, made: P.Program, seeded: bool = True) -> Block:
    """Return the statements in which a derived program prints; it may give a pair (`seeded`)."""
    return printed_of(table, linear, settled(table, linear, made), seeded)


def printed_of(table: Table, linear: Linear, made: P.Program, seeded: bool = True) -> Block:
    """Return the statements in which a program prints whose algebra is done."""
    if table.backward:
        return _statements(named_text(table, linear, made).node)
    temps, known = _made_up(table.facts.analysed, linear, made), _known(linear, made)
    parts = temps | {v.name for v in known.shadows}
    made = checked(ordered(made, known, lambda v: not v.name or v.name in parts))
    if not table.derivation.abreast:
        return _statements(printed(made, temps, known, comes_back=False))
    made = checked(_abreast(table, linear, made, temps, seeded))
    temps |= {name for dot, name in table.names.lists.items() if dot in temps}
    return _statements(printed(made, temps, comes_back=False))


def named_text(table: Table, linear: Linear, made: P.Program) -> Named:
    """Return the text of a program with a backward sweep, whose algebra is done, and its names."""
    temps = _made_up(table.facts.analysed, linear, made)
    made = checked(held_before(handed_last(made, _known(linear, made))))
    apart = crossing(made.block) if table.derivation.plain else frozenset[Var]()
    return printed_with_names(made, temps, _known(linear, made), False, apart)


def _known(linear: Linear, made: P.Program) -> Derived:
    caught = any(isinstance(o, P.Try | P.With) for o in P.every(made.block))
    return Derived(memories(made), linear.values, frozenset(linear.of.values()), caught)


def _statements(node: Node) -> Block:
    body: Block = node.body
    return body


def _abreast(
    table: Table, linear: Linear, made: P.Program, temps: frozenset[str], seeded: bool
) -> P.Program:
    """Return a program for several directions."""
    given = made.block.params[-len(table.names.passed) :]
    known = {*given, *linear.of.values(), *table.zeros}
    forwards = table.derivation.found.values()
    passed = {f.name: f.dots for f in forwards if isinstance(f, Forward)}
    dots = tangents_of(table, made, known, linear.values, passed)
    asked = Asked(table, dots, passed, temps, seeded)
    return abreast(made, given, asked)


def _taken(d: Derivation, a: Analysed) -> set[str]:
    code = a.scope.fn.__code__
    outside = {*d.refs.modules, *d.refs.functions, *code.co_names, *code.co_freevars}
    return {*a.function.locals, *outside}


def _with_one_result(program: P.Program, table: Table, kind: K.Kind) -> P.Program:
    """Return a program that gives its result and the tangent of that as a pair."""
    block = program.block
    if block.end.how != "next":
        return program
    value, dot, *beside = block.end.results
    t = Tangents(table)
    if dot == NOTHING and K.differentiable(kind):
        dot = nothing(t, value, kind)
    if isinstance(kind, K.Array) and not kind.rank:
        dot = t.call(table.numpy("asarray", kind), (dot,), kind)
    pair = t.emit(L.TUPLE, (value, dot, *beside), K.UNKNOWN)
    made = P.Block(block.params, (*block.ops, *t.ops), P.End("next", (pair,)))
    return dataclasses.replace(program, block=made)


def on_copies(program: P.Program, copies: Block, linear: Linear, table: Table) -> P.Program:
    """Return a program that works on copies of what it writes; the caller's arguments stay."""
    block = program.block
    t = Tangents(table)
    params = list(block.params)
    for s in copies:
        (p,) = [v for v in block.params if v.name == s.targets[0].id]
        given = params[params.index(p)] = Var(p.name, p.kind)
        t.add(_copy(t, s.value, given, p))
        dot = linear.of.get(p)
        if dot not in params:
            continue
        assert dot is not None
        given = params[params.index(dot)] = Var(dot.name, dot.kind)
        if table.refs.functions.get(getattr(s.value.func, "id", "")) is runtime.apart:
            callee, operands = table.helper(runtime.laid_like), (given, p)
            t.add(Op((dot,), L.CALL, (callee, *operands)))
        elif isinstance(dot.kind, K.Array):
            t.add(Op((dot,), L.method("copy"), (given,), (), (P.Place(given),)))
        else:
            t.add(Op((dot,), L.CALL, (table.helper(runtime.private), given)))
    made = P.Block(tuple(params), (*t.ops, *block.ops), block.end)
    return dataclasses.replace(program, block=made)


def _copy(t: Tangents, made: Node, given: Var, out: Var) -> Op:
    """Return the copy of an argument that an expression writes."""
    if isinstance(made.func, gast.Attribute):
        order: tuple[tuple[str, Operand], ...] = (("order", P.Const("K")),)
        return Op((out,), L.method("copy"), (given,), order, (P.Place(given),))
    fn = t.table.refs.functions[made.func.id]
    places = [_literal(t, n) for n in made.args[1:]]
    return Op((out,), L.CALL, (t.table.helper(fn), given, *places))


def _literal(t: Tangents, node: Node) -> Operand:
    if isinstance(node, gast.Tuple):
        return t.emit(L.TUPLE, [_literal(t, n) for n in node.elts], K.UNKNOWN)
    if not isinstance(node, gast.Constant):
        raise InternalError("a part of an argument has no plain name")
    return P.Const(node.value)
