"""Objects that stand for those of a library, as a Deque stands for a deque: where they are made.

They are made in derived text alone: what the user's own function makes is a deque. So a call that
gives one, or leaves one in what it is given, is written out, or refused.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import registry
from s2sad.errors import UnsupportedError
from s2sad.kinds import Kind
from s2sad.nodes import Node, walk
from s2sad.stages import Function, KindFacts

Callee = Callable[[Node], "tuple[Function, KindFacts] | None"]


def holds_stand_in(kind: Kind | None) -> bool:
    """Say whether a value is, or holds, an object that stands for a library's."""
    found = K.reached(kind) if kind is not None and not isinstance(kind, K.Unbound) else None
    return any(map(registry.is_stand_in, found or ()))


def makes_stand_in(function: Function, kinds: KindFacts, depth: int = 0) -> bool:
    """Say whether a function's own text makes such objects."""
    calls = (n for s in function.node.body for n in walk(s) if isinstance(n, gast.Call))
    return any(map(registry.is_stand_in, (_class_made(n, kinds) for n in calls)))


def _class_made(call: Node, kinds: KindFacts) -> Any:
    made = kinds.of.get(call.func)
    first = kinds.of.get(call.args[0]) if call.args else None
    classes = [getattr(k, "value", None) for k in (made, first)]
    return next((c for c in classes if registry.is_stand_in(c)), None)


def refuse_made_elsewhere(function: Function, kinds: KindFacts, callee: Callee) -> None:
    """Raise for a call that stays a call, and gives an object that its function makes."""
    for s in function.node.body:
        for n in walk(s):
            if not isinstance(n, gast.Call) or not holds_stand_in(kinds.of.get(n)):
                continue
            if _class_made(n, kinds) is not None:
                continue
            given = [*n.args, *(k.value for k in n.keywords)]
            if isinstance(n.func, gast.Attribute):
                given.append(n.func.value)
            called = callee(n)
            known = called is not None and not makes_stand_in(*called)
            if known or (called is None and any(holds_stand_in(kinds.of.get(a)) for a in given)):
                continue
            raise UnsupportedError(
                "This call makes a deque or a defaultdict, in a way that s2sad cannot write out.",
                remedy="Make it where it is used, or in an __init__.",
                place=function.source.place(function.origins.get(s, s)),
            )


def refuse_handed_out(function: Function, kinds: KindFacts) -> None:
    """Raise where the caller would get an object that stands for a library's."""
    if any(map(holds_stand_in, (kinds.result, *kinds.left.values()))):
        raise UnsupportedError(
            f"{function.source.name} hands out a deque or a defaultdict, or what holds one; s2sad "
            "works with an object of a class of its own in its place.",
            remedy="Return a list or a dict that is made of it.",
            place=function.source.place(function.source.node),
        )


def refuse_told_apart(functions: Iterable[tuple[Function, KindFacts]]) -> None:
    """Raise where dicts are compared, or asked for their class, that may be OrderedDicts.

    A dict stands for one: to an OrderedDict, order matters.
    """
    every = list(functions)
    if not any(_knows_ordered(f.source.fn) for f, _ in every):
        return
    for function, kinds in every:
        for n in (n for s in function.node.body for n in walk(s)):
            if _tells_apart(n, kinds):
                raise UnsupportedError(
                    "This tells an OrderedDict from another one, or from a dict; s2sad works with "
                    "a dict in its place.",
                    remedy="Use a dict, and compare lists of items where their order counts.",
                    place=function.source.place(n),
                )


def _tells_apart(n: Node, kinds: KindFacts) -> bool:
    if getattr(kinds.of.get(n), "value", None) is collections.OrderedDict:
        return True
    given: list[Node] = []
    if isinstance(n, gast.Compare) and isinstance(n.ops[0], gast.Eq | gast.NotEq):
        given = [n.left, *n.comparators]
    elif isinstance(n, gast.Call) and kinds.objects.get(n.func) is type and len(n.args) == 1:
        given = [n.args[0], n.args[0]]
    return sum(isinstance(kinds.of.get(a), K.AnyDict) for a in given) > 1


def _knows_ordered(fn: Any) -> bool:
    space = fn.__globals__.values()
    return any(v is collections.OrderedDict or v is collections for v in space)
