"""Memory that is written and has several names: values, gradients, pullbacks, shadows."""

import numpy as np
import pytest

import s2sad
from s2sad import Duplicated, Reverse, autodiff
from tests.writing_aliases import PROGRAMS, X

CASES = [pytest.param(f, id=f.__name__) for f in PROGRAMS]


def slope(f):
    """Central differences of f at X."""
    found = np.zeros(X.size)
    for at in range(X.size):
        ends = [X.copy(), X.copy()]
        ends[0][at] += 1e-6
        ends[1][at] -= 1e-6
        found[at] = (float(f(ends[0])) - float(f(ends[1]))) / 2e-6
    return found


def close(got, want):
    return np.allclose(got, want, rtol=0, atol=1e-6 * (1 + np.abs(want).max()))


@pytest.mark.parametrize("f", CASES)
def test_gradient(f):
    x = X.copy()
    derived = s2sad.value_and_grad(f)
    value, gradient = derived(x)
    assert value == f(X.copy())
    assert close(gradient, slope(f))
    assert np.array_equal(derived(x)[1], gradient)
    assert np.array_equal(x, X) and not np.shares_memory(x, gradient)
    assert gradient.shape == X.shape and gradient.dtype == X.dtype


@pytest.mark.sampled(3)
@pytest.mark.parametrize("f", CASES)
def test_pullback_may_be_called_again(f):
    x = X.copy()
    value, pullback = s2sad.vjp(f, x, wrt=0)
    gradient = s2sad.grad(f)(x)
    x += 100.0
    first, second = pullback(1.0), pullback(1.0)
    assert value == f(X.copy())
    assert close(first, slope(f))
    assert np.array_equal(first, second) and np.array_equal(first, gradient)


@pytest.mark.parametrize("f", CASES)
def test_into_a_shadow(f):
    x, x_bar = X.copy(), np.zeros_like(X)
    value, _ = autodiff(Reverse, f, Duplicated(x, x_bar))
    after = X.copy()
    assert value == f(after)
    assert np.array_equal(x, after)
    assert close(x_bar, slope(f))


def rows_by_a_generator(x):
    A = np.outer(x, x)

    def rows():
        for i in range(6):
            yield A[i]

    for row in rows():
        row *= x[0]
    return np.sum(A**2)


def test_rows_that_a_generator_gives():
    f = rows_by_a_generator
    slopes = [(f(X + e) - f(X - e)) / 2e-6 for e in np.eye(len(X)) * 1e-6]
    np.testing.assert_allclose(s2sad.grad(f)(X), slopes, rtol=1e-6)
