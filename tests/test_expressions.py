"""Operands are evaluated from left to right, each as it is at its turn."""

import numpy as np
import pytest

import s2sad


def in_a_product(x):
    y = 1.0
    return y * x + (y := x * x) * y


def in_a_call(x):
    y = 1.0
    return np.maximum(y, (y := x * x)) * y


def in_a_tuple(x):
    y = x
    t = (y, (y := x * x), y)
    return t[0] * t[1] * t[2]


def in_a_list(x):
    y = x
    return [y, (y := x * x * 2.0)][0] * y


def in_a_dict(x):
    y = x
    d = {"a": y, "b": (y := x * x), "c": y}
    return d["a"] + 2.0 * d["b"] * d["c"]


def in_an_index(x):
    i, v = 0, np.array([x, x * x])
    return v[i] + v[[i, (i := 1)][1]] * i


def in_an_unpacking(x):
    y = x
    a, b = y, (y := x * x)
    return a * b * y


def in_a_test(x):
    y = 1.0
    if y < (y := x * x):
        return y * x
    return x


def of_a_keyword(x):
    d = dict(a=x, b=x * x)
    return d["a"] * d["b"]


FUNCTIONS = [in_a_product, in_a_call, in_a_tuple, in_a_list, in_a_dict, in_an_index]
FUNCTIONS += [in_an_unpacking, in_a_test, of_a_keyword]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_gradients(f):
    h = 1e-6
    want = (f(1.3 + h) - f(1.3 - h)) / (2 * h)
    value, got = s2sad.value_and_grad(f)(1.3)
    assert value == f(1.3)
    assert got == pytest.approx(want, rel=1e-7)


def in_place(x):
    y = 1.0
    y += (y := x)
    return y * x


def test_an_assignment_that_reads_what_its_value_binds_is_refused():
    with pytest.raises(s2sad.UnsupportedError, match="already read"):
        s2sad.grad(in_place)(1.3)


def test_starred_parts_of_an_index_that_are_worked_out():
    def f(a, t):
        return np.sum(a[(*tuple(t), slice(0, 2))] ** 2)

    a = np.arange(12.0).reshape(3, 4)
    expected = np.zeros((3, 4))
    expected[1, :2] = 2.0 * a[1, :2]
    assert np.array_equal(s2sad.grad(f)(a, (1,)), expected)
