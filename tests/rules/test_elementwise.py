"""The rules of rules/elementwise.py, a row for each function and keyword."""

import numpy as np
import pytest

import s2sad
from s2sad.registry import rule_for
from s2sad.rules.elementwise import bessel_i1
from s2sad.testing import check_rule

RNG = np.random.default_rng(5)
A = RNG.uniform(0.2, 0.85, (2, 3))
S = A * RNG.choice([-1.0, 1.0], (2, 3))
B = RNG.uniform(0.2, 0.85, (2, 3)) * RNG.choice([-1.0, 1.0], (2, 3))
Z = S + 1j * B

SHAPES = [S, S[0], S[:1, :1], S[:0], np.array(0.7), np.float64(-0.3), 0.4]
PAIRS = [
    (S, B),
    (S, B[0]),
    (S[:, :1], B[0]),
    (S[0, 0], B),
    (S, 0.1),
    (0.1, B),
    (0.3, -0.2),
    (np.array(0.3), B),
    (S[:0], B[:0]),
]

EVERYWHERE = [
    *[np.exp, np.exp2, np.expm1, np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan],
    *[np.sinh, np.cosh, np.tanh, np.arcsinh, np.arctanh, np.sinc],
    *[np.deg2rad, np.radians, np.rad2deg, np.degrees, np.nan_to_num],
    *[np.real, np.conj, np.conjugate, np.angle, np.real_if_close],
]
POSITIVE = [np.log, np.log2, np.log10, np.log1p]


@pytest.mark.parametrize("x", SHAPES, ids=str)
@pytest.mark.parametrize("fn", EVERYWHERE)
def test_unary(fn, x):
    check_rule(fn, x)


@pytest.mark.parametrize("x", SHAPES, ids=str)
@pytest.mark.parametrize("fn", POSITIVE)
def test_logarithms(fn, x):
    check_rule(fn, abs(x))


@pytest.mark.parametrize("x", SHAPES, ids=str)
def test_arccosh(x):
    check_rule(np.arccosh, abs(x) + 1.0)


@pytest.mark.parametrize("x", [Z, Z[0], Z[:0], np.complex128(0.3 - 0.7j), 0.3 - 0.7j], ids=str)
@pytest.mark.parametrize(
    "fn",
    [
        *[np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p],
        *[np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan],
        *[np.sinh, np.cosh, np.tanh, np.arcsinh, np.arccosh, np.arctanh, np.sinc],
        *[np.real, np.imag, np.conj, np.angle, np.nan_to_num, np.real_if_close],
    ],
)
def test_unary_complex(fn, x):
    check_rule(fn, x)


def test_settings():
    check_rule(np.angle, Z, deg=True)
    check_rule(np.angle, S, deg=True)
    check_rule(np.nan_to_num, np.array([1.0, np.nan, np.inf]), nan=3.0, posinf=1.0, neginf=0.0)
    check_rule(np.real_if_close, Z, tol=10)
    check_rule(np.imag, S)


def test_nan_to_num_blocks_replaced_entries():
    bar = rule_for(np.nan_to_num).pullback(np.ones(4), None, np.array([1.0, np.nan, np.inf, 2.0]))
    assert bar.tolist() == [1.0, 0.0, 0.0, 1.0]


def test_real_if_close_of_nearly_real():
    z = S + 0j
    out = np.real_if_close(z)
    assert rule_for(np.real_if_close).pullback(out, out, z) is out
    assert rule_for(np.real_if_close).pushforward(out, z, Z).dtype == float


@pytest.mark.parametrize("x", [1e-12, 1e-9, 1e-6, 1e-3, 0.05, 0.1591, 0.1592, 1.0, -2.0, 17.3, 0.0])
def test_sinc_has_no_cancellation(x):
    from decimal import Decimal, localcontext

    with localcontext(prec=60):
        t = Decimal(x) * Decimal("3.14159265358979323846264338327950288419716939937510582097494459")
        term = total = Decimal(0)
        power, factorial = Decimal(1), Decimal(1)
        for n in range(0, 240, 2):
            if n:
                term = power * n / factorial
                total += term if n % 4 == 0 else -term
            power *= t * t if n else t
            factorial *= (n + 2) * (n + 3) if n else 6
        expected = float(total * Decimal("3.14159265358979323846264338327950288419716939937510582"))
    found = float(rule_for(np.sinc).partials(np.sinc(x), np.float64(x)))
    assert found == pytest.approx(expected, rel=1e-13, abs=2e-14)
    if abs(x) < 0.1:
        assert found == pytest.approx(expected, rel=1e-13, abs=0.0)


BINARY = [
    *[np.arctan2, np.hypot, np.logaddexp, np.logaddexp2, np.copysign],
    *[np.maximum, np.minimum, np.fmax, np.fmin],
]


@pytest.mark.parametrize("args", PAIRS, ids=str)
@pytest.mark.parametrize("fn", BINARY)
def test_binary(fn, args):
    check_rule(fn, *args)


@pytest.mark.parametrize("fn", [np.maximum, np.minimum, np.fmax, np.fmin])
def test_ties_share(fn):
    x = np.array([1.0, 2.0, 0.0, -3.0])
    check_rule(fn, x, np.array([1.0, 1.0, -0.0, -3.0]))
    check_rule(fn, x, 1.0)
    check_rule(fn, 0.0, 0.0)
    assert rule_for(fn).partials(None, 2.0, 2.0) == (0.5, 0.5)


@pytest.mark.parametrize("fn", [np.fmax, np.fmin])
def test_other_one_where_one_is_nan(fn):
    x, y = np.array([1.0, np.nan]), np.array([np.nan, 2.0])
    x_partial, y_partial = rule_for(fn).partials(fn(x, y), x, y)
    assert x_partial.tolist() == [1.0, 0.0]
    assert y_partial.tolist() == [0.0, 1.0]


def test_hypot_at_the_origin():
    zero = np.zeros(2)
    assert [p.tolist() for p in rule_for(np.hypot).partials(zero, zero, zero)] == [[0.0, 0.0]] * 2


@pytest.mark.parametrize("y", [1.0, -1.0, -0.0, np.array([0.0, -0.0, 2.0, -2.0])], ids=str)
def test_copysign_signs(y):
    check_rule(np.copysign, np.array([1.5, -1.5, 0.5, -0.5]), y if np.ndim(y) else int(y))
    partial, _ = rule_for(np.copysign).partials(np.copysign(0.0, y), np.zeros(()), y)
    assert np.all(partial == 0.0)


@pytest.mark.parametrize("x", SHAPES, ids=str)
@pytest.mark.parametrize("i", [2, -3, np.array([1, 0, -2])], ids=str)
def test_ldexp(x, i):
    check_rule(np.ldexp, x, i)


BOUNDS = [
    (-0.3, 0.3),
    (None, 0.3),
    (-0.3, None),
    (S[0] - 0.1, S[0] + 0.2),
    (-0.3, S[1]),
    (S[:, :1], None),
    (0.4, -0.2),
    (0, 1),
]


@pytest.mark.parametrize("a", SHAPES, ids=str)
@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
def test_clip(a, bounds):
    arrays = [bound for bound in bounds if np.ndim(bound) > 0]
    if not arrays or (np.ndim(a) == 2 and np.size(a) > 1):
        check_rule(np.clip, a + 0.01, *bounds)
        check_rule(np.clip, a + 0.01, a_min=bounds[0], a_max=bounds[1])


def test_clip_broadcasts_to_larger_bounds():
    check_rule(np.clip, S[0], B - 0.3, B + 0.3)
    check_rule(np.clip, 0.1, B - 0.3, B + 0.3)


def test_clip_is_one_on_the_closed_interval():
    a = np.array([-1.0, 0.0, 0.5, 1.0, 2.0])
    inside, below, above = rule_for(np.clip).partials(None, a, 0.0, 1.0)
    assert inside.tolist() == [0, 1, 1, 1, 0]
    assert below.tolist() == [1, 0, 0, 0, 0]
    assert above.tolist() == [0, 0, 0, 0, 1]
    assert rule_for(np.clip).partials(None, a, 0.0, None)[0].tolist() == [0, 1, 1, 1, 1]
    assert rule_for(np.clip).partials(None, a, None, 1.0)[0].tolist() == [1, 1, 1, 1, 0]
    assert rule_for(np.clip).partials(None, a, None, None) == (1.0, None, None)


@pytest.mark.parametrize("args", PAIRS, ids=str)
@pytest.mark.parametrize("condition", [S > 0, S[0] > 0, True, np.array(False)], ids=str)
def test_where(condition, args):
    if np.size(args[0]) == 0:
        condition = np.zeros((0, 3), bool)
    check_rule(np.where, condition, *args)


def test_where_with_constants_and_complex():
    check_rule(np.where, S > 0, S, 0)
    check_rule(np.where, S > 0, 1, S)
    check_rule(np.where, S > 0, Z, Z * 2)
    check_rule(np.where, S > 0, Z, Z[0])


def test_where_masks_an_infinite_cotangent():
    out_bar = np.array([np.inf, 1.0])
    _, x_bar, y_bar = rule_for(np.where).pullback(
        out_bar, None, np.array([False, True]), np.ones(2), np.ones(2)
    )
    assert x_bar.tolist() == [0.0, 1.0]
    assert y_bar.tolist() == [np.inf, 0.0]


@pytest.mark.parametrize("x", [np.linspace(-12.0, 12.0, 8), np.array(0.3), np.array([8.0, -8.0])])
def test_bessel(x):
    check_rule(np.i0, x)
    check_rule(np.i0, 0.0)


def test_bessel_is_the_function_of_order_one():
    special = pytest.importorskip("scipy.special")
    x = np.concatenate((np.linspace(-20.0, 20.0, 401), np.geomspace(1e-9, 600.0, 99)))
    assert np.allclose(bessel_i1(x), special.i1(x), rtol=1e-14, atol=0.0)


@pytest.mark.parametrize("fn", [np.modf, np.frexp, np.spacing])
def test_parts_of_a_number(fn):
    check_rule(fn, np.array([0.3, -1.7, 5.3, 0.7]))
    check_rule(fn, 0.7)


def test_nextafter():
    check_rule(np.nextafter, S, 3.0)
    parts = s2sad.grad(lambda x: np.sum(np.modf(x)[0] ** 2 + np.frexp(x)[0]))(np.array([1.7, -2.3]))
    assert parts == pytest.approx([2 * 0.7 + 0.5, -2 * 0.3 + 0.25])


COMPLEX = np.array([1.0 + 2.0j, -0.3 + 0.1j, 0.7 - 0.2j, 0.7 + 0.3j])
OTHERS = np.array([0.5 - 1.0j, -0.2 + 0.4j, 0.7 + 0.6j, 0.1 + 0.9j])


@pytest.mark.parametrize("fn", [np.maximum, np.minimum, np.fmax, np.fmin], ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    "x, y", [(COMPLEX, OTHERS), (COMPLEX[0], OTHERS), (COMPLEX, 0.6), (OTHERS.real, COMPLEX)]
)
def test_the_greater_of_complex_numbers(fn, x, y):
    """By the real parts, then by the imaginary ones."""

    def f(x, y):
        return np.sum(np.abs(fn(x, y) * np.array([1.0, 2.0, 3.0, 0.4]) + 0.5j) ** 2)

    by_x, by_y = s2sad.grad(f, wrt=(0, 1))(x, y)
    taken = fn(x, y) == x
    slope = np.conj(2.0 * (fn(x, y) * np.array([1.0, 2.0, 3.0, 0.4]) + 0.5j))
    slope = slope * np.array([1.0, 2.0, 3.0, 0.4])
    expected = np.where(taken, slope, 0.0), np.where(taken, 0.0, slope)
    for found, want, given in ((by_x, expected[0], x), (by_y, expected[1], y)):
        want = want if np.iscomplexobj(given) else want.real
        assert found == pytest.approx(want if np.ndim(given) else np.sum(want))


def test_complex_numbers_that_tie_share():
    def f(x, y):
        return np.maximum(x, y).real

    assert s2sad.grad(f, wrt=(0, 1))(1.0 + 2.0j, 1.0 + 2.0j) == (0.5, 0.5)
