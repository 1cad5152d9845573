"""What a function gives that could not be read: the error that says why is kept with it."""

from __future__ import annotations

from dataclasses import dataclass, field

from s2sad import kinds as K
from s2sad.errors import Error, MissingRuleError, SourceError


@dataclass(frozen=True)
class Unread(K.Unknown):
    """Nothing is known of the result of a call, because of an error that names a line there."""

    error: Error = field(default_factory=lambda: Error(""), compare=False)


# Which names share memory, and with it the shadow, is known only when the program runs.
LOOKED_UP = K.Unknown(
    "a shadow that is looked up by its memory, which has several names",
    None,
    "Copy what may be a view where its memory is written, as A.reshape(n).copy(), or write the "
    "array itself, by its indices.",
)


def unread(error: Error) -> Unread:
    """Return the kind of what a function gives, by the error that reading it raised."""
    why = f"the result of a function that cannot be read: {error.reason.rstrip('.')}"
    return Unread(why, None, error.remedy, error)


def by_cause(refusal: Error, kind: K.Kind) -> Error:
    """Return the error that is why nothing is known of a kind, rather than the refusal of that.

    It points at the line of the function that could not be read, or at the refused call where that
    function has no source.
    """
    if not isinstance(kind, Unread):
        return refusal
    error = kind.error
    reason = f"{error.reason.rstrip('.')}."
    if isinstance(error, SourceError):
        reason = f"{reason[:1].upper()}{reason[1:]}"
        return MissingRuleError(reason, remedy=error.remedy, place=refusal.place)
    return type(error)(reason, remedy=error.remedy, place=error.place or refusal.place)
