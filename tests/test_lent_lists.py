"""A called function is given lists, alone or in structures, that its caller makes longer later."""

from typing import NamedTuple

import numpy as np
import pytest
import slopes

import s2sad


class Pair(NamedTuple):
    c: list
    m: float


def by_position(*t):
    return sum(v * t[1] for v in t[0])


def unpacked(*t):
    c, m = t
    return sum(v * m for v in c)


def by_word(**t):
    return sum(v * t["m"] for v in t["c"])


def of_pair(t):
    c, m = t
    return sum(v * m for v in c)


def of_table(t):
    return sum(v * t["m"] for v in t["c"])


def of_fields(t):
    c = t.c
    return sum(v * t.m for v in c)


def of_parts(t):
    return sum(sum(v * w for w in t[1]) for v in t[0][0])


def either(c, m, e):
    t = c if m > 0 else e
    return sum(v * m for v in t)


def filling(*t):
    c, m = t
    c.append(m)
    return sum(v * m for v in c) + sum(v * m for v in t[0])


CALLS = {
    "by_position": lambda c, x: by_position(c, x),
    "unpacked": lambda c, x: unpacked(c, x),
    "by_word": lambda c, x: by_word(c=c, m=x),
    "of_pair": lambda c, x: of_pair((c, x)),
    "of_table": lambda c, x: of_table({"c": c, "m": x}),
    "of_fields": lambda c, x: of_fields(Pair(c, x)),
    "of_parts": lambda c, x: of_parts(((c, x), c)),
    "either": lambda c, x: either(c, x, c),
    "filling": lambda c, x: filling(c, x),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_list_that_grows_after_the_call(call):
    def grown(x, xs):
        c = list(xs)
        y = call(c, x)
        c.append(x)
        return y * x + c[-1]

    slopes.check(grown, 1.3, [0.5, 0.7, -0.2])


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_pullbacks_of_a_list_that_grows_after_the_call(call):
    def grown(x, xs):
        c = list(xs)
        y = call(c, x)
        c.append(x)
        return y * x + c[-1]

    _, pullback = s2sad.vjp(grown, 1.3, [0.5, 0.7, -0.2])
    expected = s2sad.grad(grown, wrt=(0, 1))(1.3, [0.5, 0.7, -0.2])
    for _ in range(2):
        x_bar, xs_bar = pullback(1.0)
        assert (x_bar, *xs_bar) == pytest.approx((expected[0], *expected[1]))


def longer(*t):
    c, _ = t
    return np.sum(t[1])


def read_after(x, c):
    c = list(c)
    y = longer(c, x)
    c.append(1.0)
    return y


def test_a_list_that_carries_nothing():
    slopes.check(read_after, np.array([1.0, 0.6]), [0.8, 0.7])


def emptied(x, y):
    def pair():
        p = {"p": x}
        p["p"][0] = 1.0
        return x, y

    out = pair()
    y = out[1]
    np.add.at(x, 0, y)
    return np.sum(x * x) + 0.46 * y


def test_what_is_read_of_a_shadow_is_read_before_it_is_emptied():
    slopes.check(emptied, np.array([1.083, 0.821, 0.404]), 1.017)


class Work:
    def __init__(self, c):
        self.c = c

    @property
    def filled(self):
        c = self.c
        c += [1.0]


def forgotten(x, c):
    work = Work(c)
    c = work.filled
    return x


def test_zeros_are_made_of_a_list_as_it_was_given():
    assert s2sad.grad(forgotten, wrt=(0, 1))(0.5, [1.0, 2.0, 3.0]) == (1.0, [0.0, 0.0, 0.0])


# --- a list that loses items, under a name that is bound anew -------------------------------------


def popped_and_sorted(c):
    c.pop(0)
    c = sorted(c)
    return 3.0, 3.0


def popped_by_a_call(c):
    drop(c)
    c = 1.0
    return c, c


def drop(c):
    return c.pop(0)


@pytest.mark.parametrize("f", [popped_and_sorted, popped_by_a_call])
def test_each_pullback_works_on_a_list_of_its_own(f):
    c = [1.0, 2.0, 3.0]
    _, pullback = s2sad.vjp(f, c)
    assert pullback((1.0, 1.0)) == pullback((1.0, 1.0)) == [0.0, 0.0, 0.0]
    assert c == [1.0, 2.0, 3.0]
    s2sad.autodiff(s2sad.Reverse, f, s2sad.Active(c), seed=(1.0, 1.0))
    assert c == [2.0, 3.0]
