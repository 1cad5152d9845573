"""Lengths that values decide: the same value gives the same length, another value another one."""

import numpy as np
import pytest
import slopes

import s2sad

X = np.array([0.7, -1.3, 0.4, 0.9])
FIRST = np.array([True, False, False, False])


def two_numbers(x, n):
    m = 2 * n - 1
    k = 3 * n
    u = x[:m]
    v = x[:k]
    return np.sum((u * v) ** 2)


def a_number_bound_anew(x, n):
    m = 2 * n - 1
    u = x[:m]
    m = 3 * m
    v = x[:m]
    return np.sum((u * v) ** 2)


def bound_on_one_path(x, n):
    m = 2 * n - 1
    u = x[:m]
    if n == 1:
        m = 4 * n - 1
    v = x[:m]
    return np.sum((u * v) ** 2)


def bound_in_a_loop(x, n):
    m = 2 * n - 1
    u = x[:m]
    for i in range(n + 1):
        m = m + i
    v = x[:m]
    return np.sum((u * v) ** 2)


@pytest.mark.parametrize(
    "f", [two_numbers, a_number_bound_anew, bound_on_one_path, bound_in_a_loop]
)
def test_slices_by_two_values(f):
    slopes.check(f, X, 1, constant=(1,))


def a_mask_bound_anew(x, mask):
    u = np.compress(mask, x)
    mask = ~mask
    v = np.compress(mask, x)
    return np.sum((u * v) ** 2)


def a_mask_written(x, mask):
    mask = mask.copy()
    u = x[mask]
    mask[:3] = True
    v = x[mask]
    return np.sum((u * v) ** 2)


def a_mask_written_through_a_view(x, mask):
    mask = mask.copy()
    view = mask[1:]
    u = x[mask]
    view[:2] = True
    v = x[mask]
    return np.sum((u * v) ** 2)


def a_mask_changed_by_a_call(x, mask):
    mask = mask.copy()
    u = x[mask]
    fill(mask)
    v = x[mask]
    return np.sum((u * v) ** 2)


def fill(mask):
    mask[:3] = True


def a_mask_inverted_in_place(x, mask):
    mask = mask.copy()
    u = x[mask]
    mask ^= True
    v = x[mask]
    return np.sum((u * v) ** 2)


@pytest.mark.parametrize(
    "f",
    [
        a_mask_bound_anew,
        a_mask_written,
        a_mask_written_through_a_view,
        a_mask_changed_by_a_call,
        a_mask_inverted_in_place,
    ],
)
def test_two_contents_of_a_mask(f):
    slopes.check(f, X, FIRST, constant=(1,))


def one_number(x, y, n):
    m = 2 * n - 1
    u = x[:m]
    v = y[:m]
    return np.sum((u[1:] * v[1:]) ** 2) + np.sum(u * x[:m])


def one_mask(x, mask):
    u = x[mask]
    return np.sum((u * np.sin(x[mask])) ** 2)


def test_one_value_gives_one_length():
    assert "unbroadcast" not in s2sad.grad(one_mask).source(X, FIRST)
    slopes.check(one_mask, X, FIRST, constant=(1,))
    slopes.check(one_number, X, X + 1.0, 2, constant=(2,))


A = np.linspace(0.15, 0.95, 9)


def a_bound_without_axes(a):
    b = np.array(1)
    x = a[:b]
    b[...] = 3
    return np.sum(np.exp(x * a[:b]))


def a_bound_added_to_in_place(a):
    b = np.array(1)
    c = b
    x = a[:b]
    c += 2
    return np.sum(np.exp(x * a[:b]))


def a_mask_as_out(a):
    m = a > 0.9
    every = np.array([False] + [True] * 8)
    x = a[m]
    np.logical_and(every, every, out=m)
    return np.sum(np.exp(x * a[m]))


def a_mask_as_out_of_what_is_bound(a):
    m = a > 0.9
    every = np.array([False] + [True] * 8)
    x = a[m]
    n = np.logical_and(every, every, out=m)
    return np.sum(np.exp(x * a[m]) * a[n])


def repeated(a):
    n = 3
    x = np.repeat(a[:1], n)
    n = 1
    return np.sum(np.exp(x * np.repeat(a[:1], n)))


@pytest.mark.parametrize(
    "f",
    [
        a_bound_without_axes,
        a_bound_added_to_in_place,
        a_mask_as_out,
        a_mask_as_out_of_what_is_bound,
        repeated,
    ],
)
def test_what_counts_is_written(f):
    slopes.check(f, A)


def first_of(y):
    return y[:1]


def in_a_loop(x, y):
    total = x * 1.0
    for _ in range(2):
        total = total * y[:1]
    return np.sum(total)


def in_a_list(x, y):
    return sum(np.sum(x * v[:1]) for v in [y, y * 2.0])


OF_WHAT_MAY_BE_EMPTY = {
    "an argument": lambda x, y: np.sum(np.max(x * y[:1], axis=0)),
    "the last": lambda x, y: np.sum(x * y[-1:]),
    "behind a cut": lambda x, y: np.sum(x + y[1:][:1]),
    "what is made of it": lambda x, y: np.sum(np.hypot(x, np.sin(y)[:1])),
    "in a call": lambda x, y: np.sum(x * first_of(y)),
    "sorted": lambda x, y: np.sum(x * np.sort(y)[-1:]),
    "another axis": lambda x, y: np.sum(x * y[None, :][:, :1]),
    "in a loop": in_a_loop,
    "in a list": in_a_list,
    "dropped": lambda x, y: np.sum(np.squeeze(x[:, :1], axis=1) * np.sum(y[:1])),
}


@pytest.mark.parametrize("what", OF_WHAT_MAY_BE_EMPTY)
def test_a_slice_of_one_element_has_none_where_an_argument_is_empty(what):
    f = OF_WHAT_MAY_BE_EMPTY[what]
    derivative = s2sad.grad(f, wrt=(0, 1))
    x = np.array([[0.7], [1.3]])
    for y in (np.array([0.4, 0.9]), np.zeros(0), np.array([0.4]), np.zeros(0), np.arange(3.0)):
        over_x, over_y = derivative(x, y)
        assert np.shape(over_x) == x.shape and np.shape(over_y) == y.shape
        h = 1e-6
        along = (f(x + h, y + h) - f(x - h, y - h)) / (2 * h)
        assert np.sum(over_x) + np.sum(over_y) == pytest.approx(along, rel=1e-5, abs=1e-8)
        value, tangent = s2sad.jvp(f, (x, y), (np.ones_like(x), np.ones_like(y)))
        assert value == f(x, y)
        assert tangent == pytest.approx(along, rel=1e-5, abs=1e-8)
