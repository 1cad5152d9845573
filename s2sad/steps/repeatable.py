"""Which functions may run twice where the program runs them once: nobody could tell."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import registry
from s2sad.facts.fence import outside_of
from s2sad.facts.operators import gives_derivative
from s2sad.facts.rebound import rebound_outside
from s2sad.known.generators import generator_of
from s2sad.nodes import Node
from s2sad.rulebook.quiet import is_quiet
from s2sad.steps.derivation import Analysed, Derivation, memory_of
from s2sad.steps.purity import is_pure

_VALUES = (K.Array, K.Num, K.List, K.Dict, K.OpenDict, K.Tuple, K.Str, K.Iterable_, K.NoneKind)


_HELPERS = ("s2sad.runtime",)


def repeatable(d: Derivation) -> bool:
    """Say whether nothing that was analysed draws, prints, or changes what is outside."""
    analysed = list(d.analysed.values())
    functions = {a.scope.fn for a in analysed}
    places = {_place(a.function.source.fn, a.function.source.node) for a in analysed}
    derived = (made.primal for made in d.applied.values() if made.repeatable)
    places |= {_place(k.source.fn, k.node) for k in derived if isinstance(k, K.LocalFunction)}
    return all(_repeatable(d, a, functions, places) for a in analysed)


def _place(fn: Any, node: Node) -> Any:
    """Return what tells a definition among those of all functions."""
    return fn, getattr(node, "lineno", None), getattr(node, "col_offset", None)


def _calls_in(a: Analysed, places: set[Any]) -> Iterator[Node]:
    """Yield the calls in a function, but those of inner ones that are analysed themselves."""
    pending: list[Node] = list(a.function.node.body)
    while pending:
        n = pending.pop()
        inner = isinstance(n, gast.FunctionDef | gast.Lambda)
        if inner and _place(a.function.source.fn, n) in places:
            continue
        if isinstance(n, gast.Call):
            yield n
        pending += gast.iter_child_nodes(n)


def _repeatable(d: Derivation, a: Analysed, functions: set[Any], places: set[Any]) -> bool:
    if a.scope.fn.__module__ in _HELPERS:
        return True
    memory = memory_of(d, a)
    if a.function.stopped:
        return False  # its gradient is none of a function: its derivative is not symmetric
    if memory.keeps or rebound_outside(a.function):
        return False
    if any(outside_of(a.function, w, memory) for w in memory.writes):
        return False
    return all(_is_plain(a, n, functions) for n in _calls_in(a, places))


def _is_plain(a: Analysed, node: Node, functions: set[Any]) -> bool:
    if node in a.kinds.methods:
        return True
    fn: Any = a.kinds.objects.get(node.func)
    kind = a.kinds.of.get(node.func, K.UNKNOWN)
    if fn is None and isinstance(kind, K.Known):
        fn = kind.value
    if fn is not None:
        if generator_of(fn) is not None:
            return False
        if isinstance(fn, type):
            return registry.rule_for(fn) is not None or fn.__module__ != "builtins" or is_pure(fn)
        if isinstance(fn, types.FunctionType) and (fn in functions or gives_derivative(fn)):
            return True
        rule = registry.rule_for(fn)
        return is_pure(fn) or (rule is not None and not rule.calls and is_quiet(fn))
    if isinstance(kind, K.LocalFunction):
        return True
    if isinstance(node.func, gast.Attribute):
        owner = a.kinds.of.get(node.func.value, K.UNKNOWN)
        return all(isinstance(k, _VALUES) for k in K.options(owner))
    return False
