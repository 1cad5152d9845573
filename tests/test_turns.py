"""Operands, places and generators are evaluated in turn, whatever the others write."""

import numpy as np
import programs
import pytest

import s2sad

STEP = 1e-6


def holds(f, a=1.3):
    """Compare value and slope in both modes with central differences."""
    slope = (f(a + STEP) - f(a - STEP)) / (2 * STEP)
    value, gradient = s2sad.value_and_grad(f)(a)
    assert value == pytest.approx(f(a), rel=1e-12)
    assert gradient == pytest.approx(slope, rel=1e-5, abs=1e-7)
    value, tangent = s2sad.jvp(f, (a,), (1.0,))
    assert value == pytest.approx(f(a), rel=1e-12)
    assert tangent == pytest.approx(slope, rel=1e-5, abs=1e-7)


HEAD = """
import functools

import numpy as np


class Box:
    def __init__(self, n):
        self.n = n
        self.i = 0
        self.k = 1.0

    def double(self):
        self.n = self.n * 2.0
        return 1.0

    def up(self):
        self.i = self.i + 1
        return self.i

    @property
    def rank(self):
        self.n = self.n * 2.0
        return 1.0

    @property
    def first(self):
        self.n[0] = self.n[0] * 2.0
        return 1.0

    @property
    def next(self):
        self.i = self.i + 1
        return self.i

    @property
    def kid(self):
        self.k = self.k * 2.0
        return self.child

    def __getitem__(self, i):
        return self.double()

    def __add__(self, other):
        return self.double()

    def __neg__(self):
        return self.double()

    def step(self):
        self.n += self.rank
        return self.n


class Called(Box):
    def __call__(self):
        return self.double()


class Store:
    def __init__(self, d):
        self.d = d

    @property
    def rank(self):
        self.d["k"] = self.d["k"] * 2.0
        return 1.0


def base(s):
    s[0] = s[0] * 2.0
    return s[0]


def grow(s):
    s.append(s[0])
    return 0.0


def add(p, q):
    return p + q


def f(a):
"""

ADDED = [
    "b = Box(a); b.n += b.rank; return b.n",
    "b = Box(a); b.n += b[0]; return b.n",
    "b = Box(a); b.n += b + 1; return b.n",
    "b = Box(a); b.n += -b; return b.n",
    "b = Called(a); b.n *= b(); return b.n",
    "b = Box([a, 1.0]); b.n[0] += b.first; return b.n[0]",
    "b = Box(np.array([a, 1.0])); b.n[0] += b.first; return b.n[0]",
    "x = np.array([a, 2.0]); b = Box(x); x[0] += b.first; return x[0] * 2.0 + x[1]",
    "x = [a, 1.0]; b = Box(x); x[0] -= 2.0 * b.first; return x[0]",
    "x = np.array([a, 2.0]); b = Box(x); b.n += b.rank; return x[0] * a + x[1] + b.n[0]",
    "x = np.array([a, 2.0]); b = Box(x); b.n[0] += b.rank; return x[0] * a + b.n[0]",
    "x = np.array([a, 2.0]); b = Box(x); b.n[b.i] += b.next * a; return x[0] * a + x[1]",
    "b = Box([a, 1.0]); b.n[b.i] += b.next; return b.n[0] * 3.0 + b.n[1]",
    "x = [a, 2.0]; b = Box(x); y = [x]; y[b.i][0] += b.next; return x[0]",
    "b = Box(a); c = [b]; c[0].n += b.rank; return b.n",
    "b = Box(a); b.n -= b.rank * b.n; return b.n",
    "b = Box(a); b.n += max(b.rank, 0.5); return b.n",
    "b = Box(a); b.n += getattr(b, 'rank'); return b.n",
    "b = Box(a); b.n += 1.0 + (b.rank if a > 0 else 0.0); return b.n",
    "b = Box(a); b.n += b.rank; b.n += b.rank; b.n *= b.rank; return b.n",
    "b = Box(a); b.n += b.rank + b.double(); return b.n",
    "b = Box(a); return b.step() * b.n",
    "b = Box(a)\n    while b.n < 10.0:\n        b.n += b.rank\n    return b.n",
    "d = {'k': a}; e = Store(d); d['k'] += e.rank; return d['k']",
    "d = {'k': a}; e = Store(d); e.d['k'] += e.rank; return d['k']",
    "b = Box(a); c = Box(2.0); b.n += c.rank; return b.n * c.n",
]
PLACES = [
    "x = [a, 2.0, 3.0]; b = Box(x); x[b.next] += b.i * a; return x[1] * 10 + x[0]",
    "x = np.array([a, 2.0]); b = Box(x); x[b.next] += a; return x[1] * 10 + x[0] + b.i * a",
    "x = np.array([a, 2.0, 3.0]); b = Box(x); x[b.next] -= x[b.next] * a; return x[1] * 3 + x[2]",
    "x = np.array([a, 2.0]); b = Box(x); x[b.i] = b.next; return x[0] * a + x[1]",
    "x = np.array([a, 2.0]); b = Box(x); x[b.i] *= x[b.next] * a; return x[1] * 10 + x[0]",
    "b = Box(1.0); b.child = Box(a); b.kid.n += b.k * a; return b.child.n",
    "b = Box(a); x = np.ones(3) * a; x[b.i:b.next] = b.i * a * 2; return x[0] + 10 * x[1]",
    "b = Box(a); x = np.ones(3) * a; x[b.i:b.up()] = b.i * a * 2; return x[0] + 10 * x[1]",
    "b = Box(a); x = np.eye(3) * a; x[b.i, b.up()] += b.i * a; return x[0, 1] + 10 * x[1, 1]",
    "b = Box(a); x = np.arange(4.0) * a; return x[b.i : b.next + 1][0] + x[b.i] * 10",
    "b = Box(a); x = np.array([[1.0, 2.0], [5.0, 7.0]]) * a; return x[b.i, b.next] * a",
    "b = Box(a); x = np.array([[1.0, 2.0], [5.0, 7.0]]) * a; return x[b.i, b.up()] * a",
    "b = Box(a); d = {b.i: b.up() * a, b.i + 1: a}; return d[0] * a + d[2]",
    "b = Box(a); y = 0.0\n    for i in range(b.i, b.up() + 2):\n        y = y + a\n    return y",
]
OPERANDS = [
    "b = Box(a); return b.n + b.rank * b.n",
    "b = Box(a); t = (b.n, b.rank, b.n); return t[0] * 10.0 + t[2]",
    "b = Box(a); d = {'a': b.n, 'b': b.rank, 'c': b.n}; return d['a'] * 10.0 + d['c']",
    "b = Box(a); return a if b.n < b.rank * 3.0 < b.n else b.n",
    "b = Box(a); s = f'{b.n:.1f}{b.rank}{b.n:.1f}'; return a * (s == '1.31.02.6') + b.n",
    "b = Box(a); return dict(p=b.n, q=b.rank, r=b.n)['r'] * a",
    "b = Box(a); b.n, y = b.rank * b.n, b.n; return b.n * 10 + y",
]
GENERATORS = [
    "s = [a]; return sum((s[0] for _ in range(1)), base(s))",
    "s = [a]; return sum([s[0] for _ in range(1)], base(s))",
    "s = [a]; return sum((s[0] for _ in range(1)), start=base(s))",
    "s = [a]; return sum((v * s[0] for v in s), base(s))",
    "s = [a]; return sum((v * w for v in s for w in s), base(s))",
    "s = [a, 1.0]; return sum((v for v in s if s[0] > 2.0), base(s))",
    "s = [a]; return sum((v for v in s), grow(s))",
    "s = [a]; return sum((s[0] for _ in range(1)), 0.0 if a < 0 else base(s))",
    "s = [a]; return sum(map(lambda v: v * s[0], [1.0, 2.0]), base(s))",
    "s = [a]; return sorted((s[0] * v for v in (1.0, 2.0)), reverse=base(s) > 0)[0]",
    "s = [a]; return functools.reduce(add, [s[0] * v for v in (1.0, 2.0)], base(s))",
    "s = [a]; return functools.reduce(add, (s[0] * v for v in (1.0, 2.0)), base(s))",
    "s = [a]; return sum((v for v in [base(s), s[0]]), base(s))",
    "s = {'a': a}; t = [a]; return sum((v * t[0] for v in s.values()), base(t))",
    "x = np.array([a, 2.0]); return sum((x[0] * v for v in x), base(x))",
    "b = Box(a); return sum((b.n for _ in range(1)), b.rank * b.n)",
    "b = Box(a); return sum((b.rank * b.n for _ in range(2)), b.n)",
]


@pytest.mark.parametrize("body", [*ADDED, *PLACES, *OPERANDS, *GENERATORS])
def test_the_order_of_evaluation(body):
    module = programs.load(f"{HEAD}    {body}\n")
    try:
        holds(module.f)
    finally:
        programs.unload(module)


# --- what is read lazily, and written before ------------------------------------------------------


def doubled(d):
    d["a"] = d["a"] * 2.0
    return d["a"]


def beside_a_call(x):
    d = {"a": x}
    return sum(d.values(), doubled(d))


def handed_on(x):
    d = {"a": x, "b": x}
    v = d.values()
    d["a"] = x * x
    return max(v) * x


def as_an_array(x):
    d = {"a": x, "b": x}
    v = d.values()
    d["a"] = x * x
    return np.sum(np.array(list(v)))


def of_a_list(x):
    rows = [x, 2.0]
    pairs = zip(rows, [1.0, 2.0], strict=True)
    rows[0] = x * x
    return sum([a * b for a, b in pairs])


@pytest.mark.parametrize("f", [beside_a_call, handed_on, as_an_array, of_a_list])
def test_a_view_that_is_read_after_a_write_is_refused(f):
    with pytest.raises(s2sad.UnsupportedError, match="is read lazily"):
        s2sad.grad(f)(1.3)
    with pytest.raises(s2sad.UnsupportedError, match="is read lazily"):
        s2sad.jvp(f, (1.3,), (1.0,))


def read_before(x):
    d = {"a": x, "b": x}
    s = sum(d.values()) * max(d.values())
    d["a"] = x * x
    return s * sum(list(d.values()))


def test_a_view_that_is_read_before_is_right():
    holds(read_before)


# --- what a loop reads item by item, while its body writes it -------------------------------------

LAZY_HEAD = """
import itertools

import numpy as np


class Box:
    def __init__(self, x):
        self.a = [x, 1.0, 2.0]

    def put(self, x):
        self.a[2] = x


def numbers(q):
    s = 0
    for u, v in itertools.pairwise(q):
        s += u * v
        q[2] = 7
    return s


def f(x):
    t = 0.0
"""
WRITTEN_MEANWHILE = [
    "a = [x, 2 * x, 1.0]\nfor u, v in itertools.pairwise(a):\n    t += u * v\n    a[2] = x",
    "a = [x, 1.0]\nfor v in itertools.accumulate(a):\n    t += v\n    a[1] = x",
    "a = [x]\nfor v in itertools.chain(a, [1.0]):\n    t += v\n    if len(a) < 2: a.append(x)",
    "a = [x, 1.0]\nfor v in itertools.chain(a, [1.0]):\n    t += v\n    if len(a) > 1: a.pop()",
    "a = [1, 2, 3]\nfor u, v in itertools.pairwise(a):\n    t += u * v * x\n    a[2] = 7",
    "b = np.array([x, 1.0, 2.0]).copy()\nfor u, v in itertools.pairwise(b):\n"
    "    t += u * v\n    b[2] = 5.0 * u",
    "b = np.array([x, 1.0, 2.0])\nfor u in itertools.chain(b[1:], [1.0]):\n"
    "    t += u\n    b[2] = x",
    "b = np.array([[x, 1.0], [2.0, x]])\nfor u in itertools.accumulate(b):\n"
    "    t += u[0]\n    b[1, 0] = x * x",
    "a = [x, 1.0, 2.0]\nc = a\nfor u, v in itertools.pairwise(a):\n    t += u * v\n    c[2] = x",
    "a = [x, 1.0, 2.0]\nc = a\nfor u, v in itertools.pairwise(a):\n"
    "    t += u * v\n    a = [1.0]\n    c[2] = x",
    "a = [x, 1.0, 2.0]\nfor i, (u, v) in enumerate(itertools.pairwise(a)):\n"
    "    t += u * v * i\n    a[2] = x",
    "a = [x, 1.0, 2.0]\nfor u, w in zip(itertools.accumulate(a), [1.0, 2.0, 3.0]):\n"
    "    t += u * w\n    a[2] = x",
    "a = [x, 1.0, 2.0]\nfor i, v in enumerate(itertools.chain(a)):\n    t += v * i\n    a[1] = x",
    "a = [x, 1.0]\ndef g():\n    a[1] = 5.0 * x\n    return [1.0, 2.0]\n"
    "for u, v in zip(itertools.chain(a), g()):\n    t += u * v",
    "a = [x, 1.0, 2.0]\ndef g(u):\n    a[2] = x\n    return u\n"
    "t = sum(g(u) for u in itertools.accumulate(a))",
    "a = [x, 1.0, 2.0]\ndef g(u):\n    a[2] = x\n    return u\n"
    "t = sum([g(u) * v for u, v in itertools.pairwise(a)])",
    "a = [x, 1.0, 2.0]\ndef g(u):\n    a[2] = x\n    return u\n"
    "t = sum(map(g, itertools.chain(a, [1.0])))",
    "a = [x, 1.0]\ndef g():\n    a[1] = x\n    return x\n"
    "t = sum((v for v in itertools.accumulate(a)), g())",
    "a = [x, 1.0, 2.0]\ndef g(u, v):\n    a[2] = x\n    return u * v\n"
    "for v in itertools.accumulate(a, g):\n    t += v",
    "a = [x, 1.0]\nn = [1.0]\nfor v in itertools.accumulate(a, lambda p, q: p * q * n[0]):\n"
    "    t += v\n    n[0] = v",
    "a = [x, 1.0]\nn = [1.0]\ndef g(u, v):\n    n[0] += 1.0\n    return u * v\n"
    "for v in itertools.accumulate(a, g):\n    t += v * n[0]",
    "a = [x, 1.0]\nn = [1.0]\ndef g(u, v):\n    n[0] += 1.0\n    return u * v\n"
    "for v in itertools.accumulate(a, g):\n    t += v\n    break\nt *= n[0]",
    "b = Box(x)\nfor u, v in itertools.pairwise(b.a):\n    t += u * v\n    b.put(x)",
    "t = x * numbers([1, 2, 3])",
    "a = [x, 1.0, 2.0]\nfor n in ('x', 'y'):\n    for u in itertools.chain(a, a):\n"
    "        t += u\n        a[2] = t",
    "d = {'a': x, 'b': 1.0}\nfor v, w in zip(d.values(), [1.0, 2.0]):\n"
    "    t += v * w\n    d['b'] = x",
    "d = {'a': x, 'b': 1.0}\nfor i, (k, v) in enumerate(d.items()):\n"
    "    t += v * (i + 1)\n    d['b'] = t * x",
    "d = {'a': x, 'b': 1.0}\nfor v in reversed(d.values()):\n    t += v\n    d['a'] = 3.0 * x",
]
NOT_WRITTEN = [
    "a = [x, 1.0, 2.0]\nb = [0.0]\nfor u, v in itertools.pairwise(a):\n"
    "    b[0] += u * v\n    t += b[0]",
    "a = [x, 1.0]\nfor u in itertools.accumulate(a):\n    t += u\na[1] = t\nt += sum(a)",
    "a = [x, 1.0, 2.0]\nfor u, v in list(itertools.pairwise(a)):\n    t += u * v\n    a[2] = x",
    "a = [x, 1.0, 2.0]\nfor u, v in itertools.combinations(a, 2):\n    t += u * v\n    a[2] = x",
    "a = [x, 1.0, 2.0]\nfor v in itertools.chain([*a], [1.0]):\n    t += v\n    a[2] = x",
    "a = [x, 1.0, 2.0]\nfor u, v in itertools.pairwise(a):\n"
    "    t += u * v\n    a = [1.0, 2.0]\n    a[0] = x",
    "a = [x, 1.0]\nfor k in range(2):\n    for v in itertools.accumulate(a):\n"
    "        t += v\n    a[0] = t",
    "b = np.array([[x, 1.0], [2.0, x]])\nfor u, v in itertools.pairwise(b):\n"
    "    v[0] = x * x\n    t += u[0] * v[0]",
    "a = [np.array([x, 1.0]), np.array([2.0, x])]\nfor u, v in itertools.pairwise(a):\n"
    "    v[0] = x * x\n    t += u[0] * v[0]",
    "a = [x, 1.0]\nlog = []\n"
    "for u in itertools.accumulate(a, lambda p, q: log.append(p) or p * q):\n"
    "    t += u\nt += sum(log)",
    "d = {'a': x, 'b': 1.0}\nfor v in d.values():\n    t += v\n    d['b'] = x",
    "d = {'a': x, 'b': 1.0}\ne = {'a': 0.0, 'b': 0.0}\n"
    "for (k, v), w in zip(d.items(), [1.0, 2.0]):\n    e[k] = v * w\nt = e['a'] + e['b']",
    "d = {'a': x, 'b': 1.0}\nfor k, w in zip(d.keys(), [1.0, 2.0]):\n"
    "    t += d[k] * w\n    d[k] = x",
    "a = [1, 2, 3]\ndef g(u):\n    a[2] = 10\n    return u\n"
    "t = x * next(g(u) for u in itertools.chain(a) if g(u) > 2)",
    "a = [x, 1.0]\nb = [2.0, 3.0]\nfor u, w in zip(a, b):\n    t += u * w\n    a[1] = x",
]


def lazy_program(body):
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return programs.load(f"{LAZY_HEAD}{lines}    return t\n")


@pytest.mark.parametrize("body", WRITTEN_MEANWHILE)
def test_what_is_written_while_it_is_read_item_by_item_is_refused(body):
    module = lazy_program(body)
    try:
        with pytest.raises(s2sad.UnsupportedError, match="before the last item is read"):
            s2sad.grad(module.f)(1.3)
        with pytest.raises(s2sad.UnsupportedError, match="before the last item is read"):
            s2sad.jvp(module.f, (1.3,), (1.0,))
    finally:
        programs.unload(module)


@pytest.mark.parametrize("body", NOT_WRITTEN)
def test_what_nothing_writes_is_read_item_by_item(body):
    module = lazy_program(body)
    try:
        holds(module.f)
    finally:
        programs.unload(module)


@pytest.mark.parametrize("over", ["itertools.chain(a, a)", "reversed(a)", "d.values()"])
def test_a_checkpointed_loop_that_writes_what_it_reads_item_by_item_is_refused(over):
    pytest.importorskip("checkpoint_schedules")
    loop = f"for v in s2sad.checkpointed({over}, snapshots=2):\n    t += v\n    a[0] = d['b'] = x"
    module = lazy_program("import s2sad\na = [x, 1.0]\nd = {'a': x, 'b': 1.0}\n" + loop)
    try:
        with pytest.raises(s2sad.UnsupportedError, match="item by item"):
            s2sad.grad(module.f)(1.3)
    finally:
        programs.unload(module)


# --- a place that a method gives, and what is called ----------------------------------------------


class Twice:
    def __init__(self, v):
        self._v = v

    @property
    def v(self):
        return self._v * 2.0

    @v.setter
    def v(self, z):
        self._v = z


def tripled(o):
    o._v = o._v * 3.0
    return o._v


def added_by_a_call(x):
    o = Twice(x)
    o.v += tripled(o)
    return o._v * x


class TwiceItem:
    def __init__(self, a):
        self.a = a

    def __getitem__(self, i):
        return self.a[i] * 2.0

    def __setitem__(self, i, v):
        self.a[i] = v


def tripled_item(d):
    d.a[0] = d.a[0] * 3.0
    return d.a[0]


def item_added_by_a_call(x):
    d = TwiceItem([x, 1.0])
    d[0] += tripled_item(d)
    return d.a[0] * x


class Counts:
    def __init__(self, v):
        self._v = v
        self.hits = 1.0

    @property
    def v(self):
        self.hits += self._v
        return self._v

    @v.setter
    def v(self, z):
        self._v = z


def getter_writes(x):
    o = Counts(x)
    o.v += o.hits
    return o._v * o.hits


class CountsItem:
    def __init__(self, a):
        self.a = a
        self.n = 1.0

    def __getitem__(self, i):
        self.n = self.n * 2.0
        return self.a[i]

    def __setitem__(self, i, v):
        self.a[i] = v


def item_getter_writes(x):
    d = CountsItem([x, x])
    d[1] += d.n
    return d.a[1] * x


class CountsInts:
    def __init__(self):
        self._k = 1
        self.h = 1

    @property
    def k(self):
        self.h += 1
        return self._k

    @k.setter
    def k(self, z):
        self._k = z


def getter_counts(x):
    o = CountsInts()
    o.k += o.h
    return x**o._k


class Rows:
    def __init__(self, x):
        self._s = [x]
        self.n = 1.0

    @property
    def s(self):
        self.n *= 2.0
        return self._s

    @s.setter
    def s(self, v):
        self._s = v


def list_extended(x):
    o = Rows(x)
    o.s += [o.n * x]
    return o.s[0] * o.s[1] * len(o.s)


class Items:
    def __init__(self, x):
        self.a = [x, x * x, 1.0]

    def __getitem__(self, i):
        return self.a[i]

    def __setitem__(self, i, v):
        self.a[i] = v


def index_of(d):
    d.a[2] *= 2.0
    return 0


def right_of(d):
    d.a[0] += 5.0
    return d.a[2]


def call_in_the_index(x):
    d = Items(x)
    d[index_of(d)] += right_of(d)
    d[index_of(d) + 1] *= d.a[2]
    return d.a[0] * d.a[1] + d.a[2]


def choice_on_the_right(x):
    o = Counts(x)
    o.v += o.hits if x > 0 else 1.0
    o.v *= o.hits + o.v
    return o._v * o.hits


def double(v):
    return v * 2.0


def square(v):
    return v * v


def replaced(p, v):
    p.g = square
    return v * 3.0


class Held:
    def __init__(self):
        self.g = double


def callee_replaced(x):
    p = Held()
    return p.g(replaced(p, x))


class Scaled:
    def __init__(self, k):
        self.k = k

    def __call__(self, v):
        return v * self.k


class Bare:
    pass


def replaced_callable(p, v):
    p.g = Scaled(v)
    return v * 3.0


def callable_replaced(x):
    p = Bare()
    p.g = Scaled(2.0)
    return p.g(replaced_callable(p, x))


class Switching:
    def __init__(self):
        self.g = double
        self.n = 0

    def replaced(self, v):
        self.n += 1
        if self.n > 1:
            self.g = square
        return v * 3.0

    def go(self, v):
        return self.g(self.replaced(v)) + self.g(self.replaced(v)) * 2.0


def callee_switched(x):
    return Switching().go(x)


def callee_kept(x):
    p = Held()
    return p.g(double(x)) + p.g(x * x)


class Number:
    def __init__(self, v):
        self.v = v

    def add(self, k):
        return self.v + k


def replaced_method(p, n):
    p.g = n.add
    return n.v * 2.0


def method_replaced(x):
    p = Bare()
    p.g = Number(x).add
    return p.g(replaced_method(p, Number(x * x)))


READ_FIRST = [
    *(added_by_a_call, item_added_by_a_call, getter_writes, item_getter_writes, getter_counts),
    *(list_extended, call_in_the_index, choice_on_the_right, callee_kept),
]


@pytest.mark.parametrize("f", READ_FIRST)
def test_a_place_is_read_before_what_is_added_is_computed(f):
    holds(f, 0.6)


@pytest.mark.parametrize(
    "f", [callee_replaced, callable_replaced, callee_switched, method_replaced]
)
def test_a_callee_that_its_arguments_replace_is_refused(f):
    with pytest.raises(s2sad.UnsupportedError, match="is looked up before"):
        s2sad.grad(f)(0.6)
    with pytest.raises(s2sad.UnsupportedError, match="is looked up before"):
        s2sad.jvp(f, (0.6,), (1.0,))
