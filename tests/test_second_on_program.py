"""Derivatives of derivatives, where forward mode goes from program to program."""

import math

import numpy as np
import pytest

import s2sad

X = np.array([0.4, -0.3, 0.9])
V = np.array([1.0, 0.5, -2.0])


def quartic(x):
    s = 0.0
    for i in range(len(x)):
        s += np.sin(x[i]) * x[i - 1] ** 2
    return s


def written(x):
    u = np.zeros(3)
    u[1:] = x[1:] * x[:-1]
    if x[0] > 0.0:
        u[0] = inner(x)
    return np.sum(u * u)


def inner(x):
    return x[0] * x[1] * x[2]


@pytest.mark.parametrize("f", [quartic, written])
def test_products_with_the_hessian(f):
    h = 1e-6
    grad = s2sad.grad(f)
    want = (grad(X + h * V) - grad(X - h * V)) / (2 * h)
    assert s2sad.hvp(f, (X,), (V,)) == pytest.approx(want, rel=1e-5, abs=1e-7)
    assert s2sad.jvp(grad, (X,), (V,))[1] == pytest.approx(want, rel=1e-5, abs=1e-7)
    assert s2sad.hessian(f)(X) @ V == pytest.approx(want, rel=1e-5, abs=1e-7)
    along = s2sad.grad(lambda x: s2sad.jvp(f, (x,), (V,))[1])
    assert along(X) == pytest.approx(want, rel=1e-5, abs=1e-7)


def squared(x):
    return x * x


@s2sad.elementwise(squared)
def squared_partial(out, x):
    return 2.0 * s2sad.stop_gradient(x)


@pytest.mark.parametrize("operator", [s2sad.grad, s2sad.jacobian])
def test_what_a_rule_stops_is_stopped_in_second_derivatives(operator):
    slope = s2sad.grad(lambda x: np.sum(squared(x)))
    assert np.array_equal(slope(X), 2.0 * X)
    assert not np.any(operator(lambda x: np.sum(slope(x)))(X))
    assert not np.any(s2sad.jvp(slope, (X,), (V,))[1])


def stopped(x, y):
    held = s2sad.stop_gradient(y)
    return np.sum(x * x * held * y)


def stopped_on_one_path(x, y):
    held = y
    if y[0] > 0.0:
        held = s2sad.stop_gradient(y)
    return np.sum(x * x * held * y)


@pytest.mark.parametrize("f", [stopped, stopped_on_one_path])
def test_what_is_stopped_is_stopped_in_the_text_that_is_derived_again(f):
    """The tangent by x reads a value that is held: its derivative by y is that of y alone."""
    slope = s2sad.grad(lambda y: s2sad.jvp(f, (X, y), (V, None))[1])
    assert slope(np.abs(X)) == pytest.approx(2.0 * X * V * np.abs(X))


def rooted(x):
    return math.sqrt(x)


def caught(x):
    try:
        return rooted(x)
    except ArithmeticError:
        return x


def test_a_try_catches_nothing_that_only_a_tangent_raises():
    with pytest.raises(s2sad.UnsupportedError, match="that this try catches"):
        s2sad.jvp(caught, (0.0,), (1.0,))


def shifted(x):
    return x + 0.0


def writes_what_it_is_given(x):
    y = shifted(x)
    y[0] = 5.0
    return y * x


def one_list_twice(n):
    row = [0.0] * n
    return [row, row]


def lists_of_lists(x):
    rows = one_list_twice(3)
    rows[0][1] = x[0] ** 2
    return rows[1][1]


def test_tangents_share_memory_where_values_do():
    v = V.copy()
    _, dy = s2sad.jvp(writes_what_it_is_given, (X,), (v,))
    assert dy == pytest.approx([5.0 * V[0], *(2.0 * X * V)[1:]])
    assert v.tolist() == V.tolist()
    assert s2sad.jvp(lists_of_lists, (X,), (V,))[1] == pytest.approx(2.0 * X[0] * V[0])


def test_what_a_call_may_write_twice():
    def fill(a, b):
        a[0] = b[1]
        return b[0]

    def f(x):
        a = np.zeros(2)
        a[1] = x
        return fill(a, a) * x

    assert s2sad.jvp(f, (2.0,), (1.0,)) == (4.0, 4.0)
    assert s2sad.grad(f)(2.0) == 4.0


def key_put(y, d):
    if y > 0.0:
        d["k"] = y * 2.0
    d["k"] = y * d["u"]
    return d["k"] * d["u"]


def of_a_pair(y, u):
    a, b = s2sad.grad(key_put, wrt=("y", "d"))(y, {"u": u})
    return a * b["u"]


def of_a_pair_that_is_changed(y, u):
    a, b = s2sad.grad(key_put, wrt=("y", "d"))(y, {"u": u})
    c = b["u"] * a
    b["u"] = a * a
    b["v"] = c * a
    return b["u"] * c + b["v"]


def of_a_dict_that_is_changed(y, u):
    b = s2sad.grad(key_put, wrt="d")(y, {"u": u})
    b["u"] *= b["u"]
    return b["u"] * y


@pytest.mark.parametrize("f", [of_a_pair, of_a_pair_that_is_changed, of_a_dict_that_is_changed])
def test_a_gradient_that_is_a_dict_goes_on_to_be_used(f):
    e = 1e-6
    by_y = (f(0.7 + e, 1.1) - f(0.7 - e, 1.1)) / (2 * e)
    by_u = (f(0.7, 1.1 + e) - f(0.7, 1.1 - e)) / (2 * e)
    assert s2sad.grad(f, wrt=("y", "u"))(0.7, 1.1) == pytest.approx((by_y, by_u), rel=1e-7)


def kept_views(u):
    v = u * u
    w = v[1:]
    v[0] = np.sin(v[1])
    w[0] = v[0] * v[2]
    return v * np.sum(w * w)


def pulled_back(x):
    value, pull = s2sad.vjp(lambda u: kept_views(u) * u, x)
    return np.sum(x * pull(value) * value)


def pulled_back_twice(x):
    value, pull, aux = s2sad.vjp(lambda u: (kept_views(u) * u, u * 2.0), x, has_aux=True)
    return np.sum(pull(value) * pull(aux))


@pytest.mark.parametrize("f", [pulled_back, pulled_back_twice])
def test_what_a_pullback_keeps_of_a_call_has_derivatives(f):
    """It is copied together, since views of memory that is put back have to stay views."""
    h, units = 1e-6, np.eye(3)
    want = [(f(X + h * e) - f(X - h * e)) / (2 * h) for e in units]
    assert s2sad.grad(f)(X) == pytest.approx(np.array(want), rel=1e-6)
    along = (s2sad.grad(f)(X + h * V) - s2sad.grad(f)(X - h * V)) / (2 * h)
    assert s2sad.hvp(f, (X,), (V,)) == pytest.approx(along, rel=1e-6)
