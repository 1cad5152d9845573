"""Zeros and sums of a few numbers and arrays by key or field are written out, without helpers."""

import dataclasses

import numpy as np
import pytest
from slopes import check

import s2sad


@dataclasses.dataclass
class Rates:
    birth: float
    death: float
    steps: int = 2


@dataclasses.dataclass(frozen=True, slots=True)
class State:
    prey: float
    hunters: float


@dataclasses.dataclass
class Checked:
    """Each value that is set is looked at: zeros are not."""

    rate: float

    def __setattr__(self, name, value):
        if value <= 0.0:
            raise ValueError(name)
        object.__setattr__(self, name, value)


@dataclasses.dataclass
class Derived:
    rate: float

    def __post_init__(self):
        self.rate = self.rate + 1.0


@dataclasses.dataclass(kw_only=True)
class Named:
    rate: float


def growth(r, prey, hunters):
    return State(r.birth * prey - prey * hunters, prey * hunters - r.death * hunters)


def predators(r, x):
    s = State(x, 0.5)
    for _ in range(r.steps):
        d = growth(r, s.prey, s.hunters)
        e = growth(r, s.prey + 0.1 * d.prey, s.hunters + 0.1 * d.hunters)
        s = State(s.prey + 0.1 * e.prey, s.hunters + 0.1 * e.hunters)
    return s.prey * s.hunters


def squared(p, x):
    return p["w"] @ x * p["scale"]


def by_key(p, x):
    y = x
    for _ in range(2):
        y = y + np.sin(squared(p, y)) * x
    return np.sum(y * y) + p["scale"]


def of_one(r, x):
    return r.rate * x + np.sin(r.rate) * r.rate


W = {"w": np.array([0.3, -0.2]), "scale": 0.7, "name": "a"}
X = np.array([0.4, 1.1])


@pytest.mark.parametrize(
    "f, args, helpers",
    [
        (predators, (Rates(0.4, 0.3), 0.8), []),
        (by_key, (W, X), []),
        (of_one, (Named(rate=0.4), 0.8), ["zeros_like"]),
        (of_one, (Checked(0.4), 0.8), ["zeros_like"]),
        (of_one, (Derived(0.4), 0.8), ["zeros_like"]),
    ],
)
def test_gradient(f, args, helpers):
    check(f, *args)
    text = s2sad.grad(f).source(*args)
    assert [h for h in ("zeros_like", "add") if f"def {h}(" in text] == helpers


@dataclasses.dataclass
class Part:
    a: float
    b: float

    def copy(self):
        return Part(2.0 * self.a, self.b)


@dataclasses.dataclass
class Whole:
    part: Part
    rest: list


def held_twice(w):
    m = Whole(w.part, [w.part.a])
    return m.rest[0] * w.part.a * m.part.b


def held_by_keys(w):
    m = {"p": w.part}
    n = {"q": m["p"], "r": w.part}
    return -n["q"].a * n["r"].b


@pytest.mark.parametrize("f", [held_twice, held_by_keys])
def test_parts_that_two_structures_hold(f):
    gradient = s2sad.grad(f)(Whole(Part(1.3, 0.7), [])).part
    slopes = []
    for e in (Part(1e-6, 0.0), Part(0.0, 1e-6)):
        low, high = (Whole(Part(1.3 + s * e.a, 0.7 + s * e.b), []) for s in (-1, 1))
        slopes.append((f(high) - f(low)) / 2e-6)
    assert [gradient.a, gradient.b] == pytest.approx(slopes, rel=1e-6)
