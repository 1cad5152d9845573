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
from collections.abc import Callable, Sequence
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import runtime
from s2sad.capture.construct import OBJECT_OF
from s2sad.errors import InternalError
from s2sad.facts.given import written_parameters
from s2sad.facts.memory import shares_nothing
from s2sad.inside import adjoint_hook, stop_gradient
from s2sad.known.pieces import Assume, elsewhere, never
from s2sad.modes.guarded import Site
from s2sad.modes.outside import Lent, holds_list
from s2sad.modes.reverse import Reverse
from s2sad.modes.structured import Contribution
from s2sad.nodes import (
    Block,
    Node,
    assign,
    assign_tuple,
    attribute,
    call,
    clone,
    constant,
    name,
    subscript,
)
from s2sad.stages import Aliases, Arrival, KindFacts
from s2sad.steps.derivation import (
    Analysed,
    Derivation,
    analyse,
    analysis_key,
    memory_of,
)
from s2sad.steps.pairs import Pair, Target
from s2sad.steps.recompute import check_repeatable, runs_again
from s2sad.steps.targets import find_target, roots, target_name


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
        plan.lent = lent_by(d, a, worker, target, supplied)
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
            "The result depends on an array that this call writes, and s2sad does not know "
            "how the arguments of the call are bound.",
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
    plan.lent = lent_by(d, a, worker, target, supplied)
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
                f"`{n}` is the imaginary part of an array, and this call writes into it; "
                "s2sad cannot pass such a view to a call yet.",
                "Pass the array itself, or let the call return a value and store that.",
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
            f"s2sad cannot read this call of {target.fn.__name__}.",
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
                    f"The called function reads and writes `{n}`, whose memory belongs to "
                    "code outside of the differentiated function; s2sad does not restore "
                    "such memory.",
                    "Pass the function a copy.",
                )


def lent_by(
    d: Derivation, a: Analysed, worker: Reverse, target: Target, supplied: frozenset[str]
) -> Lent:
    """Return the parameters of which a call's reverse is to have copies, as they were in the call.

    Where the reverse runs later, and again, that is memory which is not the derivative's own;
    always it is a list that gets longer or shorter: that is undone in a list of the caller's alone.
    """
    grown = frozenset(w.base for w in memory_of(d, a).writes if w.how == "append" or w.takes)
    given = {f"{p}@arg" for p in worker.lent_to.changed}
    grown |= {f"{p}@arg" for p in worker.lent_to.resized}
    local = worker.function.locals
    changed, resized = set[str](), set[str]()
    for p, kind in target.params.items():
        if K.shares_nothing(kind):
            continue
        names = roots(target.args.get(p))
        reached = names.union(*(worker.aliases.ever(n) for n in names))
        outside = {n for n in reached if "@" not in n} - local
        if d.reusable and (not names or p not in supplied or outside or reached & given):
            changed.add(p)
        elif holds_list(kind) and reached & grown:
            resized.add(p)
    return Lent(frozenset(changed), frozenset(resized))


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
            other = min(hit - {w.base}, default=w.base)
            reason = (
                f"`{other}` stands in two arguments of this call, which writes into it."
                if other == w.base
                else f"This call writes into `{w.base}`, which may share memory with its argument "
                f"`{other}`; s2sad cannot tell which part they share."
            )
            raise refuse(s, reason, f"Pass the call a copy: {other}.copy().")


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
    if roots(arg):
        raise InternalError(f"the argument of a call is no name: {gast.dump(arg)}")
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
        and not target.spread
    ):
        leading = [first]
    extra = [gast.keyword(p, name(local)) for p, local in target.extra]
    extra += [gast.keyword(k, clone(v)) for k, v in target.brought]
    return gast.Call(
        name(pair.forward),
        [clone(x) for x in [*leading, *args]],
        [*(clone(k) for k in keywords), *extra],
    )


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
    if getattr(getattr(target.fn, "node", None), "makes", None) is not None:
        if d.refs.function(runtime.object_of) != OBJECT_OF:
            raise InternalError(f"the name {OBJECT_OF} is taken")
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
