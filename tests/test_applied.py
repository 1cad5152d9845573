"""Functions made on the way: defaults and partials have the values they had when they were made."""

import functools

import numpy as np
import pytest
from slopes import check

import s2sad


def scaled(y, k):
    return y * k * k


def a_default(x, n):
    k = x * n

    def h(y, k=k):
        return y * k

    k = k * 3.0
    return h(x) + h(n, k=2.0) + k


def a_default_worked_out(x, n):
    def h(y, a=2.0, *, k=x * n):
        return y * k * a

    return h(x) + h(n, 3.0)


def a_default_of_a_lambda(x, n):
    h = lambda v, w=x * 2.0: v * w  # noqa: E731
    return h(n) * h(x, n)


def passed_on(x, n):
    def apply(f, held):
        return f(held) * held

    def h(y, k=x * n):
        return y * k

    return apply(h, n)


def captured(x, n):
    def h(y, k=x * n):
        return y * k

    def twice(v):
        return h(h(v))

    return twice(n)


def a_partial(x, n):
    h = functools.partial(scaled, k=x)
    x = x * 2.0
    return h(n) * x


def passed_on_and_bent(x, n):
    def apply(f, held):
        return f(held) * held

    def h(y, k=x * n):
        return np.sin(y * k)

    return apply(h, n)


FUNCTIONS = [a_default, a_default_worked_out, a_default_of_a_lambda, passed_on, captured, a_partial]
FUNCTIONS += [passed_on_and_bent]


@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_made_on_the_way(fn):
    check(fn, 0.7, 1.2)


def defaults_of_each_round(x):
    fs = []
    for i in range(3):
        fs.append(lambda v, i=i: v * i * x)
    return fs[0](x) + fs[1](x)


def partials_of_each_round(x):
    fs = []
    for i in range(3):
        fs.append(functools.partial(scaled, x * i))
    return fs[0](x) + fs[1](x)


@pytest.mark.parametrize("fn", [defaults_of_each_round, partials_of_each_round])
def test_what_is_kept_of_each_round_is_refused(fn):
    with pytest.raises(s2sad.Error):
        s2sad.grad(fn)(0.7)


def twice_as_much(f):
    def inner(v):
        return 2.0 * f(v)

    return inner


def decorated(x, n):
    @twice_as_much
    def h(v):
        return v * v * x

    return h(n)


def decorated_with_active(x, n):
    def scaled_by(f):
        return lambda v: x * f(v)

    @scaled_by
    def h(v):
        return v * v * n

    return h(n)


@pytest.mark.parametrize("fn", [decorated, decorated_with_active])
def test_a_decorator_of_an_inner_function_counts(fn):
    try:
        s2sad.grad(fn)(0.7, 1.2)
    except s2sad.Error:
        return
    check(fn, 0.7, 1.2)


def a_lambda_in_a_loop(x, n):
    for _ in range(2):
        h = lambda v: scaled(x, v)  # noqa: E731
        x = h(n) * 0.3
    return x


def test_functions_made_in_a_loop_and_called_there():
    check(a_lambda_in_a_loop, 0.7, 1.2)


def defaults_in_a_comprehension(x, n):
    fs = [lambda v, k=k: v * k for k in (x, n)]
    return fs[0](n) * fs[1](x)


def test_defaults_in_a_comprehension_are_those_of_their_round():
    with pytest.raises(s2sad.Error):
        s2sad.grad(defaults_in_a_comprehension)(0.7, 1.2)
