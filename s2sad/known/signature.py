"""Signatures: a cheap key that two values share only if they are of one kind.

key_of(np.ones((3, 1)))     (dtype("float64"), (2, 1))
key_of([1.0, 2.0])          (list, 0, frozenset({float}))
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Hashable
from typing import Any

import numpy as np

from s2sad import kinds as K
from s2sad import registry
from s2sad.known import spaces
from s2sad.runtime import attributes, has_fields

PLAIN = frozenset([float, int, bool, complex, str, bytes, types.NoneType])
_Key = Any


def lasting_key(value: Any) -> _Key:
    """Return the key of a value that may contain itself, as globals do that point back."""
    try:
        return key_of(value)
    except RecursionError:
        return _bounded(value, ())


def _bounded(value: Any, around: tuple[int, ...]) -> _Key:
    """Return a key that ends where kinds do: at a value that is a part of itself."""
    if id(value) in around:
        return "itself", around.index(id(value))
    inner = (*around, id(value))
    cls = type(value)
    if isinstance(value, list | tuple):
        return cls, tuple([_bounded(part, inner) for part in value])
    if isinstance(value, dict):
        return cls, tuple(value), tuple([_bounded(part, inner) for part in value.values()])
    if not K.has_fields(cls) or K.is_function(value):
        return key_of(value)
    fields = attributes(value)
    return cls, tuple(fields), tuple([_bounded(part, inner) for part in fields.values()])


def key_of(value: Any) -> _Key:
    """Return the key of one value."""
    cls = type(value)
    if cls is np.ndarray:
        shape = value.shape
        few = 1 in shape or 0 in shape
        return value.dtype, tuple([min(n, 2) for n in shape]) if few else len(shape)
    if cls in PLAIN:
        return cls
    if cls is tuple:
        return cls, tuple([key_of(part) for part in value])
    if cls is list:
        return _key_of_list(value)
    if cls is dict:
        return _key_of_dict(value)
    return _key_of_other(value)


def _key_of_dict(value: dict[Any, Any]) -> _Key:
    keys = tuple([key_of(part) for part in value.values()])
    if not value or K.are_names(value):
        return dict, tuple(value), keys
    distinct = frozenset(keys)
    if len(distinct) > 1:
        return dict, tuple(value), keys
    return dict, frozenset(map(key_of, value)), min(len(value), 2), distinct


def _key_of_list(value: list[Any]) -> _Key:
    classes = frozenset(map(type, value))
    if classes <= PLAIN:
        return list, 0, classes
    keys = [key_of(part) for part in value]
    distinct = frozenset(keys)
    if len(distinct) > 1:
        return list, tuple(keys)
    # One item's lengths have names of their own; those of several are joined.
    return list, min(len(value), 2), distinct


def _key_of_other(value: Any) -> _Key:
    cls = type(value)
    if isinstance(value, np.generic | np.ndarray):
        return cls, value.dtype, value.ndim, tuple([min(n, 2) for n in value.shape])
    if isinstance(value, tuple):
        return cls, tuple([key_of(part) for part in value])
    if spaces.space_of(cls) is not None:
        return cls, value.dtype, tuple([min(n, 2) for n in value.shape])
    kind = K.kind_of(value, "") if K.is_function(value) else None
    if kind is not None:
        return kind
    if not K.has_fields(cls):
        found = registry.objects_of(cls)
        return cls if found is None else (cls, key_of(found.like(value)))
    fields = attributes(value)
    return cls, tuple(fields), tuple([key_of(part) for part in fields.values()])


def by_position(cls: Any) -> tuple[str, ...]:
    """Return the fields that the constructor of a dataclass takes by position."""
    return tuple(f.name for f in dataclasses.fields(cls) if f.init and not f.kw_only)


WORDS = (bool, int, str)
DEPTH = 6
_LONG = 32  # the parts of what is longer have no known values


def values_of(value: Any, depth: int = DEPTH) -> Hashable:
    """Return the words, truth values and integers in a value, None where there are none."""
    if type(value) in WORDS:
        return type(value), value
    if not depth or not (isinstance(value, tuple | dict) or has_fields(type(value))):
        return None
    found = ((step, values_of(part, depth - 1)) for step, part in parts_known(value).items())
    return tuple((step, part) for step, part in found if part is not None) or None


def parts_known(value: Any) -> dict[Any, Any]:
    """Return the parts of a structure that is no list, by their steps; nothing of a long one."""
    if isinstance(value, tuple):
        found = dict(enumerate(value))
    elif isinstance(value, dict):
        found = value
    else:
        found = attributes(value) if has_fields(type(value)) and not K.is_function(value) else {}
    return found if len(found) <= _LONG else {}
