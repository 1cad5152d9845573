"""Rows that are not put back: only where nobody looks at them again."""

import numpy as np
import pytest
import slopes

import s2sad

X = np.array([0.7, -1.3, 0.4, 0.9])
W = np.array([[0.3, -0.2], [0.5, 0.1]])


def rows(x, w):
    h = np.zeros((len(x) + 1, 2))
    for t in range(len(x)):
        h[t + 1] = np.tanh(w @ h[t] + x[t])
    return np.sum(h * h)


def backward(f, *args):
    return s2sad.grad(f, wrt=1).source(*args).partition("# return")[2]


def test_a_history_is_not_put_back():
    text = backward(rows, X, W)
    assert "h[t + 1] = h_0" not in text
    assert "h_bar[t + 1] = 0.0" not in text
    slopes.check(rows, X, W)


def entries(x, w):
    y = np.zeros(len(x))
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = np.sin(y[i - 1]) * x[i] + w[0, 1] * y[i - 1]
    return np.sum(y * y)


def downwards(x, w):
    y = np.zeros(len(x) + 1)
    for i in range(len(x) - 1, -1, -1):
        y[i] = np.sin(y[i + 1]) * x[i] + w[0, 1] * y[i + 1]
    return np.sum(y * y)


def test_entries_are_not_put_back():
    assert "y_bar[i] = 0.0" not in backward(entries, X, W)
    assert "y_bar[i] = 0.0" not in backward(downwards, X, W)
    slopes.check(entries, X, W)
    slopes.check(downwards, X, W)


def looks_below_zero(x, w):
    h = np.ones((len(x), 2))
    for t in range(len(x)):
        h[t] = np.sin(w @ h[t - 1]) * x[t] + h[t - 1] * h[t]
    return np.sum(h * h)


def looks_ahead(x, w):
    h = np.ones((len(x) + 2, 2))
    for t in range(len(x)):
        h[t + 1] = np.sin(w @ h[t + 2]) * h[t] + x[t]
    return np.sum(h * h)


def looks_ahead_down(x, w):
    h = np.ones((len(x) + 2, 2))
    for t in range(len(x) - 1, -1, -1):
        h[t + 1] = np.sin(w @ h[t]) * h[t + 2] + x[t]
    return np.sum(h * h)


def looks_at_its_old_content(x, w):
    h = np.ones((len(x) + 1, 2))
    for t in range(len(x)):
        h[t + 1] = np.sin(w @ h[t]) * h[t + 1] * h[t + 1] + x[t]
    return np.sum(h * h)


def writes_twice(x, w):
    h = np.ones((len(x) + 1, 2))
    for t in range(len(x)):
        h[t + 1] = np.sin(w @ h[t]) + x[t]
        h[t + 1] = h[t + 1] * h[t + 1]
        h[t] = h[t + 1] * h[t]
    return np.sum(h * h)


def looks_by_a_loop(x, w):
    h = np.ones((len(x) + 1, 2))
    for t in range(len(x)):
        s = np.zeros(2)
        for j in range(len(x)):
            s = s + h[j] * h[t]
        h[t + 1] = np.sin(w @ s) + x[t]
    return np.sum(h * h)


def looks_at_all(x, w):
    h = np.ones((len(x) + 1, 2))
    s = 0.0
    for t in range(len(x)):
        h[t + 1] = np.sin(w @ h[t]) + x[t]
        s = s + np.sum(h * h)
    return s


def looks_at_one(x, w):
    h = np.ones((len(x) + 1, 2))
    for t in range(len(x)):
        h[t + 1] = np.sin(w @ h[t]) * h[2] + x[t]
    return np.sum(h * h)


def looks_at_the_first(x, w):
    h = np.ones((len(x) + 1, 2))
    for t in range(len(x)):
        h[t + 1] = np.sin(w @ h[t]) * h[0] + x[t] * h[0]
    return np.sum(h * h)


def looks_at_the_last(x, w):
    h = np.ones((len(x) + 1, 2))
    for t in range(len(x)):
        h[t + 1] = np.sin(w @ h[t]) * h[-1] + x[t]
    return np.sum(h * h)


def looks_before(x, w):
    h = np.outer(x, x)[:, :2] + np.ones((4, 2))
    s = np.sum(np.sin(h) * h)
    for t in range(len(x) - 1):
        h[t + 1] = np.sin(w @ h[t]) + x[t] * s
    return np.sum(h * h)


def looks_through_a_view(x, w):
    h = np.ones((len(x) + 1, 2))
    top = h[1:]
    for t in range(len(x)):
        v = np.sin(w @ h[t]) * top[t]
        h[t + 1] = v + x[t] * top[1]
    return np.sum(h * h)


def looks_through_a_row(x, w):
    h = np.ones((len(x) + 1, 2))
    last = h[3]
    for t in range(len(x)):
        h[t + 1] = np.sin(w @ h[t]) * last + x[t]
    return np.sum(h * h)


def writes_what_is_given(h, w):
    for t in range(len(h) - 1):
        h[t + 1] = np.sin(w @ h[t]) * h[t + 1]
    return np.sum(h * h)


def moves_the_index(x, w):
    h = np.ones((2 * len(x) + 1, 2))
    for t in range(len(x)):
        t = 2 * t % 3
        h[t + 1] = np.sin(w @ h[t]) * h[t + 1] + x[t]
    return np.sum(h * h)


def in_two_loops(x, w):
    h = np.ones((len(x) + 1, 2))
    for k in range(2):
        for t in range(len(x)):
            h[t + 1] = np.sin(w @ h[t]) * x[t] + h[t] * h[t]
    return np.sum(h * h)


def two_loops(x, w):
    h = np.ones((len(x) + 1, 2))
    for t in range(len(x)):
        h[t + 1] = np.sin(w @ h[t]) * x[t] + h[t] * h[t]
    for t in range(len(x)):
        h[t + 1] = np.sin(w @ h[t]) * h[t + 1] + x[t]
    return np.sum(h * h)


def on_one_path(x, w):
    h = np.ones((len(x) + 1, 2))
    for t in range(len(x)):
        if x[t] > 0.0:
            h[t + 1] = np.sin(w @ h[t]) * h[t]
        else:
            h[t] = h[t + 1] * x[t] * h[t]
    return np.sum(h * h)


def returned(x, w):
    h = np.ones((len(x) + 1, 2))
    for t in range(len(x)):
        h[t + 1] = np.sin(w @ h[t]) * h[t] + x[t]
    return h


def uses_what_is_returned(x, w):
    h = returned(x, w)
    g = returned(h[1:, 0] * h[:-1, 1], w)
    return np.sum(g * np.sin(g)) + np.sum(h**3)


def hands_on_a_row(x, w):
    h = np.ones((len(x) + 1, 2))
    s = np.zeros(2)
    for t in range(len(x)):
        v = h[t]
        s = s + v * x[t]
        h[t + 1] = np.reshape(v, 2) * np.sin(w @ s)
    return np.sum(h * h)


def leaves_early(x, w):
    h = np.ones((len(x) + 1, 2))
    for t in range(len(x)):
        h[t + 1] = np.sin(w @ h[t]) * h[t] + x[t]
        if x[t] < 0.0:
            break
    return np.sum(h * h * h)


@pytest.mark.parametrize(
    "f",
    [
        looks_below_zero,
        looks_ahead,
        looks_ahead_down,
        looks_at_its_old_content,
        writes_twice,
        looks_by_a_loop,
        looks_at_all,
        looks_at_one,
        looks_at_the_first,
        looks_at_the_last,
        looks_before,
        looks_through_a_view,
        looks_through_a_row,
        moves_the_index,
        in_two_loops,
        two_loops,
        on_one_path,
        uses_what_is_returned,
        hands_on_a_row,
        leaves_early,
    ],
)
def test_gradient(f):
    slopes.check(f, X, W)


def test_what_is_given_is_left_as_it_was():
    h = np.array([[0.3, 0.2], [1.1, -0.4], [0.5, 0.9]])
    given = h.copy()
    value, gradient = s2sad.value_and_grad(writes_what_is_given)(given, W)
    assert np.array_equal(given, h)
    e = np.zeros_like(h)
    e[1, 0] = 1e-6
    up, down = writes_what_is_given(h + e, W), writes_what_is_given(h - e, W)
    assert gradient[1, 0] == pytest.approx((up - down) / 2e-6, rel=1e-6)


def test_a_pullback_is_called_again():
    value, pullback = s2sad.vjp(returned, X, W)
    seed = np.cos(value)
    first, second = pullback(seed), pullback(seed)
    for one, other in zip(first, second, strict=True):
        assert np.array_equal(one, other)
