"""Arguments that are written and whose names get other values: their shadows are the caller's."""

import numpy as np
import pytest

import s2sad


def summed_before(x, y):
    x[0] = y * x[1]
    s = np.sum(x * x)
    x = x * 2.0 + y
    return s + np.sum(x)


def under_another_name(x, y):
    z = x
    x = x * 2.0
    z[1] = y * z[0]
    return np.sum(x * x)


def in_each_round(x, y):
    for k in range(3):
        x[k % 2] += y * x[2]
        x = x * y
    return np.sum(x)


def in_an_arm(x, y):
    if y > 0:
        x[0] = 2 * y
        x = np.sin(x)
    x[1] *= y
    return np.sum(x * y)


def in_one_round(x, y):
    for k in range(3):
        x[k % 2] += y * x[2]
        x = x * y if k == 1 else x
    return np.sum(x)


def swapped_with_another(x, y):
    u = np.zeros(3)
    for k in range(3):
        u[k] = x[k] * y
        x[k] = u[0] * y
        x, u = u, x
    return np.sum(x * u * y)


def in_a_while(x, y):
    k = 0
    while k < 3:
        x[k] = x[k] * y + x[0]
        if k == 1:
            x = x + y
        k += 1
    return np.sum(x * x)


def in_one_of_two(x, y):
    if y > 0.5:
        z = x
    else:
        z = x * 2
    z[0] = y * z[1]
    x = z * y
    z[2] = x[0]
    return np.sum(x)


def views_of_it(x, y):
    x = x.reshape(1, 3)
    x[0, 1] = y * x[0, 0]
    x = x.T
    x[2, 0] *= y
    return np.sum(x)


def a_part_of_it(x, y):
    v = x[1:]
    v[0] = y * x[0]
    x = v
    x[1] = x[0] * y
    x = x * 2
    return np.sum(x)


PROGRAMS = [
    summed_before,
    under_another_name,
    in_each_round,
    in_an_arm,
    in_one_round,
    swapped_with_another,
    in_a_while,
    in_one_of_two,
    views_of_it,
    a_part_of_it,
]
X, Y = np.array([0.3, 0.7, -0.4]), 0.8
WEIGHTS, DOT = np.array([0.5, -0.2, 0.9]), np.array([0.3, -0.2, 0.5, 0.7])


def slopes(f):
    """Return the derivatives of the result and of what is left in x, times weights."""

    def value(v):
        x = v[:3].copy()
        return f(x, float(v[3])) + WEIGHTS @ x

    at = np.append(X, Y)
    return np.array([(value(at + e) - value(at - e)) / 2e-6 for e in np.eye(4) * 1e-6])


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_reverse(f):
    x, x_bar = X.copy(), WEIGHTS.copy()
    shadowed = s2sad.Duplicated(x, x_bar)
    _, bars = s2sad.autodiff(s2sad.Reverse, f, shadowed, s2sad.Active(Y))
    np.testing.assert_allclose(np.append(x_bar, bars[1]), slopes(f), atol=1e-8)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_forward(f):
    x, x_dot = X.copy(), DOT[:3].copy()
    given = s2sad.Duplicated(x, x_dot), s2sad.Duplicated(Y, DOT[3])
    _, tangent = s2sad.autodiff(s2sad.Forward, f, *given)
    assert tangent + WEIGHTS @ x_dot == pytest.approx(slopes(f) @ DOT, rel=1e-8)
