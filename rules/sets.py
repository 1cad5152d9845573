"""Sets: what stands in arrays, each value once, taken from the first place where it stands."""

import numpy as np

from s2sad.registry import nondifferentiable, pullback, pushforward

nondifferentiable(np.isin)
if hasattr(np, "in1d"):  # to NumPy 2.3
    nondifferentiable(np.in1d)


def places(values, a):
    """Return where each of the values stands first in a, counted through all of it."""
    found, first = np.unique(a, return_index=True)
    return first[np.searchsorted(found, values)]


def put_back(values_bar, values, a):
    """Return the cotangent of a from the cotangent of values that occur in it."""
    a_bar = np.zeros(np.size(a), a.dtype)
    if values_bar is not None:
        a_bar[places(values, a)] = values_bar
    return np.reshape(a_bar, np.shape(a))


def kept_along(a, axis):
    """Return, for each slice of a that np.unique keeps along an axis, where it stands first."""
    return np.unique(a, return_index=True, axis=axis)[1]


@pullback(np.unique, masks=True)
def pull_unique(
    out_bar,
    out,
    ar,
    *,
    return_index=False,
    return_inverse=False,
    return_counts=False,
    axis=None,
    equal_nan=True,
):
    if not equal_nan:
        raise NotImplementedError("unique has no derivative where nans are told apart")
    if return_index or return_inverse or return_counts:
        out, out_bar = out[0], out_bar[0]
    if axis is None:
        return put_back(out_bar, out, ar)
    ar_bar = np.zeros_like(ar)
    np.moveaxis(ar_bar, axis, 0)[kept_along(ar, axis)] = np.moveaxis(out_bar, axis, 0)
    return ar_bar


@pushforward(np.unique)
def push_unique(
    out,
    ar,
    ar_dot,
    *,
    return_index=False,
    return_inverse=False,
    return_counts=False,
    axis=None,
    equal_nan=True,
):
    if not equal_nan:
        raise NotImplementedError("unique has no derivative where nans are told apart")
    several = return_index or return_inverse or return_counts
    values = out[0] if several else out
    if axis is None:
        values_dot = np.ravel(ar_dot)[places(values, ar)]
    else:
        values_dot = np.take(ar_dot, kept_along(ar, axis), axis)
    return (values_dot,) + (None,) * (len(out) - 1) if several else values_dot


@pullback(np.unique_values, masks=True)
def pull_unique_values(out_bar, out, x):
    return put_back(out_bar, out, x)


@pushforward(np.unique_values)
def push_unique_values(out, x, x_dot):
    return np.ravel(x_dot)[places(out, x)]


@pullback(np.unique_all, np.unique_counts, np.unique_inverse, masks=True, linear=True)
def pull_unique_all(out_bar, out, x):
    return put_back(out_bar[0], out[0], x)


@pushforward(np.unique_all, np.unique_counts, np.unique_inverse)
def push_unique_all(out, x, x_dot):
    return type(out)(np.ravel(x_dot)[places(out[0], x)], *(None,) * (len(out) - 1))


def both_back(out_bar, out, ar1, ar2):
    """Return the cotangents of two arrays from the cotangent of values that occur in them."""
    both = np.concatenate((np.ravel(ar1), np.ravel(ar2)))
    both_bar = put_back(out_bar, out, both)
    ar1_bar = np.reshape(both_bar[: np.size(ar1)], np.shape(ar1))
    return ar1_bar, np.reshape(both_bar[np.size(ar1) :], np.shape(ar2))


def both_forward(out, ar1, ar2, ar1_dot, ar2_dot):
    """Return the tangent of values that stand in two arrays."""
    ar1_dot = np.zeros(np.shape(ar1), out.dtype) if ar1_dot is None else ar1_dot
    ar2_dot = np.zeros(np.shape(ar2), out.dtype) if ar2_dot is None else ar2_dot
    both = np.concatenate((np.ravel(ar1), np.ravel(ar2)))
    return np.concatenate((np.ravel(ar1_dot), np.ravel(ar2_dot)))[places(out, both)]


@pullback(np.union1d, masks=True, linear=True)
def pull_union1d(out_bar, out, ar1, ar2):
    return both_back(out_bar, out, ar1, ar2)


@pushforward(np.union1d)
def push_union1d(out, ar1, ar2, ar1_dot, ar2_dot):
    return both_forward(out, ar1, ar2, ar1_dot, ar2_dot)


@pullback(np.setxor1d, np.setdiff1d, masks=True, linear=True)
def pull_difference(out_bar, out, ar1, ar2, *, assume_unique=False):
    return both_back(out_bar, out, ar1, ar2)


@pushforward(np.setxor1d, np.setdiff1d)
def push_difference(out, ar1, ar2, ar1_dot, ar2_dot, *, assume_unique=False):
    return both_forward(out, ar1, ar2, ar1_dot, ar2_dot)


@pullback(np.intersect1d, masks=True)
def pull_intersect1d(out_bar, out, ar1, ar2, *, assume_unique=False, return_indices=False):
    """What stands in both is taken from the first."""
    if return_indices:
        return both_back(out_bar[0], out[0], ar1, ar2)
    return both_back(out_bar, out, ar1, ar2)


@pushforward(np.intersect1d)
def push_intersect1d(out, ar1, ar2, ar1_dot, ar2_dot, *, assume_unique=False, return_indices=False):
    """What stands in both is taken from the first."""
    if return_indices:
        return both_forward(out[0], ar1, ar2, ar1_dot, ar2_dot), None, None
    return both_forward(out, ar1, ar2, ar1_dot, ar2_dot)
