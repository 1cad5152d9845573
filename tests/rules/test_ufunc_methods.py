"""The rules of rules/ufunc_methods.py and rules/windows.py."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided, sliding_window_view

import s2sad
from s2sad.emitted.ufunc_at import applied_at
from s2sad.testing import check_rule
from tests import slopes

rng = np.random.default_rng(17)


def n(*shape):
    return rng.standard_normal(shape)


ROWS = [
    (np.maximum.outer, (n(3), n(4)), {}),
    (np.minimum.outer, (n(2, 3), n(2)), {}),
    (np.power.outer, (np.abs(n(3)), n(2)), {}),
    (np.float_power.outer, (np.abs(n(3)), n(2, 2)), {}),
    (np.true_divide.outer, (n(3), n(2) + 3), {}),
    (np.hypot.outer, (n(3), n(2)), {}),
    (np.arctan2.outer, (n(3), n(2)), {}),
    (np.logaddexp.outer, (n(3), n(2)), {}),
    (np.multiply.reduceat, (n(6),), {"indices": [0, 2, 5]}),
    (np.multiply.reduceat, (n(6),), {"indices": [3, 1, 1, 4]}),
    (np.multiply.reduceat, (np.array([1.0, 0.0, 2.0, 0.0, 0.0]),), {"indices": [0, 2]}),
    (np.multiply.reduceat, (n(3, 5),), {"indices": [1, 3], "axis": 1}),
    (np.maximum.reduceat, (n(6),), {"indices": [0, 2, 5]}),
    (np.minimum.reduceat, (n(2, 6),), {"indices": [4, 2, 0], "axis": -1}),
    (np.logaddexp.accumulate, (n(5),), {}),
    (np.logaddexp.accumulate, (n(3, 4),), {"axis": 1}),
    (sliding_window_view, (n(6),), {"window_shape": 3}),
    (sliding_window_view, (n(6),), {"window_shape": (6,)}),
    (sliding_window_view, (n(4, 5),), {"window_shape": (2, 3)}),
    (sliding_window_view, (n(4, 5),), {"window_shape": 2, "axis": 0}),
    (sliding_window_view, (n(4, 5),), {"window_shape": (2, 3), "axis": (1, -2)}),
    (sliding_window_view, (n(6),), {"window_shape": (2, 3), "axis": (0, 0)}),
    (sliding_window_view, (n(6) + 1j * n(6),), {"window_shape": 2}),
]


@pytest.mark.parametrize("fn, args, settings", ROWS)
def test_rule(fn, args, settings):
    check_rule(fn, *args, **settings)


AT = [np.multiply, np.true_divide, np.power, np.float_power, np.remainder, np.fmod]
AT += [np.maximum, np.minimum, np.hypot, np.arctan2, np.logaddexp]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("b", [np.array([0.7, 1.9, 0.4, 1.3, 2.3]), 1.7])
@pytest.mark.parametrize("ufunc", AT)
def test_places_that_repeat(ufunc, b):
    """The derivatives, to second order, of a program that does it several times in one place."""

    def f(x, b):
        y = x * x + 0.5
        ufunc.at(y, np.array([0, 1, 1, 0, 1]), b * b)
        return np.sum(y * y * x)

    x = np.array([0.9, 0.3, 1.2])
    s2sad.check_grads(f, (x, b), wrt=(0, 1))


def test_single_precision_at_places():
    def f(x, dtype):
        y = (x * x).astype(dtype)
        np.multiply.at(y, [0, 0, 1], x)
        return np.sum(y * x)

    x = np.array([0.9, 0.3, 1.2])
    one, two = s2sad.grad(f)(x, np.float32), s2sad.grad(f)(x, np.float64)
    assert one.dtype == np.float64 and np.allclose(one, two, rtol=1e-5)
    assert applied_at(x, 2.0, ufunc=np.multiply, positions=[0, 0])[0] == 3.6


def moving_mean(x, v):
    return np.sum(sliding_window_view(x, 3).mean(axis=-1) ** 2 * v[:4])


def patches(x, v):
    windows = np.lib.stride_tricks.sliding_window_view(np.outer(x, v), (2, 3))
    return np.sum(windows.max(axis=(2, 3)) ** 2)


def moving_extremes(x, v):
    return np.sum(np.max(sliding_window_view(x, window_shape=2), axis=1) * v[:5])


def correlated(x, v):
    return np.sum(np.einsum("ij,j->i", sliding_window_view(x, 4), v[:4]) ** 2)


def tables(x, v):
    return np.sum(np.maximum.outer(x, v) * np.logaddexp.outer(v, x).T)


def groups(x, v):
    return np.sum(np.multiply.reduceat(x, [0, 2, 3]) ** 2) + np.sum(
        np.maximum.reduceat(x * v, [0, 4]) * 3.0
    )


PROGRAMS = [moving_mean, patches, moving_extremes, correlated, tables, groups]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradient(f):
    slopes.check(f, n(6), n(6))


def written_through(x):
    y = x * 1.0
    windows = sliding_window_view(y, 2, writeable=True)
    windows[0] = 1.0
    return np.sum(y**2)


def written_after(x):
    y = x * x
    windows = sliding_window_view(y, 2)
    s = np.sum(windows**2)
    y[0] = 3.0
    return s + np.sum(windows * y[1])


def strided(x):
    return np.sum(as_strided(x, (2, 2), (8, 8)) ** 2)


def test_what_is_written_through_windows():
    for f in (written_through, strided):
        with pytest.raises(s2sad.Error):
            s2sad.grad(f)(n(4))


def test_what_is_written_under_windows():
    try:
        found = s2sad.grad(written_after)(np.array([0.3, 0.7, -1.1, 0.4]))
    except s2sad.Error:
        return
    x = np.array([0.3, 0.7, -1.1, 0.4])
    slopes_ = [(written_after(x + h) - written_after(x - h)) / 2e-6 for h in np.eye(4) * 1e-6]
    assert np.allclose(found, slopes_, atol=1e-6)


A = n(3, 4)
REDUCED = [
    *(np.add, np.multiply, np.maximum, np.minimum, np.fmax, np.fmin, np.hypot, np.logaddexp),
    np.logaddexp2,
]
SETTINGS = [
    *({}, {"axis": 1}, {"axis": None}, {"axis": (0, 1)}, {"axis": -1, "keepdims": True}),
    *({"initial": 0.3}, {"axis": None, "initial": 0.4}),
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("ufunc", REDUCED, ids=lambda u: u.__name__)
def test_reduce(ufunc, settings):
    check_rule(ufunc.reduce, A, **settings)


@pytest.mark.parametrize("ufunc", REDUCED[:6], ids=lambda u: u.__name__)
def test_reduce_in_part(ufunc):
    check_rule(ufunc.reduce, A, initial=0.3, where=A > 0.0)
