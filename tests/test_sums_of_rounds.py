"""Sums to which rounds add: a number begins as one of Python's, and may be one of NumPy's."""

import numpy as np
import pytest

import s2sad

ROWS = [np.array([1.0, 2.0]), np.array([3.0, -4.0, 5.0])]


def squares(mu, rows):
    lp = -0.5 * mu**2
    for r in rows:
        lp += -0.5 * np.sum((r - mu) ** 2)
    return -lp


def scaled(mu, rows):
    s = 0.0
    for r in rows:
        s = s + 0.25 * np.sum(r * mu * r)
    return s * s


def powers_of_numbers(mu, rows):
    s = 0.0
    for r in rows:
        s += -0.5 * mu**2 + 0.1 * r[0] * mu**1 + r[1] * mu**0
    return s


@pytest.mark.parametrize("rows", [ROWS, [], [r.astype("float32") for r in ROWS]])
@pytest.mark.parametrize("f", [squares, scaled, powers_of_numbers])
@pytest.mark.parametrize("mu", [0.3, 0.0])
def test_gradients(f, rows, mu):
    value, bar = s2sad.value_and_grad(f)(mu, rows)
    assert value == f(mu, rows)
    ends = [f(mu + h, [np.array(r, float) for r in rows]) for h in (1e-6, -1e-6)]
    np.testing.assert_allclose(bar, (ends[0] - ends[1]) / 2e-6, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gradients_are_as_wide_as_what_they_are_of(dtype):
    def f(x, n):
        s = 0.0
        for k in range(n):
            s += np.sum(x * x) * (k + 1.0)
        return s

    bar = s2sad.grad(f)(np.array([1.0, 2.0], dtype), 3)
    assert bar.dtype == dtype
    np.testing.assert_array_equal(bar, [12.0, 24.0])


def test_nothing_is_repeated_for_a_product():
    assert "broadcast_to" not in s2sad.grad(squares).source(0.3, ROWS)
