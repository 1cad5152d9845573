"""The rules of rules/complex_scalars.py: a row for each function of cmath, real and complex."""

import cmath

import numpy as np
import pytest

import s2sad
from s2sad.registry import rule_for
from s2sad.testing import check_rule

NUMBERS = (0.3 + 0.7j, -1.2 - 0.4j, -0.3 + 2.1j, 0.4, 1.7, -2.3)
HOLOMORPHIC = (
    *(cmath.exp, cmath.log, cmath.log10, cmath.sqrt, cmath.sin, cmath.cos, cmath.tan, cmath.asin),
    *(cmath.acos, cmath.atan, cmath.sinh, cmath.cosh, cmath.tanh, cmath.asinh, cmath.acosh),
    *(cmath.atanh, cmath.phase, cmath.polar),
)


@pytest.mark.parametrize("z", NUMBERS, ids=str)
@pytest.mark.parametrize("fn", HOLOMORPHIC, ids=lambda fn: fn.__name__)
def test_of_one_number(fn, z):
    check_rule(fn, z)


@pytest.mark.parametrize("args", [(1 + 2j, 2.0 - 0.3j), (1 + 2j, 2.0), (3.0, 2), (0.5, 1j)])
def test_log_of_a_base(args):
    check_rule(cmath.log, *args)


@pytest.mark.parametrize("args", [(1.3, 0.4), (0.7, -2.0), (0.0, 0.3), (2, 0.1)])
def test_rect(args):
    check_rule(cmath.rect, *args)


@pytest.mark.parametrize("fn", [cmath.isclose, cmath.isfinite, cmath.isinf, cmath.isnan])
def test_zero(fn):
    assert rule_for(fn).zero


@pytest.mark.parametrize("z", [complex(x, y) for x in (1.7, -1.7) for y in (0.0, -0.0)], ids=str)
@pytest.mark.parametrize("fn", [cmath.asin, cmath.acos], ids=lambda fn: fn.__name__)
def test_on_both_sides_of_a_cut(fn, z):
    step = 1e-6
    slope = (fn(z + complex(step, z.imag)) - fn(z - complex(step, -z.imag))) / (2 * step)
    assert rule_for(fn).partials(fn(z), z) == pytest.approx(slope, rel=1e-8)


def test_at_singular_points_python_raises():
    with pytest.raises(ZeroDivisionError):
        s2sad.grad(lambda x: cmath.sqrt(x).real)(0.0)


def impedance(x):
    """Return the loss of a circuit: resistance, inductance and capacitance in series."""
    z = complex(x[0], x[1] - 1.0 / x[2])
    gamma = (z - 50.0) / (z + 50.0)
    r, phi = cmath.polar(gamma)
    return r * r + cmath.exp(1j * phi).imag * abs(cmath.sqrt(z)) + cmath.phase(z)


def test_in_a_program():
    x = np.array([40.0, 12.0, 0.2])
    slopes = [(impedance(x + h) - impedance(x - h)) / 2e-6 for h in np.eye(3) * 1e-6]
    assert s2sad.grad(impedance)(x) == pytest.approx(slopes, rel=1e-6, abs=1e-8)
    value, moved = s2sad.jvp(impedance, (x,), (np.ones(3),))
    assert value == impedance(x)
    assert moved == pytest.approx(sum(slopes), rel=1e-6)


@pytest.mark.parametrize("name", [n for n in dir(cmath) if callable(getattr(cmath, n))])
def test_every_function_of_cmath_has_a_rule(name):
    if not name.startswith("_"):
        assert rule_for(getattr(cmath, name)) is not None
