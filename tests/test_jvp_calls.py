"""Tangents of arrays that a called function writes, whatever becomes of what it returns."""

import numpy as np
import pytest

from s2sad import hvp, jvp

A = np.array([1.0, 2.0, 0.5, 0.7])
ALONG = np.array([0.3, -1.0, 0.5, 2.0])


def counts(A):
    A[0] = A[1] ** 2
    return 3


def reads(A):
    A[0] = A[1] ** 2
    return A[2]


def notes(A):
    seen = []
    for _ in range(2):
        seen.append(A[0])
        A[0] = A[1] ** 2
    return seen


def both(A):
    A[0] = A[1] ** 2
    return A[2], 3


def again(A, n):
    if n > 0:
        A[0] = A[0] * A[1]
        return again(A, n - 1)
    return 0


def constant_result(A):
    A = A.copy()
    n = counts(A)
    return np.sum(A**2) * n


def unused_result(A):
    A = A.copy()
    n = reads(A)  # noqa: F841
    return np.sum(A**2)


def length_of_the_result(A):
    A = A.copy()
    seen = notes(A)
    s = np.sum(A**2)
    while seen:
        seen.pop()
        s = s * 1.1
    return s


def part_of_the_result(A):
    A = A.copy()
    _, n = both(A)
    return np.sum(A**2) * n


def in_an_index(A):
    A = A.copy()
    weights = [1.0, 2.0, 3.0, 4.0]
    return np.sum(A**2) * weights[counts(A)] + A[0]


def in_a_range(A):
    A = A.copy()
    for _ in range(counts(A)):
        A[1] = A[0] * A[2]
    return np.sum(A**2)


def calls_itself(A):
    A = A.copy()
    n = again(A, 3)
    return np.sum(A**2) + n


PROGRAMS = [
    constant_result,
    unused_result,
    length_of_the_result,
    part_of_the_result,
    in_an_index,
    in_a_range,
    calls_itself,
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_what_is_written_moves(f):
    step = 1e-6 * ALONG
    wanted = (f(A + step) - f(A - step)) / 2e-6
    assert jvp(f, (A,), (ALONG,))[1] == pytest.approx(wanted, rel=1e-7)


def steps(A, B):
    for _ in range(2):
        B[1:-1] = A[:-2]
        A[1:-1] = B[:-2]


def stepped(A, B):
    A, B = A.copy(), B.copy()
    steps(A, B)
    return np.sum(np.sin(A))


def test_what_is_kept_for_a_reverse_is_no_reason_to_forget_tangents():
    B = 1.3 * A[::-1]
    product = hvp(stepped, (A, B), (ALONG, None))
    inside = jvp(lambda p: hvp(stepped, (p, B), (ALONG, None)), (A,), (ALONG,))[0]
    assert inside == pytest.approx(product, rel=1e-12)
