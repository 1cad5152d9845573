"""The rules of rules/stdlib_statistics.py, a row for each function."""

import statistics

import numpy as np
import pytest

import s2sad
from s2sad.testing import check_rule
from tests import slopes

X, Y, Z = [0.3, 1.7, 0.9, 2.2], [1.2, 0.4, 0.8, 2.1], (0.3, 1.7, 0.9)
OF_ONE = [
    *[statistics.mean, statistics.fmean, statistics.geometric_mean, statistics.harmonic_mean],
    *[statistics.median, statistics.median_low, statistics.median_high, statistics.variance],
    *[statistics.pvariance, statistics.stdev, statistics.pstdev],
]
OF_TWO = [
    *[statistics.covariance, statistics.correlation, statistics.fmean],
    statistics.harmonic_mean,
]


@pytest.mark.parametrize("data", [X, Z, np.array(X)], ids=["list", "tuple", "array"])
@pytest.mark.parametrize("fn", OF_ONE, ids=lambda fn: fn.__name__)
def test_of_one_sequence(fn, data):
    check_rule(fn, data)


@pytest.mark.parametrize("fn", OF_TWO, ids=lambda fn: fn.__name__)
def test_of_two_sequences(fn):
    check_rule(fn, X, Y)


def spread(xs):
    squares = [x * x for x in xs]
    mixed = statistics.correlation(xs, Y) + statistics.fmean(xs, weights=squares)
    return statistics.mean(xs) * statistics.stdev(xs) + statistics.median(squares) + mixed


def test_in_a_program():
    gradient = s2sad.grad(spread)(X)
    for k in range(len(X)):
        ends = [spread([x + h * (i == k) for i, x in enumerate(X)]) for h in (1e-6, -1e-6)]
        assert abs((ends[0] - ends[1]) / 2e-6 - gradient[k]) < 1e-7


@pytest.mark.parametrize("fn", [statistics.mode, statistics.multimode])
def test_the_most_common_is_refused(fn):
    with pytest.raises(s2sad.UnsupportedError, match="has no derivative of"):
        s2sad.grad(lambda xs: sum([fn(xs)][0:1]) if fn is statistics.mode else fn(xs)[0])(X)


@pytest.mark.parametrize("center", [0.7, 2])
@pytest.mark.parametrize("data", [X, Z, np.array(X)], ids=["list", "tuple", "array"])
@pytest.mark.parametrize("fn", OF_ONE[-4:], ids=lambda fn: fn.__name__)
def test_around_a_center(fn, data, center):
    check_rule(fn, data, center)


def around_means(xs):
    middle = statistics.fmean(xs) * xs[0]
    wide = statistics.variance(xs, xbar=middle) * statistics.pstdev(xs, mu=xs[1])
    return wide + statistics.pvariance(xs, middle) * statistics.stdev(xs, 1.0)


def test_a_center_of_their_own():
    slopes.check(around_means, X)
    value, moved = s2sad.jvp(around_means, (X,), ([1.0] * 4,))
    assert value == around_means(X)
    assert moved == pytest.approx(sum(s2sad.grad(around_means)(X)))


def likelihood(xs):
    return statistics.NormalDist(xs[0], 1.0).pdf(xs[1])


def test_refused_by_name():
    with pytest.raises(s2sad.MissingRuleError, match="holds a mean and a deviation"):
        s2sad.grad(likelihood)(X)
    with pytest.raises(s2sad.MissingRuleError, match="changes in steps"):
        s2sad.grad(statistics_of_groups)(X)


def statistics_of_groups(xs):
    return statistics.median_grouped(xs) * xs[0]


LINES = [(X, Y), (np.array(X), np.array(Y)), (Z, (1.2, 0.4, 0.8)), (X, np.array(Y))]


@pytest.mark.parametrize("x, y", LINES, ids=["lists", "arrays", "tuples", "mixed"])
def test_lines(x, y):
    check_rule(statistics.linear_regression, x, y)
    check_rule(statistics.linear_regression, x, y, proportional=True)


@pytest.mark.parametrize(
    "data", [X, Z, np.array(X), [2.0, 0.5]], ids=["list", "tuple", "array", "two"]
)
@pytest.mark.parametrize("method", ["exclusive", "inclusive"])
@pytest.mark.parametrize("n", [1, 3, 4, 10])
def test_quantiles(data, method, n):
    check_rule(statistics.quantiles, data, n=n, method=method)


def fitted(xs):
    slope, intercept = statistics.linear_regression(xs, Y)
    line = statistics.linear_regression(Y, [x * x for x in xs], proportional=True)
    low, middle, high = statistics.quantiles([x * xs[0] for x in xs])
    return slope * intercept + line.slope + line.intercept + low * high + middle


def test_lines_and_quantiles_in_a_program():
    slopes.check(fitted, X)
    xs, along = np.array(X), np.array([0.3, -0.7, 1.0, 0.2])
    ends = [s2sad.grad(fitted)(xs + h * along) for h in (1e-6, -1e-6)]
    expected = (ends[0] - ends[1]) / 2e-6
    assert s2sad.hvp(fitted, (xs,), (along,)) == pytest.approx(expected, rel=1e-6, abs=1e-7)
