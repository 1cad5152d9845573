"""What the cases of a match bind carries derivatives."""

import dataclasses
from collections import namedtuple

import pytest

import s2sad

Pair = namedtuple("Pair", "a b")


@dataclasses.dataclass
class Point:
    x: float
    y: float


def sequence(x):
    match (x, x * x):
        case (a, b):
            return a * b


def by_value(x):
    match (x, x * x, 2):
        case (a, b, 1):
            return a
        case (a, b, 2):
            return a * b
        case _:
            return 0.0


def nested(x):
    match (x, (x * x, [x, 3.0, x])):
        case (a, (b, [c, *rest])) if c > 0.0:
            return a * b * c * rest[1]
        case (a, _):
            return a


def named(x):
    match Pair(x, x * x):
        case Pair(a=p, b=q):
            return p * q


def positional(x):
    match Point(x, x * x):
        case Point(p, q):
            return p * q


def mapping(x):
    match {"k": x, "l": x * x}:
        case {"k": p, "l": q}:
            return p * q


def whole(x):
    y = (x, x * x)
    match y:
        case (y, _) as both:
            return y * both[1]


def replaced(x):
    p = Pair(x, 1.0)._replace(b=x * x)
    q = dataclasses.replace(Point(x, 1.0), y=x * p.b)
    return p.a * p.b + q.x * q.y


FUNCTIONS = [sequence, by_value, nested, named, positional, mapping, whole, replaced]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_gradients(f):
    h = 1e-6
    for x in (1.3, -0.6):
        want = (f(x + h) - f(x - h)) / (2 * h)
        value, got = s2sad.value_and_grad(f)(x)
        assert value == f(x)
        assert got == pytest.approx(want, rel=1e-6)


def alternatives(x):
    match (x, x * x):
        case (a, 1.0) | (_, a):
            return a * x


def test_alternatives_that_bind_are_refused():
    with pytest.raises(s2sad.Error):
        s2sad.grad(alternatives)(1.3)
