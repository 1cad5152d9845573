"""Arrays that are written: what their cotangents pass on, to whom, and what of them is copied."""

import numpy as np
import pytest
from slopes import check

import s2sad

X = np.array([0.7, -0.4, 1.1, 0.3])
T = np.random.default_rng(1).standard_normal((4, 5))


def half(x):
    y = x.copy()
    y[1:] *= y[:-1]
    return y


def parts_and_whole(x):
    down = x[1:] - x[:-1]
    y = half(x)
    up = x[2:] * y[:-2]
    return np.sum(y * y) + np.sum(down**2) + np.sum(up**3)


def heat(T, steps, alpha):
    T = T.copy()
    for _ in range(steps):
        Tn = T.copy()
        T[1:-1, 1:-1] = Tn[1:-1, 1:-1] + alpha * (Tn[2:, 1:-1] - Tn[1:-1, 1:-1] * Tn[1:-1, :-2])
        T[0, :] = T[1, :]
        T[:, -1] = T[:, -2]
    return np.sum(T**2)


def both_read(T, steps, alpha):
    """The copy's cotangent is read while that of the original has still to come."""
    T = T.copy()
    for _ in range(steps):
        Tn = T.copy()
        T[0] = T[1] * Tn[2]
        T *= alpha + Tn
    return np.sum(T**2)


def views_kept(T, steps, alpha):
    T = T.copy()
    first = T[0]
    for _ in range(steps):
        Tn = T.copy()
        T[1:] = Tn[:-1] * alpha + first * 0.1
        first += Tn[1]
    return np.sum(T**2) + np.sum(first)


@pytest.mark.parametrize("fn", [heat, both_read, views_kept])
def test_of_copies(fn):
    check(fn, T, 3, 0.3, constant=(1,))


def test_heat_has_one_shadow():
    assert "zeros_like(T_bar)" not in s2sad.source(heat, args=(T, 3, 0.3))


def edges(A, n):
    A = A.copy()
    for _ in range(n):
        A[:, 0] = A[:, 1]
        A[-1] = A[-2] * A[0]
        A[1:-1] = 0.3 * A[:-2] + A[1:-1]
    return np.sum(A**2)


def overlapping(A, n):
    A = A.copy()
    for i in range(n):
        A[1:] = A[:-1] * 0.5
        A[i] = A[0] + A[i + 1]
        A[:, 1:3] = A[:, 2:4] - A[:, :2]
    return np.sum(A**2)


def through_a_view(A, n):
    A = A.copy()
    row = A[1]
    for _ in range(n):
        A[0] = row
        row[1:] = A[0, :-1] * row[:-1]
        A[1] = row + A[2]
    return np.sum(A**2) + np.sum(row)


@pytest.mark.parametrize("fn", [edges, overlapping, through_a_view])
def test_of_parts(fn):
    check(fn, T, 3, constant=(1,))


def written(x):
    y = x.copy()
    y[1:] *= y[:-1]
    y[0] = y[1]
    return y


def twice(x):
    """One cotangent arrives for two results of the same function."""
    y = written(x)
    z = written(2.0 * x)
    s = y + z
    return np.sum(s * s)


def handed_through(x):
    return written(written(x))


def and_more(x):
    y = written(x)
    return np.sum(y**3) + y[1] * np.sum(y)


def recursive(x, n):
    y = x.copy()
    y[0] *= y[1]
    return y if n == 0 else y + recursive(y, n - 1)


@pytest.mark.parametrize("fn", [parts_and_whole, twice, and_more])
def test_of_calls(fn):
    check(fn, X)


def test_the_callers_cotangent_stays_as_it_is():
    """A pullback may be called again with the same cotangent, which belongs to the caller."""
    value, pullback = s2sad.vjp(handed_through, X)
    bar = np.arange(1.0, 5.0)
    first = pullback(bar)
    assert np.array_equal(bar, np.arange(1.0, 5.0))
    assert np.array_equal(pullback(bar), first)
    assert not np.shares_memory(first, bar)


def test_a_recursive_function():
    check(lambda x: np.sum(recursive(x, 2) ** 2), X)


def test_no_copy_in_the_reverse():
    text = s2sad.source(and_more, args=(X,))
    reverse = text.split("def written_reverse")[1].split("def ")[0]
    assert "value_bar[1:] += t" in reverse and "value_bar.copy()" not in reverse
