"""What the last round of a backward loop wastes is left out, and nothing else."""

import numpy as np
import pytest

import s2sad

RNG = np.random.default_rng(0)
WS = [0.5 * RNG.standard_normal((3, 3)) for _ in range(3)]
X = RNG.standard_normal((2, 3))


def constant_start(ws, x):
    h = x
    for w in ws:
        h = np.tanh(h @ w)
    return np.sum(h)


def active_start(ws, x):
    h = x @ ws[0]
    for w in ws:
        h = np.tanh(h @ w)
    return np.sum(h)


def read_in_the_same_round(ws, x):
    h = x
    g = x
    for w in ws:
        g = np.tanh(g @ w)
        h = np.tanh(h @ w) * np.sum(g)
    return np.sum(h)


def in_an_outer_loop(ws, x):
    h = x
    for _ in range(2):
        for w in ws:
            h = np.tanh(h @ w)
    return np.sum(h)


def restarts_in_an_outer_loop(ws, x):
    s = 0.0
    for c in (1.0, 2.0):
        h = x
        for w in ws:
            h = np.tanh(h @ w)
        s = s + c * np.sum(h)
    return s


def in_a_branch(ws, x):
    h = x
    for w in ws:
        if np.sum(h) > 0.0:
            h = np.tanh(h @ w)
        else:
            h = np.sin(h @ w)
    return np.sum(h)


def stops(ws, x):
    h = x
    for w in ws:
        h = np.tanh(h @ w)
        if np.sum(h) > 0.0:
            break
    return np.sum(h)


PROGRAMS = {
    constant_start: True,
    active_start: False,
    read_in_the_same_round: True,
    in_an_outer_loop: False,
    restarts_in_an_outer_loop: True,
    in_a_branch: False,
    stops: None,
}


def differences(f, ws, x, h=1e-6):
    out = [np.zeros_like(w) for w in ws]
    for w, slope in zip(ws, out, strict=True):
        for i in np.ndindex(w.shape):
            old = w[i]
            w[i] = old + h
            above = f(ws, x)
            w[i] = old - h
            below = f(ws, x)
            w[i] = old
            slope[i] = (above - below) / (2.0 * h)
    return out


@pytest.mark.parametrize("rounds", [1, 3])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients(f, rounds):
    ws = WS[:rounds]
    want = differences(f, ws, X)
    for got in (s2sad.grad(f)(ws, X), s2sad.vjp(f, ws, X, wrt=0)[1](1.0)):
        for one, other in zip(got, want, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_what_is_left_out(f):
    text = s2sad.grad(f).source(WS, X)
    if PROGRAMS[f] is not None:
        assert ("> 0:" in text) == PROGRAMS[f], text


def test_vectors_are_not_worth_a_test():
    def f(ws, x):
        h = x
        for w in ws:
            h = np.tanh(w @ h)
        return np.sum(h)

    assert "> 0:" not in s2sad.grad(f).source(WS, X[0])
