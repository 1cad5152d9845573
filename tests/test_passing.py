"""Lengths across calls: what is the same to the caller is the same to the function, and back."""

import functools

import numpy as np
import pytest
import slopes

import s2sad
from s2sad import kinds as K
from s2sad.facts.lengths import alike
from s2sad.facts.passing import handed_back, rebase

X = np.arange(1.0, 6.0)
Y = np.arange(2.0, 7.0)


def double(x):
    return 2.0 * x


def of_a_part(x, y, k):
    return np.sum(double(y[:k]) * x)


def start(x, k):
    return x[:k]


def two_parts(x, i, j):
    return np.sum(start(x, i) * start(x, j))


def added(x, y):
    s = np.zeros(len(x) + 1)
    s[1:] = x
    return s[1:] * y


def through_a_call(x, k):
    return np.sum(added(x, x) * k)


@pytest.mark.parametrize("k", [1, 5])
def test_a_length_of_the_callee_is_none_of_the_caller(k):
    """Both functions call a parameter x: their lengths have nothing to do with each other."""
    x_bar, y_bar = s2sad.grad(of_a_part, wrt=(0, 1))(X, Y, k)
    np.testing.assert_allclose(x_bar, 2.0 * Y[:k] * np.ones(5))
    want = np.zeros(5)
    want[:k] = 2.0 * (np.sum(X) if k == 1 else X)
    np.testing.assert_allclose(y_bar, want)


@pytest.mark.parametrize(("i", "j"), [(1, 4), (4, 1), (4, 4)])
def test_two_results_of_one_function_have_lengths_of_their_own(i, j):
    got = s2sad.grad(two_parts)(X, i, j)
    want = np.zeros(5)
    for a, b in ((i, j), (j, i)):
        want[:a] += np.sum(X[:b]) if a == 1 else X[:b] if b != 1 else X[0]
    np.testing.assert_allclose(got, want)


def test_lengths_that_are_the_same_outside_are_the_same_inside():
    text = s2sad.source(through_a_call, args=(X, 2.0))
    assert "unbroadcast" not in text
    np.testing.assert_allclose(s2sad.grad(through_a_call)(X, 2.0), 4.0 * X)
    assert "unbroadcast" in s2sad.source(added_twice, args=(X, 1))


def added_twice(x, k):
    return np.sum(added(x, x[:k]))


def array(*dims):
    return K.Array("float64", dims)


def test_rebase_keeps_what_is_known_to_be_equal():
    n, m = K.Dim("n"), K.Dim("m", 1)
    known = {}
    first = rebase(array(n, m), "a", known)
    assert first == array(K.Dim("a.0"), K.Dim("a.1"))
    assert rebase(array(m, n), "b", known) == array(K.Dim("a.1"), K.Dim("a.0"))
    assert rebase(array(K.Dim("m")), "c", known) == array(K.Dim("c.0"))
    assert rebase(K.Num("int", None, K.MISSING, n), "d", known).dim == K.Dim("a.0")


def test_a_result_is_named_by_the_caller():
    n = K.Dim("n", 1)
    known = {}
    rebase(array(n), "a", known)
    result = array(K.Dim("a.0", 1), K.Dim("?own"), K.Dim("?own"))
    back = handed_back(result, known)
    assert back.dims[0] == K.Dim("n", 2)
    assert back.dims[1] == back.dims[2] != K.Dim("?own")
    assert handed_back(result, known).dims[1] != back.dims[1]


def test_kinds_are_the_same_whatever_lengths_are_called():
    one, two, n = K.Dim("?1"), K.Dim("?2"), K.Dim("n")
    left, right = (K.Tuple((array(d, n), array(d))) for d in (one, two))
    assert alike({"": left}, {"": right})
    assert not alike({"": array(one, one)}, {"": array(one, two)})
    assert not alike({"": array(n)}, {"": array(one)})
    assert not alike({"": array(n)}, {"": array(K.Dim("m"))})


A = np.linspace(0.15, 0.95, 9)
OF_THREE = functools.partial(lambda w, s: w * s, np.array([1.0, 2.0, 3.0]))
OF_ONE = functools.partial(lambda w, s: w * s, np.array([2.0]))


def partials(s):
    return np.sum(np.exp(OF_THREE(s) * OF_ONE(s)))


class Linear:
    def __init__(self, w):
        self.w = w

    def __call__(self, x):
        return x * self.w


THREE, ONE = Linear(np.array([1.0, 2.0, 3.0])), Linear(np.array([2.0]))


def bound_methods(s):
    return np.sum(np.exp(THREE(s) * ONE(s)))


def objs(x, k):
    o = Linear(x)
    p = Linear(x[:k])
    return np.sum(np.exp(o(x) * p(x[:k])))


def lists(x, k):
    parts = [x, x[:k], x[k : k + 1]]

    def mul(ps):
        return ps[0] * ps[1]

    a = mul(parts)
    parts[1] = x
    b = mul(parts)
    return np.sum(np.exp(a * b * parts[2]))


def changes(ps, x):
    ps[0] = ps[0][:1] * 2.0
    return ps[0]


def list_changed_by_call(x):
    ps = [x * 1.0, x]
    r = changes(ps, x)
    return np.sum(np.exp(ps[0] * x)) + np.sum(r * x)


def same(x, y):
    return np.exp(x * y)


def two_uses(x, k):
    return np.sum(same(x, x)) + np.sum(same(x, x[:k]))


def three(x, y, z):
    return np.exp(x * y) * z


def shared_pairs(a, k):
    u = a[:k]
    v = a[1 : k + 1]
    return np.sum(three(a[:k], u, v)) + np.sum(three(u, a, v))


def nested(a, k):
    def inner(v):
        return v * a[:k]

    def outer(v):
        return inner(v) * v

    return np.sum(outer(a[:k]) * outer(a))


def rec(x, y, n):
    if n == 0:
        return x
    return rec(y, x, n - 1) * 1.0


def recursion_swaps(a):
    u = a[:1] * 1.0
    return np.sum(np.exp(rec(a, u, 1) * a)) + np.sum(np.exp(rec(a, u, 2) * u))


def shorter(x, n):
    if n == 0:
        return x * 1.0
    y = shorter(x[1:], n - 1)
    return y * x[-1]


def recursion_shrinks(a):
    return np.sum(np.exp(shorter(a, 2) * shorter(a, 8)))


def product_of_two(v):
    p, q = v
    return p * q


def unpack_rebound(x, k):
    s = x[:k]
    r = product_of_two(s)
    k = 1
    t = x[:k]
    return np.sum(np.exp(t * s) * r)


def last_of_calls(a):
    s = 0.0
    last = a[:1]
    for i in range(1, 4):
        cur = same(a[:i], a[:i])[: 1 + i % 2]
        s = s + np.sum(cur * last)
        last = cur
    return s


def dicts(a, k):
    d = {"w": a, "b": a[:k]}

    def use(d):
        return d["w"] * d["b"]

    r = use(d)
    d["b"] = a
    return np.sum(np.exp(r * use(d)))


def each_of(items, x):
    s = 0.0
    for v in items:
        s = s + np.sum(np.exp(v * x))
    return s


def items_of_lists(a):
    return each_of([a[:1], a[:3], a[:1]], a[:3]) + each_of([a[:3], a[:3]], a[:3])


def star(*vs):
    return np.exp(vs[0] * vs[1])


def stars(a):
    return np.sum(star(a, a[:1]) * star(a, a)) + np.sum(star(a[:1], a[:1]) * a)


def kw(**vs):
    return np.exp(vs["p"] * vs["q"])


def kws(a):
    return np.sum(kw(p=a, q=a[:1]) * kw(p=a, q=a)) + np.sum(kw(p=a[:1], q=a[:1]) * a)


def perhaps_none(a, c, k):
    v = None if c < 0 else a[:k]

    def g(v, w):
        return w * 1.0 if v is None else v * w

    return np.sum(np.exp(g(v, a) * a))


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (partials, (0.3,)),
        (bound_methods, (0.3,)),
        (objs, (A, 1)),
        (lists, (A, 1)),
        (list_changed_by_call, (A,)),
        (two_uses, (A, 1)),
        (two_uses, (A, 9)),
        (shared_pairs, (A[:3], 1)),
        (nested, (A, 1)),
        (nested, (A, 9)),
        (recursion_swaps, (A,)),
        (recursion_shrinks, (A,)),
        (unpack_rebound, (A, 2)),
        (last_of_calls, (A,)),
        (dicts, (A, 1)),
        (items_of_lists, (A,)),
        (stars, (A,)),
        (kws, (A,)),
        (perhaps_none, (A, 1, 1)),
        (perhaps_none, (A, -1, 1)),
    ],
)
def test_gradient(f, args):
    slopes.check(f, *args, constant=(1, 2)[: len(args) - 1])


def test_arrays_in_objects_and_dicts_that_are_as_long_outside_are_as_long_inside():
    def used(d, x):
        return d["w"] * x

    def f(x):
        return np.sum(used({"w": np.sin(x)}, x))

    assert "unbroadcast" not in s2sad.grad(f).source(A)
