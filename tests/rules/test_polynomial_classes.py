"""The rules of rules/polynomial_classes.py: at places, and in coefficients."""

import numpy as np
import pytest

import s2sad
from s2sad.registry import object_function
from tests import slopes

rng = np.random.default_rng(4)
NAMES = ("Polynomial", "Chebyshev", "Legendre", "Hermite", "HermiteE", "Laguerre")
CLASSES = [getattr(np.polynomial, name) for name in NAMES]


def n(*shape):
    return rng.standard_normal(shape)


GIVEN = np.polynomial.Chebyshev([1.0, -0.4, 0.3, 0.2], domain=[0.0, 3.0])


def at_places(x, c, cls):
    series = cls([1.0, 2.0, -0.3, 0.1])
    return np.sum(series(x) ** 2) + GIVEN(x[0]) + np.sum(series.deriv()(x) * series.integ(2)(x))


def of_coefficients(x, c, cls):
    series = cls(c)
    return np.sum(series(x) ** 2) + series(0.3) + np.sum(series.coef**2)


def mapped(x, c, cls):
    return np.sum(cls(c, domain=[-2.0, 5.0])(x) ** 2)


def of_a_list(x, c, cls):
    return cls([x[0], x[1] * x[2], 1.0])(x[3]) * np.sum(c)


def in_a_loop(x, c, cls):
    total = 0.0
    for v in x:
        series = cls(c * v)
        total = total + series(v) ** 2
    return total


def derived(x, c, cls):
    series = cls(c, domain=[-1.0, 2.0])
    return np.sum(series.deriv(2)(x) ** 2) + series.integ()(x[0]) * series.deriv()(0.3)


PROGRAMS = [at_places, of_coefficients, mapped, of_a_list, in_a_loop, derived]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradient(f, cls):
    slopes.check(f, n(4) * 0.7, n(4), cls, constant=(2,))


def given(x, series):
    return np.sum(series(x) ** 2)


def test_given_series():
    for cls in CLASSES:
        slopes.check(given, n(3), cls(n(3), window=[-2.0, 1.0]), constant=(1,))
        slopes.check(given, n(3), cls([1, 2, 3]), constant=(1,))
    assert object_function(CLASSES[0], "__call__") is not None


def roots(x):
    return np.sum(np.polynomial.Polynomial(x).roots())


def converted(x):
    return np.polynomial.Polynomial(x).convert(kind=np.polynomial.Chebyshev)(0.3)


def one_changed(x):
    p = np.polynomial.Polynomial(x * 1.0)
    p.coef[0] = x[1] ** 2
    return p(0.3)


def one_changed_in_a_list(x):
    found = [np.polynomial.Polynomial(x * 1.0)]
    numbers = found[0].coef
    numbers[0] = x[1] ** 2
    return found[0](0.3)


def changed(p, x):
    numbers = p.coef
    numbers[0] = x[1] ** 2
    return p(0.3)


def one_changed_by_a_function(x):
    return changed(np.polynomial.Polynomial(x * 1.0), x)


CHANGED = [one_changed, one_changed_in_a_list, one_changed_by_a_function]


@pytest.mark.parametrize("f", [roots, converted, *CHANGED])
def test_what_is_not_known_is_refused(f):
    with pytest.raises(s2sad.Error):
        s2sad.grad(f)(n(4))


def arithmetic(x, c, cls):
    p = cls(c)
    q = p * cls(x[:2]) - 2.0 * p + x[0] - p * c[1] / x[1]
    return (q**2 - 1.0 + (-p))(0.3) + np.sum((p * p).coef ** 2) + (x[2] - p)(x[3])


def by_factors(x, c, cls):
    p = cls([1.0])
    for v in x:
        p = p * cls([-v, 1.0])
    return p(0.5) * np.sum(c)


def zeros(x, c, cls):
    return np.sum(np.abs(cls(c, domain=[0.0, 2.0]).roots())) + np.sum(x)


def fitted(x, c, cls):
    p = cls.fit(np.array([0.0, 1.0, 2.5, 3.0]), x, 2, w=[1.0, 2.0, 1.0, 3.0])
    return p(0.4) + np.sum(cls.fit([0.0, 1.0, 2.5, 3.0], c, 1).coef ** 2)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("f", [arithmetic, by_factors, zeros, fitted], ids=lambda f: f.__name__)
def test_operators_zeros_and_fits(f, cls):
    x, c = np.array([0.7, 1.3, -0.4, 0.9]), np.array([0.5, -0.8, 0.6, 1.1])
    slopes.check(f, x, c, cls, constant=(2,))
    moved = s2sad.jvp(f, (x, c, cls), (c, x, None))[1]
    bars = s2sad.grad(f, wrt=(0, 1))(x, c, cls)
    assert moved == pytest.approx(bars[0] @ c + bars[1] @ x)


def of_poly1d(x, c):
    p = np.poly1d(c)
    q = p * p + 2.0 * p - p.deriv() * x[0] + p.integ(2) / x[1] - (1.0 - p)
    return q(x[2]) + np.sum(np.poly1d([1.0, 2.0])(x)) + np.sum(q.c) + (p * np.poly1d(x))(0.3)


def test_poly1d():
    x, c = np.array([0.7, 1.3, -0.4, 0.9]), np.array([0.5, -0.8, 0.6])
    slopes.check(of_poly1d, x, c)
    moved = s2sad.jvp(of_poly1d, (x, c), (x, c))[1]
    bars = s2sad.grad(of_poly1d, wrt=(0, 1))(x, c)
    assert moved == pytest.approx(bars[0] @ x + bars[1] @ c)


def test_a_numpy_number_left_of_a_poly1d_is_refused():
    """It makes an array of the coefficients, to which it is added item by item."""
    with pytest.raises(s2sad.UnsupportedError, match="makes an array of a poly1d"):
        s2sad.grad(lambda x: (x[0] + np.poly1d(x)).sum())(np.array([0.3, 0.4]))


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_a_series_has_coefficients_of_its_own(cls):
    def given_back(x):
        return cls(x).coef

    def of_derivatives(x):
        return cls(x).deriv().coef

    def found(x):
        return cls(x).roots()

    def written_afterwards(x):
        y = x * 2.0
        p = cls(y)
        y *= x
        return p.coef * y

    x, along = np.array([0.3, 1.7, -0.8, 1.1]), np.array([0.2, -0.6, 1.0, 0.4])
    for f in (given_back, of_derivatives, found, written_afterwards):
        y, moved = s2sad.jvp(f, (x,), (along,))
        slope = (f(x + 1e-6 * along) - f(x - 1e-6 * along)) / 2e-6
        assert np.array_equal(y, f(x)) and moved == pytest.approx(slope, rel=1e-6, abs=1e-7)
        _, pullback = s2sad.vjp(f, x)
        seed = np.cos(np.arange(1.0, 1.0 + len(y))).astype(y.dtype)
        assert pullback(seed) @ along == pytest.approx(np.real(np.sum(seed * moved)), rel=1e-9)


def test_values_of_a_polynomial_share_no_memory_with_its_coefficients():
    def f(x):
        return np.poly1d(x)(x)

    x = np.array([1.0, 3.0, -2.0, 0.5])
    ends = [f(x + h * x) for h in (1e-6, -1e-6)]
    value, slope = s2sad.jvp(f, (x,), (x,))
    assert np.array_equal(value, f(x))
    assert slope == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6)
