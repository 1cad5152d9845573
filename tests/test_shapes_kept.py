"""Arrays of which a backward sweep reads the shape alone are not kept: their shape is."""

import re

import numpy as np
import pytest
from test_kept_on_program import derived, test_gradients_are_those_of_differences

import s2sad


def kept(f, *args):
    """Return what the tapes of a function keep, and its forwards keep for reverses."""
    text = s2sad.grad(f).source(*args) if args else derived(f)[1]
    found = re.findall(r"saved\.append\((.*)\)\n", text)
    return found + re.findall(r"return value, (.*)\n", text.split("_grad(")[0])


def stored(x, A):
    u = A * 1.0
    for i in range(3):
        t = u[1:] * 0.5 + x
        u[:-1] = t
        u[0] += np.sum(t)
    return np.sum(u * u)


def a_row_for_all(x, A):
    u = A * 1.0
    for i in range(3):
        t = 0.5 * u[0] + x
        u[:] = t
    return np.sum(u * u)


def on_one_arm(x, A):
    u = A * 1.0
    for i in range(4):
        if x[i] > 0.0:
            t = 0.5 * u[0] + x
            u[:] = t
        else:
            t = 0.25 * u + x
            u[:] = t
    return np.sum(u * u)


def left_early(x, A):
    u = A * 1.0
    for i in range(5):
        t = 0.5 * u[0] + x
        u[:] = t
        if np.sum(u) > 2.0:
            break
        t = u[1] * x
        u[1:] = t
    return np.sum(u * u)


def in_no_round(x, s):
    u = x * s
    for i in range(int(s - 0.6)):
        t = 0.5 * u + x
        u[:] = t
    return np.sum(u * u)


def unlike_in_rounds(x):
    u = x * 1.0
    s = 0.0
    for i in range(1, 4):
        t = u[:i] * 2.0
        u[:i] = t
        s += np.sum(t * x[i])
    return np.sum(u) * s


def step(u, x):
    t = 0.5 * u[0] + x
    u[:] = t
    return np.sum(u)


def of_calls(x, A):
    u = A * 1.0
    s = 0.0
    for i in range(3):
        s += step(u, x)
    return s + np.sum(u * u)


PROGRAMS = [
    stored,
    a_row_for_all,
    on_one_arm,
    left_early,
    in_no_round,
    unlike_in_rounds,
    of_calls,
]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients(f):
    test_gradients_are_those_of_differences(f)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_pullbacks_may_run_again(f):
    given = {"x": np.array([0.7, -1.3, 0.4, 0.9]), "A": np.sin(np.arange(16.0)).reshape(4, 4)}
    given["s"] = 0.6
    args = [given[p] for p in f.__code__.co_varnames[: f.__code__.co_argcount]]
    wrt = tuple(range(len(args)))
    want = s2sad.grad(f, wrt)(*args)
    _, pullback = s2sad.vjp(f, *args, wrt=wrt)
    for _ in range(2):
        for mine, theirs in zip(pullback(1.0), want, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-12)


def until_it_is_small(u, v):
    u = u.copy()
    while np.sum(u) > 1.0:
        t = 0.5 * u[1:-1] + v[1:-1]
        u[1:-1] = t
        u[0] *= 0.5
        u[-1] *= 0.5
    return np.sum(u * u)


def test_shapes_are_kept():
    u, v = np.ones(5), np.full(5, 0.1)
    assert kept(until_it_is_small, u, v) == ["t.shape"]
    e = 1e-6
    for v in (v, np.full(3, 0.1)):  # three elements are broadcast
        slope = (until_it_is_small(u + e, v) - until_it_is_small(u - e, v)) / (2 * e)
        found = s2sad.grad(until_it_is_small)(u, v)
        assert np.sum(found) == pytest.approx(slope, rel=1e-6)
        slope = (until_it_is_small(u, v + e) - until_it_is_small(u, v - e)) / (2 * e)
        found = s2sad.grad(until_it_is_small, 1)(u, v)
        assert np.sum(found) == pytest.approx(slope, rel=1e-6)


def test_zeros_are_made_of_a_shape():
    def f(x, W):
        h = x
        for _ in range(3):
            z = W @ h
            h = np.tanh(z[:4]) * z[4:]
        return np.sum(h)

    x, W = np.linspace(0.1, 0.4, 4), np.sin(np.arange(32.0)).reshape(8, 4)
    text = s2sad.grad(f).source(x, W)
    if "z.shape" in text:
        assert "np.zeros(z_shape)" in text
    single = s2sad.grad(f, 1)(x.astype(np.float32), W.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, s2sad.grad(f, 1)(x, W), rtol=1e-4, atol=1e-5)


def test_what_is_read_is_kept():
    def f(x, A):
        u = A * 1.0
        for i in range(3):
            t = 0.5 * u[0] + x
            u[:] = t
            u[1] *= np.sin(t)
        return np.sum(u * u)

    test_gradients_are_those_of_differences(f)
    assert ".shape" not in "".join(kept(f))
