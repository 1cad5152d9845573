"""Elements inserted, deleted, repeated to fill a shape, or cut off where they are zero."""

import numpy as np

from s2sad.registry import pullback, pushforward
from s2sad.runtime import unbroadcast


def inserted(obj, n, m):
    """Return where np.insert puts m values among n, in the order of the values, and the rest."""
    which = np.insert(np.full(n, -1), obj, np.arange(m))
    new = np.flatnonzero(which >= 0)
    return new[np.argsort(which[new])], np.flatnonzero(which < 0)


def is_one_place(obj):
    """Return whether np.insert gets a single position, before which it puts all values."""
    return not isinstance(obj, slice) and np.ndim(obj) == 0


@pullback(np.insert, linear=True, once="values have to be as many as a list or slice says")
def pull_insert(out_bar, out, arr, values, *, obj=None, axis=None):
    along = 0 if axis is None else axis
    n = np.size(arr) if axis is None else arr.shape[axis]
    new, old = inserted(obj, n, out.shape[along] - n)
    new_bar = np.take(out_bar, new, along)
    if is_one_place(obj):
        new_bar = np.moveaxis(new_bar, along, 0)
    arr_bar = np.reshape(np.take(out_bar, old, along), np.shape(arr))
    return arr_bar, unbroadcast(new_bar, np.shape(values))


@pushforward(np.insert)
def push_insert(out, arr, values, arr_dot, values_dot, *, obj=None, axis=None):
    arr_dot = np.zeros_like(arr) if arr_dot is None else arr_dot
    values_dot = np.zeros(np.shape(values), arr_dot.dtype) if values_dot is None else values_dot
    return np.insert(arr_dot, obj, values_dot, axis)


@pullback(np.delete, masks=True, linear=True, once="what is deleted is a slice")
def pull_delete(out_bar, out, arr, *, obj=None, axis=None):
    if axis is None:
        arr_bar = np.zeros(arr.size, arr.dtype)
        arr_bar[np.delete(np.arange(arr.size), obj)] = out_bar
        return np.reshape(arr_bar, arr.shape)
    arr_bar = np.zeros_like(arr)
    kept = np.delete(np.arange(arr.shape[axis]), obj)
    np.moveaxis(arr_bar, axis, 0)[kept] = np.moveaxis(out_bar, axis, 0)
    return arr_bar


@pushforward(np.delete)
def push_delete(out, arr, arr_dot, *, obj=None, axis=None):
    return np.delete(arr_dot, obj, axis)


@pullback(np.resize, masks=True, linear=True)
def pull_resize(out_bar, out, a, *, new_shape=None):
    """All elements in their order, and again from the first."""
    a_bar = np.zeros(np.size(a), a.dtype)
    if a_bar.size:
        np.add.at(a_bar, np.arange(np.size(out)) % a_bar.size, np.ravel(out_bar))
    return np.reshape(a_bar, np.shape(a))


@pushforward(np.resize)
def push_resize(out, a, a_dot, *, new_shape=None):
    return np.resize(a_dot, new_shape)


def zeros_before(filt, trim):
    """Return how many zeros np.trim_zeros cuts off at the front."""
    if filt.ndim != 1:
        raise NotImplementedError("trim_zeros has a derivative for vectors only")
    there = np.flatnonzero(filt)
    return there[0] if "f" in trim.lower() and there.size else 0


@pullback(np.trim_zeros, view="always", masks=True, linear=True)
def pull_trim_zeros(out_bar, out, filt, *, trim="fb"):
    filt_bar = np.zeros_like(filt)
    start = zeros_before(filt, trim)
    filt_bar[start : start + out.size] = out_bar
    return filt_bar


@pushforward(np.trim_zeros)
def push_trim_zeros(out, filt, filt_dot, *, trim="fb"):
    start = zeros_before(filt, trim)
    return filt_dot[start : start + out.size]
