"""The dtypes of what carries derivatives."""

from __future__ import annotations

from s2sad import kinds as K
from s2sad.kinds import Kind

NARROW = ("float16", "float32", "complex64")


def dtype_of(kind: Kind) -> str | None:
    """Return the dtype name of what carries a derivative in a scalar or array, or None."""
    if isinstance(kind, K.Union):
        found = {k.dtype for k in K.carriers(kind) if isinstance(k, K.Num | K.Array)}
        found -= {None, "any"}
        return found.pop() if len(found) == 1 else None
    return kind.dtype if isinstance(kind, K.Num | K.Array) else None
