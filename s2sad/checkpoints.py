"""Functions whose calls are run once more in the backward sweep, instead of keeping what they read.

    @s2sad.checkpoint
    def step(u, dt): ...

A checkpointed function is a function like any other, with a mark that derivation reads.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from s2sad.errors import SourceError

T = TypeVar("T")
_MARK = "__s2sad_checkpoint__"


def checkpoint(f: Callable[..., Any]) -> Any:
    """Return f; where a derivative calls it, the backward sweep runs it again.

    A call then keeps its arguments, not the values in between: memory for time. What f gives must
    depend on its arguments alone, and it writes into none of them. SourceError where f is not
    written in Python.
    """
    if isinstance(f, types.MethodType):
        return types.MethodType(checkpoint(f.__func__), f.__self__)
    if isinstance(f, functools.partial):
        return functools.partial(checkpoint(f.func), *f.args, **f.keywords)
    if isinstance(f, types.FunctionType):
        return _marked(f)
    bound = getattr(f, "__call__", None)  # noqa: B004
    if isinstance(bound, types.MethodType) and not isinstance(f, type):
        return checkpoint(bound)
    if not callable(f):
        raise TypeError(f"checkpoint needs a function, not {f!r}")
    name = getattr(f, "__name__", repr(f))
    raise SourceError(
        f"{name} is not written in Python: checkpoint cannot run it again.",
        remedy=f"Give checkpoint a Python function that calls {name}.",
    )


def _marked(f: types.FunctionType) -> types.FunctionType:
    twin = types.FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    functools.update_wrapper(twin, f)
    del twin.__dict__["__wrapped__"]  # it is f, and not what stands around it
    twin.__kwdefaults__ = f.__kwdefaults__
    setattr(twin, _MARK, True)
    return twin


@functools.lru_cache(256)
def same_checkpoint(f: Callable[..., Any]) -> Any:
    """Return checkpoint(f), the same whenever that is asked."""
    return checkpoint(f)


def is_checkpointed(f: object) -> bool:
    """Say whether a function's calls are run again in the backward sweep."""
    return isinstance(f, types.FunctionType) and hasattr(f, _MARK)


def checkpointed(iterable: Iterable[T], snapshots: int, period: int | None = None) -> Iterable[T]:
    """Return what a loop goes through; its derivative keeps `snapshots` states, not every round.

        for i in checkpointed(range(n), snapshots=10):

    The backward sweep runs rounds again, in the order that the package checkpoint_schedules gives
    (MultistageCheckpointSchedule: Griewank and Walther 2000), which has to be installed. Of a loop
    that may break, or with a `period`, one state a period is kept besides, and `snapshots` of them
    for each period (TwoLevelCheckpointSchedule). Elsewhere it is the iterable. ValueError for less
    than one snapshot, or a period of less than one round.
    """
    _check_count(
        "snapshots", snapshots, "a number of states to keep", "at least one state must be kept"
    )
    if period is not None:
        _check_count("period", period, "a number of rounds", "a period has at least one round")
    return iterable


def _check_count(name: str, value: Any, what: str, least: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be {what}, not {value!r}")
    if value < 1:
        raise ValueError(f"{name}={value}: {least}")
