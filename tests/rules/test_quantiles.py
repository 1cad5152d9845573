"""The rules of rules/quantiles.py: every method, with and without nans, and ties."""

import numpy as np
import pytest

import s2sad
from s2sad.registry import rule_for
from s2sad.testing import check_rule
from tests import slopes

rng = np.random.default_rng(4)
scalar = np.array(0.7)
a, even, one = rng.permutation(7) + 0.25, rng.permutation(6) - 2.25, np.array([0.3])
A = rng.permutation(12).reshape(3, 4) + 0.5
cube = rng.permutation(24).reshape(2, 3, 4) / 4

METHODS = (
    "inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen "
    "weibull linear median_unbiased normal_unbiased lower higher midpoint nearest"
).split()

ROWS = [
    *[(np.median, (x,), {}) for x in (a, even, one, scalar, A, cube)],
    (np.median, (A,), {"axis": 0}),
    (np.median, (A,), {"axis": -1, "keepdims": True}),
    (np.median, (cube,), {"axis": (0, 2)}),
    (np.median, (cube,), {"axis": (-1, 0), "keepdims": True}),
    (np.median, (cube,), {"keepdims": True}),
    *[(np.quantile, (a,), {"q": q}) for q in (0, 0.3, 0.55, 1)],
    (np.quantile, (even, np.array([0.1, 0.5, 0.95])), {}),
    (np.quantile, (A, 0.4), {"axis": 0}),
    (np.quantile, (A, np.array([0.4, 0.41])), {"axis": 1, "keepdims": True}),
    (np.quantile, (cube, np.array([[0.2, 0.6]])), {"axis": (0, -1)}),
    (np.quantile, (cube, np.array([0.2, 0.61])), {"keepdims": True}),
    (np.quantile, (one, 0.4), {"method": "linear"}),
    (np.quantile, (scalar, 0.4), {}),
    (np.percentile, (a, 30.0), {}),
    (np.percentile, (A, np.array([10, 99.5])), {"axis": 0}),
    (np.percentile, (A, 62.5), {"axis": -1, "keepdims": True}),
    (np.percentile, (A[:0], 62.5), {"axis": -1}),
]


@pytest.mark.parametrize("fn, args, settings", ROWS)
def test_rule(fn, args, settings):
    check_rule(fn, *args, **settings)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("q", [0.02, 0.23, 0.4, 0.71, 0.99, np.array([0.6, 0.37, 0.6])], ids=str)
def test_methods(method, q):
    check_rule(np.quantile, a, q, method=method)
    check_rule(np.quantile, A, q, method=method, axis=0)
    check_rule(np.percentile, cube, 100 * q, method=method, axis=(0, 2), keepdims=True)


@pytest.mark.parametrize("weights", [np.array([0.5, 1.0, 2.0, 0.25]), np.abs(A)])
def test_weights(weights):
    check_rule(np.quantile, A, 0.3, axis=1, weights=weights, method="inverted_cdf")
    q = np.array([0.31, 0.82])
    check_rule(np.quantile, A, q, axis=1, weights=weights, method="inverted_cdf", keepdims=True)
    weights = np.broadcast_to(weights, A.shape)
    check_rule(np.nanpercentile, A, 41.0, axis=1, weights=weights, method="inverted_cdf")


WITH_NAN = np.where(rng.random((3, 4)) > 0.6, np.nan, A)
WITH_NAN[0] = [np.nan, 0.5, np.nan, np.nan]
WITH_NAN[:, 1] = A[:, 1]


def without_nans(fn, x):
    """Return the function of x's numbers alone, and those."""
    there = ~np.isnan(x)

    def of_numbers(numbers):
        whole = np.full(x.shape, np.nan, numbers.dtype)
        whole[there] = numbers
        return fn(whole)

    return of_numbers, x[there]


@pytest.mark.parametrize(
    "settings", [{}, {"axis": 0}, {"axis": 1, "keepdims": True}, {"axis": (0, 1)}], ids=str
)
@pytest.mark.parametrize("fn", [np.nanmedian, np.nanquantile, np.nanpercentile])
def test_nans_are_left_out(fn, settings):
    """Differentiate, by the same rule, the numbers alone."""
    q = () if fn is np.nanmedian else (np.array([0.3, 0.62]) * (100 if "per" in str(fn) else 1),)
    check_rule(fn, A, *q, **settings)
    rule = rule_for(fn)
    out = np.asarray(fn(WITH_NAN, *q, **settings))
    out_bar = rng.standard_normal(out.shape)
    bar = rule.pullback(out_bar, out, WITH_NAN, *q, **settings)
    bar = bar[0] if q else bar
    direction = np.where(np.isnan(WITH_NAN), 0.0, rng.standard_normal(A.shape))
    none = (None,) * len(q)
    dot = rule.pushforward(out, WITH_NAN, *q, direction, *none, **settings)
    up, down = (fn(WITH_NAN + h * direction, *q, **settings) for h in (1e-6, -1e-6))
    slope = np.sum(out_bar * (up - down)) / 2e-6
    assert np.allclose(np.sum(bar * direction), slope) and np.allclose(np.sum(out_bar * dot), slope)
    assert np.all(bar[np.isnan(WITH_NAN)] == 0)


@pytest.mark.filterwarnings("ignore:All-NaN slice:RuntimeWarning")
def test_nothing_but_nans():
    x = np.full((2, 3), np.nan)
    for fn, *q in ((np.nanmedian,), (np.nanquantile, 0.3), (np.nanpercentile, 30.0)):
        bars = rule_for(fn).pullback(np.ones(2), fn(x, *q, axis=1), x, *q, axis=1)
        for bar in bars if q else (bars,):
            assert np.all(bar == 0)


def pull(fn, out_bar, a, *q, **settings):
    bars = rule_for(fn).pullback(np.asarray(out_bar), fn(a, *q, **settings), a, *q, **settings)
    return bars[0] if q else bars


def test_ties_follow_the_stable_permutation():
    tied = np.array([2.0, 1.0, 1.0, 2.0])
    assert pull(np.median, 1.0, tied).tolist() == [0.5, 0.0, 0.5, 0.0]
    assert pull(np.nanmedian, 1.0, tied).tolist() == [0.5, 0.0, 0.5, 0.0]
    assert pull(np.median, 1.0, np.ones(3)).tolist() == [0.0, 1.0, 0.0]
    assert pull(np.quantile, 1.0, tied, 0.0).tolist() == [0.0, 1.0, 0.0, 0.0]


def test_q_at_the_values():
    """The segment to the right counts, at the last value the one to the left."""
    rule, x = rule_for(np.quantile), np.array([3.0, 1.0, 7.0])
    q = np.array([0.0, 0.5, 1.0])
    assert rule.pullback(np.ones(3), np.quantile(x, q), x, q)[1].tolist() == [4.0, 8.0, 8.0]
    bar = rule.pullback(np.ones(3), x, x, q, method="hazen")[1]
    assert bar.tolist() == [0.0, 12.0, 0.0]


def test_many_half_precision_numbers():
    """A float16 does not count beyond 2048: the positions do."""
    x = rng.permutation(3001).astype(np.float16)
    bar = pull(np.quantile, np.float16(1.0), x, 0.75)
    assert np.flatnonzero(bar).size and np.isclose(np.sum(bar), 1.0)
    assert x[np.argmax(bar)] == np.sort(x)[2250]


def spread(x, q):
    low, high = np.quantile(x, [q, 1.0 - q], axis=0)
    return np.sum((high - low) * np.median(x, axis=0))


def robust(x):
    return np.nanpercentile(np.where(x > 9.0, np.nan, x), 40, axis=1, method="hazen")[1] ** 2


def test_gradient():
    slopes.check(spread, A, 0.23)
    slopes.check(robust, A)
    single = s2sad.grad(spread, wrt=(0, 1))(A.astype(np.float32), 0.23)
    assert single[0].dtype == np.float32 and type(single[1]) in (float, np.float64)
