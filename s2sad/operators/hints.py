"""Hints: the kinds that annotations alone decide, for source that is derived without arguments.

x: float                    a float
x: Active[float]            a float
x: tuple[float, int]        a tuple of these
x: np.ndarray               not decided: how many axes?
"""

from __future__ import annotations

import inspect
import types
import typing
from typing import Any

import numpy as np

from s2sad import kinds as K
from s2sad.activities import plain_annotation
from s2sad.kinds import Kind

_NUMBERS = {float: "float", int: "int", bool: "bool", complex: "complex"}


def kind_of_annotation(fn: types.FunctionType, parameter: inspect.Parameter) -> Kind | None:
    """Return the kind that a parameter's annotation decides, or its default, or None."""
    annotation = plain_annotation(fn, parameter.name)
    if annotation is not inspect.Parameter.empty:
        kind = _kind(annotation, parameter.name)
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            return None
        return kind
    if parameter.kind is inspect.Parameter.VAR_KEYWORD:
        return K.Dict(())
    if parameter.default is not inspect.Parameter.empty:
        return K.kind_of(parameter.default, parameter.name)
    return None


def _kind(annotation: Any, path: str) -> Kind | None:
    if annotation is None or annotation is types.NoneType:
        return K.NONE
    if isinstance(annotation, type) and annotation in _NUMBERS:
        dim = K.Dim(path) if annotation is int else None
        return K.Num(_NUMBERS[annotation], None, K.MISSING, dim)
    if annotation is str:
        return K.Str()
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is tuple and parts and Ellipsis not in parts:
        items = [_kind(part, f"{path}[{i}]") for i, part in enumerate(parts)]
        return K.Tuple(tuple(k for k in items if k is not None)) if None not in items else None
    if origin is list:
        item = _kind(parts[0], f"{path}[0]")
        return None if item is None else K.List(item)
    if origin is dict:
        key, item = (_kind(part, f"{path}[0]") for part in parts)
        return None if key is None or item is None else K.OpenDict(K.key_kind(key), item)
    return _numpy_scalar(annotation)


def _numpy_scalar(annotation: Any) -> Kind | None:
    if isinstance(annotation, type) and issubclass(annotation, np.floating | np.complexfloating):
        try:
            return K.kind_of(annotation(0), "")
        except TypeError:  # an abstract class such as np.floating
            return None
    return None
