"""Which functions may run twice where the program runs them once: nobody could tell."""

from __future__ import annotations

import types
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import registry
from s2sad.facts.fence import outside_of
from s2sad.known.generators import generator_of
from s2sad.modes.rebound import rebound_outside
from s2sad.nodes import Node, walk
from s2sad.rulebook.quiet import is_quiet
from s2sad.steps.derivation import Analysed, Derivation, memory_of
from s2sad.steps.purity import is_pure

_VALUES = (K.Array, K.Num, K.List, K.Dict, K.OpenDict, K.Tuple, K.Str, K.Iterable_, K.NoneKind)


def repeatable(d: Derivation) -> bool:
    """Say whether nothing that was analysed draws, prints, or changes what is outside."""
    functions = {a.scope.fn for a in d.analysed.values()}
    return all(_repeatable(d, a, functions) for a in list(d.analysed.values()))


def _repeatable(d: Derivation, a: Analysed, functions: set[Any]) -> bool:
    memory = memory_of(d, a)
    if a.function.stopped:
        return False  # its gradient is none of a function: its derivative is not symmetric
    if memory.keeps or rebound_outside(a.function):
        return False
    if any(outside_of(a.function, w, memory) for w in memory.writes):
        return False
    calls = (n for s in a.function.node.body for n in walk(s) if isinstance(n, gast.Call))
    return all(_is_plain(a, n, functions) for n in calls)


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
        if isinstance(fn, types.FunctionType) and fn in functions:
            return True
        rule = registry.rule_for(fn)
        return is_pure(fn) or (rule is not None and not rule.calls and is_quiet(fn))
    if isinstance(kind, K.LocalFunction):
        return True
    if isinstance(node.func, gast.Attribute):
        owner = a.kinds.of.get(node.func.value, K.UNKNOWN)
        return all(isinstance(k, _VALUES) for k in K.options(owner))
    return False
