"""Lazy sequences, tuples, choices by a key, lists that grow: values, gradients, refusals."""

import collections
import copy
import functools
import re

import numpy as np
import pytest

import s2sad
from tests.test_writes_containers import leaves, slope
from tests.writing_deques import PROGRAMS as DEQUES
from tests.writing_growing import PROGRAMS as GROWING
from tests.writing_indices import PROGRAMS as INDICES
from tests.writing_lazy import PROGRAMS, A, B

CASES = [
    pytest.param(f, args, k, id=f"{f.__name__}-{k}-{len(args[0])}")
    for f, args in [*PROGRAMS, *GROWING, *INDICES, *DEQUES]
    for k in range(len(args))
    if leaves(args[k])
]


@pytest.mark.parametrize("f, args, k", CASES)
def test_gradient(f, args, k):
    given = copy.deepcopy(list(args))
    derived = s2sad.value_and_grad(f, wrt=k)
    value, gradient = derived(*given)
    assert value == f(*copy.deepcopy(list(args)))
    assert np.allclose(leaves(gradient), slope(f, args, k), rtol=1e-6, atol=1e-7)
    assert all(leaves(a) == leaves(b) for a, b in zip(given, args, strict=True))
    assert leaves(derived(*given)[1]) == leaves(gradient)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("f, args, k", CASES)
def test_pullback_may_be_called_again(f, args, k):
    given = copy.deepcopy(list(args))
    value, pullback = s2sad.vjp(f, *given, wrt=k)
    first, second = leaves(pullback(1.0)), leaves(pullback(1.0))
    assert value == f(*copy.deepcopy(list(args)))
    assert first == second and np.allclose(first, slope(f, args, k), rtol=1e-6, atol=1e-7)
    assert all(leaves(a) == leaves(b) for a, b in zip(given, args, strict=True))


def changed_between(x, y):
    k = 2.0
    parts = (a * k for a in x)
    k = 3.0
    return sum(parts) * y[0]


def rebound_between(x, y):
    z = [v for v in x]  # noqa: C416
    pairs = zip(z, y, strict=True)
    z = [1.0, 2.0, 3.0]
    return sum(a * b for a, b in pairs) + z[0]


def written_between(x, y):
    z = [v for v in x]  # noqa: C416
    pairs = zip(z, y, strict=True)
    z[0] = 5.0 * y[1]
    total = 0.0
    for a, b in pairs:
        total += a * b * a
    return total


def read_twice(x, y):
    parts = (a * a for a in x)
    return sum(parts) * y[0] + sum(parts)


@pytest.mark.parametrize("k", [0, 1])
def test_what_goes_through_a_list_goes_through_that_list(k):
    gradient = s2sad.grad(rebound_between, wrt=k)(A, B)
    assert np.allclose(gradient, slope(rebound_between, (A, B), k), rtol=1e-6, atol=1e-7)


ANOTHER = [changed_between, written_between, read_twice]


@pytest.mark.parametrize("f", ANOTHER)
def test_what_may_be_another_where_it_is_read_is_refused(f):
    with pytest.raises(
        s2sad.UnsupportedError, match="only in part|read only once|does not know|read lazily"
    ):
        s2sad.grad(f)(A, B)


def returned(x, y):
    def products():
        return tuple(a * b for a, b in zip(x, y, strict=True))

    t = products()
    return t[0] * t[1]


def shown(x, y):
    t = tuple(a * a for a in x)
    return t[0] * y[0] if isinstance(t, tuple) else 0.0


@pytest.mark.parametrize("f", [returned, shown])
def test_a_tuple_of_unknown_length_that_may_be_told_from_a_list_is_refused(f):
    with pytest.raises(s2sad.Error) as caught:
        s2sad.grad(f)(A, B)
    assert "list" in caught.value.remedy


def unzipped(x, y):
    pairs = [(a, b) for a, b in zip(x, y, strict=True) if a > 0.5]
    xs, ys = zip(*pairs, strict=False)
    return sum(xs) * sum(ys)


def test_what_the_plain_call_raises_is_raised():
    with pytest.raises(ValueError, match="not enough values to unpack"):
        s2sad.grad(unzipped)(0.1 * A, B)
    assert np.allclose(s2sad.grad(unzipped)(A, B), slope(unzipped, (A, B), 0))


def rk4(f, y, h):
    k1 = f(y)
    k2 = f(tuple(a + h / 2 * b for a, b in zip(y, k1, strict=True)))
    k3 = f(tuple(a + h / 2 * b for a, b in zip(y, k2, strict=True)))
    k4 = f(tuple(a + h * b for a, b in zip(y, k3, strict=True)))
    return tuple(
        a + h * (p + 2 * q + 2 * r + s) / 6 for a, p, q, r, s in zip(y, k1, k2, k3, k4, strict=True)
    )


def swinging(y, w):
    for _ in range(3):
        y = rk4(lambda s: (s[1], -w * np.sin(s[0])), y, 0.1)
    return np.sum(y[0] * y[1])


@pytest.mark.parametrize("y", [(0.3, 0.4), (A, B)])
def test_tuples_of_a_state_are_of_its_length(y):
    for k in range(2):
        gradient = s2sad.grad(swinging, wrt=k)(y, 1.3)
        assert np.allclose(leaves(gradient), slope(swinging, (y, 1.3), k), rtol=1e-6, atol=1e-7)
    text = s2sad.grad(swinging).source(y, 1.3)
    assert "items" not in text.replace("tuple_items", "")


def replaced_meanwhile(x, y):
    d = {"a": []}

    def other():
        d["a"] = [9.0]
        return x[0]

    d["a"] += [other()]
    return len(d["a"]) * x[0] * y[0]


def counted(x, y):
    total = 0.0

    def add(v):
        nonlocal total
        total += v * v

    for a, step in zip(x, [add, add], strict=False):
        step(a * y[0])
    return total


def kept(v, seen=[]):  # noqa: B006
    seen.append(v)
    return sum(seen)


def in_a_default(x, y):
    return kept(x[0]) * kept(y[0])


def grown_inside(x, y):
    def squares():
        t = ()
        for a in x:
            t += (a * a,)
        return t

    return squares()[0] * y[0]


@pytest.mark.parametrize(
    "f, words",
    [
        (replaced_meanwhile, "then computes its right side, which may set it"),
        (counted, "The result depends on `total`, and an inner function rebinds it"),
        (in_a_default, "something that lasts from call to call"),
        (grown_inside, "a tuple of 0 on one path"),
    ],
)
def test_what_is_not_there_is_refused_by_name(f, words):
    with pytest.raises(s2sad.UnsupportedError, match=words) as caught:
        s2sad.grad(f)(A, B)
    assert caught.value.remedy and caught.value.place


def another_name(m, x):
    idx = [slice(None)] * 2
    other = idx
    other[0] = 0
    return np.sum(m[tuple(idx)] * x)


def test_indices_that_the_program_does_not_tell_are_refused():
    with pytest.raises(s2sad.UnsupportedError):
        s2sad.grad(another_name)(np.outer(A, B), A)


def shifted(m):
    at = [slice(None)] * m.ndim
    at[1] = slice(1, -1)
    return np.sum(m[tuple(at)] ** 2)


def test_slices_stand_in_the_index():
    text = s2sad.grad(shifted).source(np.outer(A, B))
    assert "m[:, 1:-1]" in text and re.search(r"m_bar\[:, 1:-1\] \+?=", text)


def rotated(x, y):
    q = collections.deque(x)
    q.rotate(1)
    return q[0] * y[0]


def summed(q):
    return sum(q)


def handed_over(x, y):
    q = collections.deque([x[0], y[0]])
    return summed(q) * q[0]


def test_deques_that_a_list_does_not_stand_for_are_refused():
    with pytest.raises(
        s2sad.Error, match="no derivative rule for|written in place|changes memory"
    ) as caught:
        s2sad.grad(rotated)(A, B)
    assert caught.value.remedy


def test_a_deque_that_is_only_looked_at_may_be_handed_over():
    x_bar, y_bar = s2sad.grad(handed_over, wrt=(0, 1))(A, B)
    assert x_bar[0] == pytest.approx(2.0 * A[0] + B[0]) and y_bar[0] == pytest.approx(A[0])


def cached_inside(x, y):
    @functools.lru_cache(maxsize=None)
    def f(n):
        return x[n] if n < 2 else f(n - 1) * y[0] + f(n - 2)

    return f(5)


def test_a_cache_around_an_inner_function_is_seen_through_with_a_warning():
    with pytest.warns(UserWarning, match="functools.lru_cache around f has no effect"):
        gradient = s2sad.grad(cached_inside)(A, B)
    assert np.allclose(gradient, slope(cached_inside, (A, B), 0), rtol=1e-6, atol=1e-7)


def remembered(x, y):
    memo = {}

    def f(n):
        if n not in memo:
            memo[n] = x[n] if n < 2 else f(n - 1) * y[0] + f(n - 2)
        return memo[n]

    return f(5)


@pytest.mark.parametrize("k", [0, 1])
def test_a_recursion_that_fills_a_dict(k):
    gradient = s2sad.grad(remembered, wrt=k)(A, B)
    assert np.allclose(gradient, slope(remembered, (A, B), k), rtol=1e-6, atol=1e-7)


def worked_out_once(x, y):
    memo = {}

    def f(n):
        if n not in memo:
            memo[n] = np.sin(x[n]) * y[n]
        return memo[n]

    return f(0) * f(1) * f(0)


def test_a_closure_that_remembers_and_does_not_call_itself():
    for k in range(2):
        gradient = s2sad.grad(worked_out_once, wrt=k)(A, B)
        assert np.allclose(gradient, slope(worked_out_once, (A, B), k), rtol=1e-6, atol=1e-7)
