"""What a reverse computes again from its parameters, and what it must be given all the same."""

import numpy as np
import pytest
import slopes

import s2sad

P = np.array([0.7, -1.3, 0.4])
S = np.array([0.9, 1.1])


def rates(state, params):
    a, b = state
    p, q, r = params
    t = p - q * b
    u = r * a - p
    return np.array([a * t, b * u])


def steps(start, params, n):
    state = start
    for _ in range(n):
        state = state + 0.1 * rates(state, params)
    return np.sum(state * state)


def test_numbers_of_a_called_function():
    slopes.check(steps, S, P, 3, constant=(2,))


def of_numbers(x, y):
    t = x * y
    u = t - 2.0
    return np.sin(t) * u


def calls_numbers(x, y):
    s = x
    for _ in range(3):
        s = s + of_numbers(s, y)
    return s


def test_numbers_from_numbers():
    text = s2sad.grad(calls_numbers, wrt=(0, 1)).source(0.3, 0.8)
    assert "    t = x * y\n" in text.partition("def of_numbers_reverse")[2]
    slopes.check(calls_numbers, 0.3, 0.8)


def overwritten_by_caller(start, params):
    state = start.copy()
    total = np.zeros(2)
    for i in range(3):
        total += rates(state, params)
        state[0] = state[0] * state[1] + i
        state[1] = total[0]
    return np.sum(total * total) + state[0]


def rebound_by_caller(start, params):
    state = start
    change = rates(state, params)
    state = np.sin(state)
    params = params * params[0]
    return np.sum(change * rates(state, params))


def written_through_a_view(start, params):
    whole = np.concatenate((start, start))
    state = whole[:2]
    change = rates(state, params)
    whole[1] = 3.0
    return np.sum(change * state)


def writes_its_parameter(state, params):
    a, b = state
    t = a * b
    state[0] = params[1]
    c, d = state
    u = c * d
    return np.sin(t) * np.cos(u)


def calls_a_writer(start, params):
    state = start.copy()
    s = writes_its_parameter(state, params)
    return s + state[0] * s


def rebinds_its_parameter(x, y):
    x = x * y
    t = x * y
    return np.sin(t) * x


def calls_a_rebinder(x, y):
    s = rebinds_its_parameter(x, y)
    return s * rebinds_its_parameter(s, x)


def binds_twice(x, y):
    t = x * y
    s = np.sin(t)
    t = s * y
    return np.cos(t) * t


def calls_one_that_binds_twice(x, y):
    return binds_twice(x, y) * binds_twice(y, x)


def in_a_branch(x, y):
    t = x * y
    if y > 0.0:
        t = t * x
    return np.sin(t)


def calls_one_with_a_branch(x, y):
    return in_a_branch(x, y) * in_a_branch(y - 2.0, x)


def recursion(x, n):
    t = x * 1.5
    if n == 0:
        return np.sin(t)
    return recursion(t * x, n - 1) * t


def calls_a_recursion(x):
    return recursion(x, 3)


@pytest.mark.parametrize(
    ("f", "args", "constant"),
    [
        (overwritten_by_caller, (S, P), ()),
        (rebound_by_caller, (S, P), ()),
        (written_through_a_view, (S, P), ()),
        (calls_a_writer, (S, P), ()),
        (calls_a_rebinder, (0.3, 0.8), ()),
        (calls_one_that_binds_twice, (0.3, 0.8), ()),
        (calls_one_with_a_branch, (0.3, 0.8), ()),
        (calls_a_recursion, (0.7,), ()),
    ],
)
def test_what_changes_is_not_read_anew(f, args, constant):
    slopes.check(f, *args, constant=constant)


def test_a_pullback_is_called_again():
    given = S.copy()
    _, pullback = s2sad.vjp(rebound_by_caller, given, P)
    first = pullback(1.0)
    given[:] = 0.0
    for one, other in zip(first, pullback(1.0), strict=True):
        assert one.tolist() == other.tolist()


def weighed(x, table):
    t = x * table[0]
    return np.sin(t) * t


def weighs(x, n):
    s = x
    for i in range(n):
        s = s + weighed(s, np.cos(np.arange(100) + i))
    return s


def test_a_long_array_is_not_kept_for_one_of_its_entries():
    text = s2sad.grad(weighs).source(0.7, 3)
    assert "table" not in text.partition("def weighed_reverse")[2].partition(")")[0].split(", ")
    slopes.check(weighs, 0.7, 3, constant=(1,))


def only_one(pair):
    a, b = pair
    return np.exp(np.array([a, 0.0]))


def calls_for_one(x):
    y = x
    for _ in range(2):
        y = y + only_one(y * y)
    return np.sum(y)


def test_gradients_where_little_is_wanted():
    slopes.check(calls_for_one, S)


def of_displays(x, y):
    rows = [[x * y, y], [np.sin(x), 2.0]]
    angles = (x, [y, 1.0])
    made = np.array(rows) @ np.array(rows) + np.array([angles[0], x * y])
    return np.sum(made * made) * np.asarray([x, y])[1]


def of_lists_that_grow(x, y):
    row = [x, y]
    row.append(x * y)
    row[0] = y * y
    return np.sum(np.array(row) ** 2) * np.array([row[0], row[2]])[1]


@pytest.mark.parametrize("f", [of_displays, of_lists_that_grow])
def test_arrays_made_of_numbers(f):
    slopes.check(f, 0.7, -1.3)
    _, pullback = s2sad.vjp(f, 0.7, -1.3)
    for _ in range(2):
        assert pullback(1.0) == pytest.approx(s2sad.grad(f, wrt=(0, 1))(0.7, -1.3))


def test_elements_go_back_one_by_one():
    text = s2sad.grad(lambda x, y: np.sum(np.array([[x, y], [x * y, 2.0]]) ** 2)).source(0.7, 1.1)
    assert "listed_back" not in text and "[1, 0]" in text


def test_a_rule_of_the_users_for_lists_is_asked():
    """That a rule takes lists in lists apart does not make the elements those of the result."""

    def sums(values):
        return np.cumsum(values)

    @s2sad.pullback(sums, nested=True)
    def pull_sums(out_bar, out, values):
        return list(np.cumsum(out_bar[::-1])[::-1])

    slopes.check(lambda x, y: np.sum(sums([x * y, y, x]) ** 2), 0.7, -1.3)
