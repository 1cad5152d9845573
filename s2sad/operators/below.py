"""A class method whose derivatives stand below its decorator: where Python tells them no class."""

from __future__ import annotations

import gc
import inspect
import sys
import types
from typing import Any

from s2sad.errors import UnsupportedError
from s2sad.operators.derived import place_of


def refuse_below_classmethod(function: Any) -> None:
    """Refuse derivatives of a decorated function that a class method is made of.

    From Python 3.13 on, what is asked of `C.method` is asked of the function below @classmethod,
    which does not see C.
    """
    primal = function.__s2sad_primal__
    if not isinstance(primal, types.FunctionType) or "." not in primal.__qualname__:
        return
    if type(_member(primal)) is classmethod or _is_held_by_one(function):
        raise UnsupportedError(
            f"{primal.__qualname__} is a class method, and @differentiate stands below "
            "@classmethod: this Python does not tell its derivatives the class.",
            remedy="Write @differentiate above @classmethod.",
            place=place_of(primal),
        )


def _member(fn: types.FunctionType) -> Any:
    """Return what a class of a module has under a function's name, None where there is no such."""
    owner: Any = sys.modules.get(fn.__module__)
    *above, name = fn.__qualname__.split(".")
    for part in above:
        owner = getattr(owner, part, None)
    return inspect.getattr_static(owner, name, None) if inspect.isclass(owner) else None


def _is_held_by_one(function: Any) -> bool:
    """Say whether a class method holds a function: classes made in functions have no such name."""
    return any(type(holder) is classmethod for holder in gc.get_referrers(function))
