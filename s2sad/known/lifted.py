"""Kinds in another array namespace: what a call gives there, found from what NumPy's twin gives.

CuPy has no scalars of its own: what NumPy gives as one is an array without axes there, and what
picks a single element is a view of it.

    lifted(Num("float", "float64"), "cupy")     Array("float64", (), "cupy")
"""

from __future__ import annotations

import types
from collections.abc import Iterable
from dataclasses import replace

from s2sad import kinds as K
from s2sad.kinds import MISSING, Kind
from s2sad.known import spaces
from s2sad.known.mapped import mapped
from s2sad.stages import KindFacts


def lifted(kind: Kind, space: str) -> Kind:
    """Return the kind in a namespace of a value that has this kind in NumPy."""
    if space == spaces.NUMPY:
        return kind
    if isinstance(kind, K.Array):
        return replace(kind, namespace=space)
    if isinstance(kind, K.Num):
        plain = kind.dtype in (None, "any")
        return kind if plain else K.Array(str(kind.dtype), (), space)
    structure = mapped(kind, lambda part: lifted(part, space))
    if structure is not None:
        return structure
    if isinstance(kind, K.Union):
        return K.union(lifted(k, space) for k in kind.options)
    if isinstance(kind, K.Iterable_):
        return replace(kind, item=lifted(kind.item, space))
    if isinstance(kind, K.Known) and isinstance(kind.value, types.ModuleType):
        return K.Known(spaces.counterpart(kind.value, space))
    return kind


def lowered(kind: Kind) -> Kind:
    """Return the kind that NumPy's twin is given in the place of a value."""
    if isinstance(kind, K.Array):
        return replace(kind, namespace=spaces.NUMPY)
    if isinstance(kind, K.Iterable_):
        return replace(kind, item=lowered(kind.item))
    structure = mapped(kind, lowered)
    if structure is not None:
        return structure
    if isinstance(kind, K.Union):
        return K.union(map(lowered, kind.options))
    return kind


def space_among(kinds: Iterable[Kind]) -> str:
    """Return the namespace of a call with arguments of these kinds: CuPy's where one is of it."""
    return next((s for s in map(_space, kinds) if s != spaces.NUMPY), spaces.NUMPY)


def _space(kind: Kind) -> str:
    if isinstance(kind, K.Array):
        return kind.namespace
    parts: list[Kind] = []
    if isinstance(kind, K.Tuple):
        parts = list(kind.items)
    elif isinstance(kind, K.List):
        parts = [kind.item, *(kind.items or ())]
    elif isinstance(kind, K.OpenDict | K.Iterable_):
        parts = [kind.item]
    elif isinstance(kind, K.Dict):
        parts = [k for _, k in kind.items]
    elif isinstance(kind, K.Obj):
        parts = [k for _, k in kind.fields]
    elif isinstance(kind, K.Union):
        parts = list(kind.options)
    return space_among(parts)


def namespace_given(fn: object, args: list[Kind], keywords: dict[str, Kind]) -> Kind | None:
    """Return the module that a function tells from its arrays; None for another function."""
    name, home = getattr(fn, "__name__", ""), getattr(fn, "__module__", "") or ""
    compat = home.startswith("array_api_compat") and name in _TELLING
    if not compat and not (name == "get_array_module" and spaces.home(fn) != spaces.NUMPY):
        return None
    if any(isinstance(k, K.Unknown | K.Union) for k in args):
        return K.Unknown("the namespace of a value that may not be an array")
    space = space_among(args)
    module = spaces.module_of(space)
    plain = keywords.get("use_compat", K.NONE)
    if compat and getattr(plain, "value", MISSING) is not False:
        wrapper = f"array_api_compat.{space}"
        module = spaces.module_of(wrapper)
    return K.Known(module)


_TELLING = ("array_namespace", "get_namespace")


def space_in(kinds: KindFacts) -> str:
    """Return the namespace of a function's arrays: CuPy's where any of them is there."""
    return space_among(kinds.of.values())
