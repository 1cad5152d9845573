"""Lengths across calls and after unpacking: what is known, and what must not be taken for known."""

import numpy as np
import pytest
import slopes

import s2sad

X = np.array([0.7, -1.3, 0.4, 0.9])


def double(x):
    return 2.0 * x


def ones_and_rest(x, n):
    u = double(x[:n])
    v = double(x[n:])
    return np.sum((u * v) ** 2)


class Scale:
    def __init__(self, by):
        self.by = by

    def __call__(self, x):
        return self.by * x


def of_a_method(x, n):
    scale = Scale(3.0)
    return np.sum((scale(x[:n]) * scale(x[n:])) ** 2)


def recursive(x, n):
    if n == 0:
        return x
    return np.sin(recursive(0.5 * x, n - 1))


def through_a_recursion(x, n):
    return np.sum((recursive(x[:n], 3) * recursive(x[n:], 2)) ** 2)


@pytest.mark.parametrize("f", [ones_and_rest, of_a_method, through_a_recursion])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_two_calls_give_two_lengths(f, n):
    slopes.check(f, X, n, constant=(1,))


def mean_square(x):
    y = double(x)
    return np.mean((y - 1.0) ** 2)


def test_a_result_is_as_long_as_its_argument():
    assert "unbroadcast" not in s2sad.grad(mean_square).source(X)
    slopes.check(mean_square, X)


def rates(state, speed):
    a, b = state
    return np.array([a * speed - b, a + b * b])


def stepped(start, speed, n):
    state = start[1:]
    slope = rates(state, speed)
    for _ in range(n):
        state = state + 0.1 * slope
        slope = rates(state, speed)
    return np.sum(state * state)


def test_who_returns_from_unpacking_was_given_so_many():
    text = s2sad.grad(stepped).source(X[:3], 0.3, 4)
    assert "unbroadcast" not in text
    slopes.check(stepped, X[:3], 0.3, 4, constant=(2,))


def unpacked_in_a_loop(x, n):
    state = x[1:]
    other = x[1:]
    s = 0.0
    for _ in range(n):
        a, b = state
        s = s + a * b
        state = state * other + s
    return s + np.sum(state)


def unpacked_on_a_path(x, n):
    state = x[:n]
    if n == 2:
        a, b = state
        state = state * a + b
    return np.sum((state * x) ** 2)


def unpacked_or_not(x, n):
    state = x[:n]
    try:
        _, _ = state
    except ValueError:
        pass
    return np.sum((state * x) ** 2)


def perhaps(state, sure):
    if sure:
        a, b = state
        return a * b
    return 0.0


def called_perhaps(x, n):
    state = x[:n]
    s = perhaps(state, n == 2)
    return s + np.sum((state * x) ** 2)


@pytest.mark.parametrize("f", [unpacked_on_a_path, unpacked_or_not, called_perhaps])
@pytest.mark.parametrize("n", [1, 2])
def test_what_is_not_always_unpacked_may_have_any_length(f, n):
    slopes.check(f, X if n == 1 else X[:2], n, constant=(1,))


def test_unpacking_in_a_loop():
    slopes.check(unpacked_in_a_loop, X[:3], 3, constant=(1,))


def rebound(x):
    a, b = x
    x = np.concatenate((x, np.array([a * b, 1.0])))
    s = 0.0
    for i in range(2):
        x = x * x[i]
        s = s + np.sum(x)
    return s


def swapped(state, other):
    a, b = state
    state = other
    return a * b * state


def called_where_it_rebinds(x, n):
    other = x[:n]
    y = swapped(x[:2], other)
    return np.sum(other * x + np.sum(y))


def test_the_value_was_unpacked_not_the_name():
    slopes.check(rebound, X[:2])
    slopes.check(called_where_it_rebinds, X, 1, constant=(1,))


def counted(x, steps):
    s = x * np.arange(steps)
    t = 0.0
    for _ in range(2):
        s = np.sin(s)
        t = t + np.sum(s)
    return t


def test_how_far_arange_goes_depends_on_its_float():
    slopes.check(counted, 0.7, 5.0, constant=(1,))


def nonzero(x, y):
    found = np.flatnonzero(y)
    return np.sum((x[found] * x) ** 2)


def test_how_many_are_not_zero_depends_on_them():
    slopes.check(nonzero, X, np.array([0.0, 2.0, 0.0, 0.0]), constant=(1,))
