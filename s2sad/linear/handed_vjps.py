"""Functions that the user hands to a library: derived as functions that give value and pullback.

    sol = root(residual, x0, args=(theta,))     pull_root(x_bar, sol, residual_vjp, x0, (theta,))

    def residual_vjp(x, theta):
        ...
        def pullback(value_bar):
            ...
            return x_bar, theta_bar, ()
        return value, pullback

The pullback gives a cotangent for each argument, and in the last place those of what the function
captures. It is called as often as the rule likes.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from s2sad import kinds as K
from s2sad import registry
from s2sad.capture.read import unwrap
from s2sad.errors import MissingRuleError, UnsupportedError
from s2sad.facts.fence import outside_of
from s2sad.facts.rebound import rebound_outside
from s2sad.ir import program as P
from s2sad.ir.program import Operand
from s2sad.linear.brought import brought
from s2sad.linear.rule_calls import Called
from s2sad.linear.tangent_table import NOTHING, Tangents
from s2sad.nodes import Node, call, name
from s2sad.primitives import language as L
from s2sad.requests import Request
from s2sad.steps.binding import bind_kinds
from s2sad.steps.derivation import (
    Analysed,
    Derivation,
    analyse,
    analysis_key,
    memory_of,
)
from s2sad.steps.derived_pairs import Target
from s2sad.steps.found_calls import target_name
from s2sad.steps.joining import add
from s2sad.steps.texts_read_again import title_of

ADVICE = "Pass a function of yours (def or lambda) that returns numbers or arrays."
GRADIENT = "Write the gradient by hand, and pass it to scipy.optimize.root."


@dataclass(frozen=True)
class FunctionVjp:
    """The function that gives value and pullback, and the variables that have cotangents."""

    node: Node
    captured: tuple[str, ...]


@dataclass(frozen=True)
class _Handed:
    """A function that is handed over where `t` is, and how the rule calls it.

    It takes `arguments`; cotangents are `wanted` of some of them, and of what it captures.
    """

    t: Tangents
    target: Target
    how: Called
    arguments: tuple[str, ...]
    wanted: tuple[str, ...]

    @property
    def label(self) -> str:
        """What a reader knows the function by."""
        return target_name(self.target)

    @property
    def word(self) -> str:
        """What the name of the derived function says of what is derived."""
        how = self.how
        return "_value_and_grad" if how.with_value else "_grad" if how.gradient else ""


def function_vjp(t: Tangents, node: Node, how: Called) -> FunctionVjp:
    """Return what a rule gets in the place of a function that it calls with these kinds."""
    d = t.table.derivation
    target = _target(t, node, how.kinds)
    varied = t.table.facts.activity.varied_before.get(t.origin, frozenset())
    captured = tuple(
        (p, local)
        for p, local in target.extra
        if local in varied and K.differentiable(target.params[p])
    )
    names = tuple(p for p, _ in target.extra)
    arguments = tuple(p for p in target.params if p not in names)
    active = tuple(p for p in arguments if K.differentiable(target.params[p]))
    wanted = (*active, *(p for p, _ in captured))
    handed = _Handed(t, target, how, arguments, wanted)
    if not active:
        raise t.cannot(
            f"{handed.label} is passed to a library function that needs its "
            "derivative, but none of its arguments is a float or an array of floats.",
            ADVICE,
        )
    key = (analysis_key(target.fn, target.params, names), wanted, handed.word)
    if key not in d.handed:
        made = d.names.fresh(f"{handed.label}{handed.word}_vjp")
        d.handed[key] = made, ()  # for functions that call themselves
        own = analyse(d, target.fn, target.params, names)
        _check_alone(own, handed)
        where = f"{'the gradient of ' * how.gradient}{title_of(d, own.function.source)}"
        with _of_second_order(handed):
            own = _gradient(own, handed) if how.gradient else own
            _write(own, handed, made, f"Value and pullback of {where}")
        if d.lasting:
            d.handed[key] = made, brought(t, made)
    made, outside = d.handed[key]
    value: Node = name(made)
    given = {p: name(local) for p, local in target.extra}
    given |= {n: name(n) for n in outside}
    if given:
        value = call(f"{d.refs.module(functools)}.partial", value, **given)
    return FunctionVjp(value, tuple(local for _, local in captured))


def _target(t: Tangents, node: Node, kinds: list[K.Kind]) -> Target:
    """Return the function that a node denotes, with the kinds that its parameters get."""
    known = t.table.facts.analysed.kinds
    kind = known.of.get(node, K.UNKNOWN)
    plain = isinstance(kind, K.LocalFunction)
    if isinstance(kind, K.Known):
        callee = unwrap(kind.value)
        plain = callee is not None and not callee.args and not callee.kwargs
        plain = plain and registry.rule_for(kind.value) is None
    bound = bind_kinds(kind, kinds, {}, known.before[t.origin]) if plain else None
    if bound is None:
        raise t.cannot(
            "A library function that is called here needs the derivative of the function "
            "that it is given; s2sad cannot tell which function that is, or how it is called.",
            ADVICE,
        )
    fn, params, extra = bound
    return Target(fn, params, {}, extra)


@contextlib.contextmanager
def _of_second_order(handed: _Handed) -> Iterator[None]:
    """Let what is refused in a derived gradient be told where the function is handed over."""
    try:
        yield
    except (UnsupportedError, MissingRuleError) as error:
        derived = error.place is not None and error.place.file.startswith("<s2sad")
        if not handed.how.gradient or not derived:
            raise
        raise handed.t.cannot(
            f"s2sad needs the second derivative of {handed.label} here, and cannot "
            f"differentiate its gradient: {error.reason}",
            GRADIENT,
        ) from error


def _gradient(a: Analysed, handed: _Handed) -> Analysed:
    """Return the gradient of a function by its first argument, to be derived once more."""
    from s2sad.linear.handed_gradients import gradient_of

    d, target = handed.t.table.derivation, handed.target
    found = gradient_of(d, target, handed.arguments[0], handed.how.with_value)
    if found is not None and a.function.node.args.vararg is None:
        return analyse(d, found.fn, found.params)
    raise handed.t.cannot(
        f"s2sad needs the gradient of {handed.label} here, and cannot tell that it "
        "returns a real number.",
        GRADIENT,
    )


def _write(a: Analysed, handed: _Handed, made: str, what: str) -> None:
    """Write the function into the derived module."""
    from s2sad.linear.pullback_entry import Pullback, pullback_entry

    d, wanted = handed.t.table.derivation, handed.wanted
    many = getattr(a.function.node.args.vararg, "id", None)

    def together(t: Tangents, bars: Sequence[Operand]) -> Operand:
        found = dict(zip(wanted, bars, strict=True))
        given: list[Operand] = []
        for n in handed.arguments:
            bar = found.get(n, NOTHING)
            if n != many:
                given.append(bar)
            elif n in found and isinstance(bar, P.Var | P.Const | P.Outer):
                given.append(P.Spread(bar))
        rest = [found[n] for n in wanted if n not in handed.arguments]
        return t.emit(L.TUPLE, (*given, t.emit(L.TUPLE, rest, K.UNKNOWN)), K.UNKNOWN)

    doc = f"{what} with respect to {_listed(wanted)}."
    request = Request(handed.target.fn, tuple(handed.target.params.items()), wanted, False, "vjp")
    how = Pullback(made, doc, f"{a.function.result}_bar", False, together)
    with _by_itself(d):
        node = pullback_entry(d, a, request, how)
    add(d, node, a.function.source.fn, a)


@contextlib.contextmanager
def _by_itself(d: Derivation) -> Iterator[None]:
    """Derive a function whose pullback runs as often as a rule likes, whatever is around it.

    Its cotangents may go by name where those around it go by identity, or the other way round.
    """
    before = d.reusable, d.forward, d.abreast, d.by_identity, d.found, d.lengths
    d.reusable, d.forward, d.abreast, d.found, d.lengths = True, False, False, {}, {}
    try:
        yield
    finally:
        d.reusable, d.forward, d.abreast, d.by_identity, d.found, d.lengths = before


def _check_alone(a: Analysed, handed: _Handed) -> None:
    """Refuse a function that changes something outside: it is called more than once."""
    memory = memory_of(handed.t.table.derivation, a)
    writes = any(outside_of(a.function, w, memory) for w in memory.writes)
    if writes or memory.keeps or rebound_outside(a.function):
        raise handed.t.cannot(
            f"{handed.label} changes values outside of itself, and s2sad must call it "
            "again to differentiate it.",
            "Let the function only return its result.",
        )


def check_handed(d: Derivation) -> None:
    """Refuse a program that changes what is outside and may be read by a function handed over.

    Such functions are called again when the backward sweep comes to where they were called.
    """
    for a in list(d.analysed.values()) if d.handed else ():
        memory = memory_of(d, a)
        write = next((w for w in memory.writes if outside_of(a.function, w, memory)), None)
        if write is not None or rebound_outside(a.function):
            raise UnsupportedError(
                f"{a.function.source.name} changes values outside of itself, and a function "
                "that is passed to a library may read them later.",
                remedy="Keep these values in variables, and pass them as arguments.",
                place=a.function.source.place(a.function.source.node),
            )


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
