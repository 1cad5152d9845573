"""Calls of the user's own functions: each is derived once per pattern, as a pair.

    y = g(a, b)                    y, g_saved = g_forward(a, b)
                                   ...
                                   a_bar, b_bar = g_reverse(g_saved, y_bar)

The forward runs g and returns what the reverse reads; parameters that g leaves alone and that the
caller still has are passed by the caller instead of being saved. A function that writes arrays it
is given works on their shadows:

    fill(A, v)                     A_saved = fill_forward(A, v)
                                   ...
                                   v_bar = fill_reverse(A_saved, A_bar)
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import registry, runtime
from s2sad.capture.construct import OBJECT_OF
from s2sad.capture.read import unwrap
from s2sad.derivative import is_decorated
from s2sad.errors import InternalError
from s2sad.facts.given import written_parameters
from s2sad.facts.kinds_by_name import name_kinds
from s2sad.facts.memory import shares_nothing
from s2sad.facts.passing import Lengths
from s2sad.inside import adjoint_hook, stop_gradient
from s2sad.kinds import Kind
from s2sad.known.pieces import Assume, elsewhere, never
from s2sad.modes.again import compute_again
from s2sad.modes.assemble import (
    Parts,
    apart,
    arguments_put_back,
    define,
    outside_of,
    put_back_in,
    puts_back_result,
    result_of,
    wrapped,
)
from s2sad.modes.guarded import Site
from s2sad.modes.outside import kept_copies, with_copies
from s2sad.modes.reverse import Reverse
from s2sad.modes.storage import bind_unbound
from s2sad.modes.structured import Contribution
from s2sad.modes.writes import laid_out
from s2sad.nodes import (
    Block,
    Node,
    assign,
    assign_tuple,
    attribute,
    block_writes,
    call,
    clone,
    constant,
    copied,
    name,
    names_read,
    names_written,
    operands,
    subscript,
    tuple_,
)
from s2sad.polish.prune import tidy
from s2sad.stages import Aliases, Arrival, Comment, KindFacts
from s2sad.steps.binding import bind_kinds, made_by
from s2sad.steps.callables import signature_of
from s2sad.steps.derivation import (
    Analysed,
    Derivation,
    analyse,
    analysis_key,
    memory_of,
)
from s2sad.steps.pairs import Pair, Target
from s2sad.steps.recompute import check_repeatable, runs_again
from s2sad.syntax.flow import live_in

PartsOf = Callable[..., Any]


def user_call(
    d: Derivation,
    a: Analysed,
    worker: Reverse,
    site: Site,
    varied: frozenset[str],
    build: Callable[..., None],
) -> tuple[Block, list[Contribution], Any] | None:
    """Return what a call of a user's function passes back, and the call that replaces it.

    None where the call is a library's: then its rule answers. `build` writes a missing pair.
    """
    target = find_target(a, site.statement, site.node)
    if target is None:
        return None
    active = active_parameters(target, varied)
    if not active:
        return [], [], None
    refuse_ours(target, site.statement, worker.refuse)
    stores = getattr(getattr(target.fn, "node", None), "stores", None)
    if stores is not None:
        found = _stored(site, target, stores)
        return [], [c for c in found if c.operand in varied], None
    if getattr(getattr(target.fn, "node", None), "makes", None) is not None:
        if d.refs.function(runtime.object_of) != OBJECT_OF:
            raise InternalError(f"the name {OBJECT_OF} is taken")
    supplied = frozenset(
        p for p, arg in target.args.items() if isinstance(arg, gast.Name | gast.Constant)
    )
    arrival = worker.zeros.arrivals.get(site.statement, Arrival())
    plan = Pair("", "", active, assume=worker.assume)
    again = runs_again(target.fn)
    if again:
        check_repeatable(d, a, target, find_target)
        plan.bare = True
    else:
        plan.lent = lent_by(d, worker, target, supplied)
    pair = pair_for(d, target, plan, supplied, build, arrival)
    d.called.setdefault(pair.reverse, (a, site.statement))
    _nothing_outside(worker, site.statement, target, pair)
    before, found, forward = _turn(a, worker, site, target, pair, again=again)
    return before, [c for c in found if c.operand in varied], forward


def undo_writer(
    d: Derivation,
    a: Analysed,
    worker: Reverse,
    s: Node,
    bar: Node | None,
    build: Callable[..., None],
) -> tuple[Block, list[Contribution]]:
    """Return what undoes a call that writes arrays; `bar` is the cotangent of its result."""
    target = find_target(a, s, s.value)
    if target is not None and runs_again(target.fn):
        check_repeatable(d, a, target, find_target)
    if target is None:
        raise worker.refuse(
            s,
            "An array on which the result depends goes into a call that writes it, and how its "
            "arguments are bound is not known; that cannot be differentiated yet.",
            "Write the arguments out.",
        )
    _check_apart(worker, s, target)
    varied = worker.activity.varied_before.get(s, frozenset())
    shadows = shadows_of(d, target, worker.activity.varied_after.get(s, frozenset()))
    active = tuple(p for p in active_parameters(target, varied) if p not in shadows)
    if not active and not shadows:
        return [], []
    supplied = frozenset(
        p for p, arg in target.args.items() if isinstance(arg, gast.Name | gast.Constant)
    )
    arrival = worker.zeros.arrivals.get(s, Arrival())
    plan = Pair("", "", active, shadows, bar is not None, isinstance(s, gast.Expr))
    plan.assume = worker.assume
    plan.lent = lent_by(d, worker, target, supplied)
    pair = pair_for(d, target, plan, supplied, build, arrival)
    worker.made_by_calls.add(pair.reverse)
    worker.pairs[s] = pair
    d.called.setdefault(pair.reverse, (a, s))
    _nothing_outside(worker, s, target, pair)
    out: Block = []
    before = a.kinds.before[s]
    given = [target.args[p].id for p in pair.shadows]
    for n in given:
        if worker.turned(n) is not None:
            raise worker.refuse(
                s,
                f"`{n}` is the imaginary part of an array, and this call writes it; that cannot "
                "be differentiated yet.",
                "Give it the array, or write there what it returns.",
            )
        out += worker.ensure(n, before.get(n, K.UNKNOWN), s)
    kind = a.kinds.of.get(s.value, K.UNKNOWN)
    site = Site(s, s.value, name("@"), bar if bar is not None else name("@"), kind)
    shared = [name(worker.bar(n)) for n in given]
    pre, found, forward = _turn(a, worker, site, target, pair, shared)
    if forward is not None:
        worker.replaced[s] = forward
    return [*out, *pre], [c for c in found if c.operand in varied]


def refuse_ours(target: Target, s: Node, refuse: Callable[..., Exception]) -> None:
    """Refuse a call of what means something to derivatives, where it is not seen what it means."""
    if target.fn in (stop_gradient, adjoint_hook):
        raise refuse(
            s,
            f"This call of {target.fn.__name__} cannot be read.",
            "Call it by its name, with plain arguments: adjoint_hook(x, fn), stop_gradient(x).",
        )


def _nothing_outside(worker: Reverse, s: Node, target: Target, pair: Pair) -> None:
    """Refuse a call whose reverse would put old content back into memory outside."""
    outside = {w.base for w in worker.aliases.writes if w.statement is s and worker.outside(w)}
    for p in sorted(pair.puts_back if pair.puts_back is not None else target.params):
        for n in sorted(roots(target.args.get(p)) & outside):
            if not K.shares_nothing(target.params[p]):
                raise worker.refuse(
                    s,
                    f"`{n}` is, or holds, memory outside of the function, which the called one "
                    "writes and reads; that cannot be differentiated yet.",
                    "Give it a copy.",
                )


def lent_by(
    d: Derivation, worker: Reverse, target: Target, supplied: frozenset[str]
) -> frozenset[str]:
    """Return the parameters that a call may give memory which is not the derivative's own.

    That matters where the reverse runs later, and again.
    """
    if not d.reusable:
        return frozenset()
    local = worker.function.locals
    given = {f"{p}@arg" for p in worker.lent_to}
    found: set[str] = set()
    for p, kind in target.params.items():
        if K.shares_nothing(kind):
            continue
        names = roots(target.args.get(p))
        reached = names.union(*(worker.aliases.ever(n) for n in names))
        outside = {n for n in reached if "@" not in n} - local
        if not names or p not in supplied or outside or reached & given:
            found.add(p)
    return frozenset(found)


def _check_apart(worker: Reverse, s: Node, target: Target) -> None:
    """Refuse arguments that share memory of which one is written: the pair knows nothing of it."""
    refuse_shared_arguments(worker.kinds, s, target, worker.aliases, worker.refuse)


def refuse_shared_arguments(
    facts: KindFacts, s: Node, target: Target, aliases: Aliases, refuse: Callable[..., Exception]
) -> None:
    """Refuse arguments that share memory of which the called function writes one."""
    before = facts.before.get(s, {})
    for w in aliases.writes:
        if w.statement is not s or w.how != "call":
            continue
        shared = aliases.sharing(s, w.base)
        given = [roots(arg) for arg in target.args.values()]
        hit = {n for r in given for n in r & shared if not shares_nothing(before.get(n, K.UNKNOWN))}
        twice = sum(w.base in r for r in given) > 1
        if hit - {w.base} or twice:
            other = min(hit - {w.base}) if hit - {w.base} else w.base
            raise refuse(
                s,
                f"`{w.base}`, which this call writes, and `{other}` may share memory; both are "
                "arguments. That cannot be differentiated yet.",
                f"Give the call a copy: {other}.copy().",
            )


def shadows_of(d: Derivation, target: Target, varied: frozenset[str]) -> tuple[str, ...]:
    """Return the parameters that a called function writes and that carry derivatives after it."""
    callee = analyse(d, target.fn, target.params, tuple(p for p, _ in target.extra))
    arrays, _ = written_parameters(callee.function, callee.kinds, memory_of(d, callee))
    return tuple(
        p
        for p in target.params
        if p in arrays and K.differentiable(target.params[p]) and roots(target.args.get(p)) & varied
    )


def _stored(site: Site, target: Target, stores: dict[str, str]) -> list[Contribution]:
    """An object that only stores what it was made of hands the cotangents of its attributes on."""
    found: list[Contribution] = []
    for f, p in stores.items():
        if p in target.args and K.differentiable(target.params[p]):
            found += _pass_on(target.args[p], attribute(clone(site.bar), f))
    return found


def active_parameters(target: Target, varied: frozenset[str]) -> tuple[str, ...]:
    """Return the parameters to which a call gives what varies."""
    return tuple(
        p
        for p in target.params
        if K.differentiable(target.params[p]) and roots(target.args.get(p)) & varied
    )


def find_target(a: Analysed, statement: Any, node: Any) -> Target | None:
    """Return the user's function that an expression calls, with its arguments bound."""
    env = a.kinds.before[statement]
    method = a.kinds.methods.get(node)
    args = list(node.args) if isinstance(node, gast.Call) else []
    keywords = node.keywords if isinstance(node, gast.Call) else []
    if method is not None:
        fn, owner = method
        kind: Kind = K.Known(fn)
        args = [owner, *operands(node, owner)]
    elif isinstance(node, gast.Call):
        kind = a.kinds.of.get(node.func, K.UNKNOWN)
        kind = made_by(kind)
        if isinstance(kind, K.Known) and _is_library(kind.value):
            return None
    else:
        return None
    if not isinstance(kind, K.Known | K.LocalFunction):
        return None
    given = _spread(args, a.kinds.of)
    named = {k.arg: k.value for k in keywords}
    if given is None or None in named:
        return None
    kinds = [_kind_of(g, a.kinds.of) for g in given]
    known: Lengths = {}
    bound = bind_kinds(kind, kinds, {k: a.kinds.of[v] for k, v in named.items()}, env, known)
    if bound is None:
        return None
    fn, params, extra = bound
    leading = _leading(kind, node)
    whole = _named(kind, node, named)
    nodes = _bind_nodes(fn, [*leading, *given], whole)
    if nodes is None:
        return None
    for p, local in extra:
        nodes[p] = name(local)
    brought = tuple((k, v) for k, v in whole.items() if k not in named)
    lengths = {new.symbol: K.Dim(*place) for place, new in known.items() if not new.cut}
    return Target(fn, params, nodes, extra, tuple(leading), brought, lengths)


def _is_library(value: Any) -> bool:
    if value is dataclasses.replace or value is runtime.object_of or isinstance(value, type):
        return True
    return registry.rule_for(value) is not None or unwrap(value) is None


def _spread(args: list[Node], kinds: Any) -> list[Node] | None:
    """Return positional arguments with *tuple spread into its items."""
    out: list[Node] = []
    for arg in args:
        if not isinstance(arg, gast.Starred):
            out.append(arg)
            continue
        kind = kinds.get(arg.value)
        if not isinstance(kind, K.Tuple) or not isinstance(arg.value, gast.Name):
            return None
        for i, item in enumerate(kind.items):
            part = subscript(clone(arg.value), constant(i))
            part.kind_of_item = item
            out.append(part)
    return out


def _kind_of(node: Node, kinds: Any) -> Kind:
    item = getattr(node, "kind_of_item", None)
    if item is not None:
        return item  # type: ignore[no-any-return]
    return kinds.get(node, K.UNKNOWN)  # type: ignore[no-any-return]


def _leading(kind: Kind, node: Node) -> list[Node]:
    """Return expressions for the arguments that a bound method or a partial brings along."""
    if not isinstance(kind, K.Known) or not isinstance(node, gast.Call):
        return []
    return _brought(kind.value, node.func)


def _brought(value: Any, func: Node) -> list[Node]:
    """Return expressions for what a callable, that an expression stands for, brings along."""
    if isinstance(value, functools.partial):
        places = map(constant, range(len(value.args)))
        own = [subscript(attribute(clone(func), "args"), place) for place in places]
        return [*_brought(value.func, attribute(clone(func), "func")), *own]
    written = registry.written_form(value)
    if written is not None:
        return [_attribute_of(func, attr) for attr in written[1]]
    callee = unwrap(value)
    if callee is None or not callee.args:
        return []
    if len(callee.args) == 1 and (inspect.ismethod(value) or is_decorated(value)):
        return [attribute(clone(func), "__self__")]
    return [clone(func)]


def _attribute_of(func: Node, attr: str) -> Node:
    """Return an attribute of what is called: `np.hypot` of `np.hypot.reduce`."""
    if attr == "__self__" and isinstance(func, gast.Attribute):
        return clone(func.value)
    return attribute(clone(func), attr)


def _named(kind: Kind, node: Node, named: dict[str, Node]) -> dict[str, Node]:
    if isinstance(kind, K.Known) and isinstance(kind.value, functools.partial):
        table = attribute(clone(node.func), "keywords")
        brought = {k: subscript(clone(table), constant(k)) for k in kind.value.keywords}
        return {**brought, **named}
    return named


def _bind_nodes(fn: Any, args: list[Node], named: dict[str, Node]) -> dict[str, Any] | None:
    signature = signature_of(fn)
    if signature is None:
        return None
    try:
        bound = signature.bind(*args, **named)
    except TypeError:
        return None
    return dict(bound.arguments)


def roots(arg: Any) -> set[str]:
    """Return the variables that an argument is made of."""
    if isinstance(arg, tuple):
        return set().union(*(roots(x) for x in arg), set())
    if isinstance(arg, dict):
        return set().union(*(roots(x) for x in arg.values()), set())
    if isinstance(arg, gast.Name):
        return {arg.id}
    if isinstance(arg, gast.Subscript) and isinstance(arg.value, gast.Name):
        return {arg.value.id}
    return set()


def _turn(
    a: Analysed,
    worker: Reverse,
    site: Site,
    target: Target,
    pair: Pair,
    shadows: Sequence[Node] = (),
    again: bool = False,
) -> tuple[Block, list[Contribution], Any]:
    """Return the call of the reverse, its contributions, and the call of the forward.

    If the function is run `again`, the forward stands beside the reverse.
    """
    s = site.statement
    args: list[Node] = []
    forward = None
    if again and (pair.saved or pair.recursive):
        args.append(call_of(site.node, target, pair))
    elif pair.saved or pair.recursive:
        kept = worker.keep(s, f"{target_name(target)}_saved")
        args.append(name(kept))
        forward_call = call_of(site.node, target, pair)
        if pair.bare:
            forward = assign(kept, forward_call)
        else:
            forward = assign_tuple([s.targets[0].id, kept], forward_call)
    args += [clone(target.args[p]) for p in pair.passed]
    args += shadows
    if pair.seeded:
        args.append(clone(site.bar))
    reverse_call = call(pair.reverse, *args)
    found: list[Contribution] = []
    if not pair.active:
        return [gast.Expr(reverse_call)], [], forward
    if len(pair.active) == 1:
        found += _pass_on(target.args[pair.active[0]], reverse_call)
        if len(found) <= 1:
            return [], found, forward
        held = worker.names.fresh(f"{pair.active[0]}_bar")
        return (
            [assign(held, reverse_call)],
            _pass_on(target.args[pair.active[0]], name(held)),
            forward,
        )
    holds = [worker.names.fresh(f"{p}_bar") for p in pair.active]
    for p, held in zip(pair.active, holds, strict=True):
        worker.bar_kinds[held] = target.params[p]
        worker.made_by_calls.add(held)
        found += _pass_on(target.args[p], name(held))
    return [assign_tuple(holds, reverse_call)], found, forward


def target_name(target: Target) -> str:
    """Return the name a reader knows the called function by."""
    if isinstance(target.fn, K.LocalFunction):
        return getattr(target.fn.node, "name", "lambda_")
    label = target.fn.__name__
    if label.startswith("__") and label.endswith("__"):
        label = "_".join([*target.fn.__qualname__.split(".")[-2:-1], label.strip("_")])
    return label if label.isidentifier() else "lambda_"


def _pass_on(arg: Any, value: Node) -> list[Contribution]:
    if isinstance(arg, tuple):
        return [
            c for i, x in enumerate(arg) for c in _pass_on(x, subscript(clone(value), constant(i)))
        ]
    if isinstance(arg, dict):
        return [
            c for k, x in arg.items() for c in _pass_on(x, subscript(clone(value), constant(k)))
        ]
    if isinstance(arg, gast.Name):
        return [Contribution(arg.id, value)]
    if isinstance(arg, gast.Subscript) and isinstance(arg.value, gast.Name):
        return [Contribution(arg.value.id, value, ("item", arg.slice.value))]
    return []


def call_of(node: Node, target: Target, pair: Pair) -> Node:
    """Return a call of what a pair has in a function's place, with the function's arguments."""
    args = list(node.args) if isinstance(node, gast.Call) else []
    keywords = list(node.keywords) if isinstance(node, gast.Call) else []
    leading = list(target.leading)
    if isinstance(node, gast.BinOp | gast.Subscript):
        args = [x for x in target.args.values() if isinstance(x, gast.AST)]
    method = not leading and target.args and not isinstance(target.fn, K.LocalFunction)
    first = next(iter(target.args.values()), None)
    if (
        method
        and isinstance(first, gast.AST)
        and first not in args
        and not any(first is k.value for k in keywords)
        and not _was_spread(first)
    ):
        leading = [first]
    extra = [gast.keyword(p, name(local)) for p, local in target.extra]
    extra += [gast.keyword(k, clone(v)) for k, v in target.brought]
    return gast.Call(
        name(pair.forward),
        [clone(x) for x in [*leading, *args]],
        [*(clone(k) for k in keywords), *extra],
    )


def _was_spread(node: Node) -> bool:
    return hasattr(node, "kind_of_item")


def pair_for(
    d: Derivation,
    target: Target,
    plan: Pair,
    supplied: frozenset[str],
    build: Callable[..., None],
    arrival: Arrival,
) -> Pair:
    """Return the pair of a function for one pattern of kinds and activities: those of a plan."""
    extra = tuple(p for p, _ in target.extra)
    pattern = (plan.active, plan.shadows, plan.seeded, plan.bare, plan.lent, d.reusable)
    key: Any = (analysis_key(target.fn, target.params, extra), pattern, supplied, arrival)
    known = d.pairs.get(key)
    assume = _assumed_by(plan.assume, target)
    if known is not None and not all(map(assume, known.assumed)):
        key, assume = (*key, "whatever the lengths are"), never
        known = d.pairs.get(key)
    if known is not None:
        if not known.done:
            known.recursive = True
        return known
    base = target_name(target)
    forward, reverse = d.names.fresh(f"{base}_forward"), d.names.fresh(f"{base}_reverse")
    pair = dataclasses.replace(plan, forward=forward, reverse=reverse, assumed=set())

    def ask(dim: K.Dim) -> bool:
        sure = not pair.recursive and assume(dim)
        if sure:
            pair.assumed.add(dim)
        return sure

    pair.assume = ask
    pair.arrival = arrival
    d.pairs[key] = pair
    a = analyse(d, target.fn, target.params, extra)
    build(d, a, pair, supplied)
    if pair.recursive and pair.passed:
        raise AssertionError("a recursive pair passes nothing")
    pair.done = True
    return pair


def _assumed_by(caller: Assume, target: Target) -> Assume:
    """Return what a called function may assume of lengths: what its caller may of those it gave."""

    def assume(dim: K.Dim) -> bool:
        known = elsewhere(dim, target.lengths)
        return known is not None and caller(known)

    return assume


def write_pair(
    d: Derivation,
    a: Analysed,
    pair: Pair,
    supplied: frozenset[str],
    parts_of: PartsOf,
    finish: Callable[..., Block],
    add: Callable[..., None],
) -> None:
    """Write the forward and the reverse of one function into the derived module."""
    function = a.function
    bar = f"{function.result}_bar"
    active = (*pair.active, *pair.shadows)

    def parts() -> Parts:
        made: Parts = parts_of(
            d,
            a,
            active,
            name(bar),
            active,
            arrival=pair.arrival,
            shadows=frozenset(pair.shadows),
            seeded=pair.seeded,
            assume=pair.assume,
            lent=pair.lent,
        )
        return made

    pair.spoils = not isinstance(name_kinds(a.kinds).get(function.result), K.Num)
    p = parts()
    if pair.recursive and pair.assumed:
        # What is known of the lengths of the first call need not hold of those in it.
        pair.assumed.clear()
        p = parts()
    bars = list(p.bars)
    shadows = bars[len(pair.active) :]
    extra = p.made_up_names()
    if not pair.recursive:
        p.backward = [*_again(p, supplied), *p.backward]
    backward = finish(
        p,
        [*p.backward, gast.Return(result_of([name(b) for b in bars], len(bars) == 1))],
        frozenset(),
        set(bars),
        extra,
    )
    pair.puts_back = arguments_put_back(p, backward, pair)
    pair.spoils = puts_back_result(p, backward)
    _leave_shadows(backward, len(pair.active), bool(shadows))
    seed = bar
    if pair.seeded and not pair.recursive and not laid_out(p.aliases):
        seed = _used_up(backward, bar)
        pair.consumes = seed != bar
    if d.reusable:
        p.forward = _with_outside_copies(p, backward, pair, supplied, seed)
    local = set(function.locals) | block_writes(p.forward)
    wanted = [
        n for n in sorted(live_in(backward, frozenset())) if n in local and n not in (bar, seed)
    ]
    written = block_writes(p.forward)
    if not pair.recursive:
        pair.passed = tuple(
            n for n in function.params if n in wanted and n in supplied and n not in written
        )
    saved = [n for n in wanted if n not in pair.passed]
    d.told[a] = dataclasses.replace(d.told[a], handed=tuple(saved))
    pair.saved = bool(saved) or pair.recursive
    where = f"{function.source.name} ({_short(function.source.file)}:{_line(function)})"
    if function.source.fn in d.read_as:
        where = d.parts[d.read_as[function.source.fn]].title
    listed = _listed(pair.active) if pair.active else ""
    kept: Node = name(saved[0]) if len(saved) == 1 else tuple_(name(n) for n in saved)
    if pair.saved:
        last = gast.Return(kept if pair.bare else tuple_([name(function.result), kept]))
        forward = [*p.forward, last]
        forward = bind_unbound(forward, set(function.params), set(saved), p.popped(backward))
        forward = finish(p, forward, frozenset(), set(), extra)
        doc = f"{where}, and what {pair.reverse} reads."
        add(d, define(function.node, pair.forward, doc, forward), function.source.fn, a)
    params: list[str] = []
    start: Block = []
    if pair.saved:
        if len(saved) == 1:
            params.append(saved[0])
        else:
            given = p.names.fresh("kept")
            params.append(given)
            start = [assign_tuple(saved, name(given))] if saved else []
    params += [*pair.passed, *shadows, *([seed] if pair.seeded else [])]
    if d.reusable:
        start += _for_another_call(p, backward, set(saved) | set(pair.passed))
    doc = f"Cotangent of {listed} of {where}, from that of its result."
    if pair.consumes:
        doc = f"Cotangent of {listed} of {where}, from that of its result, which is used up."
    if pair.shadows:
        doc = _doc_of_writer(pair, shadows, where)
    args = gast.arguments(
        [gast.Name(n, gast.Param(), None, None) for n in params], [], None, [], [], None, []
    )
    docstring = gast.Expr(gast.Constant(wrapped(doc), None))
    reverse = gast.FunctionDef(pair.reverse, args, [docstring, *start, *backward], [], None, None)
    add(d, reverse, function.source.fn, a)


def _with_outside_copies(
    p: Parts, backward: Block, pair: Pair, supplied: frozenset[str], seed: str
) -> Block:
    """Let a reverse read copies of what others may change; return the forward with these."""
    written = block_writes(p.forward)
    passed = supplied - written if not pair.recursive else frozenset[str]()
    lent = {n: kind for n, kind in p.borrowed.items() if n not in passed}
    outside = dataclasses.replace(outside_of(p), borrowed=lent)
    kept = kept_copies(backward, {*written, *p.bars, seed}, outside)
    return with_copies(p.forward, kept, set(p.analysed.function.params), outside)


def _again(p: Parts, supplied: frozenset[str]) -> Block:
    """Return what finds again, before the backward sweep, some of what the sweep reads."""
    a = p.analysed
    written: frozenset[str] = frozenset().union(*p.aliases.touched.values())
    wanted = live_in(p.backward, frozenset(p.bars))
    return compute_again(a.function, a.kinds, written, wanted, supplied)


def _used_up(backward: Block, bar: str) -> str:
    """Let a reverse that works on a copy of what it is given work on that; return its new name.

    Who calls it hands over what nobody else has.
    """
    at = next((i for i, s in enumerate(backward) if not isinstance(s, Comment)), None)
    if at is None or not isinstance(backward[at], gast.Assign):
        return bar
    target, source = backward[at].targets[0], copied(backward[at].value)
    others = [s for i, s in enumerate(backward) if i != at]
    if not isinstance(target, gast.Name) or not isinstance(source, gast.Name):
        return bar
    if source.id != bar or any(bar in names_read(s) | names_written(s) for s in others):
        return bar
    del backward[at]
    backward[:] = tidy(backward)
    return str(target.id)


def _leave_shadows(backward: Block, results: int, shadows: bool) -> None:
    """Return only the cotangents that are new; what is done to the caller's shadows stays there."""
    if not shadows:
        return
    last = backward[-1]
    if not results:
        backward.pop()
        return
    kept = last.value.elts[:results]
    last.value = result_of(kept, results == 1)


def _doc_of_writer(pair: Pair, shadows: list[str], where: str) -> str:
    """Say what the reverse of a function that writes arrays does."""
    start = f"Cotangent of {_listed(pair.active)} of {where}" if pair.active else f"Undo {where}"
    results = [*pair.shadows, *(["its result"] if pair.seeded else [])]
    return f"{start}, from that of {_listed(tuple(results))}; {_listed(tuple(shadows))} in place."


def _for_another_call(p: Parts, backward: Block, given: set[str]) -> Block:
    """Return the copies that leave what a reverse was given as it is, for the next call."""
    back = put_back_in(p, backward)
    group = sorted((back.arrays | back.others | p.popped(backward)) & given)
    if (back.arrays | back.others) & given:
        return [apart(p, group, group)]
    return [assign(n, call(attribute(name(n), "copy"))) for n in group]


def _short(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def _line(function: Any) -> int:
    line = getattr(function.source.node, "lineno", None)
    return int(line) if line is not None else function.source.fn.__code__.co_firstlineno


def _listed(names: tuple[str, ...]) -> str:
    if len(names) == 1:
        return names[0]
    return ", ".join(names[:-1]) + " and " + names[-1]
