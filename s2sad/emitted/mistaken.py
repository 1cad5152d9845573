"""A helper of emitted files: what their functions raise for arguments not derived for."""

from __future__ import annotations

from typing import Any


def kind_error(derived_for: str, given: Any) -> TypeError:
    """Return the error about an argument of another kind; it tells what is given in one line."""
    told = f"{' '.join(repr(given).split()):.60}"
    if isinstance(given, dict):
        told = f"a dict with the keys {list(given)}" if given else "an empty dict"
    elif getattr(given, "ndim", 0) and hasattr(given, "dtype"):
        told = f"{type(given).__name__} of {given.dtype} with shape {given.shape}"
    return TypeError(f"{derived_for}; given: {told}")
