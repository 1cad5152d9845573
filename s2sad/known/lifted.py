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
from s2sad.stages import KindFacts


def lifted(kind: Kind, space: str) -> Kind:
    """Return the kind in a namespace of a value that has this kind in NumPy."""
    if space == spaces.NUMPY:
        return kind

    def there(leaf: Kind) -> Kind:
        if isinstance(leaf, K.Array):
            return replace(leaf, namespace=space)
        if isinstance(leaf, K.Num):
            plain = leaf.dtype in (None, "any")
            return leaf if plain else K.Array(str(leaf.dtype), (), space)
        if isinstance(leaf, K.Known) and isinstance(leaf.value, types.ModuleType):
            return K.Known(spaces.counterpart(leaf.value, space))
        return leaf

    return K.mapped(there, kind)


def lowered(kind: Kind) -> Kind:
    """Return the kind that NumPy's twin is given in the place of a value."""
    if isinstance(kind, K.Array):
        return replace(kind, namespace=spaces.NUMPY)
    return kind.over(lowered)


def space_among(kinds: Iterable[Kind]) -> str:
    """Return the namespace of a call with arguments of these kinds: CuPy's where one is of it."""
    return next((s for s in map(_space, kinds) if s != spaces.NUMPY), spaces.NUMPY)


def _space(kind: Kind) -> str:
    return kind.namespace if isinstance(kind, K.Array) else space_among(kind.inside)


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
