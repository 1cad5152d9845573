"""Medians, quantiles and percentiles, with and without nans. Ties follow NumPy's stable order.

NumPy itself says where a quantile lies: the quantiles of the ranks 0, 1, 2, ... are positions among
the sorted values, whole or between two of them. So one rule serves every method.
"""

import numpy as np

from s2sad.registry import pullback, pushforward


def axes_last(ndim, axis):
    """Return the axes that are kept, and those that are reduced."""
    axes = range(ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    reduced = tuple(sorted(k % ndim for k in axes))
    return tuple(k for k in range(ndim) if k not in reduced), reduced


def to_rows(a, axis):
    """Return a with the reduced axes as one, the last."""
    kept, reduced = axes_last(a.ndim, axis)
    shape = [a.shape[k] for k in kept]
    length = 1
    for k in reduced:
        length *= a.shape[k]
    return np.reshape(np.transpose(a, kept + reduced), (*shape, length))


def from_rows(rows, shape, axis):
    """Undo to_rows, for an array that had this shape."""
    kept, reduced = axes_last(len(shape), axis)
    axes = kept + reduced
    a = np.reshape(rows, [shape[k] for k in axes])
    return np.transpose(a, sorted(range(len(shape)), key=axes.__getitem__))


def positions(quantile, a, q, axis, weights, method):
    """Return where the quantiles lie among the sorted values: axes of q, then those that are kept.

    Where weights or nans are, that is another place in every row.
    """
    rows = to_rows(a, axis)
    n = rows.shape[-1]
    exact = np.result_type(a.dtype, np.min_scalar_type(n))  # a float16 counts to 2048
    if weights is None and "nan" not in quantile.__name__:
        found = np.asarray(quantile(np.arange(n, dtype=exact), q, method=method))
        found = np.reshape(found, found.shape + (1,) * (rows.ndim - 1))
        return np.broadcast_to(found, (*np.shape(q), *rows.shape[:-1]))
    rank = np.argsort(np.argsort(rows, axis=-1, kind="stable"), axis=-1).astype(exact)
    rank = from_rows(np.where(np.isnan(rows), np.nan, rank), a.shape, axis)
    if weights is None:
        return quantile(rank, q, axis, method=method)
    return quantile(rank, q, axis, method=method, weights=weights)


def middles(a, axis):
    """Return the positions of the medians among the sorted values that are not nan."""
    return (np.sum(~np.isnan(to_rows(a, axis)), axis=-1) - 1) / 2


def neighbours(a, positions, axis):
    """Return a as rows, where in its row each two values stand that a quantile lies between, and
    the share of the second: one row for each row, one column for each quantile.
    """
    rows = to_rows(a, axis)
    rows = np.reshape(rows, (-1, rows.shape[-1]))
    order = np.argsort(rows, axis=-1, kind="stable")
    positions = np.reshape(positions, (np.size(positions) // max(len(rows), 1), len(rows))).T
    positions = np.where(positions >= 0, positions, 0)
    below = np.floor(positions).astype(int)
    above = np.minimum(below + 1, rows.shape[-1] - 1)
    row = np.arange(len(rows))[:, None]
    return rows, order[row, below], order[row, above], (positions - below).astype(a.dtype)


def quantile_pull(out_bar, a, positions, axis):
    """Share the cotangents of quantiles among the values they lie between."""
    if not a.size:
        return np.zeros_like(a)
    rows, first, second, share = neighbours(a, positions, axis)
    bars = np.reshape(out_bar, share.T.shape).T
    row = np.arange(len(rows))[:, None]
    rows_bar = np.zeros(rows.shape, bars.dtype)
    np.add.at(rows_bar, (row, first), bars * (1 - share))
    np.add.at(rows_bar, (row, second), bars * share)
    return from_rows(np.where(np.isnan(rows), 0, rows_bar), a.shape, axis)


def quantile_push(out, a, a_dot, positions, axis):
    """Interpolate the tangents of the values that the quantiles lie between."""
    if not a.size:
        return np.zeros_like(out)
    rows, first, second, share = neighbours(a, positions, axis)
    rows_dot = np.where(np.isnan(rows), 0, np.reshape(to_rows(a_dot, axis), rows.shape))
    row = np.arange(len(rows))[:, None]
    out_dot = (1 - share) * rows_dot[row, first] + share * rows_dot[row, second]
    return np.reshape(out_dot.T, np.shape(out))


# By how much the position moves with q, more than by the number of values: Hyndman and Fan,
# "Sample quantiles in statistical packages", 1996. The other methods move it in jumps.
GAINS = (
    ("linear", -1.0),
    ("interpolated_inverted_cdf", 0.0),
    ("hazen", 0.0),
    ("weibull", 1.0),
    ("median_unbiased", 1.0 / 3.0),
    ("normal_unbiased", 0.25),
)


def position_rate(quantile, a, positions, axis, method):
    """Return by how much the positions move with q."""
    gain = dict(GAINS).get(method)
    if gain is None:
        return np.zeros_like(positions)
    n = np.sum(~np.isnan(to_rows(a, axis)), axis=-1)
    moving = (positions > 0) & (positions < n - 1) | (method == "linear")
    unit = 100 if "percentile" in quantile.__name__ else 1
    return np.where(moving & (n > 1), (n + gain) / unit, 0).astype(positions.dtype)


@pullback(positions)
def pull_positions(out_bar, out, quantile, a, q, *, axis, weights, method):
    """With the values the positions move by steps."""
    moved = out_bar * position_rate(quantile, a, out, axis, method)
    return None, None, np.sum(moved, axis=tuple(range(np.ndim(q), np.ndim(moved))))


@pushforward(positions)
def push_positions(out, quantile, a, q, quantile_dot, a_dot, q_dot, *, axis, weights, method):
    if q_dot is None:
        return np.zeros_like(out)
    moved = np.reshape(q_dot, np.shape(q) + (1,) * (np.ndim(out) - np.ndim(q)))
    return moved * position_rate(quantile, a, out, axis, method)


def steps_at(values, a, positions, axis):
    """Return, for each quantile, the second less the first of the values that it lies between."""
    rows, first, second, _ = neighbours(a, positions, axis)
    rows = np.reshape(to_rows(values, axis), rows.shape)
    row = np.arange(len(rows))[:, None]
    return np.reshape((rows[row, second] - rows[row, first]).T, np.shape(positions))


def steps_back(out_bar, a, positions, axis):
    """Return the cotangent of the values for the steps at the quantiles."""
    rows, first, second, _ = neighbours(a, positions, axis)
    bars = np.reshape(out_bar, first.T.shape).T
    row = np.arange(len(rows))[:, None]
    rows_bar = np.zeros_like(rows)
    np.subtract.at(rows_bar, (row, first), bars)
    np.add.at(rows_bar, (row, second), bars)
    return from_rows(rows_bar, a.shape, axis)


def like_positions(values, a, positions, axis):
    """Return what steps_at does, as far as its kind is concerned."""
    return np.zeros(np.shape(positions), a.dtype)


@pullback(steps_at, linear=True, result=like_positions)
def pull_steps_at(out_bar, out, values, a, positions, *, axis):
    return steps_back(out_bar, a, positions, axis), None, None


@pushforward(steps_at)
def push_steps_at(out, values, a, positions, values_dot, a_dot, positions_dot, *, axis):
    if values_dot is None:
        return np.zeros_like(out)
    return steps_at(values_dot, a, positions, axis)


def like_values(out_bar, a, positions, axis):
    """Return what quantile_pull does, as far as its kind is concerned."""
    return np.zeros_like(a)


@pullback(quantile_pull, result=like_values)
def pull_quantile_pull(bar_bar, bar, out_bar, a, positions, *, axis):
    """Sharing is linear; with the values it changes by steps."""
    moved = np.reshape(out_bar, np.shape(positions)) * steps_at(bar_bar, a, positions, axis)
    return quantile_push(out_bar, a, bar_bar, positions, axis), None, moved


@pushforward(quantile_pull)
def push_quantile_pull(bar, out_bar, a, positions, out_bar_dot, a_dot, positions_dot, *, axis):
    bar_dot = np.zeros_like(bar)
    if positions_dot is not None:
        moved = np.reshape(out_bar, np.shape(positions)) * positions_dot
        bar_dot = steps_back(moved, a, positions, axis)
    if out_bar_dot is not None:
        bar_dot = bar_dot + quantile_pull(out_bar_dot, a, positions, axis)
    return bar_dot


def quantile_slope(a, q, positions, axis, method):
    """Return the derivative of the quantiles in q: on to the next value, at the last one from it.

    Zero where the method stays at the first or the last value.
    """
    a = 1.0 * a  # integers are interpolated, too
    gain = dict(GAINS).get(method)
    if gain is None:
        return np.zeros(np.shape(positions), a.dtype)
    n = np.sum(~np.isnan(to_rows(a, axis)), axis=-1)
    moving = (positions > 0) & (positions < n - 1) | (method == "linear")
    below = np.minimum(np.floor(positions), n - 2)
    steps = steps_at(a, a, np.where(below >= 0, below, 0), axis=axis)
    return np.where(moving & (n > 1), steps * (n + gain), 0).astype(a.dtype)


def quantile_rate(out_bar, a, q, positions, axis, method):
    """Return the cotangent of q: the sum over the rows."""
    slope = quantile_slope(a, q, positions, axis, method)
    bars = np.reshape(out_bar, slope.shape) * slope
    return np.sum(bars, axis=tuple(range(np.ndim(q), slope.ndim)))


def quantile_tangent(out, a, q, a_dot, q_dot, positions, axis, method):
    """Return the tangent of quantiles; a tangent that is None is zero."""
    out_dot = np.zeros_like(out)
    if a_dot is not None:
        out_dot = out_dot + quantile_push(out, a, a_dot, positions, axis)
    if q_dot is not None:
        slope = quantile_slope(a, q, positions, axis, method)
        q_dot = np.asarray(q_dot, slope.dtype)
        moved = np.reshape(q_dot, q_dot.shape + (1,) * (slope.ndim - q_dot.ndim))
        out_dot = out_dot + np.reshape(slope * moved, np.shape(out))
    return out_dot


BY_Q = "q is active, and the slopes in q are gathered in place"


@pullback(np.quantile, masks=True, once=BY_Q)
def pull_quantile(out_bar, out, a, q, *, axis=None, method="linear", keepdims=False, weights=None):
    at = positions(np.quantile, a, q, axis, weights, method)
    q_bar = quantile_rate(out_bar, a, q, at, axis, method)
    return quantile_pull(out_bar, a, at, axis), q_bar


@pushforward(np.quantile)
def push_quantile(
    out, a, q, a_dot, q_dot, *, axis=None, method="linear", keepdims=False, weights=None
):
    at = positions(np.quantile, a, q, axis, weights, method)
    return quantile_tangent(out, a, q, a_dot, q_dot, at, axis, method)


@pullback(np.percentile, masks=True, once=BY_Q)
def pull_percentile(
    out_bar, out, a, q, *, axis=None, method="linear", keepdims=False, weights=None
):
    at = positions(np.percentile, a, q, axis, weights, method)
    q_bar = quantile_rate(out_bar, a, q, at, axis, method) / 100
    return quantile_pull(out_bar, a, at, axis), q_bar


@pushforward(np.percentile)
def push_percentile(
    out, a, q, a_dot, q_dot, *, axis=None, method="linear", keepdims=False, weights=None
):
    at = positions(np.percentile, a, q, axis, weights, method)
    q_dot = None if q_dot is None else q_dot / 100
    return quantile_tangent(out, a, q, a_dot, q_dot, at, axis, method)


@pullback(np.nanquantile, masks=True, once=BY_Q)
def pull_nanquantile(
    out_bar, out, a, q, *, axis=None, method="linear", keepdims=False, weights=None
):
    at = positions(np.nanquantile, a, q, axis, weights, method)
    q_bar = quantile_rate(out_bar, a, q, at, axis, method)
    return quantile_pull(out_bar, a, at, axis), q_bar


@pushforward(np.nanquantile)
def push_nanquantile(
    out, a, q, a_dot, q_dot, *, axis=None, method="linear", keepdims=False, weights=None
):
    at = positions(np.nanquantile, a, q, axis, weights, method)
    return quantile_tangent(out, a, q, a_dot, q_dot, at, axis, method)


@pullback(np.nanpercentile, masks=True, once=BY_Q)
def pull_nanpercentile(
    out_bar, out, a, q, *, axis=None, method="linear", keepdims=False, weights=None
):
    at = positions(np.nanpercentile, a, q, axis, weights, method)
    q_bar = quantile_rate(out_bar, a, q, at, axis, method) / 100
    return quantile_pull(out_bar, a, at, axis), q_bar


@pushforward(np.nanpercentile)
def push_nanpercentile(
    out, a, q, a_dot, q_dot, *, axis=None, method="linear", keepdims=False, weights=None
):
    at = positions(np.nanpercentile, a, q, axis, weights, method)
    q_dot = None if q_dot is None else q_dot / 100
    return quantile_tangent(out, a, q, a_dot, q_dot, at, axis, method)


@pullback(np.median, np.nanmedian, masks=True, linear=True)
def pull_median(out_bar, out, a, *, axis=None, keepdims=False):
    return quantile_pull(out_bar, a, middles(a, axis), axis)


@pushforward(np.median, np.nanmedian)
def push_median(out, a, a_dot, *, axis=None, keepdims=False):
    return quantile_push(out, a, a_dot, middles(a, axis), axis)
