"""Calls of the user's functions, turned round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Place, Var
from s2sad.linear.by_identity import Shadows, are_plain, is_memory, is_structure
from s2sad.linear.cotangents_of import Bar, Cotangents, is_option
from s2sad.linear.guards import Zeros
from s2sad.linear.operands import kind_of
from s2sad.linear.ready import NOTHING_MET, Meets
from s2sad.linear.run_again import check_again, is_run_again, run_again
from s2sad.linear.sweep_state import Reason, Sweep, owned
from s2sad.linear.tangent_table import Table, Tangents, tangent_kind
from s2sad.linear.turned_slots import complete, made_by_rule
from s2sad.linear.user_calls import CallOfUser, forward_of, parts_of, refuse_rebinding, roots_of
from s2sad.linear.user_calls import Given as Gathered
from s2sad.linear.zero_tangents import nothing
from s2sad.primitives import language as L

if TYPE_CHECKING:
    from s2sad.linear.reverse_pairs import Reverse


def turned_call(sweep: Sweep, op: Op, acc: Cotangents) -> None:
    """Call the reverse of a function of the user's, which takes what its forward has kept."""
    from s2sad.linear.reverse_pairs import reverse_pair

    noted = dict(op.settings)["call"]
    assert isinstance(noted, CallOfUser)
    if passes_nothing(op, noted):
        return
    if acc.shadows is not None:
        _by_identity(sweep, op, noted, acc, acc.shadows)
        return
    hit = [dot for dot in noted.hit if acc.has(dot)]
    seeded = bool(op.outs) and op.outs[0] in acc.of
    if not seeded and not hit:
        return
    t, call = acc.t, noted.call
    again = is_run_again(noted)
    meets = met_by(sweep, op, noted, t)
    if again:
        check_again(noted, t)
        meets = replace(meets, lent=frozenset())
    pair = reverse_pair(t.table.derivation, call, noted.active, meets, bare=again)
    note_caller(pair, noted, t)
    everything = {**call.given, **call.extra}
    given: list[Operand]
    if again:
        kept = [run_again(sweep, op, noted, pair.forward, t)] if pair.saved else []
        given = [*kept, *_passed(noted, pair)]
    else:
        given = _kept(sweep, noted, pair, t)
    for p in pair.shadows:
        shadow = [o for o in op.operands if o in sweep.values]
        v = everything[p]
        assert isinstance(v, Var)
        (dot,) = [s for s in dict.fromkeys(shadow) if isinstance(s, Var) and sweep.values[s] is v]
        given.append(acc.buffer(dot))
    kinds = [call.params[p] for p in pair.active]
    values = _reversed(sweep, op, acc, pair, given, kinds)
    for p, value in zip(pair.active, values, strict=True):
        pass_on(sweep, everything[p], value, op, acc, p in pair.shadows)


def passes_nothing(op: Op, noted: CallOfUser) -> bool:
    """Say whether a call gives no derivative, and changes no memory that has one."""
    return not noted.hit and not any(K.differentiable(v.kind) for v in op.outs)


def _kept(sweep: Sweep, noted: CallOfUser, pair: Reverse, t: Tangents) -> list[Operand]:
    """Return what a reverse reads of the forward sweep, which calls the forward to keep it."""
    kept = list[Operand]()
    if pair.saved:
        refuse_rebinding(t, noted.op, noted.call)
        sweep.instead[noted.op], saved = forward_of(noted, pair.forward)
        sweep.reasons[saved] = Reason("call", (noted.op,))
        kept.append(saved)
    elif (
        pair.values and noted.op.primitive is L.CALL
    ):  # the reverse computes all once more, so the call may go
        sweep.instead[noted.op] = (replace(noted.op, primitive=L.COMPUTE, writes=()),)
    return [*kept, *_passed(noted, pair)]


def _passed(noted: CallOfUser, pair: Reverse) -> list[Operand]:
    """Return what the caller passes to a reverse: arguments of the call, which it has still."""
    everything = {**noted.call.given, **noted.call.extra}
    return [o for p in pair.passed if isinstance(o := everything[p], P.OPERANDS)]


def _reversed(
    sweep: Sweep,
    op: Op,
    acc: Cotangents,
    pair: Reverse,
    given: Sequence[Operand],
    kinds: Sequence[K.Kind],
) -> tuple[Var, ...]:
    """Call a reverse with what it is `given`, and with the cotangent of the result.

    Return what it gives, the cotangents of values of some kinds: one alone, or a tuple of several.
    """
    t, seed = acc.t, tuple[Operand, ...]()
    if pair.seeded and op.outs:
        (dot,) = op.outs
        seed = (_seed(sweep, op, dot, acc, pair.values),)
    elif pair.seeded:
        result = op.operands[0]  # of what was called
        seed = (nothing(t, result, kind_of(result)),)
    everything = (*given, *seed)
    places = tuple(
        Place(v, (P.Anywhere(),))
        for v in everything[pair.saved + len(pair.passed) :]
        if isinstance(v, Var)
    )
    values = tuple(Var("", tangent_kind(k)) for k in kinds)
    out = values[0] if len(values) == 1 else Var("", K.UNKNOWN)
    name = P.Outer(pair.reverse, K.UNKNOWN)
    t.add(Op((out,), L.CALL, (name, *everything), (), places, places, op.origin))
    if len(values) > 1:
        t.add(Op(values, L.UNPACK, (out,), (), (), (), t.origin))
    return values


def _seed(sweep: Sweep, op: Op, dot: Var, acc: Cotangents, values: bool) -> Operand:
    """Return the cotangent of what a call gives; it has none any more.

    A reverse that goes by `values` knows no shadows: it is given what those of structures hold.
    """
    bar = made_by_rule(sweep, dot, op, acc) if values else complete(dot, acc)
    if values and bar is not None:
        return acc.built(bar, sweep.values[dot])
    if bar is not None:
        acc.of[dot] = bar
    made = owned(sweep, acc, dot)
    acc.of.pop(dot, None)
    return made


def _by_identity(
    sweep: Sweep, op: Op, noted: CallOfUser, acc: Cotangents, shadows: Shadows
) -> None:
    """Call a reverse to which memory is known by identity: it is given all shadows.

    A checkpoint keeps what its reverse reads, too: what it made a second time would be another
    memory, with another shadow.
    """
    from s2sad.linear.reverse_pairs import reverse_pair

    t, call = acc.t, noted.call
    if is_run_again(noted):
        check_again(noted, t)
    pair = reverse_pair(t.table.derivation, call, noted.active, met_by(sweep, op, noted, t))
    note_caller(pair, noted, t)
    given = [*_kept(sweep, noted, pair, t), *(() if pair.values else (shadows.table,))]
    everything = {**call.given, **call.extra}
    named = [p for p, given in everything.items() if isinstance(given, dict)]
    numbers = [p for p in pair.active if pair.values or p in named or not is_memory(call.params[p])]
    kinds = [call.params[p] for p in numbers]
    found = _reversed(sweep, op, acc, pair, given, kinds)
    values = dict(zip(numbers, found, strict=True))
    for p in pair.active:
        if p not in numbers:
            for dot in are_plain(op.operands, sweep.values, shadows):
                if sweep.values[dot] is everything[p]:
                    acc.add(dot, Bar(shadows.taken(t, sweep.values[dot]), True))
            continue
        pass_on(sweep, everything[p], values[p], op, acc, False)


def note_caller(pair: Reverse, noted: CallOfUser, t: Tangents) -> None:
    """Note which call a reverse was made for first: its parameters are active by that."""
    caller = t.table.facts.analysed, noted.op.origin
    t.table.derivation.called.setdefault(pair.reverse, caller)


def met_by(sweep: Sweep, op: Op, noted: CallOfUser, t: Tangents) -> Meets:
    """Return what a called function meets here.

    Memory that is written, or seen, after the call is lent to it; so is what it writes by the name
    of another parameter.
    """
    everything = {**noted.call.given, **noted.call.extra}
    found = {
        p
        for p, given in everything.items()
        for o in parts_of(given)
        if isinstance(o, Var) and (o in t.table.facts.written or sweep.written.of(o))
        if sweep.written.after(op, o) or sweep.is_handed(o)
    }
    found |= given_twice(sweep, noted, t.table)
    (out,) = noted.op.outs
    written = out in t.table.facts.written and sweep.written.after(op, out)
    later = written or sweep.is_handed(out)
    lent = frozenset(found | ({"@result"} if later else set()))
    strong = t.table.strong
    assert isinstance(strong, Zeros)
    return Meets(lent, strong.arrivals.get(out, NOTHING_MET))


def given_twice(sweep: Sweep, noted: CallOfUser, table: Table) -> set[str]:
    """Return the parameters that may share memory with others, of which the call writes one."""
    aliases, found = table.facts.aliases, set[str]()
    everything = {**noted.call.given, **noted.call.extra}
    parts = [
        (p, roots_of(o, sweep.makers.get))
        for p, given in everything.items()
        for o in parts_of(given)
    ]
    for w in aliases.writes:
        if w.statement is noted.op.origin and w.how == "call":
            shared = aliases.sharing(w.statement, w.base) | {w.base}
            holders = [p for p, roots in parts if not roots.isdisjoint(shared)]
            found |= {*holders} if len(holders) > 1 else set()
    return found


def pass_on(
    sweep: Sweep, given: Gathered, value: Operand, op: Op, acc: Cotangents, replaced: bool
) -> None:
    """Add what a function passes back for one of its parameters."""
    if isinstance(given, tuple | dict):
        _pass_on_each(sweep, given, value, op, acc)
        return
    for dot in dict.fromkeys(o for o in op.operands if isinstance(o, Var)):
        v = sweep.values.get(dot)
        if v is not None and v is given:
            own = isinstance(v.kind, K.Array) or is_structure(v.kind)
            if replaced and dot in acc.refs:
                buffer, everywhere = acc.buffer(dot), P.Const(...)
                places = (Place(buffer, (P.Item(everywhere),)),)
                given_ = (buffer, everywhere, value)
                acc.t.add(Op((), L.PUT_ITEM, given_, (), (), places, op.origin))
            elif replaced:
                acc.of[dot] = Bar(value, True)
            else:
                acc.add(dot, Bar(value, own, perhaps=is_option(v.kind)))


def _pass_on_each(
    sweep: Sweep,
    given: tuple[Operand, ...] | dict[str, Operand],
    value: Operand,
    op: Op,
    acc: Cotangents,
) -> None:
    """Add what a function passes back for a parameter that gathers several arguments.

    By identity, memory in a dict of them has its cotangent already.
    """
    dots = {sweep.values[o]: o for o in op.operands if isinstance(o, Var) and o in sweep.values}
    pairs = given.items() if isinstance(given, dict) else enumerate(given)
    for at, operand in pairs:
        v = operand if isinstance(operand, Var) else None
        if v not in dots or v is None:
            continue
        if isinstance(given, dict) and acc.shadows is not None and is_memory(v.kind):
            if dots[v] not in acc.shadows.dots:
                acc.add(dots[v], Bar(acc.shadows.taken(acc.t, v), True))
            continue
        item = acc.t.emit(L.ITEM, (value, P.Const(at)), tangent_kind(v.kind))
        acc.add(dots[v], Bar(item))
