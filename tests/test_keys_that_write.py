"""A library calls methods of the user's through a key: what they write is seen, or refused."""

import itertools

import numpy as np
import programs
import pytest

import s2sad

HEAD = '''
import functools
import itertools
import operator

import numpy as np


class B:
    def __init__(self, m):
        self.m = m
        self.n = 0.0

    def rank(self):
        self.n = self.m
        return self.m

    @property
    def place(self):
        self.n = self.m
        return self.m

    def add(self):
        self.n += self.m
        return self.m

    def keep(self, v):
        self.n = v
        return self.m

    def less(self, other):
        self.n = other.m
        return self.m < other.m

    def size(self):
        return self.m

    @property
    def width(self):
        return self.m


class Other:
    """Its rank writes nothing."""

    def __init__(self, m):
        self.m = m
        self.n = 0.0

    def rank(self):
        return self.m


class Log:
    def __init__(self):
        self.total = 0.0

    def use(self, v):
        self.total = self.total + v
        return v


class Shop:
    def __init__(self, items):
        self.items = items

    def cost(self, i):
        return i.rank() * 2.0

    def best(self):
        return max(self.items, key=lambda i: self.cost(i))


class ByRank:
    def __init__(self, q):
        self.r = q.rank()

    def __lt__(self, other):
        return self.r < other.r


def through(q):
    return q.rank()


def deep(q, n):
    return q.rank() if n == 0 else deep(q, n - 1)


def by(w):
    return lambda q: q.rank() * w


RANK = operator.methodcaller("rank")

'''
TWO = "bs = [B(x[0]), B(x[1])]\n"
D = "d = {'a': B(x[0]), 'b': B(x[1])}\n"
# Each with KEY in it; those in RIGHT are right whatever the key, others for some.
RIGHT = {
    "sorted": TWO + "o = sorted(bs, key=KEY)\nreturn bs[0].n * 2.0 + o[0].n * o[1].m",
    "reverse": TWO + "o = sorted(bs, key=KEY, reverse=True)\nreturn bs[0].n * 2.0 + o[0].n",
    "max": TWO + "o = max(bs, key=KEY)\nreturn bs[0].n * 2.0 + o.n * o.m",
    "one": "o = min([B(x[0])], key=KEY)\nreturn o.n + o.m",
    "statement": TWO + "sorted(bs, key=KEY)\nreturn bs[0].n * 2.0 + bs[1].m",
    "test": TWO + "if max(bs, key=KEY).m > 0.0:\n    return bs[0].n * 2.0\nreturn x[0]",
    "list_map": TWO + "s = list(map(KEY, bs))\nreturn bs[0].n * 2.0 + s[0] * bs[1].m",
    "sum_map": TWO + "s = sum(map(KEY, bs))\nreturn bs[0].n * 2.0 + s",
    "any_map": TWO + "s = any(map(KEY, bs))\nreturn bs[0].n * 2.0 + bs[1].m * s",
    "keys": D + "w = sorted(d, key=lambda n: KEYS(d[n]))\nreturn d['a'].n * 2.0 + d[w[0]].m",
    "nested": "bs = [[B(x[0])], [B(x[1])]]\no = max(bs, key=lambda l: KEYS(l[0]))\n"
    "return bs[0][0].n * 2.0 + o[0].m",
    "loop": TWO + "s = 0.0\nfor b in sorted(bs, key=KEY):\n    s = s * 0.5 + b.n + b.m\nreturn s",
    "places": TWO + "w = sorted(range(2), key=lambda i: KEYS(bs[i]))\nreturn bs[w[0]].n * bs[1].m",
    "mixed": "bs = [B(x[0]), Other(x[1])]\no = max(bs, key=lambda q: q.rank())\n"
    "return bs[0].n * 2.0 + o.m",
}
EITHER = {
    "max_of": "a, b = B(x[0]), B(x[1])\no = max(a, b, key=KEY)\nreturn a.n * 2.0 + o.n",
    "sort": TWO + "bs.sort(key=KEY)\nreturn bs[0].n * 2.0 + bs[1].m",
    "values": D + "o = max(d.values(), key=KEY)\nreturn d['a'].n * 2.0 + o.n",
    "items": D + "w, o = min(d.items(), key=lambda kv: KEYS(kv[1]))\nreturn d['a'].n * 2.0 + o.m",
    "tuples": "bs = [(B(x[0]), 1), (B(x[1]), 2)]\no = max(bs, key=lambda t: KEYS(t[0]))\n"
    "return bs[0][0].n * 2.0 + o[0].m",
    "tuple": "bs = B(x[0]), B(x[1])\no = sorted(bs, key=KEY)\nreturn bs[0].n * 2.0 + o[0].m",
    "twice": TWO + "o = sorted(sorted(bs, key=KEY), key=lambda q: -KEYS(q))\n"
    "return bs[0].n * 2.0 + o[0].m",
    "generator": TWO + "o = max((b for b in bs), key=KEY)\nreturn bs[0].n * 2.0 + o.m",
    "filter": TWO + "o = list(filter(KEY, bs))\nreturn bs[0].n * 2.0 + o[0].m",
    "reduce": TWO + "s = functools.reduce(lambda t, q: t + KEYS(q), bs, 0.0)\n"
    "return bs[0].n * 2.0 + s",
    "accumulate": TWO
    + "s = list(itertools.accumulate(bs, lambda t, q: t + KEYS(q), initial=0.0))\n"
    "return bs[0].n * 2.0 + s[2]",
    "groupby": TWO + "s = 0.0\nfor k, g in itertools.groupby(bs, key=KEY):\n    s = s + 1.0\n"
    "return bs[0].n * 2.0 + s * bs[1].m",
    "vectorize": TWO + "g = np.vectorize(lambda i: KEYS(bs[int(i)]))\n"
    "return g(np.array([0.0, 1.0]))[0] + bs[0].n * 2.0",
    "along": TWO + "y = np.apply_along_axis(lambda r: r[0] * KEYS(bs[0]), 0, np.ones((2, 2)))\n"
    "return bs[0].n * 2.0 + y[0]",
}
KEYS = {
    "method": "lambda q: q.rank()",
    "property": "lambda q: q.place",
    "caller": "operator.methodcaller('rank')",
    "getter": "operator.attrgetter('place')",
    "unbound": "B.rank",
    "through": "through",
    "in_lambda": "lambda q: through(q)",
}
OTHER_KEYS = {
    "recursive": "lambda q: deep(q, 2)",
    "by_name": "lambda q: getattr(q, 'rank')()",
    "global": "RANK",
    "made": "by(2.0)",
    "partial": "functools.partial(through)",
    "adds": "lambda q: q.add()",
}
PURE = {
    "method": "lambda q: q.size()",
    "property": "lambda q: q.width",
    "caller": "operator.methodcaller('size')",
    "getter": "operator.attrgetter('width')",
    "unbound": "B.size",
}
SINGLE = {
    "groups": "bs = [B(0.3)]\na = x[0]\nk = lambda q: q.keep(a)\n"
    "for _, g in itertools.groupby(bs, key=k):\n    pass\nreturn bs[0].n * 2.0",
    "class": TWO + "o = sorted(bs, key=ByRank)\nreturn bs[0].n * 2.0 + o[0].m",
    "class_in_a_test": TWO
    + "if sorted(bs, key=ByRank)[0].m > 0.0:\n    return bs[0].n\nreturn x[0]",
    "captured": TWO + "a = x[2]\no = max(bs, key=lambda q: q.keep(a))\nreturn bs[0].n * o.m",
    "method_of_log": "log = Log()\no = max([x[0], x[1]], key=log.use)\nreturn o * log.total",
    "log": "log = Log()\no = sorted(x, key=lambda v: log.use(v))\nreturn o[0] * log.total",
    "appends": "seen = []\no = sorted([x[0], x[1]], key=lambda v: seen.append(v) or v)\n"
    "return o[0] * seen[1]",
    "held": "s = Shop([B(x[0]), B(x[1])])\nreturn s.best().n * 2.0 + s.items[0].n",
    "named": TWO + "k = lambda q: q.size()\no = max(bs, key=k)\nreturn bs[0].n * 2.0 + o.m",
    "by_get": "d = {'a': x[0], 'b': x[1]}\nw = sorted(d, key=d.get)\nreturn d[w[0]] * 2.0",
    "twins": "bs = [B(v) for v in x]\no = sorted(bs, key=lambda b: b.rank())\no[0].n *= 3.0\n"
    "return sum(b.n * b.m * (i + 1) for i, b in enumerate(o))",
    "compared_only": TWO
    + "k = functools.cmp_to_key(lambda p, q: -1 if p.size() < q.size() else 1)\n"
    "sorted(bs, key=k)\nreturn bs[0].n * 2.0 + bs[1].m",
}
REFUSED = {
    "map_of_a_caller": TWO + "s = sum(map(operator.methodcaller('rank'), bs))\nreturn bs[0].n + s",
    "compared": TWO + "k = functools.cmp_to_key(lambda p, q: -1 if p.less(q) else 1)\n"
    "sorted(bs, key=k)\nreturn bs[0].n * 2.0 + bs[1].m",
    "one_of_several": "bs = [B(x[0]), Other(x[1])]\ndef g(q):\n    h = q.rank\n    h()\n"
    "for i in range(2):\n    g(bs[i])\nreturn bs[0].n * 2.0 + bs[1].m",
}
X = np.array([1.3, 0.4, 0.7])
ALONG = np.array([0.3, -1.2, 0.7])


def loaded(body, key, params="x"):
    lines = body.replace("KEYS", f"({key})").replace("KEY", key).split("\n")
    return programs.load(f"{HEAD}\ndef f({params}):\n" + "".join(f"    {line}\n" for line in lines))


def is_right(body, key=""):
    """Say whether a program is differentiated in both modes; whatever is, is compared."""
    module = loaded(body, key)
    f, x, done = module.f, X.copy(), 0
    value = f(X)
    slopes = np.array([(f(X + e) - f(X - e)) / 2e-6 for e in 1e-6 * np.eye(3)])
    try:
        for derived, wanted in (
            (lambda: s2sad.value_and_grad(f)(x), slopes),
            (lambda: s2sad.jvp(f, (x,), (ALONG,)), slopes @ ALONG),
        ):
            try:
                got = derived()
            except s2sad.Error as error:
                assert type(error).__name__ != "InternalError"
                continue
            assert got[0] == pytest.approx(value, rel=1e-12)
            assert got[1] == pytest.approx(wanted, rel=1e-5, abs=1e-7)
            assert np.array_equal(x, X)
            done += 1
    finally:
        programs.unload(module)
    return done == 2


PLAIN = [use for use in RIGHT if use != "mixed"]


def served(uses, keys):
    """Return uses with keys; no rule serves map of a getter that the library makes."""
    getters = ("caller", "getter")
    pairs = itertools.product(uses, keys)
    return [(use, k) for use, k in pairs if not use.endswith("_map") or k not in getters]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("use, key", served(RIGHT, KEYS))
def test_what_a_key_writes_is_seen(use, key):
    assert is_right(RIGHT[use], KEYS[key])


@pytest.mark.sampled(4)
@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("use", EITHER)
def test_what_a_key_writes_is_seen_or_refused(use, key):
    is_right(EITHER[use], KEYS[key])


@pytest.mark.sampled(8)
@pytest.mark.parametrize("key", OTHER_KEYS)
@pytest.mark.parametrize("use", [*RIGHT, *EITHER])
def test_other_keys_that_write(use, key):
    is_right({**RIGHT, **EITHER}[use], OTHER_KEYS[key])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("use, key", served([*PLAIN, "values", "max_of", "tuples"], PURE))
def test_a_key_that_writes_nothing_is_as_it_was(use, key):
    assert is_right({**RIGHT, **EITHER}[use], PURE[key])


@pytest.mark.parametrize("name", SINGLE)
def test_single_programs(name):
    assert is_right(SINGLE[name])


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    assert not is_right(REFUSED[name])


def test_a_rank_of_another_class_counts_for_nothing():
    body = "bs = [Other(x[0]), Other(x[1])]\nb = B(x[2])\no = max(bs, key=lambda q: q.rank())\n"
    assert is_right(body + "return o.m * b.m + b.n")


GIVEN = {
    "max": "o = max(bs, key=KEY)\nreturn bs[0].n * o.n + bs[1].n",
    "one": "o = max(bs, key=KEY)\nreturn bs[0].n * o.n",
    "sorted": "o = sorted(bs, key=KEY)\nreturn bs[0].n * o[0].n * o[1].m + bs[1].n",
    "max_of": "a, b = bs\no = max(a, b, key=KEY)\nreturn a.n * o.n + b.n",
    "sum_map": "s = sum(map(KEY, bs))\nreturn bs[0].n * s + bs[1].n",
    "filter": "o = list(filter(KEY, bs))\nreturn o[0].n * bs[1].m + bs[1].n",
    "sort": "bs.sort(key=KEY)\nreturn bs[0].n * bs[1].m + bs[1].n",
    "items": "d = {'a': bs[0], 'b': bs[1]}\nw, o = min(d.items(), key=lambda kv: KEYS(kv[1]))\n"
    "return bs[0].n * o.m + bs[1].n",
}
BOTH = ("max", "one", "sorted", "max_of", "sum_map", "filter")
NUMBERS, STEP = np.array([1.3, 0.2, 0.4, 0.9]), np.array([0.3, -0.8, 0.5, 1.1])


def objects(module, numbers):
    bs = [module.B(numbers[0]), module.B(numbers[2])]
    bs[0].n, bs[1].n = numbers[1], numbers[3]
    return bs


def numbers_of(bs):
    return np.array([n for b in bs for n in (b.m, b.n)])


@pytest.mark.parametrize("key", ["lambda q: q.rank()", "lambda q: q.add()", "lambda q: q.place"])
@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("use", GIVEN)
def test_objects_that_the_caller_gives(use, mode, key):
    module = loaded(GIVEN[use], key, "bs")
    f, bs = module.f, objects(module, NUMBERS)
    moved = [objects(module, NUMBERS + e) for e in (*1e-6 * np.eye(4), *-1e-6 * np.eye(4))]
    values = np.array([f(m) for m in moved])
    wanted = (values[:4] - values[4:]) / 2e-6
    own = list(bs)
    try:
        if mode == "reverse":
            value, made = s2sad.value_and_grad(f)(bs)
            got = numbers_of(made)
        else:
            value, got = s2sad.jvp(f, (bs,), (objects(module, STEP),))
            wanted = wanted @ STEP
    except s2sad.UnsupportedError:
        assert mode == "reverse" and use not in BOTH
    else:
        assert value == pytest.approx(f(objects(module, NUMBERS)), rel=1e-12)
        assert got == pytest.approx(wanted, rel=1e-5, abs=1e-7)
    finally:
        programs.unload(module)
    assert all(a is b for a, b in zip(bs, own, strict=True))
    assert np.array_equal(numbers_of(bs), NUMBERS)
