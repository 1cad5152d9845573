"""What forward mode on the program prints: the text that a careful person would have written."""

import inspect

import numpy as np
import pytest
from test_planted import clear_caches

from s2sad import kinds as K
from s2sad import pipeline, registry
from s2sad.linear.rule_programs import unasked
from s2sad.operators.deriving import loaded, printed
from s2sad.operators.higher import HIGHER
from s2sad.primitives import language
from s2sad.requests import Request


def derive(f, *args):
    """Return what is derived of a function by its first parameter, and the lines of its text."""
    names = list(inspect.signature(f).parameters)
    params = tuple((n, K.kind_of(v, n)) for n, v in zip(names, args, strict=True))
    request = Request(f, params, (names[0],), True, "jvp")
    d = pipeline.derive(request, HIGHER)
    text = printed(d)
    lines = [line.strip() for line in text.text.splitlines()]
    return loaded(text, d)[d.entry], lines


def hinge(x):
    return max(x - 1.0, 0.0)


def newton(a):
    x = a
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


def powers(v, A):
    v = v.copy()
    for _ in range(3):
        v[:] = A @ v
    return np.sum(v)


def falling(x, stops):
    v = 0.0
    for n in range(3):
        if n in stops:
            continue
        v = v + x * n
    return v


def stepped(x, low):
    try:
        y = x - 1.0 / (x * x - 2.0)
        if y < low:
            raise ArithmeticError("outside")
        x = y
    except ArithmeticError:
        x = 0.5 * x
    return x


def clipped(x):
    y = x * x - 0.5
    y[y < 0.0] = 0.0
    return np.sum(y)


def pendulum(y):
    return np.array([y[1], -np.sin(y[0])])


def log_sum_exp(x):
    top = x.max()
    return top + np.log(np.sum(np.exp(x - top)))


def direction(x):
    return x / np.linalg.norm(x)


def spread(x, y):
    t = x[1:] - y
    return np.sum(t**2)


def mean_square(x):
    return 0.5 * np.mean(x * x)


def scaled(x):
    u = x.copy()
    u *= 0.9
    return u[0] * u[1]


def transposed(A):
    C = A.copy().T
    C[0] = 0.0
    return np.sum(C)


def halved(x, X):
    r = X @ x
    return np.dot(x, x) * np.mean(r)


# A function, its arguments, and a line of the text (or a word that must not be in it).
TEXTS = [
    (hinge, (2.0,), "return max(t, 0.0), x_dot if t > 0.0 else 0.0 if t < 0.0 else 0.5 * x_dot"),
    (newton, (2.0,), "x_dot = 0.5 * (x_dot + a_dot / x - x_dot * t / x)"),
    (powers, (np.ones(3), np.eye(3)), "v_dot[:] = A @ v_dot"),
    (falling, (2.0, (1,)), "if n not in stops:"),
    (pendulum, (np.ones(2),), "not fill_tangent"),
    (direction, (np.ones(3),), "not np.conj"),
    (direction, (np.ones(3),), "not pull_norm"),
    (spread, (np.ones(4), np.ones(3)), "not zeros_like"),
    (mean_square, (np.ones(3),), "return 0.5 * np.mean(x * x), np.mean(x_dot * x)"),
    (scaled, (np.ones(3),), "u_dot *= 0.9"),
    (transposed, (np.ones((2, 3)),), "C_dot = A_dot.copy().T"),
    (clipped, (np.ones(3),), "y_dot = 2.0 * x_dot * x"),
    (halved, (np.ones(3), np.eye(3)), "not np.dot(x_dot, x)"),
    (log_sum_exp, (np.arange(3.0),), "not ties"),
]


@pytest.mark.parametrize("f, args, wanted", TEXTS, ids=[f"{r[0].__name__}-{r[2]}" for r in TEXTS])
def test_text(f, args, wanted):
    derived, lines = derive(f, *args)
    if wanted.startswith("not "):
        assert not any(wanted[4:] in line for line in lines), "\n".join(lines)
    else:
        assert wanted in lines, "\n".join(lines)
    check(f, derived, args)


def check(f, derived, args):
    """Hold the tangent against differences."""
    dot = np.cos(np.arange(np.size(args[0]))).reshape(np.shape(args[0]))[()]
    _, moved = derived(*args, dot)
    step = 1e-6
    ahead, behind = (f(args[0] + s * dot, *args[1:]) for s in (step, -step))
    np.testing.assert_allclose(moved, (ahead - behind) / (2 * step), rtol=1e-6, atol=1e-7)


def test_a_try_keeps_no_tangent_that_nobody_reads():
    derived, lines = derive(stepped, 2.0, 0.5)
    assert not any(line and line[0] in "-(1" and "=" not in line for line in lines), lines
    check(stepped, derived, (2.0, 0.5))


def stored_twice(x):
    u, d = x * 1.0, {"a": x * 0.2}
    d["a"] = u.copy()
    u[0] = 5.0
    return d["a"][0] * u[1] + d["a"] @ u


def begun_anew(x):
    start = x * 2.0
    total = 0.0
    for i in range(2):
        y = start + 0.0
        y[i] = 0.0
        total = total + np.sum(y * y)
    return total


@pytest.mark.parametrize("f", [stored_twice, begun_anew])
def test_copies_that_somebody_needs_stay(f):
    derived, _ = derive(f, np.arange(1.0, 4.0))
    check(f, derived, (np.arange(1.0, 4.0),))


def test_a_read_stands_where_it_is_used_as_long_as_nobody_writes_it():
    def f(x, i):
        u = x.copy()
        a = u[i] * u[i]
        u[i] = a * a
        return a * u[i]

    derived, lines = derive(f, np.arange(1.0, 4.0), 1)
    check(f, derived, (np.arange(1.0, 4.0), 1))
    assert not any("u_item = u[i]" in line for line in lines), "\n".join(lines)


def test_kinds_that_a_rule_does_not_ask_for_are_not_told_apart():
    assert unasked(registry.rule_for(np.multiply).partials) == {"out", "x", "y"}
    assert unasked(registry.rule_for(np.sin).partials) == {"out"}
    assert not unasked(registry.rule_for(np.tanh).partials) & {"out"}


def test_primitives_outlive_caches():
    """A primitive is one object: text does not depend on what was remembered of other functions."""
    said = language.method("copy")
    clear_caches()
    assert language.method("copy") is said
