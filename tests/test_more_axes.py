"""An index that only adds axes is undone by an index: no zeros are made to add to."""

import numpy as np
import pytest

import s2sad

X = np.array([[0.3, 0.7, 1.1], [0.2, -0.4, 0.9]])


def differences(x):
    return np.sum((x[:, None, :] - x[None, :, :]) ** 2 * x[:, None, :1])


def at_the_end(x):
    return np.sum(np.sin(x[:, :, None]) * x[:, None] * x[None, 0])


def of_a_number_for_all(x):
    y = x[0][:, None]
    return np.sum(y) + np.sum(x[1, None] * 2.0)


def with_an_ellipsis(x):
    return np.sum(x[..., None] * x[:, None, ...])


def of_what_is_written(x):
    u = x * 2.0
    v = u[:, None]
    u[0, 1] = x[1, 1] * v[0, 0, 2]
    return np.sum(v * u[None]) + np.sum(u[:, None, :] ** 2)


def written_through_it(x):
    u = x * 1.0
    w = u[None, :, :]
    w[0, 0] *= x[1]
    return np.sum(u**3)


def in_no_round(x):
    s = 0.0
    for k in range(len(x) - 2):
        s = s + np.sum(x[k][:, None])
    return s + np.sum(x[:, None] ** 2)


def of_no_rows(x):
    rows = x[2:]
    return np.sum(rows[:, None] * x[0]) + np.sum(x[None] * x)


def returned_as_it_is(x):
    y = x[None, :]
    z = y * 1.0
    z[0, 0, 0] = 2.0 * y[0, 1, 1]
    return np.sum(z * y)


PROGRAMS = [
    differences,
    at_the_end,
    of_a_number_for_all,
    with_an_ellipsis,
    of_what_is_written,
    written_through_it,
    in_no_round,
    of_no_rows,
    returned_as_it_is,
]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients(f):
    h, found = 1e-6, np.zeros_like(X)
    for at in np.ndindex(X.shape):
        step = np.zeros_like(X)
        step[at] = h
        found[at] = (f(X + step) - f(X - step)) / (2 * h)
    x = X.copy()
    np.testing.assert_allclose(s2sad.grad(f)(x), found, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(x, X)


def test_a_gradient_is_an_array_of_its_own():
    bar = s2sad.grad(lambda x: np.sum(x[None, :] * 2.0))(X)
    bar[0, 0] = 5.0
    assert bar[1, 2] == 2.0
    text = s2sad.grad(lambda x: np.sum((x[:, None, :] - x[None, :, :]) ** 2)).source(X)
    assert "zeros_like" not in text
