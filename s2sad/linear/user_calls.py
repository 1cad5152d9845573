"""Calls of the user's functions: a function of values and tangents is called in their place.

    y = g(a, b)   ->   y, y_dot = g_jvp(a, b, a_dot)

A called function is derived once per pattern of kinds and activities.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from s2sad import kinds as K
from s2sad import runtime
from s2sad.capture.construct import OBJECT_OF
from s2sad.capture.read import unwrap
from s2sad.facts.members import class_function
from s2sad.inside import adjoint_hook, stop_gradient
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Place, Var
from s2sad.kinds import Kind
from s2sad.linear.constructed import object_with
from s2sad.linear.operands import kind_of
from s2sad.linear.tangent_table import NotYet, Tangents, cell_of
from s2sad.linear.zero_tangents import give_zeros, tangent_of
from s2sad.names import identifier
from s2sad.primitives import language as L
from s2sad.steps.binding import bind_kinds, by_rule, made_by
from s2sad.steps.callables import as_called_with, signature_of
from s2sad.steps.targets import is_library

Given = Operand | tuple[Operand, ...] | dict[str, Operand]
"""What a parameter is given: several operands, with or without names, where it gathers them."""


@dataclass(frozen=True)
class UserCall:
    """A user's function as one call sees it: what each of its parameters is given."""

    fn: object
    params: Mapping[str, Kind]
    given: Mapping[str, Given]
    extra: Mapping[str, Operand]
    leading: tuple[Operand, ...]


def user_call(t: Tangents, op: Op) -> UserCall | None:
    """Return the user's function that an operation calls; None for a library's."""
    first, *args = op.operands
    leading: tuple[Operand, ...] = ()
    target: Kind = kind_of(first)
    if op.primitive.form == "method":
        method = class_function(t.table.analysed.scope, target, op.primitive.word)
        if method is None:
            return None
        target, leading = K.Known(method), (first,)
    named = {n: v for n, v in op.settings if isinstance(v, P.OPERANDS)}
    given = [*leading, *args]
    target = made_by(target)
    if isinstance(target, K.Known):
        callee = unwrap(target.value)
        if is_library(target.value) or callee is None:
            return None
        if callee.args or callee.kwargs:
            raise NotYet("a call of a bound method or of a partial")
    if not isinstance(target, K.Known | K.LocalFunction):
        return None
    if any(isinstance(o, P.Spread) for o in (*given, *named.values())):
        raise NotYet("arguments that are given with a star")
    kinds, by_name = [_kind(t, o) for o in given], {n: _kind(t, o) for n, o in named.items()}
    target = as_called_with(target, kinds, by_name)
    env = t.table.analysed.kinds.before.get(op.origin, {})
    bound = bind_kinds(target, kinds, by_name, env, {})
    if bound is None:
        return None
    fn, params, extra = by_rule(bound)
    signature = signature_of(fn)
    if signature is None:
        raise NotYet("a function that does not tell its parameters")
    found = dict(signature.bind(*given, **named).arguments)
    captured = {p: _captured(t, local, env.get(local, K.UNKNOWN)) for p, local in extra}
    return UserCall(fn, params, found, captured, leading)


def _kind(t: Tangents, operand: Operand) -> Kind:
    """Return the kind of an operand here: a list may have grown since it was bound."""
    v = P.variable(operand)
    if v is None or not v.name:
        return kind_of(operand)
    return t.table.analysed.kinds.before.get(t.origin, {}).get(v.name, v.kind)


def _captured(t: Tangents, word: str, kind: Kind) -> Operand:
    """Return what a name of the caller means where an inner function that captures it is called."""
    if word in t.env:
        return t.env[word]
    cell = t.table.cells.get(word)
    if cell is None:
        raise NotYet("what an inner function captures")
    value = t.emit(L.LOOK, (cell,), kind)
    if t.table.carries(cell):
        t.of[value] = t.emit(L.LOOK, (cell_of(t, cell),), kind)
    return value


def call_with_tangents(t: Tangents, op: Op, call: UserCall) -> None:
    """Add the call of a function of values and tangents."""
    from s2sad.linear.forward_entry import forward_function

    table = t.table
    if call.fn is stop_gradient and op.outs[0] not in table.written:
        t.add(op)
        if table.carries(op.outs[0]):
            give_zeros(t, op.outs[0])
        return
    if call.fn in (stop_gradient, adjoint_hook):
        raise NotYet("what means something to derivatives, called as any function")
    everything = {**call.given, **call.extra}
    active = tuple(p for p, o in everything.items() if any(map(t.has, parts_of(o))))
    (out,) = op.outs
    stores = getattr(getattr(call.fn, "node", None), "stores", None)
    if stores is not None:
        t.add(op)
        _stored(t, op, call, stores)
        return
    if getattr(getattr(call.fn, "node", None), "makes", None) is not None:
        if table.refs.function(runtime.object_of) != OBJECT_OF:
            raise NotYet("a name that is taken")
    if not active:
        t.add(op)
        if table.carries(out):
            give_zeros(t, out)
        return
    written = {p.object for p in op.writes if isinstance(p.object, Var)}
    hit = [v for v in written if v in t.of]
    if [v for v in hit if not any(v in parts_of(o) for o in everything.values())]:
        raise NotYet("a call that writes what it is not given")
    _refuse_shared(t, op, everything)
    if table.backward:
        t.add(op)
        _noted(t, op, call, active, hit)
        return
    found = forward_function(table.derivation, call.fn, call.params, tuple(call.extra), active)
    if found.raises:
        t.may_raise()
    table.derivation.called.setdefault(found.name, (table.analysed, op.origin))
    name = P.Outer(found.name, K.UNKNOWN)
    plain = op.operands if op.primitive.form == "method" else op.operands[1:]
    extra = tuple(call.extra.items())
    dots = tuple(
        (dot, _tangent(t, everything[p])) for dot, p in zip(found.dots, active, strict=True)
    )
    operands: tuple[Operand, ...] = (name, *plain)
    settings: tuple[tuple[str, Operand], ...] = (*op.settings, *extra, *dots)
    if found.bare and not op.settings and not extra and len(plain) == len(call.params):
        operands, settings = (*operands, *(d for _, d in dots)), ()
    writes = (*op.writes, *(Place(t.of[v], (P.Anywhere(),)) for v in hit))
    given = [v for v in map(P.variable, (*operands, *(o for _, o in settings))) if v is not None]
    reads = tuple(Place(v, (P.Anywhere(),)) for v in given if not K.shares_nothing(v.kind))
    if not found.seeded:
        t.add(Op(op.outs, L.CALL, operands, settings, reads, writes, op.origin))
        if table.carries(out):
            give_zeros(t, out)
        return
    both = Var("", K.UNKNOWN)
    t.add(Op((both,), L.CALL, operands, settings, reads, writes, op.origin))
    dot = t.bind(out) if table.carries(out) else Var("", K.UNKNOWN)
    t.add(Op((out, dot), L.UNPACK, (both,), (), (), (), op.origin))


def _refuse_shared(t: Tangents, op: Op, given: Mapping[str, Given]) -> None:
    """Refuse arguments that may share memory of which the called function writes one."""
    aliases = t.table.aliases
    names = [{n for o in parts_of(g) for n in _roots(t, o)} for g in given.values()]
    for w in aliases.writes:
        if w.statement is op.origin and w.how == "call":
            shared = aliases.sharing(op.origin, w.base)
            hit = {n for roots in names for n in roots & shared} - {w.base}
            if hit or sum(w.base in roots for roots in names) > 1:
                raise NotYet("arguments that share memory which the call writes")


def _roots(t: Tangents, operand: Operand) -> set[str]:
    """Return the names of the memory that an operand is, or is a part of."""
    v = P.variable(operand)
    if v is None or K.shares_nothing(v.kind):
        return set()
    made = next((op for op in reversed(t.ops) if v in op.outs), None)
    if v.name or not isinstance(made, Op):
        return {v.name}
    return {n for o in P.operands(made) for n in _roots(t, o)}


@dataclass(frozen=True)
class CallOfUser:
    """A call as the tangent of a call says it: the operation, and which parameters have tangents.

    Of those that it writes the tangents are `hit`.
    """

    op: Op
    call: UserCall
    active: tuple[str, ...]
    hit: tuple[Var, ...]


def _noted(t: Tangents, op: Op, call: UserCall, active: tuple[str, ...], hit: list[Var]) -> None:
    """Add the tangent of a call, which is turned round as a whole."""
    (out,) = op.outs
    everything = {**call.given, **call.extra}
    given = [o for p in active for o in parts_of(everything[p])]
    dots = tuple(t.maybe(o) for o in given)
    noted = CallOfUser(op, call, active, tuple(t.of[v] for v in hit))
    writes = tuple(Place(dot, (P.Anywhere(),)) for dot in noted.hit)
    outs = (t.bind(out),) if t.table.carries(out) else ()
    operands = (out, *given, *dots)
    settings = (("call", noted),)
    t.add(Op(outs, L.TANGENT_OF_CALL, operands, settings, (), writes, op.origin))


def forward_of(noted: CallOfUser, name: str) -> tuple[tuple[Op, ...], Var]:
    """Return the call of a forward in the place of a call, and what that has saved."""
    op = noted.op
    plain = op.operands if op.primitive.form == "method" else op.operands[1:]
    extra = tuple(noted.call.extra.items())
    both, saved = Var("", K.UNKNOWN), Var("saved", K.UNKNOWN)
    operands = (P.Outer(name, K.UNKNOWN), *plain)
    settings = (*op.settings, *extra)
    made = Op((both,), L.CALL, operands, settings, op.reads, op.writes, op.origin)
    taken = Op((*op.outs, saved), L.UNPACK, (both,), (), (), (), op.origin)
    return (made, taken), saved


def parts_of(given: Given) -> tuple[Operand, ...]:
    """Return the operands that a parameter is given."""
    if isinstance(given, dict):
        return tuple(given.values())
    return given if isinstance(given, tuple) else (given,)


def _tangent(t: Tangents, given: Given) -> Operand:
    """Return the tangent of what a parameter is given."""
    if isinstance(given, tuple):
        return t.emit(L.TUPLE, [tangent_of(t, o) for o in given], K.UNKNOWN)
    if isinstance(given, dict):
        pairs = [part for k, o in given.items() for part in (P.Const(k), tangent_of(t, o))]
        return t.emit(L.DICT, pairs, K.UNKNOWN)
    return t.maybe(given)


def _stored(t: Tangents, op: Op, call: UserCall, stores: Mapping[str, str]) -> None:
    """An object that only stores what it was made of has a tangent made of theirs."""
    (out,) = op.outs
    if not t.table.carries(out):
        return
    if not isinstance(out.kind, K.Obj):
        raise NotYet("an object of no known class")
    fields = []
    for f, kind in out.kind.fields:
        given = call.given.get(stores.get(f, ""))
        if given is None or isinstance(given, tuple | dict):
            given = t.emit(L.field(f), (out,), kind)
        fields.append((f, tangent_of(t, given)))
    cls = t.call(P.Outer("type", K.Known(type)), (out,), K.UNKNOWN)
    object_with(t, out, cls, fields)


def name_of(fn: object) -> str:
    """Return the name a reader knows a function by."""
    if isinstance(fn, K.LocalFunction):
        return str(getattr(fn.node, "name", "lambda_"))
    label = str(getattr(fn, "__name__", ""))
    if label.startswith("__") and label.endswith("__"):
        qualified = str(getattr(fn, "__qualname__", label)).split(".")[-2:-1]
        label = "_".join([*qualified, label.strip("_")])
    return identifier(label)
