"""Gradients share memory with nothing: not with arguments, not with one another, not with aux."""

import itertools

import numpy as np
import pytest

import s2sad


def dot(x, y):
    return np.dot(x, y)


def total(x, y):
    return np.sum(x) + np.sum(y)


def added(x, y):
    z = x + y
    return np.dot(z, z)


def ones(x, y):
    return np.sum(x + y)


def reversed_(x, y):
    return np.dot(x[::-1], y)


def branched(x, y):
    if y[0] > 0.0:
        return np.dot(x, y)
    return np.sum(x)


def looped(x, y):
    s = 0.0
    for i in range(3):
        s = s + np.dot(x, y)
    return s


def added_to(x, y):
    z = x * 1.0
    return np.dot(x, y) + np.sum(x * z) + np.dot(y, y)


def reshaped(x, y):
    return np.sum(x.reshape(3, 1) + y.reshape(3, 1))


def listed(x, y):
    xs = [x, y, x]
    return np.sum(xs[0]) + np.sum(xs[1]) + np.sum(xs[2])


def transposed(x, y):
    return np.sum(np.outer(x, y).T)


def helper(a, b):
    return a + b


def called(x, y):
    z = helper(x, y)
    return np.sum(z)


FUNCTIONS = [
    *(dot, total, added, ones, reversed_, branched, looped, added_to, reshaped, listed),
    *(transposed, called),
]
X, Y = np.array([0.7, -1.3, 0.4]), np.array([1.1, 0.6, -0.8])


def owned(gradients, others):
    gradients = gradients if isinstance(gradients, tuple) else (gradients,)
    for g in gradients:
        assert g.flags.writeable
        assert not any(np.shares_memory(g, o) for o in others)
    for a, b in itertools.combinations(gradients, 2):
        assert not np.shares_memory(a, b)


@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
@pytest.mark.parametrize("wrt", [0, 1, (0, 1)], ids=str)
def test_gradients_own_their_memory(fn, wrt):
    x, y = X.copy(), Y.copy()
    owned(s2sad.grad(fn, wrt=wrt)(x, y), (x, y))
    owned(s2sad.value_and_grad(fn, wrt=wrt)(x, y)[1], (x, y))
    assert np.array_equal(x, X) and np.array_equal(y, Y)


@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_pullbacks_own_their_memory(fn):
    x, y = X.copy(), Y.copy()
    _, pullback = s2sad.vjp(fn, x, y)
    first = pullback(1.0)
    owned(first, (x, y))
    kept = [g.copy() for g in first]
    for g in first:
        g[:] = 77.0
    assert all(np.array_equal(a, b) for a, b in zip(pullback(1.0), kept))


def same(x):
    return x


def plus(x, y):
    return x + y


def test_the_cotangent_that_is_given_is_not_returned():
    dy = np.array([1.0, 2.0, 3.0])
    _, pullback = s2sad.vjp(same, X)
    owned(pullback(dy), (dy, X))
    _, pullback = s2sad.vjp(plus, X, Y)
    owned(pullback(dy), (dy, X, Y))
    assert np.array_equal(dy, [1.0, 2.0, 3.0])


def test_adding_in_place_leaves_arguments_alone():
    x, y = X.copy(), Y.copy()
    gradient = s2sad.grad(added_to)(x, y)
    assert np.allclose(gradient, Y + 2 * X)
    assert np.array_equal(y, Y)
