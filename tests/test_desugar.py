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


def bump(v):
    return math.sin(v) * v if v > 0.5 else v * v


def vectorized(x, n):
    return np.sum(np.vectorize(bump)(x) * np.vectorize(lambda v: v * x[0])(np.outer(x, x))) * n


def vectorized_number(x, n):
    return np.vectorize(bump)(x[0]) * n


def on_indices(x, n):
    return np.sum(np.fromfunction(lambda i, j: x[0] * i + x[1] * j * j, (3, 4)) ** 2) * n


def on_one_index(x, n):
    return np.sum(np.fromfunction(lambda i: np.sin(i * x[0]), (n,), dtype=np.float32))


@pytest.mark.parametrize("f", [vectorized, vectorized_number, on_indices, on_one_index])
def test_functions_that_numpy_calls(f):
    check(f, X, 3, constant=(1,))
    assert s2sad.value_and_grad(f)(X, 3)[0] == f(X, 3)


def test_vectorize_takes_the_dtype_of_the_first_result():
    """0 is an integer: NumPy rounds all results to integers, which carry no derivative."""

    def f(x):
        return np.sum(np.vectorize(lambda v: 0 if v < 0.0 else 3.0 * v)(x) * x)

    x = np.array([-0.7, 1.2, 0.4])
    assert s2sad.value_and_grad(f)(x)[0] == f(x)
    assert s2sad.grad(f)(x).tolist() == [0.0, 3.0, 1.0]


def test_vectorize_of_texts():
    """The first text is the shortest: the others are not cut to its length."""

    def f(x):
        names = np.vectorize(lambda s: 2 * s if s != "a" else s)(np.array(["a", "bcd"]))
        return np.sum(x * len(names[1]))

    assert s2sad.value_and_grad(f)(X)[0] == f(X)
