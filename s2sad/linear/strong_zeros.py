"""Strong zeros across calls: what a called function meets, and what it gives back.

A function is made anew for a call at which zeros by structure arrive only where its text differs by
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import gast

from s2sad import kinds as K
from s2sad.errors import Error, InternalError
from s2sad.facts.given import written_parameters
from s2sad.ir import program as P
from s2sad.ir.finite import Finite, IsWild, finite
from s2sad.ir.program import Op, Var
from s2sad.linear import pushed_zeros, structural_zeros
from s2sad.linear.guards import Arrival, Met, Pushed, Zeros
from s2sad.linear.programs_seen import Seen, active_in, seen
from s2sad.linear.structural_zeros import Called
from s2sad.steps.derivation import Analysed, Derivation, analyse, memory_of
from s2sad.steps.derived_pairs import Target
from s2sad.steps.found_calls import find_target, roots

Names = frozenset[str]


@dataclass(frozen=True)
class Site:
    """A call of a user's function, and what is known where it stands."""

    found: Seen
    op: Op
    target: Target
    active: frozenset[Var]
    values: Finite


_ANYTHING = Met(True, True)


def zeros_of(
    d: Derivation, found: Seen, wrt: Names, arrival: Arrival, results: Names | None = None
) -> Zeros:
    """Return where the operations of a function need a guard, for what arrives from its caller.

    `results` are the names that have cotangents when the backward sweep starts: none for that of
    the result alone. A function that is being looked at already, because it calls itself, may do
    anything.
    """
    key = ("zeros", found, wrt, arrival, results)
    a, block = found.analysed, found.program.block
    anything = Zeros(reached=frozenset(a.function.params), wild=True)
    if key in d.found:
        known = d.found[key]
        return known if isinstance(known, Zeros) else anything
    values = finite_of(d, found, arrival.wild)
    if values is None:
        return anything
    d.found[key] = None
    active = active_in(d, found, wrt)

    def calls(op: Op, met: Arrival, writes: bool) -> Called | None:
        target = _target(found, op)
        if target is None:
            return None
        return _called(d, Site(found, op, target, active, values), met, writes)

    ends = [v for v in map(P.variable, block.end.results[:1]) if v is not None]
    if results is not None:
        ends = ends if a.function.result in results else []
        ends += [v for v in block.params if v.name in results]
    asked = structural_zeros.Asked(found.program, found.flows, active, values, calls)
    d.found[key] = made = structural_zeros.zeros(asked, arrival, ends)
    return made


def pushed_of(d: Derivation, found: Seen, wrt: Names, met: Met) -> Pushed:
    """Return where forward mode needs a guard, for what the tangents of parameters may be."""
    key = ("pushed", found, wrt, met)
    if key in d.found:
        known = d.found[key]
        return known if isinstance(known, Pushed) else Pushed(result=_ANYTHING)
    values = finite_of(d, found, frozenset())
    if values is None:
        return Pushed(result=_ANYTHING)
    d.found[key] = None
    active = active_in(d, found, wrt)

    def calls(op: Op, arriving: Met) -> Met | None:
        target = _target(found, op)
        if target is None:
            return None
        params = active_parameters(target, _names(found, op, active))
        if not params:
            return Met(True, False)
        inner = pushed_of(d, seen(d, _analysed(d, target)), frozenset(params), arriving)
        return inner.result.join(Met(len(params) < len(target.params), False))

    asked = pushed_zeros.Asked(found.program, found.flows.classes, active, values, calls)
    d.found[key] = made = pushed_zeros.pushed(asked, wrt, met)
    return made


def finite_of(d: Derivation, found: Seen, wild: Names) -> Finite | None:
    """Return which values of a function may be infinite or nan; None while it is looked at."""
    key = ("finite", found, wild)
    if key in d.found:
        known = d.found[key]
        return known if isinstance(known, Finite) else None
    d.found[key] = None

    def callee(op: Op, is_wild: IsWild) -> bool | None:
        target = _target(found, op)
        if target is None:
            return None
        try:
            inner = _analysed(d, target)
        except InternalError:
            raise
        except Error:
            return True  # a constant of which nothing is known: it is called as it is
        given = _names(found, op, filter(is_wild, found.variables))
        there = seen(d, inner)
        values = finite_of(d, there, _wild_parameters(target, given))
        return values is None or _gives_wild(d, there, values)

    d.found[key] = made = finite(found.program, found.flows.classes, wild, callee)
    return made


def _gives_wild(d: Derivation, found: Seen, values: Finite) -> bool:
    """Say whether a function gives what may be wild, or writes it into what it is given."""
    a, block = found.analysed, found.program.block
    written, _ = written_parameters(a.function, a.kinds, memory_of(d, a))
    ends = (*block.end.results[:1], *(v for v in block.params if v.name in written))
    return any(v is not None and values.is_wild(v) for v in map(P.variable, ends))


def _analysed(d: Derivation, target: Target) -> Analysed:
    return analyse(d, target.fn, target.params, tuple(p for p, _ in target.extra))


def _target(found: Seen, op: Op) -> Target | None:
    """Return the user's function that an operation calls, with its arguments bound."""
    node = found.called_by(op)
    return None if node is None else find_target(found.analysed, op.origin, node)


def _names(found: Seen, op: Op, variables: Iterable[Var]) -> Names:
    """Return the names under which the statement of an operation reads some variables."""
    among = frozenset(variables)
    named = found.named(op)
    inside = {v.name for v in among if v.cell or v.name not in named}  # what a closure captures
    return frozenset(inside | {n for n, many in named.items() if not among.isdisjoint(many)})


def _wild_parameters(target: Target, wild: Names) -> Names:
    return frozenset(p for p, arg in target.args.items() if roots(arg) & wild)


def _called(d: Derivation, site: Site, arrival: Arrival, writes: bool) -> Called:
    """Return what a called function meets, and to which variables it passes cotangents."""
    op, target, active = site.op, site.target, site.active
    names = _names(site.found, op, active)
    params = active_parameters(target, names)
    shadows = _shadows(d, target, names) if writes else ()
    params = tuple(p for p in target.params if p in params or p in shadows)
    if not params:
        return Arrival(), []
    a = _analysed(d, target)
    there, wanted = seen(d, a), frozenset(params)
    results = frozenset({a.function.result, *shadows}) if shadows else None
    wild = _names(site.found, op, filter(site.values.is_wild, site.found.variables))
    arrival = Arrival(arrival.zeros, _wild_parameters(target, wild))
    made = zeros_of(d, there, wanted, arrival, results)
    plain = zeros_of(d, there, wanted, Arrival(), results)
    looked_at = d.found.get(("zeros", there, wanted, arrival, results)) is None
    if not looked_at and (made.guards, made.arrivals) == (plain.guards, plain.arrivals):
        arrival = Arrival()
    return arrival, list(_passed(site, params, made.reached))


def _passed(site: Site, params: tuple[str, ...], reached: Names) -> Iterator[tuple[Var, bool]]:
    """Yield the variables that get cotangents of parameters, each with zeros or without."""
    named = site.found.named(site.op)
    for p in params:
        given = site.target.args[p]
        masked = p in reached or not isinstance(given, gast.Name)
        for n in sorted(roots(given)):
            for v in named.get(n) or [v for v in site.active if v.name == n]:
                yield v, masked


def _shadows(d: Derivation, target: Target, names: Names) -> tuple[str, ...]:
    """Return the parameters that a called function writes and that carry derivatives after it."""
    callee = _analysed(d, target)
    arrays, _ = written_parameters(callee.function, callee.kinds, memory_of(d, callee))
    return tuple(p for p in active_parameters(target, names) if p in arrays)


def active_parameters(target: Target, varied: Names) -> tuple[str, ...]:
    """Return the parameters to which a call gives what varies."""
    return tuple(
        p
        for p in target.params
        if K.differentiable(target.params[p]) and roots(target.args.get(p)) & varied
    )
