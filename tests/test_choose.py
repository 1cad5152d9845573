"""Functions as values: chosen by a branch, by a loop, by a key."""

import math

import numpy as np
import pytest
from slopes import check

import s2sad


def square(a):
    return a * a


def cube(a):
    return a * a * a


FUNCTIONS = (square, np.sin)
TABLE = {"tanh": np.tanh, "square": square, "half": lambda v: 0.5 * v}


def over_a_tuple(x, n):
    for layer in (np.tanh, np.sin):
        x = layer(x) * n
    return x


def over_users_functions(x, n):
    for layer in (square, np.sin, square):
        x = layer(x) * n
    return x


def over_a_list(x, n):
    steps = [math.sin, square, lambda v: v * n]
    for step in steps:
        x = step(x)
    return x


def over_a_global(x, n):
    for f in FUNCTIONS:
        x = f(x) * n
    return x


def over_pairs(x, n):
    for f, w in ((np.tanh, 2.0), (square, n)):
        x = f(x) * w
    return x


def over_zip(x, n):
    for f, w in zip((np.tanh, square), (2.0, n)):
        x = f(x) * w
    return x


def in_a_sum(x, n):
    return sum(f(x) * n for f in (np.sin, np.cos, square))


def that_varies(x, n):
    f = square
    for _ in range(3):
        x = f(x) * n
        f = cube if f is square else square
    return x


def by_key(x, n):
    return TABLE["tanh"](x) * TABLE["square"](n) * TABLE["half"](x)


def by_position(x, n):
    f = (square, np.sin)
    return f[0](x) + f[1](n)


ALL = [
    *(over_a_tuple, over_users_functions, over_a_list, over_a_global, over_pairs, over_zip),
    *(in_a_sum, that_varies, by_key, by_position),
]


@pytest.mark.parametrize("fn", ALL, ids=lambda fn: fn.__name__)
def test_one_of_several_functions(fn):
    check(fn, 0.7, 1.2)


def by_a_branch(x, n, flag):
    f = math.sin if flag else math.cos
    return f(x) * n


def by_a_statement(x, n, flag):
    if flag:
        f = square
    else:
        f = cube
    return f(x) * f(n)


def between_lambdas(x, n, flag):
    f = (lambda v: v * x) if flag else (lambda v: v * n * n)
    return f(n) + f(x)


@pytest.mark.parametrize("flag", [True, False])
@pytest.mark.parametrize("fn", [by_a_branch, by_a_statement, between_lambdas])
def test_a_function_chosen_by_a_branch(fn, flag):
    check(fn, 0.7, 1.2, flag, constant=(2,))


def by_name(x, n, which):
    return TABLE[which](x) * n


@pytest.mark.parametrize("which", ["tanh", "square", "half"])
def test_a_function_chosen_by_name(which):
    check(by_name, 0.7, 1.2, which, constant=(2,))


def given(x, functions):
    for f in functions:
        x = f(x) * x
    return x


def test_another_choice_is_derived_anew():
    for functions in ([square, np.sin], [np.sin, square], [np.sin, cube], [np.tanh, np.sin]):
        check(given, 0.7, functions, constant=(1,))


def only_sometimes(x, flag):
    if flag:

        def f(v):
            return v * x

    else:
        f = square
    return f(x)


def made_in_a_loop(x):
    fs = []
    for _ in range(2):

        def f(v):
            return v * x

        fs.append(f)
        fs.append(square)
    s = x
    for g in fs:
        s = g(s)
    return s


def test_an_inner_function_that_a_flag_chooses():
    for flag in (True, False):
        check(only_sometimes, 0.7, flag, constant=(1,))


def test_an_inner_function_without_a_name_of_its_own_is_refused():
    with pytest.raises(s2sad.Error):
        s2sad.grad(made_in_a_loop)(0.7)


def test_the_loop_stays_a_loop():
    text = s2sad.grad(over_a_tuple).source(0.7, 1.2)
    assert text.count("for ") == 1 and text.count("while saved:") == 1
    assert "layer is np.tanh" in text
