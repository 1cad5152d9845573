"""np.r_, np.c_, np.mgrid and np.ogrid; arrays of several dtypes that are joined."""

import numpy as np
import pytest
import slopes
from numpy import r_

import s2sad

X = np.array([0.3, 1.2, 2.2, 0.7, 3.1])
Z = X[::-1] + 0.4j


def numbers_and_ranges(x):
    return np.sum(np.r_[x, x[0], 1:3] ** 2 * np.arange(8))


def around(x):
    return np.sum(np.r_[x[-1] * 2, x * x, x[0]] ** 2 * np.arange(7))


def starts_at_zero(x):
    y = r_[0, np.cumsum(x)]
    return np.sum(np.diff(y) * y[1:])


def literals(x):
    return np.sum(np.r_[0.5, x[:2], 2] ** 2)


def a_list(x):
    return np.sum(np.r_[[1.0, x[0]], x] ** 3)


def alone(x):
    return np.sum(np.r_[x] ** 2)


def moving_range(x, n=3):
    s = 0.0
    for k in range(n):
        s += np.sum(np.r_[x[k] : 3.05 : 0.5] ** 2)
    return s


def ghost_cells(u, left=0.3, right=0.6):
    for _ in range(3):
        g = np.r_[left, u, right]
        u = g[1:-1] + 0.1 * (g[2:] - 2 * g[1:-1] + g[:-2]) * u
        left = 0.5 * g[1]
    return np.sum(u**2) + left


def shifted(x):
    window = np.zeros(3)
    for v in x:
        window = r_[v, window[:-1]]
        window[1] += v**2
    return np.sum(window * np.array([1.0, 2.0, 3.0]))


def grown_columns(x):
    A = np.ones((5, 1))
    for k in range(3):
        A = np.c_[A, x**k]
    return np.sum(A @ A.T)


def columns(x):
    return np.sum(np.c_[x, x * x, np.ones(5)] ** 2 @ np.array([1.0, 2.0, 3.0]))


def grid(x):
    rows, cols = np.mgrid[0:3, 0:5]
    return np.sum((cols * x + rows) ** 2)


def fine_grid(x):
    u, v = np.mgrid[-1:1:5j, -1:1:4j]
    return np.sum(np.exp(-((u[:, 0] - x) ** 2))) + np.sum(v * x[0] + v)


def open_grid(x):
    rows, cols = np.ogrid[0:3, 0 : len(x)]
    return np.sum((cols * x + rows) ** 2) + np.sum(np.mgrid[0:5] * x)


JOINS = [numbers_and_ranges, around, starts_at_zero, literals, a_list, alone, moving_range]
GRIDS = [columns, grid, fine_grid, open_grid]


@pytest.mark.parametrize("fn", [*JOINS, *GRIDS], ids=lambda fn: fn.__name__)
def test_gradient(fn):
    slopes.check(fn, X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("fn", [*JOINS, *GRIDS], ids=lambda fn: fn.__name__)
def test_value_and_dtype(fn, dtype):
    x = X.astype(dtype)
    value, gradient = s2sad.value_and_grad(fn)(x)
    assert value == fn(x) and type(value) is type(fn(x))
    assert gradient.dtype == dtype


@pytest.mark.parametrize("fn", [ghost_cells, shifted, grown_columns])
def test_joined_to_what_was_joined_before(fn):
    value, gradient = s2sad.value_and_grad(fn)(X)
    assert value == fn(X)
    slopes.check(fn, X)
    v = np.arange(1.0, 6.0)
    assert s2sad.jvp(fn, (X,), (v,))[1] == pytest.approx(gradient @ v)


def told_in_a_string(x):
    return np.sum(np.r_["0,2", x, x])


def grid_of_floats(x):
    return np.sum(np.mgrid[0 : x[4]] * 2.0)


@pytest.mark.parametrize("fn", [told_in_a_string, grid_of_floats])
def test_refused(fn):
    with pytest.raises(s2sad.UnsupportedError, match=r"np\.(concatenate|meshgrid)"):
        s2sad.grad(fn)(X)


def joined(x, z):
    both = np.concatenate((z.real * x, z, x))
    return np.sum(np.abs(np.cumsum(both) * (1 + 2j) + both**2))


def stacked(x, z):
    both = np.stack([z.imag * x, z * x])
    return np.sum(np.abs(both @ z + 1j) ** 2)


def chosen(x, z):
    return np.sum(np.abs(np.select([x > 1], [z.real * x], z * x) ** 2 - 1j))


def as_columns(x, z):
    return np.sum(np.abs(np.column_stack((z.real, z, x)) @ np.array([1, 2j, 3 + 1j])))


def in_rows(x, z):
    return np.sum(np.abs(np.vstack([z.real * x, z]) ** 2 - np.hstack([x, z])[:5]))


MIXED = [joined, stacked, chosen, as_columns, in_rows]


@pytest.mark.parametrize("fn", MIXED)
def test_real_among_complex(fn):
    """What goes back into a real array is real: its imaginary part is no cotangent."""
    x_bar, z_bar = s2sad.grad(fn, wrt=(0, 1))(X, Z)
    assert x_bar.dtype == np.float64
    for k, e in enumerate(np.eye(5) * 1e-6):
        assert x_bar[k] == pytest.approx((fn(X + e, Z) - fn(X - e, Z)) / 2e-6, rel=1e-6)
        real = (fn(X, Z + e) - fn(X, Z - e)) / 2e-6
        imag = (fn(X, Z + 1j * e) - fn(X, Z - 1j * e)) / 2e-6
        assert z_bar[k] == pytest.approx(real - 1j * imag, rel=1e-6)


def wide(x):
    both = np.concatenate((x, np.ones(2))), np.stack([x, np.ones(5)]), np.vstack((np.ones(5), x))
    tall = np.column_stack((x, np.ones(5)))
    return sum(np.sum(part**2) for part in both) + np.sum(tall**2)


def picked(x):
    return np.sum(
        np.select([x > 1], [x], np.ones(5)) + np.choose([0, 1] * 2 + [0], [x, np.ones(5)])
    )


@pytest.mark.parametrize("fn", [wide, picked])
def test_narrow_among_wide(fn):
    gradient = s2sad.grad(fn)(X.astype(np.float32))
    assert gradient.dtype == np.float32
    assert gradient == pytest.approx(s2sad.grad(fn)(X))


def summed(x, z):
    return np.sum(np.abs(np.add.reduce([x * z.real, z, x]) * (1 + 2j)) ** 2)


def listed(x, z):
    return np.sum(np.abs(np.array([x * z.real, z]) ** 2 * (1 + 2j) + 1) ** 3)


@pytest.mark.parametrize("fn", [summed, listed])
def test_lists_of_real_and_complex(fn):
    test_real_among_complex(fn)


def reduced(x):
    rows = np.add.reduce([x, x * x]) * np.multiply.reduce((x, x + 1), axis=0)
    return np.sum(rows) * np.add.reduce([x[0], x[1]])


def test_lists_reduced():
    slopes.check(reduced, X)
