"""What is real or complex as the content of an array decides: kinds say that it may be either."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from s2sad import kinds as K
from s2sad.kinds import Kind

_COMPLEX = {"float32": "complex64", "float64": "complex128"}
_REAL = {wide: narrow for narrow, wide in _COMPLEX.items()}


def is_mixed(kind: Kind) -> bool:
    """Say whether a value may be real and may be complex: it is found out at run time."""
    carriers = K.carriers(kind)
    return any(map(_is_either, carriers)) or len(set(map(K.is_complex, carriers))) > 1


def _is_either(kind: Kind) -> bool:
    return isinstance(kind, K.Num) and kind.either


def surely_real(kind: Kind) -> bool:
    """Say whether a value is real numbers, whatever the run finds."""
    return K.is_numeric(kind) and K.differentiable(kind) and not K.is_complex(kind)


def has_gradient(result: Kind) -> bool:
    """Say whether results of a kind are real floats, or may be found to be.

    On some paths it may be an integer, as the 0 of an empty sum is; a truth value it never is.
    """
    if may_be_complex_number(result):
        return True
    types = {_type_of(k) for k in K.options(result)}
    return "float" in types and types <= {"float", "int"}


def is_step(result: Kind, *, of_truth: bool = False) -> bool:
    """Say whether a result is a truth value or, unless those are asked for, an integer."""
    types = {_type_of(k) for k in K.options(result)}
    return types <= ({"bool"} if of_truth else {"int", "bool"})


def _type_of(kind: Kind) -> str:
    """Return what a number, or an array without axes, is: a bool, an int or a float."""
    if isinstance(kind, K.Num):
        return kind.type
    if not isinstance(kind, K.Array) or kind.rank:
        return ""
    dtype = np.dtype(kind.dtype) if kind.dtype != "any" else np.dtype(float)
    return {"b": "bool", "i": "int", "u": "int", "f": "float"}.get(dtype.kind, "")


def may_be_complex_number(kind: Kind) -> bool:
    """Say whether it is found at run time that a value is a real number, or a complex one."""
    numbers = all(isinstance(k, K.Num) or getattr(k, "rank", 1) == 0 for k in K.options(kind))
    return numbers and is_mixed(kind)


def real_or_complex(kind: Kind) -> Kind:
    """Return the kind of what is as one of this kind, but for its numbers: real or complex."""
    if isinstance(kind, K.Tuple):
        return K.Tuple(tuple(map(real_or_complex, kind.items)), kind.cls)
    if isinstance(kind, K.Array):
        real = _REAL.get(kind.dtype, kind.dtype)
        if real not in _COMPLEX:
            return kind
        both = (real, _COMPLEX[real])
        return K.union(K.Array(d, kind.dims, kind.namespace) for d in both)
    if isinstance(kind, K.Num) and kind.type in ("float", "complex"):
        return K.Num("complex", "any", either=True)
    return kind


def is_one_of(kind: Kind) -> bool:
    """Say whether an argument, or an item of a display, has one of several kinds."""
    parts = kind.inside if isinstance(kind, K.Tuple | K.List) else (kind,)
    return any(isinstance(k, K.Union) or _is_either(k) or _is_dtype(k) for k in parts)


def _is_dtype(kind: Kind) -> bool:
    """Say whether this is one of several dtypes."""
    options = kind.options if isinstance(kind, K.Choice) else ()
    return any(isinstance(k, K.Known) and isinstance(k.value, np.dtype) for k in options)


def dtype_of_either(kind: Kind) -> Kind:
    """Return the kind of the dtype of what is real or complex."""
    dtypes = {np.dtype(k.dtype) for k in K.carriers(kind) if isinstance(k, K.Array)}
    return K.Choice(tuple(K.Known(d) for d in sorted(dtypes)))


def each_choice(
    args: Iterable[Kind], keywords: Mapping[str, Kind]
) -> Iterator[tuple[list[Kind], dict[str, Kind]]]:
    """Return the arguments of a call with one kind of each: all that they may be together."""
    args = list(args)
    for chosen in itertools.product(*map(alternatives, (*args, *keywords.values()))):
        named = zip(keywords, chosen[len(args) :], strict=True)
        yield list(chosen[: len(args)]), dict(named)


def alternatives(kind: Kind) -> tuple[Kind, ...]:
    """Return the kinds that an argument may have: of a display, as its items are together."""
    if _is_dtype(kind):
        assert isinstance(kind, K.Choice)
        return kind.options
    items = kind.items if isinstance(kind, K.Tuple | K.List) else None
    if items is None and isinstance(kind, K.List):
        return tuple(K.List(k, kind.length) for k in _each(kind.item))
    if items is None or math.prod(len(_each(k)) for k in items) > _MOST:
        return _each(kind)
    chosen = itertools.product(*map(_each, items))
    if isinstance(kind, K.Tuple):
        return tuple(K.Tuple(some, kind.cls) for some in chosen)
    return tuple(K.list_of(list(some)) for some in chosen)


_MOST = 64


def _each(kind: Kind) -> tuple[Kind, ...]:
    """Return the kinds of which a value has one; of a number that is either it is both."""
    return tuple(one for k in K.options(kind) for one in (_both(k) if _is_either(k) else (k,)))


def _both(kind: Kind) -> tuple[Kind, ...]:
    assert isinstance(kind, K.Num)
    return replace(kind, type="float", either=False), replace(kind, either=False)


def may_be_plain(kind: Kind) -> bool:
    """Say whether a value may be one of Python's own numbers."""
    return any(isinstance(k, K.Num) and k.dtype in (None, "any") for k in K.options(kind))
