"""Functions that a library is lent, which it calls with the objects that it is given beside them.

order = sorted(bs, key=lambda b: b.rank())           what B.rank writes is written there
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import registry
from s2sad.kinds import Kind
from s2sad.nodes import Node, attribute, constant, name, walk
from s2sad.stages import KindFacts

ANY = "*"
"""Stands for any attribute, where nobody knows which one is asked for."""

_OWN = (
    *(types.FunctionType, types.MethodType, property, staticmethod, classmethod),
    *(functools.cached_property, functools.partialmethod),
)
_LENT = (types.FunctionType, types.MethodType, functools.partial)


def runs(kind: Kind, word: str) -> bool:
    """Return whether a function may run where an attribute of an object is read."""
    if not isinstance(kind, K.Obj):
        return False
    return isinstance(inspect.getattr_static(kind.cls, word, None), _OWN)


def asked_for(node: Node, facts: KindFacts) -> list[tuple[Node, str]]:
    """Return what an expression asks for which attribute: `b.up()`, `b.up`, `getattr(b, "up")`."""
    if isinstance(node, gast.Call) and facts.objects.get(node.func) is getattr and node.args[1:]:
        return [(node.args[0], getattr(node.args[1], "value", ANY))]
    read = node.func if isinstance(node, gast.Call) else node
    asks = isinstance(read, gast.Attribute) and isinstance(read.ctx, gast.Load)
    return [(read.value, read.attr)] if asks else []


def run_by(facts: KindFacts, kind: K.Obj, asks: frozenset[str]) -> Iterator[Node]:
    """Yield calls, which stand nowhere, of what runs where an object is asked for attributes."""
    public = frozenset(w for w in dir(kind.cls) if not w.startswith("__"))
    for word in sorted(public if ANY in asks else asks):
        run = _function_of(kind, word)
        if isinstance(run, types.FunctionType):
            owner = name("self")
            facts.of[owner] = kind
            count = max(wanted(K.Known(run), lambda: 1) - 1, 0)
            call = gast.Call(attribute(owner, word), [constant(None) for _ in range(count)], [])
            facts.methods[call] = (run, owner)
            yield call


def _function_of(kind: K.Obj, word: str) -> Any:
    """Return what runs where an object is asked for an attribute, or where that is called."""
    static = inspect.getattr_static(kind.cls, word, None)
    if static is None and word not in dict(kind.fields):
        return inspect.getattr_static(kind.cls, "__getattr__", None)
    for kept in ("fget", "func", "__func__"):
        static = getattr(static, kept, static) if isinstance(static, _OWN) else static
    return static


def lent(kind: Kind) -> list[Kind]:
    """Return the functions of the user's that a value may be, or what may call one."""
    options = kind.options if isinstance(kind, K.Choice) else (kind,)
    return [k for k in options if isinstance(k, K.LocalFunction) or _is_lent(k)]


def _is_lent(kind: Kind) -> bool:
    if isinstance(kind, K.Unknown):
        return any("__call__" in vars(cls) for cls in getattr(kind.cls, "__mro__", ()))
    value = getattr(kind, "value", None) if isinstance(kind, K.Known) else None
    if isinstance(value, type):
        ours = isinstance(inspect.getattr_static(value, "__init__", None), types.FunctionType)
        return ours and not registry.is_foreign(value)
    if (getattr(value, "__module__", None) or "").startswith("s2sad."):
        return False  # a rule's helper
    return isinstance(value, _LENT) and not registry.is_foreign(value)


def wanted(kind: Any, more: Callable[[], int]) -> int:
    """Return how many arguments a function wants; one of any number of them gets `more`."""
    if isinstance(kind, K.LocalFunction):
        args = kind.node.args
        count = len([*args.posonlyargs, *args.args]) - len(args.defaults)
        return count + (more() if args.vararg is not None else 0)  # a method that is kept for later
    try:
        found = inspect.signature(kind.value).parameters.values()
    except (AttributeError, TypeError, ValueError):
        return more()
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    count = sum(p.kind in plain and p.default is p.empty for p in found)
    return count + (more() if any(p.kind is p.VAR_POSITIONAL for p in found) else 0)


def words_in(kind: Any) -> frozenset[str]:
    """Return the attributes that a function asks for which cannot be read."""
    if isinstance(kind, K.LocalFunction):
        nodes = (n for n in walk(kind.node) if isinstance(n, gast.Attribute))
        return frozenset(n.attr for n in nodes)
    fn = inspect.unwrap(getattr(getattr(kind, "value", None), "func", kind))
    code = getattr(fn, "__code__", None)
    return frozenset({ANY}) if code is None else frozenset(code.co_names)
