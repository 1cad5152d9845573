"""Tangents at the border: which arguments have one, what goes in, and what comes out.

jvp(f, (x, n), (x_dot, None))      x moves along x_dot, n is a constant
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from s2sad.cotangents import caster, mirror
from s2sad.errors import ActivityError


def directions(primals: Any, tangents: Any) -> tuple[int, ...]:
    """Return the positions of the arguments that have tangents."""
    for what, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, tuple | list):
            raise TypeError(f"jvp wants {what} as a tuple, not {type(given).__name__}.")
    if len(primals) != len(tangents):
        raise ActivityError(
            f"There are {len(primals)} primals and {len(tangents)} tangents.",
            remedy="Give one tangent for each argument, None for a constant.",
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


def pushed(
    call: Callable[..., Any], bound: inspect.BoundArguments, tangents: dict[str, Any]
) -> tuple[Any, ...]:
    """Call a derived function with values and tangents."""
    code = call.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    given = dict(zip(names[len(names) - len(tangents) :], tangents.values(), strict=True))
    y, tangent, *aux = call(*bound.args, **bound.kwargs, **given)
    return y, mirror(tangent, y), *aux
