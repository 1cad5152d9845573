"""Dicts whose keys nobody knows before the program runs: what is known of them as they are filled.

cache[i] = y                 cache: a dict with keys of i's kind, whose values may also be what y is
"""

from __future__ import annotations

from typing import Any

from s2sad import kinds as K
from s2sad.kinds import MISSING, Kind


def with_entry(owner: K.AnyDict, key: Kind, kind: Kind) -> K.AnyDict:
    """Return the kind of a dict after an entry is set."""
    literal = literal_key(key)
    if isinstance(owner, K.Dict) and literal is not MISSING:
        return K.Dict(tuple({**dict(owner.items), literal: kind}.items()))
    if isinstance(owner, K.Dict) and surely_has(owner, key):
        among = key.keys if isinstance(key, K.Str) and key.keys else frozenset()
        return owner.rebuilt(K.join(old, kind) if k in among else old for k, old in owner.items)
    old = K.opened(owner)
    return K.OpenDict(K.join(old.key, K.key_kind(key)), K.join(old.item, K.erase_value(kind)))


def literal_key(key: Kind) -> Any:
    """Return the key that stands in the program, MISSING where it does not."""
    if isinstance(key, K.NoneKind):
        return None
    if isinstance(key, K.Tuple) and key.cls is None:
        parts = tuple(map(literal_key, key.items))
        return MISSING if any(p is MISSING for p in parts) else parts
    return getattr(key, "value", MISSING) if isinstance(key, K.Str | K.Num | K.Known) else MISSING


def surely_has(owner: Kind, key: Kind) -> bool | None:
    """Say whether a dict has a key; None where that is not known before the program runs."""
    literal = literal_key(key)
    if not isinstance(owner, K.Dict):
        return None
    if literal is MISSING:
        among = key.keys if isinstance(key, K.Str) else None
        return True if among and among <= set(owner.steps) else None
    return literal in owner.steps


def dict_item(owner: K.Dict, key: Kind) -> Kind:
    """Return the kind of a dict's value."""
    literal = literal_key(key)
    return K.one_of(owner.inside) if literal is MISSING else owner.at(literal) or K.UNKNOWN


def keys_of(kind: K.Dict) -> Kind:
    """Return the kind of a dict's keys; words are known to be some of these."""
    words = frozenset(key for key in kind.steps if isinstance(key, str))
    if kind.items and len(words) == len(kind.items):
        return K.Str(MISSING, words)
    return K.one_of(K.erase_value(K.kind_of(key, "", literal=True)) for key in kind.steps)


_FEW = 8


def keys_of_other_kinds(kind: Kind) -> list[Any]:
    """Return the keys of a dict whose values are not of one kind; none where they are."""
    if not isinstance(kind, K.Dict) or not 2 <= len(kind.items) <= _FEW:
        return []
    mixed = isinstance(K.opened(kind).item, K.Union | K.Unknown) or some_without(kind)
    known = not any(isinstance(k, K.Unknown) for k in kind.inside)
    plain = all(isinstance(key, str | int) for key in kind.steps)
    return list(kind.steps) if mixed and known and plain else []


def some_without(kind: Kind) -> bool:
    """Say whether some entries of a dict carry derivatives, and others do not."""
    return isinstance(kind, K.Dict) and len(set(map(K.differentiable, kind.inside))) > 1
