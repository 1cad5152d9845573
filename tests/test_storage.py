"""What the backward sweep reads and the forward sweep overwrites is kept, and nothing else."""

import math

import numpy as np
import pytest

import s2sad

W = np.array([[0.3, -0.2], [0.1, 0.4]])


def docstring(x):
    z = x * 2.0
    x = z * z + x
    return x * x


def tanh_loop(h, W, n):
    for i in range(n):
        h = np.tanh(W @ h)
    return np.sum(h)


def linear(x, n):
    s = 0.0
    for i in range(n):
        s = s + x * i
    return s


def several(x, n):
    a = x
    b = 1.0
    for i in range(n):
        a = a * b
        b = math.sin(a) + b * x
        a = a + b
    return a * b


def maybe_unbound(x, n):
    for i in range(n):
        if i > 0:
            y = y * x  # noqa: F821
        else:
            y = x * x
    return y if n > 0 else x


def inner_loops(x, n):
    s = x
    for i in range(n):
        for j in range(i):
            s = s * math.cos(s * x)
        s = s * s + j_free(i) * x
    return s


def j_free(i):
    return 0.1 * i


def list_filled(x, n):
    xs = [x]
    for i in range(n):
        xs.append(xs[-1] * xs[0] + math.sin(xs[i]))
    return sum(xs)


SCALAR = [docstring, linear, several, maybe_unbound, inner_loops, list_filled]


@pytest.mark.parametrize("fn", SCALAR, ids=lambda fn: fn.__name__)
def test_every_number_of_rounds(fn):
    for n in (0, 1, 2, 3, 5):
        args = () if fn is docstring else (n,)
        x, h = 0.6, 1e-6
        slope = (fn(x + h, *args) - fn(x - h, *args)) / (2 * h)
        derived = s2sad.grad(fn)
        assert derived(x, *args) == pytest.approx(slope, rel=1e-6, abs=1e-6), n
        assert derived(x, *args) == derived(x, *args)


def test_straight_code_keeps_the_old_value_under_another_name():
    text = s2sad.grad(docstring).source(2.0)
    assert "append" not in text and "saved" not in text


def test_a_loop_appends_and_pops():
    text = s2sad.grad(tanh_loop).source(np.ones(2), W, 3)
    assert text.count(".append(") == 1 and text.count(".pop()") == 1
    h, eps = np.array([0.4, -0.7]), 1e-6
    for n in (0, 1, 4):
        slope = [
            (tanh_loop(h + e, W, n) - tanh_loop(h - e, W, n)) / (2 * eps) for e in eps * np.eye(2)
        ]
        assert np.allclose(s2sad.grad(tanh_loop)(h, W, n), slope, atol=1e-8)


def test_nothing_is_saved_that_nobody_reads():
    assert "append" not in s2sad.grad(linear).source(1.0, 3)


def test_a_pullback_can_be_called_again():
    y, pullback = s2sad.vjp(several, 0.6, 4, wrt=0)
    first = pullback(1.0)
    assert pullback(1.0) == first
    assert pullback(2.0) == pytest.approx(2 * first)
    assert y == several(0.6, 4)
