"""Memory whose rows a loop fills one after the other, each from the one before."""

import numpy as np
import pytest
from slopes import check

import s2sad

RNG = np.random.default_rng(2)
W, XS, Y = 0.5 * RNG.standard_normal((3, 3)), RNG.standard_normal((4, 3)), RNG.standard_normal(4)


def states(W, xs, y):
    h = np.zeros((len(xs) + 1, xs.shape[1]))
    out = np.zeros(len(xs))
    for t in range(len(xs)):
        h[t + 1] = np.tanh(W @ h[t] + xs[t])
        out[t] = np.sum(h[t + 1]) * y[t]
    return np.sum(out * out)


def decay(W, xs, y):
    """The row at hand is in what goes to the next one."""
    h = np.zeros((len(xs) + 1, xs.shape[1]))
    out = np.zeros(len(xs))
    for t in range(len(xs)):
        h[t + 1] = h[t] * y[t] + np.sin(h[t]) + xs[t]
        out[t] = np.dot(h[t + 1], W[0])
    return np.sum(out * out)


def squares(W, xs, y):
    """What goes to a row is the same for all of it."""
    h = np.zeros((len(xs) + 1, xs.shape[1]))
    s = np.zeros(len(xs) + 1)
    for t in range(len(xs)):
        s[t + 1] = np.sum(h[t]) * y[t] + s[t]
        h[t + 1] = xs[t] * s[t + 1]
    return np.sum(s * s) + np.sum(s * 0.5)


def planes(W, xs, y):
    h = np.zeros((len(xs) + 1, 3, 3))
    s = np.zeros(len(xs))
    for t in range(len(xs)):
        h[t + 1] = np.sin(W @ h[t]) + np.outer(xs[t], xs[t])
        s[t] = np.sum(h[t + 1] * W) * y[t]
    return np.sum(s * s)


def swapped(W, xs, y):
    """Two states that take each other's place."""
    h = np.zeros((len(xs) + 1, xs.shape[1]))
    c = np.zeros((len(xs) + 1, xs.shape[1]))
    s = 0.0
    for t in range(len(xs)):
        c[t + 1] = np.tanh(h[t]) * y[t] + xs[t]
        h[t + 1] = np.tanh(c[t]) + W @ c[t + 1]
        s = s + np.sum(h[t + 1] * c[t + 1])
    return s * s


@pytest.mark.parametrize("f", [states, decay, squares, planes, swapped])
def test_one_row(f):
    check(f, W, XS, Y)


@pytest.mark.parametrize("f", [states, decay, squares, swapped])
@pytest.mark.parametrize("steps, width", [(0, 3), (1, 3), (4, 1), (4, 2), (1, 1)])
def test_of_any_size(f, steps, width):
    args = W[:width, :width], RNG.standard_normal((steps, width)), RNG.standard_normal(steps)
    if steps:
        check(f, *args)
    else:
        assert all(np.all(g == 0.0) for g in s2sad.grad(f, wrt=(0, 1, 2))(*args))


def read_after(W, xs, y):
    h = np.zeros((len(xs) + 1, 3))
    for t in range(len(xs)):
        h[t + 1] = np.tanh(W @ h[t] + xs[t])
    return np.sum(h * h)


def set_before(W, xs, y):
    h = np.zeros((len(xs) + 1, 3))
    h[0] = W[1]
    s = 0.0
    for t in range(len(xs)):
        h[t + 1] = np.tanh(W @ h[t] + xs[t])
        s = s + np.sum(h[t + 1] ** 2) * y[t]
    return s


def two_back(W, xs, y):
    h = np.zeros((len(xs) + 2, 3))
    s = 0.0
    for t in range(len(xs)):
        h[t + 2] = np.tanh(W @ h[t] + xs[t] * h[t + 1])
        s = s + np.sum(h[t + 2] ** 2) * y[t]
    return s


def sometimes(W, xs, y):
    h = np.zeros((len(xs) + 1, 3))
    s = 0.0
    for t in range(len(xs)):
        if xs[t, 0] > 0.0:
            h[t + 1] = np.tanh(W @ h[t] + xs[t])
        else:
            h[t + 1] = h[t] * y[t] + 0.1
        s = s + np.sum(h[t + 1] ** 2)
    return s


def until(W, xs, y):
    h = np.zeros((len(xs) + 1, 3))
    s = 0.0
    for t in range(len(xs)):
        h[t + 1] = np.tanh(W @ h[t] + xs[t])
        s = s + np.sum(h[t + 1] ** 2)
        if s > 1.0:
            break
    return s


def columns(W, xs, y):
    h = np.zeros((3, len(xs) + 1))
    s = 0.0
    for t in range(len(xs)):
        h[:, t + 1] = np.tanh(W @ h[:, t] + xs[t])
        s = s + np.sum(h[:, t + 1] ** 2) * y[t]
    return s


def twos(W, xs, y):
    h = np.zeros((len(xs) + 1, 3))
    s = 0.0
    for t in range(0, len(xs), 2):
        h[t + 1] = np.tanh(W @ h[t] + xs[t])
        s = s + np.sum(h[t + 1] ** 2)
    return s


@pytest.mark.parametrize("f", [read_after, set_before, two_back, sometimes, until, columns, twos])
def test_all_rows(f):
    check(f, W, XS, Y)


def test_memory_of_others_is_not_touched():
    value, pull = s2sad.vjp(states, W, XS, Y, wrt=0)
    np.testing.assert_array_equal(pull(1.0), pull(1.0))
    args = W.copy(), XS.copy(), Y.copy()
    s2sad.grad(states)(*args)
    for one, other in zip(args, (W, XS, Y), strict=True):
        np.testing.assert_array_equal(one, other)
