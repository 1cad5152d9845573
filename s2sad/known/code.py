"""What is code rather than data: it is part of the program, and told apart by identity."""

from __future__ import annotations

import functools
import inspect
import types
from typing import Any

import numpy as np

from s2sad import registry
from s2sad.derivative import is_decorated, is_operator
from s2sad.known import spaces
from s2sad.tree import Unravel


def is_function(value: Any) -> bool:
    """Say whether a value is code rather than data: functions, classes, modules, ufuncs."""
    return (
        inspect.isroutine(value)
        or inspect.isclass(value)
        or inspect.ismodule(value)
        or isinstance(value, np.ufunc | types.MethodType | np.dtype)
        or spaces.is_device_code(value)
        or is_operator(value)
        or is_decorated(value)
        or isinstance(value, Unravel)
        or registry.is_called(value)
        or registry.is_vectorized(value)
        or registry.held_by(value) is not None
        or (hasattr(type(value), "func") and hasattr(type(value), "keywords"))
    )


def brings(value: Any, attr: str) -> bool:
    """Say whether an attribute of a callable holds what it brings along to a call."""
    if isinstance(value, functools.partial):
        return attr in ("func", "args", "keywords")
    if registry.is_vectorized(value):
        return attr in ("pyfunc", "otypes")
    if (held := registry.held_by(value)) is not None:
        return attr in held
    method = inspect.ismethod(value) or is_decorated(value)
    return method and attr == "__self__" and hasattr(value, attr)
