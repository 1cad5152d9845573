"""Kinds across a call: what an argument is to the function called, and its result to the caller.

Lengths have names within one run of one function. Two lengths of arguments that are the same to the
caller are the same to the function; a length of the result that is one of an argument's is that to
the caller, and all others are new to it: the next call has others.

def rates(state):
    hare, lynx = state          who comes back from here was given two items, and so knows
"""

from __future__ import annotations

import functools
import types
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from s2sad import kinds as K
from s2sad.facts.lengths import anew, relabel
from s2sad.kinds import Dim, Kind

Lengths = dict[tuple[str, int], Dim]
Proved = tuple[tuple[Dim, int], ...]


def rebase(kind: Kind, path: str, known: Lengths | None = None) -> Kind:
    """Name the lengths of an argument after the parameter, and forget its value.

    `known` are the lengths of a call's arguments that have names by now: they keep them. Each item
    of a list has lengths of its own.
    """
    known = {} if known is None else known
    if isinstance(kind, K.Array):
        dims = tuple(_renamed(d, f"{path}.{i}", known) for i, d in enumerate(kind.dims))
        return replace(kind, dims=dims)
    if isinstance(kind, K.Opaque):
        named = hasattr(kind.cls, "shape")
        return K.Opaque(kind.cls, rebase(kind.like, path, known)) if named else kind  # type: ignore[arg-type]
    if isinstance(kind, K.Num) and not hasattr(kind, "lasting"):
        dim = _renamed(kind.dim or K.fresh_dim(), path, known) if kind.type == "int" else None
        return K.Num(kind.type, kind.dtype, K.MISSING, dim)
    if isinstance(kind, K.List) and kind.items is None and not isinstance(kind.item, K.Obj):
        kind = K.List(kind.item)  # of a display of objects, a callee may make a tuple
    if kind.inside:
        own = None if K.EACH in kind.steps else known
        return kind.rebuilt(rebase(part.kind, path + part.path, own) for part in kind.parts)
    return outlives(K.erase_value(kind))


def _renamed(dim: Dim, path: str, known: Lengths) -> Dim:
    if dim.symbol.startswith("="):
        return dim
    place = dim.symbol, dim.cut
    new = known.get(place, Dim(path))
    known[place] = replace(new, many=new.many or dim.many, none=new.none or dim.none)
    return known[place]


def handed_back(kind: Kind, known: Lengths) -> Kind:
    """Return the kind of a result as the caller names its lengths; others get new names.

    `known` are the names that the caller's lengths have in the function.
    """
    back = {new.symbol: Dim(*caller, new.many, new.none) for caller, new in known.items()}
    return relabel(kind, anew(lambda _: False, back))


def proved_by(known: Lengths, counts: Mapping[str, int]) -> Proved:
    """Return what a call that returns proves of lengths in its caller.

    `counts` are the lengths in the function that are numbers when it returns.
    """
    return tuple(
        (Dim(*caller), counts[new.symbol]) for caller, new in known.items() if new.symbol in counts
    )


def brought_along(fn: Any, attr: str) -> Kind | None:
    """Return the kind of what a partial or a bound method brings along: `h.args`, `m.__self__`.

    It is as long as nothing else in the function at hand.
    """
    if isinstance(fn, functools.partial) and attr in ("args", "keywords"):
        return handed_back(K.kind_of(getattr(fn, attr), "bound"), {})
    if isinstance(fn, types.MethodType) and attr == "__self__":
        return handed_back(K.kind_of(fn.__self__, "bound"), {})
    return None


def is_plain(kind: Kind) -> bool:
    """Say whether a value is known to hold no function that captures variables."""
    if isinstance(kind, K.Iterable_):
        return False  # of map it holds one
    if kind.structure or kind.inside:
        return all(map(is_plain, kind.inside))
    return isinstance(kind, K.Num | K.Array | K.Str | K.NoneKind)


def outlives(kind: Kind) -> Kind:
    """Return a kind where the variables that its inner functions capture are out of sight."""
    if isinstance(kind, K.LocalFunction):
        if not kind.variables:
            return kind
        return K.Unknown("an inner function outside the scope of the variables that it captures")
    if isinstance(kind, K.Choice):
        return next((k for k in map(outlives, kind.options) if isinstance(k, K.Unknown)), kind)
    return kind.over(outlives)


def holds_functions(kind: Kind) -> bool:
    """Say whether a value is one of several inner functions, or a structure that holds some.

    An object counts where what it holds captures variables.
    """
    if isinstance(kind, K.LocalFunction):
        return False
    if isinstance(kind, K.Choice):
        return any(isinstance(k, K.LocalFunction) for k in kind.options)
    parts = kind.inside if kind.how == "item" else ()
    inner = any(isinstance(k, K.LocalFunction) or holds_functions(k) for k in parts)
    return inner or outlives(kind) != kind
