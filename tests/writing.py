"""Programs that write arrays in place, with arguments; each is checked by tests/test_writes.py."""

import numpy as np

PROGRAMS = []


def prog(*args):
    def deco(f):
        PROGRAMS.append((f, args))
        return f

    return deco


_generator = np.random.default_rng(0)


def r(*shape):
    return _generator.standard_normal(shape)


@prog(r(5))
def arg_written(x):
    x[0] = x[1] * x[2]
    x *= 2.0
    return np.sum(x * x)


@prog(r(5), r(5))
def two_args(A, B):
    A *= B
    B *= A
    return np.sum(A * A) + np.sum(B)


@prog(r(6))
def mask_write(x):
    y = x * 1.5
    y[y < 0] = 0.0
    return np.sum(y**2)


@prog(r(6))
def mask_write_val(x):
    y = x * 1.5
    m = y < 0
    y[m] = x[m] ** 3
    return np.sum(y**2)


@prog(r(6))
def fancy_repeat(x):
    y = np.zeros(4)
    idx = np.array([0, 1, 1, 3, 0, 2])
    y[idx] = x**2
    return np.sum(y * np.arange(4.0))


@prog(r(6))
def fancy_aug(x):
    y = x[:4] * 1.0
    idx = np.array([0, 1, 1, 3, 0, 2])
    y[idx] += x**2
    y[idx] *= x
    return np.sum(y * y)


@prog(r(6))
def neg_step(x):
    y = np.zeros(6)
    y[::-1] = x
    y[::2] *= y[1::2]
    return np.sum(y * np.arange(6.0))


@prog(r(6))
def overlap(x):
    y = x.copy()
    y[1:] = y[:-1] * y[1:]
    y[:-1] -= 0.5 * y[1:]
    y[2:] /= y[:-2]
    return np.sum(y)


@prog(r(6))
def selfdep(x):
    y = x.copy()
    y /= np.sum(y * y)
    y **= 2
    return y[0] + 3 * y[1]


@prog(r(4, 4) + 3 * np.eye(4))
def swap_rows(A):
    A = A.copy()
    for i in range(3):
        A[[i, i + 1]] = A[[i + 1, i]]
        A[i] *= A[i + 1, 0]
    return np.sum(A[0] ** 2) + A[2, 1]


@prog(r(5))
def swap_elems(x):
    x = x.copy()
    x[0], x[1] = x[1], x[0]
    return x[0] ** 2 + 3.0 * x[1]


@prog(r(4, 4) + 4 * np.eye(4))
def lu(A):
    A = A.copy()
    n = A.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            A[i, k] = A[i, k] / A[k, k]
            for j in range(k + 1, n):
                A[i, j] -= A[i, k] * A[k, j]
    s = 1.0
    for k in range(n):
        s *= A[k, k]
    return s


@prog(r(4, 4) + 4 * np.eye(4))
def lu_rows(A):
    A = A.copy()
    n = len(A)
    for k in range(n - 1):
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :])
    return np.sum(np.log(np.abs(np.diag(A))))


@prog(r(4, 4))
def cholesky(X):
    A = X @ X.T + 4 * np.eye(4)
    n = A.shape[0]
    L = np.zeros_like(A)
    for i in range(n):
        for j in range(i + 1):
            s = A[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            if i == j:
                L[i, j] = np.sqrt(s)
            else:
                L[i, j] = s / L[j, j]
    return np.sum(L * L) + L[3, 1]


@prog(r(6, 6))
def heat(T):
    T = T.copy()
    for _ in range(4):
        Tn = T.copy()
        T[1:-1, 1:-1] = Tn[1:-1, 1:-1] + 0.1 * (
            Tn[2:, 1:-1] + Tn[:-2, 1:-1] + Tn[1:-1, 2:] + Tn[1:-1, :-2] - 4 * Tn[1:-1, 1:-1]
        )
        T[0, :] = T[1, :]
    return np.sum(T**2)


@prog(r(8))
def burgers(u):
    u = u.copy()
    for n in range(4):
        un = u.copy()
        u[1:] = un[1:] - un[1:] * 0.1 * (un[1:] - un[:-1])
        u[0] = 1.0
    return np.sum(u**2)


@prog(r(8))
def fresh_each(u):
    for n in range(4):
        un = np.empty_like(u)
        un[1:-1] = u[1:-1] * u[2:]
        un[0] = u[0]
        un[-1] = un[1]
        u = un
    return np.sum(u**2)


@prog(r(8))
def view_kept(u):
    u = u.copy()
    v = u[2:5]
    u[3] = u[0] * u[1]
    v[0] = 7.0 * u[6]
    s = np.sum(v * v)
    u *= u[0]
    return s + np.sum(u) + v[1]


@prog(r(4, 5))
def transposed(A):
    A = A.copy()
    B = A.T
    B[1] = A[0, 0] * B[2]
    A[2:] *= 2
    return np.sum(B * B)


@prog(r(4))
def alias2(x):
    a = x * 2
    b = a
    b[1] = a[0] * a[2]
    a[0] = b[1]
    return np.sum(a * b)


@prog(r(5), 2.0)
def branchy(x, t):
    y = np.zeros(5)
    for i in range(5):
        if x[i] > 0:
            y[i] = x[i] ** 2 * t
        elif y[i - 1] > 1:
            y[i] = y[i - 1]
        else:
            y[i] += x[i]
    return np.sum(y * y)


@prog(r(5))
def whiley(x):
    y = x.copy()
    k = 0
    while np.sum(y * y) > 0.5 and k < 20:
        y *= 0.8
        y[0] += 0.01 * y[1] * y[2]
        k += 1
    return np.sum(y**3)


@prog(r(5))
def deadfirst(x):
    y = np.empty(5)
    y[:] = x
    y[:] = 2 * x * x
    return np.sum(y)


@prog(r(3, 4))
def rows(A):
    out = np.zeros(3)
    for i, row in enumerate(A):
        out[i] = np.dot(row, row)
    return np.sum(out**2)


@prog(r(3, 4))
def rowwrite(A):
    A = A.copy()
    for i in range(3):
        row = A[i]
        row[0] = np.sum(row)
        row *= row[1]
    return np.sum(A * A)


@prog(r(5))
def restore_test(x):
    y = x.copy()
    s = 0.0
    for i in range(4):
        s += np.sin(y[i]) * y[i + 1]
        y[i + 1] = s * y[i]
        z = np.exp(y)
        y[0] = np.sum(z) * 0.1
    return s


@prog(r(5))
def reshape_flow(x):
    y = np.zeros((2, 3))
    y[0] = x[:3]
    y[1, :2] = x[3:] ** 2
    return np.sum(y @ y.T)


@prog(r(5), r(5))
def const_buf(x, buf):
    buf[:] = x * x
    buf[1:] += buf[:-1]
    return np.sum(buf * x)


@prog(r(2, 3, 4))
def threed(x):
    y = np.zeros((2, 3, 4))
    y[..., 1] = x[..., 0] * 2
    y[:, None, 1, :] = x[:, 1:2, :] ** 2
    y[1] += x[0]
    return np.sum(y**2)


@prog(r(4))
def cumul(x):
    n = len(x)
    y = np.ones(n)
    for i in range(1, n):
        y[i] = y[i - 1] * x[i]
        y[i - 1] *= y[i]
    return y[n - 1] + np.sum(y)


@prog(r(5).astype(np.float32))
def f32(x):
    y = np.zeros(5, dtype=np.float32)
    y[1:] = x[1:] * x[:-1]
    y[0] += x[4]
    return np.sum(y * y)


@prog(r(5))
def helper_reads(x):
    y = x.copy()

    def g(v):
        return np.sum(np.sin(v))

    a = g(y)
    y[0] = a
    b = g(y)
    y *= b
    return np.sum(y) + a


def gsq(v, w):
    t = v * w
    t[0] = v[1]
    return t


@prog(r(5))
def helper_local(x):
    y = gsq(x, x + 1)
    y[2] = y[0]
    z = gsq(y, x)
    y[1] = 0.0
    return np.sum(z * y)


def grown(x, k):
    x = x.copy()
    for i in range(1, len(x)):
        x[i] += k * x[i - 1]
    return x


@prog(r(5), 0.3)
def helper_own_copy(x, k):
    y = grown(x, k)
    return np.sum(grown(y, k) * x) + y[2]


def coupled(x, k):
    y = x.copy()
    z = x * 2.0
    y[1] += y[0] * k
    z[0] = y[1] * z[2]
    return y, z


@prog(r(5), 0.3)
def helper_pair(x, k):
    y, z = coupled(x, k)
    a, b = coupled(y, k)
    return np.sum(a * x) + np.sum(b * y) + z[1] + y[2]


def listed(x, k):
    y = x.copy()
    y[0] = k * y[1]
    return [y, x]


@prog(r(5), 0.3)
def helper_list(x, k):
    first = listed(x, k)
    second = listed(first[0], k)
    return np.sum(second[0] * x) + np.sum(second[1] * first[0])


@prog(r(5), 0.3)
def helper_copies(x, k):
    def copied(a):
        b = a.copy()
        return b

    y = np.zeros(5)
    y[:] = x * k
    z = copied(y)
    w = copied(z)
    s = np.sum(w * x)
    w[0] = 3.0
    y[1] = k
    return s + np.sum(z * z * y) + np.sum(w)


@prog(r(4, 4))
def pivoted(A):
    A = A.copy()
    for k in range(3):
        p = k + np.argmax(np.abs(A[k:, k]))
        if p != k:
            A[[k, p]] = A[[p, k]]
        A[k + 1] -= A[k] * A[k, k]
    return np.sum(A**2) + A[3, 1]


def scaled(p, v):
    return v * p


@prog(r(4))
def helper_keeps_what_is_written(y):
    field = scaled(2.0, y)
    y[0] = 1.2
    return field @ y


@prog(r(4))
def cotangent_is_what_is_put_back(u):
    grid = np.zeros_like(u)
    for i in range(4):
        grid[i] = np.dot(u, u)
    shift = np.sum(grid)
    signal = scaled(1.0, grid)
    grid[0] = 1.0
    return shift + signal @ grid


@prog(r(4))
def two_names_of_one_shadow(u):
    profile = u
    profile[3] = np.min(profile)
    return u @ profile


@prog(r(3))
def old_value_read_after_a_swap(x):
    state = np.sin(x)
    x, state = state, x
    state[1] = 1.2
    return np.sum(x)


@prog(r(4))
def old_content_of_a_rebound_name(x):
    loss, other = np.std(x), x
    x = 1.0
    other[1] /= 1.7
    return loss * x


@prog(r(3) + 2.0)
def loop_over_what_it_writes(u):
    slope = 1.0
    for item in u:
        u /= 1.2
        slope *= item
    return slope


@prog(r(3), r(3))
def pairs_of_what_is_written(u, v):
    total = 0.0
    for i, (a, b) in enumerate(zip(u, v)):
        v[0] = a * b
        u *= v
        total += a * b * b * (i + 1)
    return total


@prog(r(3), 1.1)
def mean_in_a_loop_of_a_renamed_array(y, a):
    y, residual = 1.0, y
    for _ in range(2):
        a += residual.mean()
    residual[0], residual[2] = 2.0, 0.0
    return a * y


@prog(r(4))
def copies_kept_in_a_list(u):
    frames = []
    flow = np.sin(u)
    u, flow = flow, u
    flow[1] = 1.0
    frames.append(u.copy())
    u[0] /= 1.3
    return np.sum(frames[0] * frames[0])


@prog(r(4) + 2.0, 1.3)
def loop_over_a_view_of_what_it_writes(u, rho):
    slope = 1.0
    for item in u[::2]:
        u /= rho
        slope *= item
    return slope


@prog(r(4), 0.6)
def backward_over_what_it_writes(y, s):
    for back in reversed(y):
        y[2] = 1.5 * y[0]
        s *= back
    return s


@prog(r(5))
def written_before_and_after_a_name_is_bound(x):
    y = x
    first = np.sum(x * x)
    y[1] = 5.0 * y[0]
    second = np.sum(x**3)
    x = 1.5
    y[0] = 3.0 * y[2]
    return first * second * x


@prog(r(3), 1.0)
def put_back_in_an_arm(x, c):
    if c > 1.3:
        return 1.0
    drift = x
    flux = x @ drift
    drift, x = (1, drift)
    x[1] = 1.2
    return flux


@prog(r(3))
def rows_of_a_matrix_overwritten_whole_later(x):
    basis = np.outer(x, x)
    flux = np.mean(basis**2)
    for row in basis:
        row[0] = 1.0
        row *= 1.0
    basis *= 1
    return flux


@prog(r(1))
def rows_of_one_element_added_to(x):
    A = np.outer(x, x)
    B = A + 1.0
    for a, b in zip(A, B):
        a += b * a
    return np.sum(A**2)


@prog(r(1), r(1))
def one_element_added_to_what_it_scales(x, y):
    A, B = np.outer(x, x), np.outer(x, y)
    for i in range(len(x)):
        row = A[i]
        row -= B[i] * row[0]
        row += y * B[i]
    return np.sum(A * B)
