"""Strong zeros across calls: what a called function meets, and what it gives back.

A pair is made anew for a call at which zeros by structure arrive only where the function's text
differs by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.errors import Error, InternalError
from s2sad.facts.activity import activity
from s2sad.facts.finite import Finite, finite
from s2sad.facts.given import written_parameters
from s2sad.facts.pushed import pushed
from s2sad.facts.zeros import zeros
from s2sad.stages import Activity, Arrival, Met, Pushed, Zeros
from s2sad.steps.derivation import Analysed, Derivation, analyse, memory_of
from s2sad.steps.derived_pairs import Target
from s2sad.steps.found_calls import find_target, roots


def zeros_of(
    d: Derivation,
    a: Analysed,
    facts: Activity,
    active: frozenset[str],
    arrival: Arrival,
    results: frozenset[str] | None = None,
) -> Zeros:
    """Return where the operations of a function need a guard, for what arrives from its caller.

    `results` are the names that have cotangents when the backward sweep starts.

    A function that is being looked at already, because it calls itself, may do anything.
    """
    key = (a, active, arrival, results)
    if key in d.zeros:
        return d.zeros[key] or Zeros(reached=frozenset(a.function.params), wild=True)
    values = finite_of(d, a, arrival.wild)
    if values is None:
        return Zeros(reached=frozenset(a.function.params), wild=True)
    d.zeros[key] = None

    def calls(s: Any, node: Any, met: Arrival) -> tuple[Arrival, list[tuple[str, bool]]] | None:
        target = find_target(a, s, node)
        if target is None:
            return None
        return _called(d, s, target, facts, met, writers)

    arrays = memory_of(d, a).aliases.arrays
    writers = memory_of(d, a).aliases.writers()
    found = zeros(a.function, a.kinds, facts, values, arrival, calls, arrays, results, writers)
    d.zeros[key] = found
    return found


def pushed_of(
    d: Derivation, a: Analysed, facts: Activity, active: frozenset[str], met: Met
) -> Pushed:
    """Return where forward mode needs a guard, for what the tangents of parameters may be."""
    key = (a, active, met)
    if key in d.pushed:
        return d.pushed[key] or Pushed(result=Met(True, True))
    values = finite_of(d, a, frozenset())
    if values is None:
        return Pushed(result=Met(True, True))
    d.pushed[key] = None

    def calls(s: Any, node: Any, given: frozenset[str], arriving: Met) -> Met | None:
        target = find_target(a, s, node)
        if target is None:
            return None
        params = active_parameters(target, given)
        inner = _analysed(d, target)
        if not params:
            return Met(True, False)
        wanted = frozenset(params)
        touched = activity(inner.function, inner.kinds, wanted, memory_of(d, inner))
        found = pushed_of(d, inner, touched, wanted, arriving)
        return found.result.join(Met(len(params) < len(target.params), False))

    found = pushed(a.function, a.kinds, facts, values, active, met, calls)
    d.pushed[key] = found
    return found


def finite_of(d: Derivation, a: Analysed, wild: frozenset[str]) -> Finite | None:
    """Return which values of a function may be infinite or nan; None while it is looked at."""
    key = (a, wild)
    if key in d.finite:
        return d.finite[key]
    d.finite[key] = None

    def callee(s: Any, node: Any, given: frozenset[str]) -> bool | None:
        target = find_target(a, s, node)
        if target is None:
            return None
        try:
            inner = _analysed(d, target)
        except InternalError:
            raise
        except Error:
            return True  # a constant of which nothing is known: it is called as it is
        values = finite_of(d, inner, _wild_parameters(target, given))
        given_back, _ = written_parameters(inner.function, inner.kinds, memory_of(d, inner))
        return values is None or bool(({inner.function.result} | given_back) & values.wild())

    aliases = memory_of(d, a).aliases
    touched = frozenset[str]().union(*aliases.touched.values())
    d.finite[key] = finite(a.function, a.kinds, wild, callee, aliases.writers(), touched)
    return d.finite[key]


def _analysed(d: Derivation, target: Target) -> Analysed:
    return analyse(d, target.fn, target.params, tuple(p for p, _ in target.extra))


def _wild_parameters(target: Target, wild: frozenset[str]) -> frozenset[str]:
    return frozenset(p for p, arg in target.args.items() if roots(arg) & wild)


def _called(
    d: Derivation,
    s: Any,
    target: Target,
    caller: Activity,
    met: Arrival,
    writers: Mapping[Any, frozenset[str]],
) -> tuple[Arrival, list[tuple[str, bool]]]:
    active = active_parameters(target, caller.varied_before.get(s, frozenset()))
    shadows: tuple[str, ...] = ()
    if s in writers:
        shadows = shadows_of(d, target, caller.varied_after.get(s, frozenset()))
        active = tuple(p for p in target.params if p in active or p in shadows)
    if not active:
        return Arrival(), []
    a = _analysed(d, target)
    wanted = frozenset(active)
    results = frozenset({a.function.result, *shadows}) if shadows else None
    facts = activity(a.function, a.kinds, wanted, memory_of(d, a), results=results)
    arrival = Arrival(met.zeros, _wild_parameters(target, met.wild))
    found = zeros_of(d, a, facts, wanted, arrival, results)
    plain = zeros_of(d, a, facts, wanted, Arrival(), results)
    looked_at = d.zeros.get((a, wanted, arrival, results)) is None
    if not looked_at and (found.guards, found.arrivals) == (plain.guards, plain.arrivals):
        arrival = Arrival()
    given = [
        (n, p in found.reached or not isinstance(target.args[p], gast.Name))
        for p in active
        for n in sorted(roots(target.args[p]))
    ]
    return arrival, given


def shadows_of(d: Derivation, target: Target, varied: frozenset[str]) -> tuple[str, ...]:
    """Return the parameters that a called function writes and that carry derivatives after it."""
    callee = analyse(d, target.fn, target.params, tuple(p for p, _ in target.extra))
    arrays, _ = written_parameters(callee.function, callee.kinds, memory_of(d, callee))
    return tuple(
        p
        for p in target.params
        if p in arrays and K.differentiable(target.params[p]) and roots(target.args.get(p)) & varied
    )


def active_parameters(target: Target, varied: frozenset[str]) -> tuple[str, ...]:
    """Return the parameters to which a call gives what varies."""
    return tuple(
        p
        for p in target.params
        if K.differentiable(target.params[p]) and roots(target.args.get(p)) & varied
    )
