"""What the cases of a match bind carries derivatives."""

import dataclasses
from collections import namedtuple

import numpy as np
import pytest
from slopes import check

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


def none_in_a_loop(x):
    for i in range(4):
        match i:
            case 0:
                x = np.sin(x)
            case 2:
                x = x * 3.0
    return x


def none_at_all(x):
    k = 1 if x > 0.0 else 0
    match k:
        case 0:
            y = np.sin(x)
            x = y * x
        case 2:
            x = np.cos(x) * 2.0
    return x * x


FUNCTIONS = [sequence, by_value, nested, named, positional, mapping, whole, replaced]
FUNCTIONS += [none_in_a_loop, none_at_all]


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


@dataclasses.dataclass
class Number:
    value: float


@dataclasses.dataclass
class Variable:
    position: int


@dataclasses.dataclass
class Binary:
    op: str
    left: object
    right: object


def evaluated(tree, x):
    match tree:
        case Number(value) if value > 100.0:
            return value
        case Number(value):
            return value
        case Variable(position=i):
            return x[i]
        case Binary("+", left, right):
            return evaluated(left, x) + evaluated(right, x)
        case Binary(op="*", left=left, right=right):
            return evaluated(left, x) * evaluated(right, x)
    raise ValueError(tree)


def evaluated_inside(tree, x):
    def walk(node):
        match node:
            case Number():
                return node.value
            case Variable(i):
                return x[i]
            case Binary(op, a, b):
                return walk(a) + walk(b) if op == "+" else walk(a) * walk(b)

    return walk(tree) + walk(Variable(1))


TREE = Binary("+", Binary("*", Variable(0), Variable(1)), Binary("*", Number(2.0), Variable(0)))


@pytest.mark.parametrize("fn", [evaluated, evaluated_inside])
@pytest.mark.parametrize("tree", [TREE, TREE.left, Number(3.0)])
def test_cases_that_the_kind_excludes(fn, tree):
    if fn is evaluated and tree is not TREE.left:
        tree = Binary("+", tree, TREE.left)
    check(fn, tree, np.array([1.5, 2.5]), constant=(0,))


def by_length(pair, x):
    match pair:
        case ():
            return x
        case (a,):
            return a * x
        case (a, b):
            return a * x + b * x * x
        case None:
            return 3.0 * x
        case _:
            return -x


@pytest.mark.parametrize("pair", [(), (2.0,), (2.0, 3.0), (1.0, 2.0, 3.0), None])
def test_cases_of_other_lengths(pair):
    check(by_length, pair, 0.7, constant=(0,))


def guarded_and_read(x):
    a = x * x
    match (x, 3.0 * x):
        case (a, b) if b > 10.0:
            return a * b
        case _:
            return a


def guarded_and_bound_again(x):
    match (x, 3.0 * x):
        case (a, b) if b > 10.0:
            return a * b
        case (a, b):
            return a * b * b
    return x


def test_a_name_that_a_guard_lets_through_is_not_read_elsewhere():
    with pytest.raises(s2sad.Error, match="This case binds `a` even where its guard is fals"):
        s2sad.grad(guarded_and_read)(0.7)
    check(guarded_and_bound_again, 0.7)


def whole(x):
    match x * x:
        case y:
            return y * x


def whole_if(x):
    match x * x:
        case y if y > 10.0:
            return y
        case y if y > 0.1:
            return y * x
    return x


@pytest.mark.parametrize("f", [whole, whole_if])
def test_a_name_for_the_whole(f):
    check(f, 0.7)
