"""Picking elements: the pullback puts them back, adding where one was taken twice."""

import operator

import numpy as np

from s2sad.registry import nondifferentiable, pullback, pushforward
from s2sad.runtime import unbroadcast

nondifferentiable(np.nonzero, np.flatnonzero, np.argwhere, np.ravel_multi_index, np.unravel_index)
nondifferentiable(np.indices, np.diag_indices, np.tril_indices, np.triu_indices)
nondifferentiable(np.diag_indices_from, np.tril_indices_from, np.triu_indices_from)


def may_repeat(index):
    """Return whether an index may name one element twice: integers in a list or an array."""
    if isinstance(index, tuple):
        return any(may_repeat(part) for part in index)
    return np.ndim(index) > 0 and np.asarray(index).dtype != bool


@pullback(operator.getitem, view="maybe", masks=True, linear=True)
def pull_getitem(out_bar, out, a, index):
    a_bar = np.zeros(a.shape, a.dtype)
    if may_repeat(index):
        np.add.at(a_bar, index, out_bar)
    else:
        a_bar[index] = out_bar
    return a_bar, None


@pushforward(operator.getitem)
def push_getitem(out, a, index, a_dot, index_dot):
    return a_dot[index]


@pullback(np.ix_, view="maybe")
def pull_ix(out_bar, out, *args):
    """Each result is an argument along an axis of its own; where booleans stand, it is indices."""
    return tuple(
        np.reshape(bar, np.shape(a)) if np.issubdtype(part.dtype, np.inexact) else None
        for bar, part, a in zip(out_bar, out, args, strict=True)
    )


@pushforward(np.ix_)
def push_ix(out, *args_and_tangents):
    tangents = args_and_tangents[len(out) :]
    return tuple(
        np.zeros_like(part) if dot is None else np.reshape(dot, part.shape)
        for part, dot in zip(out, tangents, strict=True)
    )


def wrap_or_clip(indices, n, mode):
    """Bring the indices of np.take into range, as its mode says."""
    if mode == "wrap":
        return np.mod(indices, n)
    if mode == "clip":
        return np.clip(indices, 0, n - 1)
    return indices


@pullback(np.take, masks=True, linear=True)
def pull_take(out_bar, out, a, *, indices=None, axis=None, mode="raise"):
    if axis is None:
        a_bar = np.zeros(a.size, a.dtype)
        np.add.at(a_bar, wrap_or_clip(indices, a.size, mode), out_bar)
        return np.reshape(a_bar, a.shape)
    a_bar = np.zeros(a.shape, a.dtype)
    indices = wrap_or_clip(indices, a.shape[axis], mode)
    np.add.at(a_bar, (slice(None),) * (axis % a.ndim) + (indices,), out_bar)
    return a_bar


@pushforward(np.take)
def push_take(out, a, a_dot, *, indices=None, axis=None, mode="raise"):
    return np.take(a_dot, indices, axis, mode=mode)


def along_axis(indices, shape, axis):
    """Return the index that np.take_along_axis uses, for an array of this shape."""
    axis = axis % len(shape)
    index = [np.arange(n) for n in shape]
    index = [np.reshape(i, (-1,) + (1,) * (len(shape) - k - 1)) for k, i in enumerate(index)]
    index[axis] = np.asarray(indices)
    return tuple(index)


@pullback(np.take_along_axis, masks=True, linear=True)
def pull_take_along_axis(out_bar, out, arr, *, indices=None, axis=-1):
    if axis is None:
        arr_bar = np.zeros(arr.size, arr.dtype)
        np.add.at(arr_bar, indices, out_bar)
        return np.reshape(arr_bar, arr.shape)
    arr_bar = np.zeros(arr.shape, arr.dtype)
    np.add.at(arr_bar, along_axis(indices, arr.shape, axis), out_bar)
    return arr_bar


@pushforward(np.take_along_axis)
def push_take_along_axis(out, arr, arr_dot, *, indices=None, axis=-1):
    return np.take_along_axis(arr_dot, indices, axis)


@pullback(np.compress, masks=True, linear=True)
def pull_compress(out_bar, out, condition, a, *, axis=None):
    kept = np.flatnonzero(np.asarray(condition))
    if axis is None:
        a_bar = np.zeros(a.size, a.dtype)
        a_bar[kept] = out_bar
        return None, np.reshape(a_bar, a.shape)
    a_bar = np.zeros(a.shape, a.dtype)
    a_bar[(slice(None),) * (axis % a.ndim) + (kept,)] = out_bar
    return None, a_bar


@pushforward(np.compress)
def push_compress(out, condition, a, condition_dot, a_dot, *, axis=None):
    return np.compress(condition, a_dot, axis)


def compress_method(a, condition, axis=None):
    """Compress as the method of an array does, which comes first: `a.compress(condition)`."""
    return a.compress(condition, axis)


@pullback(compress_method, masks=True, linear=True)
def pull_compress_method(out_bar, out, a, *, condition=None, axis=None):
    return pull_compress(out_bar, out, condition, a, axis=axis)[1]


@pushforward(compress_method)
def push_compress_method(out, a, a_dot, *, condition=None, axis=None):
    return a_dot.compress(condition, axis)


@pullback(np.extract, masks=True, linear=True)
def pull_extract(out_bar, out, condition, arr):
    arr_bar = np.zeros(arr.size, arr.dtype)
    arr_bar[np.flatnonzero(condition)] = out_bar
    return None, np.reshape(arr_bar, arr.shape)


@pushforward(np.extract)
def push_extract(out, condition, arr, condition_dot, arr_dot):
    return np.extract(condition, arr_dot)


def tangents_of_choices(choices_dot, choices, dtype):
    """Return the tangents, with zeros for the choices that are constant."""
    if choices_dot is None:
        return [np.zeros(np.shape(choice), dtype) for choice in choices]
    return [
        np.zeros(np.shape(choice), dtype) if choice_dot is None else choice_dot
        for choice_dot, choice in zip(choices_dot, choices, strict=True)
    ]


@pullback(np.select, masks=True, linear=True)
def pull_select(out_bar, out, condlist, choicelist, default=None):
    unchosen = np.ones(out.shape, bool)
    choices_bar = []
    for condition, choice in zip(condlist, choicelist, strict=True):
        chosen = np.where(unchosen & condition, out_bar, 0)
        choices_bar.append(unbroadcast(chosen, np.shape(choice)))
        unchosen = unchosen & ~np.asarray(condition)
    default_bar = unbroadcast(np.where(unchosen, out_bar, 0), np.shape(default))
    return None, choices_bar, default_bar


@pushforward(np.select)
def push_select(out, condlist, choicelist, default, condlist_dot, choicelist_dot, default_dot):
    choicelist_dot = tangents_of_choices(choicelist_dot, choicelist, out.dtype)
    if default_dot is None:
        return np.select(condlist, choicelist_dot)
    return np.select(condlist, choicelist_dot, default_dot)


@pullback(np.choose, masks=True, linear=True)
def pull_choose(out_bar, out, a, choices, *, mode="raise"):
    chosen = wrap_or_clip(np.asarray(a), len(choices), mode)
    choices_bar = [
        unbroadcast(np.where(chosen == k, out_bar, 0), np.shape(choice))
        for k, choice in enumerate(choices)
    ]
    return None, choices_bar


@pushforward(np.choose)
def push_choose(out, a, choices, a_dot, choices_dot, *, mode="raise"):
    return np.choose(a, tangents_of_choices(choices_dot, choices, out.dtype), mode=mode)
