"""The rules of rules/scipy_integrate.py: a row for each function and setting, and programs."""

import runpy

import numpy as np
import pytest

import s2sad
from s2sad.testing import check_rule, differences

integrate = pytest.importorskip("scipy.integrate")
rng = np.random.default_rng(3)


def n(*shape):
    return rng.standard_normal(shape)


def apart(*shape):
    """Return places in order, not too near each other."""
    return np.cumsum(0.5 + rng.random(shape), axis=-1)


ROWS = [
    (integrate.trapezoid, (n(5),), {}),
    (integrate.trapezoid, (n(3, 4),), {"dx": 0.3, "axis": 0}),
    (integrate.trapezoid, (n(3, 4), apart(3)), {"axis": 0}),
    (integrate.trapezoid, (n(3, 4), apart(3, 4)), {}),
    (integrate.trapezoid, (n(1),), {}),
    (integrate.cumulative_trapezoid, (n(5),), {}),
    (integrate.cumulative_trapezoid, (n(3, 4),), {"dx": 0.3, "axis": 0}),
    (integrate.cumulative_trapezoid, (n(3, 4),), {"initial": 0}),
    (integrate.cumulative_trapezoid, (n(3, 4), apart(3)), {"axis": 0, "initial": 0}),
    (integrate.cumulative_trapezoid, (n(4, 3), apart(4, 3)), {"axis": 0}),
    (integrate.cumulative_trapezoid, (n(4, 3), apart(4, 3)), {}),
    (integrate.simpson, (n(5),), {}),
    (integrate.simpson, (n(6),), {}),
    (integrate.simpson, (n(2),), {"dx": 0.3}),
    (integrate.simpson, (n(1),), {}),
    (integrate.simpson, (n(2), apart(2)), {}),
    (integrate.simpson, (n(5), apart(5)), {}),
    (integrate.simpson, (n(4), apart(4)), {}),
    (integrate.simpson, (n(6, 3),), {"axis": 0, "dx": 0.3}),
    (integrate.simpson, (n(6, 3), apart(6)), {"axis": 0}),
    (integrate.simpson, (n(3, 8), apart(3, 8)), {}),
    (integrate.simpson, (n(7, 2), apart(2, 7).T), {"axis": 0}),
    (integrate.romb, (n(5),), {}),
    (integrate.romb, (n(9, 2),), {"dx": 0.3, "axis": 0}),
    (integrate.romb, (n(2),), {}),
]


@pytest.mark.parametrize(
    ("fn", "args", "settings"), ROWS, ids=[f"{r[0].__name__}-{i}" for i, r in enumerate(ROWS)]
)
def test_rule(fn, args, settings):
    if "x" not in settings and len(args) == 2:
        y, x = args
        if fn is integrate.simpson:  # x is given by keyword only
            check_rule(fn, y, x=x, **settings)
            return
    check_rule(fn, *args, **settings)


THETA = np.array([0.7, 1.3])


class Model:
    def __init__(self, w):
        self.w = w

    def density(self, t):
        return np.exp(-self.w * t * t)


def by_closure(theta):
    a, b = theta
    return integrate.quad(lambda t: np.exp(-a * t) * np.cos(b * t), 0.0, 2.0)[0]


def by_args(theta):
    y, error = integrate.quad(wave, 0.0, theta[0], args=(theta[1], theta))
    assert error < 1e-6
    return y * theta[0]


def wave(t, b, theta):
    return np.sin(b * t) + np.sum(theta) * t


def limits(theta):
    return integrate.quad(wave, theta[0], 2.0 * theta[1], (1.0, THETA))[0]


def to_infinity(theta):
    whole, _ = integrate.quad(lambda t: np.exp(-theta[0] * t * t), -np.inf, np.inf)
    return whole * integrate.quad(lambda t: np.exp(-theta[1] * t), 0.0, np.inf)[0]


def singular(theta):
    return integrate.quad(lambda t: theta[0] * np.cos(theta[1] * t) / np.sqrt(t), 0.0, 1.0)[0]


def of_a_dict(theta):
    p = {"a": theta[0], "b": [theta[1], 3.0]}
    return integrate.quad(lambda t: p["a"] * np.exp(-p["b"][0] * t), 0.0, 1.0)[0]


def of_an_object(theta):
    model = Model(theta[0])
    return integrate.quad(lambda t: model.density(t), 0.0, theta[1])[0]


def in_a_loop(theta):
    total = 0.0
    for k in range(3):
        total += integrate.quad(lambda t: np.cos(theta[0] * t + k * total), 0.0, 1.0)[0]  # noqa: B023
    return total


def nested(theta):
    def inner(t):
        return integrate.quad(lambda s: np.exp(-theta[0] * s * t), 0.0, theta[1])[0]

    return integrate.quad(inner, 0.0, 1.0)[0]


def solved(theta):
    from scipy import optimize

    def gap(x):
        return integrate.quad(lambda t: np.exp(-theta[0] * t * t), 0.0, x)[0] - 0.3 * theta[1]

    return optimize.brentq(gap, 0.0, 5.0, xtol=1e-13)


def over_an_area(theta):
    across = integrate.dblquad(lambda y, x: np.exp(-theta[0] * x * y), 0.0, theta[1], 0.0, np.cos)
    return (
        across[0] * integrate.dblquad(lambda y, x, c: c * x * y, 0, 1, theta[1], 2, (theta[0],))[0]
    )


PROGRAMS = [
    over_an_area,
    by_closure,
    by_args,
    limits,
    to_infinity,
    singular,
    of_a_dict,
    in_a_loop,
    nested,
    solved,
]
PROGRAMS += [of_an_object]


@pytest.mark.filterwarnings("ignore:divide by zero")  # 1 / sqrt(0): there b is no limit of theta
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_quad(f):
    slopes = [differences(lambda v: f(np.array(v)), (THETA,), (d,)) for d in np.eye(2)]
    value, gradient = s2sad.value_and_grad(f)(THETA.copy())
    assert value == f(THETA.copy())
    for found, (expected, bound) in zip(gradient, slopes, strict=True):
        assert abs(found - expected) <= 1e2 * bound + 1e-8
    _, pullback = s2sad.vjp(f, THETA.copy())
    assert np.allclose(pullback(2.0), 2.0 * gradient, rtol=1e-12)
    assert np.allclose(pullback(1.0), gradient, rtol=1e-12)
    for direction in np.array([[0.4, -0.7], [1.0, 0.0]]):
        moved = s2sad.jvp(f, (THETA.copy(),), (direction,))
        assert moved[0] == value
        assert abs(moved[1] - gradient @ direction) <= 1e-9 * (1.0 + np.max(np.abs(gradient)))


def test_the_error_estimate_has_no_tangent():
    value, slope = s2sad.jvp(of_the_error, (THETA,), (np.ones(2),))
    assert value == of_the_error(THETA)
    assert np.isnan(slope)


def test_alone(tmp_path):
    alone = runpy.run_path(str(s2sad.grad(by_args).emit(tmp_path / "alone.py", THETA)))
    assert np.array_equal(alone["by_args_grad"](THETA), s2sad.grad(by_args)(THETA))


def of_the_error(theta):
    y, error = integrate.quad(lambda t: theta[0] * t, 0.0, 1.0)
    return y + error


def of_complex(theta):
    c = theta[0] * (1.0 + 0.5j)
    return integrate.quad(lambda t: np.abs(np.exp(c * t)), 0.0, theta[1])[0]


def weighted(theta):
    return integrate.quad(lambda t: theta[0] * t, 0.0, 1.0, weight="cos", wvar=2.0)[0]


def stepped(theta):
    return np.sum(integrate.solve_ivp(lambda t, y: -theta * y, (0.0, 1.0), np.ones(2)).y)


REFUSED = {
    of_the_error: "error estimate",
    of_complex: "real numbers",
    weighted: "has no parameter `weight`",
    stepped: "chooses its steps",
}


@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_refused(f):
    with pytest.raises(NotImplementedError, match=REFUSED[f]) as caught:
        s2sad.grad(f)(THETA)
    assert isinstance(caught.value, s2sad.Error)
    assert caught.value.place.file == __file__
