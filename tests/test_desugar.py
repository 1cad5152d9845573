"""map, filter, reduce and getters: what they stand for is derived."""

import functools
import math
import operator

import numpy as np
import pytest
from slopes import check

import s2sad

X = np.array([0.7, -1.2, 0.4])


def square(a):
    return a * a


def line(a, b):
    return a * b + a


def mapped(x, n):
    return sum(map(square, x)) * n


def mapped_lambda(x, n):
    return sum(map(lambda v: v * n, x))


def mapped_over_two(x, n):
    return sum(list(map(lambda v, w: v * w * n, x, x * n)))


def mapped_library(x, n):
    return max(map(math.sin, x)) * n + sum(map(operator.mul, x, x))


def mapped_to_an_array(x, n):
    return np.sum(np.array(list(map(square, x)))) * n


def mapped_in_a_loop(x, n):
    s = 0.0
    for v in map(square, x):
        if v > 1.0:
            continue
        s = s + v * n
    return s


def mapped_lambda_in_a_loop(x, v):
    s = 0.0
    for y in map(lambda v: v * v, x):
        s = s + y * v
    return s * v


def filtered(x, n):
    return sum(filter(lambda v: v > 0, x)) * n


def mapped_and_filtered(x, n):
    return sum(map(lambda v: v * v * n, filter(lambda v: v > 0.0, map(square, x))))


def reduced(x, n):
    return functools.reduce(line, x, n)


def reduced_without_start(x, n):
    return functools.reduce(operator.mul, x) * n


def reduced_a_display(x, n):
    return functools.reduce(lambda a, b: a * b + a, [x[0], n, x[1] * n], 1.0)


def reduced_a_map(x, n):
    return functools.reduce(lambda a, b: a + b * n, map(square, x), n)


def by_itemgetter(x, n):
    first = operator.itemgetter(0)
    a, b = operator.itemgetter(1, 2)((x[0], n, x[1]))
    return first(x) * a * b


def by_attrgetter(x, n):
    return np.sum(operator.attrgetter("T")(x) * x) * n


FUNCTIONS = [
    *(mapped, mapped_lambda, mapped_over_two, mapped_library, mapped_to_an_array),
    *(mapped_in_a_loop, mapped_lambda_in_a_loop, filtered, reduced, reduced_without_start),
    *(mapped_and_filtered, reduced_a_display, reduced_a_map, by_itemgetter, by_attrgetter),
]


@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_what_is_applied_to_all(fn):
    check(fn, X, 1.2)


def test_a_map_of_a_lambda_reads_as_a_comprehension():
    text = s2sad.grad(mapped_lambda).source(X, 1.2)
    assert "for v in x:" in text


def test_what_is_mapped_runs_once():
    seen = []

    def noted(v):
        seen.append(1.0)
        return v * v

    def f(x):
        return sum(map(noted, x))

    s2sad.grad(f)(X)
    assert len(seen) == 3


def kept_lazy(x):
    lazy = map(square, x)
    return next(lazy) + sum(lazy)


def test_a_map_that_is_kept_is_refused():
    with pytest.raises(s2sad.Error):
        s2sad.grad(kept_lazy)(X)
