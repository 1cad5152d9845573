"""Known values: words, truth values and integers that are the same in all that is derived.

f(x, mode="full", axes=(0, 1))        mode is the string "full", and axes the tuple (0, 1)

A derivative that was derived for known values holds for these alone: `values_of` gives what a guard
compares. Floats are never known: they are what a program computes with.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from s2sad import kinds as K
from s2sad.kinds import Kind
from s2sad.runtime import attributes, has_fields
from s2sad.syntax.decided import settled

_WORDS = (bool, int, str)
_DEPTH = 6
_LONG = 32  # the parts of what is longer have no known values


def with_values(kind: Kind, value: Any, depth: int = _DEPTH) -> Kind:
    """Return the kind of a value with the words, truth values and integers in it."""
    if type(value) in _WORDS:
        return settled(K.kind_of(value, "", literal=True)) or kind
    if not depth or not isinstance(kind, K.Tuple | K.Dict | K.Obj):
        return kind
    there = _parts(value)
    return kind.rebuilt(
        with_values(k, there[step], depth - 1) if step in there else k for step, k in kind.by_step
    )


def values_of(value: Any, depth: int = _DEPTH) -> Hashable:
    """Return the words, truth values and integers in a value, None where there are none."""
    if type(value) in _WORDS:
        return type(value), value
    if not depth or not (isinstance(value, tuple | dict) or has_fields(type(value))):
        return None
    found = ((step, values_of(part, depth - 1)) for step, part in _parts(value).items())
    return tuple((step, part) for step, part in found if part is not None) or None


def _parts(value: Any) -> dict[Any, Any]:
    """Return the parts of a structure that is no list, by their steps; nothing of a long one."""
    if isinstance(value, tuple):
        found = dict(enumerate(value))
    elif isinstance(value, dict):
        found = value
    else:
        found = attributes(value) if has_fields(type(value)) and not K.is_function(value) else {}
    return found if len(found) <= _LONG else {}
