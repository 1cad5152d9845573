"""The module fractions of the standard library: its numbers have no derivative here."""

import fractions

from s2sad.registry import refuse

refuse(
    fractions,
    "Fraction",
    because="it is an exact number, not a float",
    instead="Use floats.",
)
