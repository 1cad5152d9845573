"""Tangents at the border: which arguments have one, what goes in, and what comes out.

jvp(f, (x, n), (x_dot, None))      x moves along x_dot, n is a constant
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2sad.errors import ActivityError, InternalError, UnsupportedError
from s2sad.operators.cotangents import caster
from s2sad.operators.sharing import place_of
from s2sad.runtime import attributes
from s2sad.tree import is_array


def directions(primals: Any, tangents: Any) -> tuple[int, ...]:
    """Return the positions of the arguments that have tangents."""
    for what, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, tuple | list):
            raise TypeError(f"jvp needs {what} as a tuple, not {type(given).__name__}.")
    if len(primals) != len(tangents):
        raise ActivityError(
            f"The number of primals ({len(primals)}) differs from the number of tangents "
            f"({len(tangents)}).",
            remedy="Give one tangent for each argument, and None for a constant one.",
        )
    found = tuple(i for i, t in enumerate(tangents) if t is not None)
    if not found:
        raise ActivityError(
            "No argument has a tangent.", remedy="Give a tangent to what is to be differentiated."
        )
    return found


def cast_tangents(tangents: Sequence[Any], values: Sequence[Any], names: Sequence[str]) -> Any:
    """Return the tangents by parameter, checked and cast: built like their arguments."""
    return {
        n: caster(value, f"The tangent of {n}")(tangent)
        for n, value, tangent in zip(names, values, tangents, strict=True)
    }


@dataclass(frozen=True)
class Arguments:
    """Arguments as a call gives them."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def pushed(
    call: Callable[..., Any],
    bound: inspect.BoundArguments | Arguments,
    tangents: dict[str, Any],
    batch: bool = False,
    fn: types.FunctionType | None = None,
) -> tuple[Any, ...]:
    """Call a derived function with values and tangents; of a batch there are several of each.

    `fn` is the user's function, at which errors point.
    """
    code = call.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    given = dict(zip(names[len(names) - len(tangents) :], tangents.values(), strict=True))
    y, tangent, *aux = call(*bound.args, **bound.kwargs, **given)
    try:
        if batch:
            return y, tuple(built_like(y, part) for part in tangent), *aux
        return y, built_like(y, tangent), *aux
    except UnsupportedError as error:
        raise error.at(None if fn is None else place_of(fn)) from None


def built_like(y: Any, tangent: Any) -> Any:
    """Return a tangent in the classes of its value; None beside what carries no derivative."""
    if is_array(y):
        if y.dtype.kind not in "fc":
            return None
        _check_known(tangent)
        if np.shape(tangent) != y.shape:
            raise InternalError(f"a tangent of shape {np.shape(tangent)} beside {y.shape}")
        return tangent.astype(y.dtype, copy=False) if is_array(tangent) else tangent
    if isinstance(y, np.inexact | float | complex):
        _check_known(tangent)
    if isinstance(y, np.inexact):
        return type(y)(tangent)
    if isinstance(y, float | complex):
        return tangent if isinstance(tangent, type(y)) else type(y)(tangent)
    if tangent is None and isinstance(y, tuple | list):
        tangent = [None] * len(y)  # of numbers without a derivative
    if isinstance(y, tuple):
        parts = [built_like(v, t) for v, t in zip(y, tangent, strict=True)]
        make: Any = getattr(type(y), "_make", tuple)
        return make(parts)
    if isinstance(y, list):
        return [built_like(v, t) for v, t in zip(y, tangent, strict=True)]
    if isinstance(y, dict):
        return {key: built_like(v, tangent[key]) for key, v in y.items()}
    fields = attributes(y)
    if not fields:
        return None
    for field, part in fields.items():
        object.__setattr__(tangent, field, built_like(part, getattr(tangent, field)))
    return tangent


def _check_known(tangent: Any) -> None:
    """Refuse a number of which nothing was known when the derivative was written."""
    if tangent is None:
        raise UnsupportedError(
            "A number in the result has no tangent: s2sad did not know what it is made of "
            "when it derived the code.",
            remedy="Fill lists by statements in the function itself, and return their items.",
        )
