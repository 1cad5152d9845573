"""Programs with objects whose attributes come later, or from more than a plain `__init__`.

Each is checked by tests/test_writes_containers.py.
"""

from dataclasses import dataclass, field

import numpy as np

PROGRAMS = []


def prog(*args):
    def deco(f):
        PROGRAMS.append((f, args))
        return f

    return deco


X = np.array([0.7, 1.3, -0.4])
_generator = np.random.default_rng(7)


def r(*shape):
    return 0.5 * _generator.standard_normal(shape)


class Rnn:
    def __init__(self, w):
        self.w = w
        self.h = None

    def step(self, x):
        if self.h is None:
            self.h = np.zeros(3)
        self.h = np.tanh(self.w * self.h + x)
        return self.h


@prog(X, r(4, 3))
def later_none_attr(w, xs):
    c = Rnn(w)
    s = 0.0
    for x in xs:
        s += np.sum(c.step(x) ** 2)
    return s


@prog(X, r(4, 3))
def later_none_attr_inline(w, xs):
    c = Rnn(w)
    for x in xs:
        if c.h is None:
            c.h = x * w
        else:
            c.h = c.h * x
    return np.sum(c.h)


class Opt:
    def __init__(self, lr):
        self.lr = lr
        self.m = None

    def step(self, p, g):
        if self.m is None:
            self.m = 0.1 * g
        else:
            self.m = 0.9 * self.m + 0.1 * g
        return p - self.lr * self.m


@prog(X, 0.3)
def later_opt(p, lr):
    o = Opt(lr)
    for i in range(4):
        p = o.step(p, np.sin(p))
    return np.sum(p**2)


@prog(X)
def later_best(x):
    best = None
    for i in range(3):
        v = np.sin(x[i]) * x[0]
        if best is None or v > best:
            best = v
    return best**2


@prog(X)
def later_prev(x):
    prev = None
    s = 0.0
    for v in x:
        if prev is not None:
            s += (v - prev) ** 2
        prev = v
    return s


@prog(r(4, 3))
def later_prev_arr(xs):
    prev = None
    s = 0.0
    for v in xs:
        if prev is not None:
            s += np.sum(v * prev)
        prev = np.sin(v)
    return s


@prog(r(4, 3))
def later_acc_none(xs):
    acc = None
    for v in xs:
        acc = v if acc is None else acc + v * acc
    return np.sum(acc**2)


@prog(X)
def later_onepath(x):
    c = x[0] > 0
    if c:
        y = x[1] * 2
    s = x[2]
    if c:
        s = s * y
    return s


@prog(X)
def later_alias_rebind(x):
    y = x
    x = x * 2
    return np.sum(x * y)


@prog(X)
def later_alias_swap(x):
    a = x * 1.0
    b = x * 2.0
    for i in range(4):
        b[1:] = a[:-1] * 0.5
        a, b = b, a
    return np.sum(a * b)


@prog(X)
def later_alias_new(x):
    a = x * 1.0
    b = np.zeros(3)
    for i in range(4):
        b[1:] = a[:-1] * 0.5
        b[0] = a[2] * a[1]
        a = b
        b = np.zeros(3)
    return np.sum(a * a)


@prog(X)
def later_opt_arg(x, b=None):
    if b is None:
        b = np.ones(3)
    return np.sum(x * x * b)


def helper(x, h=None):
    if h is None:
        h = np.zeros(3)
    return np.tanh(x + h)


@prog(X)
def later_helper_none(x):
    h = None
    for i in range(3):
        h = helper(x, h)
    return np.sum(h)


@prog(X)
def later_ret_none(x):
    h = helper(x)
    h = helper(x, h)
    return np.sum(h)


@prog(X)
def later_dict_none(x):
    st = {"h": None}
    for i in range(3):
        if st["h"] is None:
            st["h"] = x * 1.0
        else:
            st["h"] = np.sin(st["h"]) * x
    return np.sum(st["h"])


@prog(X)
def later_int_then_float(x):
    s = 0
    for i in range(3):
        s = s + x[i] ** 2
    return s * s


@prog(X)
def later_int_then_array(x):
    s = 0
    for i in range(3):
        s = s + x * x[i]
    return np.sum(s * s)


class Mom:
    def __init__(self, lr):
        self.lr = lr
        self.v = None
        self.t = 0

    def step(self, p, g):
        self.t += 1
        if self.v is None:
            self.v = np.zeros_like(p)
        self.v *= 0.9
        self.v += g * self.lr
        return p - self.v / self.t


@prog(X, 0.3)
def later_mom(p, lr):
    o = Mom(lr)
    for i in range(3):
        p = o.step(p, np.sin(p))
    return np.sum(p**2)


@prog(Mom(0.3), X)
def later_mom_arg(o, p):
    for i in range(3):
        p = o.step(p, np.sin(p))
    return np.sum(p**2)


class Best:
    def __init__(self):
        self.best = None
        self.x = None

    def see(self, v, x):
        if self.best is None or v < self.best:
            self.best = v
            self.x = x * v


@prog(r(4, 3))
def later_bestobj(xs):
    b = Best()
    for x in xs:
        b.see(np.sum(x**2), x)
    return b.best * np.sum(b.x)


@prog(r(4, 3))
def later_bestarr(xs):
    best = None
    arg = None
    for x in xs:
        v = np.sum(x**2)
        if best is None or v < best:
            best = v
            arg = x * v
    return best * np.sum(arg)


class A:
    def __init__(self, x):
        self.x = x
        self.reset()

    def reset(self):
        self.s = 0.0
        self.hist = []

    def add(self, v):
        self.s += v * np.sum(self.x)
        self.hist.append(self.s)


@prog(X)
def made_init_calls(x):
    a = A(x)
    a.add(x[0])
    a.add(x[1])
    return a.s * a.hist[0]


@dataclass
class P:
    a: float
    b: float
    c: float = field(init=False)

    def __post_init__(self):
        self.c = self.a * self.b


@dataclass
class D:
    a: float
    xs: list = field(default_factory=list)
    m: dict = field(default_factory=dict)

    def add(self, v):
        self.xs.append(v * self.a)
        self.m["k"] = v


@prog(X)
def made_post(x):
    p = P(x[0], x[1])
    p.a = p.c * x[2]
    return p.a * p.b * p.c


@prog(X)
def made_post_ro(x):
    p = P(x[0], x[1])
    return p.a * p.b * p.c


@prog(X)
def made_factory(x):
    d = D(x[0])
    d.add(x[1])
    d.add(x[2])
    return d.xs[0] * d.xs[1] * d.m["k"]


@prog(X)
def made_objs_in_loop(x):
    ks = []
    for i in range(3):
        ks.append(D(x[i]))
    for i in range(3):
        ks[i].a = ks[i].a * ks[i - 1].a
    return ks[0].a * ks[1].a * ks[2].a


class Summed:
    def __init__(self, x):
        self.x = x
        self.reset()

    def reset(self):
        self.s = 0.0

    def add(self, v):
        self.s += v * np.sum(self.x)


class B1(Summed):
    def __init__(self, x, k):
        super().__init__(x)
        self.k = k


@prog(X)
def built_i1(x):
    b = B1(x, x[1])
    b.add(x[0])
    return b.s * b.k


class B2(Summed):
    def add(self, v):
        super().add(v * 2)
        self.s *= 3


@prog(X)
def built_i2(x):
    b = B2(x)
    b.add(x[0])
    return b.s


class B3(Summed):
    def add(self, v):
        Summed.add(self, v * 2)


@prog(X)
def built_i3(x):
    b = B3(x)
    b.add(x[0])
    return b.s


class F1:
    def __init__(self, n, x):
        self.items = []
        for i in range(n):
            self.items.append(x[i] * 2)
        self.total = sum(self.items)


@prog(X)
def built_i4(x):
    f = F1(3, x)
    return f.total * f.items[0]


class F2:
    def __init__(self, x, flag=True):
        if flag:
            self.w = x * 2
        else:
            self.w = x * 3
        self.cache = {}
        self.h = self.f(x)

    def f(self, v):
        return np.sum(self.w * v)


@prog(X)
def built_i5(x):
    f = F2(x)
    g = F2(x, False)
    return f.h * g.h * f.w[0]


class F3:
    def __init__(self, x):
        self.w = x
        if x[0] < 0:
            self.k = 1.0
            return
        self.k = 2.0


@prog(X)
def built_i6(x):
    f = F3(x)
    return np.sum(f.w) * f.k


class F4:
    def __init__(self, sizes, x):
        self.W = [x[i] * np.ones((n, m)) for i, (m, n) in enumerate(zip(sizes[:-1], sizes[1:]))]
        self.b = [np.zeros(n) for n in sizes[1:]]

    def __call__(self, x):
        for W, b in zip(self.W, self.b):
            x = np.tanh(W @ x + b)
        return x


@prog(X)
def built_i7(x):
    f = F4([3, 2, 2], x)
    return np.sum(f(x))


@dataclass
class G1:
    a: float
    k: float = 2.0
    xs: list = field(default_factory=list)
    s: float = field(init=False, default=0.5)

    def __post_init__(self):
        self.xs.append(self.a * self.k)
        self.s = self.s * self.a
        self.check()

    def check(self):
        self.n = len(self.xs)


@prog(X)
def built_i8(x):
    g = G1(x[0])
    h = G1(x[1], x[2])
    h.xs.append(g.s)
    return g.xs[0] * h.xs[0] * h.s * h.n * h.xs[1]


@dataclass
class G3:
    a: np.ndarray
    h: np.ndarray = None

    def __post_init__(self):
        if self.h is None:
            self.h = np.zeros(3)


class F5:
    def __init__(self, x):
        self.W = [x[i] * np.ones(2) for i in range(2)]
        self.b = [np.zeros(2) for n in range(2)]


@prog(X)
def built_j1(x):
    f = F5(x)
    return np.sum(f.W[0] * f.W[1] + f.b[0])


@prog(X)
def built_j2(x):
    W = [x[i] * np.ones(2) for i in range(2)]
    b = [np.zeros(2) for n in range(2)]
    return np.sum(W[0] * W[1] + b[0])


class F6:
    def __init__(self, x):
        self.W = [x[i] * np.ones(2) for i in range(2)]
        self.b = 1.0


@prog(X)
def built_j3(x):
    f = F6(x)
    return np.sum(f.W[0] * f.W[1] + f.b)


@prog(X)
def built_j4(x):
    f = F4([3, 2], x)
    W, b = f.W[0], f.b[0]
    return np.sum(W) + np.sum(b)


class Walker:
    def __init__(self, at):
        self.at = at
        self.trail = []
        self.marks = {}

    def move(self, v):
        self.at *= v
        self.trail.append(self.at[0:1])


@prog(X)
def views_kept_beside_what_they_view(x):
    walker = Walker(x * 2.0)
    walker.move(x[2])
    walker.at[0] = x[1] * x[0]
    return np.sum(walker.at**2) * np.sum(walker.trail[0])


@prog(X)
def view_in_a_dict_beside_what_it_views(x):
    walker = Walker(x * 2.0)
    walker.marks["first"] = walker.at[0:1]
    walker.at[0] = x[1] * x[0]
    return np.sum(walker.marks["first"]) ** 2 * walker.at[1]


@prog(X)
def array_kept_under_two_fields(x):
    walker = Walker(x * 2.0)
    kept = walker.trail
    kept.insert(0, walker.at)
    walker.trail[0][0] = x[1] * x[0]
    return np.sum(walker.at) ** 2 * walker.trail[0][1]


@prog(X)
def views_in_a_list_of_lists(x):
    walker = Walker(x * 2.0)
    walker.trail.append([walker.at[0:1]])
    walker.trail += [[walker.at[1:]]]
    walker.at[0] = x[1] * x[0]
    return np.sum(walker.trail[0][0]) ** 2 * np.sum(walker.trail[1][0])
