"""The rules of rules/scipy_fitting.py: fits, held against differences and against equations."""

import numpy as np
import pytest

import s2sad
from tests.slopes import check

optimize = pytest.importorskip("scipy.optimize")

T = np.arange(5.0)
Y = np.array([1.0, 2.2, 2.9, 4.1, 7.3])
A = np.array(
    [[1.0, 0.2, 0.4], [0.3, 1.1, -0.5], [0.7, -0.3, 0.9], [-0.2, 0.5, 1.3], [0.1, 0.8, 0.6]]
)


def model(t, a, b):
    return a * np.exp(b * t)


def residuals(p, y, scale):
    return scale * (model(T, p[0], p[1]) - y)


def by_least_squares(y):
    start = np.array([1.0, 0.3])
    found = optimize.least_squares(lambda p: model(T, *p) - y, start, xtol=1e-14, gtol=1e-14)
    return np.sum(found.x**2)


def with_arguments(y, scale):
    start = [1.0, 0.3]
    return np.sum(optimize.least_squares(residuals, start, args=(y, scale), method="lm").x ** 2)


def by_curve_fit(y):
    popt, pcov = optimize.curve_fit(model, T, y, p0=[1.0, 0.3])
    return np.sum(popt**2)


def with_deviations(y, sigma):
    return np.sum(optimize.curve_fit(model, T, y, p0=(1.0, 0.3), sigma=sigma)[0] ** 2)


def by_equations(y, weights):
    """Where the gradient of the sum of squares is zero."""

    def slope(p):
        e = np.exp(p[1] * T)
        r = weights**2 * (p[0] * e - y)
        return np.array([np.sum(r * e), np.sum(r * p[0] * T * e)])

    return np.sum(optimize.root(slope, np.array([1.02, 0.48]), tol=1e-13).x ** 2)


@pytest.mark.parametrize("f", [by_least_squares, by_curve_fit])
def test_a_fit_that_leaves_something_over(f):
    expected = s2sad.grad(by_equations)(Y, np.ones(5))
    value, found = s2sad.value_and_grad(f)(Y)
    assert value == f(Y)
    assert found == pytest.approx(expected, rel=1e-4)
    assert s2sad.jvp(f, (Y,), (np.cos(Y),))[1] == pytest.approx(expected @ np.cos(Y), rel=1e-3)


def test_arguments_and_deviations():
    by_y, by_scale = s2sad.grad(with_arguments, wrt=(0, 1))(Y, 2.0)
    assert by_y == pytest.approx(s2sad.grad(by_equations)(Y, np.ones(5)), rel=1e-4)
    assert by_scale == pytest.approx(0.0, abs=1e-4)
    sigma = np.array([1.0, 0.5, 2.0, 1.5, 1.0])
    by_y, by_sigma = s2sad.grad(with_deviations, wrt=(0, 1))(Y, sigma)
    expected, by_weights = s2sad.grad(by_equations, wrt=(0, 1))(Y, 1.0 / sigma)
    assert by_y == pytest.approx(expected, rel=1e-4)
    assert by_sigma == pytest.approx(-by_weights / sigma**2, rel=1e-3)


def test_refusals_tell_what_to_do():
    def covariances(y):
        return np.sum(optimize.curve_fit(model, T, y, p0=[1.0, 0.3])[1])

    def cost(y):
        return optimize.least_squares(lambda p: model(T, *p) - y, np.array([1.0, 0.3])).cost

    for f, words in ((covariances, "no derivative of the covariances"), (cost, "residuals")):
        with pytest.raises(s2sad.UnsupportedError, match=words) as caught:
            s2sad.grad(f)(Y)
        assert caught.value.place is not None


def linear(A, y):
    return np.sum(optimize.lsq_linear(A, y).x * np.array([1.0, 2.0, 3.0]))


def bounded(A, y):
    x = optimize.lsq_linear(A, y, bounds=(-0.1, 2.5), method="bvls").x
    return np.sum(x * np.array([1.0, 2.0, 3.0]))


def positive(A, y):
    x, length = optimize.nnls(A, y - 2.0)
    return np.sum(x**2) + length**2


@pytest.mark.parametrize("f", [linear, bounded, positive])
def test_linear(f):
    check(f, A, Y)
    assert s2sad.value_and_grad(f)(A, Y)[0] == f(A, Y)
