"""Functions of the user's that run where no call names them: `if t`, `k in t`, `len(t)`, `f"{t}"`.

What they write counts as written there. A library function may run any method with which a class
answers its questions, and of all the objects that it is given.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import registry
from s2sad.facts.members import class_function
from s2sad.facts.scope import Scope
from s2sad.kinds import Kind
from s2sad.known.built import is_generated
from s2sad.nodes import Node, attribute, clone, constant, subscript
from s2sad.stages import KindFacts

_TRUTH = ("__bool__", "__len__")
_ORDER = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")
_TEXT = ("__str__", "__repr__", "__format__")
_MANAGER = ("__enter__", "__exit__")
_ANSWERS = (
    *(*_TRUTH, *_ORDER, "__contains__", "__hash__", *_TEXT),
    *("__int__", "__float__", "__complex__", "__index__", "__abs__", "__round__", "__reversed__"),
    *("__getitem__", "__add__", "__radd__", "__next__"),
)
Called = Callable[[Any, list[Kind]], Kind]


def of_test(scope: Scope, facts: KindFacts, node: Node, called: Called) -> None:
    """Note what runs where the truth of a value is asked for."""
    if isinstance(node, gast.BoolOp):
        for value in node.values:
            of_test(scope, facts, value, called)
    _note(scope, facts, node, [([node], _TRUTH)], called)


def of_comparison(scope: Scope, facts: KindFacts, node: Node, called: Called) -> None:
    """Note what runs where values are compared, or one is looked for in another."""
    operands = [node.left, *node.comparators]
    _note(scope, facts, node, [(operands, (*_ORDER, "__contains__"))], called)


def of_library(
    scope: Scope, facts: KindFacts, node: Node, given: list[Node], called: Called
) -> None:
    """Note what may run where a library is given values; whose rule is zero calls none of them."""
    rule = registry.rule_for(facts.objects.get(getattr(node, "func", None)))
    calls = rule is None or not rule.zero
    called_itself = [n for n in given if calls and isinstance(facts.of.get(n), K.Obj)]
    _note(scope, facts, node, [(called_itself, ("__call__",)), (given, _ANSWERS)], called)


def of_text(scope: Scope, facts: KindFacts, node: Node, called: Called) -> None:
    """Note what runs where a value is formatted."""
    _note(scope, facts, node, [([node.value], _TEXT)], called)


def of_manager(scope: Scope, facts: KindFacts, item: Node, called: Called) -> Kind:
    """Note what runs where a with statement enters and leaves a manager; return what it binds."""
    node = item.context_expr
    kind = facts.of.get(node, K.UNKNOWN)
    enter, leave = (class_function(scope, kind, word) for word in _MANAGER)
    if enter is None or leave is None:
        return K.UNKNOWN
    made = []
    for method, count in ((enter, 0), (leave, 3)):
        made.append(_call_of(facts, method, node, [constant(None) for _ in range(count)]))
        facts.of[made[-1]] = called(K.Known(method), [kind, *[K.UNKNOWN] * count])
    facts.implied[item] = tuple(made)
    return facts.of[made[0]]


def _call_of(facts: KindFacts, method: Any, owner: Node, args: list[Node]) -> Node:
    made = gast.Call(attribute(owner, method.__name__), args, [])
    facts.methods[made] = (method, owner)
    return made


def _note(
    scope: Scope,
    facts: KindFacts,
    node: Node,
    asked: list[tuple[list[Node], tuple[str, ...]]],
    called: Called,
) -> None:
    """Note the calls of those methods that the objects of each group of operands have."""
    found = []
    for operand, words in [(n, words) for given, words in asked for n in given]:
        for kind in _objects(facts.of.get(operand, K.UNKNOWN)):
            for word in words:
                method = class_function(scope, kind, word)
                if method is None or is_generated(inspect.unwrap(method)):
                    continue
                count = len(inspect.signature(method).parameters)
                if count not in (1, 2):
                    continue
                owner = operand
                if facts.of.get(operand) is not kind:
                    owner = subscript(clone(operand), constant(0))
                    facts.of[owner] = kind
                made = _call_of(facts, method, owner, [owner] if count == 2 else [])
                facts.of[made] = called(K.Known(method), [kind] * count)
                found.append(made)
    if found:
        facts.implied[node] = tuple(found)


def _objects(kind: Kind) -> Iterator[Kind]:
    """Yield the kinds of the objects that a value is, or holds as items."""
    if isinstance(kind, K.Obj):
        yield kind
    else:
        for part in kind.inside:
            yield from _objects(part)
