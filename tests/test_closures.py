"""Inner functions that call one another: what each captures reaches the one that uses it."""

import pytest
from slopes import check

import s2sad


def call_each_other(x, n):
    def even(v, k):
        return v if k == 0 else odd(v * x, k - 1)

    def odd(v, k):
        return v if k == 0 else even(v * n, k - 1)

    return even(x, 3)


def a_parameter_of_the_same_name(x, n):
    def scale(v):
        return v * n

    def both(n):
        return scale(n * x) * n

    return both(x)


def a_variable_of_the_same_name(x, n):
    def scale(v):
        return v * n

    n = n * 2.0

    def both(v):
        n = v * 3.0
        return scale(n) * n

    return both(x)


def a_chain_passed_on(x, n):
    def scale(v):
        return v * n

    def shift(v):
        return scale(v) + x

    def apply(f, n):
        return f(n) * n

    return apply(shift, x * x)


FUNCTIONS = [
    *(call_each_other, a_parameter_of_the_same_name, a_variable_of_the_same_name),
    a_chain_passed_on,
]


@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_inner_functions_that_call_one_another(fn):
    check(fn, 0.7, 1.2)


def test_a_pair_that_calls_itself_is_written_once():
    text = s2sad.grad(call_each_other, wrt=(0, 1)).source(0.7, 1.2)
    assert text.count("def even_forward") == text.count("def odd_forward") == 1
