"""Small programs at the edges: no statement, no element, truth values, complex powers of floats."""

import math

import numpy as np
import pytest

import s2sad
from s2sad import registry
from tests.slopes import check

X = np.array([0.4, -0.7, 1.2])


# powers of Python floats


def size_of_root(x):
    return abs(x**0.5)


def real_part(x):
    return (x**1.5).real * x


def augmented(x):
    y = x
    y **= 0.5
    return abs(y)


def power_of(x):
    return pow(x, 0.5)


def called(x):
    return abs(power_of(x))


@pytest.mark.parametrize("f", [size_of_root, real_part, augmented, called])
def test_a_complex_power_of_a_float_is_refused(f):
    check(f, 0.7)
    for derived in (s2sad.grad(f), s2sad.value_and_grad(f), lambda x: s2sad.vjp(f, x)[1](1.0)):
        with pytest.raises(s2sad.UnsupportedError, match="a power of a negative float is complex"):
            derived(-0.7)


def test_structures_of_floats_are_looked_at_too():
    def f(p):
        return abs(p["a"] ** 0.5) * p["b"][0]

    check(f, {"a": 2.0, "b": [3.0]})
    with pytest.raises(s2sad.UnsupportedError, match="complex"):
        s2sad.grad(f)({"a": -2.0, "b": [3.0]})


@pytest.mark.parametrize(
    "f", [lambda x: x**2, lambda x: x**3.0, lambda x: 2.0**x, lambda x: x**-2 * x]
)
def test_other_powers_are_not_looked_at(f):
    check(f, -1.5)
    assert "complex" not in s2sad.grad(f).source(-1.5)


# truth values


@pytest.mark.parametrize("f", [lambda x, m: np.sum(x**m), lambda x, m: np.sum(np.power(x, m) * x)])
def test_a_mask_as_an_exponent(f):
    check(f, X, X > 0.0, constant=(1,))
    assert np.isfinite(s2sad.grad(f)(np.zeros(3), X > 0.0)).all()


def test_a_truth_value_as_an_exponent():
    for m in (True, False, np.True_, np.False_):
        check(lambda x, m: x**m * x, 1.5, m, constant=(1,))


# loops of nothing


def passing(x):
    for i in range(3):
        pass
    for v in x:
        pass
    while False:
        pass
    if x[0] > 0.0:
        pass
    with np.errstate(all="ignore"):
        pass
    try:
        pass
    except ValueError:
        pass
    return v * v * i


def test_pass():
    check(passing, X)


# lists in sums


def lists(x):
    both = sum([[x[0], x[2]], [x[1] * x[0]]], [x[2] * x[2]])
    return both[0] * both[1] + both[3] ** 2


def tuples(x):
    return sum([(x[0],), (x[1], x[2])], ())[1] * x[0]


def test_a_sum_of_lists():
    check(lists, X)
    check(tuples, X)
    assert s2sad.vjp(lambda x: sum([[x[0]], [x[1]]], []), X)[1]([1.0, 2.0]).tolist() == [1, 2, 0]


# numbers as 0-d arrays


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.full_like(x, x) * np.ones_like(x),
        lambda x: np.full_like(1.0, x) * x,
        lambda x: np.asarray(x) * np.array(x) * x,
        lambda x: np.full((2,), x).sum() * x,
    ],
)
def test_a_number_in_an_array(f):
    check(f, 2.0)
    assert isinstance(s2sad.grad(f)(2.0), float)
    assert s2sad.vjp(f, 2.0)[1](1.0) == s2sad.grad(f)(2.0)


def test_a_number_alone():
    value, pull = s2sad.vjp(lambda x: np.full_like(x, x), 2.0)
    assert value == 2.0 and pull(1.0) == 1.0


# functions of next to nothing


def nothing(x):
    pass


def documented(x):
    "What it does."


def same(x):
    return x


def fixed(x):
    return 1.0


def nested(x):
    return 1.0, (2.0, 3)


def twice(x):
    return x, [x, None]


@pytest.mark.parametrize("x", [2.0, X, np.zeros(0), np.zeros((0, 3)), np.array(1.5)])
def test_functions_of_next_to_nothing(x):
    one = np.ones_like(x) if isinstance(x, np.ndarray) else 1.0
    zero = np.zeros_like(x) if isinstance(x, np.ndarray) else 0.0
    for f, dy, expected in [
        (nothing, None, zero),
        (documented, None, zero),
        (same, one, one),
        (fixed, 1.0, zero),
        (nested, (1.0, (1.0, None)), zero),
        (twice, (one, [one, None]), 2.0 * one),
    ]:
        _, pull = s2sad.vjp(f, x)
        assert np.array_equal(pull(dy), expected)
    for f in (nothing, documented, nested):
        with pytest.raises(s2sad.ActivityError):
            s2sad.grad(f)(x)
    assert np.array_equal(s2sad.grad(fixed)(x), zero)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_goes_through(bad):
    x = np.array([1.0, bad, 2.0])
    gradient = s2sad.grad(lambda x: np.sum(x[::2] ** 2) + np.sum(x * 0.5))(x)
    assert gradient.tolist() == [2.5, 0.5, 4.5]
    assert s2sad.grad(lambda x: 3.0 * x)(bad) == 3.0


# two rules for one function


def test_a_rule_by_elementwise_and_one_by_pullback():
    def g(x):
        return x * x

    @s2sad.elementwise(g)
    def partial_g(out, x):
        return 2.0 * x

    with pytest.raises(s2sad.UnsupportedError, match="g has a rule by @elementwise and another by"):

        @s2sad.pullback(g)
        def pull_g(out_bar, out, x):
            return 3.0 * x * out_bar

    assert s2sad.grad(lambda x: g(x))(2.0) == 4.0


def test_a_rule_of_the_users_takes_the_place_of_one_that_is_brought():
    old = registry.rule_for(np.cosh)
    try:

        @s2sad.pullback(np.cosh)
        def pull(out_bar, out, x):
            return 7.0 * out_bar

        assert s2sad.grad(lambda x: np.cosh(x))(2.0) == 7.0
    finally:
        registry._rules[registry.key_of(np.cosh)] = old


def stepped(x, r):
    ratio = max(r * x, 0.001)
    return x * max(0.2, 0.9 * ratio ** (-1.0 / 3.0))


def rooted(x):
    size = abs(x) + x * x
    return size**0.5 + (x - 3.0) ** 0.5


def test_a_base_that_is_never_negative_needs_no_check():
    text = s2sad.grad(stepped).source(0.3, 2.0)
    assert "real(" not in text and "!= 0" not in text
    assert "real(x_bar)" in s2sad.grad(rooted).source(4.0)
    assert (
        abs(
            s2sad.grad(stepped)(0.3, 2.0) - (stepped(0.300001, 2.0) - stepped(0.299999, 2.0)) / 2e-6
        )
        < 1e-6
    )
    with pytest.raises(NotImplementedError, match="power of a negative float"):
        s2sad.grad(rooted)(1.0)


# targets that bind a name twice: the last part is what it is


def pair_of(s):
    a, b = s
    return a + b * a, b * a + b


def three_of(x):
    return x * x, np.sum(x), x * 3.0


def last_of_two(x):
    a, a = pair_of((x, 2.0 * x))
    return np.sum(a)


def first_of_three(x):
    a, _, _ = three_of(x)
    return np.sum(a)


def last_of_three(x):
    _, _, a = three_of(x)
    return np.sum(a)


def last_of_nested(x):
    (a, b), a = three_of(x)[:2], np.sum(x**3)
    return a * np.sum(b)


def nested_later(x):
    parts = (x * x, x), x * 3.0
    (a, b), a = parts
    return np.sum(a * b)


def while_carried(x):
    def step(state):
        a, b, c = state
        return a * c, b + a, c * np.cos(b)

    state = (x, x, x)
    for _ in range(3):
        state = step(state)
    a, _, _ = state
    return np.sum(a)


TWICE = [last_of_two, first_of_three, last_of_three, last_of_nested, nested_later, while_carried]


@pytest.mark.parametrize("f", TWICE)
def test_a_target_that_binds_a_name_twice(f):
    check(f, X)


# lists and tuples where arrays stand: what comes back is built like what was given


def stacked(parts):
    return np.sum(np.stack(parts) ** 2)


def joined(parts):
    return np.sum(np.concatenate(parts) ** 2)


def multiplied(parts):
    return np.sum(np.linalg.multi_dot(parts))


def in_a_call(parts):
    return stacked(parts) * np.sum(parts[0])


@pytest.mark.parametrize("make", [tuple, list])
@pytest.mark.parametrize("f", [stacked, joined, multiplied, in_a_call])
def test_the_derivative_of_a_sequence_is_one_of_its_class(f, make):
    parts = make([np.eye(2), np.ones((2, 2)), np.arange(4.0).reshape(2, 2)])
    for gradient in (s2sad.grad(f)(parts), s2sad.vjp(f, parts)[1](1.0)):
        assert type(gradient) is make
        assert [g.shape for g in gradient] == [(2, 2)] * 3


# tests by hasattr and `is` that kinds decide


def by_attribute(x):
    pair = (x, 2.0 * x)
    whole = pair[1] if hasattr(pair, "_fields") else pair[0]
    return np.sum(whole * x) if hasattr(x, "shape") else 3.0 * whole


def by_identity(x, other=...):
    return np.sum(x * x) if other is ... else np.sum(x) * other


def test_attributes_of_what_is_no_object():
    check(by_attribute, X)
    check(by_attribute, 0.3)
    assert "\n    if " not in s2sad.source(by_attribute, args=(X,))


def test_ellipsis_as_a_default(tmp_path):
    check(by_identity, X)
    check(by_identity, X, 2.0)
    text = s2sad.source(lambda x: by_identity(x) + by_identity(x, 2.0), args=(X,))
    assert "other=..." in text


# variables that have no value on the way that was taken


def bound_in_one_arm(x):
    if x[0] > 9.0:
        y = x * x
    if x[0] > 9.0:
        z = y * x
    else:
        z = x * 2.0
    return np.sum(z)


def a_pair_in_one_arm(x):
    total = 0.0
    for i in range(3):
        if i == 1:
            pair = x * x, x
        if i == 1:
            total = total + np.sum(pair[0] * pair[1])
        else:
            total = total + x[0]
    return total


def left_early(x, i):
    with np.errstate(all="ignore"):
        if i == 3:
            return x * 2.0, x
    return x, x * x


def pairs_of_a_call(x):
    a, b = left_early(x, 3)
    c, d = left_early(x, 2)
    return np.sum(a * b * c * d)


@pytest.mark.parametrize("f", [bound_in_one_arm, a_pair_in_one_arm, pairs_of_a_call])
def test_variables_without_a_value(f):
    check(f, X)
    assert s2sad.vjp(f, X)[1](1.0) == pytest.approx(s2sad.grad(f)(X))


def test_elements_far_from_the_ends():
    """What stands at a literal place is known of arrays of any length."""

    def f(x, m):
        return float(x[40]) * x[-41] * np.sum(m[20, 3:] * m[1, 33])

    x, m = np.cos(np.arange(50.0)), np.sin(np.arange(21.0 * 40.0).reshape(21, 40))
    found = s2sad.grad(f)(x, m)
    assert np.flatnonzero(found).tolist() == [9, 40]
    assert found[40] == pytest.approx(f(x, m) / x[40])


def test_a_called_function_that_always_raises():
    """None is asked for an attribute on its only path: it is called on a path not taken."""

    def unready(x):
        rule = None
        rule.clear()
        return x * x

    def f(x):
        y = x
        if x > 100.0:
            y = unready(x)
        return y * y

    assert s2sad.grad(f)(2.0) == 4.0
    assert s2sad.jvp(f, (2.0,), (1.0,)) == (4.0, 4.0)
    assert s2sad.hvp(f, (2.0,), (1.0,)) == 2.0


def test_an_inner_function_keeps_its_defaults_when_derived_again():
    def f(x):
        def g(v, w=None):
            return v if w is None else v * w

        h = None
        for v in x:
            h = g(v, h)
        return h * g(x[0])

    x, d, h = np.array([0.7, -1.3, 0.4]), np.array([0.3, 0.2, 0.7]), 1e-5
    gradient = s2sad.grad(f)
    slope = (gradient(x + h * d) - gradient(x - h * d)) / (2 * h)
    assert s2sad.hvp(f, (x,), (d,)) == pytest.approx(slope, rel=1e-7)
