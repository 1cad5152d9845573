"""Dates and times: objects that never change, whose numbers the derivative uses."""

import datetime
from datetime import date, timedelta

import pytest
from slopes import check

import s2sad

DATES = [date(2024, 1, 1), date(2024, 6, 1), date(2025, 1, 1)]


def present_value(rate, flows, dates):
    first = dates[0]
    return sum(cf / (1.0 + rate) ** ((d - first).days / 365.0) for cf, d in zip(flows, dates))


def share_of_a_year(x):
    first, last = date(2024, 1, 1), date(2024, 7, 1)
    return x * x * (last - first).days / 365


def hours(x):
    t, end, s = datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 2), 0.0
    while t < end:
        s += x * x * t.hour
        t = t + timedelta(hours=6)
    return s


def months(x):
    d, s = date(2024, 1, 1), 0.0
    for _ in range(3):
        s += x**2 * d.month
        d += timedelta(days=31)
    return s


def seconds(x):
    return x * (datetime.datetime(2024, 1, 2) - datetime.datetime(2024, 1, 1)).total_seconds()


def read_from_a_text(x):
    return x * x * datetime.datetime.strptime("2024-03-05", "%Y-%m-%d").day


def after(x):
    return x * x if DATES[1] > date(2024, 1, 1) else x


@pytest.mark.parametrize("f", [share_of_a_year, hours, months, seconds, read_from_a_text, after])
def test_numbers_of_dates(f):
    check(f, 2.0)


def test_dates_that_are_given():
    flows = [-100.0, 50.0, 60.0]
    check(lambda rate: present_value(rate, flows, DATES), 0.1)
    gradient = s2sad.grad(present_value)
    late = [d + timedelta(days=400 * i) for i, d in enumerate(DATES)]
    h = 1e-6
    for dates in (DATES, late):
        slope = present_value(0.1 + h, flows, dates) - present_value(0.1 - h, flows, dates)
        assert gradient(0.1, flows, dates) == pytest.approx(slope / (2 * h), rel=1e-6)


def by_time_zone(x, moment):
    return x * x if moment.tzinfo is None else x * 3.0


def test_what_one_date_lacks_another_may_have():
    here, there = datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)
    gradient = s2sad.grad(by_time_zone)
    assert gradient(2.0, here) == 4.0 and gradient(2.0, there) == 3.0


def days_that_are_differentiated(x):
    return timedelta(days=x).total_seconds()


def days_beside(x, days):
    return x * timedelta(days=days).total_seconds()


def test_what_is_made_of_a_float_is_refused():
    with pytest.raises(s2sad.Error, match="timedelta"):
        s2sad.grad(days_that_are_differentiated)(2.0)
    with pytest.raises(s2sad.Error, match="timedelta"):
        s2sad.grad(days_beside, wrt="days")(2.0, 1.5)
    assert s2sad.grad(days_beside)(2.0, 3) == 259200.0
