"""Programs as scientists write them, arrays in place; checked by tests/test_science.py."""

import math
from dataclasses import dataclass, field

import numpy as np

PROGRAMS = []


def prog(*args):
    def deco(f):
        PROGRAMS.append((f, args))
        return f

    return deco


_generator = np.random.default_rng(11)


def r(*shape):
    return _generator.standard_normal(shape)


@prog(r(6), 0.1)
def ghost_periodic(u0, c):
    n = len(u0)
    u = np.zeros(n + 2)
    u[1:-1] = u0
    for step in range(4):
        u[0] = u[-2]
        u[-1] = u[1]
        un = u.copy()
        u[1:-1] = un[1:-1] - c * un[1:-1] * (un[1:-1] - un[:-2])
    return np.sum(u[1:-1] ** 2)


@prog(r(4), r(4), 0.2)
def halo_exchange(left, right, c):
    a = np.zeros(6)
    b = np.zeros(6)
    a[1:-1] = left
    b[1:-1] = right
    for _ in range(3):
        a[-1] = b[1]
        b[0] = a[-2]
        a[0] = a[1]
        b[-1] = b[-2]
        for g in (a, b):
            g[1:-1] += c * (g[2:] - 2 * g[1:-1] + g[:-2]) * g[1:-1]
    return np.sum(a**2) + np.sum(b[1:-1] ** 3)


@prog(r(5, 5), 1.3)
def red_black_gs(b, omega):
    n = b.shape[0]
    x = np.zeros((n + 2, n + 2))
    for sweep in range(2):
        for color in (0, 1):
            for i in range(1, n + 1):
                for j in range(1, n + 1):
                    if (i + j) % 2 == color:
                        gs = 0.25 * (
                            x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1] + b[i - 1, j - 1]
                        )
                        x[i, j] = (1 - omega) * x[i, j] + omega * gs
    return np.sum(x**2)


@prog(r(6, 6), 1.1)
def red_black_mask(x, omega):
    x = x.copy()
    i, j = np.indices(x.shape)
    for color in range(2):
        mask = (i + j) % 2 == color
        mask[0] = mask[-1] = False
        mask[:, 0] = False
        mask[:, -1] = False
        nb = np.zeros_like(x)
        nb[1:-1, 1:-1] = 0.25 * (x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2])
        x[mask] = (1 - omega) * x[mask] + omega * nb[mask] ** 2
    return np.sum(x * x)


@prog(r(8))
def fft_by_hand(x):
    n = len(x)
    re = x.copy()
    im = np.zeros(n)
    # bit reversal
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j |= bit
        if i < j:
            re[i], re[j] = re[j], re[i]
            im[i], im[j] = im[j], im[i]
    size = 2
    while size <= n:
        half = size // 2
        ang = -2 * math.pi / size
        for start in range(0, n, size):
            for k in range(half):
                wr = math.cos(ang * k)
                wi = math.sin(ang * k)
                a = start + k
                b = a + half
                tr = wr * re[b] - wi * im[b]
                ti = wr * im[b] + wi * re[b]
                re[b] = re[a] - tr
                im[b] = im[a] - ti
                re[a] += tr
                im[a] += ti
        size *= 2
    p = re**2 + im**2
    return np.sum(p * np.arange(n) * p)


@prog(r(8))
def fft_recursive(x):
    def fft(v):
        n = len(v)
        if n == 1:
            return v.astype(complex)
        even = fft(v[::2])
        odd = fft(v[1::2])
        out = np.empty(n, dtype=complex)
        for k in range(n // 2):
            t = np.exp(-2j * np.pi * k / n) * odd[k]
            out[k] = even[k] + t
            out[k + n // 2] = even[k] - t
        return out

    X = fft(x)
    return np.sum(np.abs(X) ** 2 * np.arange(len(x)))


@prog(r(4, 4) + 2 * np.eye(4), r(4))
def lu_pivot_solve(A, b):
    A = A.copy()
    b = b.copy()
    n = len(b)
    for k in range(n - 1):
        p = k + np.argmax(np.abs(A[k:, k]))
        if p != k:
            tmp = A[k].copy()
            A[k] = A[p]
            A[p] = tmp
            b[k], b[p] = b[p], b[k]
        for i in range(k + 1, n):
            m = A[i, k] / A[k, k]
            A[i, k:] -= m * A[k, k:]
            b[i] -= m * b[k]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
    return np.sum(x**2)


@prog(r(4, 4) + 2 * np.eye(4))
def lu_perm_vector(A):
    A = A.copy()
    n = A.shape[0]
    perm = np.arange(n)
    sign = 1.0
    for k in range(n - 1):
        p = int(np.argmax(np.abs(A[k:, k]))) + k
        if p != k:
            A[[k, p], :] = A[[p, k], :]
            perm[[k, p]] = perm[[p, k]]
            sign = -sign
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= A[k + 1 :, k, None] * A[k, k + 1 :][None, :]
    return sign * np.prod(np.diag(A))


@prog(r(5) + 4, r(5), r(5), r(5))
def thomas_in_place(b, a, c, d):
    n = len(d)
    for i in range(1, n):
        w = a[i] / b[i - 1]
        b[i] -= w * c[i - 1]
        d[i] -= w * d[i - 1]
    d[-1] /= b[-1]
    for i in range(n - 2, -1, -1):
        d[i] = (d[i] - c[i] * d[i + 1]) / b[i]
    return np.sum(d**2)


@prog(r(3), r(3))
def particles_pop(x, v):
    particles = []
    for i in range(3):
        particles.append([x[i], v[i]])
    total = 0.0
    while particles:
        p = particles.pop()
        p[0] += 0.1 * p[1]
        total += p[0] ** 2 * p[1]
    return total


@prog(r(4), r(4))
def particles_dicts(x, v):
    ps = [{"x": xi, "v": vi} for xi, vi in zip(x, v)]
    for step in range(3):
        for p in ps:
            p["v"] -= 0.1 * p["x"]
            p["x"] += 0.1 * p["v"]
    return sum(p["x"] ** 2 + p["v"] ** 2 for p in ps)


@prog(r(5), 0.3)
def ring_buffer_delay(x, g):
    buf = np.zeros(3)
    out = 0.0
    pos = 0
    for v in x:
        delayed = buf[pos]
        y = v + g * delayed
        buf[pos] = y
        pos = (pos + 1) % 3
        out += y * y
    return out


@prog(r(6))
def prefix_inclusive(x):
    s = x.copy()
    d = 1
    while d < len(s):
        t = s.copy()
        s[d:] = t[d:] + t[:-d] * t[d:]
        d *= 2
    return np.sum(s)


@prog(r(8))
def blelloch(x):
    a = x.copy()
    n = len(a)
    d = 1
    while d < n:
        for i in range(0, n, 2 * d):
            a[i + 2 * d - 1] += a[i + d - 1]
        d *= 2
    a[n - 1] = 0.0
    d = n // 2
    while d >= 1:
        for i in range(0, n, 2 * d):
            t = a[i + d - 1]
            a[i + d - 1] = a[i + 2 * d - 1]
            a[i + 2 * d - 1] += t
        d //= 2
    return np.sum(a**2 * np.arange(n))


@prog(r(3), 0.1)
def history_array(y0, dt):
    n = 6
    hist = np.empty((n + 1, 3))
    hist[0] = y0
    for k in range(n):
        y = hist[k]
        k1 = np.array([y[1], -y[0], y[0] * y[2]])
        hist[k + 1] = y + dt * k1
    return np.sum(hist[-1] ** 2) + np.mean(hist[::2, 1])


@prog(r(8), 0.1)
def swap_buffers(u, c):
    u = u.copy()
    u_new = np.empty_like(u)
    for t in range(5):
        u_new[1:-1] = u[1:-1] + c * (u[2:] - 2 * u[1:-1] + u[:-2]) * u[1:-1]
        u_new[0] = u[0]
        u_new[-1] = u[-1]
        u, u_new = u_new, u
    return np.sum(u**2)


@prog(r(8), 0.1)
def swap_buffers_arg(u, c):
    u_new = np.zeros_like(u)
    for t in range(4):
        np.copyto(u_new, u)
        u_new[1:-1] += c * np.sin(u[2:] * u[:-2])
        u, u_new = u_new, u
    return np.sum(u * u_new)


@prog(r(4, 4), r(4))
def out_matvec(A, x):
    y = np.empty_like(x)
    for _ in range(3):
        np.dot(A, x, out=y)
        y /= np.linalg.norm(y)
        x = y.copy()
    return np.sum(A @ x * x)


@prog(r(6), r(6))
def out_chain(a, b):
    t = np.empty(6)
    np.multiply(a, b, out=t)
    np.add(t, 1.0, out=t)
    np.exp(t, out=t)
    np.subtract(t, a, out=b)
    return np.sum(b * t)


@prog(r(7))
def masks_many(x):
    y = x.copy()
    neg = y < 0
    y[neg] *= -0.5
    big = y > 1
    y[big] = 1 + np.log(y[big])
    y[~(neg | big)] **= 2
    return np.sum(y * x)


@prog(r(5))
def add_at_hist(w):
    bins = np.array([0, 2, 2, 1, 0])
    h = np.zeros(3)
    np.add.at(h, bins, w**2)
    h /= h.sum()
    return -np.sum(h * np.log(h))


@prog(r(4), r(6))
def scatter_graph(x, w):
    src = np.array([0, 1, 2, 3, 0, 2])
    dst = np.array([1, 2, 3, 0, 2, 1])
    for _ in range(3):
        msg = w * x[src]
        agg = np.zeros_like(x)
        np.add.at(agg, dst, msg)
        x = np.tanh(x + agg)
    return np.sum(x**2)


@prog(r(3, 4))
def put_flat(A):
    A = A.copy()
    np.put(A, [0, 5, 7], [A[0, 1] ** 2, A[1, 2] * 2, A[2, 3]])
    return np.sum(A**2 * np.arange(12).reshape(3, 4))


@prog(r(6))
def fancy_repeat_set(x):
    y = np.zeros(4)
    idx = [0, 1, 1, 3, 0, 2]
    y[idx] = x
    y[[0, 0, 1]] += x[:3] ** 2
    return np.sum(y**2)


@prog(r(6))
def view_before_write(x):
    y = x * 1.0
    head = y[:3]
    tail = y[3:]
    head *= tail
    y[1] = head[0] * tail[2]
    tail += y[:3]
    return np.sum(y**2)


class Heat:
    def __init__(self, T, alpha):
        self.T = T
        self.alpha = alpha
        self.flux = np.zeros(len(T) - 1)
        self.time = 0.0

    def compute_flux(self):
        self.flux[:] = self.alpha * (self.T[1:] - self.T[:-1])

    def step(self, dt):
        self.compute_flux()
        self.T[1:-1] += dt * (self.flux[1:] - self.flux[:-1])
        self.time += dt

    def run(self, n, dt):
        for _ in range(n):
            self.step(dt)
        return self.T


@prog(r(6), 0.7)
def object_heat(T0, alpha):
    h = Heat(T0.copy(), alpha)
    T = h.run(4, 0.2)
    return np.sum(T**2) * h.time


@prog(r(6), 0.7)
def object_heat_nocopy(T0, alpha):
    h = Heat(T0, alpha)
    h.run(3, 0.2)
    return np.sum(h.T**2)


@prog(r(4), 0.5)
def closure_writes(x, k):
    state = x.copy()

    def push(i):
        state[i] += k * state[i - 1]
        return state[i]

    s = 0.0
    for i in range(1, 4):
        s += push(i) ** 2
    return s + np.sum(state)


def my_chol(A):
    n = len(A)
    L = np.zeros_like(A)
    for i in range(n):
        for j in range(i + 1):
            s = A[i, j] - L[i, :j] @ L[j, :j]
            if i == j:
                if s <= 0:
                    raise ValueError("not positive definite")
                L[i, i] = np.sqrt(s)
            else:
                L[i, j] = s / L[j, j]
    return L


@prog(r(3, 3) * 0.3)
def my_chol_retry(A):
    S = A @ A.T - 0.05 * np.eye(3)
    jitter = 1e-3
    while True:
        try:
            L = my_chol(S + jitter * np.eye(3))
        except ValueError:
            jitter *= 10
            continue
        break
    return 2 * np.sum(np.log(np.diag(L)))


@prog(r(5))
def errstate(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.log(x)
    y[~np.isfinite(y)] = 0.0
    return np.sum(y**2)


@prog(r(5))
def errstate_where(x):
    out = np.zeros_like(x)
    with np.errstate(all="ignore"):
        np.divide(1.0, x, out=out, where=x > 0)
    out *= x**2
    return np.sum(out)


@prog(r(5))
def with_del(x):
    tmp = x**2
    y = tmp + 1
    tmp[0] = 5.0
    del tmp
    y[1:] *= x[:-1]
    z = y
    del y
    z[0] = z[1] * 2
    return np.sum(z * x)


@prog(r(5))
def with_finally(x):
    n = 0
    y = x.copy()
    try:
        y[0] = y[1] ** 2
        y *= y[0]
    finally:
        n += 1
    return np.sum(y) * n


class Failed(Exception):
    pass


def newton(a, x, it):
    for i in range(it):
        x = x - (x * x - a) / (2 * x)
        if abs(x * x - a) < 1e-12:
            return x
    raise Failed("no convergence")


@prog(2.3, 0.3)
def retry_iterations(a, x0):
    it = 2
    while True:
        try:
            x = newton(a, x0, it)
        except Failed:
            it *= 2
        else:
            return x**3


@dataclass
class Params:
    D: float
    k: float


@dataclass
class State:
    u: np.ndarray
    v: np.ndarray
    t: float = 0.0
    log: list = field(default_factory=list)


def laplacian(u, out):
    out[1:-1] = u[2:] - 2 * u[1:-1] + u[:-2]
    out[0] = out[1]
    out[-1] = out[-2]


@prog(r(6), r(6), 0.2, 0.05)
def gray_scott(u0, v0, D, k):
    p = Params(D, k)
    s = State(u0.copy(), v0.copy())
    lu = np.empty_like(u0)
    lv = np.empty_like(v0)
    for _ in range(3):
        laplacian(s.u, lu)
        laplacian(s.v, lv)
        uvv = s.u * s.v**2
        s.u += 0.1 * (p.D * lu - uvv + 0.04 * (1 - s.u))
        s.v += 0.1 * (0.5 * p.D * lv + uvv - (p.k + 0.04) * s.v)
        s.t += 0.1
        s.log.append(float(np.sum(s.u)))
    return np.sum(s.u * s.v) + s.t


class Grid:
    def __init__(self, n):
        self.n = n
        self.phi = np.zeros((n, n))
        self.rho = np.zeros((n, n))

    def deposit(self, x, q):
        i = int(np.floor(abs(x))) % (self.n - 1)
        w = abs(x) - np.floor(abs(x))
        self.rho[i, i] += q * (1 - w)
        self.rho[i + 1, i] += q * w

    def relax(self, its):
        for _ in range(its):
            self.phi[1:-1, 1:-1] = 0.25 * (
                self.phi[2:, 1:-1]
                + self.phi[:-2, 1:-1]
                + self.phi[1:-1, 2:]
                + self.phi[1:-1, :-2]
                + self.rho[1:-1, 1:-1]
            )

    def energy(self):
        return np.sum(self.phi * self.rho)


@prog(np.array([0.3, 1.4, 2.2, -1.7]), r(4))
def pic(x, q):
    g = Grid(5)
    for xi, qi in zip(x, q):
        g.deposit(xi, qi)
    g.relax(4)
    return g.energy() + np.sum(g.rho**2)


@prog(r(4, 3))
def rows_normalised(A):
    for row in A:
        row /= np.linalg.norm(row)
    return np.sum(A[0] * A[1]) + np.sum(A[2] ** 3)


@prog(r(4, 3))
def cols_enumerate(A):
    for j, col in enumerate(A.T):
        col -= col.mean()
        col /= col.std()
        A[:, j] *= j + 1
    return np.sum(A**3)


@prog(r(4, 3))
def mgs(A):
    Q = A.copy()
    R = np.zeros((3, 3))
    for i in range(3):
        R[i, i] = np.linalg.norm(Q[:, i])
        Q[:, i] /= R[i, i]
        for j in range(i + 1, 3):
            R[i, j] = Q[:, i] @ Q[:, j]
            Q[:, j] -= R[i, j] * Q[:, i]
    return np.sum(R**2) + Q[0, 1]


@prog(r(4, 3))
def householder(A):
    R = A.copy()
    m, n = R.shape
    for k in range(n):
        x = R[k:, k]
        e = np.zeros_like(x)
        e[0] = np.copysign(np.linalg.norm(x), x[0])
        v = x + e
        v /= np.linalg.norm(v)
        R[k:, k:] -= 2 * np.outer(v, v @ R[k:, k:])
    return np.sum(np.abs(np.diag(R))) + np.sum(R[:2] ** 2)


@prog(r(4, 4))
def givens(A):
    A = A.copy()
    n = A.shape[0]
    for j in range(n):
        for i in range(n - 1, j, -1):
            a, b = A[i - 1, j], A[i, j]
            h = math.hypot(a, b)
            c, s = a / h, b / h
            G = np.array([[c, s], [-s, c]])
            A[[i - 1, i], :] = G @ A[[i - 1, i], :]
    return np.sum(np.log(np.abs(np.diag(A)))) + A[0, 2]


@prog((lambda B: B + B.T)(r(3, 3)))
def jacobi_eig(A):
    A = A.copy()
    n = 3
    V = np.eye(n)
    for sweep in range(2):
        for p in range(n - 1):
            for q in range(p + 1, n):
                if abs(A[p, q]) < 1e-14:
                    continue
                th = (A[q, q] - A[p, p]) / (2 * A[p, q])
                t = np.sign(th) / (abs(th) + np.sqrt(th * th + 1))
                c = 1 / np.sqrt(t * t + 1)
                s = t * c
                Ap = A[:, p].copy()
                Aq = A[:, q].copy()
                A[:, p] = c * Ap - s * Aq
                A[:, q] = s * Ap + c * Aq
                Ap = A[p].copy()
                Aq = A[q].copy()
                A[p] = c * Ap - s * Aq
                A[q] = s * Ap + c * Aq
                vp = V[:, p].copy()
                V[:, p] = c * vp - s * V[:, q]
                V[:, q] = s * vp + c * V[:, q]
    return np.sum(np.diag(A) ** 3) + V[0, 1]


@prog(r(6))
def bubble_sort(x):
    a = x.copy()
    n = len(a)
    for i in range(n):
        swapped = False
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
                swapped = True
        if not swapped:
            break
    return np.sum(a * np.arange(n) ** 2)


@prog(r(6))
def insertion_sort_list(x):
    a = list(x)
    for i in range(1, len(a)):
        v = a[i]
        j = i - 1
        while j >= 0 and a[j] > v:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = v
    return sum(i * i * v * v for i, v in enumerate(a))


@prog(r(6))
def quicksort_inplace(x):
    a = x.copy()

    def qs(lo, hi):
        if lo >= hi:
            return
        p = a[hi]
        i = lo
        for j in range(lo, hi):
            if a[j] < p:
                a[i], a[j] = a[j], a[i]
                i += 1
        a[i], a[hi] = a[hi], a[i]
        qs(lo, i - 1)
        qs(i + 1, hi)

    qs(0, len(a) - 1)
    return np.sum(a * np.arange(6) ** 2)


@prog(r(6))
def heap_merge(x):
    left = sorted(x[:3])
    right = sorted(x[3:])
    out = []
    i = j = 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            out.append(left[i])
            i += 1
        else:
            out.append(right[j])
            j += 1
    out.extend(left[i:])
    out.extend(right[j:])
    return sum(k * v * v for k, v in enumerate(out))


@prog(r(5), r(4))
def dp_alignment(a, b):
    n, m = len(a), len(b)
    D = np.full((n + 1, m + 1), 1e3)
    D[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = (a[i - 1] - b[j - 1]) ** 2
            D[i, j] = cost + min(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
    return D[n, m]


@prog(np.abs(r(4, 4)) + 0.1)
def floyd_warshall(W):
    D = W.copy()
    n = len(D)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if D[i, k] + D[k, j] < D[i, j]:
                    D[i, j] = D[i, k] + D[k, j]
    return np.sum(D**2)


@prog(np.abs(r(4, 4)) + 0.1)
def floyd_vectorised(W):
    D = W.copy()
    for k in range(len(D)):
        np.minimum(D, D[:, k, None] + D[None, k, :], out=D)
    return np.sum(D**2)


@prog(r(3, 3), r(3, 3), r(5, 3))
def hmm_forward(logA, logB, obs):
    T = len(obs)
    alpha = np.zeros((T, 3))
    alpha[0] = obs[0]
    for t in range(1, T):
        for j in range(3):
            z = alpha[t - 1] + logA[:, j]
            m = z.max()
            alpha[t, j] = m + np.log(np.sum(np.exp(z - m))) + logB[j] @ obs[t]
    return np.log(np.sum(np.exp(alpha[-1])))


@prog(r(3), r(3, 3) * 0.3, r(6, 3))
def kalman_inplace(x, F, ys):
    P = np.eye(3)
    x = x.copy()
    ll = 0.0
    for y in ys:
        x[:] = F @ x
        P[:] = F @ P @ F.T + 0.1 * np.eye(3)
        S = P + np.eye(3)
        K = P @ np.linalg.inv(S)
        e = y - x
        x += K @ e
        P -= K @ P
        ll -= 0.5 * (e @ np.linalg.solve(S, e) + np.linalg.slogdet(S)[1])
    return ll


@prog(r(3), 0.05)
def rk4_workspace(y, dt):
    y = y.copy()
    k = np.empty((4, 3))
    tmp = np.empty(3)

    def f(y, out):
        out[0] = 10 * (y[1] - y[0])
        out[1] = y[0] * (28 - y[2]) - y[1]
        out[2] = y[0] * y[1] - 8 / 3 * y[2]

    for _ in range(3):
        f(y, k[0])
        tmp[:] = y + 0.5 * dt * k[0]
        f(tmp, k[1])
        tmp[:] = y + 0.5 * dt * k[1]
        f(tmp, k[2])
        tmp[:] = y + dt * k[2]
        f(tmp, k[3])
        y += dt / 6 * (k[0] + 2 * k[1] + 2 * k[2] + k[3])
    return np.sum(y**2)


@prog(r(3), r(3), np.array([1.0, 2.0, 0.5]))
def verlet(x, v, m):
    x = x.copy()
    v = v.copy()

    def forces(x):
        F = np.zeros_like(x)
        for i in range(len(x)):
            for j in range(i + 1, len(x)):
                d = x[i] - x[j]
                f = -m[i] * m[j] * d / (d * d + 0.1) ** 1.5
                F[i] += f
                F[j] -= f
        return F

    F = forces(x)
    for _ in range(3):
        v += 0.05 * F / m
        x += 0.1 * v
        F = forces(x)
        v += 0.05 * F / m
    return 0.5 * np.sum(m * v**2) + np.sum(x**2)


@prog(r(6))
def convolve_manual(x):
    k = np.array([0.2, 0.5, 0.3])
    y = np.zeros(8)
    for i in range(6):
        y[i : i + 3] += x[i] * k
    y[2:-2] **= 2
    return np.sum(y)


@prog(r(5, 5))
def blur_inplace_seq(im):
    im = im.copy()
    for i in range(1, 4):
        for j in range(1, 4):
            im[i, j] = np.mean(im[i - 1 : i + 2, j - 1 : j + 2] ** 2)
    return np.sum(im)


@prog(r(8), r(3))
def iir(x, a):
    y = np.zeros(len(x))
    for n in range(len(x)):
        acc = x[n]
        for k in range(min(n, 3)):
            acc -= 0.2 * a[k] * y[n - 1 - k]
        y[n] = acc
    return y @ y


@prog(r(4, 4), r(4))
def conj_grad(B, b):
    A = B @ B.T + np.eye(4)
    x = np.zeros(4)
    rr = b - A @ x
    p = rr.copy()
    rs = rr @ rr
    for i in range(3):
        Ap = A @ p
        al = rs / (p @ Ap)
        x += al * p
        rr -= al * Ap
        rs_new = rr @ rr
        p *= rs_new / rs
        p += rr
        rs = rs_new
    return x @ x


@prog(r(4, 4), r(4))
def arnoldi(A, b):
    m = 3
    V = np.zeros((4, m + 1))
    H = np.zeros((m + 1, m))
    V[:, 0] = b / np.linalg.norm(b)
    for j in range(m):
        w = A @ V[:, j]
        for i in range(j + 1):
            H[i, j] = V[:, i] @ w
            w -= H[i, j] * V[:, i]
        H[j + 1, j] = np.linalg.norm(w)
        if H[j + 1, j] < 1e-12:
            break
        V[:, j + 1] = w / H[j + 1, j]
    return np.sum(H**2)


@prog(r(4, 4) + 3 * np.eye(4))
def inverse_gauss_jordan(A):
    n = 4
    M = np.hstack([A, np.eye(n)])
    for i in range(n):
        p = i + np.argmax(np.abs(M[i:, i]))
        if p != i:
            M[[i, p]] = M[[p, i]]
        M[i] /= M[i, i]
        for k in range(n):
            if k != i:
                M[k] -= M[k, i] * M[i]
    return np.sum(M[:, n:] ** 2)


@prog(r(4), r(3))
def adam(w0, target):
    w = w0.copy()
    m = np.zeros_like(w)
    v = np.zeros_like(w)
    for t in range(1, 4):
        g = 2 * w
        g[:3] -= target
        m *= 0.9
        m += 0.1 * g
        v *= 0.99
        v += 0.01 * g * g
        w -= 0.1 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.99**t)) + 1e-8)
    return np.sum(w**2)


class Adam:
    def __init__(self, shapes, lr):
        self.lr = lr
        self.t = 0
        self.m = [np.zeros(s) for s in shapes]
        self.v = [np.zeros(s) for s in shapes]

    def step(self, params, grads):
        self.t += 1
        for p, g, m, v in zip(params, grads, self.m, self.v):
            m *= 0.9
            m += 0.1 * g
            v *= 0.99
            v += 0.01 * g**2
            p -= self.lr * m / (1 - 0.9**self.t) / (np.sqrt(v / (1 - 0.99**self.t)) + 1e-8)


@prog(r(2), r(3), 0.1)
def adam_class(a, b, lr):
    params = [a.copy(), b.copy()]
    opt = Adam([p.shape for p in params], lr)
    for _ in range(2):
        grads = [2 * p + 0.1 for p in params]
        opt.step(params, grads)
    return sum(np.sum(p**2) for p in params)


@prog(r(6))
def running_stats(x):
    mean = 0.0
    m2 = 0.0
    n = 0
    for v in x:
        n += 1
        d = v - mean
        mean += d / n
        m2 += d * (v - mean)
    return m2 / (n - 1)


@prog(r(5), r(5))
def trapz_cumulative(x, y):
    c = np.zeros_like(y)
    for i in range(1, len(x)):
        c[i] = c[i - 1] + 0.5 * (y[i] + y[i - 1]) * (x[i] - x[i - 1])
    return np.sum(c**2)


@prog(r(4))
def newton_divided(y):
    x = np.array([0.0, 1.0, 2.0, 4.0])
    c = y.copy()
    n = len(c)
    for j in range(1, n):
        c[j:n] = (c[j:n] - c[j - 1 : n - 1]) / (x[j:n] - x[: n - j])
    p = c[-1]
    for k in range(n - 2, -1, -1):
        p = p * (1.5 - x[k]) + c[k]
    return p**2


@prog(r(4))
def de_casteljau(pts):
    b = pts.copy()
    t = 0.3
    for k in range(len(b) - 1, 0, -1):
        b[:k] = (1 - t) * b[:k] + t * b[1 : k + 1]
    return b[0] ** 2


@prog(r(4))
def neville_list(y):
    x = [0.0, 1.0, 2.0, 4.0]
    p = [v for v in y]
    n = len(p)
    for k in range(1, n):
        for i in range(n - k):
            p[i] = ((1.5 - x[i + k]) * p[i] + (x[i] - 1.5) * p[i + 1]) / (x[i] - x[i + k])
    return p[0] ** 2


@prog(r(3))
def romberg(c):
    f = lambda t: c[0] * np.exp(c[1] * t) + c[2] * t * t
    R = np.zeros((4, 4))
    h = 1.0
    R[0, 0] = 0.5 * h * (f(0.0) + f(1.0))
    for i in range(1, 4):
        h *= 0.5
        s = 0.0
        for k in range(1, 2**i, 2):
            s += f(k * h)
        R[i, 0] = 0.5 * R[i - 1, 0] + h * s
        for j in range(1, i + 1):
            R[i, j] = R[i, j - 1] + (R[i, j - 1] - R[i - 1, j - 1]) / (4**j - 1)
    return R[3, 3]


@prog(r(4), 0.3)
def shallow_history(x, c):
    snaps = []
    u = x.copy()
    for k in range(4):
        u[1:] = u[1:] - c * u[:-1] * u[1:]
        if k % 2 == 0:
            snaps.append(u.copy())
    return sum(float(np.sum(s**2)) if False else np.sum(s**2) for s in snaps)


@prog(r(4), 0.3)
def history_no_copy(x, c):
    snaps = []
    u = x.copy()
    for k in range(3):
        u *= c + u
        snaps.append(u)
    return sum(np.sum(s) for s in snaps)


@prog(r(4), 0.3)
def checkpoint_restore(x, c):
    u = x.copy()
    saved = u.copy()
    for k in range(6):
        u += c * u * u
        if np.max(np.abs(u)) > 3:
            u[:] = saved
            c *= 0.5
        else:
            saved[:] = u
    return np.sum(u**2)


@prog(r(5), r(5))
def swap_in_branch(a, b):
    u, v = a.copy(), b.copy()
    for k in range(4):
        if u[0] > v[0]:
            u, v = v, u
        u[1:] += 0.1 * v[:-1] * u[1:]
        v *= 0.9
    return np.sum(u * v) + u[0] ** 2


@prog(r(5), r(5))
def swap_three(a, b):
    prev, cur, nxt = a.copy(), b.copy(), np.zeros_like(a)
    for k in range(5):
        nxt[1:-1] = (
            2 * cur[1:-1] - prev[1:-1] + 0.3 * (cur[2:] - 2 * cur[1:-1] + cur[:-2]) * cur[1:-1]
        )
        nxt[0] = nxt[-1] = 0.0
        prev, cur, nxt = cur, nxt, prev
    return np.sum(cur**2)


@prog(r(5))
def list_of_buffers(x):
    bufs = [x.copy(), np.zeros_like(x)]
    for k in range(4):
        src, dst = bufs[k % 2], bufs[(k + 1) % 2]
        dst[:] = np.sin(src) + dst * 0.1
        dst[0] += src[-1] ** 2
    return np.sum(bufs[0] * bufs[1])


@prog(r(4, 5))
def time_level_indices(F):
    u = np.zeros((2, 5))
    u[0] = F[0]
    now, new = 0, 1
    for t in range(1, 4):
        u[new] = u[now] * F[t] + 0.1 * u[new]
        u[new, 0] = u[now, -1]
        now, new = new, now
    return np.sum(u[now] ** 2)


@prog(r(5))
def level_xor(x):
    u = np.zeros((2, 5))
    u[0] = x
    c = 0
    for t in range(3):
        u[1 - c, 1:] = u[c, :-1] * u[c, 1:]
        u[1 - c, 0] = u[c, 0]
        c = 1 - c
    return np.sum(u[c] ** 2)


@prog(r(6))
def flat_view(x):
    A = x.reshape(2, 3).copy()
    f = A.ravel()
    f[1:] *= f[:-1]
    A[1] += A[0]
    return np.sum(f**2)


@prog(r(2, 3))
def flat_reshape_copyT(A):
    B = A.T.reshape(-1)
    B[0] = 5.0 * A[1, 1]
    A[0, 0] = 2.0
    return np.sum(B**2) + np.sum(A**2)


@prog(r(2, 3))
def ravel_maybe(A):
    f = A.ravel()
    f[2] = f[0] * f[1]
    return np.sum(A**3)


@prog(r(3, 3))
def diag_write(A):
    A = A.copy()
    A[np.diag_indices(3)] += A.sum(axis=1)
    np.fill_diagonal(A[:2, :2], A[2, :2] ** 2)
    A.flat[::4] *= 2
    return np.sum(A**2)


@prog(r(3, 3))
def tri_write(A):
    L = np.tril(A)
    iu = np.triu_indices(3, 1)
    L[iu] = L.T[iu]
    L[iu] *= 2
    return np.linalg.det(L + 4 * np.eye(3))


@prog(r(3))
def sym_from_vector(v):
    S = np.zeros((3, 3))
    k = 0
    w = np.concatenate([v, v**2])
    for i in range(3):
        for j in range(i, 3):
            S[i, j] = S[j, i] = w[k]
            k += 1
    return np.sum(S @ S) + np.linalg.norm(S)


@prog(r(5))
def multi_target(x):
    y = np.zeros(5)
    z = np.zeros(5)
    y[1] = z[2] = x[0] * x[1]
    y[3] = z[0] = a = x[2] ** 2
    a *= x[4]
    return np.sum(y * z) + np.sum(y**2) + a * z[0]


@prog(r(5))
def tuple_targets(x):
    y = np.zeros(5)
    y[0], (y[1], y[2]) = x[0] ** 2, (x[1], x[0] * x[2])
    y[1:3], y[4] = y[0:2].copy(), x[4]
    y[0], *y[1:3] = x[2], x[3] * x[4], x[0]
    return np.sum(y**2)


@prog(r(5))
def overlap_tuple_views(x):
    y = x.copy()
    a, b = y[:2], y[1:3]
    a, b = b * 2, a
    b[0] = a[1]
    y[1] += b[0] * a[0]
    return np.sum(y**2)


@prog(r(5))
def shift_roll(x):
    y = x.copy()
    for _ in range(3):
        last = y[-1]
        y[1:] = y[:-1]
        y[0] = last * y[1]
    return np.sum(y * np.arange(5))


@prog(r(5))
def shift_view_last(x):
    y = x.copy()
    for _ in range(3):
        last = y[-1:]
        y[1:] = y[:-1].copy()
        y[:1] = last * y[1:2]
    return np.sum(y * np.arange(5))


@prog(r(6))
def reversal(x):
    y = x.copy()
    y[:] = y[::-1]
    y[:3], y[3:] = y[3:].copy(), y[:3] * 2
    i, j = 0, 5
    while i < j:
        y[i], y[j] = y[j] * y[i], y[i]
        i += 1
        j -= 1
    return np.sum(y * np.arange(6.0))


class PlainParticle:
    def __init__(self, x, v):
        self.x = x
        self.v = v

    def kick(self, f, dt):
        self.v += dt * f

    def drift(self, dt):
        self.x += dt * self.v


@prog(r(3), r(3))
def plain_particles(x, v):
    ps = [PlainParticle(a, b) for a, b in zip(x, v)]
    for _ in range(2):
        for p in ps:
            p.kick(-p.x, 0.1)
        for p in ps:
            p.drift(0.1)
    return sum(p.x**2 * p.v for p in ps)


@prog(r(3, 2), r(3, 2))
def vector_particles(x, v):
    ps = [PlainParticle(x[i].copy(), v[i].copy()) for i in range(3)]
    for _ in range(2):
        for i, p in enumerate(ps):
            f = np.zeros(2)
            for j, q in enumerate(ps):
                if i != j:
                    d = q.x - p.x
                    f += d / (1 + d @ d)
            p.kick(f, 0.1)
        for p in ps:
            p.drift(0.1)
    return sum(np.sum(p.x**2) for p in ps)


@prog(r(3, 2), r(3, 2))
def view_particles(X, V):
    ps = [PlainParticle(X[i], V[i]) for i in range(3)]
    for p in ps:
        p.kick(p.x**2, 0.5)
        p.drift(0.1)
    return np.sum(X**2 * V)


@prog(r(4))
def merge_particles(m):
    ms = list(m**2 + 0.1)
    while len(ms) > 1:
        a = ms.pop(0)
        b = ms.pop(0)
        ms.append(a * b / (a + b))
    return ms[0]


@prog(r(5))
def remove_small(x):
    xs = [v for v in x]
    i = 0
    while i < len(xs):
        if xs[i] < -0.5:
            del xs[i]
        else:
            xs[i] *= xs[i - 1]
            i += 1
    return sum(v * v for v in xs)


@prog(r(5))
def stack_machine(x):
    st = []
    for op in ["p0", "p1", "*", "p2", "+", "p3", "p4", "-", "*", "s"]:
        if op[0] == "p":
            st.append(x[int(op[1])])
        elif op == "s":
            st.append(math.sin(st.pop()))
        else:
            b = st.pop()
            a = st.pop()
            if op == "+":
                st.append(a + b)
            elif op == "-":
                st.append(a - b)
            else:
                st.append(a * b)
    return st[0]


@prog(r(4))
def genexp_over_written(x):
    y = x.copy()
    s = 0.0
    for k in range(3):
        s += sum(v * v for v in y)
        y[k] = s
    return s


def bad(v):
    if v < 0:
        raise ValueError("negative")
    return math.sqrt(v)


@prog(r(6))
def raise_in_callee(x):
    y = np.zeros(6)
    bads = 0
    for i, v in enumerate(x):
        try:
            y[i] = bad(v)
        except ValueError:
            bads += 1
            y[i] = v * v
    return np.sum(y) * bads


@prog(r(6))
def try_else_finally(x):
    s = 0.0
    n = 0
    for v in x:
        try:
            t = bad(v)
        except ValueError:
            t = -v
        else:
            t *= 2
        finally:
            n += 1
        s += t * v
    return s / n


@prog(r(3, 3))
def solve_fallback(A):
    b = np.ones(3)
    S = A.copy()
    S[2] = S[0]
    try:
        x = np.linalg.solve(S, b)
    except np.linalg.LinAlgError:
        S += np.eye(3)
        x = np.linalg.solve(S, b)
    return x @ x


@prog(r(3, 3))
def solve_backtrack(A):
    H = A + A.T
    lam = 0.0
    for k in range(6):
        try:
            L = np.linalg.cholesky(H + lam * np.eye(3))
            break
        except np.linalg.LinAlgError:
            lam = 2 * lam + 1.0
    y = np.linalg.solve(L, np.ones(3))
    return y @ y


@prog(r(3, 3))
def try_for_else(A):
    H = A + A.T
    lam = 0.0
    for k in range(8):
        try:
            L = np.linalg.cholesky(H + lam * np.eye(3))
        except np.linalg.LinAlgError:
            lam = 2 * lam + 1.0
            continue
        break
    else:
        raise RuntimeError("no")
    return np.sum(L**2)


@prog(np.array([0.5, -1.0, 2.0, 0.3]))
def while_line_search(x):
    w = x.copy()
    f = lambda w: np.sum(w**4) - np.sum(w)
    for it in range(3):
        g = 4 * w**3 - 1
        step = 1.0
        f0 = f(w)
        while True:
            trial = w - step * g
            if f(trial) < f0 or step < 1e-6:
                break
            step *= 0.5
        w = trial
    return np.sum(w**2)


@prog(r(4), r(4))
def where_kw(a, b):
    y = np.zeros(4)
    np.multiply(a, b, out=y, where=a > 0)
    np.add(y, 1.0, out=y, where=b > 0)
    np.copyto(y, a * b, where=(a <= 0))
    return np.sum(y**2)


@prog(r(2, 6))
def take_put_along(A):
    A = A.copy()
    idx = np.argsort(A, axis=1)[:, :2]
    top = np.take_along_axis(A, idx, axis=1)
    np.put_along_axis(A, idx, top**2, axis=1)
    return np.sum(A**3)


@prog(r(6))
def partition_sort(x):
    y = x.copy()
    y.sort()
    y[1:] -= y[:-1]
    z = np.sort(y)[::-1]
    z[0] = z[1] * 2 if False else z[0]
    return np.sum(y**2) + z[0]


@prog(r(3, 4))
def zip_rows_writes(A):
    B = np.zeros_like(A)
    for a, b in zip(A, B):
        b[:] = np.cumsum(a)
        b[0] *= a[-1]
        a *= 2
    return np.sum(A * B)


@prog(r(3, 4))
def map_rows(A):
    def norm(row):
        row = row - row.mean()
        return row / np.std(row)

    return np.sum(np.array([norm(a) for a in A]) ** 3)


@prog(r(4))
def kw_out_default(x, scale=2.0, buf=None):
    if buf is None:
        buf = np.zeros_like(x)
    buf += scale * x**2
    return np.sum(buf)


@prog(r(4))
def star_args_write(x):
    def add_all(out, *vs):
        for v in vs:
            out += v * v
        return out

    z = np.zeros(4)
    add_all(z, x, 2 * x, x[::-1])
    w = add_all(z, x)
    return np.sum(w * z)
