"""The rules of rules/reductions.py, a row for each function and keyword."""

import numpy as np
import pytest

import s2sad
from s2sad.registry import rule_for
from s2sad.testing import check_rule
from tests import slopes

RNG = np.random.default_rng(3)
A = RNG.permutation(np.linspace(-1.9, 2.1, 24)).reshape(2, 3, 4)
M = A[0]
Z = M + 1j * A[1]
MASK = RNG.random((3, 4)) > 0.3
MASK[0] = True
MASK[:, 0] = True
WITH_NAN = np.where(RNG.random((3, 4)) > 0.7, np.nan, M)
WITH_NAN[0] = M[0]
WITH_NAN[:, 1] = M[:, 1]

AXES = [{}, {"axis": None}, {"axis": 0}, {"axis": -1}, {"axis": (0, 1)}, {"axis": (-1, 0)}]
AXES = [*AXES, {"axis": 1, "keepdims": True}, {"keepdims": True}, {"axis": (1,), "keepdims": True}]
SUMS = [np.sum, np.mean, np.var, np.std, np.prod]
SUMS = [*SUMS, np.nansum, np.nanmean, np.nanvar, np.nanstd, np.nanprod]
RUNNING = [np.cumsum, np.cumprod, np.nancumsum, np.nancumprod]
if hasattr(np, "cumulative_sum"):
    ARRAY_API = [np.cumulative_sum, np.cumulative_prod]
else:
    ARRAY_API = []
EXTREMES = [np.max, np.amax, np.min, np.amin, np.nanmax, np.nanmin]


@pytest.mark.parametrize("settings", AXES, ids=str)
@pytest.mark.parametrize("fn", [*SUMS, *EXTREMES, np.ptp, np.average])
def test_axes(fn, settings):
    check_rule(fn, M, **settings)
    check_rule(fn, A, **settings)


@pytest.mark.parametrize("x", [M[0], M[:1, :1], np.array(0.7), np.float64(1.3), M.T], ids=str)
@pytest.mark.parametrize("fn", [*SUMS, *EXTREMES, np.ptp, np.average])
def test_shapes(fn, x):
    if fn not in (np.std, np.nanstd) or np.size(x) > 1:
        check_rule(fn, x)


@pytest.mark.parametrize("fn", [np.sum, np.prod, np.nansum, np.nanprod, *RUNNING])
def test_empty(fn):
    check_rule(fn, M[:0])
    check_rule(fn, M[:0], axis=0)
    check_rule(fn, M[:0], axis=1)


@pytest.mark.parametrize("fn", [np.mean, np.var, np.std, np.nanmean, np.max, np.min, np.ptp])
def test_empty_result(fn):
    check_rule(fn, M[:0], axis=1)


@pytest.mark.parametrize("settings", AXES, ids=str)
@pytest.mark.parametrize("fn", SUMS)
def test_where(fn, settings):
    check_rule(fn, M, where=MASK, **settings)
    check_rule(fn, M, where=MASK[0], **settings)


@pytest.mark.parametrize("settings", AXES, ids=str)
@pytest.mark.parametrize("fn", EXTREMES)
def test_extremes_where(fn, settings):
    initial = -9.0 if "max" in fn.__name__ else 9.0
    check_rule(fn, M, where=MASK, initial=initial, **settings)


@pytest.mark.parametrize("initial", [0.3, 2.5, -2.5])
@pytest.mark.parametrize("fn", [np.sum, np.nansum, np.prod, np.nanprod, *EXTREMES])
def test_initial(fn, initial):
    check_rule(fn, M, initial=initial)
    check_rule(fn, M, initial=initial, axis=0)
    check_rule(fn, M, initial=initial, axis=0, keepdims=True)


def of_array(bars):
    """Return the first cotangent of a rule that may have several."""
    return bars[0] if isinstance(bars, tuple) else bars


@pytest.mark.skipif(np.__version__ < "2", reason="mean= came with NumPy 2.0")
@pytest.mark.parametrize("fn", [np.var, np.std])
def test_a_mean_that_is_given(fn):
    check_rule(fn, M, mean=np.array([[0.3, -0.2, 0.4, 0.1]])[:, : M.shape[-1]], axis=0)
    check_rule(fn, M, mean=np.full((M.shape[0], 1), 0.25), axis=1, keepdims=True, ddof=1)


@pytest.mark.parametrize("fn", [np.var, np.std, np.nanvar, np.nanstd])
@pytest.mark.parametrize("settings", AXES, ids=str)
def test_ddof(fn, settings):
    check_rule(fn, M, ddof=1, **settings)
    check_rule(fn, M, ddof=1, where=MASK, **settings)


@pytest.mark.parametrize("fn", [*SUMS, *RUNNING])
def test_dtype(fn):
    check_rule(fn, M, dtype=np.float64)
    check_rule(fn, M, dtype=np.float64, axis=0)
    single = M.astype(np.float32)
    out = fn(single, dtype=np.float64)
    bar = of_array(rule_for(fn).pullback(np.ones_like(out), out, single, dtype=np.float64))
    assert bar.shape == M.shape


NANS = [np.nansum, np.nanmean, np.nanmax, np.nanmin, np.nanvar, np.nanstd, np.nanprod]


@pytest.mark.parametrize("fn", NANS)
@pytest.mark.parametrize("settings", AXES, ids=str)
def test_nans_are_left_out(fn, settings):
    bar = rule_for(fn).pullback(np.float64(1.0), fn(WITH_NAN), WITH_NAN)
    assert np.all(bar[np.isnan(WITH_NAN)] == 0.0)
    kept = ~np.isnan(WITH_NAN)

    def by_hand(x):
        return fn(np.where(kept, x, np.nan), **settings)

    out = fn(WITH_NAN, **settings)
    out_bar = np.ones_like(out) if settings else np.float64(1.0)
    bar = rule_for(fn).pullback(out_bar, out, WITH_NAN, **settings)
    direction = RNG.normal(size=WITH_NAN.shape)
    change = (by_hand(M + 1e-5 * direction) - by_hand(M - 1e-5 * direction)) / 2e-5
    assert np.sum(bar * direction) == pytest.approx(np.sum(change), rel=1e-8)
    push = rule_for(fn).pushforward(out, WITH_NAN, direction, **settings)
    assert np.sum(push) == pytest.approx(np.sum(bar * direction), rel=1e-12)


@pytest.mark.parametrize("settings", [{}, {"axis": 0}, {"axis": 1, "keepdims": True}], ids=str)
@pytest.mark.parametrize("fn", [*SUMS, np.average])
def test_complex(fn, settings):
    check_rule(fn, Z, **settings)


@pytest.mark.parametrize("settings", [{}, {"axis": 0}, {"axis": -1}, {"axis": None}], ids=str)
@pytest.mark.parametrize("fn", RUNNING)
def test_running(fn, settings):
    for x in (M, A, Z, np.where(MASK, M, 0.0), M[:, :1]):
        check_rule(fn, x, **settings)
    check_rule(fn, M[0])
    check_rule(fn, np.array(0.7))


@pytest.mark.parametrize("fn", [np.nancumsum, np.nancumprod])
@pytest.mark.parametrize("settings", [{}, {"axis": 0}, {"axis": 1}], ids=str)
def test_running_past_nans(fn, settings):
    out = fn(WITH_NAN, **settings)
    bar = rule_for(fn).pullback(np.cos(out), out, WITH_NAN, **settings)
    direction = RNG.normal(size=WITH_NAN.shape)
    up, down = (fn(WITH_NAN + h * direction, **settings) for h in (1e-6, -1e-6))
    assert np.sum(bar * direction) == pytest.approx(np.sum(np.cos(out) * (up - down)) / 2e-6)
    push = rule_for(fn).pushforward(out, WITH_NAN, direction, **settings)
    assert np.sum(push * np.cos(out)) == pytest.approx(np.sum(bar * direction), rel=1e-12)
    assert np.all(bar[np.isnan(WITH_NAN)] == 0.0)


@pytest.mark.parametrize("fn", ARRAY_API)
@pytest.mark.parametrize("initial", [False, True])
def test_cumulative(fn, initial):
    for x in (M[0], Z[0], np.array([0.5]), np.array([0.5, 0.0, 2.0])):
        check_rule(fn, x, include_initial=initial)
        check_rule(fn, x, axis=-1, include_initial=initial)
    for axis in (0, 1, -1, -2):
        check_rule(fn, A, axis=axis, include_initial=initial)
    check_rule(fn, M, axis=1, dtype=np.float64)


@pytest.mark.parametrize("zeros", [1, 2, 3, 4])
@pytest.mark.parametrize("settings", [{}, {"axis": 0}, {"axis": 1, "keepdims": True}], ids=str)
def test_prod_with_zeros(zeros, settings):
    x = M.copy()
    x.flat[:zeros] = 0.0
    check_rule(np.prod, x, **settings)
    check_rule(np.prod, x, initial=2.0, **settings)
    check_rule(np.prod, x, where=MASK, **settings)


def test_ties_share_equally():
    x = np.array([[1.0, 3.0, 3.0], [3.0, 0.0, 0.0]])
    for fn in (np.max, np.min, np.ptp):
        for settings in ({}, {"axis": 0}, {"axis": 1}, {"axis": 1, "keepdims": True}):
            out = fn(x, **settings)
            rule = rule_for(fn)
            bar = rule.pullback(np.ones_like(out), out, x, **settings)
            direction = RNG.normal(size=x.shape)
            push = rule.pushforward(out, x, direction, **settings)
            assert np.sum(push) == pytest.approx(np.sum(bar * direction), rel=1e-12)
    bar = rule_for(np.max).pullback(3.0, 3.0, x)
    assert bar.tolist() == [[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]]
    bar = rule_for(np.min).pullback(1.0, 0.0, x)
    assert bar.tolist() == [[0.0, 0.0, 0.0], [0.0, 0.5, 0.5]]
    bar = rule_for(np.max).pullback(1.0, np.float64(3.0), x, initial=3.0)
    assert bar.tolist() == [[0.0, 0.25, 0.25], [0.25, 0.0, 0.0]]
    bar = rule_for(np.ptp).pullback(6.0, np.float64(3.0), x)
    assert bar.tolist() == [[0.0, 2.0, 2.0], [2.0, -3.0, -3.0]]


def test_nan_ties_with_nothing():
    x = np.array([1.0, np.nan])
    assert rule_for(np.max).pullback(1.0, np.nan, x).tolist() == [0.0, 0.0]


def test_ties_keep_single_precision():
    x = np.array([1.0, 3.0, 3.0], dtype=np.float32)
    bar = rule_for(np.max).pullback(np.float32(1.0), np.float32(3.0), x)
    assert bar.dtype == np.float32
    assert bar.tolist() == [0.0, 0.5, 0.5]


def test_where_masks_an_infinite_cotangent():
    x = np.array([1.0, 2.0])
    bar = rule_for(np.max).pullback(np.inf, 2.0, x)
    assert bar.tolist() == [0.0, np.inf]
    bar, _ = rule_for(np.sum).pullback(np.inf, 1.0, x, where=np.array([True, False]))
    assert bar.tolist() == [np.inf, 0.0]


def test_std_of_equal_entries_is_zero():
    x = np.full(3, 2.0)
    rule = rule_for(np.std)
    assert rule.pullback(1.0, np.float64(0.0), x)[0].tolist() == [0.0, 0.0, 0.0]
    assert rule.pushforward(np.float64(0.0), x, None, np.array([1.0, 0.0, 0.0]), None) == 0.0
    assert rule.pullback(1.0, np.float64(0.0), np.array(2.0))[0] == 0.0


WEIGHTS = [
    (np.array([0.5, 1.0, 2.0]), {"axis": 0}),
    (np.array([0.5, 1.0, 2.0, 0.7]), {"axis": 1}),
    (np.array([0.5, 1.0, 2.0, 0.7]), {"axis": -1, "keepdims": True}),
    (np.array([1, 2, 3, 4]), {"axis": 1}),
    (np.abs(M), {}),
    (np.abs(M), {"axis": None, "keepdims": True}),
    (np.abs(M), {"axis": 0}),
    (np.abs(M), {"axis": (0, 1)}),
]


@pytest.mark.parametrize(("weights", "settings"), WEIGHTS, ids=str)
def test_average_with_weights(weights, settings):
    check_rule(np.average, M, weights=weights, **settings)
    check_rule(np.average, M, weights=weights, returned=True, **settings)
    check_rule(np.average, M, returned=True, **settings)


def test_average_of_several_axes():
    check_rule(np.average, A, weights=np.abs(A[:, 0, :]), axis=(0, 2))
    check_rule(np.average, A, weights=np.abs(A[:, 0, :]).T, axis=(2, 0), keepdims=True)
    check_rule(np.average, np.arange(12).reshape(3, 4), weights=np.abs(M), axis=0)
    check_rule(np.average, Z, weights=np.abs(M), axis=0)


def test_zero():
    for fn in (np.any, np.all):
        assert rule_for(fn).zero
        check_rule(fn, M)
        check_rule(fn, M, axis=0, keepdims=True)
    for fn in (np.argmax, np.argmin):
        check_rule(fn, M, axis=0)
    check_rule(np.count_nonzero, M)


@pytest.mark.parametrize("settings", [*AXES[1:4], *AXES[6:8]], ids=str)
@pytest.mark.parametrize(
    "fn",
    [np.add.reduce, np.multiply.reduce, np.maximum.reduce, np.minimum.reduce],
    ids=lambda fn: f"{fn.__self__.__name__}.reduce",
)
def test_reduce_of_a_ufunc(fn, settings):
    check_rule(fn, M, **settings)
    check_rule(fn, M[0])


def test_accumulate_of_a_ufunc():
    check_rule(np.add.accumulate, M)
    check_rule(np.add.accumulate, M, axis=1)


def test_the_largest_of_another_byte_order():
    x = np.array([[1.0, 3.0], [3.0, 3.0]], dtype=np.dtype(float).newbyteorder("S"))
    for fn in (np.max, np.min, np.ptp, np.maximum.reduce):
        got = s2sad.grad(lambda a, fn=fn: np.sum(fn(a, axis=1) ** 2))(x)
        assert np.array_equal(got, s2sad.grad(lambda a, fn=fn: np.sum(fn(a, axis=1) ** 2))(x + 0.0))
    for axis in (0, 1, -1):
        check_rule(np.multiply.accumulate, M, axis=axis)


@pytest.mark.parametrize("indices", [[0, 2], [1], [2, 0, 1], np.array([0, 1, 1, 2])], ids=str)
def test_reduceat(indices):
    check_rule(np.add.reduceat, M, indices=indices)
    check_rule(np.add.reduceat, A, indices=indices, axis=1)
    check_rule(np.add.reduceat, Z, indices=indices, axis=-1)
    slopes.check(lambda x: np.sum(np.add.reduceat(x, [0, 2]) ** 2), M[0])


@pytest.mark.parametrize("fn", [np.maximum.accumulate, np.minimum.accumulate])
def test_running_extremes(fn):
    check_rule(fn, M[0])
    check_rule(fn, M, axis=-1)
    check_rule(fn, A, axis=1)
    check_rule(fn, M[:0])


def test_a_running_maximum_shares_ties():
    x = np.array([1.0, 3.0, 2.0, 3.0, 4.0])
    rule, out = rule_for(np.maximum.accumulate), np.maximum.accumulate(x)
    bar = rule.pullback(np.array([1.0, 10.0, 100.0, 1000.0, 1e4]), out, x)
    assert bar.tolist() == [1.0, 610.0, 0.0, 500.0, 1e4]
    dot = rule.pushforward(out, x, np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    assert dot.tolist() == [1.0, 2.0, 2.0, 3.0, 5.0]


def drawdown(x):
    return np.max(np.maximum.accumulate(x) - x) + np.logaddexp.reduce(x)


@pytest.mark.parametrize("settings", [{}, {"axis": 1}, {"axis": None}, {"keepdims": True}], ids=str)
def test_reduce_of_logaddexp(settings):
    check_rule(np.logaddexp.reduce, M, **settings)
    slopes.check(drawdown, A[0, 1])


OF_ONE_NUMBER = [
    *(np.sum, np.prod, np.max, np.min, np.ptp, np.nansum, np.nanprod, np.nanmax, np.nanmin),
    *(np.nanmean, np.nanvar, np.nanstd, np.cumsum, np.cumprod, np.nancumsum, np.nancumprod),
    *(np.add.reduce, np.multiply.reduce, np.maximum.reduce),
]


@pytest.mark.parametrize("axis", [0, -1, None])
@pytest.mark.parametrize("fn", OF_ONE_NUMBER, ids=lambda f: f.__name__)
def test_an_axis_of_an_array_without_axes(fn, axis):
    """NumPy takes 0 and -1 where there is none."""

    def of_an_array(x):
        return np.sum(fn(np.reshape(x[0], ()), axis=axis) * x[1])

    def of_a_number(x):
        return np.sum(fn(x[0], axis=axis) * x[1])

    for f in (of_an_array, of_a_number):
        slopes.check(f, np.array([0.7, 1.3]))
        _, moved = s2sad.jvp(f, (np.array([0.7, 1.3]),), (np.array([1.0, 0.0]),))
        assert moved == pytest.approx(s2sad.grad(f)(np.array([0.7, 1.3]))[0])


def quantile_of_nothing(x):
    return x[0] if x[3:].size else x[0] + 0.0 * np.nansum(np.median(np.ones((0, 2)) * x[0], axis=0))


@pytest.mark.filterwarnings("ignore")
def test_nothing_to_reduce():
    x = np.array([0.7, 1.3])
    assert s2sad.grad(quantile_of_nothing)(x).tolist() == [1.0, 0.0]
    assert s2sad.grad(lambda x: x[0] + np.sum(np.poly(x[:0])))(x).tolist() == [1.0, 0.0]
    assert s2sad.jvp(lambda x: x[0] + np.sum(np.poly(x[:0])), (x,), (x,))[1] == 0.7
