"""Functions that are one formula of arrays are written out where they are called."""

import math
from fractions import Fraction

import numpy as np
import pytest
from slopes import check

import s2sad

X = np.array([0.7, -0.4, 1.1])
W = np.array([0.3, 1.2, -0.5])


def sigmoid(x):
    """The logistic function."""
    return 1.0 / (1.0 + np.exp(-x))


def shifted(x, by=0.5):
    return 2.0 * np.tanh(x + by) + 1.0


def root(x):
    return np.sqrt(x * x + 1.0)


def steps(x):
    y = np.exp(x)
    return 1.0 / y


def repeated(w, x, n):
    h = np.zeros_like(x)
    for _ in range(n):
        h = sigmoid(w * h + x) * shifted(h)
    return np.sum(h * h)


def test_it_stands_where_it_was_called():
    text = s2sad.grad(repeated).source(W, X, 3)
    assert "def " not in text[text.index("def repeated_grad") + 4 :]
    assert "# h = sigmoid(w * h + x) * shifted(h)" in text
    check(repeated, W, X, 3, constant=(2,))


def test_what_is_kept_is_kept_once():
    """Of the exponential and the sigmoid, one."""
    text = s2sad.grad(repeated).source(W, X, 3)
    kept = text[text.index("saved.append(") :].split("\n")[0]
    assert kept.count(",") == 2, kept


def test_default_and_named_arguments():
    check(lambda x, w: np.sum(shifted(x, by=0.1) * shifted(by=w, x=x) * shifted(x)), X, W)


@pytest.mark.parametrize("f", [root, steps])
def test_others_are_pairs(f):
    """The root's derivative reads the root alone; two statements are no formula."""
    assert f"def {f.__name__}_reverse" in s2sad.grad(lambda x: np.sum(f(x) ** 2)).source(X)


def test_numbers_too_are_a_pair():
    def logistic(x):
        return 1.0 / (1.0 + math.exp(-x))

    assert "def logistic_reverse" in s2sad.grad(lambda x: logistic(x) ** 2).source(0.3)


def test_nested():
    def swish(x):
        return x * sigmoid(x)

    def f(x):
        return np.sum(swish(swish(x)))

    check(f, X)


def test_variables_of_the_same_names():
    def f(x, t, value):
        value = sigmoid(x) * value
        x = sigmoid(t) + x
        t = sigmoid(value)
        return np.sum(x * t * value)

    check(f, X, W, 0.3 * X)


def test_a_function_bound_anew_is_noticed(monkeypatch):
    gradient = s2sad.grad(repeated)
    before = gradient(W, X, 2)
    monkeypatch.setitem(repeated.__globals__, "sigmoid", lambda x: 1.0 / (2.0 + np.exp(-x)))
    check(repeated, W, X, 2, constant=(2,))
    assert not np.allclose(gradient(W, X, 2), before)


@pytest.mark.parametrize("x", [-300.0, -40.0, -5.0, 0.0, 5.0, 20.0, 40.0, 300.0])
def test_no_digits_are_lost_where_it_is_flat(x):
    """1 - y would have none left from x = 37 on: the exponential is what is kept."""

    def f(x, n):
        s = np.zeros_like(x)
        for _ in range(n):
            s = s + sigmoid(x)
        return np.sum(s)

    e = Fraction(math.exp(-x))
    exact = float(e / (1 + e) ** 2)
    assert s2sad.grad(f)(np.array([x, x]), 1)[0] == pytest.approx(exact, rel=1e-15)
