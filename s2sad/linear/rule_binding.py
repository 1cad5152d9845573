"""Bind a call's arguments to the parameters of a rule: arrays, and settings by keyword."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad import registry
from s2sad.kinds import Kind
from s2sad.known.generators import is_drawing
from s2sad.nodes import Node, constant
from s2sad.registry import given_to
from s2sad.rulebook.rule_forms import is_plain, own_default


class BindingError(Exception):
    """The rule cannot take the call as it stands; the message says why."""


@dataclass(frozen=True)
class BoundCall:
    """Arguments by the rule's parameter names; `arrays` are the positional ones in order."""

    arrays: tuple[tuple[str, Any], ...]
    settings: dict[str, Any]
    varargs: tuple[str, tuple[Any, ...]] | None


_UFUNC_METHODS = {
    "reduce": ("array", "axis", "dtype", "out", "keepdims"),
    "accumulate": ("array", "axis", "dtype", "out"),
    "reduceat": ("array", "indices", "axis", "dtype", "out"),
    "outer": ("A", "B"),
}


# Parameters that the library knows by two names.
_OTHER_NAMES: dict[tuple[Any, Any], str] = {
    (np.clip, "min"): "a_min",
    (np.clip, "max"): "a_max",
    **{(f, "correction"): "ddof" for f in (np.var, np.std, np.nanvar, np.nanstd)},
}


@functools.lru_cache(2048)
def _signature(fn: Any) -> tuple[str, ...] | None:
    """Return the names of the positional parameters of a library function, where it tells them."""
    if isinstance(fn, np.ufunc):
        return None
    if isinstance(getattr(fn, "__self__", None), np.ufunc):
        return _UFUNC_METHODS.get(fn.__name__)
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return None
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = tuple(p.name for p in parameters if p.kind in kinds)
    return names[1:] if is_drawing(fn) else names


@functools.lru_cache(2048)
def _knows(fn: Any, names: tuple[str, ...]) -> bool:
    """Say whether all names are parameters of a function, by position or by keyword."""
    if isinstance(getattr(fn, "__self__", None), np.ufunc):
        return set(names) <= set(_signature(fn) or ())
    parameters = inspect.signature(fn).parameters
    kinds = {p.kind for p in parameters.values()}
    gathers = inspect.Parameter.VAR_POSITIONAL in kinds
    open_ended = inspect.Parameter.VAR_KEYWORD in kinds and not gathers
    other = set(names) - parameters.keys()
    return not other or (open_ended and names[0] in parameters)


@functools.lru_cache(2048)
def _gathers(fn: Any) -> str | None:
    """Return the name under which a function gathers further positional arguments."""
    if isinstance(fn, np.ufunc):
        return None
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return None
    return next((p.name for p in parameters if p.kind is inspect.Parameter.VAR_POSITIONAL), None)


@functools.lru_cache(2048)
def _parameters(
    rule: Callable[..., Any], skip: int
) -> tuple[tuple[str, ...], str | None, frozenset[str]]:
    positional = []
    variadic = None
    settings = set()
    for p in inspect.signature(rule).parameters.values():
        if p.kind is inspect.Parameter.VAR_POSITIONAL:
            variadic = p.name
        elif p.kind is inspect.Parameter.KEYWORD_ONLY:
            settings.add(p.name)
        else:
            positional.append(p.name)
    return tuple(positional[skip:]), variadic, frozenset(settings - given_to(rule).keys())


_SAY_DTYPE = (np.concatenate, np.einsum, np.stack, np.hstack, np.vstack)


def _says_how(fn: Any, name: str, node: Node) -> bool:
    """Say whether a keyword of NumPy's says how a result lies, or is cast: derivatives follow it.

    A rule for which it matters lists it.
    """
    ufunc = isinstance(fn, np.ufunc)
    home = str(getattr(fn, "__module__", "")).partition(".")[0]
    if not ufunc and home != "numpy" and getattr(fn, "__objclass__", None) is not np.ndarray:
        return False
    value = getattr(node, "value", None)
    if name == "dtype":
        return ufunc or fn in _SAY_DTYPE
    if name == "order":
        return value in ("C", "F", "A", "K")
    if name in ("where", "out"):
        return ufunc and value is (True if name == "where" else None)
    return name == "casting" or (name == "subok" and isinstance(value, bool))


def _is_default(fn: Any, name: str, node: Node) -> bool:
    """Say whether a literal is what the parameter of a library function is anyway."""
    if not isinstance(node, gast.Constant):
        return False
    if isinstance(fn, np.ufunc):
        return False
    try:
        default = inspect.signature(fn).parameters[name].default
    except (TypeError, ValueError, KeyError):
        return False
    return type(default) is type(node.value) and bool(default == node.value)


@functools.cache
def _reduces_numbers(fn: Any) -> bool:
    """Say whether to a function of the library axis 0 of an array without axes is no axis."""
    if not registry.is_foreign(fn):
        return False
    try:
        along, over = fn(np.ones(()), axis=0), fn(np.ones(()), axis=None)
    except (TypeError, ValueError, IndexError):
        return False
    return bool(np.shape(along) == np.shape(over))


def without_axes(bound: BoundCall, fn: Any, kind_of: Callable[[Node], Kind]) -> BoundCall:
    """Return a call with no axis where the array has none: NumPy reduces it along 0 and -1."""
    name = getattr(fn, "__name__", "")
    if isinstance(getattr(fn, "__self__", None), np.ufunc):
        known = name == "reduce"
    else:
        known = "axis" in bound.settings and _reduces_numbers(fn)
    kind = kind_of(bound.arrays[0][1]) if known and bound.arrays else None
    if not isinstance(kind, K.Num) and not (isinstance(kind, K.Array) and kind.rank == 0):
        return bound
    settings = bound.settings | {"axis": gast.Constant(None, None)}
    return BoundCall(bound.arrays, settings, bound.varargs)


def _own_defaults(fn: Any, rule: Any, missing: list[str]) -> dict[str, Node]:
    """Return the function's own defaults, as literals, where a rule of the user's has none."""
    if registry.is_ours(rule) or not missing:
        return {}
    parameters = inspect.signature(rule).parameters
    found: dict[str, Node] = {}
    for n in missing:
        default = own_default(fn, n)
        open_ = parameters[n].default is inspect.Parameter.empty
        if open_ and default is not None and is_plain(default):
            found[n] = _literal(default)
        elif open_ and default not in (None, inspect.Parameter.empty):
            raise BindingError(
                f"the rule needs `{n}`, which the call leaves at a default that is not a literal"
            )
    return found


def _literal(value: Any) -> Node:
    if type(value) is tuple:
        return gast.Tuple([_literal(part) for part in value], gast.Load())
    return constant(value)


def bind(
    fn: Any,
    rule: Callable[..., Any],
    skip: int,
    args: list[Node],
    keywords: list[Any],
    count: int | None = None,
) -> BoundCall:
    """Return a call's arguments as the rule's parameters; raises BindingError with the reason.

    Of the rule's positional parameters the first `skip` are no arrays; `count` are.
    """
    positional, variadic, settings = _parameters(rule, skip)
    positional = positional[:count]
    gathered = _gathers(fn)
    if any(isinstance(a, gast.Starred) for a in args) or any(k.arg is None for k in keywords):
        raise BindingError("it unpacks arguments with * or **")
    names = _signature(fn)
    by_name = names is not None and variadic is None and _knows(fn, positional)
    given: dict[str, Any] = {}
    rest: list[Any] = []
    spread: list[Any] = []
    for position, arg in enumerate(args):
        target = None
        if by_name and names is not None:
            target = names[position] if position < len(names) else None
        elif position < len(positional):
            target = positional[position]
        elif variadic is None and names is not None and position < len(names):
            target = names[position]
        if target is None:
            if variadic is None and gathered in settings:
                spread.append(arg)
                continue
            if variadic is None:
                raise BindingError(f"the rule takes fewer than {position + 1} arguments")
            rest.append(arg)
        else:
            given[target] = arg
    if gathered in settings and spread:
        given[str(gathered)] = gast.Tuple(spread, gast.Load())
    others = names is not None and not by_name and not set(positional) & set(names)
    for keyword in keywords:
        word = _OTHER_NAMES.get((fn, keyword.arg), keyword.arg)
        if others and word in (names or ())[: len(positional)] and word not in settings:
            word = positional[(names or ()).index(word)]
        given[word] = keyword.value
    for name in [n for n in given if n not in positional and n not in settings]:
        node = given.pop(name)
        if not (_is_default(fn, name, node) or _says_how(fn, name, node)):
            raise BindingError(f"the rule has no parameter `{name}`")
    given |= _own_defaults(fn, rule, [n for n in (*positional, *settings) if n not in given])
    arrays = tuple((n, given[n]) for n in positional if n in given)
    chosen = {n: v for n, v in given.items() if n in settings}
    return BoundCall(arrays, chosen, (variadic, tuple(rest)) if variadic else None)


def arrays_of(push: Callable[..., object]) -> tuple[str, ...]:
    """Return the arrays of a pushforward: their tangents come after them."""
    order = registry.positional_names(push, 1)
    return order if _gathers(push) is not None else order[: len(order) // 2]  # or both one by one
