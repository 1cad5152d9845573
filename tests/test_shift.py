"""A shift that cancels is constant; one that does not cancel, or is read elsewhere, is not."""

import importlib.util

import numpy as np
import pytest

import s2sad


def of_rows(x):
    top = np.max(x, axis=1, keepdims=True)
    return np.sum(np.sin(top[:, 0] + np.log(np.sum(np.exp(x - top), axis=1))))


def of_columns(x):
    top = np.amax(x, axis=0, keepdims=True)
    return np.sum(np.sin(np.log(np.sum(np.exp(x - top), axis=-2)) + top[0]))


def kept(x):
    top = x.max(axis=-1, keepdims=True)
    return np.sum(np.sin(top + np.log(np.sum(np.exp(x - top), axis=1, keepdims=True))))


def of_all(x):
    top = x.max()
    return np.sin(top + np.log(np.exp(x - top).sum()))


def any_number(x):
    shift = 0.3 * x[0, 1]
    return np.sin(shift + np.log(np.sum(np.exp(x - shift))))


def in_a_loop(x):
    s = 0.0
    for row in x:
        top = np.max(row)
        s += np.sin(top + np.log(np.sum(np.exp(row - top))))
    return s


def read_elsewhere(x):
    top = np.max(x, axis=1, keepdims=True)
    y = top[:, 0] + np.log(np.sum(np.exp(x - top), axis=1))
    return np.sum(np.sin(y)) + np.sum(top * top)


def powers_read_elsewhere(x):
    top = np.max(x)
    e = np.exp(x - top)
    return np.sin(top + np.log(np.sum(e))) + np.sum(e)


def of_the_other_axis(x):
    top = np.max(x, axis=0, keepdims=True)
    return np.sum(np.sin(top[0] + np.log(np.sum(np.exp(x - top), axis=1))))


def spread(x):
    top = np.max(x, axis=1, keepdims=True)
    return np.sum(np.sin(top + np.log(np.sum(np.exp(x - top), axis=1))))


def another_item(x):
    top = np.max(x, axis=1, keepdims=True)
    return np.sum(np.sin(top[0, :] + np.log(np.sum(np.exp(x - top), axis=1))))


def without_a_log(x):
    top = np.max(x)
    return np.sin(top + np.sqrt(np.sum(np.exp(x - top))))


def not_added(x):
    top = np.max(x)
    return np.sin(top * np.log(np.sum(np.exp(x - top))))


def from_the_round_before(x):
    top = x[0, 0]
    s = 0.0
    for row in x:
        t = row - top
        top = np.max(row)
        s += np.sin(top + np.log(np.sum(np.exp(t))))
    return s


def from_an_argument_first(x, top=0.5):
    s = 0.0
    for row in x:
        t = row - top
        top = np.max(row)
        s += np.sin(top + np.log(np.sum(np.exp(t))))
    return s


def mean_of_the_powers(x):
    top = np.max(x)
    return np.sin(top + np.log(np.mean(np.exp(x - top))))


CANCEL = (of_rows, of_columns, kept, of_all, any_number, in_a_loop)
STAY = (
    read_elsewhere,
    powers_read_elsewhere,
    of_the_other_axis,
    spread,
    another_item,
    without_a_log,
    not_added,
    from_the_round_before,
    from_an_argument_first,
    mean_of_the_powers,
)
X = np.random.default_rng(0).standard_normal((3, 3))


def differences(f, x, h=1e-6):
    out = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        shift = np.zeros_like(x)
        shift[i] = h
        out[i] = (f(x + shift) - f(x - shift)) / (2.0 * h)
    return out


@pytest.mark.parametrize("f", CANCEL + STAY, ids=lambda f: f.__name__)
def test_gradients(f):
    np.testing.assert_allclose(s2sad.grad(f, wrt="x")(X), differences(f, X), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f", CANCEL, ids=lambda f: f.__name__)
def test_the_shift_is_constant(f):
    text = s2sad.grad(f).source(X)
    assert "ties" not in text and "top_bar" not in text and "shift_bar" not in text


@pytest.mark.parametrize("f", CANCEL[:-1], ids=lambda f: f.__name__)
def test_second_derivatives(f, tmp_path):
    s2sad.grad(f).emit(tmp_path / "first.py", X)
    spec = importlib.util.spec_from_file_location("first", tmp_path / "first.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    slope = getattr(module, f"{f.__name__}_grad")
    v = np.random.default_rng(1).standard_normal(X.shape)
    h = 1e-5
    want = (slope(X + h * v) - slope(X - h * v)) / (2.0 * h)
    np.testing.assert_allclose(s2sad.vjp(slope, X)[1](v), want, rtol=1e-6, atol=1e-8)


def test_ties_share_nothing_unequal():
    x = np.zeros((2, 4))
    np.testing.assert_allclose(s2sad.grad(of_rows)(x), np.cos(np.log(4.0)) / 4.0 * np.ones((2, 4)))
