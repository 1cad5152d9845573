"""Which kind a method of a string gives."""

from __future__ import annotations

from s2sad import kinds as K
from s2sad.kinds import Kind

_TEXT = frozenset(
    "capitalize casefold center expandtabs format join ljust lower lstrip removeprefix "
    "removesuffix replace rjust rstrip strip swapcase title translate upper zfill".split()
)


def text_method(attr: str) -> Kind:
    """Return the kind of what a method of a string gives."""
    if attr in ("count", "find", "index", "rfind", "rindex"):
        return K.INT
    if attr.startswith("is") or attr in ("startswith", "endswith"):
        return K.BOOL
    if attr in ("split", "rsplit", "splitlines"):
        return K.List(K.Str())
    if attr in ("partition", "rpartition"):
        return K.Tuple((K.Str(), K.Str(), K.Str()))
    return K.Str() if attr in _TEXT else K.Unknown(f"the result of .{attr}()")
