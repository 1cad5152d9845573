"""Calls of the user's functions: a function of values and tangents is called in their place.

    y = g(a, b)   ->   y, y_dot = g_jvp(a, b, a_dot)

A called function is derived once per pattern of kinds and activities.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from dataclasses import dataclass

import gast

from s2sad import kinds as K
from s2sad import registry, runtime
from s2sad.capture.construct import OBJECT_OF
from s2sad.capture.read import unwrap
from s2sad.derivative import is_decorated
from s2sad.facts.members import class_function
from s2sad.facts.memory import rebound
from s2sad.inside import adjoint_hook, stop_gradient
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Place, Var
from s2sad.kinds import Kind
from s2sad.linear.constructed import object_with
from s2sad.linear.raising import refuse_caught
from s2sad.linear.tangent_table import NotYet, Tangents, cell_of
from s2sad.linear.zero_tangents import give_zeros, tangent_of
from s2sad.names import identifier
from s2sad.nodes import Node
from s2sad.primitives import language as L
from s2sad.stages import Met
from s2sad.steps.binding import bind_kinds, by_rule, made_by
from s2sad.steps.callables import as_called_with, signature_of
from s2sad.steps.targets import is_library

Given = Operand | tuple[Operand, ...] | dict[str, Operand]
"""What a parameter is given: several operands, with or without names, where it gathers them."""


@dataclass(frozen=True)
class UserCall:
    """A user's function as one call sees it: what each of its parameters is given.

    `plain` is what is given by position, with what a method or a bound function brings along.
    """

    fn: object
    params: Mapping[str, Kind]
    given: Mapping[str, Given]
    extra: Mapping[str, Operand]
    plain: tuple[Operand, ...]


def user_call(t: Tangents, op: Op) -> UserCall | None:
    """Return the user's function that an operation calls; None for a library's."""
    first, *args = _owner_first(t, op)
    leading: tuple[Operand, ...] = ()
    target = _callee(t, op)
    named = {n: v for n, v in op.settings if isinstance(v, P.OPERANDS)}
    method = _method(t, op, target)
    if method is not None:
        target, leading = K.Known(method), (first,)
    elif op.primitive.form == "method":
        node = call_node(t, op)
        target = t.table.facts.analysed.kinds.of.get(node.func, K.UNKNOWN) if node else K.UNKNOWN
        if not isinstance(target, K.Known) or inspect.ismethod(target.value):
            return None
    target = made_by(target)
    if isinstance(target, K.Known):
        callee = unwrap(target.value)
        if is_library(target.value) or callee is None:
            return None
        if callee.args or callee.kwargs:
            leading = _brought(t, target.value, first)
    if not isinstance(target, K.Known | K.LocalFunction):
        return None
    plain = (*leading, *args)
    if any(isinstance(o, P.Spread) for o in (*plain, *named.values())):
        raise NotYet("arguments that are given with a star")
    kinds, by_name = kinds_given(t, op, args, named)
    if method is not None:
        kinds = [*map(t.kind, leading), *kinds]
    target = as_called_with(target, kinds, by_name)
    env = t.table.facts.analysed.kinds.before.get(op.origin, {})
    bound = bind_kinds(target, kinds, by_name, env, {})
    if bound is None:
        return None
    fn, params, extra = by_rule(bound)
    signature = signature_of(fn)
    if signature is None:
        raise NotYet("a function that does not tell its parameters")
    found = dict(signature.bind(*plain, **named).arguments)
    captured = {p: captured_here(t, local, env.get(local, K.UNKNOWN)) for p, local in extra}
    return UserCall(fn, params, found, captured, plain)


def _callee(t: Tangents, op: Op) -> Kind:
    """Return the kind of what is called, or of whose method: at this place it may be known best."""
    node = call_node(t, op) if op.primitive.form == "call" else None
    found = t.kind(op.operands[0])
    return found if node is None else t.table.facts.analysed.kinds.of.get(node.func, found)


def kinds_given(
    t: Tangents, op: Op, args: list[Operand], named: Mapping[str, Operand]
) -> tuple[list[Kind], dict[str, Kind]]:
    """Return the kinds of arguments: of a function that is given, what it captures."""
    kinds, by_name = [t.kind(o) for o in args], {n: t.kind(o) for n, o in named.items()}
    node = call_node(t, op)
    if isinstance(node, gast.Call) and len(node.args) == len(args):
        of = t.table.facts.analysed.kinds.of
        kinds = [of.get(n, kind) for n, kind in zip(node.args, kinds, strict=True)]
        by_name |= {k.arg: of.get(k.value, by_name[k.arg]) for k in node.keywords}
    return kinds, by_name


_WITHOUT_CALL = {
    "field": gast.Attribute,
    "infix": gast.BinOp,
    "prefix": gast.UnaryOp,
    "item": gast.Subscript,
}


def by_method(t: Tangents, op: Op) -> bool:
    """Say whether an operator, an index or an attribute calls a function of the user's class."""
    node = call_node(t, op) if op.primitive.form in _WITHOUT_CALL else None
    return node is not None and node in t.table.facts.analysed.kinds.methods


def _owner_first(t: Tangents, op: Op) -> tuple[Operand, ...]:
    """Return the operands, that whose class has the method first: in `1.0 + a` that is a."""
    node = call_node(t, op) if op.primitive.form == "infix" else None
    _, owner = t.table.facts.analysed.kinds.methods.get(node, (None, None))
    swapped = owner is not None and owner is getattr(node, "right", None)
    return op.operands[::-1] if swapped else op.operands


def _method(t: Tangents, op: Op, owner: Kind) -> object | None:
    """Return the function of a class that an operation on an object calls."""
    word = op.primitive.word if op.primitive.form == "method" else "__call__"
    found: object | None = None
    if op.primitive.form in ("call", "method"):
        found = class_function(t.table.facts.analysed.scope, owner, word)
    node = call_node(t, op) if found is None else None
    method = t.table.facts.analysed.kinds.methods.get(node)
    return found if method is None else method[0]


def call_node(t: Tangents, op: Op) -> Node | None:
    """Return the expression that an operation stands for, if it is all that its statement binds."""
    targets = [n.id for n in getattr(op.origin, "targets", ()) if isinstance(n, gast.Name)]
    node = getattr(op.origin, "value", None)
    if targets and [v.name for v in op.outs] != targets[:1]:
        return None
    if op.primitive.form in _WITHOUT_CALL:
        return node if isinstance(node, _WITHOUT_CALL[op.primitive.form]) else None
    if not isinstance(node, gast.Call):
        return None
    of_method = op.primitive.form == "method"
    return node if isinstance(node.func, gast.Attribute) or not of_method else None


def _brought(t: Tangents, value: object, callee: Operand) -> tuple[Operand, ...]:
    """Return what a bound method, or an object that is called, brings along."""
    known = unwrap(value)
    assert known is not None
    if isinstance(value, functools.partial) or known.kwargs or registry.written_form(value):
        raise NotYet("a call of a partial")
    if inspect.ismethod(value) or is_decorated(value):
        return (t.emit(L.field("__self__"), (callee,), K.UNKNOWN),)
    return (callee,)


def captured_here(t: Tangents, word: str, kind: Kind) -> Operand:
    """Return what a name of the caller means where an inner function that captures it is called."""
    cell = t.table.facts.cells.get(word)
    if cell is None and word in t.env:
        return t.env[word]
    if cell is None:
        raise NotYet("what an inner function captures")
    value = t.emit(L.LOOK, (cell,), kind)
    if t.table.carries(cell) and not isinstance(kind, K.Known | K.LocalFunction | K.Choice):
        t.of[value] = t.emit(L.LOOK, (cell_of(t, cell),), kind)
    return value


def call_with_tangents(t: Tangents, op: Op, call: UserCall) -> None:
    """Add the call of a function of values and tangents."""
    from s2sad.linear.forward_entry import forward_function

    table = t.table
    if call.fn is stop_gradient and op.outs[0] not in table.facts.written:
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
    _refuse_rebinding(t, op, call)
    met = table.facts.strong.arrivals.get(op.origin, Met())
    found = forward_function(table.derivation, call, active, met)
    refuse_caught(found.raises, t.caught)
    table.raised.append(found.raises)
    table.derivation.called.setdefault(found.name, (table.facts.analysed, op.origin))
    name = P.Outer(found.name, K.UNKNOWN)
    plain = call.plain
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
    aliases = t.table.facts.aliases
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
    op, plain = noted.op, noted.call.plain
    extra = tuple(noted.call.extra.items())
    both, saved = Var("", K.UNKNOWN), Var("saved", K.UNKNOWN)
    operands = (P.Outer(name, K.UNKNOWN), *plain)
    settings = (*op.settings, *extra)
    made = Op((both,), L.CALL, operands, settings, op.reads, op.writes, op.origin)
    taken = Op((*op.outs, saved), L.UNPACK, (both,), (), (), (), op.origin)
    return (made, taken), saved


def _refuse_rebinding(t: Tangents, op: Op, call: UserCall) -> None:
    """Refuse a call of an inner function that binds names of the caller anew: it gets values."""
    inner = rebound(call.fn.node) if isinstance(call.fn, K.LocalFunction) else set()
    if inner & call.extra.keys():
        raise t.table.refuse(
            op.origin,
            f"{name_of(call.fn)}, which is called here, rebinds `{min(inner)}`; s2sad "
            "cannot follow that in forward mode yet.",
            "Return the new value, and assign it where the function is called.",
        )


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
