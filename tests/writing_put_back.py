"""Programs whose calls write twice: their reverses put back what was there between the writes.

Each is checked by tests/test_writes_calls.py and tests/test_autodiff.py.
"""

import numpy as np

PROGRAMS = []


def prog(*args):
    def deco(f):
        PROGRAMS.append((f, args))
        return f

    return deco


_generator = np.random.default_rng(9)


def r(*shape):
    return _generator.standard_normal(shape)


def folded(u):
    u[:] = u * u
    u[:] = np.sin(u)


def chained(u, v):
    u *= v
    u[1:] *= u[:-1].copy()
    u[:] = np.sin(u)


@prog(r(4), r(4))
def read_between(u, w):
    folded(u)
    a = np.sum(u * w)
    folded(u)
    return a * np.sum(u)


@prog(r(4), r(4), r(4))
def three_arrays(u, w, z):
    z = z * u
    chained(u, z)
    y = u * w
    folded(u)
    return np.sum(y * z) + u @ z


@prog(r(4), r(4))
def through_a_view(u, w):
    v = u[1:3]
    folded(v)
    y = u * w
    chained(u, w)
    return y @ u * w[0]


def with_result(u, w):
    folded(u)
    return u * w


@prog(r(4), r(4))
def result_after_the_write(u, w):
    y = with_result(u, w)
    z = with_result(u, y)
    return np.sum(y * z * u)


def halves(u):
    n = len(u)
    if n > 1:
        u[: n // 2] *= u[n // 2 :][: n // 2]
        halves(u[: n // 2])
        u[:] = np.sin(u)


@prog(r(8), r(8))
@prog(r(5), r(5))
@prog(r(1), r(1))
def recursion(u, w):
    halves(u)
    y = u * w
    halves(u)
    return u @ y


@prog(r(3, 4), r(4))
def row_by_row(A, w):
    for row in A:
        folded(row)
    y = A @ w
    for row in A:
        chained(row, w)
    return np.sum(y * A[:, 0])


def relax(u, f, work):
    work[:] = u
    work[1:-1] = 0.5 * (u[:-2] + u[2:] - f[1:-1])
    u[:] = 0.3 * u + 0.7 * work
    return work


def cycle(u, f, level):
    work = np.zeros_like(u)
    relax(u, f, work)
    if level > 0:
        residual = f.copy()
        residual[1:-1] -= u[:-2] - 2 * u[1:-1] + u[2:]
        coarse = np.zeros_like(residual[::2])
        cycle(coarse, residual[::2].copy(), level - 1)
        e = np.zeros_like(u)
        e[::2] = coarse
        e[1::2] = 0.5 * (coarse[:-1] + coarse[1:])
        u += e
    relax(u, f, work)


@prog(r(9), r(9))
def multigrid(u, f):
    cycle(u, f, 2)
    return np.sum(u**2)


def running(a):
    made = a * 1.0
    for i in range(1, len(a)):
        made[i] = made[i - 1] * made[i]
    return made


def running_rows(a):
    return running(a)[1:]


@prog(r(4), r(4))
def result_read_beside_the_call(x, w):
    return np.sum(running(np.outer(x, w)) * x)


@prog(r(4), r(4))
def results_of_two_calls(x, w):
    return np.sum(running(np.outer(x, w)) * running(np.outer(w, np.sin(x))).T)


@prog(r(4), r(4))
def part_of_a_result_of_a_call(x, w):
    return np.sum((running_rows(np.outer(x, w)) * x).T * x[1:])


@prog(r(4), r(4))
def result_in_a_table(x, w):
    return np.sum([a * x for a in ({"a": running(np.outer(x, w))}["a"],)][0])
