"""Calls of the user's functions: each becomes a pair, however it is called."""

import dataclasses
import functools
import itertools
import math
from typing import NamedTuple

import numpy as np
import pytest

import s2sad
from tests.slopes import check


def g(a, b, c=1.5):
    a = a * a
    return a * b + math.sin(c * a)


def twice(x, n):
    return g(x, n) + g(n, x)


def by_keyword(x, n):
    return g(b=x, a=n) + g(n, c=x, b=2.0)


def star(*args, scale=1.0, **more):
    return sum(a * a for a in args) * scale + more.get("shift", 0.0)


def starred(x, n):
    pair = (x, n)
    return star(*pair, x, scale=x)


def power(x, n):
    return x if n <= 1 else x * power(x, n - 1)


def even(x, n):
    return x if n < 1 else x * odd(x, n - 1)


def odd(x, n):
    return 1.0 if n < 1 else math.sin(x) + even(x, n - 1)


def recursive(x, n):
    return power(x, 4) * even(x, 3)


def scan(f, xs, init):
    for v in xs:
        init = f(init, v)
    return init


def passed(x, n):
    return scan(lambda s, v: s * v + x, [x, n, 2.0], 1.0) + scan(g, [x, x], n)


def closure(x, n):
    k = x * n

    def h(a):
        return a * k

    return h(x) + h(2.0)


def partial(x, n):
    h = functools.partial(g, x, c=n)
    return h(x) + h(3.0)


class Line:
    def __init__(self, slope):
        self.slope = slope

    def at(self, x):
        return self.slope * x * x

    def __call__(self, x):
        return self.at(x) + x

    @property
    def steep(self):
        return self.slope * 2.0


LINE = Line(1.5)


def methods(x, n):
    return LINE.at(x) * LINE(n) + LINE.steep * x


def several(a, b):
    return a * b, a + b


def results(x, n):
    p, q = several(x, n)
    _, r = several(p, x)
    return p * q + r


def in_a_loop(x, n):
    for i in range(3):
        x = g(x, n, x) * 0.5
    return x


def unused_result(x, n):
    g(x, n)
    return x * n


FUNCTIONS = [
    *(twice, by_keyword, starred, recursive, passed, closure, partial, methods, results),
    *(in_a_loop, unused_result),
]


@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_gradients(fn):
    h = 1e-6
    for x, n in ((0.7, 1.2), (1.1, 0.4)):
        want = [
            (fn(x + h, n) - fn(x - h, n)) / (2 * h),
            (fn(x, n + h) - fn(x, n - h)) / (2 * h),
        ]
        assert s2sad.grad(fn, wrt=(0, 1))(x, n) == pytest.approx(want, rel=1e-6, abs=1e-6)
        assert s2sad.grad(fn)(x, n) == pytest.approx(want[0], rel=1e-6, abs=1e-6)
        assert s2sad.grad(fn, wrt=1)(x, n) == pytest.approx(want[1], rel=1e-6, abs=1e-6)


def test_a_pair_is_written_once_per_pattern():
    text = s2sad.grad(twice, wrt=(0, 1)).source(0.7, 1.2)
    assert text.count("def g_reverse") == 1
    text = s2sad.grad(twice).source(0.7, 1.2)
    assert text.count("def g_reverse") == 2


def test_recursion_calls_itself():
    text = s2sad.grad(power).source(0.7, 4)
    assert text.count("def power_reverse") == 1


def test_an_effect_of_a_callee_happens_once():
    seen = []

    def noted(a):
        seen.append("here")
        return a * a

    def f(x):
        return noted(x) * x

    assert s2sad.grad(f)(2.0) == 12.0
    assert seen == ["here"]


def test_what_a_callee_keeps_is_not_what_the_caller_changes():
    def square(a):
        return np.sum(a * a)

    def f(x):
        y = x * 2.0
        s = square(y)
        y = y * 3.0
        return s + square(y)

    x = np.array([1.0, 2.0])
    assert np.allclose(s2sad.grad(f)(x), 2 * (4 + 36) * x)


def scaled(a, b, c=1.0):
    return a * b * c


TWICE_THREE = functools.partial(scaled, 2.0, c=3.0)


def by_partial(x):
    return TWICE_THREE(x) * x


def test_a_partial_brings_its_keywords_along():
    assert s2sad.grad(by_partial)(1.5) == pytest.approx(18.0)


def over_keys(d):
    s = 1.0
    for key in d:
        s = s * d[key]
    return s


def test_a_loop_over_the_keys_of_a_dict():
    assert s2sad.grad(over_keys)({"a": 2.0, "b": 3.0}) == {"a": 3.0, "b": 2.0}


def rebinds_captured(a):
    def scale(x):
        return x * a

    a = a * 3.0
    return scale(2.0)


def test_what_an_inner_function_reads_is_never_dead():
    value, gradient = s2sad.value_and_grad(rebinds_captured)(2.0)
    assert (value, gradient) == (12.0, 6.0)


def rebinds_target(x):
    b = x
    for y in [x, x, 0.3]:
        if b > 0.9:
            break
        y = b
        b = x * y
    return y


def test_a_loop_target_that_is_bound_again():
    assert s2sad.grad(rebinds_target)(0.6) == pytest.approx(1.08)


def spread(x):
    a = [*(x, x * x), 2.0]
    return a[0] * a[1] * a[2]


def test_starred_items_of_a_display():
    assert s2sad.grad(spread)(1.2) == pytest.approx(6.0 * 1.44)


def skips_its_loop(x):
    if x > 0:
        return x * x
    for _ in range(3):
        x = x * x
    return x


def test_a_pullback_of_a_path_without_the_loop():
    _, pullback = s2sad.vjp(skips_its_loop, 0.6)
    assert pullback(1.0) == pullback(1.0) == pytest.approx(1.2)


def looped_or_not(x, k):
    if k == 0:
        return x
    s = x
    for _ in range(k):
        s = np.sin(s) * x
    return s


def by_way_of(x, k):
    return looped_or_not(x, k)


@pytest.mark.parametrize("k", [0, 2])
def test_a_pullback_through_a_callee_that_may_return_early(k):
    gradient = s2sad.grad(by_way_of)(0.7, k)
    _, pullback = s2sad.vjp(by_way_of, 0.7, k, wrt="x")
    assert pullback(1.0) == pullback(1.0) == pytest.approx(gradient)


def rows(c):
    s = 0.0
    for i in range(2):
        new = [c[0]]
        for j in range(2):
            new.append(c[j] * new[-1])
        s += new[-1]
    return s


def test_a_pullback_leaves_lists_as_they_are():
    _, pullback = s2sad.vjp(rows, np.array([0.5, 0.7, 0.9]))
    for _ in range(2):
        np.testing.assert_allclose(pullback(1.0), [1.4, 0.5, 0.0])


def last_row(c):
    for i in range(2):
        new = [c[0]]
        for j in range(2):
            new.append(c[j])
    return new[-1]


def test_a_list_that_is_made_anew_in_every_round():
    np.testing.assert_allclose(s2sad.grad(last_row)(np.ones(3)), [0.0, 1.0, 0.0])


def test_einsum_is_no_write():
    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(s2sad.grad(contracted)(x), 2.0 * x)


def contracted(x):
    return np.einsum("i,i->", x, x)


def by_ellipsis(z):
    return (z[..., -1] ** 2).sum()


def test_an_ellipsis_in_an_index():
    z = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(s2sad.grad(by_ellipsis)(z), [[0, 0, 4.0], [0, 0, 10.0]])


def decided_inside(y):
    power, energy = 0.48, 1.0
    for _ in range(3):
        if isinstance(power, float):
            energy *= 1.0 if power < 1 else y
        power += energy
    return power


def quiet_inside(y):
    power, energy = 0.48, 1.0
    for _ in range(3):
        with np.errstate(all="ignore"):
            energy *= 1.0 if power < 1 else y
        power += energy
    return power


@pytest.mark.parametrize("f", [decided_inside, quiet_inside])
def test_an_arm_inside_what_is_no_block_of_its_own_is_noted_in_every_round(f):
    difference = (f(0.386 + 1e-6) - f(0.386 - 1e-6)) / 2e-6
    assert s2sad.grad(f)(0.386) == pytest.approx(difference, rel=1e-6)


def test_a_slice_of_a_structure_is_read_and_given_away():
    def total(ps, x):
        for q in ps:
            x = np.sin(x * q["b"])
        return x

    def f(p, x):
        most = p[:-1]
        h = total(most, x)
        for q in most:
            h = h * q["b"]
        for q in p[1:]:
            h = np.tanh(h * q["b"])
        return np.sum(h)

    p = [{"b": np.array([0.3 + i, 0.8 - i])} for i in range(3)]
    x = np.array([0.5, 0.7])
    gradient = s2sad.grad(f)(p, x)
    for i, j in itertools.product(range(3), range(2)):
        p[i]["b"][j] += 1e-6
        above = f(p, x)
        p[i]["b"][j] -= 2e-6
        below = f(p, x)
        p[i]["b"][j] += 1e-6
        assert abs(gradient[i]["b"][j] - (above - below) / 2e-6) < 1e-8


def stirred(s):
    a, b = s
    for _ in range(3):
        a = np.tanh(a * b)
        b = np.sin(a + b)
    return b, -a


def stirred_whole(s):
    k = stirred(s)
    return s[0] * k[0] + s[1] * k[1]


def stirred_in_a_list(rows):
    total = 0.0
    for row in rows:
        k = stirred(row)
        total += row[0] * k[0] * k[1]
    return total


def stirred_item(pair, w):
    (a, b), c = pair
    k = stirred(pair[0])
    return a * k[0] * w + k[1] * b * c


def test_what_a_reverse_gives_for_a_tuple_is_computed_once():
    check(stirred_whole, (0.3, 0.4))
    check(stirred_in_a_list, [(0.3, 0.4), (0.7, -0.2)])
    check(stirred_item, ((0.3, 0.4), 0.6), 0.9)
    assert s2sad.grad(stirred_whole).source((0.3, 0.4)).count("= stirred_reverse(") == 1


def growth(x, n):
    if n == 0:
        return x, 1.0
    a, b = growth(1.1 * x, n - 1)
    return a * b + x, a


def halves(f, a, b, n):
    m = 0.5 * (a + b)
    if n == 0:
        return (b - a) * f(m), 1
    (left, p), (right, q) = halves(f, a, m, n - 1), halves(f, m, b, n - 1)
    return left + right, p + q


def between(f, low, high, n):
    middle = 0.5 * (low + high)
    if n == 0:
        return low, high, middle
    if f(middle) > 0.0:
        return between(f, low, middle, n - 1)
    return between(f, middle, high, n - 1)


def unpacked(x, y):
    return growth(x, 3)[0] * growth(y, 2)[1]


def integrated(x, y):
    total, count = halves(lambda t: np.exp(-x * t * t) * np.cos(y * t), 0.0, y, 2)
    return total * count


def bisected(x, y):
    low, high, middle = between(lambda z: z**3 - x, x, y, 3)
    return low * high + middle


@pytest.mark.parametrize("fn", [unpacked, integrated, bisected], ids=lambda fn: fn.__name__)
def test_recursions_that_return_tuples(fn):
    check(fn, 0.7, 1.3)
    ahead, behind = (s2sad.grad(fn)(0.7 + h, 1.3) for h in (1e-5, -1e-5))
    product = s2sad.hvp(fn, (0.7, 1.3), (1.0, None))
    assert product == pytest.approx((ahead - behind) / 2e-5, rel=1e-6, abs=1e-9)


def repeated(x, y):
    a, b = (x * y,) * 2
    pairs = 2 * (x, y * y) + (b,)
    return a * pairs[2] * pairs[3] + pairs[4]


def test_tuples_that_are_repeated():
    check(repeated, 0.7, 1.3)


@dataclasses.dataclass
class Weights:
    hidden: np.ndarray
    out: np.ndarray


class Read(NamedTuple):
    out: np.ndarray
    times: float


def fields_called_out(x, y):
    weights = Weights(hidden=x, out=y)
    read = Read(out=x * y, times=2.0)
    for _ in range(2):
        weights = dataclasses.replace(weights, out=weights.out * x)
        read = read._replace(out=read.out * y)
    table = dict(out=weights.out, more=read.out)
    return np.sum(table["out"] * weights.hidden) * read.times + table["more"] @ x


def test_what_objects_hold_may_be_called_out():
    check(fields_called_out, np.array([0.7, 1.3]), np.array([0.4, -0.2]))
