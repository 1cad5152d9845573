"""What one or two operators make of what is kept is computed again, if nobody writes any of it."""

import re

import numpy as np
import pytest
from test_kept_on_program import derived, test_gradients_are_those_of_differences

import s2sad


def kept(f, text=None):
    """Return how many values the tapes of a function keep."""
    text = derived(f)[1] if text is None else text
    found = re.findall(r"saved\.append\((.*)\)\n", text)
    return [len(row.strip("()").split(",")) for row in found]


def logistic(x):
    h = x * 1.0
    for _ in range(3):
        e = np.exp(-h)
        s = 1.0 / (1.0 + e)
        h = s * np.tanh(h) * x
    return np.sum(h)


def of_what_is_written(x):
    h = x * 1.0
    u = x * 2.0
    for _ in range(3):
        t = u + 1.0
        h = np.sin(h * t) * np.sin(t)
        u *= h
    return np.sum(h * u)


def itself_written(x):
    h = x * 1.0
    for _ in range(3):
        e = np.exp(-h * h)
        t = e + 1.0
        h = np.sin(h) / t + e
        t *= h
        h = np.sin(h * t)
    return np.sum(h)


def seen_by_a_view(x):
    h = x * 1.0
    u = x * 3.0
    w = u[::-1]
    for i in range(3):
        t = u - 0.5
        h = np.cos(h * t) * t
        w[i] = h[0]
    return np.sum(h * u)


def of_three_operators(x):
    h = x * 1.0
    for _ in range(3):
        e = np.exp(h)
        t = (e + 1.0) * 0.1 - 0.2
        h = np.sin(t * e) * t
    return np.sum(h)


def of_what_is_outside(x, A):
    h = x * 1.0
    w = A[0] * x
    for i in range(3):
        t = w * h
        h = np.sin(t) * A[i] + t * t * w
    return np.sum(h * w)


def in_loops(x, A):
    h = x * 1.0
    for i in range(2):
        e = np.exp(0.1 * h)
        for j in range(2):
            t = 1.0 + e
            u = t * (A[j] + 2.0)
            h = np.sin(h * t) / u + e * u
    return np.sum(h)


def on_two_arms(x, s):
    h = x * 1.0
    for i in range(4):
        e = np.exp(-h * s)
        if x[i] > 0.0:
            t = 1.0 + e
            h = h / t
        else:
            t = 2.0 - e
            h = np.sin(h * t)
    return np.sum(h)


def left_early(x):
    h = x * 1.0
    for i in range(9):
        e = np.exp(h)
        t = 1.0 + e
        h = h / t + np.sin(t)
        if np.sum(h) > 4.5:
            break
        h = h * 0.9
    return np.sum(h)


def while_it_is_small(x):
    h = x * 1.0
    n = 0
    while n < 3:
        e = np.exp(-h)
        t = 1.0 + e
        h = h / t + np.cos(t) * e
        n += 1
    return np.sum(h)


def in_no_round(x, s):
    h = x * s
    for _ in range(int(s - 0.6)):
        e = np.exp(-h)
        t = 1.0 + e
        h = h / t + np.cos(t) * e
    return np.sum(h * x)


def layer(h, x):
    e = np.exp(-h * x)
    t = 1.0 + e
    s = 1.0 / t
    if s[0] > 0.5:
        return s * np.sin(t)
    return s * t * np.cos(e)


def of_calls(x):
    h = x * 1.0
    for _ in range(3):
        h = layer(h, x) + h
    return np.sum(h)


def written_by_a_call(x):
    h = x * 1.0
    for _ in range(3):
        e = np.exp(-h)
        t = 1.0 + e
        h = np.sin(t) * h / t
        double(e)
        h = h + e * t
    return np.sum(h)


def double(e):
    e *= 2.0


PROGRAMS = [
    logistic,
    of_what_is_written,
    itself_written,
    seen_by_a_view,
    of_three_operators,
    of_what_is_outside,
    in_loops,
    on_two_arms,
    left_early,
    while_it_is_small,
    in_no_round,
    of_calls,
    written_by_a_call,
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
    _, pullback = s2sad.vjp(f, *args, wrt=wrt)
    want = s2sad.grad(f, wrt)(*args)
    for a in args:
        if isinstance(a, np.ndarray):
            a[...] = 3.0  # what a caller writes later is nothing to the pullback
    for _ in range(2):
        for mine, theirs in zip(pullback(1.0), want, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-12)


def test_what_operators_make_of_what_is_kept_is_not_kept():
    assert kept(logistic) == [2]  # e and tanh
    assert kept(while_it_is_small) == [3]
    assert kept(left_early) == [3]  # the test, the quotient and e
    assert derived(of_what_is_outside)[1].count("        t = w * h\n") == 2


def test_an_array_that_is_found_by_its_identity_is_kept():
    def f(x):
        parts = [x, x * 2.0]
        for i in range(2):
            parts[i] = np.sin(parts[i - 1]) * x
        return np.sum(parts[0] * parts[1])

    test_gradients_are_those_of_differences(f)


def test_a_long_formula_is_kept():
    assert kept(of_three_operators) == [3]  # t, its sine and e


def test_what_is_written_is_kept():
    for f, formula in (
        (of_what_is_written, " = u + 1.0"),
        (seen_by_a_view, " = u - 0.5"),
        (itself_written, " = e + 1.0"),
        (written_by_a_call, " = 1.0 + e"),
    ):
        text = derived(f)[1].split(f"def {f.__name__}_value_and_grad")[1]
        code = [line for line in text.split("\n") if not line.strip().startswith("#")]
        assert "\n".join(code).count(formula) == 1, text


def test_a_forward_keeps_less_for_its_reverse():
    text = s2sad.grad(of_calls).source(np.ones(3))
    reverse = text.split("def layer_reverse")[1].split("def ")[0]
    assert "1.0 + e" in reverse


@pytest.mark.parametrize("x", [-60.0, -30.0, 30.0, 60.0])
def test_single_precision_loses_no_digits(x):
    """1 / (1 + exp(60)) squared is no number of single precision."""

    def f(x):
        s = np.zeros_like(x)
        for _ in range(1):
            s = s + 1.0 / (1.0 + np.exp(-x))
        return np.sum(s)

    e = np.exp(-np.float64(x))
    found = s2sad.grad(f)(np.full(2, x, np.float32))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, e / (1.0 + e) ** 2, rtol=1e-5)
