"""What a function gives that could not be read: the error that says why is kept with it."""

from __future__ import annotations

from s2sad import kinds as K
from s2sad.errors import Error, MissingRuleError, SourceError

DECIDE = (
    "Use floats, arrays, and tuples, lists, dicts or objects of these; compute anything else "
    "outside the function and pass it in as an argument."
)

# Which names share memory, and with it the shadow, is known only when the program runs.
LOOKED_UP = K.Unknown(
    "a shadow that must be found by its memory, because that memory has several names",
    None,
    "Copy a possible view where its memory is written, as A.reshape(n).copy(), or write into "
    "the array itself, by its indices.",
)


def unread(error: Error) -> K.Unknown:
    """Return the kind of what a function gives, by the error that reading it raised."""
    why = f"the result of a function that cannot be read: {error.reason.rstrip('.')}"
    return K.Unknown(why, None, error.remedy, error)


def blamed(error: Error) -> K.Unknown:
    """Return the kind of an operation of which nothing is known, by the error that says why."""
    return K.Unknown(error.reason.rstrip("."), error=error)


def undecided(kind: K.Kind, remedy: str = "") -> tuple[str, str]:
    """Return why an operation on a value of which nothing is known is refused, and what to do."""
    known = kind if isinstance(kind, K.Unknown) else K.Unknown()
    why = f": {known.why}" if known.why else ""
    reason = f"s2sad cannot tell the type of a value that is used here{why}."
    return reason, known.instead or remedy or DECIDE


def by_cause(refusal: Error, kind: K.Kind) -> Error:
    """Return the error that is why nothing is known of a kind, rather than the refusal of that.

    It points at the line of the function that could not be read, or at the refused call where that
    function has no source.
    """
    error = kind.error if isinstance(kind, K.Unknown) else None
    if error is None:
        return refusal
    reason = error.reason if error.reason.endswith(("?", ".")) else f"{error.reason}."
    if isinstance(error, SourceError):
        reason = f"{reason[:1].upper()}{reason[1:]}"
        return MissingRuleError(reason, remedy=error.remedy, place=refusal.place)
    return type(error)(reason, remedy=error.remedy, place=error.place or refusal.place)
