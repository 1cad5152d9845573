"""Sums, means, products and extremes along axes, and the running sums and products."""

import numpy as np

from s2sad.registry import nondifferentiable, pullback, pushforward
from s2sad.runtime import unbroadcast


def products_of_others(a, axis):
    """Return, for each entry, the product of all the other entries along the axis (None: of all).

    Products from the left times products from the right: nothing is divided, so zeros are fine.
    """
    if axis is None:
        return others_in_rows(np.ravel(a)).reshape(a.shape)
    if isinstance(axis, tuple):
        others = np.ones_like(a)
        for k in axis:
            others = others * products_of_others(a, k)
            a = np.prod(a, axis=k, keepdims=True)
        return others
    return np.moveaxis(others_in_rows(np.moveaxis(a, axis, 0)), 0, axis)


def others_in_rows(a):
    """Return, for each entry, the product of all the other entries along the first axis."""
    ones = np.ones_like(a[:1])
    left = np.cumprod(np.concatenate((ones, a[:-1])), axis=0)
    right = np.cumprod(np.concatenate((ones, a[:0:-1])), axis=0)
    return left * right[::-1]


def recurrence(b, a):
    """Return `out[i] = b[i] + a[i] * out[i - 1]` along the first axis; a[0] does not count."""
    rows = [b[i] for i in range(min(len(b), 1))]
    for i in range(1, len(b)):
        rows.append(b[i] + a[i] * rows[-1])
    return np.stack(rows) if rows else b


def recurrence_back(out_bar, a):
    """Return the cotangent of b for `out = recurrence(b, a)`: the same, from the other end."""
    return recurrence(out_bar[::-1], np.concatenate((a[:1], a[:0:-1])))[::-1]


def one_before(rows, first):
    """Return what each row has before it: `first` where there is none."""
    return np.concatenate((np.full_like(rows[:1], first), rows[:-1]))


@pullback(recurrence)
def pull_recurrence(out_bar, out, b, a):
    b_bar = recurrence_back(out_bar, a)
    return b_bar, b_bar * one_before(out, 0)


@pushforward(recurrence)
def push_recurrence(out, b, a, b_dot, a_dot):
    if a_dot is None:
        return recurrence(b_dot, a)
    moved = a_dot * one_before(out, 0)
    return recurrence(moved if b_dot is None else b_dot + moved, a)


def running_products_back(out_bar, out, a):
    """Return the cotangent of a for `out = np.cumprod(a, axis=0)`.

    Where nothing is 0 the entries are divided out again.
    """
    if np.all(out):
        return np.cumsum((out_bar * out)[::-1], axis=0)[::-1] / a
    return recurrence_back(out_bar, a) * one_before(out, 1)


def running_products_forward(out, a, a_dot):
    """Return the tangent of `out = np.cumprod(a, axis=0)`."""
    return recurrence(a_dot * one_before(out, 1), a)


def along(weights, a, axis):
    """Return the weights of an average with as many axes as a."""
    if np.ndim(weights) == np.ndim(a):
        return weights
    axes = axis if isinstance(axis, tuple) else (axis,)
    axes = [i % a.ndim for i in axes]
    order = sorted(range(len(axes)), key=axes.__getitem__)
    shape = [a.shape[i] if i in axes else 1 for i in range(a.ndim)]
    return np.transpose(weights, order).reshape(shape)


def along_back(w_bar, weights, axis):
    """Return the cotangent of an average's weights: sum over the axes they do not have."""
    if np.ndim(weights) == np.ndim(w_bar):
        return unbroadcast(w_bar, np.shape(weights))
    axes = axis if isinstance(axis, tuple) else (axis,)
    axes = [i % w_bar.ndim for i in axes]
    summed = np.sum(w_bar, axis=tuple(i for i in range(w_bar.ndim) if i not in axes))
    return np.transpose(summed, [sorted(axes).index(i) for i in axes])


@pullback(np.sum, masks=("where",))
def pull_sum(out_bar, out, a, initial=None, *, axis=None, dtype=None, keepdims=False, where=True):
    initial_bar = None if initial is None else np.sum(out_bar)
    if axis is not None and not keepdims:
        out_bar = np.expand_dims(out_bar, axis)
    if where is not True:
        return np.where(where, np.broadcast_to(out_bar, a.shape), 0.0), initial_bar
    return np.broadcast_to(out_bar, a.shape), initial_bar


@pushforward(np.sum)
def push_sum(
    out, a, initial, a_dot, initial_dot, *, axis=None, dtype=None, keepdims=False, where=True
):
    if initial_dot is None:
        return np.sum(a_dot, axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    if a_dot is None:
        return np.zeros_like(out) + initial_dot
    moved = np.sum(a_dot, axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    return moved + initial_dot


@pullback(np.nansum, masks=True)
def pull_nansum(
    out_bar, out, a, *, axis=None, dtype=None, keepdims=False, initial=None, where=True
):
    if axis is not None and not keepdims:
        out_bar = np.expand_dims(out_bar, axis)
    return np.where(where & ~np.isnan(a), out_bar, 0.0)


@pushforward(np.nansum)
def push_nansum(out, a, a_dot, *, axis=None, dtype=None, keepdims=False, initial=None, where=True):
    counted = where & ~np.isnan(a)
    return np.sum(np.where(counted, a_dot, 0), axis=axis, dtype=dtype, keepdims=keepdims)


@pullback(np.mean, masks=("where",), linear=True)
def pull_mean(out_bar, out, a, *, axis=None, dtype=None, keepdims=False, where=True):
    if where is not True:
        where = np.broadcast_to(where, a.shape)
        out_bar = out_bar / np.sum(where, axis=axis, keepdims=keepdims, dtype=out.dtype)
        if axis is not None and not keepdims:
            out_bar = np.expand_dims(out_bar, axis)
        return np.where(where, out_bar, 0.0)
    if axis is None:
        return np.broadcast_to(out_bar / a.size, a.shape)
    out_bar = out_bar / (a.size // max(out.size, 1))
    if not keepdims:
        out_bar = np.expand_dims(out_bar, axis)
    return np.broadcast_to(out_bar, a.shape)


@pushforward(np.mean)
def push_mean(out, a, a_dot, *, axis=None, dtype=None, keepdims=False, where=True):
    return np.mean(a_dot, axis=axis, dtype=dtype, keepdims=keepdims, where=where)


@pullback(np.nanmean, masks=True, linear=True)
def pull_nanmean(out_bar, out, a, *, axis=None, dtype=None, keepdims=False, where=True):
    counted = where & ~np.isnan(a)
    out_bar = out_bar / np.sum(counted, axis=axis, keepdims=keepdims, dtype=out.dtype)
    if axis is not None and not keepdims:
        out_bar = np.expand_dims(out_bar, axis)
    return np.where(counted, out_bar, 0.0)


@pushforward(np.nanmean)
def push_nanmean(out, a, a_dot, *, axis=None, dtype=None, keepdims=False, where=True):
    counted = where & ~np.isnan(a)
    total = np.sum(np.where(counted, a_dot, 0), axis=axis, dtype=dtype, keepdims=keepdims)
    return total / np.sum(counted, axis=axis, keepdims=keepdims, dtype=out.dtype)


@pullback(np.var, masks=("where",))
def pull_var(
    out_bar, out, a, mean=None, *, axis=None, dtype=None, ddof=0, keepdims=False, where=True
):
    if axis is not None and not keepdims:
        out_bar = np.expand_dims(out_bar, axis)
    if mean is None:
        d = a - np.mean(a, axis=axis, keepdims=True, where=where)
    else:
        d = a - mean
    if np.iscomplexobj(a):
        d = np.conj(d)
    if where is not True:
        n = np.sum(np.broadcast_to(where, a.shape), axis=axis, keepdims=True, dtype=out.dtype)
        a_bar = np.where(where, 2.0 * out_bar * d / (n - ddof), 0.0)
    else:
        a_bar = 2.0 * out_bar * d / (a.size // max(out.size, 1) - ddof)
    if mean is None:
        return a_bar, None
    return a_bar, unbroadcast(-a_bar, np.shape(mean))


@pushforward(np.var)
def push_var(
    out, a, mean, a_dot, mean_dot, *, axis=None, dtype=None, ddof=0, keepdims=False, where=True
):
    if mean is None:
        d = a - np.mean(a, axis=axis, keepdims=True, where=where)
    else:
        d = a - mean
    if np.iscomplexobj(a):
        d = np.conj(d)
    if mean_dot is not None:
        a_dot = np.zeros_like(a) - mean_dot if a_dot is None else a_dot - mean_dot
    total = np.sum(np.real(d * a_dot), axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    if where is True:
        return 2.0 * total / (a.size // max(out.size, 1) - ddof)
    n = np.sum(np.broadcast_to(where, a.shape), axis=axis, keepdims=keepdims, dtype=out.dtype)
    return 2.0 * total / (n - ddof)


@pullback(np.std, masks=("where",))
def pull_std(
    out_bar, out, a, mean=None, *, axis=None, dtype=None, ddof=0, keepdims=False, where=True
):
    """Zero where all entries are equal, like the norm at zero."""
    out_bar = out_bar / np.where(out == 0, np.inf, out)
    if axis is not None and not keepdims:
        out_bar = np.expand_dims(out_bar, axis)
    if mean is None:
        d = a - np.mean(a, axis=axis, keepdims=True, where=where)
    else:
        d = a - mean
    if np.iscomplexobj(a):
        d = np.conj(d)
    if where is not True:
        n = np.sum(np.broadcast_to(where, a.shape), axis=axis, keepdims=True, dtype=out.dtype)
        a_bar = np.where(where, out_bar * d / (n - ddof), 0.0)
    else:
        a_bar = out_bar * d / (a.size // max(out.size, 1) - ddof)
    if mean is None:
        return a_bar, None
    return a_bar, unbroadcast(-a_bar, np.shape(mean))


@pushforward(np.std)
def push_std(
    out, a, mean, a_dot, mean_dot, *, axis=None, dtype=None, ddof=0, keepdims=False, where=True
):
    """Zero where all entries are equal, like the norm at zero."""
    if mean is None:
        d = a - np.mean(a, axis=axis, keepdims=True, where=where)
    else:
        d = a - mean
    if np.iscomplexobj(a):
        d = np.conj(d)
    if mean_dot is not None:
        a_dot = np.zeros_like(a) - mean_dot if a_dot is None else a_dot - mean_dot
    total = np.sum(np.real(d * a_dot), axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    if where is True:
        return total / (a.size // max(out.size, 1) - ddof) / np.where(out == 0, np.inf, out)
    n = np.sum(np.broadcast_to(where, a.shape), axis=axis, keepdims=keepdims, dtype=out.dtype)
    return total / (n - ddof) / np.where(out == 0, np.inf, out)


@pullback(np.average, once="weights are active, and they are laid along the axes as it runs")
def pull_average(out_bar, out, a, weights=None, *, axis=None, returned=False, keepdims=False):
    if returned:
        return average_and_total_back(out_bar, out, a, weights, axis, keepdims)
    if axis is not None and not keepdims:
        out = np.expand_dims(out, axis)
        out_bar = np.expand_dims(out_bar, axis)
    if weights is None:
        return np.broadcast_to(out_bar / (a.size // max(out.size, 1)), a.shape), None
    w = weights if np.ndim(weights) == np.ndim(a) else along(weights, a, axis)
    share = out_bar / np.sum(np.broadcast_to(w, a.shape), axis=axis, keepdims=True)
    return share * w, along_back(share * (a - out), weights, axis)


def average_and_total_back(out_bar, out, a, weights, axis, keepdims):
    """Return the cotangents of a and its weights for an average and the sum of the weights."""
    mean = out[0] if axis is None or keepdims else np.expand_dims(out[0], axis)
    mean_bar = np.zeros_like(out[0]) if out_bar[0] is None else out_bar[0]
    total_bar = np.zeros_like(out[1]) if out_bar[1] is None else out_bar[1]
    if axis is not None and not keepdims:
        mean_bar, total_bar = np.expand_dims(mean_bar, axis), np.expand_dims(total_bar, axis)
    if weights is None:
        return np.broadcast_to(mean_bar / (a.size // max(mean.size, 1)), a.shape), None
    w = along(weights, a, axis)
    share = mean_bar / np.sum(np.broadcast_to(w, a.shape), axis=axis, keepdims=True)
    return share * w, along_back(share * (a - mean) + total_bar, weights, axis)


@pushforward(np.average)
def push_average(out, a, weights, a_dot, weights_dot, *, axis=None, returned=False, keepdims=False):
    mean_dot, total_dot = np.zeros_like(out[0] if returned else out), 0.0
    if a_dot is not None:
        mean_dot = mean_dot + np.average(a_dot, axis=axis, weights=weights, keepdims=keepdims)
    if weights_dot is not None:
        w = np.broadcast_to(along(weights, a, axis), a.shape)
        w_dot = np.broadcast_to(along(weights_dot, a, axis), a.shape)
        d = a - np.average(a, axis=axis, weights=weights, keepdims=True)
        mean_dot = mean_dot + (
            np.sum(d * w_dot, axis=axis, keepdims=keepdims)
            / np.sum(w, axis=axis, keepdims=keepdims)
        )
        total_dot = np.sum(w_dot, axis=axis, keepdims=keepdims)
    if returned:
        return mean_dot, total_dot + np.zeros_like(out[1])
    return mean_dot


@pullback(np.max, np.amax, np.min, np.amin, np.nanmax, np.nanmin, masks=True, linear=True)
def pull_extreme(out_bar, out, a, *, axis=None, keepdims=False, initial=None, where=True):
    """Equal share among ties; an initial value that ties takes its share too."""
    if axis is not None and not keepdims:
        out = np.expand_dims(out, axis)
        out_bar = np.expand_dims(out_bar, axis)
    ties = a == out
    if where is not True:
        ties = ties & where
    if axis is None and initial is None:  # a nan ties with nothing: 1 keeps clear of 1.0 / 0
        return np.where(ties, out_bar / max(int(np.count_nonzero(ties)), 1), 0.0)
    count = np.sum(ties, axis=axis, keepdims=True, dtype=out.dtype)
    if initial is not None:
        count = count + (out == initial)
    return np.where(ties, out_bar / count, 0.0)


@pushforward(np.max, np.amax, np.min, np.amin, np.nanmax, np.nanmin)
def push_extreme(out, a, a_dot, *, axis=None, keepdims=False, initial=None, where=True):
    """Equal share among ties; an initial value that ties takes its share too."""
    if axis is not None and not keepdims:
        ties = a == np.expand_dims(out, axis)
    else:
        ties = a == out
    if where is not True:
        ties = ties & where
    count = np.sum(ties, axis=axis, keepdims=keepdims, dtype=out.dtype)
    if initial is not None:
        count = count + (out == initial)
    return np.sum(np.where(ties, a_dot, 0), axis=axis, keepdims=keepdims) / count


@pullback(np.ptp, masks=True, linear=True)
def pull_ptp(out_bar, out, a, *, axis=None, keepdims=False):
    if axis is not None and not keepdims:
        out_bar = np.expand_dims(out_bar, axis)
    high = a == np.max(a, axis=axis, keepdims=True)
    low = a == np.min(a, axis=axis, keepdims=True)
    high_bar = out_bar / np.sum(high, axis=axis, keepdims=True, dtype=out.dtype)
    low_bar = out_bar / np.sum(low, axis=axis, keepdims=True, dtype=out.dtype)
    return np.where(high, high_bar, 0.0) - np.where(low, low_bar, 0.0)


@pushforward(np.ptp)
def push_ptp(out, a, a_dot, *, axis=None, keepdims=False):
    high = a == np.max(a, axis=axis, keepdims=True)
    low = a == np.min(a, axis=axis, keepdims=True)
    return mean_where(high, out, a_dot, axis, keepdims) - mean_where(
        low, out, a_dot, axis, keepdims
    )


def mean_where(chosen, out, a_dot, axis, keepdims):
    """Return the mean of the tangents that are chosen."""
    count = np.sum(chosen, axis=axis, keepdims=keepdims, dtype=out.dtype)
    return np.sum(np.where(chosen, a_dot, 0), axis=axis, keepdims=keepdims) / count


@pullback(np.prod, masks=("where",))
def pull_prod(out_bar, out, a, initial=None, *, axis=None, dtype=None, keepdims=False, where=True):
    if axis is not None and not keepdims:
        out_bar = np.expand_dims(out_bar, axis)
    initial_bar = None
    if initial is not None:
        initial_bar = np.sum(out_bar * np.prod(a, axis=axis, keepdims=True, where=where))
        out_bar = out_bar * initial
    if where is not True:
        others = products_of_others(np.where(where, a, 1.0), axis)
        return np.where(where, out_bar * others, 0.0), initial_bar
    return out_bar * products_of_others(a, axis), initial_bar


@pushforward(np.prod)
def push_prod(
    out, a, initial, a_dot, initial_dot, *, axis=None, dtype=None, keepdims=False, where=True
):
    out_dot = 0.0
    if initial_dot is not None:
        out_dot = initial_dot * np.prod(a, axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    if a_dot is None:
        return out_dot
    if where is not True:
        a = np.where(where, a, 1.0)
        a_dot = np.where(where, a_dot, 0.0)
    if initial is not None:
        a_dot = a_dot * initial
    others = products_of_others(a, axis)
    moved = np.sum(a_dot * others, axis=axis, dtype=dtype, keepdims=keepdims)
    return moved if initial_dot is None else moved + out_dot


@pullback(np.cumsum)
def pull_cumsum(out_bar, out, a, *, axis=None, dtype=None):
    if axis is None:
        return np.cumsum(out_bar[::-1])[::-1].reshape(a.shape)
    return np.flip(np.cumsum(np.flip(out_bar, axis), axis=axis), axis)


@pushforward(np.cumsum)
def push_cumsum(out, a, a_dot, *, axis=None, dtype=None):
    return np.cumsum(a_dot, axis=axis, dtype=dtype)


@pullback(np.cumprod)
def pull_cumprod(out_bar, out, a, *, axis=None, dtype=None):
    if axis is None:
        return running_products_back(out_bar, out, np.ravel(a)).reshape(a.shape)
    out_bar = np.moveaxis(out_bar, axis, 0)
    a_bar = running_products_back(out_bar, np.moveaxis(out, axis, 0), np.moveaxis(a, axis, 0))
    return np.moveaxis(a_bar, 0, axis)


@pushforward(np.cumprod)
def push_cumprod(out, a, a_dot, *, axis=None, dtype=None):
    if axis is None:
        return running_products_forward(out, np.ravel(a), np.ravel(a_dot))
    a_dot = np.moveaxis(a_dot, axis, 0)
    out_dot = running_products_forward(np.moveaxis(out, axis, 0), np.moveaxis(a, axis, 0), a_dot)
    return np.moveaxis(out_dot, 0, axis)


@pullback(np.nanprod, masks=True)
def pull_nanprod(
    out_bar, out, a, *, axis=None, dtype=None, keepdims=False, initial=None, where=True
):
    if axis is not None and not keepdims:
        out_bar = np.expand_dims(out_bar, axis)
    if initial is not None:
        out_bar = out_bar * initial
    counted = where & ~np.isnan(a)
    return np.where(counted, out_bar * products_of_others(np.where(counted, a, 1), axis), 0)


@pushforward(np.nanprod)
def push_nanprod(out, a, a_dot, *, axis=None, dtype=None, keepdims=False, initial=None, where=True):
    counted = where & ~np.isnan(a)
    if initial is not None:
        a_dot = a_dot * initial
    others = products_of_others(np.where(counted, a, 1), axis)
    terms = np.where(counted, a_dot * others, 0)
    return np.sum(terms, axis=axis, dtype=dtype, keepdims=keepdims)


def nan_deviation(a, axis, where):
    """Return the mask of counted elements, their number, and their deviations from the mean."""
    counted = where & ~np.isnan(a)
    n = np.sum(counted, axis=axis, keepdims=True, dtype=np.real(a).dtype)
    mean = np.sum(np.where(counted, a, 0), axis=axis, keepdims=True) / n
    return counted, n, np.where(counted, np.conj(a - mean), 0)


@pullback(np.nanvar, masks=True)
def pull_nanvar(out_bar, out, a, *, axis=None, dtype=None, ddof=0, keepdims=False, where=True):
    if axis is not None and not keepdims:
        out_bar = np.expand_dims(out_bar, axis)
    counted, n, d = nan_deviation(a, axis, where)
    return np.where(counted, 2.0 * out_bar * d / (n - ddof), 0)


@pushforward(np.nanvar)
def push_nanvar(out, a, a_dot, *, axis=None, dtype=None, ddof=0, keepdims=False, where=True):
    counted, n, d = nan_deviation(a, axis, where)
    terms = 2.0 * np.real(d * a_dot) / (n - ddof)
    return np.sum(np.where(counted, terms, 0), axis=axis, dtype=dtype, keepdims=keepdims)


@pullback(np.nanstd, masks=True)
def pull_nanstd(out_bar, out, a, *, axis=None, dtype=None, ddof=0, keepdims=False, where=True):
    """Zero where all entries are equal, like the norm at zero."""
    out_bar = out_bar / np.where(out == 0, np.inf, out)
    if axis is not None and not keepdims:
        out_bar = np.expand_dims(out_bar, axis)
    counted, n, d = nan_deviation(a, axis, where)
    return np.where(counted, out_bar * d / (n - ddof), 0)


@pushforward(np.nanstd)
def push_nanstd(out, a, a_dot, *, axis=None, dtype=None, ddof=0, keepdims=False, where=True):
    """Zero where all entries are equal, like the norm at zero."""
    counted, n, d = nan_deviation(a, axis, where)
    terms = np.real(d * a_dot) / (n - ddof)
    total = np.sum(np.where(counted, terms, 0), axis=axis, dtype=dtype, keepdims=keepdims)
    return total / np.where(out == 0, np.inf, out)


def running_sums_back(out_bar, a, axis):
    """Return the cotangent of a for `out = np.cumsum(a, axis)`."""
    if axis is None:
        return np.cumsum(out_bar[::-1])[::-1].reshape(a.shape)
    return np.flip(np.cumsum(np.flip(out_bar, axis), axis=axis), axis)


@pullback(np.nancumsum, masks=True)
def pull_nancumsum(out_bar, out, a, *, axis=None, dtype=None):
    return np.where(np.isnan(a), 0, running_sums_back(out_bar, a, axis))


@pushforward(np.nancumsum)
def push_nancumsum(out, a, a_dot, *, axis=None, dtype=None):
    return np.cumsum(np.where(np.isnan(a), 0, a_dot), axis=axis, dtype=dtype)


@pullback(np.nancumprod, masks=True)
def pull_nancumprod(out_bar, out, a, *, axis=None, dtype=None):
    a_bar = pull_cumprod(out_bar, out, np.where(np.isnan(a), 1, a), axis=axis)
    return np.where(np.isnan(a), 0, a_bar)


@pushforward(np.nancumprod)
def push_nancumprod(out, a, a_dot, *, axis=None, dtype=None):
    a_dot = np.where(np.isnan(a), 0, a_dot)
    return push_cumprod(out, np.where(np.isnan(a), 1, a), a_dot, axis=axis)


def pull_cumulative_sum(out_bar, out, x, *, axis=None, dtype=None, include_initial=False):
    if include_initial:
        out_bar = np.delete(out_bar, 0, 0 if axis is None else axis)
    return running_sums_back(out_bar, x, axis)


def push_cumulative_sum(out, x, x_dot, *, axis=None, dtype=None, include_initial=False):
    return np.cumulative_sum(x_dot, axis=axis, dtype=dtype, include_initial=include_initial)


def pull_cumulative_prod(out_bar, out, x, *, axis=None, dtype=None, include_initial=False):
    if include_initial:
        out_bar = np.delete(out_bar, 0, 0 if axis is None else axis)
        out = np.delete(out, 0, 0 if axis is None else axis)
    return pull_cumprod(out_bar, out, x, axis=axis)


def push_cumulative_prod(out, x, x_dot, *, axis=None, dtype=None, include_initial=False):
    if not include_initial:
        return push_cumprod(out, x, x_dot, axis=axis)
    axis = 0 if axis is None else axis
    out_dot = push_cumprod(np.delete(out, 0, axis), x, x_dot, axis=axis)
    first = np.zeros_like(np.take(out, [0], axis))
    return np.concatenate((first, out_dot), axis)


if hasattr(np, "cumulative_sum"):  # from NumPy 2.1 on
    pullback(np.cumulative_sum)(pull_cumulative_sum)
    pushforward(np.cumulative_sum)(push_cumulative_sum)
    pullback(np.cumulative_prod)(pull_cumulative_prod)
    pushforward(np.cumulative_prod)(push_cumulative_prod)


nondifferentiable(np.any, np.all)


@pullback(np.add.reduce, masks=("where",))
def pull_add_reduce(
    out_bar, out, array, *, axis=0, dtype=None, keepdims=False, initial=None, where=True
):
    if axis is not None and not keepdims:
        out_bar = np.expand_dims(out_bar, axis)
    if where is not True:
        return np.where(where, np.broadcast_to(out_bar, array.shape), 0.0)
    return np.broadcast_to(out_bar, array.shape)


@pushforward(np.add.reduce)
def push_add_reduce(
    out, array, array_dot, *, axis=0, dtype=None, keepdims=False, initial=None, where=True
):
    return np.sum(array_dot, axis=axis, dtype=dtype, keepdims=keepdims, where=where)


@pullback(np.multiply.reduce, masks=("where",))
def pull_multiply_reduce(
    out_bar, out, array, *, axis=0, dtype=None, keepdims=False, initial=None, where=True
):
    if axis is not None and not keepdims:
        out_bar = np.expand_dims(out_bar, axis)
    if initial is not None:
        out_bar = out_bar * initial
    if where is not True:
        others = products_of_others(np.where(where, array, 1.0), axis)
        return np.where(where, out_bar * others, 0.0)
    return out_bar * products_of_others(array, axis)


@pushforward(np.multiply.reduce)
def push_multiply_reduce(
    out, array, array_dot, *, axis=0, dtype=None, keepdims=False, initial=None, where=True
):
    if where is not True:
        array = np.where(where, array, 1.0)
        array_dot = np.where(where, array_dot, 0.0)
    if initial is not None:
        array_dot = array_dot * initial
    others = products_of_others(array, axis)
    return np.sum(array_dot * others, axis=axis, dtype=dtype, keepdims=keepdims)


@pullback(
    *(np.maximum.reduce, np.minimum.reduce, np.fmax.reduce, np.fmin.reduce),
    masks=True,
    linear=True,
)
def pull_extreme_reduce(out_bar, out, array, *, axis=0, keepdims=False, initial=None, where=True):
    """Equal share among ties; an initial value that ties takes its share too."""
    if axis is not None and not keepdims:
        out = np.expand_dims(out, axis)
        out_bar = np.expand_dims(out_bar, axis)
    ties = array == out
    if where is not True:
        ties = ties & where
    count = np.sum(ties, axis=axis, keepdims=True, dtype=out.dtype)
    if initial is not None:
        count = count + (out == initial)
    return np.where(ties, out_bar / count, 0.0)


@pushforward(np.maximum.reduce, np.minimum.reduce, np.fmax.reduce, np.fmin.reduce)
def push_extreme_reduce(out, array, array_dot, *, axis=0, keepdims=False, initial=None, where=True):
    """Equal share among ties; an initial value that ties takes its share too."""
    if axis is not None and not keepdims:
        ties = array == np.expand_dims(out, axis)
    else:
        ties = array == out
    if where is not True:
        ties = ties & where
    count = np.sum(ties, axis=axis, keepdims=keepdims, dtype=out.dtype)
    if initial is not None:
        count = count + (out == initial)
    return np.sum(np.where(ties, array_dot, 0.0), axis=axis, keepdims=keepdims) / count


@pullback(np.add.accumulate)
def pull_add_accumulate(out_bar, out, array, *, axis=0, dtype=None):
    return np.flip(np.cumsum(np.flip(out_bar, axis), axis=axis), axis)


@pushforward(np.add.accumulate)
def push_add_accumulate(out, array, array_dot, *, axis=0, dtype=None):
    return np.cumsum(array_dot, axis=axis)


@pullback(np.multiply.accumulate)
def pull_multiply_accumulate(out_bar, out, array, *, axis=0, dtype=None):
    return pull_cumprod(out_bar, out, array, axis=axis)


@pushforward(np.multiply.accumulate)
def push_multiply_accumulate(out, array, array_dot, *, axis=0, dtype=None):
    return push_cumprod(out, array, array_dot, axis=axis)


@pullback(np.add.reduceat, masks=True, linear=True)
def pull_add_reduceat(out_bar, out, array, *, indices=None, axis=0, dtype=None):
    """Each sum ends where the next one begins; if that is not further on, it is one element."""
    array_bar = np.zeros_like(array)
    rows, bars = np.moveaxis(array_bar, axis, 0), np.moveaxis(out_bar, axis, 0)
    starts = np.asarray(indices).tolist()
    for start, stop, bar in zip(starts, [*starts[1:], len(rows)], bars, strict=True):
        rows[start : max(stop, start + 1)] += bar
    return array_bar


@pushforward(np.add.reduceat)
def push_add_reduceat(out, array, array_dot, *, indices=None, axis=0, dtype=None):
    return np.add.reduceat(array_dot, indices, axis)


def running_extreme_back(out_bar, out, a):
    """Return the cotangent of a for a running maximum or minimum along axis 0.

    Each goes to where the extreme was reached; what ties with the one before shares with it.
    """
    new = a == out
    if not np.any(a[1:] == out[:-1]):
        where = np.maximum.accumulate(np.where(new, along_first(np.arange(len(a)), a), 0), axis=0)
        a_bar = np.zeros_like(a)
        rest = np.indices(a.shape, sparse=True)[1:]
        np.add.at(a_bar, (where, *rest), out_bar)
        return a_bar
    a_bar = np.array(out_bar)
    for i in range(len(a) - 1, 0, -1):
        share = np.where(new[i], np.where(a[i] == out[i - 1], 0.5, 1.0), 0.0).astype(a.dtype)
        a_bar[i - 1] += (1 - share) * a_bar[i]
        a_bar[i] *= share
    return a_bar


def along_first(x, a):
    """Return a vector along the first axis of a."""
    return np.reshape(x, (-1,) + (1,) * (a.ndim - 1))


@pullback(np.maximum.accumulate, np.minimum.accumulate, masks=True, linear=True)
def pull_extreme_accumulate(out_bar, out, array, *, axis=0):
    out_bar, out = np.moveaxis(out_bar, axis, 0), np.moveaxis(out, axis, 0)
    return np.moveaxis(running_extreme_back(out_bar, out, np.moveaxis(array, axis, 0)), 0, axis)


@pushforward(np.maximum.accumulate, np.minimum.accumulate)
def push_extreme_accumulate(out, array, array_dot, *, axis=0):
    a, out_dot = np.moveaxis(array, axis, 0), np.array(np.moveaxis(array_dot, axis, 0))
    out = np.moveaxis(out, axis, 0)
    for i in range(1, len(a)):
        share = np.where(a[i] == out[i], np.where(a[i] == out[i - 1], 0.5, 1.0), 0.0)
        out_dot[i] = share * out_dot[i] + (1 - share) * out_dot[i - 1]
    return np.moveaxis(out_dot, 0, axis)


@pullback(np.logaddexp.reduce)
def pull_logaddexp_reduce(out_bar, out, array, *, axis=0, dtype=None, keepdims=False, initial=None):
    if axis is not None and not keepdims:
        out = np.expand_dims(out, axis)
        out_bar = np.expand_dims(out_bar, axis)
    return out_bar * np.exp(array - out)


@pushforward(np.logaddexp.reduce)
def push_logaddexp_reduce(
    out, array, array_dot, *, axis=0, dtype=None, keepdims=False, initial=None
):
    shifted = array - (np.expand_dims(out, axis) if axis is not None and not keepdims else out)
    return np.sum(np.exp(shifted) * array_dot, axis=axis, keepdims=keepdims)


@pullback(np.logaddexp2.reduce)
def pull_logaddexp2_reduce(
    out_bar, out, array, *, axis=0, dtype=None, keepdims=False, initial=None
):
    if axis is not None and not keepdims:
        out = np.expand_dims(out, axis)
        out_bar = np.expand_dims(out_bar, axis)
    return out_bar * np.exp2(array - out)


@pushforward(np.logaddexp2.reduce)
def push_logaddexp2_reduce(
    out, array, array_dot, *, axis=0, dtype=None, keepdims=False, initial=None
):
    shifted = array - (np.expand_dims(out, axis) if axis is not None and not keepdims else out)
    return np.sum(np.exp2(shifted) * array_dot, axis=axis, keepdims=keepdims)


@pullback(np.hypot.reduce)
def pull_hypot_reduce(out_bar, out, array, *, axis=0, dtype=None, keepdims=False, initial=None):
    """Zero at the origin, like the norm."""
    out_bar = out_bar / np.where(out == 0, np.inf, out)
    if axis is not None and not keepdims:
        out_bar = np.expand_dims(out_bar, axis)
    return out_bar * array


@pushforward(np.hypot.reduce)
def push_hypot_reduce(out, array, array_dot, *, axis=0, dtype=None, keepdims=False, initial=None):
    """Zero at the origin, like the norm."""
    return np.sum(array * array_dot, axis=axis, keepdims=keepdims) / np.where(out == 0, np.inf, out)
