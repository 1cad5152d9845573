"""Sorting. Ties follow NumPy's stable permutation."""

import numpy as np

from s2sad.registry import nondifferentiable, pullback, pushforward

nondifferentiable(np.argsort, np.argmax, np.argmin, np.nanargmax, np.nanargmin, np.argpartition)
nondifferentiable(np.lexsort)


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


@pullback(np.sort_complex, linear=True)
def pull_sort_complex(out_bar, out, a):
    return pull_sort(out_bar, out, a)


@pushforward(np.sort_complex)
def push_sort_complex(out, a, a_dot):
    return push_sort(out, a, a_dot) + np.zeros_like(out)


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
