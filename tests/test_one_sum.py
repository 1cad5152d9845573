"""What is only added to an array is added to it at once, where nobody can tell (ir/one_sum.py)."""

import numpy as np
import pytest
import slopes

import s2sad

X = np.array([0.7, -1.2, 0.4, 1.9, -0.3])


def stencil(x):
    u = x.copy()
    for _ in range(3):
        old = u.copy()
        u[1:-1] = old[1:-1] + 0.1 * (old[2:] - 2.0 * old[1:-1] + old[:-2])
        u[0] = u[1]
    return np.sum(u * u)


def copied_twice(x):
    a = x.copy()
    b = x.copy()
    a[1:] = a[1:] * b[:-1]
    b[0] = a[2] * 3.0
    return np.sum(a * b)


def source_read_behind(x):
    u = x * 1.0
    old = u.copy()
    u[0] = old[1] * u[2]
    u[1] = u[0] * old[3]
    return np.sum(u * u) + old[2]


def copied_in_a_branch(x):
    u = x * 1.0
    if x[0] > 0.0:
        old = u.copy()
        u[1:] = old[:-1] * u[1:]
    else:
        old = 2.0 * u
        u[1:] = old[1:]
    return np.sum(u * old)


def copy_of_a_part(x):
    u = x * 1.0
    for k in range(2):
        old = u[1:].copy()
        u[1:] = old * u[k]
        u[:-1] += old * old
    return np.sum(u * u)


def copy_of_a_copy(x):
    u = x * 1.0
    for _ in range(2):
        old = u.copy()
        older = old.copy()
        u[1:] = old[:-1] * older[1:]
        u[0] = older[2] * old[3]
    return np.sum(u * u)


def copy_read_in_a_loop(x):
    u = x * 1.0
    old = u.copy()
    for k in range(1, len(x)):
        u[k] = old[k - 1] * u[k] + old[k]
    return np.sum(u * u)


def seen_through_a_view(x):
    u = x * 1.0
    part = u[1:4]
    old = u.copy()
    part[:] = old[:3] * part
    return np.sum(u * u) + np.sum(part)


def spread_over_rows(x):
    u = x * 1.0
    rows = np.zeros((2, 5))
    rows += u
    rows[0] *= x
    old = rows.copy()
    rows[1] = old[0] * old[1]
    return np.sum(rows * rows) + np.sum(u)


PROGRAMS = [stencil, copied_twice, source_read_behind, copied_in_a_branch, copy_of_a_part]
PROGRAMS += [copy_of_a_copy, copy_read_in_a_loop, seen_through_a_view, spread_over_rows]


@pytest.mark.parametrize("x", [X, -X], ids=["x", "-x"])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients(f, x):
    slopes.check(f, x)
    value, pullback = s2sad.vjp(f, x)
    assert value == pytest.approx(f(x))
    for _ in range(2):
        np.testing.assert_allclose(pullback(1.0), s2sad.grad(f)(x), rtol=1e-12)


def shifted(u, n):
    for _ in range(n):
        old = u.copy()
        u[1:-1] = 0.5 * (old[2:] + old[:-2])
        u[-1] = u[-2]
    return u


def calls_shifted(x, n):
    return np.sum(shifted(x * x, n) ** 2)


def test_nothing_is_kept_of_linear_stencils():
    """The sum goes into the caller's cotangent; the loop counts by its range, not by a tape."""
    text = s2sad.grad(calls_shifted).source(X, 3)
    reverse = text.partition("def shifted_reverse")[2].partition("\n\n\n")[0]
    assert "for _ in range(n):" in reverse
    assert "saved" not in text and "zeros" not in reverse and ".copy()" not in reverse
    slopes.check(calls_shifted, X, 3, constant=(1,))


@pytest.mark.parametrize("n", [0, 1, 4])
def test_pullbacks_of_linear_stencils(n):
    seed = np.array([1.0, -2.0, 0.5, 0.3, 2.0])
    columns = [shifted(e.copy(), n) for e in np.eye(5)]
    _, pullback = s2sad.vjp(shifted, X.copy(), n, wrt=0)
    for _ in range(2):
        np.testing.assert_allclose(pullback(seed), np.array(columns) @ seed, rtol=1e-12)
