"""Programs that write arrays in the structures that they are given.

Each is checked by tests/test_writes_containers.py, and by tests/test_autodiff_structures.py where
the structures have shadows.
"""

from collections import namedtuple

import numpy as np

PROGRAMS = []


def prog(*args):
    def deco(f):
        PROGRAMS.append((f, args))
        return f

    return deco


X = np.array([0.7, 1.3, -0.4])
_generator = np.random.default_rng(11)


def r(*shape):
    return 0.5 * _generator.standard_normal(shape)


Pair = namedtuple("Pair", "A b")


# tuples


@prog((r(2, 3), r(3)), X)
def tuple_unpacked(p, x):
    A, b = p
    A[0] *= x
    b += A[0] * A[1]
    return np.sum(b * b)


@prog((r(2, 3), r(3), 1.5), X)
def tuple_with_a_number(p, x):
    A, b, s = p
    A[0] *= x
    b += A[0] * A[1] * s
    return np.sum(b * b) * s


@prog((r(2, 3), r(3)), X)
def tuple_by_index(p, x):
    A = p[0]
    A[0] *= x
    p[1][:] += A[0] * A[1]
    return np.sum(p[1] ** 2)


@prog(Pair(r(2, 3), r(3)), X)
def named_tuple(p, x):
    p.A[0] *= x
    p.b[:] += p.A[0] * p.A[1]
    return np.sum(p.b**2) * np.sum(p.A)


@prog((0.7, r(3, 3)), X)
def tuple_number_bound_anew(p, x):
    s, A = p
    A *= s
    if x[0] > 0.0:
        s = s * A[0, 0]
    return np.sum(A * A) * s


@prog((r(2, 3), r(3)), X)
def tuple_rows(p, x):
    A, b = p
    for row in A:
        row *= x
        b += row * b
    A = A * 2.0
    return np.sum(b * b) + np.sum(A[0] * p[0][1])
