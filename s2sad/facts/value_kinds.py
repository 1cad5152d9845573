"""What objects that never change give: attributes, methods and operators of dates.

(last - first).days        an integer: the sample of a date minus another has such an attribute

None of them holds a derivative. Of what is made of a float nobody knows anything, since that could
be differentiated.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from s2sad import kinds as K
from s2sad.kinds import MISSING, Kind
from s2sad.rulebook.values import sample_of

_FAULTS = (TypeError, ValueError, AttributeError, ArithmeticError)


def is_value(kind: Kind) -> bool:
    """Say whether a value is an object that never changes."""
    return isinstance(kind, K.Unknown) and sample_of(kind.cls) is not None


def value_made(fn: Any, args: Sequence[Kind], keywords: Mapping[str, Kind]) -> Kind | None:
    """Return what a call of such a class, or of a method of the class, gives; None of others."""
    cls = fn if isinstance(fn, type) else getattr(fn, "__self__", None)
    if not isinstance(cls, type) or sample_of(cls) is None:
        return None
    return given_by(fn, args, keywords)


def value_attribute(owner: Kind, attr: str) -> Kind:
    """Return the kind of an attribute of such an object; a method of its is none of a sample."""
    kind = given_by(operator.attrgetter(attr), [owner])
    return K.UNKNOWN if isinstance(kind, K.Known) else kind


def value_method(
    owner: Kind, attr: str, args: Sequence[Kind], keywords: Mapping[str, Kind]
) -> Kind:
    """Return the kind of what a method of such an object gives."""

    def method(value: Any, *rest: Any, **named: Any) -> Any:
        return getattr(value, attr)(*rest, **named)

    return given_by(method, [owner, *args], keywords)


def given_by(
    fn: Callable[..., Any], args: Sequence[Kind], keywords: Mapping[str, Kind] | None = None
) -> Kind:
    """Return the kind of what a function gives for samples of some kinds; unknown if it fails."""
    values = [_sample(k) for k in args]
    named = {n: _sample(k) for n, k in (keywords or {}).items()}
    if any(v is MISSING for v in (*values, *named.values())):
        return K.UNKNOWN
    try:
        found = fn(*values, **named)
    except _FAULTS:
        return K.UNKNOWN
    if found is None or found is NotImplemented:
        return K.UNKNOWN  # another object may give something: a time zone
    return K.erase_value(K.kind_of(found, "", literal=True))


def _sample(kind: Kind) -> Any:
    """Return a value of a kind, MISSING where there is none without a derivative."""
    if isinstance(kind, K.Unknown):
        found = sample_of(kind.cls)
        return MISSING if found is None else found
    if isinstance(kind, K.NoneKind):
        return None
    if isinstance(kind, K.Known):
        return kind.value
    known = kind.value if isinstance(kind, K.Num | K.Str) else MISSING
    whole = isinstance(kind, K.Num) and kind.type in ("int", "bool")
    return 1 if known is MISSING and whole else known
