"""Lengths of slices of arguments: two found alike are the same, and what is not 1 is tested."""

import numpy as np
import pytest
from slopes import check

import s2sad
from s2sad.kinds import Dim
from s2sad.known.pieces import Form, count, length_form, piece

RNG = np.random.default_rng(0)
TWO_N = Form().added(Form((("V.0", 1),)), 2)


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def cell(W, U, b, xs):
    n = U.shape[1]
    h = np.zeros((len(xs) + 1, n))
    c = np.zeros((len(xs) + 1, n))
    for t in range(len(xs)):
        z = W * xs[t] + U @ h[t] + b
        write = sigmoid(z[:n])
        keep = sigmoid(z[n : 2 * n])
        read = sigmoid(z[2 * n : 3 * n])
        c[t + 1] = keep * c[t] + write * np.tanh(z[3 * n :])
        h[t + 1] = read * np.tanh(c[t + 1])
    return h


def loss(W, U, b, xs):
    return np.sum(cell(W, U, b, xs) ** 2)


def given(n, rows):
    normal = RNG.standard_normal
    return normal(rows), normal((rows, n)), normal(rows), normal(4)


@pytest.mark.parametrize("n, rows", [(3, 12), (3, 10), (2, 8), (2, 7), (1, 4), (4, 13)])
def test_the_last_slice_may_be_of_any_length(n, rows):
    args = given(n, rows)
    check(loss, *args)


def test_one_gradient_serves_all_lengths():
    """What was derived for lengths that are not 1 is not called with others, nor the other way."""
    gradient = s2sad.grad(loss)
    for n, rows in [(3, 12), (3, 10), (2, 8), (4, 13), (3, 12)]:
        args = given(n, rows)
        np.testing.assert_allclose(gradient(*args), s2sad.grad(loss)(*args))
        check(loss, *args)


def gated(z, n_of):
    n = len(n_of)
    out = np.zeros(n)
    out[:] = z[:n] * z[n:]
    return out


def twice(z, v, w):
    """Two calls of one function: in one of them the rest is of length 1, perhaps."""
    return np.sum(gated(z, v)) * np.sum(gated(z, w))


@pytest.mark.parametrize("first, second", [(2, 2), (3, 2), (2, 3), (3, 3)])
def test_each_call_has_lengths_of_its_own(first, second):
    """z has 4 entries: behind 3 of them there is one. The second call is undone first."""
    args = RNG.standard_normal(4), np.ones(first), np.ones(second)
    check(twice, *args, constant=(1, 2))


def folded(z, like, depth):
    """What it is given gets shorter: in the last call the rest is of length 1."""
    n = len(like)
    out = np.zeros(n)
    out[:] = np.sin(z[:n]) * z[n:]
    if depth == 0:
        return np.sum(out)
    return np.sum(out) + folded(z[1:], like, depth - 1)


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_a_function_that_calls_itself(depth):
    z, like = RNG.standard_normal(6), np.ones(3)

    def whole(z, like, depth):
        n = len(like)
        return folded(z, like, 0) if depth == 0 else folded(z[: n + 1], like, 0) * np.sum(z)

    check(whole, z, like, depth, constant=(1, 2))


def test_a_structure_of_arrays():
    def f(p, x):
        n = len(p["v"])
        out = np.zeros((2, n))
        for i in range(2):
            z = p["w"] * x[i]
            out[i] = z[:n] * np.tanh(z[n:])
        return np.sum(out * p["v"])

    for rows in (6, 4, 6):
        p = {"w": RNG.standard_normal(rows), "v": RNG.standard_normal(3)}
        check(f, p, np.array([0.4, 1.2]), constant=(1,))


def test_a_length_is_the_python_slices():
    lengths = {"W.0": 7, "V.0": 3}
    whole = length_form(Dim("W.0"))
    n = length_form(Dim("V.0"))
    assert count(Dim(piece(whole, n, TWO_N)), lengths) == 3
    assert count(Dim(piece(whole, TWO_N, None)), lengths) == 1
    assert count(Dim(piece(whole, None, Form((), -2))), lengths) == 5
    assert count(Dim(piece(whole, n, None), 1), lengths) == 3
    assert count(Dim(piece(whole, n, None)), {"W.0": 7}) is None
    assert piece(whole, n, TWO_N) == piece(whole, n, n.added(n))


def gru(W, U, b, xs, ys):
    """Nothing is written: the state is a new array in each round."""
    n = U.shape[1]
    h = np.zeros(n)
    s = 0.0
    for t in range(len(xs)):
        a = W * xs[t] + b
        keep = sigmoid(a[:n] + U[:n] @ h)
        reset = sigmoid(a[n : 2 * n] + U[n : 2 * n] @ h)
        new = np.tanh(a[2 * n :] + U[2 * n :] @ (reset * h))
        h = (1.0 - keep) * h + keep * new
        s = s + np.sum((h - ys[t]) ** 2)
    return s


@pytest.mark.parametrize("n, rows", [(2, 6), (2, 5), (1, 3), (3, 9), (3, 7)])
def test_where_nothing_is_written(n, rows):
    args = (*given(n, rows), RNG.standard_normal((4, n)))
    check(gru, *args)
