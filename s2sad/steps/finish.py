"""Polish a whole derived body: every pass of polish/, in order, a line each."""

from __future__ import annotations

from functools import partial
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import runtime
from s2sad.kinds import Kind
from s2sad.known.lifted import space_in
from s2sad.known.spaces import NUMPY
from s2sad.modes.assemble import Parts
from s2sad.modes.rebound import rebound_outside
from s2sad.nodes import Block, block_writes, walk
from s2sad.polish.aside import aside
from s2sad.polish.devices import devices
from s2sad.polish.doubled import doubled
from s2sad.polish.effects import EffectTable
from s2sad.polish.guards import guards
from s2sad.polish.last import skip_last
from s2sad.polish.late import late
from s2sad.polish.own import own
from s2sad.polish.parts import assign_parts
from s2sad.polish.propagate import propagate, propagated
from s2sad.polish.prune import prune, pruned, tidy
from s2sad.polish.rolling import roll
from s2sad.polish.rounds import rounds
from s2sad.polish.settle import settle, whole
from s2sad.polish.sole import hand_over
from s2sad.polish.together import together
from s2sad.polish.turns import turns
from s2sad.steps.derivation import Analysed
from s2sad.steps.purity import callees_in
from s2sad.syntax.flow import free_names


def finish(
    p: Parts, body: Block, live_out: frozenset[str], returned: set[str], extra: frozenset[str]
) -> Block:
    """Polish a whole body: put temporaries back, prune, own what is returned, guard clauses."""
    movable = p.analysed.function.temps | p.made_up | extra | {p.analysed.function.result}
    movable -= {n for n in returned if not _no_memory(p.bar_kinds.get(n))}
    made_up = p.made_up | extra | p.scalars
    movable -= p.pinned | p.shadows
    if p.pure.d.plain:
        movable -= p.made_up
    made_up -= p.pinned | p.shadows | borrowed(p.analysed)
    live_out |= p.pinned
    movable -= p.buffers
    made_up |= p.ours
    effects = EffectTable(p.pure, p.sharing)
    for _ in range(2):
        body, less = pruned(body, live_out, effects, made_up, p.pinned)
        body, other = propagated(body, live_out, movable, effects, p.made_up)
        if not less and not other:
            break
    else:
        body = prune(body, live_out, effects, made_up, p.pinned)
    d = p.pure.d
    space = space_in(p.analysed.kinds)
    numpy = d.refs.space(space)
    kinds = p.kinds | p.bar_kinds
    callees = callees_in(p.analysed, d, kinds, block_writes(body))
    reverses = {x.reverse for x in d.pairs.values()}
    made = (runtime.zeros_like, runtime.add)
    fresh = reverses | {n for n, fn in d.refs.functions.items() if fn in made}
    owned = {n: k for n, k in p.bar_kinds.items() if n not in p.shadows | p.buffers}
    given = p.shadows | p.buffers
    if p.buffers | p.moved:
        effects = EffectTable(p.pure, p.sharing)
        body = together(body, live_out, p.buffers | p.moved, effects, numpy)
    if reverses:
        effects = EffectTable(p.pure, p.sharing)
        alone = partial(_alone, p)
        body = late(body, p.bar_kinds, reverses, p.pure, effects, given, alone, callees)
    body = own(body, owned, returned, fresh, callees, p.shadows, p.moved)
    plain = (p.made_up & frozenset(p.bar_kinds)) - p.buffers - p.moved
    body = skip_last(body, live_out, plain, p.kinds, p.pure)
    if p.held:
        body = aside(body, live_out, p.held, EffectTable(p.pure, p.sharing), callees)
    owners = p.buffers | p.moved
    arrays = frozenset(n for n, k in kinds.items() if isinstance(k, K.Array))
    body = settle(body, live_out, p.pure, p.sharing, callees, p.held, owners, arrays)
    if p.held:
        body = propagate(body, live_out, p.held, EffectTable(p.pure, p.sharing))
    body = doubled(body, EffectTable(p.pure, p.sharing))
    body = roll(body, frozenset(p.bar_kinds) - given, kinds, numpy)
    body = assign_parts(body, p.bar_kinds.keys(), p.kinds, numpy)
    consuming = {x.reverse for x in d.pairs.values() if x.consumes}
    given |= p.analysed.function.locals
    body = hand_over(body, live_out, callees, fresh, consuming, given)
    body = turns(whole(tidy(body)), lists_of_keys(p.analysed), p.names.fresh)
    if space != NUMPY:
        helpers = {n for n, home in d.refs.homes.items() if home == space}
        body = devices(body, p.kinds, p.bar_kinds, numpy, helpers)
    return guards(rounds(body))


def lists_of_keys(a: Analysed) -> frozenset[str]:
    """Return the temporaries that list the keys of a dict."""
    found: set[str] = set()
    for n, value in homes_of_temps(a).items():
        listing = isinstance(value, gast.Call) and len(value.args) == 1
        if listing and a.kinds.objects.get(value.func) in (list, sorted):
            kind = a.kinds.of.get(value.args[0])
            found |= {n} if isinstance(kind, K.AnyDict) else set()
    return frozenset(found)


def _alone(p: Parts, variable: str) -> bool:
    """Say whether a variable of the forward sweep is a number, or an array nothing shares."""
    if variable in p.bar_kinds:
        return isinstance(p.bar_kinds[variable], K.Num)
    if isinstance(p.kinds.get(variable), K.Num):
        return True
    if variable not in p.analysed.function.locals:
        return variable in p.pure.d.refs.modules
    shared = p.sharing.get(variable, frozenset()) | p.aliases.ever(variable)
    return isinstance(p.kinds.get(variable), K.Array) and shared <= {variable}


def borrowed(a: Analysed) -> frozenset[str]:
    """Return the temporaries that may be part of the user's memory: writes into them count."""
    homes = homes_of_temps(a)
    return frozenset(t for t in a.function.temps if not isinstance(homes.get(t), gast.List))


def _no_memory(kind: Kind | None) -> bool:
    if isinstance(kind, K.Tuple):
        return all(_no_memory(k) for k in kind.items)
    return isinstance(kind, K.Num | K.NoneKind | K.Str)


def homes_of_temps(a: Analysed) -> dict[str, Any]:
    """Return what each temporary was computed from: where else its shape can be asked."""
    found: dict[str, Any] = {}
    stack = list(a.function.node.body)
    while stack:
        s = stack.pop()
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
            if s.targets[0].id in a.function.temps:
                found[s.targets[0].id] = s.value
        for field_ in ("body", "orelse"):
            stack += getattr(s, field_, None) or []
    return found


def pinned(a: Analysed) -> frozenset[str]:
    """Return the variables that inner functions capture: read at times nobody can see."""
    found: set[str] = set()
    for s in a.function.node.body:
        for n in walk(s):
            if isinstance(n, gast.FunctionDef | gast.Lambda):
                found |= free_names(n)
    return frozenset(found & a.function.locals) | rebound_outside(a.function)
