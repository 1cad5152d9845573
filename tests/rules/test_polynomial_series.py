"""The rules of rules/polynomial_series.py, each function for every family."""

import numpy as np
import pytest
from numpy.polynomial import (
    chebyshev,
    hermite,
    hermite_e,
    laguerre,
    legendre,
    polynomial,
    polyutils,
)

import s2sad
from s2sad.registry import rule_for
from s2sad.testing import check_rule
from tests import slopes

rng = np.random.default_rng(14)


def normal(*shape):
    return rng.standard_normal(shape)


def wave(*shape):
    return normal(*shape) + 1j * normal(*shape)


FAMILIES = {
    "poly": polynomial,
    "cheb": chebyshev,
    "leg": legendre,
    "herm": hermite,
    "herme": hermite_e,
    "lag": laguerre,
}
p, q, C = normal(4), normal(3), normal(4, 2)
x = np.array([0.3, -0.7, 0.2, 0.9, -0.4, 0.6])

ROWS = [
    *[
        ("val", (at, c), {})
        for c in (p, q[:1], wave(3), C, normal(3, 2, 3))
        for at in (0.7, x, x.reshape(2, 3), np.array(0.3), wave(2))
    ],
    ("val", (x[:2], C), {"tensor": False}),
    ("val", (x.reshape(3, 2), C), {"tensor": False}),
    ("val", (0.3, C), {"tensor": False}),
    ("vander", (x,), {"deg": 3}),
    ("vander", (x.reshape(2, 3),), {"deg": 2}),
    ("vander", (0.3,), {"deg": 2}),
    ("vander", (wave(2),), {"deg": 2}),
    ("vander", (x,), {"deg": 0}),
    *[("der", (p,), {"m": m}) for m in (0, 1, 2, 3, 4)],
    ("der", (wave(4),), {"scl": 2.0}),
    ("der", (C,), {"m": 2, "scl": -0.5}),
    ("der", (C,), {"axis": 1}),
    *[("int", (p,), {"m": m}) for m in (0, 1, 2)],
    ("int", (q,), {"m": 2, "k": [0.5], "lbnd": -1.0, "scl": 0.3}),
    ("int", (C,), {"axis": -1}),
    ("int", (wave(3),), {"k": 2}),
    *[(fn, args, {}) for fn in ("add", "sub", "mul") for args in ((p, q), (q, p), (wave(2), q))],
    ("mul", (q[:1], p), {}),
    ("mulx", (p,), {}),
    ("mulx", (q[:1],), {}),
    ("mulx", (wave(3),), {}),
    ("fromroots", (q,), {}),
    ("fromroots", (q[:1],), {}),
    ("fromroots", (wave(3),), {}),
    ("val2d", (x[:2], x[2:4], C), {}),
    ("val2d", (0.3, 0.2, C), {}),
    ("val2d", (x.reshape(2, 3), x.reshape(2, 3) ** 2, normal(2, 3)), {}),
    ("val3d", (0.3, 0.2, -0.4, normal(2, 3, 2)), {}),
    ("val3d", (x[:2], x[2:4], x[4:], normal(2, 3, 2)), {}),
    ("grid2d", (x[:2], x[2:5], C), {}),
    ("grid3d", (x[:2], x[2:3], x[4:], normal(2, 3, 2)), {}),
    ("vander2d", (x[:2], x[2:4]), {"deg": [2, 1]}),
    ("vander2d", (0.3, 0.2), {"deg": [1, 2]}),
    ("vander3d", (x[:2], x[2:4], x[4:]), {"deg": [2, 1, 1]}),
    *[("div", args, {}) for args in ((p, q), (p, q[:2]), (p, q[:1]), (q, p))],
    *[("pow", (q,), {"pow": n}) for n in (0, 1, 2, 3)],
    ("line", (0.3, 0.7), {}),
    ("companion", (p,), {}),
    ("companion", (q[:2],), {}),
    ("trim", (q,), {}),
    ("fit", (x, np.sin(x)), {"deg": 2}),
    ("fit", (x, normal(6, 2)), {"deg": 1}),
    ("fit", (x, normal(6)), {"deg": 2, "w": 0.5 + x * x}),
    ("fit", (x, wave(6)), {"deg": 0}),
]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name, args, settings", ROWS)
def test_rule(family, name, args, settings):
    check_rule(getattr(FAMILIES[family], family + name), *args, **settings)


@pytest.mark.parametrize("family", FAMILIES)
def test_roots(family):
    module = FAMILIES[family]
    for zeros in (np.array([0.5, -1.0, 2.0]), np.array([0.7])):
        check_rule(getattr(module, f"{family}roots"), getattr(module, f"{family}fromroots")(zeros))
    check_rule(getattr(module, f"{family}roots"), np.array([1.0, 0.2, 1.5, -0.7]))


def test_weights():
    inside = np.array([0.3, -0.6])
    for fn in (hermite.hermweight, hermite_e.hermeweight, laguerre.lagweight):
        check_rule(fn, x)
    check_rule(chebyshev.chebweight, inside)
    check_rule(legendre.legweight, inside)


@pytest.mark.parametrize("family", [f for f in FAMILIES if f != "poly"])
def test_other_bases(family):
    module = FAMILIES[family]
    for fn in (getattr(module, f"{family}2poly"), getattr(module, f"poly2{family}")):
        check_rule(fn, p)
        check_rule(fn, q[:1])


def test_values_from_roots():
    for at in (x.reshape(2, 3), 0.3):
        check_rule(polynomial.polyvalfromroots, at, q)


def test_intervals():
    def moved(old, new, t):
        where = polyutils.mapdomain(t, old, new) ** 2 * polyutils.getdomain(t)[1]
        return np.sum(where) + polyutils.mapparms(old, new)[0]

    slopes.check(moved, p[:2], np.array([-1.0, 1.5]), x)


def test_a_series_of_zeros():
    out = polynomial.polymul(np.zeros(2), q)
    bars = rule_for(polynomial.polymul).pullback(np.ones(out.size), out, np.zeros(2), q)
    assert [bar.shape for bar in bars] == [(2,), (3,)]


def test_fits_of_chosen_degrees_are_refused():
    with pytest.raises(NotImplementedError, match="all degrees"):
        rule_for(legendre.legfit).pullback(q, q, x, x, deg=[0, 2])


def expansion(c, t):
    slope = chebyshev.chebder(c)
    return np.sum(chebyshev.chebval(t, c) ** 2) + chebyshev.chebval(0.2, slope)


def quadrature(c):
    nodes, weights = legendre.leggauss(4)
    return np.dot(weights, legendre.legval(nodes, legendre.legmul(c, c)))


def smooth(t, y):
    c = np.polynomial.polynomial.polyfit(t, y, 2)
    return np.sum((np.polynomial.polynomial.polyvander(t, 2) @ c) ** 2)


def moved(zeros):
    return np.sum(hermite.hermfromroots(zeros) ** 2) + laguerre.lagint(zeros, lbnd=0.5)[1]


def test_gradient():
    slopes.check(expansion, p, x)
    slopes.check(quadrature, p)
    slopes.check(smooth, x, np.cos(3.0 * x))
    slopes.check(moved, q)
    single = s2sad.grad(expansion, wrt=(0, 1))(p.astype(np.float32), x.astype(np.float32))
    assert [bar.dtype for bar in single] == [np.float32] * 2
