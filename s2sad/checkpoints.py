"""Functions that the backward sweep runs again, instead of keeping their intermediate values.

    @s2sad.checkpoint
    def step(u, dt): ...

A checkpointed function is an ordinary function with a mark that derivation reads.
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
    """Return f with a mark: in a derivative, the backward sweep runs each call of f again.

    >>> @s2sad.checkpoint
    ... def step(u):
    ...     return u + 0.1 * np.sin(u)
    >>> s2sad.grad(lambda u: np.sum(step(step(u))))(np.zeros(2))
    array([1.21, 1.21])

    The forward sweep then keeps only the arguments of each call, not the intermediate values; this
    saves memory and costs time. The result of f must depend only on its arguments, and f must not
    write into them. A SourceError is raised if f is not written in Python.
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
    """Return checkpoint(f): always the same function for the same f."""
    return checkpoint(f)


def is_checkpointed(f: object) -> bool:
    """Return whether the backward sweep runs the calls of a function again."""
    return isinstance(f, types.FunctionType) and hasattr(f, _MARK)


def checkpointed(iterable: Iterable[T], snapshots: int, period: int | None = None) -> Iterable[T]:
    """Return the iterable of a `for` loop whose derivative keeps only `snapshots` states.

    >>> def decay(x, n):
    ...     for i in s2sad.checkpointed(range(n), snapshots=3):
    ...         x = x - 0.1 * x * x
    ...     return x
    >>> round(s2sad.grad(decay)(1.0, 10), 6)
    0.218283

    Without `checkpointed`, the derivative keeps values from every iteration. With it, the backward
    sweep recomputes iterations from the kept states. The package checkpoint_schedules, which must
    be installed, chooses the states (MultistageCheckpointSchedule: Griewank and Walther 2000).

    If the loop may break, the number of iterations is unknown; then the derivative keeps one state
    for every `period` iterations, and in addition `snapshots` states while it goes back through a
    period (TwoLevelCheckpointSchedule). A given `period` selects the same schedule for any loop.

    Outside of a derivative the function returns its iterable unchanged. A ValueError is raised if
    `snapshots` or `period` is less than 1.
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
