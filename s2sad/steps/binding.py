"""Calls of the user's functions: which function runs, and the kinds that its parameters get.

An inner function gets what it captures as parameters besides its own.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import registry
from s2sad.capture.calls_its_rule import as_called
from s2sad.capture.construct import maker
from s2sad.capture.read import unwrap
from s2sad.derivative import applies
from s2sad.facts.closures import captured_inside, passed_on
from s2sad.facts.memory import makes_anew
from s2sad.facts.passing import Lengths, handed_back, outlives, rebase
from s2sad.kinds import Kind
from s2sad.known.libraries import of_standard_library
from s2sad.nodes import Node, operands
from s2sad.stages import Function, KindFacts
from s2sad.steps.callables import arguments_by_name, as_called_with, signature_of
from s2sad.syntax.decided import settled


def made_by(target: Any) -> Any:
    """Return the function that makes an object of a class, for the kind of a class."""
    if isinstance(target, K.Known) and isinstance(target.value, type):
        return maker(target.value) or target
    return target


BoundKinds = tuple[Any, dict[str, Kind], tuple[tuple[str, str], ...]]


def by_rule(bound: BoundKinds) -> BoundKinds:
    """Return a function and its arguments, of which the derivative is that of its rule, if any.

    Where a call names a function with a rule, the rule serves the call. A method, or what a partial
    holds, has no name there: a function that calls it by name stands in for it.
    """
    fn, params, extra = bound
    return as_called(fn), params, extra


def _may_depend(kind: Kind) -> bool:
    """Say whether a value may depend on what is differentiated, as far as its kind tells."""
    if isinstance(kind, K.LocalFunction | K.Choice):
        return True
    return any(not isinstance(k, K.Unknown) for k in K.carriers(kind))


def bind_kinds(
    target: Any,
    args: list[Kind],
    keywords: Mapping[str, Kind],
    env: Mapping[str, Kind],
    known: Lengths | None = None,
) -> BoundKinds | None:
    """Return a user's function, the kinds its parameters get in a call, and its extra ones.

    `known` gets the names that lengths of the arguments have in the function.
    """
    known = {} if known is None else known
    target = as_called_with(made_by(target), args, keywords)
    if isinstance(target, K.LocalFunction):
        fn: Any = target
        given, named = list(args), dict(keywords)
    else:
        if not isinstance(target, K.Known):
            return None
        callee = unwrap(target.value)
        if callee is None or isinstance(target.value, type) or registry.is_foreign(callee.fn):
            return None
        if applies(callee.fn):
            return None
        fn = callee.fn
        literal = registry.is_helper(fn)
        # What a partial or a bound method brings along is as long as nothing else in the caller.
        given = [*(handed_back(K.kind_of(a, "bound", literal), {}) for a in callee.args), *args]
        brought = {k: handed_back(K.kind_of(v, k), {}) for k, v in callee.kwargs.items()}
        named = {**brought, **keywords}
        if of_standard_library(str(fn.__module__)) and not any(
            map(_may_depend, [*given, *named.values()])
        ):
            return None  # a constant: how it comes about is nobody's business
    signature = signature_of(fn)
    if signature is None:
        return None
    try:
        bound = signature.bind(*given, **named)
    except TypeError:
        return None
    ruled = registry.is_helper(fn) or registry.is_rule(fn)
    params: dict[str, Kind] = {}
    extra: list[tuple[str, str]] = []
    lost = {p for p, v in fn.defaults if not v} if isinstance(fn, K.LocalFunction) else set()
    for p in signature.parameters.values():
        value: Any = bound.arguments.get(p.name, K.MISSING)
        if p.kind is inspect.Parameter.VAR_POSITIONAL:
            items = () if value is K.MISSING else value
            params[p.name] = rebase(K.Tuple(tuple(items)), p.name, known)
        elif p.kind is inspect.Parameter.VAR_KEYWORD:
            table = {} if value is K.MISSING else value
            params[p.name] = rebase(K.Dict(tuple(table.items())), p.name, known)
        elif value is K.MISSING and p.name in lost:
            return None
        elif value is K.MISSING:
            unset = K.kind_of(p.default, p.name, literal=True)
            unset = K.UNKNOWN if p.default is K.MISSING else unset
            params[p.name] = (settled(unset) if ruled else None) or unset
        elif isinstance(value, K.LocalFunction):
            taken = frozenset({*signature.parameters, *params})
            if isinstance(fn, K.LocalFunction):
                taken |= {captured for captured, _ in fn.links}
            params[p.name] = passed_on(value, p.name, env, params, extra, known, taken)
        else:
            kept = settled(value) if ruled else None
            params[p.name] = kept or rebase(value, p.name, known)
    if isinstance(fn, K.LocalFunction):
        for captured, local in fn.links:
            extra.append((captured, local))
            params[captured] = captured_inside(env.get(local, K.UNBOUND), captured, fn, known)
        links = tuple((c, c) for c, _ in fn.links)
        fn = replace(fn, links=links)
    return fn, params, tuple(extra)


@dataclass(frozen=True)
class BoundCall:
    """The user's function that a call runs, with the kinds of its parameters.

    `given` are the nodes that each parameter gets, `extra` the parameters besides its own, `known`
    the names that lengths of the arguments have in the function.
    """

    fn: Any
    params: Mapping[str, Kind]
    extra: tuple[str, ...]
    given: dict[str, list[Any]]
    known: Lengths


def bind_call(
    facts: KindFacts,
    call: Any,
    env: Mapping[str, Kind],
    method: tuple[Any, Node] | None = None,
) -> BoundCall | None:
    """Return the user's function that a call runs, with what it is given, if it is one.

    A `method` is one that the call does not name, with the object on which it runs.
    """
    method = method or facts.methods.get(call)
    if method is not None:
        target: Kind = K.Known(method[0])
        args = [method[1], *operands(call, method[1])]
    else:
        target, args = facts.of.get(call.func, K.UNKNOWN), list(call.args)
    keywords = list(getattr(call, "keywords", []))
    if any(isinstance(x, gast.Starred) for x in args) or any(k.arg is None for k in keywords):
        return None
    if isinstance(target, K.Known) and isinstance(target.value, type):
        target = made_by(target)
        if isinstance(target, K.Known):
            return None
    if makes_anew(getattr(target, "value", None)) or is_ruled_helper(target):
        return None
    given = [facts.of.get(x, K.UNKNOWN) for x in args]
    named = {k.arg: facts.of.get(k.value, K.UNKNOWN) for k in keywords}
    target = as_called_with(target, given, named)
    known: Lengths = {}
    bound = bind_kinds(target, given, named, env, known)
    if bound is None:
        return None
    fn, params, extra = by_rule(bound)
    nodes = arguments_by_name(fn, args, {k.arg: k.value for k in keywords}, target)
    nodes |= {p: [gast.Name(local, gast.Load(), None, None)] for p, local in extra}
    return BoundCall(fn, params, tuple(n for n, _ in extra), nodes, known)


def left_behind(
    called: BoundCall, callee: Function, left: Mapping[str, Kind]
) -> list[tuple[Node, Kind]]:
    """Return what a call was given that the function has changed, as nodes, and what that is then.

    `left` are the kinds of its parameters when it returns. The table of its keyword arguments is
    the function's own, what the table holds is not.
    """
    found: list[tuple[Node, Kind]] = []
    for p, kind in left.items():
        kinds = [handed_back(outlives(kind), called.known)]
        given = called.params[p]
        if p == getattr(callee.node.args.kwarg, "id", None) and isinstance(given, K.Dict):
            after = dict(getattr(kinds[0], "items", ()))
            kinds = [after.get(key, k) for key, k in given.items]
        found += zip(called.given.get(p, ()), kinds, strict=False)
    return found


def is_ruled_helper(target: Kind) -> bool:
    """Say whether a function is one of s2sad's rules' own, of which a rule tells all."""
    fn = getattr(target, "value", None)
    return registry.is_helper(fn) and registry.rule_for(fn) is not None
