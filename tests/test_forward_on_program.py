"""What forward mode follows from program to program: calls, results beside others, memory."""

import contextlib
import functools
import math

import numpy as np
import pytest

import s2sad

X = np.array([0.1, 0.7, 0.9])
V = np.array([0.4, -0.2, 0.5])


def slope(f, *args):
    """Return the derivative along ones of what moves, by central differences."""
    step = 1e-6
    return (f(*(a + step for a in args)) - f(*(a - step for a in args))) / (2.0 * step)


# --- a result beside the one that is differentiated ----------------------------------------------


def told_on_two_paths(x):
    if x > 1.0:
        y = x * x
        return y, {"large": y}
    return x, "small"


def told_from_a_loop(x):
    for i in range(3):
        if i * x > 1.0:
            return x**i, i
    return x, [object]


@pytest.mark.parametrize("f", [told_on_two_paths, told_from_a_loop])
@pytest.mark.parametrize("x", [0.2, 1.5])
def test_what_stands_beside_a_result_needs_no_tangent(f, x):
    y, dot, aux = s2sad.jvp(f, (x,), (1.0,), has_aux=True)
    assert (y, aux) == f(x)
    assert dot == pytest.approx(slope(lambda x: f(x)[0], x), rel=1e-6)


def test_a_result_beside_one_of_several_directions():
    rows, aux = s2sad.jacobian(lambda x: (x * x, x[0]), has_aux=True, mode="forward")(X)
    assert np.allclose(rows, np.diag(2.0 * X)) and aux == X[0]


# --- calls ---------------------------------------------------------------------------------------


def power(x, n, scale=1.0):
    return scale * x**n


cubed = functools.partial(power, n=3, scale=2.0)
of_two = functools.partial(power, 2.0)
within = functools.partial(functools.partial(power, scale=3.0), n=2)


def product(*xs, **table):
    result = 1.0
    for x in xs:
        result = result * x
    return result * table.get("a", 1.0)


def by_partials(x):
    return cubed(x) + of_two(x) * within(x, scale=x)


def by_stars(x):
    pair, table = (x, x * x), {"a": x}
    return product(2.0, *pair, **table)


@pytest.mark.parametrize("f", [by_partials, by_stars])
def test_calls(f):
    y, dot = s2sad.jvp(f, (1.7,), (1.0,))
    assert (y, dot) == (pytest.approx(f(1.7)), pytest.approx(slope(f, 1.7), rel=1e-6))


def test_any_number_of_arguments():
    assert s2sad.jvp(product, (2.0, 3.0), (1.0, 0.5)) == (6.0, 4.0)


# --- values that are not there on all paths ------------------------------------------------------


def bound_on_one_path(x, a, b):
    if a:
        y = np.zeros(3)
    if b:
        y = x * 2.0
    return np.sum(y * x)


def bound_by_a_round(x, n):
    for i in range(n):
        if i == 0:
            y = np.ones(3)
        if i == 2:
            y = y * x
    return np.sum(y)


@pytest.mark.parametrize(
    "f", [lambda x: bound_on_one_path(x, True, False), lambda x: bound_on_one_path(x, False, True)]
)
def test_a_zero_is_made_where_the_value_is_bound(f):
    assert s2sad.jvp(f, (X,), (np.ones(3),))[1] == pytest.approx(slope(f, X), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("n", [1, 2, 4])
def test_a_zero_is_made_in_the_round_that_binds_the_value(n):
    f = functools.partial(bound_by_a_round, n=n)
    dot = s2sad.jvp(lambda x: bound_by_a_round(x, n), (X,), (np.ones(3),))[1]
    assert dot == pytest.approx(slope(f, X), rel=1e-6, abs=1e-9)


# --- what holds integers -------------------------------------------------------------------------


def walked(x, m, marks):
    if m == 0:
        return x[marks[0]] * x[marks[1]]
    total = 0.0
    for j in range(3):
        marks[m - 1] = j
        total += walked(x, m - 1, marks)
    return total


def marks_that_are_numbers_later(x):
    rows, last = [], []
    for k in range(2):
        last = [k, 2]
        rows.append(last)
    rows[1][0] = x[0] * x[1]
    return last[0] * x[2] + rows[0][1] * x[0]


def test_lists_of_integers_have_no_tangents():
    def f(x):
        return walked(x, 2, [0, 0])

    assert "marks_dot" not in s2sad.source(f, mode="jvp", args=(X,))
    assert s2sad.jvp(f, (X,), (np.ones(3),))[1] == pytest.approx(slope(f, X), rel=1e-6)


def test_a_list_of_integers_gets_others_by_another_name():
    f = marks_that_are_numbers_later
    with contextlib.suppress(s2sad.UnsupportedError):
        assert s2sad.jvp(f, (X,), (np.ones(3),))[1] == pytest.approx(slope(f, X), rel=1e-6)


# --- what is caught ------------------------------------------------------------------------------


def test_nobody_knows_what_a_manager_catches():
    def f(x):
        y = x + 1.0
        with contextlib.suppress(ArithmeticError):
            y = math.sqrt(x)
        return y

    with pytest.raises(s2sad.UnsupportedError):
        s2sad.jvp(f, (0.0,), (1.0,))


def test_nothing_is_kept_in_a_try_that_only_a_tangent_could_raise():
    def f(x):
        try:
            y = math.log(x) / x
        except ValueError:
            y = x
        return y

    lines = s2sad.source(f, mode="jvp", args=(0.5,)).splitlines()
    assert all("=" in line for line in lines if line.startswith(" " * 8) and "y" in line)
    assert s2sad.jvp(f, (0.5,), (1.0,))[1] == pytest.approx(slope(f, 0.5), rel=1e-6)


def test_tests_for_zeros_are_explained():
    text = s2sad.source(lambda x: np.sqrt(x * x), mode="jvp", args=(X,))
    assert "zero stays zero where the derivative is infinite" in text


def test_a_chain_of_comparisons_stops_where_a_pair_fails(capsys):
    def told(v):
        print("asked")
        return v

    def f(x):
        if 0.0 < x[0] < told(x[1]) < told(x[2]):
            return x[0] * x[1]
        return x[2]

    assert s2sad.jvp(f, (X,), (np.ones(3),)) == (pytest.approx(0.07), pytest.approx(0.8))
    assert capsys.readouterr().out == "asked\nasked\n"
    assert s2sad.jvp(f, (X[::-1],), (np.ones(3),)) == (0.1, 1.0)
    assert capsys.readouterr().out == "asked\n"


# --- rules ---------------------------------------------------------------------------------------


def test_truth_values_and_lists_in_rules():
    mask, powers = np.array([True, False, True]), [2, 1, 3]

    def f(x):
        return np.sum(np.arctan2(mask, x) + x**powers)

    assert s2sad.jvp(f, (X,), (np.ones(3),))[1] == pytest.approx(slope(f, X), rel=1e-6)


def test_narrow_integers_are_floats_in_rules():
    n = np.array([100, 120, 90], np.int8)

    def f(x):
        return np.sum(np.hypot(x, n) + np.logaddexp(x, n))

    assert s2sad.jvp(f, (X,), (np.ones(3),))[1] == pytest.approx(slope(f, X), rel=1e-5)
