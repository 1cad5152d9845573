"""The checker of rules must fail for rules that are wrong, and say where and by how much."""

import math
from typing import NamedTuple

import numpy as np
import pytest

from s2sad.registry import elementwise, nondifferentiable, pullback, pushforward
from s2sad.testing import check_rule, differences

X = np.array([[0.3, -1.2, 0.7], [1.5, 0.2, -0.4]])


def fresh(f):
    """Return a function of its own that computes what f does, to register rules for."""

    def fn(*args, **settings):
        return f(*args, **settings)

    fn.__name__ = "fresh"
    return fn


def register(f, pull=None, push=None, partials=None):
    fn = fresh(f)
    if pull:
        pullback(fn)(pull)
    if push:
        pushforward(fn)(push)
    if partials:
        elementwise(fn)(partials)
    return fn


def times(a, b):
    return a * b


def pull_row_sums(out_bar, out, a, *, scale=1.0):
    return np.broadcast_to(scale * out_bar[:, None], a.shape)


def push_row_sums(out, a, a_dot, *, scale=1.0):
    return scale * np.sum(a_dot, axis=1)


def row_sums(a, *, scale=1.0):
    return scale * np.sum(a, axis=1)


def test_right_rules_pass():
    fn = register(row_sums, pull_row_sums, push_row_sums)
    check_rule(fn, X)
    check_rule(fn, X, scale=-2.5)
    check_rule(fn, X[:0])
    check_rule(register(row_sums, push=push_row_sums), X)
    check_rule(register(times, partials=lambda out, a, b: (b, a)), X, X[0])


def test_wrong_pullback():
    fn = register(row_sums, lambda out_bar, out, a: 1.001 * pull_row_sums(out_bar, out, a))
    with pytest.raises(AssertionError, match=r"fresh, a: the pullback gives .* differences give"):
        check_rule(fn, X)


def test_wrong_by_little():
    fn = register(np.sin, partials=lambda out, x: np.cos(x) + 1e-8)
    with pytest.raises(AssertionError, match=r"fresh, x: the rule \(partials\) gives"):
        check_rule(fn, X)


def test_wrong_second_argument_is_named():
    fn = register(times, partials=lambda out, a, b: (b, -a))
    with pytest.raises(AssertionError, match="fresh, b"):
        check_rule(fn, X, X[0])


def test_nothing_where_something_should_be():
    fn = register(times, partials=lambda out, a, b: (b, None))
    with pytest.raises(AssertionError, match=r"fresh, b: .* gives 0, but differences give"):
        check_rule(fn, X, X[0])


def test_something_where_nothing_should_be():
    fn = register(lambda x: x - x, lambda out_bar, out, x: 1e-9 * out_bar)
    with pytest.raises(AssertionError, match="differences give 0"):
        check_rule(fn, X)


def test_wrong_pushforward():
    wrong = register(row_sums, pull_row_sums, lambda out, a, a_dot: np.sum(a_dot, axis=1) * 1.001)
    with pytest.raises(AssertionError, match=r"fresh, a: the pushforward gives .* the pullback"):
        check_rule(wrong, X)
    alone = register(row_sums, push=lambda out, a, a_dot: np.sum(a_dot, axis=1) * 1.001)
    with pytest.raises(AssertionError, match=r"fresh, a: the pushforward gives .* differences"):
        check_rule(alone, X)


def test_wrong_tangent_shape():
    fn = register(row_sums, pull_row_sums, lambda out, a, a_dot: np.sum(a_dot, 1, keepdims=True))
    with pytest.raises(AssertionError, match=r"tangent by pushforward has shape \(2, 1\)"):
        check_rule(fn, X)


def test_wrong_shape():
    fn = register(row_sums, lambda out_bar, out, a: out_bar[:, None])
    with pytest.raises(AssertionError, match=r"cotangent has shape \(2, 1\).* \(2, 3\)"):
        check_rule(fn, X)


def test_wrong_dtype():
    fn = register(np.exp, lambda out_bar, out, x: out_bar * out * np.float64(1.0))
    with pytest.raises(AssertionError, match="cotangent is float64, the argument float32"):
        check_rule(fn, X)


def test_wrong_tangent_dtype():
    fn = register(
        np.exp,
        lambda out_bar, out, x: out_bar * out,
        lambda out, x, x_dot: np.float64(1.0) * out * x_dot,
    )
    with pytest.raises(AssertionError, match="tangent by pushforward is float64"):
        check_rule(fn, X)


def test_wrong_number_of_cotangents():
    fn = register(times, lambda out_bar, out, a, b: (out_bar * b,))
    with pytest.raises(AssertionError, match="should return 2 values, one per array"):
        check_rule(fn, X, X)


def test_writing_to_what_is_not_the_rules_own():
    def into_bar(out_bar, out, x):
        out_bar *= out
        return out_bar

    with pytest.raises(ValueError, match="read-only"):
        check_rule(register(np.exp, into_bar), X)


def test_rule_that_relies_on_layout():
    def by_memory_order(out_bar, out, x):
        return out_bar * np.cos(np.ravel(x, order="K").reshape(x.shape))

    fn = register(np.sin, by_memory_order)
    with pytest.raises(AssertionError, match="Fortran-ordered arguments give"):
        check_rule(fn, X)


def test_no_rule():
    with pytest.raises(AssertionError, match="s2sad has no rule"):
        check_rule(fresh(np.sin), X)


def test_zero_that_is_not():
    fn = fresh(np.sin)
    nondifferentiable(fn)
    with pytest.raises(AssertionError, match="declared to have derivative 0"):
        check_rule(fn, X)


def test_zero_that_is():
    fn = fresh(np.floor)
    nondifferentiable(fn)
    check_rule(fn, X)
    check_rule(fn, 0.3)


def test_complex_without_conjugate():
    z = X + 0.3j
    check_rule(register(np.exp, lambda out_bar, out, x: out_bar * out), z)
    with pytest.raises(AssertionError, match="the pullback gives"):
        check_rule(register(np.exp, lambda out_bar, out, x: out_bar * np.conj(out)), z)


def test_sequences_are_active_by_element():
    def pull(out_bar, out, parts):
        return [out_bar, None, 2.0 * out_bar]

    fn = register(lambda parts: parts[0] + parts[1] + 2.0 * parts[2], pull)
    check_rule(fn, [X, 3, X])
    with pytest.raises(AssertionError, match="parts"):
        check_rule(fn, [X, X, X])
    with pytest.raises(
        AssertionError,
        match="must be a list of length 4, as the argument is; it is a list of length 3",
    ):
        check_rule(fn, [X, 3, X, X])


class Pair(NamedTuple):
    low: object
    high: object


def test_structured_results():
    def pull(out_bar, out, x):
        return out_bar.high * 2.0 - out_bar.low

    check_rule(register(lambda x: Pair(-x, 2.0 * x), pull), X)
    check_rule(register(lambda x: Pair(3, 2.0 * x), lambda bar, out, x: 2.0 * bar.high), X)


def test_arrays_given_by_keyword():
    def weighted(a, axis=None, w=None):
        return np.sum(a * w, axis=axis)

    def pull(out_bar, out, a, w=None, *, axis=None):
        out_bar = np.expand_dims(out_bar, axis)
        return out_bar * w, out_bar * a

    check_rule(register(weighted, pull), X, w=2.0 * X, axis=0)
    wrong = register(weighted, lambda out_bar, out, a, w=None, *, axis=None: (out_bar * w, None))
    with pytest.raises(AssertionError, match="fresh, w"):
        check_rule(wrong, X, w=2.0 * X, axis=0)


def test_a_point_where_nothing_converges_is_refused():
    fn = register(np.log, partials=lambda out, x: 1.0 / x)
    with np.errstate(all="ignore"), pytest.raises(AssertionError, match="do not converge"):
        check_rule(fn, np.array([-1.0, 2.0]))
    fn = register(math.sqrt, partials=lambda out, x: 0.0)
    with pytest.raises(AssertionError, match="do not converge"):
        check_rule(fn, 0.0)


@pytest.mark.parametrize(
    ("f", "slope", "x"),
    [
        (math.exp, math.exp, 1.3),
        (math.sin, math.cos, 40.0),
        (math.log, lambda x: 1.0 / x, 1e-3),
        (abs, lambda x: 0.0, 0.0),
        (lambda x: 0.0, lambda x: 0.0, 1.0),
        (lambda x: x**9, lambda x: 9 * x**8, -2.5),
    ],
)
def test_differences_keep_their_bound(f, slope, x):
    found, error = differences(f, (x,), (0.7,))
    assert abs(found - 0.7 * slope(x)) <= 4.0 * error
    assert error <= 1e-8 * max(1.0, abs(slope(x)))


def test_differences_move_only_what_has_a_direction():
    found, error = differences(lambda a, b: a * b[0] + b[1], (X, (2.0, 3.0)), (None, (1.0, 0.0)))
    assert found.shape == X.shape
    assert np.all(np.abs(found - X) <= 4.0 * error)


def test_lengths_of_one():
    def pull_squeezed(out_bar, out, a):
        return np.squeeze(2.0 * out_bar * a)

    with pytest.raises(AssertionError, match=r"the cotangent has shape \(\), the argument has"):
        check_rule(register(lambda a: a * a, pull_squeezed), X)

    def pull_mean(out_bar, out, a):
        return np.full(a.shape, out_bar / max(a.size, 2))

    with pytest.raises(AssertionError, match="arrays of length 1: the pullback gives"):
        check_rule(register(np.mean, pull_mean), X)


def test_arrays_without_axes():
    def pull(out_bar, out, a):
        return np.array([2.0 * out_bar * a]) if np.ndim(a) == 0 else 2.0 * out_bar * a

    with pytest.raises(AssertionError, match=r"has shape \(1,\), the argument has shape \(\)"):
        check_rule(register(lambda a: a * a, pull), X)


def test_rules_that_raise_at_odd_lengths_are_left_alone():
    def pull(out_bar, out, a):
        if a.size < 2:
            raise NotImplementedError("more than one")
        return out_bar * 2.0 * a

    check_rule(register(lambda a: a * a, pull), X)
