"""Dates and times of the standard library: objects that never change, and have no derivative."""

import datetime

from s2sad.registry import value_objects

value_objects(
    datetime.date(2024, 1, 15),
    datetime.time(12, 30),
    datetime.datetime(2024, 1, 15, 12, 30),
    datetime.timedelta(days=3, hours=5),
    datetime.UTC,
)
