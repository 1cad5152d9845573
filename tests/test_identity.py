"""Objects known by their identity, in derivatives that work on copies."""

import enum
import logging
import math
from dataclasses import dataclass

import numpy as np
import pytest
from slopes import check

import s2sad

LOG = logging.getLogger(__name__)


class Shape(enum.Enum):
    LINE = "line"
    CURVE = 1.5
    SQUARE = 2


class Unit:
    def __init__(self, name):
        self.name = name


METRE, FOOT = Unit("m"), Unit("ft")


@dataclass
class Settings:
    shape: Shape
    rate: float
    log: object = LOG


@dataclass(slots=True)
class Slots:
    rate: float
    shape: Shape


class Registry:
    def __init__(self):
        self.rate = 2.0
        self.parts = [self]
        self.log = LOG


REGISTRY = Registry()


def by_member(x, shape):
    if shape is Shape.LINE:
        return 3.0 * x
    return math.exp(x)


def by_field(x, settings):
    for _ in range(2):
        x = x * x * settings.rate if settings.shape is Shape.CURVE else x + settings.rate
    return x


def writes(x, settings):
    x[0] = x[0] * 3.0 if settings.shape is Shape.CURVE else x[0]
    settings.rate = settings.rate * x[1]
    return np.sum(x * x) * settings.rate


def by_value(x, shape):
    return x * x * shape.value


@pytest.mark.parametrize(
    "fn, args",
    [
        (by_member, (0.7, Shape.LINE)),
        (by_member, (0.7, Shape.CURVE)),
        (by_value, (0.7, Shape.SQUARE)),
        (by_field, (0.7, Settings(Shape.CURVE, 1.5))),
        (by_field, (0.7, Settings(Shape.LINE, 1.5))),
        (by_field, (0.7, Slots(1.5, Shape.CURVE))),
    ],
)
def test_members_of_an_enum_are_never_copied(fn, args):
    check(fn, *args, constant=(1,))
    pulled = s2sad.vjp(fn, *args, wrt=0)[1](1.0)
    assert pulled == s2sad.grad(fn)(*args)


def test_nor_where_the_object_that_holds_them_is_written():
    x, settings = np.array([0.5, 2.0]), Settings(Shape.CURVE, 1.5)
    gradient = s2sad.grad(writes)(x, settings)
    assert gradient == pytest.approx([2 * 9 * 0.5 * 1.5 * 2, (2.25 + 3 * 4.0) * 1.5])
    assert s2sad.vjp(writes, x, settings, wrt=0)[1](1.0).tolist() == gradient.tolist()
    assert settings.rate == 1.5


def test_the_gradient_of_a_structure_with_members_and_loggers():
    gradient = s2sad.grad(by_field, wrt="settings")(0.7, Settings(Shape.CURVE, 1.5))
    assert gradient.shape is None and gradient.log is None
    assert gradient.rate == pytest.approx(3 * 1.5**2 * 0.7**4)
    gradient = s2sad.grad(by_field, wrt="settings")(0.7, Slots(1.5, Shape.CURVE))
    assert gradient.rate == pytest.approx(3 * 1.5**2 * 0.7**4)


def same(x, unit):
    return 3.0 * x if unit is METRE else math.exp(x) * x


def equal(x, unit):
    return math.exp(x) if unit == METRE else 3.0 * x


def among(x, unit):
    return math.exp(x) if unit in (METRE, FOOT) else 3.0 * x


def same_list(x, unit):
    return math.exp(x) if unit is UNITS else 3.0 * x * len(unit)


UNITS = [METRE]


def test_a_test_that_is_asked_once_is_asked_of_the_original():
    assert s2sad.vjp(among, 0.7, METRE, wrt=0)[1](1.0) == pytest.approx(math.exp(0.7))


@pytest.mark.parametrize("fn", [same, equal, same_list])
def test_pullbacks_read_what_was_answered(fn):
    unit = UNITS if fn is same_list else METRE
    value, pullback = s2sad.vjp(fn, 0.7, unit, wrt=0)
    assert value == fn(0.7, unit)
    assert pullback(1.0) == s2sad.grad(fn)(0.7, unit)


class Metered:
    def __init__(self, rate, unit):
        self.rate, self.unit = rate, unit


def one_of_two(p, q, first):
    r = p if first else q
    return r.rate**2 * (3.0 if r.unit is METRE else 1.0)


def one_of_two_that_changes(p, q, first):
    r = p if first else q
    r.rate = r.rate * 2.0
    return r.rate**2 * (3.0 if r.unit is METRE else 1.0)


def the_largest(ps):
    best = ps[0]
    for p in ps:
        if p.rate > best.rate:
            best = p
    best.rate = best.rate * 2.0
    return best.rate**2 * (3.0 if best.unit is METRE else 1.0)


def test_arguments_that_are_copied_for_their_cotangents_are_not_told_apart():
    p, q = Metered(3.0, METRE), Metered(2.0, FOOT)
    for fn, args in ((one_of_two_that_changes, (p, q, True)), (the_largest, ([p, q],))):
        with pytest.raises(s2sad.UnsupportedError, match="The derivative works on a copy of `p"):
            s2sad.grad(fn)(*args)


def test_arguments_that_nobody_writes_are_not_copied_for_their_cotangents():
    p, q = Metered(3.0, METRE), Metered(2.0, FOOT)
    for first, slopes in ((True, (18.0, 0.0)), (False, (0.0, 4.0))):
        bars = s2sad.grad(one_of_two, wrt=(0, 1))(p, q, first)
        assert tuple(bar.rate for bar in bars) == slopes


def logs(x):
    LOG.debug("at %f", x)
    return x * x


def registered(x):
    return x * x * REGISTRY.rate


def test_globals_that_contain_themselves(monkeypatch):
    check(logs, 0.7)
    check(registered, 0.7)
    gradient = s2sad.grad(registered)
    assert gradient(0.5) == 2.0
    monkeypatch.setattr(REGISTRY, "rate", 3.0)
    assert gradient(0.5) == 3.0
    monkeypatch.setattr(REGISTRY, "rate", np.array([3.0, 4.0]).sum())
    assert gradient(0.5) == 7.0
