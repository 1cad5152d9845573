"""Tangents of arrays that a called function writes, whatever becomes of what it returns."""

import numpy as np
import pytest

from s2sad import hvp, jvp, source

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


# --- views that a called function gives, and the caller writes -----------------------------------


def flat(A):
    return A.reshape(-1)


def flat_below(A):
    return flat(A)


def turned(A):
    B = A.T
    return B.reshape(4, 4)


def diagonal(A):
    return np.einsum("ii->i", A)


def real(A):
    return np.asarray(np.real(A))


def in_parts(A):
    return np.ravel(A), [np.asarray(A)], {"rows": A.reshape(8, 2)}


def sometimes(A, c):
    return A.reshape(-1) if c else A.ravel() * 2.0


def below(A, n):
    return A.reshape(-1) if n == 0 else below(A, n - 1)


class Grid:
    def __init__(self, A):
        self.A = A
        self.cells = A.reshape(-1)

    def numbered(self):
        return self.A.reshape(-1)

    @property
    def flat(self):
        return self.A.reshape(-1)


def writes_the_view(x):
    A = np.outer(x, x)
    for view in (flat, flat_below, diagonal):
        v = view(A)
        v[1:3] *= x[0]
    for view in (turned, real):
        w = view(A)
        w[2] += w[1] * x[0]
    return np.sum(np.sin(A))


def writes_what_is_viewed(x):
    A = np.outer(x, x)
    v, w = flat_below(A), turned(A)
    A[1] *= x
    return np.sum(v * np.arange(16.0)) + np.sum(np.sin(w))


def writes_parts(x):
    A = np.outer(x, x)
    ravelled, listed, named = in_parts(A)
    ravelled[1:5] *= x[0]
    listed[0][2] += x
    named["rows"][3] *= x[1]
    return np.sum(A**3)


def writes_before_it_is_active(x):
    A = np.zeros((4, 4))
    v, w = flat(A), turned(A)
    v[:4] = x
    w[3] += x * x
    return np.sum(np.sin(A))


def writes_one_of_two(x):
    A = np.outer(x, x)
    v, w = sometimes(A, x[0] > 0.0), sometimes(A, x[0] < 0.0)
    v[2:6] *= x[0]
    w *= x[1]
    return np.sum(A**2) + np.sum(np.sin(w))


def writes_deep(x):
    A = np.outer(x, x)

    def captured():
        return A.reshape(-1)

    captured()[1:3] *= x[0]
    below(A, 2)[4:7] *= x[1]
    return np.sum(A**2)


def writes_of_objects(x):
    grid = Grid(np.outer(x, x))
    grid.cells[1:3] *= x[0]
    grid.numbered()[4:6] *= x[1]
    grid.flat[7:9] *= x[2]
    return np.sum(grid.A**2)


VIEWED = [
    writes_the_view,
    writes_what_is_viewed,
    writes_parts,
    writes_before_it_is_active,
    writes_one_of_two,
    writes_deep,
    writes_of_objects,
]


@pytest.mark.parametrize("f", VIEWED)
def test_what_is_written_through_a_view_moves(f):
    step = 1e-6 * ALONG
    wanted = (f(A + step) - f(A - step)) / 2e-6
    assert jvp(f, (A,), (ALONG,))[1] == pytest.approx(wanted, rel=1e-7)


def test_views_that_nobody_writes_have_tangents_of_their_own():
    def read(x):
        B = np.outer(x, x)
        return np.sum(np.sin(flat(B)))

    assert "same_view" not in source(read, mode="jvp", args=(A,))
