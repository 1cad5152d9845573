"""Calls of the user's functions: a function of values and tangents is called in their place.

    y = g(a, b)   ->   y, y_dot = g_jvp(a, b, a_dot)

A called function is derived once per pattern of kinds and activities.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import gast

from s2sad import kinds as K
from s2sad import registry, runtime
from s2sad.capture.construct import OBJECT_OF
from s2sad.capture.read import unwrap
from s2sad.derivative import is_decorated
from s2sad.errors import Error, InternalError
from s2sad.facts.members import class_function
from s2sad.facts.memory import rebound
from s2sad.inside import adjoint_hook, stop_gradient
from s2sad.ir import program as P
from s2sad.ir.flows import may_hold
from s2sad.ir.program import Op, Operand, Place, Var
from s2sad.kinds import Kind
from s2sad.linear.constructed import object_with
from s2sad.linear.guards import Met, Pushed
from s2sad.linear.programs_seen import EXPRESSIONS
from s2sad.linear.raising import refuse_caught
from s2sad.linear.tangent_table import NOTHING, Tangents, cell_of, tangent_kind
from s2sad.linear.zero_tangents import give_zeros, tangent_of
from s2sad.names import identifier
from s2sad.nodes import Node
from s2sad.primitives import language as L
from s2sad.steps.binding import bind_kinds, by_rule, made_by
from s2sad.steps.callables import all_kinds, as_called_with, signature_of
from s2sad.steps.derivation import analyse
from s2sad.steps.found_calls import is_library

Given = Operand | tuple[Operand, ...] | dict[str, Operand]
"""What a parameter is given: several operands, with or without names, where it gathers them."""


@dataclass(frozen=True)
class UserCall:
    """A user's function as one call sees it: what each of its parameters is given.

    `plain` is what is given by position, `named` what is given by name, both with what a method, a
    bound function or a partial brings along. The `links` are pairs of an `extra` parameter, for
    what an inner function captures, and the variable of the caller.
    """

    fn: object
    params: Mapping[str, Kind]
    given: Mapping[str, Given]
    extra: Mapping[str, Operand]
    plain: tuple[Operand, ...]
    named: Mapping[str, Operand]
    links: tuple[tuple[str, str], ...]


def user_call(t: Tangents, op: Op) -> UserCall | None:
    """Return the user's function that an operation calls; None for a library's."""
    first, *args = _owner_first(t, op)
    leading: tuple[Operand, ...] = ()
    target = _callee(t, op)
    named = {n: v for n, v in op.settings if isinstance(v, P.OPERANDS)}
    brought: dict[str, Operand] = {}
    method = _method(t, op, target)
    if method is not None:
        target, leading = K.Known(method), (first,)
    elif op.primitive.form == "method":
        node = call_node(t, op)
        target = t.table.facts.analysed.kinds.of.get(node.func, K.UNKNOWN) if node else K.UNKNOWN
        if not isinstance(target, K.Known):
            return None
        if inspect.ismethod(target.value):
            if isinstance(target.value.__self__, type):
                leading, first = (_class_of(t, first, target.value.__self__),), NOTHING
            elif registry.written_form(target.value) is None:
                return None
        if first != NOTHING:
            first = t.emit(L.field(op.primitive.word), (first,), target)
    target = made_by(target)
    kinds, by_name = kinds_given(t, op, args, named)
    spread = any(isinstance(o, P.Spread) for o in (*args, *named.values()))
    if method is None and not spread:
        target = as_called_with(target, kinds, by_name)
    if isinstance(target, K.Known):
        callee = unwrap(target.value)
        if callee is None or (method is None and is_library(target.value)):
            return None  # a method has no name here by which a rule of its own could be found
        if first != NOTHING and (callee.args or callee.kwargs):
            leading = _brought(t, target.value, first)
            brought = _brought_by_name(t, target.value, first, named)
    if not isinstance(target, K.Known | K.LocalFunction):
        return None
    if spread:
        args, named = _spread_out(t, args, op.settings)
        kinds, by_name = [t.kind(o) for o in args], {n: t.kind(o) for n, o in named.items()}
    plain, named = (*leading, *args), {**brought, **named}
    if method is not None:
        kinds = [*map(t.kind, leading), *kinds]
    env = t.table.facts.analysed.kinds.before.get(op.origin, {})
    bound = bind_kinds(target, kinds, by_name, env, {})
    if bound is None:
        return None
    fn, params, extra = by_rule(bound)
    signature = signature_of(fn)
    if signature is None:
        raise t.cannot("s2sad cannot tell the parameters of the function that is called here.")
    found = dict(signature.bind(*plain, **named).arguments)
    captured = {p: captured_here(t, local, env.get(local, K.UNKNOWN)) for p, local in extra}
    return UserCall(fn, params, found, captured, plain, named, extra)


def _class_of(t: Tangents, owner: Operand, cls: type) -> Operand:
    """Return the class that a class method gets: its owner is that, or an object of it."""
    if t.kind(owner) == K.Known(cls):
        return owner
    return t.call(P.Outer("type", K.Known(type)), (owner,), K.Known(cls))


def _spread_out(
    t: Tangents, args: Sequence[Operand], settings: Sequence[tuple[str, object]]
) -> tuple[list[Operand], dict[str, Operand]]:
    """Return what is given with a star one by one: g(*p, **d) with the items of p and d."""
    plain: list[Operand] = []
    for o in args:
        plain += _items(t, o) if isinstance(o, P.Spread) else [o]
    named: dict[str, Operand] = {}
    for n, v in settings:
        if isinstance(v, P.Spread):
            kind = t.kind(v)
            keys = [k for k, _ in kind.items] if isinstance(kind, K.Dict) else None
            if keys is None:
                raise _not_counted(t)
            named |= {str(k): o for k, o in zip(keys, _items(t, v), strict=True)}
        elif isinstance(v, P.OPERANDS):
            named[n] = v
    return plain, named


def _items(t: Tangents, spread: P.Spread) -> list[Operand]:
    """Return the items of what is spread; they have tangents where that has one."""
    kind, whole = t.kind(spread), spread.value
    if not isinstance(kind, K.Tuple | K.Dict):
        raise _not_counted(t)
    made = t.maker(whole) if isinstance(whole, Var) else None
    if made is not None and made.primitive is L.TUPLE:
        if not any(isinstance(o, P.Spread) for o in made.operands):
            return list(made.operands)
    pairs = enumerate(kind.items) if isinstance(kind, K.Tuple) else kind.items
    found: list[Operand] = []
    for key, item in pairs:
        out = t.emit(L.ITEM, (whole, P.Const(key)), item)
        if t.has(whole) and K.differentiable(item):
            t.of[out] = t.emit(L.ITEM, (t.maybe(whole), P.Const(key)), tangent_kind(item))
        found.append(out)
    return found


def _not_counted(t: Tangents) -> Error:
    return t.cannot(
        "s2sad does not know how many arguments are given with a star here.",
        "Write the arguments out, or give a tuple of them.",
    )


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


def by_method(t: Tangents, op: Op) -> bool:
    """Say whether an operator, an index or an attribute calls a function of the user's class."""
    node = call_node(t, op) if op.primitive.form in EXPRESSIONS else None
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
    """Return the expression that an operation stands for, if it is all that its statement binds.

    That is the last of its form; what stands before it computes parts of it.
    """
    node = getattr(op.origin, "value", None)
    if t.table.facts.last.get((op.origin, op.primitive.form)) is not op:
        return None
    if op.primitive.form in EXPRESSIONS:
        return node if isinstance(node, EXPRESSIONS[op.primitive.form]) else None
    if not isinstance(node, gast.Call):
        return None
    of_method = op.primitive.form == "method"
    return node if isinstance(node.func, gast.Attribute) or not of_method else None


def _brought(t: Tangents, value: object, callee: Operand) -> tuple[Operand, ...]:
    """Return what a bound method, a partial, or an object that is called, brings along."""
    if isinstance(value, functools.partial):
        inner: tuple[Operand, ...] = ()
        if _brings(value.func):
            inner = _brought(t, value.func, t.emit(L.field("func"), (callee,), K.UNKNOWN))
        held = t.emit(L.field("args"), (callee,), K.UNKNOWN)
        kinds = [K.kind_of(v, "bound") for v in value.args]
        own = [t.emit(L.ITEM, (held, P.Const(i)), kind) for i, kind in enumerate(kinds)]
        return (*inner, *own)
    written = registry.written_form(value)
    if written is not None:
        return tuple(t.emit(L.field(word), (callee,), K.UNKNOWN) for word in written[1])
    if inspect.ismethod(value) or is_decorated(value):
        return (t.emit(L.field("__self__"), (callee,), K.UNKNOWN),)
    return (callee,)


def _brings(value: object) -> bool:
    """Say whether what is called brings arguments along."""
    known = unwrap(value)
    return known is not None and bool(known.args)


def _brought_by_name(
    t: Tangents, value: object, callee: Operand, given: Mapping[str, Operand]
) -> dict[str, Operand]:
    """Return what a partial brings along by name, and the call does not give."""
    if not isinstance(value, functools.partial):
        return {}
    words = [n for n in value.keywords if n not in given]
    held = t.emit(L.field("keywords"), (callee,), K.UNKNOWN)
    kinds = [K.kind_of(value.keywords[n], n) for n in words]
    pairs = zip(words, kinds, strict=True)
    return {n: t.emit(L.ITEM, (held, P.Const(n)), kind) for n, kind in pairs}


def captured_here(t: Tangents, word: str, kind: Kind) -> Operand:
    """Return what a name of the caller means where an inner function that captures it is called."""
    cell = t.table.facts.cells.get(word)
    if cell is None and word in t.env:
        return t.env[word]
    if cell is None:
        raise t.cannot(
            f"s2sad cannot tell what `{word}` is where the inner function is called.",
            "Pass it to the function as an argument.",
        )
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
        raise t.cannot(
            f"s2sad cannot read this call of {name_of(call.fn)}.",
            "Call it by its name, with plain arguments: adjoint_hook(x, fn), stop_gradient(x).",
        )
    everything = {**call.given, **call.extra}
    active = tuple(p for p, o in everything.items() if any(map(t.has, parts_of(o))))
    active = tuple(p for p in active if not _stays_empty(t, call, p, everything[p]))
    (out,) = op.outs
    stores = getattr(getattr(call.fn, "node", None), "stores", None)
    if stores is not None:
        t.add(op)
        _stored(t, op, call, stores)
        return
    if getattr(getattr(call.fn, "node", None), "makes", None) is not None:
        if table.refs.function(runtime.object_of) != OBJECT_OF:
            raise InternalError(f"the name {OBJECT_OF} is taken")
    if not active:
        t.add(op)
        if table.carries(out):
            give_zeros(t, out)
        return
    written = {p.object for p in op.writes if isinstance(p.object, Var)}
    hit = [v for v in written if v in t.of]
    if not all(_is_given(t, op, v, everything) for v in hit):
        raise t.cannot(
            f"{name_of(call.fn)}, which is called here, changes memory that it is not given.",
            "Pass the memory to the function as an argument.",
        )
    if table.backward:
        t.add(op)
        _noted(t, op, call, active, hit)
        return
    refuse_rebinding(t, op, call)
    assert isinstance(table.strong, Pushed)
    met = table.strong.arrivals.get(out, Met())
    found = forward_function(table.derivation, call, active, met, table.carries(out))
    refuse_caught(t, found.raises, t.caught)
    table.raised.append(found.raises)
    table.derivation.called.setdefault(found.name, (table.facts.analysed, op.origin))
    name = P.Outer(found.name, K.UNKNOWN)
    plain = call.plain
    extra = tuple(call.extra.items())
    dots = tuple(
        (dot, _tangent(t, everything[p])) for dot, p in zip(found.dots, active, strict=True)
    )
    operands: tuple[Operand, ...] = (name, *plain)
    settings: tuple[tuple[str, Operand], ...] = (*call.named.items(), *extra, *dots)
    if found.bare and not call.named and not extra and len(plain) == len(call.params):
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


def _stays_empty(t: Tangents, call: UserCall, parameter: str, given: Given) -> bool:
    """Say whether a list or dict is made for a call alone, and never holds a derivative there."""
    loose = isinstance(given, Var) and t.table.is_temporary(given)
    made = t.maker(given) if isinstance(given, Var) and loose else None
    if made is None or made.primitive.form not in ("list", "dict") or made.operands:
        return False
    callee = analyse(t.table.derivation, call.fn, call.params, tuple(call.extra))
    kind = all_kinds(callee.kinds).get(parameter, K.UNKNOWN)
    return not may_hold(kind)


def _is_given(t: Tangents, op: Op, v: Var, given: Mapping[str, Given]) -> bool:
    """Say whether a variable that a call writes is given to it, by its own name or by another."""
    operands = [o for g in given.values() for o in parts_of(g)]
    if v in operands:
        return True
    names = {n for o in operands for n in roots_of(o, t.maker)}
    own = roots_of(v, t.maker)
    return not names.isdisjoint(
        own.union(*(t.table.facts.aliases.sharing(op.origin, n) for n in own))
    )


def roots_of(operand: Operand, maker: Callable[[Var], P.Operation | None]) -> set[str]:
    """Return the names of the memory that an operand is, or is a part of, by what has made it."""
    v = P.variable(operand)
    if v is None or K.shares_nothing(v.kind):
        return set()
    made = maker(v)
    if v.name or not isinstance(made, Op):
        return {v.name}
    return {n for o in P.operands(made) for n in roots_of(o, maker)}


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
    both, saved = Var("", K.UNKNOWN), Var(f"{name_of(noted.call.fn)}_saved", K.UNKNOWN)
    operands = (P.Outer(name, K.UNKNOWN), *plain)
    settings = (*noted.call.named.items(), *extra)
    made = Op((both,), L.CALL, operands, settings, op.reads, op.writes, op.origin)
    taken = Op((*op.outs, saved), L.UNPACK, (both,), (), (), (), op.origin)
    return (made, taken), saved


def refuse_rebinding(t: Tangents, op: Op, call: UserCall) -> None:
    """Refuse a call of an inner function that binds names of the caller anew: it gets values."""
    inner = rebound(call.fn.node) if isinstance(call.fn, K.LocalFunction) else set()
    if inner & call.extra.keys():
        raise t.table.cannot(
            op.origin,
            f"{name_of(call.fn)}, which is called here, rebinds `{min(inner)}`; s2sad "
            "cannot follow that yet.",
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
        raise t.undecided(out.kind)
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
