"""Forward mode: a function and its callees become functions of values and tangents.

    f(x, n)       ->   f_jvp(x, n, x_dot)       returns the value and its tangent
    y = g(a, b)   ->   y, y_dot = g_jvp(a, b, a_dot)

A called function is derived once per pattern of kinds and activities.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import runtime
from s2sad.capture.construct import OBJECT_OF
from s2sad.causes import Story
from s2sad.errors import InternalError
from s2sad.facts.activity import activity
from s2sad.facts.alias import argument
from s2sad.facts.fence import fence
from s2sad.facts.given import written_parameters
from s2sad.facts.kinds_by_name import name_kinds
from s2sad.facts.memory import rebound
from s2sad.facts.order import order_matters
from s2sad.kinds import Kind
from s2sad.known.callees import Callees
from s2sad.known.lifted import space_in
from s2sad.known.pieces import of_slices
from s2sad.modes.guarded import Site
from s2sad.modes.handed import Called, FunctionVjp
from s2sad.modes.pushes import is_fresh
from s2sad.modes.raising import ANYTHING, Raised
from s2sad.modes.shadows import define_with
from s2sad.modes.tangents import Tangents
from s2sad.modes.twins import hands_on
from s2sad.names import Names
from s2sad.nodes import (
    Block,
    Node,
    all_inside,
    assign,
    assign_tuple,
    attribute,
    block_writes,
    blocks_of,
    call,
    clone,
    constant,
    name,
    names_read,
    names_written,
    rename,
    subscript,
    tuple_,
)
from s2sad.polish.algebra import simplify
from s2sad.polish.effects import EffectTable, root
from s2sad.polish.guards import guards
from s2sad.polish.integers import outside_kinds
from s2sad.polish.propagate import propagated
from s2sad.polish.prune import prune, pruned, tidy
from s2sad.polish.rounds import rounds
from s2sad.polish.settle import whole
from s2sad.polish.turns import turns
from s2sad.stages import Activity, Met
from s2sad.steps.abreast import Abreast
from s2sad.steps.calls import (
    active_parameters,
    call_of,
    refuse_ours,
    refuse_shared_arguments,
)
from s2sad.steps.derivation import (
    Analysed,
    Derivation,
    analyse,
    analysis_key,
    memory_of,
)
from s2sad.steps.finish import borrowed, homes_of_temps, pinned
from s2sad.steps.handed import Writers, function_vjp
from s2sad.steps.pairs import Pair, Target
from s2sad.steps.parts import title_of
from s2sad.steps.purity import Purity, callees_in
from s2sad.steps.shadows import bound_anew
from s2sad.steps.strong import pushed_of
from s2sad.steps.targets import find_target, target_name
from s2sad.steps.within import stop_word


@dataclass
class Push(Pair):
    """A function of values and tangents; `raises` is what its tangents alone may raise."""

    raises: Raised = ANYTHING


def jvp_entry(
    d: Derivation, a: Analysed, request: Any, entry: str, copies: Block, writers: Writers
) -> Node:
    """Return f_jvp(*args, *tangents), which gives the value and its tangent."""
    facts = activity_of(d, a, request.wrt, True, request.has_aux)
    named_to_the_end(d, a, facts, {*request.wrt} - {s.targets[0].id for s in copies})
    fence(a.function, a.kinds, facts, memory_of(d, a), request.constant, forward=True)
    worker = _worker(d, a, facts, request.wrt, writers)
    worker.pushes.assume = d.assume
    if request.has_aux:
        worker.pushes.aux_result = a.function.result
    own: Block = list(copies)
    for s in copies:
        p = s.targets[0].id
        if p in request.wrt:
            own.append(_own_tangent(d, worker, p))
    body = own + _body(worker, request.wrt)
    value = name(a.function.result)
    tangent = _tangent_of_result(worker)
    kind = a.kinds.result
    result: list[Node] = [value, tangent]
    if request.has_aux:
        result = [
            subscript(value, constant(0)),
            subscript(tangent, constant(0)),
            subscript(clone(value), constant(1)),
        ]
    elif isinstance(kind, K.Array) and not kind.rank:
        result[1] = call(f"{d.refs.space(kind.namespace)}.asarray", tangent)
    given = _given(d, worker, request.wrt)
    body = _polished(d, a, worker, [*body, gast.Return(tuple_(result))])
    d.told[a] = Story(facts, request.wrt)
    doc = doc_of(d, a, request.wrt)
    return define_with(a.function.node, entry, doc, body, list(given))


def named_to_the_end(d: Derivation, a: Analysed, facts: Activity, shadowed: set[str]) -> None:
    """Refuse a parameter that is written and has lost its name: its tangent is the caller's.

    Where the new value is made of the old one (`A = A * 2.0`), and nothing else writes the memory,
    its tangent is there.
    """
    memory, body = memory_of(d, a), a.function.node.body
    pairs = memory.aliases.pairs_after
    written = frozenset().union(*written_parameters(a.function, a.kinds, memory))
    touched = frozenset().union(*memory.aliases.touched.values())
    for p in sorted(written & shadowed & block_writes(body)):
        for s in all_inside(body):
            bound = s in pairs and p in names_written(s)
            if not bound or argument(p) in pairs[s].get(p, ()):
                continue
            others = {n for n, known in pairs[s].items() if argument(p) in known} - {p}
            made = isinstance(s, gast.Assign) and p in names_read(s.value)
            if not made or p not in facts.useful_after[s] or others & touched:
                raise bound_anew(a, p)


def _given(d: Derivation, worker: Tangents, active: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the tangents of some parameters, as parameters."""
    dots = [worker.dot(p) for p in active]
    if not d.abreast:
        return tuple(dots)
    for dot in dots:
        if dot not in worker.lists:
            worker.lists[dot] = worker.names.fresh(f"{dot}s")
    return tuple(worker.lists[dot] for dot in dots)


def activity_of(
    d: Derivation, a: Analysed, active: tuple[str, ...], seeded: bool, has_aux: bool = False
) -> Activity:
    """Return which variables are active; what is written for the caller is a result, too."""
    memory = memory_of(d, a)
    arrays, others = written_parameters(a.function, a.kinds, memory)
    results = frozenset(p for p in active if p in arrays | others)
    if seeded:
        results |= {a.function.result}
    return activity(a.function, a.kinds, frozenset(active), memory, has_aux, results)


def _worker(
    d: Derivation,
    a: Analysed,
    facts: Activity,
    active: tuple[str, ...],
    writers: Writers,
    met: Met = Met(),  # noqa: B008
    followed: bool = False,
) -> Tangents:
    """Return what writes the tangents of a function; its parameters have the names they keep.

    Their tangents may be what is `met`; the caller may write what the result shares memory with, if
    it is `followed`.
    """
    memory = memory_of(d, a)

    def calls(site: Site, wanted: frozenset[str]) -> tuple[Block, bool] | None:
        return _call(d, a, worker, site, wanted, writers)

    def handed(site: Site, node: Node, how: Called) -> FunctionVjp:
        return function_vjp(d, a, worker, site, node, how, writers)

    names = local_names(a, d)
    worker = Tangents(a.function, a.kinds, facts, d.refs, names, memory.aliases, calls)
    worker.order_matters = lambda s: order_matters(s, a.function, a.kinds, memory.aliases)
    worker.pushes.function_vjp = handed
    worker.stop = stop_word(d)
    worker.rebinding = memory.rebinding
    worker.strong = pushed_of(d, a, facts, frozenset(active), met)
    worker.pushes.assume = of_slices(worker.pushes.assume)
    worker.find_twins(frozenset(active), followed)
    given = a.kinds.before.get(a.function.node.body[0], {})
    for p in active:
        worker.note(p, given.get(p, K.UNKNOWN))
    worker.bound = set(a.function.params)
    return worker


def local_names(a: Analysed, d: Derivation) -> Names:
    """Return a supply of names for one derived function."""
    names = Names(a.function.locals)
    names.take(*d.refs.modules, *d.refs.functions)
    names.take(*a.scope.fn.__code__.co_names, *a.scope.fn.__code__.co_freevars)
    return names


def _body(worker: Tangents, active: tuple[str, ...]) -> Block:
    """Return the statements of a function, with what sets up twins of what nobody gave one."""
    function = worker.function
    *body, last = function.node.body
    start: Block = []
    given = worker.kinds.before.get(body[0] if body else last, {})
    for p in function.params:
        kind = given.get(p, K.UNKNOWN)
        if p in worker.twinned and p not in active and K.differentiable(kind):
            start += worker.zero(p, kind, function.node)
    return [*start, *worker.block(body)]


def _tangent_of_result(worker: Tangents) -> Node:
    function = worker.function
    result = function.result
    if result in worker.live:
        return name(worker.dot(result))
    kind = worker.kinds.result
    if not K.differentiable(kind):
        return gast.Constant(None, None)
    return worker.zeros.zero(name(result), kind)


def _own_tangent(d: Derivation, worker: Tangents, parameter: str) -> Node:
    """Return a copy of a tangent whose memory the function writes: the caller's stays."""
    held = worker.dot(parameter)
    if parameter in worker.laid:
        helper = d.refs.function(runtime.laid_like)
        return assign(held, call(helper, name(held), name(parameter)))
    if isinstance(worker.dot_kinds.get(held), K.Array):
        return assign(held, call(attribute(name(held), "copy")))
    return assign(held, call(d.refs.function(runtime.private), name(held)))


# calls


def _call(
    d: Derivation,
    a: Analysed,
    worker: Tangents,
    site: Site,
    wanted: frozenset[str],
    writers: Writers,
) -> tuple[Block, bool] | None:
    """Return what a call of a user's function becomes, and whether its result has a tangent.

    None where the call is a library's: then its rule answers; no statements where it stays.
    """
    s = site.statement
    target = find_target(a, s, site.node)
    if target is None:
        return None
    active = active_parameters(target, wanted)
    memory = memory_of(d, a)
    written = memory.aliases.touched.get(s, frozenset())
    if not active or (site.node in memory.stopping and not written):
        return [], False
    refuse_ours(target, s, worker.refuse)
    inner = rebound(target.fn.node) if isinstance(target.fn, K.LocalFunction) else set()
    if inner & {captured for captured, _ in target.extra}:
        raise worker.refuse(
            s,
            f"{target_name(target)}, which is called here, rebinds `{min(inner)}`; s2sad "
            "cannot follow that in forward mode yet.",
            "Return the new value, and assign it where the function is called.",
        )
    bound = s.targets[0] if isinstance(s, gast.Assign) else None
    if bound is not None and not isinstance(bound, gast.Name):
        raise worker.refuse(
            s, "s2sad cannot differentiate this call in forward mode yet.", "Name it."
        )
    if isinstance(s, gast.AugAssign):
        bound = s.target
    stores = getattr(getattr(target.fn, "node", None), "stores", None)
    if stores is not None and bound is not None:
        return _stored(worker, site, target, stores, bound.id), True
    if getattr(getattr(target.fn, "node", None), "makes", None) is not None:
        if d.refs.function(runtime.object_of) != OBJECT_OF:
            raise InternalError(f"the name {OBJECT_OF} is taken")
    if written:
        refuse_shared_arguments(a.kinds, s, target, memory.aliases, worker.refuse)
    met = worker.strong.arrivals.get(s, Met())
    followed = bound is not None and bound.id in worker.twinned
    pair = _pair_for(d, target, active, bound is not None, writers, met, followed)
    d.called.setdefault(pair.forward, (a, s))
    worker.see_raised(s, pair.raises)
    made = call_of(site.node, target, pair)
    tangents = [_argument(worker, target.args[p], target.params[p]) for p in active]
    plain = not made.keywords and pair.bare and len(made.args) == len(target.params)
    if plain:
        made.args += tangents
    else:
        made.keywords += [gast.keyword(k, t) for k, t in zip(pair.passed, tangents, strict=True)]
    if bound is None:
        return [gast.Expr(made)], False
    if not pair.seeded:
        return [assign(bound.id, made)], False
    return [assign_tuple([bound.id, worker.dot(bound.id)], made)], True


def _argument(worker: Tangents, arg: Any, kind: Kind) -> Node:
    """Return the tangent of what a parameter is given."""
    worker.pushes.wanted = frozenset(worker.live)
    if isinstance(arg, tuple):
        kinds = kind.items if isinstance(kind, K.Tuple) else ()
        return tuple_(_argument(worker, x, k) for x, k in zip(arg, kinds, strict=True))
    if isinstance(arg, dict):
        kinds_of = dict(kind.items) if isinstance(kind, K.Dict) else {}
        keys: list[Node] = [gast.Constant(k, None) for k in arg]
        return gast.Dict(keys, [_argument(worker, x, kinds_of[k]) for k, x in arg.items()])
    if isinstance(arg, gast.Subscript) and worker.pushes.has(arg.value):
        return subscript(name(worker.dot(arg.value.id)), clone(arg.slice))
    if worker.pushes.has(arg):
        return name(worker.dot(arg.id))
    return worker.nothing(clone(arg), kind)


def _stored(
    worker: Tangents, site: Site, target: Target, stores: dict[str, str], variable: str
) -> Block:
    """An object that only stores what it was made of has a tangent made of theirs."""
    primal = assign(variable, clone(site.node))
    fields: dict[str, Node] = {}
    known = dict(site.kind.fields) if isinstance(site.kind, K.Obj) else {}
    for f, kind in known.items():
        p = stores.get(f)
        if p in target.args:
            fields[f] = _argument(worker, target.args[p], target.params[p])
        else:
            fields[f] = worker.nothing(attribute(name(variable), f), kind)
    helper = worker.refs.function(runtime.object_of)
    made = call(helper, call("type", name(variable)), **fields)
    return [primal, assign(worker.dot(variable), made)]


def _pair_for(
    d: Derivation,
    target: Target,
    active: tuple[str, ...],
    seeded: bool,
    writers: Writers,
    met: Met = Met(),  # noqa: B008
    followed: bool = False,
) -> Push:
    """Return the function of values and tangents for one pattern of kinds and activities.

    It is one of its own for tangents that are `met` only where that makes a difference, and for a
    result that is `followed`, where the caller's writes reach it or what it is a view of.

    Its `passed` are the names of its tangents; it is `bare` where they can be given by position.
    """
    extra = tuple(p for p, _ in target.extra)
    a = analyse(d, target.fn, target.params, extra)
    facts = activity_of(d, a, active, seeded)
    plain, found = (pushed_of(d, a, facts, frozenset(active), m) for m in (Met(), met))
    places = [(p.guards, p.masked, p.arrivals) for p in (plain, found)]
    met = Met() if places[0] == places[1] else met
    followed = followed and hands_on(a.function, memory_of(d, a).aliases)
    pattern = (active, seeded, met, followed)
    key: Any = ("jvp", analysis_key(target.fn, target.params, extra), *pattern)
    known = d.pairs.get(key)
    if isinstance(known, Push):
        return known
    body = a.function.node.body[:-1]
    seeded = seeded and bool(body) and a.function.result in facts.after(body[-1])
    pair = Push(d.names.fresh(f"{target_name(target)}_jvp"), "", active, seeded=seeded)
    d.pairs[key] = pair
    fence(a.function, a.kinds, facts, memory_of(d, a), frozenset(), forward=True)
    worker = _worker(d, a, facts, active, writers, met, followed)
    pair.passed = _given(d, worker, active)
    args = a.function.node.args
    pair.bare = not (args.defaults or args.vararg or args.kwarg or args.kwonlyargs)
    code = _body(worker, active)
    result = name(a.function.result)
    last: Node = result
    if seeded:
        last = tuple_([result, _tangent_of_result(worker)])
    code = _polished(d, a, worker, [*code, gast.Return(last)], seeded)
    doc = doc_of(d, a, active)
    node = define_with(a.function.node, pair.forward, doc, code, list(pair.passed))
    d.told[a] = Story(facts, active)
    writers.add(d, node, a.function.source.fn, a)
    pair.raises = worker.raised
    pair.done = True
    return pair


# polish


def _polished(
    d: Derivation, a: Analysed, worker: Tangents, body: Block, seeded: bool = True
) -> Block:
    """Put temporaries back, drop what nobody reads, and simplify."""
    body = [s for s in body if s is not None]
    made_up = _made_up(a, body)
    dots = frozenset(worker.dots.values())
    twins = frozenset(worker.dots[n] for n in worker.twinned if n in worker.dots)
    results = worker.handed | {a.function.result}
    handed = frozenset(worker.dots[n] for n in results if n in worker.dots)
    bases = {w.base for w in worker.aliases.writes}
    read_only = {worker.dots[n] for n in a.function.temps - bases if n in worker.dots}
    fixed = (twins - read_only) | pinned(a)
    movable = (a.function.temps | made_up | {a.function.result}) - fixed
    movable -= _made_abreast(d, body)
    pure = Purity(a, d, made_up | dots)
    sharing = _sharing(worker)
    kinds = {**name_kinds(a.kinds), **worker.dot_kinds}
    tangents = dict.fromkeys(made_up - a.function.locals, K.FLOAT) | worker.dot_kinds
    numpy = d.refs.space(space_in(a.kinds))
    homes = homes_of_temps(a)
    outside = outside_kinds(a.kinds.of, a.function.locals)
    callees = callees_in(a, d, kinds, made_up)
    local = made_up - fixed - borrowed(a)
    live_out: frozenset[str] = pinned(a)
    for round_ in range(3):
        body, less = pruned(body, live_out, EffectTable(pure, sharing), local, pinned(a))
        effects = EffectTable(pure, sharing)
        body, other = propagated(body, live_out, movable, effects, dots - fixed)
        if round_ and not less and not other:
            break  # nothing else will change: what is simplified stays as it is
        gone = a.function.temps - block_writes(body)
        there = {n: v for n, v in homes.items() if not names_read(v) & gone}
        simpler = functools.partial(
            simplify, kinds=kinds, numpy=numpy, callees=callees, homes=there, outside=outside
        )
        body = _simplified(body, tangents, simpler, twins | handed, callees)
    else:
        body = prune(body, live_out, EffectTable(pure, sharing), local, pinned(a))
    needless = _Needless(callees)
    body = [needless.visit(s) for s in body]
    _return_by_name(body)
    body = turns(whole(tidy(body)), frozenset(), worker.names.fresh)
    body = guards(rounds(body))
    if not d.abreast:
        return body
    passed = {p.forward: p.passed for p in d.pairs.values() if isinstance(p, Push)}
    users = frozenset(a.function.locals)
    return Abreast(
        {*worker.dots.values(), *worker.spares}, users, worker.names, passed, worker.lists, seeded
    ).write(body)


def _made_abreast(d: Derivation, body: Block) -> frozenset[str]:
    """Return what calls give that take tangents in all directions: those stay statements."""
    found: set[str] = set()
    pushed = {p.forward for p in d.pairs.values() if isinstance(p, Push)} if d.abreast else set()
    for s in all_inside(body):
        if isinstance(s, gast.Assign) and isinstance(s.value, gast.Call):
            if isinstance(s.value.func, gast.Name) and s.value.func.id in pushed:
                found |= names_written(s)
    return frozenset(found)


def _return_by_name(body: Block) -> None:
    """Return a tangent by the name it has: no other one is bound to it for that."""
    if len(body) < 2 or not isinstance(body[-2], gast.Assign):
        return
    (target,), value = body[-2].targets, body[-2].value
    if isinstance(target, gast.Name) and isinstance(value, gast.Name):
        rename(body[-1], {target.id: value.id})
        del body[-2]


class _Needless(gast.NodeTransformer):  # type: ignore[misc]
    """Drops copies of tangents that nobody could tell from what they copy."""

    def __init__(self, callees: Callees) -> None:
        self.callees = callees

    def visit_BinOp(self, node: Node) -> Node:
        node.left, node.right = _uncopied(node.left), _uncopied(node.right)
        return self.generic_visit(node)

    def visit_Call(self, node: Node) -> Node:
        node = self.generic_visit(node)
        inner = _uncopied(node)
        if inner is not node and is_fresh(inner, self.callees):
            return inner
        return node


def _uncopied(node: Node) -> Node:
    """Return the tangent of which a node is a copy, or the node."""
    if not isinstance(node, gast.Call) or node.args or node.keywords:
        return node
    func = node.func
    if not isinstance(func, gast.Attribute) or func.attr != "copy":
        return node
    inner = func.value
    made = isinstance(inner, gast.BinOp | gast.UnaryOp | gast.Call)
    return inner if made or root(inner).endswith("_dot") else node


def _simplified(
    body: Block,
    kinds: dict[str, Kind],
    simplified: Callable[[Block], Block],
    twins: frozenset[str],
    callees: Callees,
) -> Block:
    """Simplify what computes tangents, whose `kinds` are given: values are left to the last bit.

    Arithmetic makes new arrays. Where it comes to nothing, as in `0.5 * x_dot + 0.5 * x_dot`, what
    remains is a copy if x_dot, or what is bound to it, is one of the `twins`: those are written,
    or handed on to the caller.
    """
    out: Block = []
    for s in body:
        parts = blocks_of(s)
        for part in parts:
            part[:] = _simplified(part, kinds, simplified, twins, callees)
        targets = s.targets if isinstance(s, gast.Assign) else [getattr(s, "target", s)]
        known = [kinds.get(root(t)) for t in targets]
        plain = all(k is not None and K.is_numeric(K.without_none(k)) for k in known)
        if parts or not plain:
            out.append(s)
            continue
        binds = isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name)
        new = binds and callees.is_new(s.value)  # what is stored in an array is copied there
        out += simplified([s])
        if new and not callees.is_new(s.value) and not isinstance(known[0], K.Num):
            if (names_read(s.value) | {root(t) for t in targets}) & twins:
                s.value = call(attribute(s.value, "copy"))
    return out


def _made_up(a: Analysed, body: Block) -> frozenset[str]:
    """Return the names that neither the user wrote nor a temporary of theirs holds."""
    own = a.function.locals - a.function.temps
    return frozenset(block_writes(body) - own)


def _sharing(worker: Tangents) -> dict[str, frozenset[str]]:
    """Return who may share memory with what is written, among variables and among twins."""
    found: dict[str, frozenset[str]] = {}
    aliases, local = worker.aliases, worker.function.locals
    touched: frozenset[str] = frozenset().union(*aliases.touched.values())
    for n in touched | aliases.arrays | aliases.slots | worker.twinned:
        others = frozenset(m.split("@")[0] for m in aliases.ever(n)) & local
        found[n] = found.get(n, frozenset()) | others
        for m in others - {n}:
            found[m] = found.get(m, frozenset()) | {n}
        if n in worker.dots:
            held = worker.dots[n]
            dots = frozenset(worker.dots[m] for m in others if m in worker.dots)
            found[held] = found.get(held, frozenset()) | dots
    return found


# words


def doc_of(d: Derivation, a: Analysed, active: tuple[str, ...]) -> str:
    """Return the docstring of a function of values and tangents."""
    what = "tangents" if d.abreast else "tangent"
    given = "tangents" if d.abreast or len(active) > 1 else "tangent"
    where = title_of(d, a.function.source)
    return f"Value and {what} of {where}, given the {given} of {_listed(active)}."


def _listed(names: tuple[str, ...]) -> str:
    if len(names) == 1:
        return names[0]
    return ", ".join(names[:-1]) + " and " + names[-1]
