"""scipy.stats: means, moments and entropies of samples.

A rule says by how much the result moves with each entry; the moments are about the mean, which
moves too: of the k-th one, d_i**k on average, that slope is k / n * (d_i**(k - 1) - the moment
before it).
"""

import math

import numpy as np
from scipy import stats

from s2sad.registry import pullback, pushforward


def check_nans(nan_policy):
    """Refuse what takes nans out."""
    if nan_policy != "propagate":
        raise NotImplementedError("there is a derivative with nan_policy='propagate' only")


def kept(value, axis, keepdims, ndim):
    """Return a result, or a cotangent of it, with the axes that were reduced."""
    if keepdims or ndim == 0:
        return value
    return np.expand_dims(value, tuple(range(ndim)) if axis is None else axis)


def moved(slope, a_dot, axis, keepdims):
    """Return the tangent of a result that moves with each entry like this."""
    return np.sum(slope * a_dot, axis=axis, keepdims=keepdims)


def length_along(a, axis):
    """Return of how many entries a mean is taken."""
    if axis is None or a.ndim == 0:
        return a.size
    return math.prod(a.shape[k] for k in (axis if isinstance(axis, tuple) else (axis,)))


def about_mean(a, axis):
    """Return the values minus their mean."""
    return a - np.mean(a, axis=axis, keepdims=True)


def mean_power(d, k, axis):
    """Return the k-th moment of what has the mean zero."""
    return np.mean(d**k, axis=axis, keepdims=True)


def shares_of(a, weights, axis):
    """Return what each entry has in a weighted mean."""
    if weights is None:
        return 1.0 / length_along(a, axis)
    if np.shape(weights) != a.shape:
        raise NotImplementedError(
            "there is a derivative of a weighted mean for a weight per entry only"
        )
    return weights / np.sum(weights, axis=axis, keepdims=True)


# means


def gmean_slope(out, a, axis, weights, nan_policy, keepdims):
    check_nans(nan_policy)
    return kept(out, axis, keepdims, a.ndim) * shares_of(a, weights, axis) / a


@pullback(stats.gmean, once="with axis=None s2sad does not know the type of the slope")
def pull_gmean(
    out_bar,
    out,
    a,
    *,
    axis=0,
    dtype=None,
    weights=None,
    nan_policy="propagate",
    keepdims=False,
):
    slope = gmean_slope(out, a, axis, weights, nan_policy, keepdims)
    return kept(out_bar, axis, keepdims, a.ndim) * slope


@pushforward(stats.gmean)
def push_gmean(
    out,
    a,
    a_dot,
    *,
    axis=0,
    dtype=None,
    weights=None,
    nan_policy="propagate",
    keepdims=False,
):
    slope = gmean_slope(out, a, axis, weights, nan_policy, keepdims)
    return moved(slope, a_dot, axis, keepdims)


def hmean_slope(out, a, axis, weights, nan_policy, keepdims):
    check_nans(nan_policy)
    return shares_of(a, weights, axis) * (kept(out, axis, keepdims, a.ndim) / a) ** 2


@pullback(stats.hmean, once="with axis=None s2sad does not know the type of the slope")
def pull_hmean(
    out_bar,
    out,
    a,
    *,
    axis=0,
    dtype=None,
    weights=None,
    nan_policy="propagate",
    keepdims=False,
):
    slope = hmean_slope(out, a, axis, weights, nan_policy, keepdims)
    return kept(out_bar, axis, keepdims, a.ndim) * slope


@pushforward(stats.hmean)
def push_hmean(
    out,
    a,
    a_dot,
    *,
    axis=0,
    dtype=None,
    weights=None,
    nan_policy="propagate",
    keepdims=False,
):
    slope = hmean_slope(out, a, axis, weights, nan_policy, keepdims)
    return moved(slope, a_dot, axis, keepdims)


def among_middle(a, proportiontocut, axis):
    """Return what each entry has in a trimmed mean; equal ones stay in their order."""
    if axis is not None and not isinstance(axis, int):
        raise NotImplementedError("trim_mean has a derivative along one axis only")
    lines = np.ravel(a) if axis is None else a
    along = 0 if axis is None else axis
    n = lines.shape[along]
    cut = int(proportiontocut * n)
    rank = np.argsort(np.argsort(lines, along, kind="stable"), along, kind="stable")
    inside = ((rank >= cut) & (rank < n - cut)).astype(a.dtype)
    return np.reshape(inside / (n - 2 * cut), a.shape)


@pullback(stats.trim_mean, masks=True, linear=True)
def pull_trim_mean(
    out_bar, out, a, *, proportiontocut=None, axis=0, nan_policy="propagate", keepdims=False
):
    check_nans(nan_policy)
    return kept(out_bar, axis, keepdims, a.ndim) * among_middle(a, proportiontocut, axis)


@pushforward(stats.trim_mean)
def push_trim_mean(
    out, a, a_dot, *, proportiontocut=None, axis=0, nan_policy="propagate", keepdims=False
):
    check_nans(nan_policy)
    return moved(among_middle(a, proportiontocut, axis), a_dot, axis, keepdims)


def within_limits(a, limits, inclusive):
    """Return which entries a mean between limits is taken of."""
    if limits is None:
        return np.ones_like(a)
    low, high = limits
    inside = np.ones(a.shape, dtype=bool)
    if low is not None:
        inside = inside & ((a >= low) if inclusive[0] else (a > low))
    if high is not None:
        inside = inside & ((a <= high) if inclusive[1] else (a < high))
    return inside.astype(a.dtype)


def tmean_slope(a, limits, inclusive, axis, nan_policy):
    check_nans(nan_policy)
    inside = within_limits(a, limits, inclusive)
    return inside / np.sum(inside, axis=axis, keepdims=True)


@pullback(stats.tmean, masks=("limits",), linear=True)
def pull_tmean(
    out_bar,
    out,
    a,
    *,
    limits=None,
    inclusive=(True, True),
    axis=None,
    nan_policy="propagate",
    keepdims=False,
):
    slope = tmean_slope(a, limits, inclusive, axis, nan_policy)
    return kept(out_bar, axis, keepdims, a.ndim) * slope


@pushforward(stats.tmean)
def push_tmean(
    out,
    a,
    a_dot,
    *,
    limits=None,
    inclusive=(True, True),
    axis=None,
    nan_policy="propagate",
    keepdims=False,
):
    slope = tmean_slope(a, limits, inclusive, axis, nan_policy)
    return moved(slope, a_dot, axis, keepdims)


# moments


def moment_slope(a, order, axis, center, nan_policy):
    check_nans(nan_policy)
    if np.ndim(order) > 0:
        raise NotImplementedError("moment has a derivative of one order only")
    if order == 0 or (order == 1 and center is None):
        return np.zeros_like(a)
    n = length_along(a, axis)
    if center is not None:
        return order / n * (a - center) ** (order - 1)
    d = about_mean(a, axis)
    return order / n * (d ** (order - 1) - mean_power(d, order - 1, axis))


@pullback(stats.moment, masks=True, once="with axis=None s2sad does not know the type of the slope")
def pull_moment(
    out_bar, out, a, *, order=1, axis=0, nan_policy="propagate", center=None, keepdims=False
):
    slope = moment_slope(a, order, axis, center, nan_policy)
    return kept(out_bar, axis, keepdims, a.ndim) * slope


@pushforward(stats.moment)
def push_moment(
    out, a, a_dot, *, order=1, axis=0, nan_policy="propagate", center=None, keepdims=False
):
    return moved(moment_slope(a, order, axis, center, nan_policy), a_dot, axis, keepdims)


def skew_slope(a, axis, bias, nan_policy):
    """Return the slope of m3 / m2**1.5, and without bias of its multiple."""
    check_nans(nan_policy)
    n, d = length_along(a, axis), about_mean(a, axis)
    m2, m3 = mean_power(d, 2, axis), mean_power(d, 3, axis)
    factor = 1.0 if bias or n < 3 else math.sqrt(n * (n - 1)) / (n - 2)
    return factor * 3.0 / n * (d * d - m2 - m3 / m2 * d) / (m2 * np.sqrt(m2))


@pullback(stats.skew, once="with axis=None s2sad does not know the type of the slope")
def pull_skew(out_bar, out, a, *, axis=0, bias=True, nan_policy="propagate", keepdims=False):
    return kept(out_bar, axis, keepdims, a.ndim) * skew_slope(a, axis, bias, nan_policy)


@pushforward(stats.skew)
def push_skew(out, a, a_dot, *, axis=0, bias=True, nan_policy="propagate", keepdims=False):
    return moved(skew_slope(a, axis, bias, nan_policy), a_dot, axis, keepdims)


def kurtosis_slope(a, axis, bias, nan_policy):
    """Return the slope of m4 / m2**2, and without bias of its multiple."""
    check_nans(nan_policy)
    n, d = length_along(a, axis), about_mean(a, axis)
    m2, m3, m4 = (mean_power(d, k, axis) for k in (2, 3, 4))
    factor = 1.0 if bias or n < 4 else (n * n - 1.0) / ((n - 2) * (n - 3))
    return factor * 4.0 / n * (d * d * d - m3 - m4 / m2 * d) / (m2 * m2)


@pullback(stats.kurtosis, once="with axis=None s2sad does not know the type of the slope")
def pull_kurtosis(
    out_bar, out, a, *, axis=0, fisher=True, bias=True, nan_policy="propagate", keepdims=False
):
    return kept(out_bar, axis, keepdims, a.ndim) * kurtosis_slope(a, axis, bias, nan_policy)


@pushforward(stats.kurtosis)
def push_kurtosis(
    out, a, a_dot, *, axis=0, fisher=True, bias=True, nan_policy="propagate", keepdims=False
):
    return moved(kurtosis_slope(a, axis, bias, nan_policy), a_dot, axis, keepdims)


def sem_slope(out, a, axis, ddof, nan_policy, keepdims):
    check_nans(nan_policy)
    n, out = length_along(a, axis), kept(out, axis, keepdims, a.ndim)
    return about_mean(a, axis) / (n * (n - ddof) * np.where(out == 0, 1, out))


@pullback(stats.sem, once="with axis=None s2sad does not know the type of the slope")
def pull_sem(out_bar, out, a, *, axis=0, ddof=1, nan_policy="propagate", keepdims=False):
    slope = sem_slope(out, a, axis, ddof, nan_policy, keepdims)
    return kept(out_bar, axis, keepdims, a.ndim) * slope


@pushforward(stats.sem)
def push_sem(out, a, a_dot, *, axis=0, ddof=1, nan_policy="propagate", keepdims=False):
    return moved(sem_slope(out, a, axis, ddof, nan_policy, keepdims), a_dot, axis, keepdims)


def variation_slope(out, a, axis, ddof, nan_policy, keepdims):
    """Return the slope of the standard deviation divided by the mean."""
    check_nans(nan_policy)
    n, out = length_along(a, axis), kept(out, axis, keepdims, a.ndim)
    mean = np.mean(a, axis=axis, keepdims=True)
    width = np.where(out == 0, 1, out) * mean * mean
    return (a - mean) / ((n - ddof) * width) - out / (n * mean)


@pullback(stats.variation, once="with axis=None s2sad does not know the type of the slope")
def pull_variation(out_bar, out, a, *, axis=0, nan_policy="propagate", ddof=0, keepdims=False):
    slope = variation_slope(out, a, axis, ddof, nan_policy, keepdims)
    return kept(out_bar, axis, keepdims, a.ndim) * slope


@pushforward(stats.variation)
def push_variation(out, a, a_dot, *, axis=0, nan_policy="propagate", ddof=0, keepdims=False):
    slope = variation_slope(out, a, axis, ddof, nan_policy, keepdims)
    return moved(slope, a_dot, axis, keepdims)


# scores


@pullback(stats.zscore, once="with axis=None s2sad does not know the type of the slope")
def pull_zscore(out_bar, out, a, *, axis=0, ddof=0, nan_policy="propagate"):
    check_nans(nan_policy)
    n, width = length_along(a, axis), np.std(a, axis=axis, ddof=ddof, keepdims=True)
    along = np.sum(out_bar * out, axis=axis, keepdims=True) / (n - ddof)
    return (about_mean(out_bar, axis) - out * along) / width


@pushforward(stats.zscore)
def push_zscore(out, a, a_dot, *, axis=0, ddof=0, nan_policy="propagate"):
    check_nans(nan_policy)
    n, width = length_along(a, axis), np.std(a, axis=axis, ddof=ddof, keepdims=True)
    along = np.sum(out * a_dot, axis=axis, keepdims=True) / (n - ddof)
    return (about_mean(a_dot, axis) - out * along) / width


# entropies


def entropy_slopes(out, pk, qk, base, axis, nan_policy, keepdims):
    """Return the slopes of an entropy in what is made probabilities by their sum."""
    check_nans(nan_policy)
    ndim = pk.ndim if qk is None else max(pk.ndim, qk.ndim)
    unit = 1.0 if base is None else math.log(base)
    out, total = kept(out, axis, keepdims, ndim), np.sum(pk, axis=axis, keepdims=True)
    if qk is None:
        return (-np.log(pk / total) / unit - out) / total, None
    other = np.sum(qk, axis=axis, keepdims=True)
    ratio = (pk / total) / (qk / other)
    return (np.log(ratio) / unit - out) / total, (1.0 - ratio) / (unit * other)


def check_alike(pk, qk):
    """Refuse distributions of several shapes, which SciPy makes alike before it takes sums."""
    if qk is not None and qk.shape != pk.shape:
        raise NotImplementedError("entropy has a derivative for pk and qk of one shape only")


@pullback(stats.entropy, once="with axis=None s2sad does not know the type of the slope")
def pull_entropy(
    out_bar, out, pk, qk=None, *, base=None, axis=0, nan_policy="propagate", keepdims=False
):
    check_alike(pk, qk)
    pk_slope, qk_slope = entropy_slopes(out, pk, qk, base, axis, nan_policy, keepdims)
    out_bar = kept(out_bar, axis, keepdims, pk.ndim)
    return out_bar * pk_slope, None if qk is None else out_bar * qk_slope


@pushforward(stats.entropy)
def push_entropy(
    out, pk, qk, pk_dot, qk_dot, *, base=None, axis=0, nan_policy="propagate", keepdims=False
):
    check_alike(pk, qk)
    pk_slope, qk_slope = entropy_slopes(out, pk, qk, base, axis, nan_policy, keepdims)
    found = 0.0
    if pk_dot is not None:
        found = found + pk_slope * pk_dot
    if qk_dot is not None:
        found = found + qk_slope * qk_dot
    return np.sum(found, axis=axis, keepdims=keepdims)
