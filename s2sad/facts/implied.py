"""Functions of the user's that run where no call names them: `if t`, `k in t`, `len(t)`, `f"{t}"`.

What they write counts as written there. A library function may run any method with which a class
answers its questions, and of all the objects that it is given.
"""

from __future__ import annotations

import inspect
import itertools
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import registry
from s2sad.facts.members import class_function
from s2sad.facts.scope import Scope
from s2sad.kinds import Kind
from s2sad.known.built import is_generated
from s2sad.nodes import Node, attribute, clone, constant, name, subscript
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
_COMPARING = {
    gast.Eq: ("__eq__", "__eq__"),
    gast.NotEq: ("__ne__", "__ne__"),
    gast.Lt: ("__lt__", "__gt__"),
    gast.LtE: ("__le__", "__ge__"),
    gast.Gt: ("__gt__", "__lt__"),
    gast.GtE: ("__ge__", "__le__"),
}
_REPR = ord("r")
Called = Callable[[Any, list[Kind]], Kind]
Asked = list[tuple[tuple[Node, ...], tuple[str, ...]]]


def of_test(scope: Scope, facts: KindFacts, node: Node, called: Called, only: bool) -> None:
    """Note what runs where the truth of a value is asked for, and `only` that."""
    if isinstance(node, gast.BoolOp):
        for value in node.values:
            of_test(scope, facts, value, called, only)
    made = _note(scope, facts, node, [((node,), _first(scope, facts, node, _TRUTH))], called)
    if only and _is_object(facts, node):
        _stands(facts, node, made[0] if made else None)


def of_comparison(scope: Scope, facts: KindFacts, node: Node, called: Called) -> None:
    """Note what runs where values are compared, or one is looked for in another."""
    operands = [node.left, *node.comparators]
    asked: Asked = []
    for left, right in itertools.pairwise(operands):
        asked += [((left, right), _ORDER), ((right, left), (*_ORDER, "__contains__"))]
    _note(scope, facts, node, asked, called)
    stands = _comparing(scope, facts, node, called) if len(operands) == 2 else None
    _stands(facts, node, stands)


def of_key(scope: Scope, facts: KindFacts, key: Node, called: Called) -> None:
    """Note what runs where something is looked for under a key, or put there."""
    if _is_object(facts, key):
        _note(scope, facts, key, [((key,), ("__hash__", "__eq__"))], called)


def of_attributes(
    scope: Scope, facts: KindFacts, node: Node, owner: Node, words: Iterable[str], called: Called
) -> None:
    """Note which properties run where an object is asked whether it has attributes."""
    kind = facts.of.get(owner, K.UNKNOWN)
    found = []
    for word in words:
        static = scope.member(kind.cls, word, None) if isinstance(kind, K.Obj) else None
        getter = getattr(static, "fget", None)
        if isinstance(getter, types.FunctionType):
            made = gast.Call(attribute(owner, word), [], [])
            facts.methods[made] = (getter, owner)
            facts.of[made] = called(K.Known(getter), [kind])
            found.append(made)
    if found:
        facts.implied[node] = (*facts.implied.get(node, ()), *found)


def _comparing(scope: Scope, facts: KindFacts, node: Node, called: Called) -> Node | None:
    """Return the call of the one method that a comparison runs, None where it may be another."""
    left, (right,), (op,) = node.left, node.comparators, node.ops
    if isinstance(op, gast.In | gast.NotIn):
        return _answer(scope, facts, (right, "__contains__", left), called, type(op) is gast.NotIn)
    word, mirrored = _COMPARING.get(type(op), ("", ""))
    ours, theirs = facts.of.get(left, K.UNKNOWN), facts.of.get(right, K.UNKNOWN)
    if isinstance(ours, K.Obj):
        other = theirs.cls if isinstance(theirs, K.Obj) else ours.cls
        if other is not ours.cls and issubclass(other, ours.cls):
            return None
        if word == "__ne__" and class_function(scope, ours, word) is None:
            return _answer(scope, facts, (left, "__eq__", right), called, True)
        if class_function(scope, ours, word) is None:
            return _answer(scope, facts, (right, mirrored, left), called, False)
        return _answer(scope, facts, (left, word, right), called, False)
    if isinstance(ours, K.Num | K.Str | K.NoneKind):
        return _answer(scope, facts, (right, mirrored, left), called, False)
    return None


def _answer(
    scope: Scope, facts: KindFacts, asked: tuple[Node, str, Node], called: Called, turned: bool
) -> Node | None:
    """Return the call of a method that surely answers with a truth value, `turned` or not."""
    owner, word, given = asked
    kind = facts.of.get(owner, K.UNKNOWN)
    method = class_function(scope, kind, word) if isinstance(kind, K.Obj) else None
    if method is None or is_generated(method):
        return None
    result = called(K.Known(method), [kind, facts.of.get(given, K.UNKNOWN)])
    if not isinstance(result, K.Num) or result.type != "bool":
        return None
    made = gast.Call(attribute(owner, word), [given], [])
    return gast.UnaryOp(gast.Not(), made) if turned else made


def of_library(
    scope: Scope, facts: KindFacts, node: Node, given: list[Node], called: Called, fn: Any = None
) -> None:
    """Note what may run where a library is given values; whose rule is zero calls none of them."""
    effects = registry.effects_of(fn)
    rule = registry.rule_for(facts.objects.get(getattr(node, "func", None)))
    if effects.asks is not None:
        objects = [n for n in given if _is_object(facts, n)]
        asked: Asked = [((n,), _first(scope, facts, n, effects.asks)) for n in objects]
        inside = given if len(objects) > 1 else [n for n in given if n not in objects]
        asked += [((n,), effects.asks_items) for n in inside]
        made = _note(scope, facts, node, asked, called)
        alone = len(given) == len(made) == 1 and _is_object(facts, given[0])
        gives = facts.of.get(made[0], K.UNKNOWN) if alone else K.UNKNOWN
        same = K.cls_of(gives) is fn if isinstance(fn, type) else effects.does != "outside"
        _stands(facts, node, made[0] if alone and same else None)
        return
    calls = rule is None or not rule.zero
    itself = [n for n in given if calls and _is_object(facts, n)]
    asked = [((n,), ("__call__",)) for n in itself]
    _note(scope, facts, node, [*asked, *(((n,), _ANSWERS) for n in given)], called)


def of_text(scope: Scope, facts: KindFacts, node: Node, called: Called) -> None:
    """Note what runs where a value is formatted."""
    words = ("__repr__",) if node.conversion == _REPR else ("__format__", "__str__", "__repr__")
    first = _first(scope, facts, node.value, words)
    made = _note(scope, facts, node, [((node.value,), first)], called)
    named = None
    if len(made) == 1 and _is_object(facts, node.value) and node.format_spec is None:
        named = gast.FormattedValue(made[0], -1, None) if first != ("__format__",) else None
    _stands(facts, node, named)


def _stands(facts: KindFacts, node: Node, made: Node | None) -> None:
    facts.stands.pop(node, None)
    if made is not None:
        facts.stands[node] = made


def _is_object(facts: KindFacts, node: Node) -> bool:
    return isinstance(facts.of.get(node), K.Obj)


def _first(scope: Scope, facts: KindFacts, node: Node, words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the first of some methods that the class of an object has; all where it is none."""
    kind = facts.of.get(node, K.UNKNOWN)
    if not isinstance(kind, K.Obj):
        return words
    return next(((w,) for w in words if class_function(scope, kind, w) is not None), ())


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


def _note(scope: Scope, facts: KindFacts, node: Node, asked: Asked, called: Called) -> list[Node]:
    """Note the calls of those methods that objects have: of an operand, with another one or not."""
    found: list[Node] = []
    for (operand, *others), words in asked:
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
                args = [*others, name("other")][: count - 1]
                kinds = [facts.of.setdefault(a, K.UNKNOWN) for a in args]
                made = _call_of(facts, method, owner, args)
                facts.of[made] = called(K.Known(method), [kind, *kinds])
                found.append(made)
    if found:
        facts.implied[node] = tuple(found)
    return found


def _objects(kind: Kind) -> Iterator[Kind]:
    """Yield the kinds of the objects that a value is, or holds as items."""
    if isinstance(kind, K.Obj):
        yield kind
    else:
        for part in kind.inside:
            yield from _objects(part)
