"""The module decimal of the standard library: its numbers have no derivative here."""

import decimal

from s2sad.registry import refuse

refuse(
    decimal,
    "Decimal",
    because="it is not a float",
    instead="Use floats.",
)
