"""Programs with slices as values, and loops over places and over what itertools gives."""

import itertools
import operator
from itertools import accumulate, chain, combinations, pairwise, product

import numpy as np

from tests.writing_lazy import A5, B5, A, B

PROGRAMS = []


def prog(*argsets):
    def deco(f):
        PROGRAMS.extend((f, args) for args in argsets)
        return f

    return deco


def two(f):
    return prog((A, B), (A5, B5))(f)


def square(f):
    return prog((np.outer(A, B) + 0.3, A), (np.outer(A5, B5) + 0.3, B5))(f)


def axis_slice(m, axis, i):
    idx = [slice(None)] * m.ndim
    idx[axis] = i
    return m[tuple(idx)]


def diff_axis(m, axis):
    a = (slice(None),) * axis + (slice(1, None),)
    b = (slice(None),) * axis + (slice(None, -1),)
    return m[a] - m[b]


def behind(m, axis):
    return m[(slice(None),) * axis + (slice(1, None),)]


def held_at_ends(z, axis, v):
    idx = [slice(None)] * z.ndim
    idx[axis] = 0
    z[tuple(idx)] = v
    idx[axis] = -1
    z[tuple(idx)] += v * 2


def doubled_behind(z, axis):
    idx = [slice(None)] * z.ndim
    idx[axis] = slice(1, None)
    z[tuple(idx)] *= 2.0


# slices


@two
def sl1(x, y):
    s = slice(1, None)
    return np.sum(x[s] * y[s])


@two
def sl2(x, y):
    z = x * y
    s = slice(0, 2)
    z[s] = z[s] ** 2
    return np.sum(z)


@square
def sl_idx(m, x):
    idx = [slice(None)] * m.ndim
    idx[1] = 0
    return np.sum(m[tuple(idx)] * x)


@square
def sl_idx2(m, x):
    r = 0.0
    for axis in range(m.ndim):
        lo = [slice(None)] * m.ndim
        hi = [slice(None)] * m.ndim
        lo[axis] = slice(None, -1)
        hi[axis] = slice(1, None)
        r += np.sum((m[tuple(hi)] - m[tuple(lo)]) ** 2)
    return r * x[0]


@square
def sl_tup(m, x):
    s = (slice(None), 0)
    t = (slice(1, None), slice(None, -1))
    return np.sum(m[s] * x) + np.sum(m[t] ** 2)


@square
def sl_w(m, x):
    z = m * m
    idx = [slice(None)] * 2
    idx[0] = slice(1, -1)
    z[tuple(idx)] = 0.5 * m[tuple(idx)]
    return np.sum(z) * x[0]


@two
def sl_var(x, y):
    s = 0.0
    for k in range(len(x) - 1):
        w = slice(k, k + 2)
        s += np.sum(x[w]) * np.sum(y[w] ** 2)
    return s


@square
def sl_helper(m, x):
    return np.sum(axis_slice(m, 1, 0) * x) + np.sum(axis_slice(m, 0, -1) * x)


@square
def sl_helper2(m, x):
    return np.sum(diff_axis(m, 0) ** 2) + np.sum(diff_axis(m, 1) ** 2) * x[0]


@square
def sl_ell(m, x):
    return np.sum(m[(Ellipsis, 0)] * x) + np.sum(m[(..., slice(1, None))])


@square
def sl_rows(m, x):
    n = len(x) - 1
    s = (slice(0, n), [0, 1])
    z = m * m
    z[s] *= z[s]
    return np.sum(z) * x[0] + np.sum(picked(m, (slice(0, n), 1)) ** 2)


def picked(m, index):
    return m[index]


INNER = slice(1, -1)


@square
def sl_outside(m, x):
    z = m * m
    y = z[INNER]
    y += x[0]
    return np.sum(z**2)


@square
def sl_either(m, x):
    z = m * m
    s = slice(0, 1) if x[0] > 0.5 else slice(1, 2)
    y = z[s]
    y *= 2.0
    return np.sum(z**2)


@square
def sl_backwards(m, x):
    z = m * m
    s = slice(None, None, -1) if x[0] > 0.5 else slice(None)
    y = z[s]
    y[0] = x
    return np.sum(z**3)


@square
def sl_overlap(m, x):
    z = m * m
    a = slice(1, None) if x[0] > 0.5 else slice(2, None)
    b = slice(None, -1) if x[0] > 0.5 else slice(None, -2)
    z[a] += z[b]
    return np.sum(z**2)


@square
def sl_bound_again(m, x):
    z, k = m * m, 0
    s = slice(k, 2)
    z[s] = z[s] ** 2
    k = 1
    s = slice(k, 3)
    z[s] *= z[s]
    return np.sum(z**2) + k * x[0]


@two
def sl_rounds(x, y):
    z, s = x * y, slice(0, 1)
    for k in range(len(x) - 1):
        z[s] *= x[k]
        s = slice(k, k + 2) if k % 2 else slice(0, k + 1)
        z[s] += z[s] ** 2
    return np.sum(z**2)


@square
def sl_neg(m, x):
    return np.sum(behind(m, -1) ** 2) + np.sum(behind(m, 1) ** 2) * x[0]


@square
def sl_neg_list(m, x):
    return np.sum(axis_slice(m, -1, 0) * x) + np.sum(axis_slice(m, -2, 1) * x)


@square
def sl_bc(m, x):
    z = m * m
    for axis in range(2):
        held_at_ends(z, axis, x[0] * x)
    return np.sum(z**2)


@square
def slice_doubled(m, x):
    z = m * m
    doubled_behind(z, 0)
    doubled_behind(z, 1)
    return np.sum(z**2)


@square
def sl_np_index(m, x):
    i = np.index_exp[1:, 0]
    return np.sum(m[i] ** 2)


@square
def sl_ix(m, x):
    s = np.s_[:, 0]
    z = m * 1.0
    z[s] = x
    return np.sum(z[np.s_[1:]] ** 2)


@square
def sl_stack(m, x):
    hs = []
    for d in range(2):
        f = [slice(None)] * 2
        b = [slice(None)] * 2
        f[d] = slice(2, None)
        b[d] = slice(None, -2)
        hs.append(np.sum((m[tuple(f)] - m[tuple(b)]) ** 2))
    return hs[0] * hs[1]


@square
def sl_newaxis(m, x):
    i = (slice(None), None)
    return np.sum((x[i] * m) ** 2)


# places and itertools


@square
def ndindex(m, x):
    s = 0.0
    for i, j in np.ndindex(*m.shape):
        s += m[i, j] ** 2 * x[i]
    return s


@square
def ndindex_t(m, x):
    s = 0.0
    for idx in np.ndindex(m.shape):
        s += m[idx] ** 2 * x[idx[0]]
    return s


@square
def ndindex_w(m, x):
    z = np.zeros(m.shape)
    for idx in np.ndindex(*z.shape):
        z[idx] = m[idx] * x[idx[1]]
    return np.sum(z * z)


@square
def ndenum(m, x):
    s = 0.0
    for (i, j), v in np.ndenumerate(m):
        s += v * v * x[i] * x[j]
    return s


@two
def ndenum1(x, y):
    s = 0.0
    for (i,), v in np.ndenumerate(x):
        s += v * v * y[i]
    return s


@square
def ndenum_idx(m, x):
    z = np.zeros_like(m)
    for idx, v in np.ndenumerate(m):
        z[idx] = v * v * x[idx[0]]
    return np.sum(z * m)


@square
def nd_view(m, x):
    b = np.stack([m, 2 * m])
    for idx in np.ndindex(2, 3):
        row = b[idx]
        row *= x
    return np.sum(b**2)


@square
def nd_view2(m, x):
    b = np.stack([m, 2 * m])
    for idx in np.ndindex(b.shape[:2]):
        b[idx][1:] = x[1:] * b[idx][0]
    return np.sum(b**2)


@square
def nd_view3(m, x):
    b = np.stack([m, 2 * m])
    s = 0.0
    for idx in itertools.product(range(2), range(3)):
        row = b[idx]
        b[idx][0] = x[0] * row[1]
        s += row[0] * row[1]
    return s


@square
def prod_repeat(m, x):
    s = 0.0
    for i, j in itertools.product(range(len(x)), repeat=2):
        s += m[i, j] * x[i] * x[j] ** 2
    return s


@two
def prod_active(x, y):
    return sum(a * a * b for a, b in product(x, y))


@square
def prod_lists(m, x):
    pts = [(a, b) for a, b in product(x, [0.5, 1.5])]
    return sum(a * b * b for a, b in pts)


@two
def comb_active(x, y):
    return sum((a - b) ** 2 for a, b in combinations(x, 2)) * y[0]


@two
def comb_active_list(x, y):
    xs = [a * b for a, b in zip(x, y)]
    return sum((a - b) ** 2 for a, b in combinations(xs, 2))


@two
def comb_len_r(x, y):
    r = 2
    s = 0.0
    for c in combinations(x, r):
        s += np.prod(c)
    return s * y[0]


@two
def pairs_of_rows(x, y):
    rows = [x * k for k in range(4)]
    return sum(np.sum((a - b) ** 2) for a, b in combinations(rows, 2))


@two
def nbody(x, y):
    f = np.zeros_like(x)
    for i, j in combinations(range(len(x)), 2):
        d = x[i] - x[j]
        f[i] += y[j] * d
        f[j] -= y[i] * d
    return np.sum(f**2)


@two
def pair_active(x, y):
    return sum((b - a) ** 2 for a, b in pairwise(x)) * y[0]


@two
def pair_list(x, y):
    xs = [a * b for a, b in zip(x, y)]
    s = 0.0
    for a, b in pairwise(xs):
        s += (b - a) ** 2
    return s


@two
def pair_zip(x, y):
    return sum((b - a) * (d + c) for (a, b), (c, d) in zip(pairwise(x), pairwise(y)))


@two
def pair_enum(x, y):
    s = 0.0
    for k, (a, b) in enumerate(pairwise(x)):
        s += k * a * b * y[k]
    return s


@two
def acc_list(x, y):
    xs = list(accumulate(x))
    return sum(a * b for a, b in zip(xs, y))


@two
def acc_mul(x, y):
    xs = list(accumulate(x, operator.mul))
    return sum(a * b for a, b in zip(xs, y))


@two
def acc_fn(x, y):
    xs = list(accumulate(x, lambda h, v: np.tanh(h + v)))
    return sum(a * b for a, b in zip(xs, y))


@two
def acc_init(x, y):
    s = 0.0
    for h in accumulate(x, lambda h, v: h * 0.5 + v, initial=y[0]):
        s += h * h
    return s


@two
def acc_loop(x, y):
    s = 0.0
    for h, b in zip(accumulate(x), y):
        s += h * h * b
    return s


@two
def acc_short(x, y):
    r = list(accumulate([a * b for a, b in zip(x, y)], max))
    return sum(r)


@two
def chain_a(x, y):
    s = 0.0
    for k, v in enumerate(chain(x, y)):
        s += v * v * k
    return s


@two
def chain_range(x, y):
    s = 0.0
    for k in chain(range(0, 1), range(2, 3)):
        s += x[k] * y[k]
    return s


@two
def chain_list(x, y):
    xs = list(chain([x[0]], y, [1.0]))
    return xs[0] * xs[1] * xs[-1]


@two
def chain_nested(x, y):
    return sum(v * v for v in chain(x[1:], y[:1], [2.0]))
