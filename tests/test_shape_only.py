"""An array of which the backward sweep wants but the shape is not kept."""

import numpy as np
import pytest
from slopes import check

import s2sad

X = np.array([0.7, -0.4, 1.1])
A = np.array([[1.1, 0.4, -0.3], [0.2, 0.9, 0.5]])


def sums(x, a, n):
    s = 0.1
    for i in range(n):
        t = a[i] * a[i - 1]
        u = t + x
        s = s + np.sum(u) * s
    return s


def branch(x, a, n):
    """Bound in one arm, and then in another shape."""
    s = 0.1
    t = x
    for i in range(n):
        if i % 2:
            t = a * x
            s = s * np.sum(t)
        else:
            t = a[i] + x[:1]
            s = s + np.mean(t) * s
    return s


def carried(x, a, n):
    """The value of the round before: an array of another shape each time."""
    t = x
    s = 0.0
    for i in range(n):
        s = s + np.mean(t) * np.sum(t)
        t = np.outer(t, a[i]).ravel()
    return s


def rebound(x, a, n):
    s = 0.0
    for i in range(n):
        t = a[i] * x
        s = s + np.mean(t)
        t = np.concatenate([t, x]) * s
        s = s + np.mean(t)
    return s


def content_too(x, a, n):
    s = 0.0
    for i in range(n):
        t = a[i] * x
        s = s + np.mean(t) * np.sum(t * t)
    return s


@pytest.mark.parametrize("fn", [sums, branch, carried, rebound, content_too])
def test_gradient(fn):
    check(fn, X, A, 2, constant=(2,))


def test_the_shape_is_kept():
    text = s2sad.source(sums, args=(X, A, 2))
    assert "u.shape" in text.split("while saved")[0]
    assert ".shape" not in text.split("while saved")[1]


def test_an_array_whose_content_is_wanted_is_kept():
    text = s2sad.source(content_too, args=(X, A, 2))
    assert "t_shape" not in text.split("saved = []")[1]


def test_memory_is_not_put_back_for_a_shape():
    def f(x, y, n):
        y = y.copy()
        for i in range(n):
            z = y[: i + 2]
            y[: i + 2] = x[: i + 2] * 2.0
            y[: i + 2] += np.sum(z[:1] * 0.0 + x[:1])
        return np.sum(y)

    check(f, X, X + 1.0, 2, constant=(2,))
