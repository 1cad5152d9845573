"""Objects of the standard library that nobody can change, and that hold no derivative: dates.

A sample of each class says what attributes, methods and operators of its objects give.
"""

from __future__ import annotations

from s2sad.rulebook.loading import load_rules

_samples: dict[type, object] = {}


def value_objects(*samples: object) -> None:
    """Declare that the objects of some classes never change; each sample is one of its class."""
    _samples.update({type(sample): sample for sample in samples})


def sample_of(cls: type | None) -> object | None:
    """Return an object of a class whose objects never change; None of any other class."""
    load_rules()
    return None if cls is None else _samples.get(cls)
