"""What a call of the library says of where its result goes: `out`, `copy`, by name or position."""

from __future__ import annotations

import functools
import inspect
import types
from typing import Any

import gast
import numpy as np

from s2sad import registry
from s2sad.nodes import Node


def spares_copy(fn: Any, node: Node) -> bool:
    """Say whether a library function may be told not to copy what it is given."""
    given = [k.value for k in node.keywords if k.arg == "copy"]
    names = positional_parameters(fn) if fn is not None and node.args else ()
    if "copy" in names:
        given += node.args[names.index("copy") :][:1]
    return any(getattr(value, "value", False) is not True for value in given)


def _by_source(fn: Any) -> bool:
    """Say whether it is a function's source that says what it writes: rules have an `out`, too."""
    known = registry.rule_for(fn) is not None or registry.is_foreign(fn)
    return isinstance(fn, types.FunctionType) and not known


def positional_outs(fn: Any, args: list[Any]) -> list[Any]:
    """Return the arguments of a library call that are given by position and are outputs."""
    if fn is None:
        return []
    if isinstance(fn, np.ufunc):
        return list(args[fn.nin :])
    names = positional_parameters(fn)
    if "out" not in names or _by_source(fn):
        return []
    place = names.index("out")
    return [a for a in args[place : place + 1] if not isinstance(a, gast.Constant)]


def given_parameters(fn: Any, node: Node, *, method: bool) -> set[str] | None:
    """Return the parameters beside the first that a call gives; None where that is not known."""
    found = {k.arg for k in node.keywords}
    given = node.args if method else node.args[1:]
    if None in found or any(isinstance(a, gast.Starred) for a in given):
        return None
    by_position = parameters_given(fn, len(given))
    return None if by_position is None else found | by_position


def parameters_given(fn: Any, count: int) -> set[str] | None:
    """Return the parameters that so many operands beside the first give, by position."""
    if not count:
        return set()
    try:
        parameters = list(inspect.signature(fn).parameters.values())[1:]
    except (TypeError, ValueError):
        return None
    several = bool(parameters) and parameters[0].kind is inspect.Parameter.VAR_POSITIONAL
    by_position = parameters[:1] if several else parameters[:count]
    return {p.name for p in by_position}


@functools.lru_cache(1024)
def positional_parameters(fn: Any) -> tuple[str, ...]:
    """Return the names of a library function's parameters, as far as it tells them.

    A rule's `out` is a result that is there, and so is that of its helpers: it is not written.
    """
    if registry.is_rule(fn) or registry.is_helper(fn):
        return ()
    try:
        parameters = inspect.signature(fn).parameters.values()
        if any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters):
            return ()
        return tuple(p.name for p in parameters if p.kind is not inspect.Parameter.KEYWORD_ONLY)
    except (TypeError, ValueError):
        return {"dot": ("a", "b", "out")}.get(getattr(fn, "__name__", ""), ())
