"""Sums, means, products and extremes along axes, and the running sums and products."""

import numpy as np

from s2sad.registry import nondifferentiable, pullback, pushforward
from s2sad.runtime import unbroadcast


def products_of_others(a, axis):
    """Return, for each entry, the product of all the other entries along the axis (None: of all).

    Products from the left times products from the right: nothing is divided, so zeros are fine.
    """
    if axis is None:
        return products_of_others(np.ravel(a), (0,)).reshape(a.shape)
    if not isinstance(axis, tuple):
        axis = (axis,)
    last = tuple(range(-len(axis), 0))
    moved = np.moveaxis(a, axis, last)
    rows = moved.reshape((*moved.shape[: a.ndim - len(axis)], -1 if a.size else 0))
    ones = np.ones_like(rows[..., :1])
    left = np.cumprod(np.concatenate((ones, rows[..., :-1]), axis=-1), axis=-1)
    right = np.cumprod(np.concatenate((ones, rows[..., :0:-1]), axis=-1), axis=-1)
    return np.moveaxis((left * right[..., ::-1]).reshape(moved.shape), last, axis)


def running_products_back(out_bar, out, a):
    """Return the cotangent of a for `out = np.cumprod(a, axis=0)`.

    Where nothing is 0 the entries are divided out again; else a sweep backward along the axis
    carries `rest[i] = out_bar[i] + a[i + 1] * rest[i + 1]`.
    """
    if np.all(out):
        return np.cumsum((out_bar * out)[::-1], axis=0)[::-1] / a
    a_bar = np.array(out_bar)
    for i in range(len(a) - 2, -1, -1):
        a_bar[i] += a[i + 1] * a_bar[i + 1]
    a_bar[1:] *= out[:-1]
    return a_bar


def running_products_forward(out, a, a_dot):
    """Return the tangent of `out = np.cumprod(a, axis=0)`."""
    out_dot = np.array(a_dot)
    for i in range(1, len(a)):
        out_dot[i] = out_dot[i - 1] * a[i] + out[i - 1] * a_dot[i]
    return out_dot


def along(weights, a, axis):
    """Return the weights of an average with as many axes as a."""
    if np.ndim(weights) == np.ndim(a):
        return weights
    axes = axis if isinstance(axis, tuple) else (axis,)
    axes = [i % a.ndim for i in axes]
    order = np.argsort(axes)
    shape = [a.shape[i] if i in axes else 1 for i in range(a.ndim)]
    return np.transpose(weights, order).reshape(shape)


def along_back(w_bar, weights, axis):
    """Return the cotangent of an average's weights: sum over the axes they do not have."""
    if np.ndim(weights) == np.ndim(w_bar):
        return unbroadcast(w_bar, np.shape(weights))
    axes = axis if isinstance(axis, tuple) else (axis,)
    axes = [i % w_bar.ndim for i in axes]
    summed = np.sum(w_bar, axis=tuple(i for i in range(w_bar.ndim) if i not in axes))
    return np.transpose(summed, np.argsort(np.argsort(axes)))


@pullback(np.sum, masks=("where",))
def pull_sum(out_bar, out, a, *, axis=None, dtype=None, keepdims=False, initial=None, where=True):
    if axis is not None and not keepdims:
        out_bar = np.expand_dims(out_bar, axis)
    if where is not True:
        return np.where(where, np.broadcast_to(out_bar, a.shape), 0.0)
    return np.broadcast_to(out_bar, a.shape)


@pushforward(np.sum)
def push_sum(out, a, a_dot, *, axis=None, dtype=None, keepdims=False, initial=None, where=True):
    return np.sum(a_dot, axis=axis, dtype=dtype, keepdims=keepdims, where=where)


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
    return np.sum(a_dot, axis=axis, dtype=dtype, keepdims=keepdims, where=counted)


@pullback(np.mean, masks=("where",))
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


@pullback(np.nanmean, masks=True)
def pull_nanmean(out_bar, out, a, *, axis=None, dtype=None, keepdims=False, where=True):
    counted = where & ~np.isnan(a)
    out_bar = out_bar / np.sum(counted, axis=axis, keepdims=keepdims, dtype=out.dtype)
    if axis is not None and not keepdims:
        out_bar = np.expand_dims(out_bar, axis)
    return np.where(counted, out_bar, 0.0)


@pushforward(np.nanmean)
def push_nanmean(out, a, a_dot, *, axis=None, dtype=None, keepdims=False, where=True):
    return np.mean(a_dot, axis=axis, dtype=dtype, keepdims=keepdims, where=where & ~np.isnan(a))


@pullback(np.var, masks=("where",))
def pull_var(out_bar, out, a, *, axis=None, dtype=None, ddof=0, keepdims=False, where=True):
    if axis is not None and not keepdims:
        out_bar = np.expand_dims(out_bar, axis)
    d = a - np.mean(a, axis=axis, keepdims=True, where=where)
    if np.iscomplexobj(a):
        d = np.conj(d)
    if where is not True:
        n = np.sum(np.broadcast_to(where, a.shape), axis=axis, keepdims=True, dtype=out.dtype)
        return np.where(where, 2.0 * out_bar * d / (n - ddof), 0.0)
    return 2.0 * out_bar * d / (a.size // max(out.size, 1) - ddof)


@pushforward(np.var)
def push_var(out, a, a_dot, *, axis=None, dtype=None, ddof=0, keepdims=False, where=True):
    d = a - np.mean(a, axis=axis, keepdims=True, where=where)
    if np.iscomplexobj(a):
        d = np.conj(d)
    n = np.sum(np.broadcast_to(where, a.shape), axis=axis, keepdims=keepdims, dtype=out.dtype)
    total = np.sum(np.real(d * a_dot), axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    return 2.0 * total / (n - ddof)


@pullback(np.std, masks=("where",))
def pull_std(out_bar, out, a, *, axis=None, dtype=None, ddof=0, keepdims=False, where=True):
    """Zero where all entries are equal, like the norm at zero."""
    out_bar = out_bar / (out + (out == 0))
    if axis is not None and not keepdims:
        out_bar = np.expand_dims(out_bar, axis)
    d = a - np.mean(a, axis=axis, keepdims=True, where=where)
    if np.iscomplexobj(a):
        d = np.conj(d)
    if where is not True:
        n = np.sum(np.broadcast_to(where, a.shape), axis=axis, keepdims=True, dtype=out.dtype)
        return np.where(where, out_bar * d / (n - ddof), 0.0)
    return out_bar * d / (a.size // max(out.size, 1) - ddof)


@pushforward(np.std)
def push_std(out, a, a_dot, *, axis=None, dtype=None, ddof=0, keepdims=False, where=True):
    """Zero where all entries are equal, like the norm at zero."""
    d = a - np.mean(a, axis=axis, keepdims=True, where=where)
    if np.iscomplexobj(a):
        d = np.conj(d)
    n = np.sum(np.broadcast_to(where, a.shape), axis=axis, keepdims=keepdims, dtype=out.dtype)
    total = np.sum(np.real(d * a_dot), axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    return total / (n - ddof) / (out + (out == 0))


@pullback(np.average)
def pull_average(out_bar, out, a, weights=None, *, axis=None, keepdims=False):
    if axis is not None and not keepdims:
        out = np.expand_dims(out, axis)
        out_bar = np.expand_dims(out_bar, axis)
    if weights is None:
        return np.broadcast_to(out_bar / (a.size // max(out.size, 1)), a.shape), None
    w = along(weights, a, axis)
    share = out_bar / np.sum(np.broadcast_to(w, a.shape), axis=axis, keepdims=True)
    return share * w, along_back(share * (a - out), weights, axis)


@pushforward(np.average)
def push_average(out, a, weights, a_dot, weights_dot, *, axis=None, keepdims=False):
    out_dot = 0.0
    if a_dot is not None:
        out_dot = np.average(a_dot, axis=axis, weights=weights, keepdims=keepdims)
    if weights_dot is not None:
        w = np.broadcast_to(along(weights, a, axis), a.shape)
        w_dot = along(weights_dot, a, axis)
        d = a - np.average(a, axis=axis, weights=weights, keepdims=True)
        out_dot = out_dot + (
            np.sum(d * w_dot, axis=axis, keepdims=keepdims)
            / np.sum(w, axis=axis, keepdims=keepdims)
        )
    return out_dot


@pullback(np.max, np.amax, np.min, np.amin, np.nanmax, np.nanmin, masks=True)
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
    return np.sum(a_dot, axis=axis, keepdims=keepdims, where=ties) / count


@pullback(np.ptp, masks=True)
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
    high_dot = np.mean(a_dot, axis=axis, keepdims=keepdims, where=high)
    return high_dot - np.mean(a_dot, axis=axis, keepdims=keepdims, where=low)


@pullback(np.prod, masks=("where",))
def pull_prod(out_bar, out, a, *, axis=None, dtype=None, keepdims=False, initial=None, where=True):
    if axis is not None and not keepdims:
        out_bar = np.expand_dims(out_bar, axis)
    if initial is not None:
        out_bar = out_bar * initial
    if where is not True:
        others = products_of_others(np.where(where, a, 1.0), axis)
        return np.where(where, out_bar * others, 0.0)
    return out_bar * products_of_others(a, axis)


@pushforward(np.prod)
def push_prod(out, a, a_dot, *, axis=None, dtype=None, keepdims=False, initial=None, where=True):
    if where is not True:
        a = np.where(where, a, 1.0)
        a_dot = np.where(where, a_dot, 0.0)
    if initial is not None:
        a_dot = a_dot * initial
    others = products_of_others(a, axis)
    return np.sum(a_dot * others, axis=axis, dtype=dtype, keepdims=keepdims)


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


nondifferentiable(np.any, np.all)


@pullback(np.add.reduce)
def pull_add_reduce(out_bar, out, array, *, axis=0, keepdims=False):
    if axis is not None and not keepdims:
        out_bar = np.expand_dims(out_bar, axis)
    return np.broadcast_to(out_bar, array.shape)


@pushforward(np.add.reduce)
def push_add_reduce(out, array, array_dot, *, axis=0, keepdims=False):
    return np.sum(array_dot, axis=axis, keepdims=keepdims)


@pullback(np.multiply.reduce)
def pull_multiply_reduce(out_bar, out, array, *, axis=0, keepdims=False):
    if axis is not None and not keepdims:
        out_bar = np.expand_dims(out_bar, axis)
    return out_bar * products_of_others(array, axis)


@pushforward(np.multiply.reduce)
def push_multiply_reduce(out, array, array_dot, *, axis=0, keepdims=False):
    return np.sum(array_dot * products_of_others(array, axis), axis=axis, keepdims=keepdims)


@pullback(np.maximum.reduce, np.minimum.reduce)
def pull_extreme_reduce(out_bar, out, array, *, axis=0, keepdims=False):
    """Equal share among ties."""
    if axis is not None and not keepdims:
        out = np.expand_dims(out, axis)
        out_bar = np.expand_dims(out_bar, axis)
    ties = array == out
    return ties * (out_bar / np.sum(ties, axis=axis, keepdims=True, dtype=out.dtype))


@pushforward(np.maximum.reduce, np.minimum.reduce)
def push_extreme_reduce(out, array, array_dot, *, axis=0, keepdims=False):
    """Equal share among ties."""
    if axis is not None and not keepdims:
        out = np.expand_dims(out, axis)
    ties = array == out
    count = np.sum(ties, axis=axis, keepdims=keepdims, dtype=out.dtype)
    return np.sum(ties * array_dot, axis=axis, keepdims=keepdims) / count


@pullback(np.add.accumulate)
def pull_add_accumulate(out_bar, out, array, *, axis=0):
    return np.flip(np.cumsum(np.flip(out_bar, axis), axis=axis), axis)


@pushforward(np.add.accumulate)
def push_add_accumulate(out, array, array_dot, *, axis=0):
    return np.cumsum(array_dot, axis=axis)
