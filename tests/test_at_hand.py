"""Shapes are asked of arguments where an array would be kept for nothing else."""

import numpy as np
from slopes import check

import s2sad

RNG = np.random.default_rng(1)
W, U, XS = RNG.standard_normal(4), RNG.standard_normal((4, 2)), RNG.standard_normal(3)


def halves(W, U, xs):
    h = np.zeros((len(xs) + 1, 2))
    for t in range(len(xs)):
        z = W * xs[t] + U @ h[t]
        h[t + 1] = np.tanh(z[:2]) * np.tanh(z[2:])
    return np.sum(h * h)


def test_an_argument_is_as_long():
    text = s2sad.grad(halves).source(W, U, XS)
    kept = text[text.index("saved.append(") :].split("\n")[0].replace("tanh_z", "")
    assert "z" not in kept.replace("z.shape", "")
    check(halves, W, U, XS)


def test_an_argument_that_is_bound_anew_is_another():
    def f(W, U, xs):
        h = np.zeros((len(xs) + 1, 2))
        z = np.zeros(4)
        for t in range(len(xs)):
            z = W * xs[t] + U @ h[t]
            h[t + 1] = np.tanh(z[:2]) * np.tanh(z[2:])
        W = h[1:, 0] * W[:3]
        return np.sum(h * h) + np.sum(W)

    assert "np.zeros(len(W))" not in s2sad.grad(f).source(W, U, XS)
    check(f, W, U, XS)


def test_a_structure_that_is_given_another():
    def f(p, xs):
        h = np.zeros((len(xs) + 1, 2))
        for t in range(len(xs)):
            z = p["W"] * xs[t] + p["U"] @ h[t]
            h[t + 1] = np.tanh(z[:2]) * np.tanh(z[2:])
        p["W"] = h[1:, 0]
        return np.sum(h * h) + np.sum(p["W"])

    check(f, {"W": W, "U": U}, XS)


def test_single_precision_stays():
    args = W.astype(np.float32), U.astype(np.float32), XS.astype(np.float32)
    gradients = s2sad.grad(halves, wrt=(0, 1, 2))(*args)
    assert [g.dtype for g in gradients] == [np.float32] * 3
