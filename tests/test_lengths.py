"""Two lengths are the same only where the program makes them so: in calls, loops and branches."""

import numpy as np
import pytest
from slopes import check

import s2sad

A = np.linspace(0.15, 0.95, 9)
B = np.array([0.3, 0.5, 0.2])
X = np.array([0.1, 0.5, 0.2])
W = np.ones(3)


def inside(v):
    return v[1:-1] * 1.0


def two_calls(a, b):
    return np.sum(np.exp(inside(a) * inside(b)))


def shortened(v, n):
    return v if n == 0 else shortened(v[1:] * 1.0, n - 1)


def recursion(a):
    return np.sum(np.exp(shortened(a, 3) * shortened(a, 8)))


def weighed(x):
    return x[:3] * W


def global_of_the_same_name(x, W):
    return np.sum(np.exp(weighed(x) * W))


def closures(a, b):
    def part(v):
        return v[1:-1] * a[0]

    return np.sum(np.exp(part(a) * part(b)))


def masks(a):
    return np.sum(np.exp(a[a > 0.5] * a[a > 0.9]))


def computed_bounds(a):
    n, m = int(a[0] * 10), int(a[8] * 10)
    return np.sum(np.exp(a[:n] * a[:m])) + np.sum(np.ones(n) * a[:1] * np.ones(m))


def bounds_bound_anew(a):
    n = 1
    x = a[:n]
    n = n + 2
    return np.sum(np.exp(x * a[:n]))


def masks_written(a):
    m = a > 0.5
    x = a[m]
    m[:-1] = False
    return np.sum(np.exp(x * a[m]))


def masks_written_by_calls(a):
    m = a > 0.5
    x = a[m]
    unset(m)
    return np.sum(np.exp(x * a[m]))


def unset(m):
    m[:-1] = False


def a_round_ago(a):
    s = 0.0
    for i in range(1, 5):
        x = a[:i]
        if i == 2:
            s = s + np.sum(np.exp(x * last))  # noqa: F821
        last = x  # noqa: F841
    return s


def shrinking(a, c):
    if c > 0:
        r = a[:3]
    else:
        r = a[:2]
    u = r
    s = 0.0
    for _ in range(2):
        s = s + np.sum(np.exp(u * r))
        u = u[1:]
    return s


def swapped(a):
    x, y, z = a[:3], a[:1], a[:3]
    s = 0.0
    for _ in range(3):
        s = s + np.sum(np.exp(x * z))
        x, y = y, x
    return s


def one_arm_slices(a, c):
    n = 1
    if c > 0:
        x = a[:n]
        n = 3
    else:
        x = a[:n]
    return np.sum(np.exp(x * a[:n]))


def slices_in_a_loop(a):
    x = a[:1]
    s = 0.0
    for n in range(1, 3):
        s = s + np.sum(np.exp(x * a[:n]))
        x = a[:n]
    return s


def counted(x):
    i = np.flatnonzero(np.maximum(x - 0.4, 0))
    (j,) = np.nonzero(np.maximum(x - 0.4, 0))
    return np.sum(np.exp(x[i] * x)) + np.sum(np.exp(x[j] * x))


def ranges(x):
    y = np.arange(0.0, x, 0.1) * x
    z = np.arange(0.0, 1.0, 0.1) * x
    return np.sum(np.exp(y * z))


def the_longer_one(x, y):
    return np.sum(np.convolve(x, y, mode="same"))


@pytest.mark.parametrize(
    "f, args, constant",
    [
        (two_calls, (A, B), ()),
        (two_calls, (B, A), ()),
        (recursion, (A,), ()),
        (global_of_the_same_name, (A, np.array([0.5])), ()),
        (closures, (A, B), ()),
        (masks, (A,), ()),
        (computed_bounds, (A,), ()),
        (bounds_bound_anew, (A,), ()),
        (masks_written, (A,), ()),
        (masks_written_by_calls, (A,), ()),
        (a_round_ago, (A,), ()),
        (shrinking, (A, -1.0), (1,)),
        (swapped, (A,), ()),
        (one_arm_slices, (A, 1.0), (1,)),
        (slices_in_a_loop, (A,), ()),
        (counted, (X,), ()),
        (ranges, (0.05,), ()),
        (the_longer_one, (A, B), ()),
        (the_longer_one, (B, A), ()),
    ],
)
def test_gradient(f, args, constant):
    check(f, *args, constant=constant)


def test_what_a_call_returns_is_known_to_be_as_long_as_what_it_is_given():
    import s2sad

    def scaled(v, c):
        return v * c

    def f(x):
        return np.sum(scaled(x, 2.0) * x)

    assert "unbroadcast" not in s2sad.source(f, args=(X[:, None],))


def several_lengths_said(x):
    rows = np.zeros((5, 5))
    rows[0, :] = np.interp(np.linspace(0, 1, 5), np.linspace(0, 1, 4), x)
    return np.sum(rows**2) + np.sum(np.linspace(0, 1, 6)[:4] * x)


def test_one_of_several_lengths_that_are_said():
    check(several_lengths_said, np.array([0.3, 1.2, 2.2, 0.7]))


# --- lengths that change from round to round, or from path to path --------------------------------


def tree_of_values(x):
    values, prices = x * x, x * 3.0
    for _ in range(len(x) - 1):
        values = np.maximum(0.4 * values[:-1] + 0.5 * values[1:], 1.0 - prices[:-1])
        prices = prices[:-1] * x[0]
    return values[0] * prices[0]


def lengths_that_part(x):
    a, b = x * 2.0, x * x
    for _ in range(3):
        b = a[:1] * b
        a = a[:-1] + b[-1]
    return np.sum(a) * np.sum(a * b)


def one_that_is_cut(x):
    a, b = x[:1], x[1:2]
    for k in range(3):
        a = a * b * x[: k + 1][-1:]
        b = x[k] + x[:1] * b
        s = np.sum(a * b)
        b = b[: 1 + k % 2]
    return s * np.sum(a)


def cut_in_no_round(x):
    a, b = x * 2.0, x * x
    for _ in range(len(x) - 4):
        a, b = a[1:], b[:-1] * a[:-1]
    return np.sum(a * b)


def lengths_that_are_exchanged(x):
    a, b = x * 1.0, x[:1] * 2.0
    for k in range(3):
        a, b = b * x[k], a * np.sum(b)
        s = np.sum(a * b)
    return s * np.sum(a * b)


def two_of_one_length_on_both_paths(x):
    if x[0] > 0.2:
        a, b = x[1:], x[:-1] * 2.0
    else:
        a, b = x, x * x
    c = x[:1] if x[1] > 0.0 else x[1:]
    return np.sum(np.maximum(a * b, a)) * np.sum(a * c)


def cut_while_there_is_something(x):
    a, b, n = x * 1.0, x * 2.0, 0
    while len(a) > 1:
        a, b = a[:-1] * b[1:], b[1:] + a[:-1]
        n += 1
        if n > 2:
            break
    return np.sum(a * b) * np.sum(b)


CHANGING = [
    tree_of_values,
    lengths_that_part,
    one_that_is_cut,
    cut_in_no_round,
    lengths_that_are_exchanged,
    two_of_one_length_on_both_paths,
    cut_while_there_is_something,
]


@pytest.mark.parametrize("f", CHANGING, ids=lambda f: f.__name__)
def test_lengths_that_change(f):
    x = np.array([0.3, 0.7, 1.1, 0.2])
    h = 1e-6
    found = [(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(4)]
    np.testing.assert_allclose(s2sad.grad(f)(x), found, rtol=1e-6, atol=1e-8)


def test_two_that_are_cut_alike_are_as_long():
    text = s2sad.grad(tree_of_values).source(np.ones(4))
    assert "unbroadcast" not in text
