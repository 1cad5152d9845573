"""The iterator `A.flat`, and np.unstack: arrays and lists in their place, where nobody can tell."""

import math

import numpy as np
import pytest
from slopes import check

import s2sad

A = np.array([[0.7, -1.2, 0.4], [0.9, 0.3, 1.6]])
W = np.arange(1.0, 7.0)
FIXED = np.sin(A)


def square(v):
    return v * v


def spoil(B, v):
    B[0, 0] = v * B[1, 1]


def made_an_array(A):
    return np.sum(np.array(A.flat) ** 2 * W) + np.sum(np.array(A.T.flat, dtype=float) ** 3 * W)


def reduced(A):
    whole = sum(A.flat) + max(A.flat) ** 2 + math.fsum(A.T.flat) * np.prod(A.flat)
    return whole + sorted(A.flat)[2] * len(A.flat) + np.dot(A.flat, A.T.flat)


def looped_over(A):
    s = 0.0
    for v in A[:, ::2].flat:
        s += v * math.sin(v)
    return s * sum(square(v) for v in A.T.flat)


def counted(A):
    out = np.zeros(6)
    for i, v in enumerate(A.T.flat):
        out[i] = square(v * v) * v
    s = 0.0
    for a, b in zip(A.flat, A.T.flat):
        s += a * square(b)
    return np.sum(out * out * W) + s


def over_constants(A):
    y = np.empty(6)
    s = 0.0
    for i, v in enumerate(FIXED.T.flat):
        y[i] = v * A[0, 0] ** 2
    for i, v in enumerate(FIXED.flat):
        s += v * A.flat[i] ** 2
    for v, w in zip(FIXED.flat, W):
        s += v * w * A[0, 1] ** 2
    return np.sum(y * y) + s


def left_early(A):
    s = 0.0
    for v in A.flat:
        if v > 1.0:
            break
        s += v * v
    return s


def rebound_within(A):
    s = 0.0
    for v in A.flat:
        A = A * 1.5
        s += v * A[0, 0]
    return s


@pytest.mark.parametrize("view", [lambda B: B, lambda B: B.T, lambda B: B[:, ::2]])
def test_what_is_written_on_the_way_is_read(view):
    def f(A):
        B = A * 2.0
        C = view(B)
        s = 0.0
        for v in C.flat:
            B[1, 2] = B[1, 2] + v * v
            s += v * B[0, 0]
        return s

    def by_a_function(A):
        B = A * 2.0
        s = 0.0
        for v in view(B).flat:
            spoil(B, v)
            s += v * v
        return s

    def by_an_inner_function(A):
        B = A * 2.0
        C = view(B)

        def put(v):
            B[1, 2] = v * v

        s = 0.0
        for v in C.flat:
            put(v)
            s += v * v
        return s

    def all_of_it(A):
        B = A * 2.0
        s = 0.0
        for v in view(B).flat:
            B *= 1.1
            s += v * v
        return s

    for program in (f, by_a_function, by_an_inner_function, all_of_it):
        check(program, A)


def unpacked(A):
    a, b = np.unstack(A)
    c, d, e = np.unstack(A, axis=-1)
    return np.sum(a * b) + np.sum(c * d * e)


def stacked_again(A):
    parts = np.unstack(A, axis=1)
    return np.sum(np.stack(parts) ** 2) * np.sum(parts[0] * parts[1]) + len(parts)


def looped_over_parts(A):
    return sum(a @ a * a[0] for a in np.unstack(A * A)) + sum(np.unstack(A[0] * A[1]))


def views_of_parts(A):
    B = A * 2.0
    first, second = np.unstack(B)
    first[:] = second * second
    columns = np.unstack(B, axis=1)
    columns[0][:] *= columns[1]
    return np.sum(B**3)


def tuple_of_rows(A):
    B = A * 2.0
    a, b = tuple(B)
    a[1:] = b[1:] * a[0]
    return np.sum(B**3)


PROGRAMS = [
    *(made_an_array, reduced, looped_over, counted, left_early, rebound_within),
    over_constants,
    *(unpacked, stacked_again, looped_over_parts, views_of_parts, tuple_of_rows),
]
PROGRAMS = [f for f in PROGRAMS if hasattr(np, "unstack") or "unstack" not in f.__code__.co_names]


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_program(fn):
    check(fn, A)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_program_twice(fn):
    along = np.cos(A)
    ends = [s2sad.grad(fn)(A + h * along) for h in (1e-6, -1e-6)]
    moved = s2sad.hvp(fn, (A,), (along,))
    assert moved == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5, abs=1e-6)


def test_a_ravelled_array_stands_in_the_text():
    text = s2sad.grad(lambda A: np.sum(np.array(A.flat) ** 2)).source(A)
    assert "A.ravel()" in text


def counted_while_written(A):
    B = A * 2.0
    s = 0.0
    for i, v in enumerate(B.flat):
        spoil(B, v)
        s += i * v
    return s


def kept(A):
    it = A.flat
    return sum(v * v for v in it)


def memory_of_both(A):
    return np.sum(np.asarray(A.flat) ** 2)


@pytest.mark.parametrize("fn", [counted_while_written, kept, memory_of_both])
def test_what_reads_as_it_is_asked_is_refused(fn):
    with pytest.raises(s2sad.UnsupportedError, match="flat") as caught:
        s2sad.grad(fn)(A)
    assert "A.ravel()" in caught.value.remedy
