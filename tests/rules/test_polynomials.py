"""The rules of rules/polynomials.py: degrees, leading zeros, complex coefficients."""

import numpy as np
import pytest

import s2sad
from s2sad.registry import rule_for
from s2sad.testing import check_rule
from tests import slopes

rng = np.random.default_rng(12)


def normal(*shape):
    return rng.standard_normal(shape)


def wave(*shape):
    return normal(*shape) + 1j * normal(*shape)


p, q = normal(4), normal(3)
PADDED = np.array([0.0, 0.0, 1.5, -0.5])
x = np.array([0.3, -0.7, 1.2, 2.1, -1.4, 0.8])

ROWS = [
    *[
        (np.polyval, (c, at), {})
        for c in (p, q[:1], wave(3), PADDED)
        for at in (0.7, x, x.reshape(2, 3), np.array(0.3), wave(2))
    ],
    (np.vander, (x,), {}),
    (np.vander, (x,), {"N": 3}),
    (np.vander, (x,), {"N": 4, "increasing": True}),
    (np.vander, (x,), {"N": 1}),
    (np.vander, (wave(3),), {"N": 4}),
    *[
        (fn, args, {})
        for fn in (np.polyadd, np.polysub)
        for args in ((p, q), (q, p), (p, p[::-1].copy()), (wave(2), q), (0.5, q))
    ],
    (np.polymul, (p, q), {}),
    (np.polymul, (q[:1], p), {}),
    (np.polymul, (wave(3), q), {}),
    (np.polydiv, (normal(6), q), {}),
    (np.polydiv, (p, normal(4)), {}),
    (np.polydiv, (q, p), {}),
    (np.polydiv, (p, np.array([0.7])), {}),
    (np.polydiv, (wave(5), wave(2)), {}),
    *[(np.polyder, (c,), {"m": m}) for c in (normal(5), wave(4)) for m in (0, 1, 2, 3)],
    (np.polyder, (q,), {"m": 4}),
    *[(np.polyint, (c,), {"m": m}) for c in (q, wave(2)) for m in (0, 1, 2, 3)],
    (np.polyint, (q,), {"k": 0.7}),
    (np.polyint, (q,), {"m": 2, "k": np.array([0.7, 0.2])}),
    (np.poly, (p,), {}),
    (np.poly, (q[:1],), {}),
    (np.poly, (wave(3),), {}),
    (np.poly, (normal(3, 3),), {}),
    (np.poly, (normal(1, 1),), {}),
    (np.poly, (wave(3, 3),), {}),
    (np.roots, (np.poly(np.array([0.5, -1.0, 2.0])),), {}),
    (np.roots, (np.array([1.0, 0.2, 1.5, -0.3]),), {}),
    (np.roots, (wave(4),), {}),
    (np.polyfit, (x, np.sin(x)), {"deg": 2}),
    (np.polyfit, (x, np.sin(x)), {"deg": 0}),
    (np.polyfit, (x, normal(6, 2)), {"deg": 3}),
    (np.polyfit, (x, normal(6)), {"deg": 2, "w": 0.5 + x * x}),
    (np.polyfit, (x, wave(6)), {"deg": 2, "w": 0.5 + x * x}),
    (np.polyfit, (x, wave(6, 2)), {"deg": 1}),
]


@pytest.mark.parametrize("fn, args, settings", ROWS)
def test_rule(fn, args, settings):
    check_rule(fn, *args, **settings)


def test_leading_zeros_are_no_coefficients():
    out = np.polymul(PADDED, q)
    bar = rule_for(np.polymul).pullback(np.ones(4), out, PADDED, q)
    assert bar[0][:2].tolist() == [0.0, 0.0] and np.allclose(bar[0][2:], np.sum(q))
    dot = rule_for(np.polymul).pushforward(out, PADDED, q, np.ones(4), None)
    assert np.allclose(dot, np.polymul(np.ones(2), q))


def test_a_fit_at_complex_points_is_refused():
    with pytest.raises(NotImplementedError, match="complex points"):
        rule_for(np.polyfit).pullback(p, p, wave(4), p, deg=3)


def residual(c, t):
    return np.sum((np.polyval(c, t) - np.exp(t)) ** 2)


def at_integers(c):
    return np.sum(np.polyval(c, [1, 2, 10**7]) * 1e-20)


def algebra(c, d):
    product = np.polymul(c, np.polyder(d)) if len(c) > 2 else c
    quotient, rest = np.polydiv(np.polyadd(product, c), d)
    return np.sum(quotient**2) + np.sum(rest * rest) + np.sum(np.polyint(c, k=0.5) ** 2)


def spectral(c):
    return np.sum(np.abs(np.roots(c)) ** 2) + np.sum(np.poly(c) ** 2)


def regression(t, y):
    slope, start = np.polyfit(t, y, 1)
    return slope * slope + start * np.sum(np.vander(t, 3))


def test_gradient():
    slopes.check(residual, p, x)
    slopes.check(residual, p, 0.4)
    slopes.check(at_integers, p)
    slopes.check(algebra, p, q)
    slopes.check(spectral, p)
    slopes.check(regression, x, np.sin(x))
    assert s2sad.grad(residual)(p.astype(np.float32), x.astype(np.float32)).dtype == np.float32


def test_the_polynomial_of_complex_zeros_is_complex():
    def size(z):
        return np.sum(np.abs(np.poly(z)) ** 2)

    z = np.array([1.0 + 1.0j, 0.5 - 1.0j, 2.0 + 0.3j])
    z_dot = np.array([0.3 + 0.2j, -0.1 + 0.5j, 0.7 - 0.4j])
    slope = (size(z + 1e-6 * z_dot) - size(z - 1e-6 * z_dot)) / 2e-6
    assert np.real(np.sum(s2sad.grad(size)(z) * z_dot)) == pytest.approx(slope, rel=1e-6)
    assert s2sad.jvp(size, (z,), (z_dot,))[1] == pytest.approx(slope, rel=1e-6)
