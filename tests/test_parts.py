"""First contributions to parts of an array of zeros are assigned, later ones added."""

import numpy as np
import pytest
from slopes import check

import s2sad

X = np.array([0.7, -0.4, 1.1, 0.6, -0.9, 0.3])


def text_of(f, *args):
    return s2sad.grad(f).source(*args)


def thirds(x):
    n = len(x) // 3
    return np.sum(np.sin(x[:n])) + np.sum(np.exp(x[n:]))


def by_lengths(x, v):
    n = len(v)
    return np.sum(np.sin(x[:n])) * np.sum(x[n : 2 * n] ** 2) * np.sum(np.exp(x[2 * n :]))


def three_thirds(x):
    n = len(x) // 3
    parts = np.sum(np.sin(x[:n])) * np.sum(np.exp(x[n : 2 * n]))
    return parts + np.sum(x[2 * n :] ** 2)


def from_half_of_any_number(x, m):
    n = (len(x) - m) // 2
    return np.sum(np.sin(x[:n])) * np.sum(np.exp(x[n:])) + np.sum(x[0:n] ** 3)


def from_a_remainder(x, m):
    n = m % 4
    return np.sum(np.sin(x[:n])) * np.sum(np.exp(x[n:]))


def from_both_ends(x):
    return np.sum(np.sin(x[:-2])) * np.sum(x[-2:] ** 2)


def rows_and_columns(a):
    return np.sum(np.sin(a[0, 1:])) * np.sum(a[1:, 1:] ** 2) * np.exp(a[1, 0])


@pytest.mark.parametrize("f", [thirds, three_thirds, from_both_ends])
def test_parts_that_do_not_meet(f):
    assert "+=" not in text_of(f, X)
    check(f, X)


@pytest.mark.parametrize("f", [from_half_of_any_number, from_a_remainder])
def test_quotients_and_remainders(f):
    """(n - m) // 2 may be negative: then x[:n] and x[0:n] are met again."""
    assert ("+=" in text_of(f, X, 3)) == (f is from_half_of_any_number)
    for m in (-4, 0, 1, 3, 5, 7, 9, 13):
        check(f, X, m, constant=(1,))


def test_lengths_are_never_negative():
    v = np.ones(2)
    assert "+=" not in text_of(by_lengths, X, v)
    for n in (1, 2, 3, 4, 6):
        check(by_lengths, X, np.ones(n), constant=(1,))


def test_one_axis_is_enough():
    a = X.reshape(2, 3)
    assert "+=" not in text_of(rows_and_columns, a)
    check(rows_and_columns, a)


def number_of(x, i, j):
    return np.sum(np.sin(x[:i])) * np.sum(x[j:] ** 2)


@pytest.mark.parametrize("i, j", [(4, 2), (2, 4), (-1, 2), (-2, -3), (0, 0)])
def test_numbers_may_be_anything(i, j):
    text = text_of(number_of, X, i, j)
    assert text.count("+=") == 1
    check(number_of, X, i, j, constant=(1, 2))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.sin(x[:3])) * np.sum(x[2:] ** 2),
        lambda x: np.sum(np.sin(x[:-2])) * np.sum(x[-3:] ** 2),
        lambda x: np.sum(np.sin(x[::2])) * np.sum(x[1::2] ** 2) * np.sum(x[::-1] ** 3),
        lambda x: np.sin(x[0]) * np.sum(x[-6:] ** 2),
        lambda x: np.sum(x[2:]) * x[-1] ** 2 * x[1],
    ],
)
def test_parts_that_may_meet(f):
    assert "+=" in text_of(f, X)
    check(f, X)


def moving(x, n):
    """The bound is another one where the second part is met."""
    k = 1
    s = np.sum(np.sin(x[:k]))
    k = n
    return s * np.sum(x[k:] ** 2)


@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_bound_that_is_bound_anew(n):
    check(moving, X, n, constant=(1,))


def test_in_a_loop():
    def f(x, n):
        s = 0.0
        for i in range(n):
            z = x * s + x
            s = np.sum(np.sin(z[:2])) * np.sum(z[2:] ** 2) + z[i]
        return s

    check(f, X, 3, constant=(1,))
