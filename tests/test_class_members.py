"""Class methods, attributes read through a class, alternative constructors; loggers on the side."""

import logging
from dataclasses import dataclass

import numpy as np
import pytest
from slopes import check

import s2sad

X = np.array([0.7, -1.3, 0.4])
log = logging.getLogger("s2sad.tests")


class Base:
    gain = 2.0
    log = log

    def __init__(self, k):
        self.k = k
        self.logger = log

    @classmethod
    def scaled(cls, x):
        return x * cls.gain

    @classmethod
    def twice(cls, x):
        return cls.scaled(x) + cls.squared(x)

    @classmethod
    def power(cls, n, x):
        return x if n == 0 else cls.power(n - 1, x * cls.gain)

    @staticmethod
    def squared(x):
        return x * x

    @classmethod
    def of(cls, x):
        return cls(x[0] * cls.gain)

    def doubled(self):
        return type(self)(self.k * 2.0)

    def tripled(self):
        return self.__class__(self.k * 3.0)

    def noted(self, x):
        self.logger.info("x is %s", x)
        self.log.debug("%r", x)
        Base.log.debug("%r", x)
        return np.sum(x * x) * self.k


class Derived(Base):
    gain = 5.0


@dataclass
class Line:
    slope: float
    level: float

    @classmethod
    def through(cls, x):
        return cls(x[0], x[1] * 2.0)


def by_class(x):
    return Base.scaled(x) + Derived.twice(x) + Derived.power(3, x)


def by_instance(x):
    return Derived(x).scaled(x) + Base(x).twice(x)


def constructed(x):
    line = Line.through(x)
    return line.slope * line.level + Base.of(x).k


def of_its_own_class(x):
    return Base(x).doubled().k * Derived(x).tripled().k


@pytest.mark.parametrize(
    ("f", "x"), [(by_class, 0.7), (by_instance, 0.7), (constructed, X), (of_its_own_class, 0.7)]
)
def test_members_of_classes(f, x):
    check(f, x)


def gained(x):
    return Base.scaled(x)


def test_an_attribute_of_a_class_is_seen_live(monkeypatch):
    gradient = s2sad.grad(gained)
    assert gradient(1.0) == 2.0
    monkeypatch.setattr(Base, "gain", 7.0)
    assert gradient(1.0) == 7.0
    monkeypatch.setattr(Base, "scaled", classmethod(lambda cls, x: x * cls.gain * 2.0))
    assert gradient(1.0) == 14.0


def logged(x):
    log.info("x is %s", x)
    logging.getLogger("s2sad.more").debug("x is %s", x)
    own = logging.getLogger("s2sad.own")
    if own.isEnabledFor(logging.DEBUG):
        own.debug("x is %s", x)
    return np.sum(x * x)


def by_object(x):
    return Base(2.0).noted(x)


@pytest.mark.parametrize("f", [logged, by_object])
def test_loggers_only_look(f, caplog):
    with caplog.at_level(logging.DEBUG):
        s2sad.grad(f)(X)
    assert len(caplog.records) == 3
    check(f, X)
