"""What is cheap to have again is not kept, where all it is made of is what it was."""

import numpy as np
import pytest
from slopes import check

X = np.array([0.7, -0.4, 1.1, 0.3, -0.9])
A = np.array([[1.1, 0.4, -0.3], [0.2, 0.9, 0.5], [-0.6, 0.3, 1.2]])


def stencil(x, n):
    """One array is kept a round, not the two sums that are made of it."""
    v = np.zeros(len(x) - 1)
    for _ in range(n):
        w = np.sin(x)
        v += v * (w[1:] + w[:-1]) + (w[1:] - w[:-1]) ** 3
        x = 0.9 * w
    return np.sum(v)


def substitution(a, x):
    """Elements and rows of what is put back anyway."""
    x = x[:3].copy()
    for i in range(3):
        x[i] = (x[i] - a[i, :i] @ x[:i]) / a[i, i]
    return np.sum(x**2)


def elimination(a):
    a = a.copy()
    for k in range(3):
        for i in range(k + 1, 3):
            a[i, k] /= a[k, k]
            a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]
    return np.sum(a * a)


def limited(x, n):
    """The larger and the smaller of numbers of which one is kept anyway."""
    h = 0.3
    for _ in range(n):
        size = np.sum(x * x)
        longest = max(size, 0.2)
        h = h * min(0.9, 0.4 * longest) ** 2 + 0.2 / longest
        x = np.sin(x) * h
    return np.sum(x)


MADE_AGAIN = [
    (stencil, (X, 3)),
    (substitution, (A, X)),
    (elimination, (A,)),
    (limited, (X, 3)),
]


@pytest.mark.parametrize(("fn", "args"), MADE_AGAIN)
def test_gradient_of_what_could_be_made_again(fn, args):
    check(fn, *args, constant=tuple(i for i, a in enumerate(args) if isinstance(a, int)))


def between(x, n):
    """The part is overwritten between where it is read and where it is wanted."""
    y = x.copy()
    for _ in range(n):
        t = y[1:] + y[:-1]
        y[0] = y[1] * y[2]
        y[1:] *= 1.0 + t * t
        y *= 0.3 + y
    return np.sum(y)


def linear_writes(x, n):
    """No old content of u is wanted otherwise: to have a part of it again takes as much."""
    u = x.copy()
    s = 0.0
    for _ in range(n):
        u[1:-1] -= 0.1 * (x[2:] - x[:-2])
        t = 0.5 * u[1:-1]
        s += np.sum(t * t * x[1:-1])
    return s


def rows(a, n):
    """A row of a loop, whose binding the backward sweep has no other use for."""
    s = 0.0
    for _ in range(n):
        for row in a:
            d = row[1:] - row[:-1]
            s = s + np.sum(d * d) * s + np.sum(d**3)
            s = s * 0.9
    return s


def own_index(x, n):
    """The index goes on between."""
    y = x.copy()
    i = 0
    s = 1.0
    for _ in range(n):
        p = y[i]
        i = i + 1
        s = s * p * y[i]
        y[i] = s
    return s + np.sum(y * y)


def view_before(x, n):
    """A view taken before the array is changed through another name."""
    y = x.copy()
    z = y[1:4]
    for _ in range(n):
        t = z * y[2:]
        y *= 0.5 + x
        y[2:] += t * t
        z[0] = t[1] * z[2]
    return np.sum(y * y)


def rebound(x, n):
    """What it is made of is another value by then."""
    s = 0.0
    for i in range(n):
        t = x[1:] * x[:-1]
        x = x * (1.0 + np.sum(t)) / (2.0 + i)
        s = s + np.sum(t * t) * x[0]
    return s


def branches(x, n):
    s = 0.0
    for i in range(n):
        t = x[1:] - x[:-1]
        if i % 2:
            x = np.sin(x)
            s = s + np.sum(t * t * t)
        else:
            x = x * x[i]
            s = s + np.sum(t * x[1:])
    return s


def leaves(x, n):
    y = x.copy()
    s = 1.0
    for i in range(n):
        t = y[1:] + y[:-1]
        s = s * np.sum(t * t)
        if s > 1e3:
            break
        y[i] = s * y[i + 1]
        s = s + np.sum(t * y[1:])
    return s


NOT_WHAT_IT_WAS = [
    *((f, (X, 3), (1,)) for f in (between, linear_writes, own_index, view_before, rebound)),
    *((f, (X, 4), (1,)) for f in (branches, leaves)),
    (rows, (A, 2), (1,)),
]


@pytest.mark.parametrize(("fn", "args", "constant"), NOT_WHAT_IT_WAS)
def test_gradient(fn, args, constant):
    check(fn, *args, constant=constant)
