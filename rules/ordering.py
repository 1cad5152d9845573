"""Sorting, order statistics and differences. Ties follow NumPy's stable permutation."""

import numpy as np

from s2sad.registry import nondifferentiable, pullback, pushforward

nondifferentiable(np.argsort, np.argmax, np.argmin, np.nanargmax, np.nanargmin, np.argpartition)
nondifferentiable(np.lexsort, np.searchsorted, np.digitize, np.count_nonzero)


@pullback(np.sort)
def pull_sort(out_bar, out, a, *, axis=-1, kind=None, stable=None):
    order = np.argsort(a, axis=axis, kind="stable")
    if axis is None:
        return np.reshape(out_bar[np.argsort(order)], a.shape)
    if a.ndim == 1:
        return out_bar[np.argsort(order)]
    return np.take_along_axis(out_bar, np.argsort(order, axis=axis), axis=axis)


@pushforward(np.sort)
def push_sort(out, a, a_dot, *, axis=-1, kind=None, stable=None):
    order = np.argsort(a, axis=axis, kind="stable")
    if axis is None:
        return np.ravel(a_dot)[order]
    if a.ndim == 1:
        return a_dot[order]
    return np.take_along_axis(a_dot, order, axis=axis)


@pullback(np.partition)
def pull_partition(out_bar, out, a, *, kth=None, axis=-1, kind="introselect"):
    """Match a with its partition by sorting both: NumPy does not tell which permutation it used."""
    if axis is None:
        sorted_bar = out_bar[np.argsort(out, kind="stable")]
        rank = np.argsort(np.argsort(a, axis=None, kind="stable"))
        return np.reshape(sorted_bar[rank], a.shape)
    sorted_bar = np.take_along_axis(out_bar, np.argsort(out, axis=axis, kind="stable"), axis)
    rank = np.argsort(np.argsort(a, axis=axis, kind="stable"), axis=axis)
    return np.take_along_axis(sorted_bar, rank, axis)


@pushforward(np.partition)
def push_partition(out, a, a_dot, *, kth=None, axis=-1, kind="introselect"):
    if axis is None:
        sorted_dot = np.ravel(a_dot)[np.argsort(a, axis=None, kind="stable")]
        return sorted_dot[np.argsort(np.argsort(out, kind="stable"))]
    sorted_dot = np.take_along_axis(a_dot, np.argsort(a, axis=axis, kind="stable"), axis)
    rank = np.argsort(np.argsort(out, axis=axis, kind="stable"), axis=axis)
    return np.take_along_axis(sorted_dot, rank, axis)


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


@pullback(np.median, masks=True)
def pull_median(out_bar, out, a, *, axis=None, keepdims=False):
    rows = to_rows(a, axis)
    n = rows.shape[-1]
    middle = np.argsort(rows, axis=-1, kind="stable")[..., (n - 1) // 2 : n // 2 + 1]
    rows_bar = np.zeros(rows.shape, rows.dtype)
    share = np.reshape(out_bar, (*rows.shape[:-1], 1)) / (2 - n % 2)
    np.put_along_axis(rows_bar, middle, share, -1)
    return from_rows(rows_bar, a.shape, axis)


@pushforward(np.median)
def push_median(out, a, a_dot, *, axis=None, keepdims=False):
    rows = to_rows(a, axis)
    n = rows.shape[-1]
    middle = np.argsort(rows, axis=-1, kind="stable")[..., (n - 1) // 2 : n // 2 + 1]
    rows_dot = np.take_along_axis(to_rows(a_dot, axis), middle, -1)
    return np.reshape(np.mean(rows_dot, axis=-1), out.shape)


def quantile_weights(q, n, dtype):
    """Return the weight of each of n sorted values in the quantiles q, linearly interpolated."""
    position = np.ravel(q) * (n - 1)
    below = np.floor(position).astype(int)
    above = np.minimum(below + 1, n - 1)
    k = np.arange(below.size)
    weights = np.zeros((below.size, n), dtype)
    weights[k, below] += 1 - (position - below)
    weights[k, above] += position - below
    return weights


def quantile_pull(out_bar, a, q, axis):
    """Share the cotangents of quantiles among the values they lie between."""
    rows = to_rows(a, axis)
    weights = quantile_weights(q, rows.shape[-1], rows.dtype)
    out_bar = np.reshape(out_bar, (len(weights), *rows.shape[:-1]))
    sorted_bar = np.tensordot(out_bar, weights, (0, 0))
    rank = np.argsort(np.argsort(rows, axis=-1, kind="stable"), axis=-1)
    return from_rows(np.take_along_axis(sorted_bar, rank, -1), a.shape, axis)


def quantile_push(out, a, a_dot, q, axis):
    """Interpolate the tangents of the values that the quantiles lie between."""
    rows = to_rows(a, axis)
    weights = quantile_weights(q, rows.shape[-1], rows.dtype)
    order = np.argsort(rows, axis=-1, kind="stable")
    sorted_dot = np.take_along_axis(to_rows(a_dot, axis), order, -1)
    return np.reshape(np.tensordot(weights, sorted_dot, (1, -1)), out.shape)


@pullback(np.quantile, masks=True)
def pull_quantile(out_bar, out, a, *, q=None, axis=None, method="linear", keepdims=False):
    if method != "linear":
        raise NotImplementedError("quantile: a derivative for method='linear' only")
    return quantile_pull(out_bar, a, np.asarray(q), axis)


@pushforward(np.quantile)
def push_quantile(out, a, a_dot, *, q=None, axis=None, method="linear", keepdims=False):
    if method != "linear":
        raise NotImplementedError("quantile: a derivative for method='linear' only")
    return quantile_push(out, a, a_dot, np.asarray(q), axis)


@pullback(np.percentile, masks=True)
def pull_percentile(out_bar, out, a, *, q=None, axis=None, method="linear", keepdims=False):
    if method != "linear":
        raise NotImplementedError("percentile: a derivative for method='linear' only")
    return quantile_pull(out_bar, a, np.asarray(q) / 100, axis)


@pushforward(np.percentile)
def push_percentile(out, a, a_dot, *, q=None, axis=None, method="linear", keepdims=False):
    if method != "linear":
        raise NotImplementedError("percentile: a derivative for method='linear' only")
    return quantile_push(out, a, a_dot, np.asarray(q) / 100, axis)


def undiff(x_bar, shape, n, axis):
    """Apply the adjoint of np.diff n times, ending in an array of this shape."""
    length = shape[axis]
    for k in range(n, 0, -1):
        x_bar = np.moveaxis(x_bar, axis, -1)
        longer = np.zeros((*x_bar.shape[:-1], max(length - k + 1, 0)), x_bar.dtype)
        longer[..., 1:] += x_bar
        longer[..., :-1] -= x_bar
        x_bar = np.moveaxis(longer, -1, axis)
    return x_bar


def end_length(end, axis):
    """Return how many entries np.diff adds at one end."""
    if end is None:
        return 0
    return 1 if np.ndim(end) == 0 else np.shape(end)[axis]


def inner_diff(out_bar, a, n, axis, prepend, append):
    """Return the cotangent of what stood between the ends that np.diff added."""
    before, after = end_length(prepend, axis), end_length(append, axis)
    shape = list(a.shape)
    shape[axis] += before + after
    whole = np.moveaxis(undiff(out_bar, shape, n, axis), axis, 0)
    return np.moveaxis(whole[before : before + a.shape[axis]], 0, axis)


@pullback(np.diff, view="maybe")
def pull_diff(out_bar, out, a, *, n=1, axis=-1, prepend=None, append=None):
    if prepend is not None or append is not None:
        return inner_diff(out_bar, a, n, axis, prepend, append)
    if n == 1 and axis == -1:
        a_bar = np.zeros(a.shape, out_bar.dtype)
        a_bar[..., 1:] += out_bar
        a_bar[..., :-1] -= out_bar
        return a_bar
    return undiff(out_bar, a.shape, n, axis)


@pushforward(np.diff)
def push_diff(out, a, a_dot, *, n=1, axis=-1, prepend=None, append=None):
    if prepend is None and append is None:
        return np.diff(a_dot, n, axis)
    parts = [a_dot]
    if prepend is not None:
        shape = list(a_dot.shape)
        shape[axis] = end_length(prepend, axis)
        parts = [np.zeros(shape, a_dot.dtype), *parts]
    if append is not None:
        shape = list(a_dot.shape)
        shape[axis] = end_length(append, axis)
        parts = [*parts, np.zeros(shape, a_dot.dtype)]
    return np.diff(np.concatenate(parts, axis), n, axis)


@pullback(np.ediff1d)
def pull_ediff1d(out_bar, out, ary):
    ary_bar = np.zeros(ary.size, out_bar.dtype)
    ary_bar[1:] += out_bar
    ary_bar[:-1] -= out_bar
    return np.reshape(ary_bar, ary.shape)


@pushforward(np.ediff1d)
def push_ediff1d(out, ary, ary_dot):
    return np.diff(np.ravel(ary_dot))
