"""Helpers of derived text that pass adjoints to hooks; their source is copied into emitted files.

They need NumPy and one another, nothing else.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.runtime import attributes, is_array, private


def hooked(fn: Any, bar: Any) -> Any:
    """Return the adjoint that fn returns for bar; if fn returns None, the copy that fn received."""
    own = bar.copy() if is_array(bar) else bar
    given = fn(own)
    return own if given is None else fitting(given, bar)


def fitting(given: Any, bar: Any) -> Any:
    """Return the result of a hook in the dtype of the adjoint; raise if its shape differs."""
    if np.shape(given) != np.shape(bar) or (np.iscomplexobj(given) and not np.iscomplexobj(bar)):
        told = f"{type(given).__name__} of shape {np.shape(given)}"
        raise TypeError(
            f"An adjoint hook returned {told}, but the adjoint has shape {np.shape(bar)}."
        )
    if not is_array(bar):
        return given[()] if is_array(given) else given
    made = bar.copy()
    made[...] = given
    return made


def hooked_structure(fn: Any, bar: Any) -> Any:
    """Do `hooked` for the adjoint of a structure."""
    own = private(bar)
    given = fn(own)
    return own if given is None else built_like(given, bar)


def built_like(given: Any, bar: Any) -> Any:
    """Do `fitting` for the adjoint of a structure, part by part."""
    if bar is None or is_array(bar) or np.isscalar(bar):
        return None if bar is None else fitting(given, bar)
    if type(given) is not type(bar):
        told = f"{type(given).__name__}, not {type(bar).__name__}"
        raise TypeError(
            f"An adjoint hook must return the same type as the adjoint: it returned {told}."
        )
    if isinstance(bar, list | tuple | dict):
        if len(given) != len(bar) or (isinstance(bar, dict) and given.keys() != bar.keys()):
            raise TypeError(
                "An adjoint hook returned a structure whose parts differ from those of the adjoint."
            )
    if isinstance(bar, dict):
        for key in bar:
            given[key] = built_like(given[key], bar[key])
        return given
    if isinstance(bar, list | tuple):
        parts = [built_like(given[i], bar[i]) for i in range(len(bar))]
        if isinstance(bar, list):
            return parts
        return type(bar)(*parts) if hasattr(bar, "_fields") else tuple(parts)
    for name in attributes(bar):
        object.__setattr__(given, name, built_like(getattr(given, name), getattr(bar, name)))
    return given


def refilled(shadow: Any, given: Any) -> Any:
    """Copy the result of a hook into a shadow, in place down to its arrays; return the shadow."""
    if is_array(shadow):
        shadow[...] = given
        return shadow
    if isinstance(shadow, tuple):
        parts = [refilled(shadow[i], given[i]) for i in range(len(shadow))]
        return type(shadow)(*parts) if hasattr(shadow, "_fields") else tuple(parts)
    if isinstance(shadow, list | dict):
        for key in shadow if isinstance(shadow, dict) else range(len(shadow)):
            shadow[key] = refilled(shadow[key], given[key])
        return shadow
    parts = attributes(shadow)
    for name in parts:
        object.__setattr__(shadow, name, refilled(parts[name], getattr(given, name)))
    return shadow if parts else given
