"""The rules of rules/scalars.py, a row for each function and keyword."""

import decimal
import fractions
import math

import numpy as np
import pytest

import s2sad
from s2sad.registry import rule_for
from s2sad.rules.scalars import digamma
from s2sad.testing import check_rule

ROWS = [
    *[(fn, (x,)) for fn in (math.exp, math.exp2, math.expm1) for x in (-1.5, 0.0, 2.5)],
    *[(fn, (x,)) for fn in (math.log, math.log2, math.log10, math.log1p) for x in (0.3, 4.5)],
    *[(fn, (x,)) for fn in (math.sin, math.cos, math.tan, math.atan) for x in (-1.2, 0.0, 0.7)],
    *[(fn, (x,)) for fn in (math.asin, math.acos, math.atanh) for x in (-0.7, 0.0, 0.4)],
    *[(fn, (x,)) for fn in (math.sinh, math.cosh, math.tanh, math.asinh) for x in (-1.3, 0.0, 2.0)],
    *[(fn, (x,)) for fn in (math.erf, math.erfc, math.degrees, math.radians) for x in (-0.8, 0.0)],
    *[(fn, (x,)) for fn in (math.gamma, math.lgamma) for x in (0.3, 1.0, 2.5, 9.7, -0.6, -2.4)],
    *[(fn, (x,)) for fn in (math.fabs, math.modf, math.frexp) for x in (-1.3, 0.7, 5.3)],
    (math.fabs, (0.0,)),
    (math.acosh, (1.7,)),
    (math.sqrt, (2.3,)),
    (math.cbrt, (-2.3,)),
    (math.cbrt, (0.4,)),
    (math.exp, (np.float64(0.4),)),
    (math.fabs, (np.float64(-0.4),)),
    (math.log, (3.0, 2.5)),
    (math.log, (3.0, 2)),
    (math.log, (3, 2.5)),
    (math.pow, (1.7, 2.4)),
    (math.pow, (-1.7, 3)),
    (math.pow, (-1.7, -2)),
    (math.pow, (0.0, 0)),
    (math.pow, (0.0, 2)),
    (math.pow, (3, 0.5)),
    (math.atan2, (0.3, -0.8)),
    (math.atan2, (-1.3, 0.8)),
    (math.copysign, (1.3, -2.0)),
    (math.copysign, (-1.3, -2.0)),
    (math.copysign, (-1.3, 2.0)),
    (math.fmod, (7.3, 2.1)),
    (math.fmod, (-7.3, 2.1)),
    (math.remainder, (7.3, 2.1)),
    (math.remainder, (8.2, -2.1)),
    (math.ldexp, (1.3, 3)),
    (math.ldexp, (1.3, -2)),
    (math.nextafter, (1.3, 5.0)),
    (math.hypot, (0.3, -0.4)),
    (math.hypot, (0.3,)),
    (math.hypot, (0.3, 1, -0.7, 2.0)),
    (math.hypot, ()),
    (math.dist, ([0.3, 1.0], [2.0, -0.4])),
    (math.dist, ((0.3, 1.0), [2, -0.4])),
    (math.dist, (np.array([0.3, 1.0]), (2, 3))),
    (math.fsum, ([0.3, 1.0, -2.0],)),
    (math.fsum, ((0.3, 1, -2.0),)),
    (math.fsum, (np.array([0.3, 1.0]),)),
    (math.fsum, ([],)),
    (math.prod, ([0.3, 1.5, -2.0],)),
    (math.prod, ([0.0, 1.5, -2.0],)),
    (math.prod, ([0.0, 1.5, 0.0],)),
    (math.prod, ((0.3, 2, 1.5),)),
    (math.prod, ([0.3],)),
    (math.prod, (np.array([0.3, 0.0, 2.0]),)),
    (math.prod, ([],)),
    (sum, ([0.3, 1.5, -2.0],)),
    (sum, ((0.3, 1, -2.0), 0.5)),
    (sum, ([np.array([1.0, 2.0]), np.array([3.0, 4.0])],)),
    (sum, ([np.array([1.0, 2.0]), 3.0], np.ones((2, 1)))),
    (sum, (np.array([[1.0, 2.0], [3.0, 4.0]]),)),
    (sum, (np.array([1.0, 2.0]), 1.5)),
    (max, (0.3, 1.5)),
    (max, (0.3, -1.5, 0.2)),
    (max, (2.0, 2.0)),
    (max, (0.0, 0)),
    (max, ([0.3, -1.5, 0.2],)),
    (max, (np.array([0.3, -1.5, 0.2]),)),
    (min, (0.3, 1.5)),
    (min, ((0.3, -1.5, 0.2),)),
    (min, (2.0, 2)),
]


@pytest.mark.parametrize(("fn", "args"), ROWS, ids=str)
def test_row(fn, args):
    check_rule(fn, *args)


def test_start():
    check_rule(math.prod, [0.3, 1.5], start=2.5)
    check_rule(sum, [0.3, 1.5], start=2.5)


@pytest.mark.skipif(not hasattr(math, "sumprod"), reason="new in Python 3.12")
@pytest.mark.parametrize(
    "args", [([0.3, 1.5], [2.0, -0.4]), ((0.3, 1.5), [2, 3]), ([], [])], ids=str
)
def test_sumprod(args):
    check_rule(math.sumprod, *args)


@pytest.mark.skipif(not hasattr(math, "fma"), reason="new in Python 3.13")
@pytest.mark.parametrize("args", [(0.3, 1.5, -2.0), (2, 1.5, 1), (0.0, 0.0, 1.0)], ids=str)
def test_fma(args):
    check_rule(math.fma, *args)


ZERO = [
    *[(math.floor, (1.3,)), (math.ceil, (1.3,)), (math.trunc, (1.3,)), (math.ulp, (1.3,))],
    *[(math.isclose, (1.3, 1.4)), (math.isfinite, (1.3,)), (math.isinf, (1.3,))],
    *[(math.isnan, (1.3,)), (math.comb, (5, 2)), (math.factorial, (5,)), (math.gcd, (4, 6))],
    *[(math.isqrt, (5,)), (math.lcm, (4, 6)), (math.perm, (5, 2))],
]


@pytest.mark.parametrize(("fn", "args"), ZERO, ids=str)
def test_zero(fn, args):
    assert rule_for(fn).zero
    check_rule(fn, *args)


@pytest.mark.parametrize("name", [n for n in dir(math) if callable(getattr(math, n))])
def test_every_function_of_math_has_a_rule(name):
    if not name.startswith("_"):
        assert rule_for(getattr(math, name)) is not None


def test_zero_at_the_origin():
    assert rule_for(math.hypot).pullback(1.0, 0.0, 0.0, 0.0) == (0.0, 0.0)
    assert rule_for(math.dist).pullback(1.0, 0.0, [1.0], (1.0,)) == ([0.0], (-0.0,))
    assert rule_for(math.copysign).partials(-0.0, 0.0, -1.0)[0] == 0.0


def test_ties_share_equally():
    assert list(rule_for(max).pullback(1.0, 2.0, 2.0, 1.0, 2.0)) == [0.5, 0.0, 0.5]
    assert rule_for(min).pullback(3.0, 1.0, [1.0, 1.0, 1.0]) == ([1.0, 1.0, 1.0],)


def test_singular_points_raise_what_python_raises():
    with pytest.raises(ZeroDivisionError):
        rule_for(math.sqrt).partials(0.0, 0.0)
    with pytest.raises(ZeroDivisionError):
        rule_for(math.acos).partials(0.0, 1.0)


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (1.0, -0.5772156649015328606),
        (0.5, -1.9635100260214234794),
        (2.0, 0.4227843350984671394),
        (0.25, -4.2274535333762654081),
        (-0.5, 0.03648997397857652056),
        (100.0, 4.6001618527380874002),
        (1e-8, -1e8 - 0.5772156484523640),
    ],
)
def test_digamma(x, expected):
    assert digamma(x) == pytest.approx(expected, rel=4e-15, abs=2e-15)


@pytest.mark.parametrize("reverse", [False, True])
def test_sorted(reverse):
    check_rule(sorted, [0.3, -1.2, 2.5], reverse=reverse)
    check_rule(sorted, (0.3, -1.2, 2.5), key=abs, reverse=reverse)
    pull = rule_for(sorted).pullback
    assert pull([1.0, 2.0], [3.0, 3.0], [3.0, 3.0], reverse=reverse) == [1.0, 2.0]


@pytest.mark.parametrize(
    ("exact", "reason"),
    [
        (lambda x: float(fractions.Fraction(x) * 2), "exact number"),
        (lambda x: float(decimal.Decimal(x) * 2), "it is not a float"),
    ],
)
def test_numbers_that_are_no_floats_are_refused(exact, reason):
    with pytest.raises(s2sad.MissingRuleError, match=reason):
        s2sad.grad(exact)(0.5)


@pytest.mark.parametrize("fn", [max, min])
def test_beside_nan_the_first_of_two_numbers_is_the_result(fn):
    """Python compares the second with the first, which nan never exceeds."""
    pull = rule_for(fn).pullback
    for x, y in ((1.0, np.nan), (np.nan, 1.0)):
        assert pull(2.0, fn(x, y), x, y) == (2.0, 0.0)
