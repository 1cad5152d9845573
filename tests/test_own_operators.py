"""Objects of the user's that can be called, indexed or iterated: shadows, and clear refusals."""

import itertools

import numpy as np
import pytest
from slopes import check

import s2sad

X = np.array([0.7, -1.3, 0.4])


class Affine:
    def __init__(self, a, b):
        self.a = a
        self.b = b

    def __call__(self, t):
        return self.a * t + self.b

    def __len__(self):
        return 2

    def __getitem__(self, i):
        return self.a if i == 0 else self.b


def twice_in_a_list(x):
    f = Affine(x[0], x[1])
    both = [f, f]
    both[0].a = x[2] * 3.0
    return both[1].a * f(x[1])


def in_a_dict(x):
    f = Affine(x[0], x[1])
    table = {"p": f, "q": f}
    table["p"].b = x[2] * 3.0
    return table["q"].b * f[0] * len(f)


@pytest.mark.parametrize("f", [twice_in_a_list, in_a_dict])
def test_a_callable_object_has_a_shadow(f):
    check(f, X)


class Pair(Affine):
    def __iter__(self):
        return iter((self.a, self.b))


def iterated(x):
    pair = Pair(x[0], x[1])
    a, b = pair
    return a * b * sum(v * v for v in pair) + pair.a


def test_an_object_that_is_gone_through():
    check(iterated, X)


def kept_zip(x):
    pairs = zip(x, x * x)
    total = 0.0
    for a, b in pairs:
        total += a * b
    return total


def kept_view(x):
    table = {"a": x[0], "b": x[1]}
    keys = table.keys()
    total = 0.0
    for k in keys:
        total += table[k] ** 2
    return total


def test_a_view_of_keys_may_be_kept():
    assert s2sad.grad(kept_view)(X) == pytest.approx([2.0 * X[0], 2.0 * X[1], 0.0])


def halves(a):
    if len(a) == 1:
        return a
    even, odd = halves(a[::2]), halves(a[1::2])
    return np.concatenate([even + odd, even - odd])


def transformed(x):
    return np.sum(halves(x) * np.arange(4.0))


def log_sum_exp(a, axis=None):
    top = np.max(a, axis=axis, keepdims=True)
    return np.squeeze(top, axis=axis) + np.log(np.sum(np.exp(a - top), axis=axis))


def normalised(x):
    return log_sum_exp(log_sum_exp(np.outer(x, x), axis=1))


def options(x, **table):
    total = x
    for name in table:
        total += table[name] ** 2
    return total


def with_and_without(x):
    return options(x) + options(x, power=x * x)


@pytest.mark.parametrize(
    ("f", "x"),
    [(transformed, np.array([0.7, -1.3, 0.4, 2.0])), (normalised, X), (with_and_without, 0.7)],
)
def test_kinds_that_are_found(f, x):
    check(f, x)


def pairs_of(x):
    total = 0.0
    for i, j in itertools.combinations(range(len(x)), 2):
        total += x[i] * x[j] ** 2
    return total + sum(x[i] * x[j] for i, j in itertools.product(range(2), range(3)))


def test_combinations():
    check(pairs_of, X)


def test_a_zip_that_is_kept_is_looped_over():
    x = np.array([0.3, 1.2, 2.2])
    assert s2sad.grad(kept_zip)(x) == pytest.approx(3 * x**2)
