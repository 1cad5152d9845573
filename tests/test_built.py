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
        (by_key, (W, X), ["zeros_like"]),
        (of_one, (Named(rate=0.4), 0.8), ["zeros_like"]),
        (of_one, (Checked(0.4), 0.8), ["zeros_like"]),
        (of_one, (Derived(0.4), 0.8), ["zeros_like"]),
    ],
)
def test_gradient(f, args, helpers):
    check(f, *args)
    text = s2sad.grad(f).source(*args)
    assert [h for h in ("zeros_like", "add") if f"def {h}(" in text] == helpers
