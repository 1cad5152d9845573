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


def by_methodcaller(x, n):
    return operator.methodcaller("sum", 0)(x) * n * operator.methodcaller("mean", axis=0)(x * x)


def times(n, v):
    return v * v * n


def mapped_partial(x, n):
    return sum(map(functools.partial(times, n), x)) * n


def mapped_partial_in_a_loop(x, n):
    total = 0.0
    for v in map(functools.partial(times, n), x):
        total += v * n
    return total


def mapped_in_a_comprehension(x, n):
    v = 2.0 * n
    return sum(w * v for w in map(lambda v: v * n, x)) + sum(
        [w * n for w in map(square, x) if w > 0.1]
    )


def mapped_twice_in_a_comprehension(x, n):
    return sum(
        [v * w for v in map(square, map(square, x)) for w in map(functools.partial(times, n), x)]
    )


FUNCTIONS = [
    *(mapped_partial, mapped_partial_in_a_loop),
    *(mapped_in_a_comprehension, mapped_twice_in_a_comprehension),
    by_methodcaller,
    *(mapped, mapped_lambda, mapped_over_two, mapped_library, mapped_to_an_array),
    *(mapped_in_a_loop, mapped_lambda_in_a_loop, filtered, reduced, reduced_without_start),
    *(mapped_and_filtered, reduced_a_display, reduced_a_map, by_itemgetter, by_attrgetter),
]


@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_what_is_applied_to_all(fn):
    check(fn, X, 1.2)


def by_partial(p, data):
    if isinstance(data, list):
        return sum(map(functools.partial(by_partial, p), data))
    return p * data**2


def by_union(p, data):
    if isinstance(data, list | tuple):
        return sum([by_union(p, d) for d in data])
    return p * data**2


def by_union_of_three(p, data):
    if not isinstance(data, float | int | None):
        return sum(by_union_of_three(p, d) for d in data)
    return p * data**2


def scaled_by(n, data):
    return [scaled_by(n, d) for d in data] if isinstance(data, list) else n * data


@pytest.mark.parametrize("fn", [by_partial, by_union, by_union_of_three])
@pytest.mark.parametrize("data", [[1.0, 2.0], [[1.0, 2.0], [3.0]], [[[1.5], [0.5]]]])
def test_a_function_that_maps_itself_over_a_nested_list(fn, data):
    over_p, over_data = s2sad.grad(fn, wrt=(0, 1))(1.3, data)
    assert over_p == fn(1.0, data)
    _, along = s2sad.jvp(fn, (1.3, data), (1.0, data))
    assert along == pytest.approx(fn(1.0, data) + 2.0 * fn(1.3, data))
    assert over_data == scaled_by(2.6, data)


def loop_that_rebinds(p, data):
    total = 0.0
    for v in map(functools.partial(times, p), data):
        total, p = total + v, v
    return total


def test_a_partial_keeps_what_a_loop_binds_anew():
    with pytest.raises(s2sad.Error):  # or the value that p had when the partial was made
        s2sad.grad(loop_that_rebinds)(1.3, [1.0, 2.0])


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


def product_or_sum(a, b, c=2.0):
    return a * b * c if a > b else a + b


def vectorized_over_several(x, n):
    table = np.vectorize(product_or_sum)(x[:, None], x * n, 0.5)
    return np.sum(table**2) + np.sum(np.vectorize(lambda a, b: a * b)(x, x[0]))


def vectorized_to_a_dtype(x, n):
    return np.sum(np.vectorize(bump, otypes=[float])(x) * n)


VECTORIZED = [
    *(vectorized, vectorized_number, vectorized_over_several, vectorized_to_a_dtype),
    *(on_indices, on_one_index),
]


@pytest.mark.parametrize("f", VECTORIZED)
def test_functions_that_numpy_calls(f):
    check(f, X, 3, constant=(1,))
    assert s2sad.value_and_grad(f)(X, 3)[0] == f(X, 3)


@pytest.mark.xfail(strict=True, reason="what is an integer or a float counts as a float in kinds")
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


def cases(x, n):
    low, high = x < 0.0, x > 0.5
    made = np.piecewise(x * n, [low, high], [lambda v: v * v, risen, x[0]])
    return np.sum(made * x) + np.sum(np.piecewise(x, (low, ~low), (np.exp, -2.5)) * x)


def cases_with_arguments(x, n):
    A = np.outer(x, x)
    made = np.piecewise(A, [A < 0.0], [lambda v, a, b: a * v + b, line_of], x[0], b=n * x[1])
    return np.sum(made**2)


def risen(v):
    return np.sin(v) * v


def line_of(v, a, b):
    return v * v * a - b


def case_of_nothing(x, n):
    return np.sum(np.piecewise(x, [x < -9.0, x < 9.0], [np.log, np.sin]) ** 2) * n


def case_of_a_number(x, n):
    low = np.piecewise(x[0], [x[0] < 0.0, x[0] >= 0.0], [np.exp, np.sin])
    return low * n + np.piecewise(x[1], [x[1] < 0.0], [lambda v: v * v, 0.0])


def later_cases_win(x, n):
    scale = [lambda v: v * n, lambda v: v * v][1]
    first, second = scale, np.cos
    return np.sum(np.piecewise(x, [x > -5.0, x > 0.5, x > 0.6], [first, second, n]) * x)


CASES = [cases, cases_with_arguments, case_of_nothing, case_of_a_number, later_cases_win]


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_functions_for_parts_of_an_array(f):
    check(f, X, 1.5, constant=(1,))
    assert s2sad.value_and_grad(f)(X, 1.5)[0] == f(X, 1.5)
    value, moved = s2sad.jvp(lambda x: f(x, 1.5), (X,), (np.ones(3),))
    assert value == f(X, 1.5)
    assert moved == pytest.approx(np.sum(s2sad.grad(f)(X, 1.5)))


def test_a_case_takes_the_dtype_of_the_array():
    def f(x, k):
        return np.sum(np.piecewise(k, [k < 1, k >= 1], [lambda v: v * x[0], lambda v: v + 0.7]))

    k = np.arange(3)
    with pytest.raises(s2sad.ActivityError, match="returns an int, which changes in steps"):
        s2sad.grad(f)(X, k)
    value, moved = s2sad.jvp(lambda x: f(x, k) + x[0], (X,), (np.ones(3),))
    assert (value, moved) == (f(X, k) + X[0], 1.0)


def test_a_mask_instead_of_conditions_is_not_taken_for_them():
    def f(x):
        return np.sum(np.piecewise(x, [x[0] < 0.0, x[1] < 0.0], [lambda v: v * v, np.sin]))

    with pytest.raises((s2sad.Error, ValueError)):
        s2sad.grad(f)(X)


def test_functions_in_a_list_of_its_own_are_refused():
    def f(x):
        functions = [np.sin, np.cos]
        return np.sum(np.piecewise(x, [x < 0.0, x >= 0.0], functions))

    with pytest.raises(s2sad.MissingRuleError, match="np.piecewise has no derivative"):
        s2sad.grad(f)(X)


def square_and_more(v):
    return v * v, v + 1.0


def two_of_each(x):
    a, b = np.vectorize(square_and_more)(x)
    return np.sum(a * b)


def two_of_each_by_an_inner_function(x):
    def both(v):
        return v * v, v + 1.0

    a, b = np.vectorize(both)(x)
    return np.sum(a * b)


@pytest.mark.parametrize("f", [two_of_each, two_of_each_by_an_inner_function])
def test_vectorize_of_functions_that_return_several_values(f):
    x = np.array([0.7, 1.3])
    np.testing.assert_allclose(s2sad.grad(f)(x), 3.0 * x**2 + 2.0 * x)


def by_the_name_of_a_global(x):
    return np.sum(globals()["square_and_more"](x)[0])


def hidden_by_a_local(x):
    square_and_more = 2.0
    return np.sum(globals()["square_and_more"](x)[0]) * square_and_more


def test_a_global_by_its_name():
    x = np.array([0.7, 1.3])
    np.testing.assert_allclose(s2sad.grad(by_the_name_of_a_global)(x), 2.0 * x)
    with pytest.raises(s2sad.UnsupportedError, match="`globals` may read or write any variable"):
        s2sad.grad(hidden_by_a_local)(x)
