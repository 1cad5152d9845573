"""Calls of the user's functions, found: which function it is, and its arguments bound."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Mapping
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import registry, runtime
from s2sad.capture.read import unwrap
from s2sad.derivative import is_decorated
from s2sad.kinds import Kind
from s2sad.names import identifier
from s2sad.nodes import (
    Node,
    attribute,
    clone,
    constant,
    name,
    names_read,
    operands,
    subscript,
)
from s2sad.steps.binding import bind_kinds, by_rule, made_by
from s2sad.steps.callables import as_called_with, signature_of
from s2sad.steps.derivation import (
    Analysed,
)
from s2sad.steps.derived_pairs import Target


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
        if not any(isinstance(x, gast.Starred) for x in args):
            by_name = {k.arg: a.kinds.of.get(k.value, K.UNKNOWN) for k in keywords}
            kind = as_called_with(kind, [a.kinds.of.get(x, K.UNKNOWN) for x in args], by_name)
        if isinstance(kind, K.Known) and is_library(kind.value):
            return None
    else:
        return None
    if not isinstance(kind, K.Known | K.LocalFunction):
        return None
    given = _spread(args, a.kinds.of)
    named = {k.arg: k.value for k in keywords}
    if given is None or None in named:
        return None
    by_word = {k: a.kinds.of[v] for k, v in named.items()}
    bound = bind_kinds(kind, [k for _, k in given], by_word, env)
    if bound is None:
        return None
    fn, params, extra = by_rule(bound)
    every = [*_leading(kind, node), *(g for g, _ in given)]
    nodes = _bind_nodes(fn, every, _named(kind, node, named))
    if nodes is None:
        return None
    for p, local in extra:
        nodes[p] = name(local)
    return Target(fn, params, nodes, extra)


def is_library(value: Any) -> bool:
    """Say whether a call of something is no call of a user's function that is derived."""
    if value is dataclasses.replace or value is runtime.object_of or isinstance(value, type):
        return True
    return registry.rule_for(value) is not None or unwrap(value) is None


def _spread(args: list[Node], kinds: Mapping[Any, Kind]) -> list[tuple[Node, Kind]] | None:
    """Return positional arguments and their kinds, with *tuple spread into its items."""
    out: list[tuple[Node, Kind]] = []
    for arg in args:
        if not isinstance(arg, gast.Starred):
            out.append((arg, kinds.get(arg, K.UNKNOWN)))
            continue
        kind = kinds.get(arg.value)
        if not isinstance(kind, K.Tuple) or not isinstance(arg.value, gast.Name):
            return None
        places = enumerate(kind.items)
        out += [(subscript(clone(arg.value), constant(i)), item) for i, item in places]
    return out


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
    return names_read(arg) if isinstance(arg, gast.AST) else set()


def target_name(target: Target) -> str:
    """Return the name a reader knows the called function by."""
    if isinstance(target.fn, K.LocalFunction):
        return getattr(target.fn.node, "name", "lambda_")
    label = target.fn.__name__
    if label.startswith("__") and label.endswith("__"):
        label = "_".join([*target.fn.__qualname__.split(".")[-2:-1], label.strip("_")])
    return identifier(label)
