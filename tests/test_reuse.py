"""What need not be saved: a result that tells all, a row that is there again."""

import numpy as np
import pytest
import slopes

import s2sad

X = np.array([0.7, -1.3, 0.4, 0.9])


def inverse(x):
    s = 1.0
    for _ in range(3):
        s = s + np.sum(1.0 / (2.0 + np.sin(x * s)))
    return s


def test_of_an_inverse_the_result_is_enough():
    text = s2sad.grad(continued_fraction).source(X)
    assert text.count("saved.append(") == 1
    assert "/ t" not in text.partition("# return")[2]
    slopes.check(inverse, X)


def continued_fraction(x):
    s = x
    for _ in range(3):
        s = 1.0 / (2.0 + s)
    return np.sum(s)


def added_into_a_part(params, x):
    s = 0.0
    for i in range(len(x)):
        s = s + np.sum(params["V"] * x[i]) ** 2
    return s


def test_what_is_added_needs_no_copy():
    params = {"V": X, "a": 1.0}
    assert ".copy()" not in s2sad.grad(added_into_a_part).source(params, X).partition("_grad(")[2]
    slopes.check(added_into_a_part, params, X)


def rows(x, w):
    h = np.zeros((len(x) + 1, 2))
    for t in range(len(x)):
        h[t + 1] = np.tanh(w @ h[t] + x[t])
    return np.sum(h * h)


W = np.array([[0.3, -0.2], [0.5, 0.1]])


def test_a_row_is_read_again():
    text = s2sad.grad(rows, wrt=1).source(X, W)
    assert ", h[t])" in text
    assert "h_item" not in text.partition("# return")[2]
    slopes.check(rows, X, W)


def by_a_moving_index(x, w):
    h = np.zeros((len(x) + 1, 2))
    k = 0
    for t in range(len(x)):
        h[k + 1] = np.tanh(w @ h[k] + x[t])
        k = k + 1
    return np.sum(h * h)


def of_an_array_bound_anew(x, w):
    h = np.zeros((len(x) + 1, 2))
    s = 0.0
    for t in range(len(x)):
        v = w @ h[t] + x[t]
        s = s + np.sum(v * v)
        h = np.tanh(h + v)
    return s


def overwritten_in_its_round(x, w):
    h = np.ones((len(x) + 1, 2))
    s = 0.0
    for t in range(len(x)):
        v = np.sin(w @ h[t]) + x[t]
        h[t] = v * v
        h[t] *= x[t]
        s = s + np.sum(h[t] * v)
    return s


def overwritten_in_its_statement(x, w):
    h = np.ones((len(x) + 1, 2))
    for t in range(len(x)):
        h[t] = np.sin(w @ h[t]) * h[t] + x[t]
    return np.sum(h * h)


def with_a_view(x, w):
    h = np.ones((len(x) + 1, 2))
    top = h[1:]
    for t in range(len(x)):
        top[t] = np.sin(w @ h[t]) * h[t] + x[t]
    return np.sum(h * h)


def by_an_index_array(x, w):
    h = np.ones((len(x) + 1, 2))
    order = np.array([0, 2, 1, 3])
    for t in range(len(x)):
        v = w @ h[order[t]] + x[t]
        h[order[t]] = np.sin(v)
        order[t] = 0
    return np.sum(h * h)


def fancy(x, w):
    h = np.ones((len(x) + 1, 2))
    for t in range(len(x)):
        v = np.sum(h[[t, t]] * w)
        h[t + 1] = h[t] * v + x[t]
    return np.sum(h * h)


def in_a_while_loop(x, w):
    h = np.ones((len(x) + 1, 2))
    t = 0
    while t < len(x):
        h[t + 1] = np.sin(w @ h[t]) + x[t]
        t += 1
    return np.sum(h * h)


@pytest.mark.parametrize(
    "f",
    [
        by_a_moving_index,
        of_an_array_bound_anew,
        overwritten_in_its_round,
        overwritten_in_its_statement,
        with_a_view,
        by_an_index_array,
        fancy,
        in_a_while_loop,
    ],
)
def test_what_is_not_there_again(f):
    slopes.check(f, X, W)
