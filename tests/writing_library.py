"""Programs that write arrays by calls of the library, through views of all kinds, and with casts.

Each is checked by tests/test_writes_library.py.
"""

import numpy as np

PROGRAMS = []


def prog(*args, single=False, by_layout=False):
    """Add a program; `by_layout` says that its value depends on how its argument lies in memory."""

    def deco(f):
        f.single, f.by_layout = single, by_layout
        PROGRAMS.append((f, args))
        return f

    return deco


_generator = np.random.default_rng(1)


def r(*shape):
    return _generator.standard_normal(shape)


# out= and where=


@prog(r(5), r(5))
def ufunc_out(x, w):
    y = np.empty(5)
    np.multiply(x, w, out=y)
    np.sin(y, out=y)
    np.add(y, x, y)
    return np.sum(y * y)


@prog(r(5))
def out_has_a_name(x):
    y = np.zeros(5)
    z = np.exp(x, out=y)
    z *= x
    return np.sum(y * y) + z[0]


@prog(r(6))
def out_is_a_view(x):
    y = x.copy()
    np.multiply(y[:-1], y[1:], out=y[1:])
    np.square(y[::2], out=y[::2])
    return np.sum(y)


@prog(r(4, 3), r(3))
def out_is_wider(A, b):
    np.multiply(b, 2.0, out=A[1:])
    return np.sum(A * A * A)


@prog(r(5))
def out_in_a_tuple(x):
    y = np.empty(5)
    np.cos(x, out=(y,))
    return np.sum(y * x)


@prog(r(5))
def out_returned(x):
    y = np.empty(5)
    return np.sum(np.multiply(x, x, out=y)) + y[2]


@prog(r(3, 4), r(4))
def products_out(A, v):
    y = np.empty(3)
    np.dot(A, v, out=y)
    z = np.empty((3, 3))
    np.matmul(A, A.T, out=z)
    z[0] *= y
    return np.sum(z * z) + np.sum(y**3)


@prog(r(3, 4))
def reductions_out(A):
    s = np.empty(3)
    np.sum(A, axis=1, out=s)
    m = np.empty(4)
    A.max(axis=0, out=m)
    np.cumsum(m, out=m)
    np.mean(A, 0, None, m[:])
    return np.sum(s * s) + np.sum(m**2)


@prog(r(3, 4))
def running_out(A):
    np.cumsum(A, axis=1, out=A)
    A.cumsum(axis=0, out=A)
    np.cumprod(A[0], out=A[1])
    return np.sum(A * A)


@prog(r(5))
def clipped_out(x):
    y = x * 2
    np.clip(y, -1.0, 1.0, out=y)
    y.clip(-0.5, None, out=y)
    np.maximum(y, x, out=y)
    return np.sum(y * x)


@prog(r(4), r(4))
def joined_out(x, w):
    y = np.empty(8)
    np.concatenate((x, w), out=y)
    z = np.empty((2, 4))
    np.stack([w, x * w], out=z)
    np.take(x, [0, 1, 1, 3], out=w)
    np.einsum("ij,ij->j", z, z, out=x)
    return np.sum(y * y) + np.sum(z**3) + np.sum(w * x)


@prog(r(6))
def where_of_a_ufunc(x):
    y = np.zeros(6)
    np.log(x, out=y, where=x > 0)
    np.multiply(y, x, out=y, where=y < 0)
    return np.sum(y * np.arange(6.0))


@prog(r(3, 4), r(4))
def where_broadcasts(A, v):
    m = np.array([True, False, True, True])
    np.divide(A, v, out=A, where=m)
    np.add(v, 1.0, out=A, where=A > 0.3)
    return np.sum(A * A)


@prog(r(5))
def out_in_a_loop(x):
    y = np.zeros(5)
    t = np.empty(5)
    for k in range(3):
        np.multiply(x, y, out=t)
        np.add(t, x, out=y)
        np.tanh(y, out=t)
        y += t
    return np.sum(y * y)


@prog(r(5), single=True)
def into_single(x):
    y = np.zeros(5, dtype=np.float32)
    np.multiply(x, x, out=y)
    return np.sum(y * x)


# ufunc.at


@prog(r(6), r(4))
def add_at(v, A):
    idx = np.array([0, 1, 1, 3, 0, 2])
    A *= A
    np.add.at(A, idx, v**2)
    np.add.at(A, 1, v[0])
    np.add.at(A, slice(1, 3), 2.0 * v[1])
    np.subtract.at(A, [1, 1], v[2:4])
    return np.sum(A * A)


@prog(r(6), r(3, 4))
def add_at_pairs(v, A):
    i = np.array([0, 1, 1, 2, 0, 0])
    j = np.array([0, 2, 2, 3, 0, 1])
    np.add.at(A, (i, j), v)
    np.subtract.at(A, (i, 0), v[0])
    np.add.at(A, (slice(None), [0, 0]), A[:, 1:3])
    return np.sum(A * A)


@prog(r(2, 2), r(2, 2))
def add_at_mesh(k, A):
    K = np.zeros((3, 3))
    for a, b in np.array([[0, 1], [1, 2]]):
        np.add.at(K, np.ix_([a, b], [a, b]), k * A)
        mesh = np.ix_([a, a], [b, 0])
        np.subtract.at(K, mesh, K[0, 0] * k)
        np.multiply.at(K, mesh, A)
    return np.sum(K**3)


@prog(r(5))
def histogram(x):
    y = np.zeros(3)
    bins = np.array([0, 1, 1, 2, 0])
    for k in range(2):
        np.add.at(y, bins, x * (k + 1))
        y *= y
    return np.sum(y)


@prog(r(5))
def other_at(x):
    y = x * x
    np.multiply.at(y, 1, x[0])
    np.multiply.at(y, slice(2, 4), x[:2])
    np.divide.at(y, y > 1.0, 2.0)
    return np.sum(y)


@prog(r(5), r(4))
def multiplied_at(x, A):
    idx = np.array([0, 1, 1, 3, 0])
    np.multiply.at(A, idx, x)
    np.divide.at(A, [2, 2], 1.0 + x[0] ** 2)
    v = A[1:]
    np.multiply.at(v, [0, 0, 2], A[:3])
    return np.sum(A * A) + v[0]


@prog(r(5))
def largest_at(x):
    y = np.zeros(3)
    for k in range(2):
        np.maximum.at(y, [0, 1, 1, k, 2], x)
    np.minimum.at(y, [0, 1, 1, 1, 2], x * x + 0.1)
    return np.sum(y * x[:3])


@prog(r(5), r(4, 4))
def others_at(x, A):
    B = A * A + 1.0
    i, j = np.array([0, 1, 1, 0]), np.array([[0], [2]])
    np.power.at(B, (i, j), x[:4])
    np.hypot.at(B, (i, slice(0, 2)), x[:1])
    np.arctan2.at(B, ([2, 2], 1), x[1:3])
    np.logaddexp.at(B, (slice(None, None, 2), [0, 0]), B[:2, :2])
    np.fmod.at(B, ([3, 3], [0, 0]), 0.7)
    np.mod.at(B, ([3, 3], [1, 1]), 0.7)
    np.float_power.at(B, 0, 2)
    return np.sum(B * A)


@prog(r(4))
def complex_at(x):
    z = x + 1j * x[::-1]
    np.multiply.at(z, [0, 0, 1], x[:3])
    np.divide.at(z, [0, 0, 1], z[2] * x[2])
    return np.sum(np.abs(z) ** 2 * x)


# functions and methods that write


@prog(r(5), r(5))
def copied_to(x, w):
    y = np.zeros(5)
    np.copyto(y, x)
    np.copyto(y[1:3], w[0])
    np.copyto(y, w * w, where=x > 0)
    np.copyto(y, 2.0, where=np.array([True, False, False, False, False]))
    return np.sum(y**2)


@prog(r(5))
def put_by_position(x):
    y = x * 1.0
    np.put(y, [1, 3], x[:2] ** 2)
    np.put(y, 0, x[4])
    y.put([2, 4], x[1])
    np.put(y, [0, 1, 0], x[2:4])
    return np.sum(y * y)


@prog(r(3, 4), r(5))
def put_in_two_axes(A, v):
    np.put(A, np.array([1, 5, 11, 1]), v * v)
    np.place(A, A > 0, v)
    np.putmask(A, A < -0.3, A**2)
    np.putmask(A, A > 1.2, v)
    return np.sum(A**3)


CHOSEN = np.array(
    [[True, False, True, True], [False, True, True, False], [True, False, False, True]]
)


@prog(r(3, 4), r(5))
def put_where_a_mask_from_outside_is(A, v):
    np.putmask(A, CHOSEN, v)
    s = np.sum(A**3)
    np.putmask(A.T, CHOSEN.T, A.T[::-1] * v[0])
    np.putmask(A, CHOSEN, A[0, 1:])
    np.place(A, CHOSEN, v[:3])
    np.putmask(A, CHOSEN.ravel(), [v[0], 2.0, v[1] * v[1]])
    return s + np.sum(A**3 * np.arange(1.0, 5.0))


@prog(r(3, 4), r(5))
def put_where_numbers_are_not_0(A, v):
    np.putmask(A, CHOSEN * 2, v)
    np.putmask(A, A, A**2)
    np.putmask(A[0], [0, 1, 0, 3], 2.0)
    np.place(A, CHOSEN.ravel() * 1.5, v)
    return np.sum(A**3 * np.arange(1.0, 5.0))


@prog(r(3, 4), r(3, 1))
def put_along(A, v):
    at = np.argmax(A, axis=1)[:, None]
    np.put_along_axis(A, at, v * v, axis=1)
    np.put_along_axis(A, at, 1.5, 1)
    np.put_along_axis(A, np.array([[0, 1, 1, 2]]), v[0], axis=0)
    return np.sum(A * A)


@prog(r(4, 4), r(4), 1.5)
def diagonals(A, v, t):
    np.fill_diagonal(A, t)
    s = np.sum(A * A)
    np.fill_diagonal(A, v)
    np.fill_diagonal(A[1:, :2], 3.0)
    np.fill_diagonal(A[:, :3], v[:2])
    return s + np.sum(A**3)


@prog(r(5), 0.7)
def filled(x, t):
    y = x * x
    y.fill(t)
    y[1:3].fill(x[0])
    y *= x
    x.fill(1.0)
    return np.sum(y * y) + np.sum(x)


@prog(r(6), r(3, 4))
def sorted_in_place(x, A):
    x.sort()
    A.sort(axis=0)
    A[1].sort()
    x.partition(2)
    return np.sum(x * np.arange(6.0)) + np.sum(A * np.arange(4.0) ** 2)


@prog(r(3, 4), r(3))
def flat_written(A, v):
    A.flat[5] = v[0]
    A.flat[::5] = v
    A.flat[[1, 2]] = v[1] * v[2]
    return np.sum(A * A) + A.flat[6]


@prog(r(3, 4), r(6))
def flat_assigned(A, v):
    B = A * 2.0
    B.T.flat = v
    A.flat = B * B
    return np.sum(A * np.arange(4.0)) + np.sum(B * B)


# views


@prog(r(6))
def viewed(x):
    y = x * 1.0
    v = y.view()
    v[1:3] *= x[4:]
    y.view()[0] = x[3] ** 2
    return np.sum(v * y)


@prog(r(6))
def reshaped(x):
    y = x * 1.0
    B = y.reshape(2, 3)
    B[0] *= B[1]
    y[4] = x[0] * y[1]
    C = np.reshape(B, (3, 2))
    C[2, 0] = B[0, 0] ** 2
    return np.sum(B * B) + np.sum(y)


@prog(r(3, 4), by_layout=True)
def reshape_copies(A):
    B = A.T.reshape(-1)
    B *= B
    A *= 2.0
    return np.sum(B) + np.sum(A * A)


@prog(r(3, 4), by_layout=True)
def ravelled(A):
    A = A * 1.0
    v = A.ravel()
    v[3] = v[0] * v[1]
    A[2] *= v[:4]
    w = np.ravel(A.T)
    w *= 3.0
    return np.sum(v * v) + np.sum(w)


@prog(r(3, 4), by_layout=True)
def reshaped_argument(A):
    v = A.reshape(-1)
    v *= A[0, 1]
    A[1:] *= 2.0
    w = v.reshape(4, 3)[1:]
    w[0] = v[:3] * A[2, 3]
    return np.sum(v * v) + np.sum(A * np.arange(4.0))


@prog(r(4, 4))
def diagonal_read(A):
    d = np.diagonal(A)
    e = A.diagonal(1)
    A[1, 1] = d[0] * e[0]
    A[0] *= d
    f = np.diag(A)
    A[2, 2] = f[1]
    return np.sum(d * d) + np.sum(e) + np.sum(f**3)


@prog(r(3))
def squeezed(x):
    A = np.zeros((1, 3, 1))
    B = A.squeeze()
    B[:] = x
    C = np.squeeze(A, 0)
    C *= C
    A[0, 1] = B[0] * B[2]
    return np.sum(A * A) + np.sum(B)


@prog(r(6))
def split_up(x):
    y = x * 1.0
    a, b = np.split(y, 2)
    a *= b
    y[5] = a[0]
    return np.sum(y * y) + np.sum(b)


@prog(r(4))
def at_least(x):
    y = x * 1.0
    Y = np.atleast_2d(y)
    Y[0, 1] = y[0] * y[2]
    y *= 2.0
    z = np.asarray(y)
    z[0] = Y[0, 1]
    return np.sum(Y * Y) + z[3]


@prog(r(3))
def new_axes(x):
    y = x * 1.0
    c = y[:, None]
    c[1] = y[0] * y[2]
    d = c[np.newaxis, ..., 0]
    d *= 3.0
    y[2] = d[0, 1]
    return np.sum(c * d[0])


@prog(r(6))
def views_of_views(x):
    y = x * 1.0
    a = y[1:]
    b = a[::2]
    c = b[::-1]
    c[0] = a[0] * y[3]
    y[1:4] *= c
    b[1:] += a[:2]
    return np.sum(c * c) + np.sum(y)


@prog(r(2, 3))
def rows_unpacked(A):
    a, b = A
    a *= b
    b[0] = a[1]
    A *= 2.0
    return np.sum(a * b) + np.sum(A)


@prog(r(3, 2))
def columns_in_a_loop(A):
    for col in A.T:
        col *= col[0]
    for i, row in enumerate(A):
        row += A[0, 1] * i
    return np.sum(A * A)


@prog(r(3, 4), r(3, 4))
def two_in_a_loop(A, B):
    for a, b in zip(A, B):
        a *= b
        b[1:] = a[:-1] * a[1:]
    return np.sum(A * B)


@prog(r(4))
def real_and_imaginary(x):
    z = x * (1.0 + 2.0j)
    z.real[1] = x[0] * x[2]
    re = z.real
    z[2:] *= 1j * x[0]
    re[:2] += z.imag[:2]
    return np.sum(re * re) + np.sum(z.imag**3)


@prog(r(4))
def real_of_real(x):
    y = x * 1.0
    a = y.real
    a *= x[0]
    return np.sum(y * y)


# what is written, and where


@prog(r(5), 0.3, single=True)
def casts_down(x, t):
    y = np.zeros(5, dtype=np.float32)
    y[:] = x
    y[1] = t * x[0]
    y[2:] *= x[2:]
    y += x * t
    return np.sum(y * y) * 2.0


@prog(r(4))
def zero_dims(x):
    s = np.zeros(())
    s[...] = x[0] * x[1]
    s += x[2]
    s *= s
    s[()] = s * x[3]
    return s * 2.0


@prog(r(4))
def nothing_there(x):
    e = x[:0] * 1.0
    e[:] = x[:0]
    e *= 2.0
    x[4:] = x[0]
    return np.sum(e) + np.sum(x * x)


@prog(r(4), 2.0)
def displays_written(x, t):
    A = np.zeros((3, 2))
    A[0] = [x[0], x[1]]
    A[1] = (x[2] * t, 1.0)
    A[:, 1] = [t, x[3], t * x[3]]
    A[1:] = [[x[0], t], [1.0, x[1]]]
    return np.sum(A**3)


@prog(r(3), r(3, 3), 0.5)
def broadcasts(row, A, t):
    B = np.zeros((4, 3))
    B[:] = row
    B[1:3] = t
    B[3, ...] = row[1]
    B[:3] *= A
    B[1:, 0] = t * row
    B[:, 1:][:, None] *= 2.0
    return np.sum(B * B)


@prog(r(4, 3), r(3))
def masks_and_more(A, v):
    m = A > 0
    A[m] = 0.0
    A[A < -1] *= 0.5
    rows = np.array([True, False, True, False])
    A[rows] = v
    A[rows, 1] = v[:2]
    A[1:, v > 0] += 1.5
    A[::-2, [0, 2]] = v[0]
    return np.sum(A * A * A)


@prog(r(4, 3))
def steps_and_axes(A):
    B = np.zeros((4, 3))
    B[::-1] = A
    B[-1:0:-2, None, 0] = A[:2, :1]
    B[np.newaxis, 2:0:-1] *= A[None, :2]
    B[..., ::-1][0] = A[0] ** 2
    return np.sum(B * B)


@prog(r(4))
def a_constant_writes(x):
    y = x * x
    y[[0, 2]] = [1, 2]
    y[3] = True
    y[1] = y[2] + y[1]
    return np.sum(y * x)


# what gives back the array itself, and what has no derivative


@prog(r(5))
def conjugate_of_real(x):
    y = x.copy()
    z = y.conj()
    z[0] *= x[1]
    y[2] = z[0] * z[3]
    w = y.conjugate()
    w += np.conj(y)
    return np.sum(y**3)


@prog(r(5))
def rounded_into_itself(x):
    y = 3.0 * x
    z = y.round(0, y)
    z[0] *= x[1]
    return np.sum(y * x)


@prog(r(5))
def cleaned_in_place(x):
    y = np.where(x > 0.0, x * x, np.nan)
    z = np.nan_to_num(y, False, nan=0.5)
    z *= 2.0
    np.nan_to_num(y, copy=False)
    return np.sum(y * x)


@prog(r(5))
def cleaned_in_place_and_forgotten(x):
    y = np.where(x > 0.0, x**3, np.nan)
    np.nan_to_num(y, copy=False)
    return np.sum(y * x)


@prog(r(5), r(5))
def floor_divided(x, w):
    y = x.copy()
    y //= 0.3
    s = np.sum(y * x)
    y += x
    y[1:3] //= w[0]
    y[x > 0.0] //= 0.7
    y[4] //= 0.2
    return s + np.sum(y * w)


@prog(r(5))
def floor_divided_in_a_loop(x):
    y = x.copy()
    s = 0.0
    for k in range(5):
        y[k] //= 0.3
        s += y[k] * x[k]
        y[k] = x[k] * s
    return s + np.sum(y)


@prog(r(3, 4))
def put_by_a_list(A):
    np.put(A, [0, 5, 7], [A[0, 1] ** 2, A[1, 2] * 2.0, A[2, 3]])
    A.put([1, 2, 3], [A[0, 0], 1.0])
    np.place(A, A > 1.0, [A[0, 0], A[1, 1]])
    return np.sum(A**2 * np.arange(12.0).reshape(3, 4))


@prog(r(5))
def converted_to_what_it_is(x):
    y = x.copy()
    z = np.float64(y)
    z[0] *= x[1]
    y[2] = z[0] * z[3]
    w = np.double(y) if x[0] > 0.0 else 2.0 * y
    w[1:] *= w[:-1]
    return np.sum(y**3) + np.sum(z * w)


@prog(r(5))
def argument_converted_to_what_it_is(x):
    z = np.float64(x)
    x[0] *= x[1]
    return np.sum(z**3)


@prog(r(3))
def add_at_a_list_that_changes(x):
    z, t = np.zeros(3), [0, 1]
    u = t
    for k in range(3):
        np.add.at(z, t, x[:2] * z[2] + x[k])
        u[0] = (t[0] + 1) % 3
        t[1] = 2
        z *= 1.1
    np.multiply.at(z, t, x[:2] + 1.0)
    return z @ z


@prog(r(4, 4))
def pivoted(A):
    """Rows that change places: the derivative adds at lists of indices, and is derived again."""
    A = A.copy()
    for k in range(3):
        p = k + int(np.argmax(np.abs(A[k:, k])))
        A[[k, p]] = A[[p, k]]
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :])
    return np.sum(np.diag(A) ** 2)
