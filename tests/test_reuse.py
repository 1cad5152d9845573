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


class Holder:
    def __init__(self, d, n):
        self.d = d
        self.n = n


def held_and_taken(x, d):
    holder = Holder(d, 1)
    d = holder.d
    return np.sum(x)


def held_on_one_way(x, d):
    held = {"d": d, "n": 2}
    if x[0] > 0:
        d = held["d"]
    return np.sum(x) * d["u"]


def read_and_then_taken(x, d):
    first = d["u"] ** 2
    rows = [{"u": x[0], "v": 2.0}, d]
    d = rows[0]
    return first * d["u"] * rows[1]["v"]


@pytest.mark.parametrize("fn", [held_and_taken, held_on_one_way, read_and_then_taken])
def test_a_parameter_that_is_bound_again_has_been_something_else(fn):
    slopes.check(fn, X, {"u": 1.1, "v": -0.4})


def indices_then_a_range(x, at):
    y = np.sum(x[at] ** 2)
    at = np.arange(3)
    return y + np.sum(x[at])


def a_range_on_one_way(x, at):
    if x[0] < 0:
        at = np.arange(3)
    return np.sum(x[at] ** 2)


@pytest.mark.parametrize("fn", [indices_then_a_range, a_range_on_one_way])
def test_indices_that_are_given_may_stand_twice(fn):
    slopes.check(fn, X, np.array([0, 0, 1]), constant=(1,))
