"""The rules of rules/arithmetic.py, a row for each function and keyword."""

import builtins
import operator

import numpy as np
import pytest

import s2sad
from s2sad.registry import rule_for
from s2sad.testing import check_rule

RNG = np.random.default_rng(11)
A = RNG.uniform(0.5, 2.0, (3, 4)) * RNG.choice([-1.0, 1.0], (3, 4))
B = RNG.uniform(0.5, 2.0, (3, 4)) * RNG.choice([-1.0, 1.0], (3, 4))
P = np.abs(A)
Z = A + 1j * B
W = B - 0.5j * P

PAIRS = [
    (A, B),
    (A, B[0]),
    (A[:, :1], B),
    (A[:, :1], B[0]),
    (A[:1, :1], B),
    (A[0, 0], B),
    (A, 1.7),
    (-1.7, B),
    (1.7, -0.6),
    (np.array(1.7), np.array(-0.6)),
    (np.array(1.7), B[0]),
    (A, 3),
    (2, B),
    (np.array([1, 2, 3, 4]), B),
    (A[:0], B[:0]),
    (A[:0], B[0]),
]
COMPLEX_PAIRS = [(Z, W), (Z, B), (A, W), (Z, W[0]), (A[0], W), (1.2 - 0.3j, 0.7), (Z, 1.5)]

BINARY = [
    *[operator.add, operator.sub, operator.mul, operator.truediv],
    *[np.add, np.subtract, np.multiply, np.divide],
]
POSITIVE_BASE = [operator.pow, builtins.pow, np.power, np.float_power]
MODULI = [operator.mod, np.mod, np.fmod]


@pytest.mark.parametrize("args", PAIRS, ids=str)
@pytest.mark.parametrize("fn", BINARY)
def test_binary(fn, args):
    check_rule(fn, *args)


@pytest.mark.parametrize("args", COMPLEX_PAIRS, ids=str)
@pytest.mark.parametrize("fn", BINARY)
def test_binary_complex(fn, args):
    check_rule(fn, *args)


@pytest.mark.parametrize("args", PAIRS, ids=str)
@pytest.mark.parametrize("fn", POSITIVE_BASE)
def test_power(fn, args):
    check_rule(fn, abs(args[0]), args[1])


@pytest.mark.parametrize("fn", POSITIVE_BASE)
@pytest.mark.parametrize("base", [A, -1.3, np.array([0.0, -2.0, 1.0]), 0.0, A[:0]], ids=str)
@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 5])
def test_power_constant_exponent(fn, base, exponent):
    check_rule(fn, base, exponent)


@pytest.mark.parametrize("fn", POSITIVE_BASE)
@pytest.mark.parametrize("exponent", [-1, -2, np.array([-2, 0, 1, 3])], ids=str)
def test_power_negative_base_and_exponent(fn, exponent):
    if isinstance(exponent, int) or fn is not builtins.pow:
        check_rule(fn, A, exponent)


def test_power_complex():
    check_rule(np.power, Z, 3)
    check_rule(np.power, P + 0.2j, W)
    check_rule(operator.pow, 1.2 + 0.3j, 2.0)


def test_powers_at_zero():
    partials = rule_for(np.power).partials
    x = np.zeros(4)
    y = np.array([0.0, 1.0, 2.0, 0.5])
    with np.errstate(divide="ignore"):
        x_partial, y_partial = partials(x**y, x, y)
    assert x_partial.tolist() == [0.0, 1.0, 0.0, np.inf]
    assert y_partial.tolist() == [0.0, 0.0, 0.0, 0.0]
    assert partials(0.0, 0.0, 2.0) == (0.0, 0.0)
    assert partials(1.0, 0.0, 0) == (0.0, 0.0)


@pytest.mark.parametrize("args", PAIRS, ids=str)
@pytest.mark.parametrize("fn", MODULI)
def test_moduli(fn, args):
    check_rule(fn, args[0] * np.pi, args[1])


@pytest.mark.parametrize("args", PAIRS, ids=str)
@pytest.mark.parametrize("fn", [divmod, np.divmod])
def test_divmod(fn, args):
    check_rule(fn, args[0] * np.pi, args[1])


def test_fmod_just_below_a_multiple():
    x = np.nextafter(6.0, 0.0)
    x_partial, y_partial = rule_for(np.fmod).partials(np.fmod(x, 2.0), x, 2.0)
    assert (x_partial, y_partial) in [(1.0, -2.0), (1.0, -3.0)]
    assert x - np.fmod(x, 2.0) == -y_partial * 2.0 or y_partial == -3.0


ARRAYS = [A, A[0], A[:1, :1], A[:0], np.array(0.7), np.float64(-0.7), -1.3, np.asfortranarray(A)]
UNARY = [
    *[operator.neg, operator.pos, operator.abs, abs],
    *[np.negative, np.positive, np.abs, np.absolute, np.fabs, np.square],
    *[np.cbrt, np.reciprocal],
]


@pytest.mark.parametrize("x", ARRAYS, ids=str)
@pytest.mark.parametrize("fn", UNARY)
def test_unary(fn, x):
    check_rule(fn, x)


@pytest.mark.parametrize("x", ARRAYS, ids=str)
def test_sqrt(x):
    check_rule(np.sqrt, abs(x))


@pytest.mark.parametrize("x", [Z, Z[0, 0], 1.3 - 0.2j, np.array(0.3j)], ids=str)
@pytest.mark.parametrize(
    "fn", [operator.neg, operator.abs, np.abs, np.square, np.sqrt, np.reciprocal, np.positive]
)
def test_unary_complex(fn, x):
    check_rule(fn, x)


@pytest.mark.parametrize("fn", [abs, operator.abs, np.abs, np.fabs])
def test_absolute_at_zero(fn):
    check_rule(fn, np.array([0.0, -0.0, 1.0, -1.0]))
    check_rule(fn, 0.0)


def test_absolute_of_complex_zero():
    assert rule_for(np.abs).partials(np.float64(0.0), np.complex128(0.0)) == 0.0


def test_singular_points_are_infinite_for_arrays_and_raise_for_floats():
    zero = np.zeros(1)
    with np.errstate(divide="ignore", invalid="ignore"):
        assert rule_for(np.sqrt).partials(zero, zero) == np.inf
        assert rule_for(np.cbrt).partials(zero, zero) == np.inf
        assert rule_for(np.divide).partials(zero, zero, zero)[0] == np.inf
    with pytest.raises(ZeroDivisionError):
        rule_for(operator.truediv).partials(0.0, 1.0, 0.0)


def test_conversions():
    check_rule(float, 1.5)
    check_rule(float, np.float64(1.5))
    check_rule(float, np.array(1.5))
    check_rule(complex, 1.5)
    check_rule(complex, 1.5, -0.5)
    check_rule(complex, 1.5 + 1j, -0.5)


ZERO_UNARY = [
    *[np.floor, np.ceil, np.trunc, np.rint, np.round, np.around, np.sign],
    *[np.isnan, np.isinf, np.isfinite, np.isposinf, np.isneginf, np.signbit, np.logical_not],
    *[np.isreal, np.iscomplex, np.isrealobj, np.iscomplexobj, np.isscalar],
    *[operator.not_, operator.truth, bool, int, round, callable, id, type],
]
ZERO_BINARY = [
    *[operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge],
    *[operator.is_, operator.is_not, operator.floordiv],
    *[np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal],
    *[np.logical_and, np.logical_or, np.logical_xor, np.floor_divide],
    *[np.isclose, np.allclose, np.array_equal, np.array_equiv],
]
ZERO_INTEGER = [
    *[operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift],
    *[np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.left_shift, np.right_shift],
    *[np.gcd, np.lcm],
]


@pytest.mark.parametrize("fn", ZERO_UNARY)
def test_zero_unary(fn):
    assert rule_for(fn).zero
    check_rule(fn, 1.7)
    if fn not in (bool, int, operator.not_, operator.truth, round):
        check_rule(fn, A)


@pytest.mark.parametrize("fn", ZERO_BINARY)
def test_zero_binary(fn):
    assert rule_for(fn).zero
    check_rule(fn, 1.7, 0.6)


@pytest.mark.parametrize("fn", ZERO_INTEGER)
def test_zero_integer(fn):
    assert rule_for(fn).zero
    check_rule(fn, 12, 5)


def test_zero_others():
    check_rule(round, 1.234, 2)
    check_rule(np.round, A * np.pi, decimals=1)
    check_rule(len, [1.0, 2.0])
    check_rule(isinstance, 1.0, float)
    for fn in (range, operator.contains, operator.index, operator.invert, np.isnat):
        assert rule_for(fn).zero
    for fn in (np.invert, np.bitwise_count, np.fix):
        assert rule_for(fn).zero


def test_sign_of_complex():
    z = np.array([0.3 + 0.4j, -1.0 + 0.2j, 2.0 - 1.0j])
    check_rule(np.sign, z)
    check_rule(np.sign, 0.3 - 0.4j)
    rule = rule_for(np.sign)
    assert rule.pullback(np.ones(1), np.zeros(1), np.zeros(1, complex)) == 0
    gradient = s2sad.grad(lambda z: np.real(np.sign(z) * (1.0 + 2.0j)))(0.3 + 0.4j)
    assert gradient == pytest.approx(3.2 + 2.4j)
    assert s2sad.grad(lambda x: np.sign(x) * x)(-2.0) == -1.0


@pytest.mark.parametrize("fn", [np.add.outer, np.subtract.outer, np.less.outer])
def test_outer(fn):
    x, y = np.array([0.3, -0.7, 1.2]), np.array([[0.5], [-1.0]])
    check_rule(fn, x, y)
    check_rule(fn, x, 0.7)
    check_rule(fn, x, x * (1.0 + 2.0j))
