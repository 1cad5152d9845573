"""Calls that write, and are given the same memory twice: as a whole, in part, or in structures."""

import numpy as np
import pytest

import s2sad


def reads_then_writes(a, b):
    t = np.sum(b * b)
    a[0] = 5.0 * a[1]
    return t * np.sum(b)


def one_array_twice(x):
    y = x.copy()
    return reads_then_writes(y, y) + y[0]


def views_that_overlap(x):
    y = x.copy()
    return reads_then_writes(y[:2], y[1:]) * y[0]


def views_that_overlap_the_other_way(x):
    y = x.copy()
    return reads_then_writes(y[1:], y[:2]) * y[1]


def writes_all(a, b, c):
    a *= 2
    b += a * c[0]
    c[1] = b[0] * a[1]
    return np.sum(a * b * c)


def an_array_turned_round(x):
    y = x.copy()
    return writes_all(y, y[::-1], y)


def a_view_twice(x):
    y = x * 1.0
    z = y[1:]
    writes_all(y[:2], z, z)
    return np.sum(y * z[0])


def writes_entries(o, p):
    o["a"][0] = p["b"][1] * 2
    p["a"] = o["a"] * 3
    return np.sum(o["a"] * p["b"])


def one_dict_twice(x):
    d = {"a": x * 1.0, "b": x * 2.0}
    return writes_entries(d, d) + np.sum(d["a"])


class Box:
    def __init__(s, v):
        s.v = v


def writes_attributes(o, p):
    o.v = o.v * p.v
    p.v[0] = o.v[1]
    return np.sum(p.v * o.v)


def one_object_twice(x):
    c = Box(x * 1.0)
    return writes_attributes(c, c) * c.v[0]


def appends(xs, ys):
    xs.append(ys[0] * 2)
    ys[0] = xs[-1] * ys[1]
    return sum(xs) * sum(ys)


def one_list_twice(x):
    items = list(x)
    return appends(items, items)


def swap(a, b, i, j):
    a[i], b[j] = b[j], a[i] * 2


def swapped_within(x):
    y = x.copy()
    for k in range(3):
        swap(y, y, k, 2 - k)
    return np.sum(y * np.arange(1, 4))


def lists_of_the_same_arrays(x):
    r = [x * 1.0, x * 2.0]
    r2 = r

    def h(u, v):
        for k in range(2):
            u[k][0] = v[1 - k][1] * u[k][2]
        return v[0] @ u[1]

    return h(r, r2) + h(r, [r[1], r[0]])


def in_turn(a, b, n):
    if n == 0:
        return np.sum(a * b)
    a[n] = b[n - 1] * a[n]
    return in_turn(b, a, n - 1) * 1.5


def handed_on_in_a_recursion(x):
    y = x.copy()
    return in_turn(y, y, 2)


def an_array_and_a_list(x):
    c = list(x)
    y = x * 1.0

    def h(a, b):
        a[0] = b[1] * 2
        b.append(a[0])
        return a[1] * b[-1]

    return h(y, c) + sum(c)


def writes_by_another_name(a, b):
    q = a
    a = b * b
    q[1] = 1.04
    return a


def a_parameter_that_is_bound_anew(x):
    y = x.copy()
    return np.sum(writes_by_another_name(y, y) * y)


def writes_a_view_of_its_own(a, b, turned):
    if turned:
        a = a[::-1]
    c = b * b
    a[0] = 1.04
    return c


def a_parameter_that_may_be_bound_anew(x):
    y = x.copy()
    first = writes_a_view_of_its_own(y, y, x[0] > 9.0)
    return np.sum(first * writes_a_view_of_its_own(y, y, x[0] < 9.0) * y)


PROGRAMS = [
    a_parameter_that_is_bound_anew,
    a_parameter_that_may_be_bound_anew,
    one_array_twice,
    views_that_overlap,
    views_that_overlap_the_other_way,
    an_array_turned_round,
    a_view_twice,
    one_dict_twice,
    one_object_twice,
    one_list_twice,
    swapped_within,
    lists_of_the_same_arrays,
    handed_on_in_a_recursion,
    an_array_and_a_list,
]
X, D = np.array([0.7, 0.4, 1.2]), np.array([0.3, -0.5, 0.8])


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_both_modes(f):
    slopes = np.array([(f(X + e) - f(X - e)) / 2e-6 for e in np.eye(3) * 1e-6])
    np.testing.assert_allclose(s2sad.grad(f)(X), slopes, rtol=1e-7, atol=1e-8)
    assert s2sad.jvp(f, (X,), (D,))[1] == pytest.approx(slopes @ D, rel=1e-7)
    _, pullback = s2sad.vjp(f, X)
    for _ in range(2):
        np.testing.assert_allclose(pullback(1.0), slopes, rtol=1e-7, atol=1e-8)
