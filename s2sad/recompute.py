"""Calls of checkpointed functions: run as they are, and once more in the backward sweep.

    u = step(u, dt)                u = step(u, dt)
                                   ...
                                   u_bar = step_reverse(step_forward(u, dt), dt, u_bar)

The forward of the pair runs where the reverse does, on the arguments as they were.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.derivation import Analysed, Derivation, analyse, memory_of
from s2sad.errors import UnsupportedError
from s2sad.facts.fence import outside_written
from s2sad.facts.given import written_parameters
from s2sad.nodes import Node, walk
from s2sad.pairs import Target
from s2sad.purity import Purity

Find = Callable[[Analysed, Any, Any], Target | None]


def check_repeatable(d: Derivation, target: Target, find: Find) -> None:
    """Refuse a checkpointed function that might do something else when it is run again."""
    _check(d, target, find, set())


def _check(d: Derivation, target: Target, find: Find, met: set[Any]) -> None:
    a = analyse(d, target.fn, target.params, tuple(p for p, _ in target.extra))
    if a in met:
        return
    met.add(a)
    memory = memory_of(d, a)
    arrays, containers = written_parameters(a.function, a.kinds, memory)
    for n in sorted({*arrays, *containers, *outside_written(a.function, memory)}):
        raise _refused(a, a.function.node, f"writes into `{n}`", "Let it return the new value.")
    if d.reusable:
        _check_outside(d, a)
    d.repeated.add(a.scope.fn)
    pure = Purity(a, d)
    for s in a.kinds.before:
        for node in _own(s):
            if isinstance(node, gast.Call) and not _repeats(a, node, pure):
                inner = find(a, s, node)
                if inner is None:
                    words = "calls what may do something else the second time"
                    raise _refused(a, node, words, "Call it outside, and give it the result.")
                _check(d, inner, find, met)


def check_untouched(d: Derivation) -> None:
    """Refuse data from outside that a function reads which is run again, and the program writes."""
    for fn in d.repeated:
        for a in d.analysed.values():
            if a.scope.fn is fn and d.written_outside and _data(d, a):
                words = f"reads `{_data(d, a)[0]}` from outside, where this program writes"
                raise _refused(a, a.function.node, words, "Pass it as an argument.")


def _own(s: Node) -> list[Node]:
    """Return the nodes of a statement that are evaluated with it, not those of inner blocks."""
    blocks = {id(b) for f in ("body", "orelse", "finalbody", "handlers") for b in getattr(s, f, [])}
    found: list[Node] = []
    stack = [s]
    while stack:
        node = stack.pop()
        found.append(node)
        stack += [c for c in gast.iter_child_nodes(node) if id(c) not in blocks]
    return found


def _repeats(a: Analysed, node: Node, pure: Purity) -> bool:
    """Say whether a library's call gives the same again, and does nothing besides."""
    if pure(node):
        return True
    target = a.kinds.of.get(node.func)
    if isinstance(target, K.Known) and inspect.isclass(target.value):
        return issubclass(target.value, BaseException) or target.value.__module__ == "builtins"
    owner = a.kinds.of.get(node.func.value) if isinstance(node.func, gast.Attribute) else None
    return owner is not None and K.is_container(owner) and not isinstance(owner, K.Obj | K.OneOf)


def _check_outside(d: Derivation, a: Analysed) -> None:
    """Refuse data read from outside where the backward sweep runs later, and again."""
    for n in _data(d, a):
        node = next((x for x in walk(a.function.node) if getattr(x, "id", "") == n), None)
        words = f"reads `{n}` from outside, which may change before it is run again"
        raise _refused(a, node or a.function.node, words, "Pass it as an argument.")


def _data(d: Derivation, a: Analysed) -> list[str]:
    """Return the names of what a function reads from outside that is no code."""
    code = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, str)
    seen = d.seen.get(a.scope.fn, {})
    return sorted(n for n, v in seen.items() if not isinstance(v, code) and not callable(v))


def _refused(a: Analysed, node: Node, words: str, remedy: str) -> UnsupportedError:
    source = a.function.source
    return UnsupportedError(
        f"A checkpointed function is run twice, and {source.name} {words}.",
        remedy=remedy,
        place=source.place(node),
    )
