"""Programs that call functions which write the arrays they are given; see test_writes_calls.py."""

import numpy as np

PROGRAMS = []


def prog(*args):
    def deco(f):
        PROGRAMS.append((f, args))
        return f

    return deco


_generator = np.random.default_rng(1)


def r(*shape):
    return _generator.standard_normal(shape)


def step(u, un):
    un[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    un[0] = un[1]
    un[-1] = un[-2]


@prog(r(6))
def stencil(u0):
    u = u0.copy()
    for _ in range(4):
        un = np.zeros_like(u)
        step(u, un)
        u = un
    return np.sum(u**2)


@prog(r(6))
def stencil_copied(u0):
    u = u0.copy()
    for _ in range(3):
        un = u.copy()
        step(un, u)
    return np.sum(u**2)


@prog(r(6))
def stencil_buffer(u0):
    u = u0.copy()
    un = np.empty_like(u)
    for _ in range(3):
        step(u, un)
        u[:] = un
    return np.sum(u**2) + un[2]


def burgers_step(u, un, dt):
    un[:] = u
    un[1:] -= dt * u[1:] * (u[1:] - u[:-1])


@prog(r(6), 0.1)
def burgers(u0, dt):
    u = u0.copy()
    for _ in range(3):
        un = np.zeros(6)
        burgers_step(u, un, dt)
        u = un
    return np.sum(u**2)


@prog(r(6), 0.1)
def burgers_buffer(u0, dt):
    u = u0.copy()
    un = np.zeros(6)
    for _ in range(3):
        burgers_step(u, un, dt)
        u[:] = un * un
    return np.sum(u**2)


def normalise(v):
    v /= np.sqrt(np.sum(v * v))


@prog(r(4))
def normalised(x):
    v = x * 2.0
    normalise(v)
    return v[0] + 3.0 * v[1] * v[2]


@prog(r(4))
def normalised_twice(x):
    v = x * x
    s = np.sum(v)
    normalise(v)
    v *= s
    t = v[0] * v[1]
    normalise(v)
    return v[0] * t + v[2] ** 3


@prog(r(4, 4), r(4))
def power_iteration(A, x):
    v = x.copy()
    for _ in range(3):
        v = A @ v
        normalise(v)
    return np.sum(v * (A @ v))


@prog(r(4))
def argument_written(x):
    normalise(x)
    return x[0] * x[1] ** 2


@prog(r(3, 4))
def rows_normalised(A):
    A = A.copy()
    for i in range(3):
        normalise(A[i])
    return A[0, 1] * A[1, 2] + np.sum(A[2] ** 3)


@prog(r(3, 4))
def rows_of_loop(A):
    A = A * 1.5
    for row in A:
        normalise(row)
    return A[0, 1] * A[1, 2] + np.sum(A[2] ** 3)


def squares(x, out):
    out[:] = x * x
    return np.sum(out)


@prog(r(5))
def scratch(x):
    buf = np.empty(5)
    return squares(x, buf) * x[0]


@prog(r(5))
def scratch_loop(x):
    buf = np.empty(5)
    s = 0.0
    for i in range(3):
        s += squares(x * s + i, buf) * buf[i]
    return s


@prog(r(5), r(5))
def buffer_given(x, buf):
    a = squares(x, buf)
    return a * buf[1]


def scaled(A, s):
    A *= s
    return A


@prog(r(4), 1.5)
def returns_argument(x, s):
    a = x * x
    b = scaled(a, s)
    b[1] = a[0] * b[2]
    return np.sum(a * b)


@prog(r(4), 1.5)
def returns_same_name(x, s):
    a = x * x
    a = scaled(a, s)
    a = scaled(a, a[0])
    return np.sum(a * a)


@prog(r(4), 1.5)
def result_unused(x, s):
    a = x * x
    scaled(a, s)
    scaled(a, s * 2)
    return np.sum(a * a * a)


def tail(A):
    A[0] = A[1] * A[2]
    return A[1:]


@prog(r(4))
def returns_view(x):
    a = x * x
    b = tail(a)
    b[0] *= 2.0
    return np.sum(a * a) + b[1]


def add_into(A, i, v):
    A[i] += v * A[i]
    return v * v


@prog(r(5))
def element_writer(x):
    A = x.copy()
    s = 1.0
    for i in range(5):
        s += add_into(A, i, s * x[i])
    return s + np.sum(A * A)


def twice(u, w):
    step(u, w)
    normalise(w)


@prog(r(6))
def nested(u0):
    u = u0.copy()
    w = np.ones(6)
    for _ in range(2):
        twice(u, w)
        u = u + w * w
    return np.sum(u) + w[0]


@prog(r(6))
def view_given(u0):
    u = u0.copy()
    w = np.zeros(8)
    step(u[1:], w[2:7])
    step(w[1:6], u[1:])
    return np.sum(u * u) + np.sum(w)


@prog(r(6))
def content_read_before(u0):
    u = np.sin(u0)
    s = np.sum(np.exp(u))
    normalise(u)
    s += np.sum(np.cos(u))
    normalise(u)
    return s * u[0]


@prog(r(4), 2.0)
def branches(x, t):
    v = x * t
    if t > 1.0:
        normalise(v)
    else:
        v[0] = 1.0
    for i in range(4):
        if x[i] > 0:
            v = scaled(v, x[i])
        else:
            normalise(v)
    return np.sum(v * x)


@prog(r(4), 2.0)
def weighted_by_what_is_given(x, t):
    v = x * t
    normalise(v)
    return np.sum(v * x)


class Grid:
    def __init__(self, c):
        self.c = c

    def advance(self, u, un):
        un[1:] = u[1:] * self.c + u[:-1] ** 2
        un[0] = u[0]


@prog(r(5))
def method(u0):
    g = Grid(0.3)
    u = u0.copy()
    for _ in range(3):
        un = np.zeros(5)
        g.advance(u, un)
        u = un
    return np.sum(u * u)


@prog(r(5), 0.3)
def method_of_active(u0, c):
    g = Grid(c)
    u = u0.copy()
    un = np.zeros(5)
    g.advance(u, un)
    return np.sum(un * un)


@prog(r(5))
def closure(x):
    A = np.zeros(5)

    def set_(i, v):
        A[i] = v

    for i in range(5):
        set_(i, x[i] * x[i])
    set_(0, A[1] * A[2])
    return np.sum(A * A)


@prog(r(5))
def closure_reads(x):
    A = x.copy()

    def grow(v):
        A[1:] *= v * A[:-1]

    for i in range(3):
        grow(x[i])
    return np.sum(A * A)


def applied(fn, v):
    fn(v)
    return v[0] * v[1]


@prog(r(4))
def function_given(x):
    v = x * x
    a = applied(normalise, v)
    return a * v[2] + np.sum(v)


def halve(A, n):
    if n > 1:
        m = n // 2
        A[0] *= A[m]
        halve(A[:m], m)
        halve(A[m:], n - m)
    else:
        A[0] = A[0] * A[0] + 1.0


@prog(r(5))
def recursive(x):
    A = x.copy()
    halve(A, 5)
    return np.sum(A * np.arange(5.0)) + A[0]


@prog(r(5), 3)
def recursive_itself(A, n):
    if n == 0:
        return np.sum(A * A)
    A *= A[0]
    s = recursive_itself(A, n - 1)
    return s + A[1]


def matvec(A, x, out):
    for i in range(A.shape[0]):
        out[i] = 0.0
        for j in range(A.shape[1]):
            out[i] += A[i, j] * x[j]


@prog(r(3, 3), r(3))
def loops_inside(A, x):
    y = np.empty(3)
    matvec(A, x, y)
    z = np.empty(3)
    matvec(A, y, z)
    matvec(A.T, z, y)
    return np.sum(y * z)


def lu_in_place(A):
    n = A.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            A[i, k] /= A[k, k]
            A[i, k + 1 :] -= A[i, k] * A[k, k + 1 :]


@prog(r(3, 3) + 3 * np.eye(3))
def determinant(A):
    L = A.copy()
    lu_in_place(L)
    d = 1.0
    for k in range(3):
        d *= L[k, k]
    return d + A[0, 1]


def boundary(u, *, left=0.0, right=1.0):
    u[0] = left
    u[-1] = right


@prog(r(5), 0.5)
def keywords(x, t):
    u = x * x
    boundary(u, right=t)
    u *= u[::-1]
    boundary(u, left=t * t)
    return np.sum(u * u) + u[0]


@prog(r(5).astype(np.float32))
def single(x):
    v = x * x
    normalise(v)
    return v[0] * v[1]


def mul(a, b):
    b *= a
    b[0] = a[1] * b[2]


@prog(r(4))
def order(x):
    w = x * x
    s = np.sum(w)
    mul(x, w)
    t = w[1]
    mul(x, w)
    return s * t * np.sum(w * w)


@prog(r(4))
def swap(x):
    u = x.copy()
    un = np.zeros(4)
    for k in range(3):
        mul(u, un)
        un += u
        u, un = un, u
    return np.sum(u * u)


def twoout(a, p, q):
    p[:] = a * a
    q[:] = p * a
    p += q
    return a * p


@prog(r(4))
def twoouts(x):
    p = np.ones(4)
    q = np.ones(4)
    z = twoout(x, p, q)
    z2 = twoout(z, q, p)
    return np.sum(z * p + q * z2)


def cond(v, f):
    if f > 0:
        v *= f
        return
    v[1:] += v[:-1] * f


@prog(r(4), 0.3)
def conds(x, f):
    v = x * x
    for i in range(4):
        cond(v, x[i] * f)
    return np.sum(v * v)


def keepview(A):
    b = A[1:]
    A[0] *= b[0]
    b *= A[0]
    c = A.T
    c[0] += b[1]


@prog(r(4))
def keepviews(x):
    v = x * x
    keepview(v)
    keepview(v[::-1])
    w = v[1:]
    keepview(w)
    return np.sum(v * v)


def reader(v):
    return np.sum(np.sin(v) * v)


@prog(r(4))
def readers(x):
    v = x * x
    s = 0.0
    for i in range(3):
        s += reader(v)
        keepview(v)
        s *= reader(v)
    return s


def outer(v, g, n):
    for i in range(n):
        g(v, i)


@prog(r(4))
def fnarg(x):
    v = x * x

    def g(w, i):
        w[i] *= x[i] * w[i - 1]

    outer(v, g, 4)
    return np.sum(v * v)


@prog(r(4))
def capt2(x):
    A = x * x
    B = x * 2.0

    def g(w):
        w[0] *= A[1]
        A[2] += w[0]

    g(B)
    g(B[1:])
    return np.sum(A * A * B)


def fft(a):
    n = len(a)
    if n == 1:
        return
    fft(a[::2])
    fft(a[1::2])
    e = a[::2].copy()
    o = a[1::2].copy()
    a[: n // 2] = e + 0.5 * o * e
    a[n // 2 :] = e - 0.5 * o


@prog(r(8))
def ffts(x):
    a = x * x
    fft(a)
    return np.sum(a * np.arange(8.0))


def even(a, n):
    if n > 0:
        a *= a[0]
        odd(a[::-1], n - 1)


def odd(a, n):
    if n > 0:
        a += 0.1 * a[0] * a
        even(a, n - 1)


@prog(r(3))
def mutual(x):
    a = x * x
    even(a, 3)
    odd(a, 2)
    return np.sum(a * a)


def rec_sum(a, n):
    if n == 0:
        return np.sum(a * a)
    a[n - 1] *= a[0]
    s = rec_sum(a, n - 1)
    a[0] += s
    return s * a[1]


@prog(r(3))
def rec_sums(x):
    a = x * x
    return rec_sum(a, 2) + np.sum(a)


def deflt(v, w=None, *, k=2.0):
    v *= k
    return v * v


@prog(r(3))
def deflts(x):
    a = x * x
    z = deflt(a)
    z2 = deflt(a, k=x[0])
    z *= z2
    return np.sum(a * z)


@prog(r(3))
def nested_expr(x):
    a = x * x
    return np.sum(deflt(a)) + a[0] * np.sum(deflt(a)) + deflt(a)[1]


@prog(r(4))
def intwrite(x):
    idx = np.zeros(4, dtype=int)

    def setidx(ix, k):
        ix[k] = 3 - k

    for k in range(4):
        setidx(idx, k)
    y = x[idx]
    setidx(idx, 0)
    idx[1] = 0
    return np.sum(y * x[idx])


@prog(r(4))
def constw(x):
    c = np.ones(4)
    y = x * c

    def bump(c, k):
        c += k

    bump(c, 1.0)
    y = y * x * c
    bump(c, 2.0)
    return np.sum(y * c * x)


def ret_read(a, b):
    a[0] *= b[1]
    return b


@prog(r(3))
def retread(x):
    a = x * x
    b = x * 2
    c = ret_read(a, b)
    c[2] = a[0]
    return np.sum(c * a * b)


def zero_(a):
    a[:] = 0.0


@prog(r(3))
def zeroed(x):
    a = x * x
    s = np.sum(a * a)
    zero_(a)
    a += x * s
    return np.sum(a * a)


def aug2(v, i):
    v[i] += v[i - 1] * v[i]
    return v[i]


@prog(r(4))
def scal(x):
    v = x * x
    s = 1.0
    for i in range(1, 4):
        s = s * aug2(v, i) + aug2(v, i)
    return s * np.sum(v)


@prog(r(4))
def captx2(x):
    A = np.zeros(4)
    z = x * x

    def fill():
        A[:] = z * A[0] + z

    fill()
    fill()
    z = z * 2.0
    fill()
    return np.sum(A * A)


def stepped(c, un):
    t = c[1:]
    for i in range(2):
        un[1:] = t * un[:-1] * un[1:]


def rd(c, y):
    t = c[1:]
    s = 0.0
    for i in range(2):
        s += np.sum(t * y[:-1] * y[1:] * np.sin(t))
    return s


@prog(r(4))
def keptview(x):
    c = np.arange(4.0) + 1.0
    un = x * x
    stepped(c, un)
    c[:] = 0.0
    stepped(c, un[::-1])
    return np.sum(un * un) + np.sum(x)


@prog(r(4))
def keptview1(x):
    c = np.arange(4.0) + 1.0
    un = x * x
    stepped(c, un)
    c[1:] = 0.5
    return np.sum(un * un) + np.sum(x)


@prog(r(4))
def keptview2(x):
    c = np.arange(4.0) + 1.0
    s = rd(c, x)
    c[1:] = 0.5
    return s * s


@prog(r(4))
def keptview3(x):
    c = np.arange(4.0) + 1.0
    s = 0.0
    for i in range(3):
        s += rd(c, x)
        c[1:] += 0.5
    return s * s


@prog(r(4))
def result_is_the_argument(x):
    v = x * x
    w = scaled(v, x[0])
    return np.sum(v * w)


@prog(r(4))
def result_is_a_part(x):
    v = x * x
    w = tail(v)
    return np.sum(v) * np.sum(w * w)


def gathered(*given):
    return given[-1]


def named(**given):
    return given["first"]


@prog(r(4))
def view_of_what_is_gathered(x):
    a, A = x * 2.0, np.outer(x, x)
    c = named(first=a)
    c[0] *= x[1]
    row = gathered(A)
    row[0] *= x[2]
    return np.sum(a**3) + np.sum(A**2)


def put(x, w):
    x = w[0] * x
    w[1] = x


def put_further(x, w):
    x = put(x, w)


def put_and_counted(x, w):
    put_further(x, w)
    return 1.0


@prog(r(3))
def written_after_calls_that_keep_it(x):
    x = x * 1.0
    w = np.outer([0.84, 0.94], x)
    for _ in range(2):
        put_and_counted(x, w)
    x[1] += np.sum(w)
    return x @ x


@prog(np.array([1.138, 1.021, -1.093]), 0.8)
def left_by_a_test_of_an_item(x, y):
    t = 0.0
    for v in x:
        if v > 1.0:
            t += y * v
        if v < 0.62:
            x[2] = t * y
            x = x * 2.0
            return np.sum(x) * y
    return 0.5 * y * t
