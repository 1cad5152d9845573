"""A finite value with an infinite derivative: there a zero gives zero, for whatever reason.

Each program stands at such a point. Its gradient there is the limit, worked out by hand.
"""

import cmath
import math
import re
import warnings

import numpy as np
import pytest

import s2sad
from s2sad import registry

special = pytest.importorskip("scipy.special")
stats = pytest.importorskip("scipy.stats")

P = np.array([[0.0, 0.0], [1.0, 0.5], [-0.5, 2.0]])
X = np.array([0.3, -0.4, 1.1])
ZERO = np.array([0.0, 4.0])
EDGE = np.array([1.0, 0.5])


def gaussians(p):
    d = p[:, None, :] - p[None, :, :]
    r = np.sqrt(np.sum(d**2, axis=-1))
    return np.sum(np.exp(-(r**2)))


def gaussians_smooth(p):
    d = p[:, None, :] - p[None, :, :]
    return np.sum(np.exp(-np.sum(d * d, axis=-1)))


def gaussians_by_loops(p):
    total = 0.0
    for i in range(len(p)):
        for j in range(len(p)):
            d2 = (p[i, 0] - p[j, 0]) ** 2 + (p[i, 1] - p[j, 1]) ** 2
            r = math.sqrt(d2)
            total += math.exp(-r * r)
    return total


def gaussians_by_calls(p):
    def distance(a, b):
        return np.sqrt((a - b) @ (a - b))

    return sum(math.exp(-(distance(a, b) ** 2)) for a in p for b in p)


def lennard_jones(p):
    d = p[:, None, :] - p[None, :, :]
    r = np.sqrt((d * d).sum(axis=-1))
    away = r + 10.0 * np.eye(len(p))
    return np.sum(np.where(r > 0, away**-12 - away**-6, 0.0))


def lennard_jones_smooth(p):
    total = 0.0
    for i in range(len(p)):
        for j in range(len(p)):
            if i != j:
                d2 = np.sum((p[i] - p[j]) ** 2)
                total += d2**-6 - d2**-3
    return total


def rows(p):
    return np.sum(np.sqrt(np.sum(p * p, axis=1)) ** 3)


def rows_by_power(p):
    return np.sum((np.sum(p * p, axis=1) ** 0.5) ** 3)


def rows_smooth(p):
    return sum(np.linalg.norm(row) ** 3 for row in p)


def standardised(p):
    q = np.stack([p[:, 0], 0.0 * p[:, 0]])
    scale = np.sqrt(np.mean((q - q.mean(axis=1, keepdims=True)) ** 2, axis=1))
    return np.sum(scale**2)


def standardised_smooth(p):
    return np.var(p[:, 0])


def cubes(x):
    return np.sum(np.cbrt(x - x[0]) ** 4 * 0.0 + x**2)


def in_a_branch(p):
    total = 0.0
    for a, b in zip(p[:, 0], p[:, 1], strict=True):
        if a + b < 10.0:
            total += math.sqrt(a * a + b * b) ** 3
    return total


def in_place(p):
    r = np.sum(p * p, axis=1)
    r **= 0.5
    r *= r * r
    return np.sum(r)


def turned(p):
    """A quaternion from a rotation vector, for which the angle may be zero."""
    angle = np.sqrt(np.sum(p * p, axis=1))
    return np.sum(np.cos(0.5 * angle))


def turned_smooth(p):
    return sum(np.cos(0.5 * np.linalg.norm(row)) for row in p)


# Both modes: no tangent is infinite on the way, as the argument of the root has none there.
BOTH = {
    "gaussians": (gaussians, gaussians_smooth, P),
    "gaussians by loops": (gaussians_by_loops, gaussians_smooth, P),
    "gaussians by calls": (gaussians_by_calls, gaussians_smooth, P),
    "Lennard-Jones": (lennard_jones, lennard_jones_smooth, P),
    "rows": (rows, rows_smooth, P),
    "rows by a power": (rows_by_power, rows_smooth, P),
    "in a branch": (in_a_branch, rows_smooth, P),
    "in place": (in_place, rows_smooth, P),
    "a constant column": (standardised, standardised_smooth, P),
    "rotations": (turned, turned_smooth, P),
    "cube roots": (cubes, lambda x: np.sum(x**2), X),
}


@pytest.mark.parametrize("name", BOTH)
def test_both_modes_give_the_limit_without_a_warning(name):
    f, smooth, x = BOTH[name]
    expected = s2sad.grad(smooth)(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value, found = s2sad.value_and_grad(f)(x)
        _, pull = s2sad.vjp(f, x)
        forward = s2sad.jacobian(f, mode="forward")(x)
        for direction in np.eye(x.size):
            direction = direction.reshape(x.shape)
            _, moved = s2sad.jvp(f, (x,), (direction,))
            np.testing.assert_allclose(moved, np.sum(expected * direction), atol=1e-12)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_allclose(pull(1.0), expected, atol=1e-12)
    np.testing.assert_allclose(forward, expected, atol=1e-12)
    np.testing.assert_allclose(value, f(x))


SECOND = ["gaussians", "gaussians by loops", "a constant column", "cube roots", "Lennard-Jones"]


@pytest.mark.parametrize("name", SECOND)
def test_second_derivatives_where_only_the_distance_from_itself_is_zero(name):
    f, smooth, x = BOTH[name]
    v = np.cos(np.arange(x.size)).reshape(x.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = s2sad.hvp(f, (x,), (v,))
    np.testing.assert_allclose(found, s2sad.hvp(smooth, (x,), (v,)), atol=1e-10)


# Reverse: the cotangent is zero at the edge. f(x), x, gradient.
REVERSE = {
    "x sqrt(x)": (lambda x: np.sum(x * np.sqrt(x)), ZERO, [0.0, 3.0]),
    "x sqrt(x) of a float": (lambda x: x * math.sqrt(x), 0.0, 0.0),
    "x ** 0.5": (lambda x: np.sum(x * x**0.5), ZERO, [0.0, 3.0]),
    "x ** 0.5 of a float": (lambda x: x * x**0.5, 0.0, 0.0),
    "pow": (lambda x: x * pow(x, 0.5) + x * math.pow(x, 0.25), 0.0, 0.0),
    "x ** p": (lambda x: np.sum(x * x ** np.array([0.5, 0.25])), ZERO, [0.0, 1.25 * 4.0**0.25]),
    "cbrt": (lambda x: np.sum(x * np.cbrt(x)), np.array([0.0, 8.0]), [0.0, 8.0 / 3.0]),
    "cbrt of a float": (lambda x: x * math.cbrt(x), 0.0, 0.0),
    "special.cbrt": (lambda x: np.sum(x * special.cbrt(x)), ZERO, [0.0, 4.0 / 3.0 * 4 ** (1 / 3)]),
    "arcsin": (
        lambda x: np.sum((1.0 - x) * np.arcsin(x)),
        EDGE,
        [-np.pi / 2, 0.5 / np.sqrt(0.75) - np.pi / 6],
    ),
    "arccos": (
        lambda x: np.sum((1.0 - x) * np.arccos(x)),
        EDGE,
        [0.0, -0.5 / np.sqrt(0.75) - np.pi / 3],
    ),
    "arcsin of a float": (lambda x: (1.0 - x) * math.asin(x), 1.0, -np.pi / 2),
    "arccos of a float": (lambda x: (1.0 - x) * math.acos(x), 1.0, 0.0),
    "arccosh": (lambda x: np.sum((x - 1.0) * np.arccosh(x)), np.ones(1), [0.0]),
    "arccosh of a float": (lambda x: (x - 1.0) * math.acosh(x), 1.0, 0.0),
    "arcsin of clip": (
        lambda x: np.sum((1.0 - np.clip(x, -1.0, 1.0)) * np.arcsin(np.clip(x, -1.0, 1.0))),
        np.array([1.5, 0.0]),
        [0.0, 1.0],
    ),
    "arctan2": (lambda x: x[0] * np.arctan2(x[0], x[1]), np.zeros(2), [0.0, 0.0]),
    "atan2": (lambda x: x * math.atan2(x, 0.0 * x), 0.0, 0.0),
    "angle": (lambda x: x[0] * np.angle(x[0] + 1j * x[1]), np.zeros(2), [0.0, 0.0]),
    "cmath.sqrt": (lambda x: x * cmath.sqrt(x).real, 0.0, 0.0),
    "cmath.phase": (lambda x: x * cmath.phase(x + 0j), 0.0, 0.0),
    "entr": (lambda x: np.sum(x * special.entr(x)), np.array([0.0, 1.0]), [0.0, -1.0]),
    "xlogy": (lambda x: np.sum(x * special.xlogy(x, x)), np.array([0.0, 1.0]), [0.0, 1.0]),
    "rel_entr": (lambda x: np.sum(x * special.rel_entr(x, 1.0)), np.array([0.0, 1.0]), [0.0, 1.0]),
    "kl_div": (lambda x: np.sum(x * special.kl_div(x, 1.0)), np.array([0.0, 1.0]), [1.0, 0.0]),
    "gammainc": (lambda x: np.sum(x * special.gammainc(0.5, x)), np.zeros(1), [0.0]),
    "betainc": (lambda x: np.sum(x * special.betainc(0.5, 0.5, x)), np.zeros(1), [0.0]),
    "boxcox": (lambda x: np.sum(x * special.boxcox(x, 0.5)), np.zeros(1), [-2.0]),
    "spence": (lambda x: np.sum(x * special.spence(x)), np.zeros(1), [np.pi**2 / 6]),
    "gamma.cdf": (lambda x: np.sum(x * stats.gamma.cdf(x, 0.5)), np.zeros(1), [0.0]),
    "beta.sf": (lambda x: np.sum(x * stats.beta.sf(x, 0.5, 2.0)), np.zeros(1), [1.0]),
    "gamma.ppf": (lambda x: np.sum(x * stats.gamma.ppf(x, 2.0)), np.zeros(1), [0.0]),
    "norm of order 0.5": (lambda x: np.linalg.norm(x, 0.5), ZERO, [0.0, 1.0]),
    "norm of order -1": (lambda x: np.linalg.norm(x, -1), np.array([2.0, 2.0]), [0.25, 0.25]),
    "norm of order 3": (lambda x: np.linalg.norm(x, 3), np.zeros(2), [0.0, 0.0]),
    "hypot": (lambda x: np.sum(np.hypot(x, 0.0 * x) * x), ZERO, [0.0, 8.0]),
    "math.hypot": (lambda x: math.hypot(x, 0.0) * x, 0.0, 0.0),
    "std": (lambda x: np.std(x) * x[0] + x[1], np.ones(2), [0.0, 1.0]),
    "complex abs": (lambda x: np.sum(np.abs(x + 0j) * x), ZERO, [0.0, 8.0]),
}


@pytest.mark.parametrize("name", REVERSE)
def test_a_cotangent_that_is_zero_gives_zero(name):
    f, x, expected = REVERSE[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = s2sad.grad(f)(x)
    np.testing.assert_allclose(found, expected, atol=1e-12)


# Forward: x does not move where f is steep. f(x), x, tangent, tangent of f(x).
FORWARD = {
    "sqrt": (np.sqrt, ZERO, [0.0, 1.0], [0.0, 0.25]),
    "math.sqrt": (math.sqrt, 0.0, 0.0, 0.0),
    "power": (lambda x: x**0.5, ZERO, [0.0, 1.0], [0.0, 0.25]),
    "power of a float": (lambda x: x**0.5, 0.0, 0.0, 0.0),
    "math.pow": (lambda x: math.pow(x, 0.5), 0.0, 0.0, 0.0),
    "cbrt": (np.cbrt, np.array([0.0, 8.0]), [0.0, 12.0], [0.0, 1.0]),
    "arcsin": (np.arcsin, np.array([1.0, 0.0]), [0.0, 1.0], [0.0, 1.0]),
    "arccos": (np.arccos, np.array([-1.0, 0.0]), [0.0, 1.0], [0.0, -1.0]),
    "arccosh": (np.arccosh, np.array([1.0]), [0.0], [0.0]),
    "math.acos": (math.acos, 1.0, 0.0, 0.0),
    "arctan2": (lambda x: np.arctan2(x, 2.0 * x), np.zeros(2), [0.0, 0.0], [0.0, 0.0]),
    "angle": (lambda x: np.angle(x + 0j), np.zeros(2), [0.0, 0.0], [0.0, 0.0]),
    "base and exponent": (lambda x: x ** (x + 0.5), np.zeros(2), [0.0, 0.0], [0.0, 0.0]),
    "xlogy": (lambda x: special.xlogy(x, x), np.zeros(1), [0.0], [0.0]),
    "entr": (special.entr, np.zeros(1), [0.0], [0.0]),
    "norm of order 0.5": (lambda x: np.linalg.norm(x, 0.5), ZERO, [0.0, 1.0], 1.0),
}


@pytest.mark.parametrize("name", FORWARD)
def test_a_tangent_that_is_zero_gives_zero(name):
    f, x, x_dot, expected = FORWARD[name]

    def g(v):
        return f(v)

    x_dot = np.asarray(x_dot) if isinstance(x_dot, list) else x_dot
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, found = s2sad.jvp(g, (x,), (x_dot,))
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_the_exponent_moves_alone():
    def f(x, y):
        return x**y

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x, y in ((0.0, 0.5), (np.zeros(2), np.full(2, 0.5))):
            _, found = s2sad.jvp(f, (x, y), (0.0 * x, 0.0 * x + 1.0))
            np.testing.assert_array_equal(found, 0.0 * x)


def test_a_cotangent_that_is_not_zero_gives_infinity():
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(
            s2sad.grad(lambda x: np.sum(np.sqrt(x)))(ZERO), [np.inf, 0.25]
        )
        twice = s2sad.grad(lambda x: np.sum((x + 1.0) * np.sqrt(x)))(ZERO)
    np.testing.assert_array_equal(twice, [np.inf, 3.25])
    with pytest.raises(ZeroDivisionError):
        s2sad.grad(lambda x: (x + 1.0) * math.sqrt(x))(0.0)
    with pytest.raises(ZeroDivisionError):
        s2sad.jvp(lambda x: math.sqrt(x), (0.0,), (1.0,))


def test_where_the_value_is_infinite_too_nothing_has_changed():
    with np.errstate(all="ignore"):
        assert np.isnan(s2sad.grad(lambda x: np.sum(0.0 * (1.0 / x)))(ZERO)[0])
        assert np.isnan(s2sad.grad(lambda x: np.sum(0.0 * np.log(x)))(ZERO)[0])


# --- nothing for nothing -------------------------------------------------------------------------


def early(x, y):
    if x <= 0.0:
        return y
    return math.sqrt(x) * y


def late(x, y):
    if x > 0.0:
        x = x - y
        return math.sqrt(x) * y
    return y


def skipped(x, y):
    total = 0.0
    for i in range(3):
        d2 = (x - i) ** 2
        if d2 == 0.0:
            continue
        total += math.sqrt(d2) * y
    return total


def while_it_is_large(x, y):
    while x > 1e-3:
        y = y * math.sqrt(x)
        x = x * 0.1
    return y


def asserted(x, y):
    assert x > 0.0 and y > 2.0
    return math.sqrt(x) * (y - 2.0) ** 0.5


UNGUARDED = {
    "a literal": lambda x, y: np.sqrt(x * x + 0.01) * y,
    "an exponential": lambda x, y: (
        np.sqrt(np.exp(x)) * y + math.sqrt(math.exp(y) * math.exp(x)) * x
    ),
    "a variance": lambda x, y: np.sqrt(np.var(x * np.ones(3)) + 1e-5) * y,
    "a loss": lambda x, y: np.sqrt(np.mean((x - y * np.ones(3)) ** 2)),
    "a scaled loss": lambda x, y: 1.0 - 2.0 * np.sum(np.sqrt(x * np.ones(3) * y)) / 3,
    "a power that is no root": lambda x, y: x**1.5 * y + y**3 * x,
    "a whole power": lambda x, y: sum(x**n * y for n in range(3)),
    "a test": lambda x, y: math.sqrt(x) * y if x > 0.0 else y,
    "a test of both": lambda x, y: math.sqrt(x) * math.sqrt(y - 2) * x if x > 0 and 2 < y else y,
    "no test fails": lambda x, y: y if not (x > 0.0) or y == 0.0 else math.sqrt(x) * y,
    "an early return": early,
    "a round that is skipped": skipped,
    "while": while_it_is_large,
    "assert": asserted,
    "the exponent alone": lambda x, y: 2.0**y * x,
}
GUARDED = {
    "a difference": lambda x, y: math.sqrt(x - y) * y,
    "another number was tested": lambda x, y: math.sqrt(x) * y if y > 0.0 else x,
    "tested before it was bound": late,
    "not negative": lambda x, y: math.sqrt(x) * y if x >= 0.0 else x,
    "tested by another number": lambda x, y: math.sqrt(x) * y if x > y else x,
}
SAYS = "zero stays zero where the derivative is infinite"


@pytest.mark.parametrize("name", UNGUARDED)
def test_no_guard_where_nothing_is_steep_or_no_zero_arrives(name):
    text = s2sad.grad(UNGUARDED[name], wrt=(0, 1)).source(2.5, 3.0)
    assert SAYS not in text and not re.search(r" == 0 else", text)


@pytest.mark.parametrize("name", GUARDED)
def test_a_guard_where_it_may_be(name):
    text = s2sad.grad(GUARDED[name], wrt=(0, 1)).source(2.5, 1.0)
    assert text.count(SAYS) == 1


def test_a_guard_is_written_once_for_each_value_and_explained_once_in_a_file():
    def angle(v):
        return np.arcsin(v) * (1.0 - v)

    def f(x):
        return np.sum(angle(x) * x + np.arccos(x) * x)

    text = s2sad.grad(f).source(EDGE)
    assert text.count("== 0, 0.0, ") == 2
    assert text.count(SAYS) == 1


def test_the_zeros_of_a_user_are_not_explained():
    def f(x):
        return np.sum(np.where(x == 0, 1.0, x) * x)

    assert SAYS not in s2sad.grad(f).source(X)


def steep_rules():
    return [r for r in registry.all_rules() if r.steep]


@pytest.mark.parametrize("rule", steep_rules(), ids=lambda r: r.name)
def test_rules_name_arrays_of_theirs(rule):
    assert rule.regular and set(rule.steep) <= set(registry.array_names(rule))


MASKED = {
    "maximum": lambda x: np.sum(np.sqrt(np.maximum(x, 0.0))),
    "fmax": lambda x: np.sum(np.sqrt(np.fmax(x, 0.0))),
    "minimum": lambda x: np.sum(np.cbrt(-np.minimum(-x, 0.0))),
    "clip": lambda x: np.sum(np.sqrt(np.clip(x, 0.0, 3.0))),
    "clipped angle": lambda x: np.sum(np.arccos(np.clip(x, -1.0, 1.0))),
    "where": lambda x: np.sum(np.sqrt(np.where(x > 0, x, 0.0))),
    "factor": lambda x: np.sum(np.sqrt(x * (x > 0))),
    "power": lambda x: np.sum(np.maximum(x, 0) ** 0.5),
    "norm": lambda x: np.linalg.norm(np.maximum(x, 0)),
    "through others": lambda x: np.sum(np.sqrt(2.0 * np.maximum(x, 0.0) / 3.0)),
    "elements": lambda x: sum([math.sqrt(max(v, 0.0)) for v in x]),
    "elements between": lambda x: sum([math.sqrt(min(max(v, 0.0), 3.0)) for v in x]),
    "numbers": lambda x: np.sqrt(max(x[0], 0.0)) + max(x[1], 0.0) ** 0.5,
}


@pytest.mark.parametrize("name", MASKED)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_a_mask_keeps_an_infinite_cotangent_out(name):
    x, f = np.array([-2.0, 2.5, -0.5]), MASKED[name]
    step = 1e-6 * np.eye(3)
    slopes = [(f(x + d) - f(x - d)) / 2e-6 for d in step]
    assert s2sad.grad(f)(x) == pytest.approx(slopes, rel=1e-5)
    tangents = [s2sad.jvp(f, (x,), (e,))[1] for e in np.eye(3)]
    assert tangents == pytest.approx(slopes, rel=1e-5)


def test_masks_multiply_where_nothing_is_steep():
    text = s2sad.grad(lambda x: np.sum(np.maximum(x, 0.0) ** 2)).source(X)
    assert "np.where" not in text
