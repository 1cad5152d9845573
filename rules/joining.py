"""Joining and splitting; each is the derivative of the other."""

import numpy as np

from s2sad.registry import pullback, pushforward
from s2sad.runtime import unbroadcast


def split_like(x_bar, arrays, axis, promote=np.asarray):
    """Cut x_bar along axis into pieces shaped like the arrays, which were promoted and joined."""
    pieces = []
    start = 0
    axis = axis % x_bar.ndim
    for a in arrays:
        stop = start + promote(a).shape[axis]
        piece = x_bar[(slice(None),) * axis + (slice(start, stop),)]
        pieces.append(np.reshape(piece, np.shape(a))[()])
        start = stop
    if isinstance(arrays, np.ndarray):
        return np.stack(pieces)
    return tuple(pieces) if isinstance(arrays, tuple) else pieces


def zeros_for_none(arrays_dot, arrays):
    """Return the tangents, with zeros for the arrays that are constant."""
    return [
        np.zeros_like(a) if a_dot is None else a_dot
        for a_dot, a in zip(arrays_dot, arrays, strict=True)
    ]


@pullback(np.concatenate, np.concat, linear=True)
def pull_concatenate(out_bar, out, arrays, *, axis=0):
    if axis is None:
        return split_like(out_bar, arrays, 0, np.ravel)
    return split_like(out_bar, arrays, axis)


@pushforward(np.concatenate, np.concat)
def push_concatenate(out, arrays, arrays_dot, *, axis=0):
    return np.concatenate(zeros_for_none(arrays_dot, arrays), axis)


@pullback(np.stack, linear=True)
def pull_stack(out_bar, out, arrays, *, axis=0):
    if isinstance(arrays, np.ndarray):
        return np.moveaxis(out_bar, axis, 0)
    if axis == 0:
        return tuple(out_bar) if isinstance(arrays, tuple) else list(out_bar)
    rows = np.moveaxis(out_bar, axis, 0)
    return tuple(rows) if isinstance(arrays, tuple) else list(rows)


@pushforward(np.stack)
def push_stack(out, arrays, arrays_dot, *, axis=0):
    return np.stack(zeros_for_none(arrays_dot, arrays), axis)


def pull_unstack(out_bar, out, x, *, axis=0):
    return np.stack(out_bar, axis)


def push_unstack(out, x, x_dot, *, axis=0):
    return np.unstack(x_dot, axis=axis)


if hasattr(np, "unstack"):
    pullback(
        np.unstack, view="always", linear=True, once="s2sad does not know the number of parts"
    )(pull_unstack)
    pushforward(np.unstack)(push_unstack)


@pullback(np.vstack, linear=True)
def pull_vstack(out_bar, out, tup):
    return split_like(out_bar, tup, 0, np.atleast_2d)


@pushforward(np.vstack)
def push_vstack(out, tup, tup_dot):
    return np.vstack(zeros_for_none(tup_dot, tup))


if hasattr(np, "row_stack"):  # another name of vstack, on its way out
    pullback(np.row_stack)(pull_vstack)
    pushforward(np.row_stack)(push_vstack)


def depth_of(arrays):
    """Return how deep lists of arrays are nested."""
    return 1 + max(map(depth_of, arrays)) if isinstance(arrays, list) else 0


def as_block(arrays, depth, ndim):
    """Return what nested lists of arrays make together, joined along the last axes."""
    if not isinstance(arrays, list):
        return np.reshape(arrays, (1,) * (ndim - np.ndim(arrays)) + np.shape(arrays))
    return np.concatenate([as_block(a, depth - 1, ndim) for a in arrays], -depth)


def unblock(bar, arrays, depth):
    """Return the cotangents of nested lists of arrays that np.block put together."""
    if not isinstance(arrays, list):
        return np.reshape(bar, np.shape(arrays))[()]
    lengths = [as_block(a, depth - 1, bar.ndim).shape[-depth] for a in arrays]
    ends = [sum(lengths[: k + 1]) for k in range(len(lengths) - 1)]
    parts = np.split(bar, ends, -depth)
    return [unblock(part, a, depth - 1) for part, a in zip(parts, arrays, strict=True)]


def tangents_of_blocks(dots, arrays):
    """Return nested lists of tangents, with zeros for constants."""
    if not isinstance(arrays, list):
        return np.zeros_like(arrays) if dots is None else dots
    dots = [None] * len(arrays) if dots is None else dots
    return [tangents_of_blocks(dot, a) for dot, a in zip(dots, arrays, strict=True)]


@pullback(np.block, nested=True, once="the parts of nested lists are not of one kind")
def pull_block(out_bar, out, arrays):
    return unblock(out_bar, arrays, depth_of(arrays))


@pushforward(np.block)
def push_block(out, arrays, arrays_dot):
    return np.block(tangents_of_blocks(arrays_dot, arrays))


@pullback(np.hstack, linear=True)
def pull_hstack(out_bar, out, tup):
    axis = 0 if out.ndim == 1 else 1
    return split_like(out_bar, tup, axis, np.atleast_1d)


@pushforward(np.hstack)
def push_hstack(out, tup, tup_dot):
    return np.hstack(zeros_for_none(tup_dot, tup))


def as_columns(a):
    """Return a vector as a column, as column_stack sees it."""
    return np.reshape(a, (-1, 1)) if np.ndim(a) < 2 else np.asarray(a)


@pullback(np.column_stack, linear=True)
def pull_column_stack(out_bar, out, tup):
    return split_like(out_bar, tup, 1, as_columns)


@pushforward(np.column_stack)
def push_column_stack(out, tup, tup_dot):
    return np.column_stack(zeros_for_none(tup_dot, tup))


@pullback(np.dstack, linear=True)
def pull_dstack(out_bar, out, tup):
    return split_like(out_bar, tup, 2, np.atleast_3d)


@pushforward(np.dstack)
def push_dstack(out, tup, tup_dot):
    return np.dstack(zeros_for_none(tup_dot, tup))


def unsplit(pieces, ary, cuts, axis):
    """Return zeros like ary with the pieces added where np.split(ary, cuts, axis) took them."""
    ary_bar = np.zeros_like(ary)
    for part, piece in zip(np.array_split(ary_bar, cuts, axis), pieces, strict=True):
        part += piece
    return ary_bar


@pullback(
    np.split,
    np.array_split,
    view="always",
    linear=True,
    once="s2sad does not know the lengths of the parts",
)
def pull_split(out_bar, out, ary, *, indices_or_sections=None, axis=0):
    if isinstance(indices_or_sections, int):
        return np.concatenate(out_bar, axis)
    return unsplit(out_bar, ary, indices_or_sections, axis)


@pushforward(np.split, np.array_split)
def push_split(out, ary, ary_dot, *, indices_or_sections=None, axis=0):
    return np.array_split(ary_dot, indices_or_sections, axis)


@pullback(
    np.vsplit, view="always", linear=True, once="s2sad does not know the lengths of the parts"
)
def pull_vsplit(out_bar, out, ary, *, indices_or_sections=None):
    if isinstance(indices_or_sections, int):
        return np.concatenate(out_bar)
    return unsplit(out_bar, ary, indices_or_sections, 0)


@pushforward(np.vsplit)
def push_vsplit(out, ary, ary_dot, *, indices_or_sections=None):
    return np.vsplit(ary_dot, indices_or_sections)


@pullback(
    np.hsplit, view="always", linear=True, once="s2sad does not know the lengths of the parts"
)
def pull_hsplit(out_bar, out, ary, *, indices_or_sections=None):
    if isinstance(indices_or_sections, int):
        return np.hstack(out_bar)
    return unsplit(out_bar, ary, indices_or_sections, min(ary.ndim - 1, 1))


@pushforward(np.hsplit)
def push_hsplit(out, ary, ary_dot, *, indices_or_sections=None):
    return np.hsplit(ary_dot, indices_or_sections)


@pullback(
    np.dsplit, view="always", linear=True, once="s2sad does not know the lengths of the parts"
)
def pull_dsplit(out_bar, out, ary, *, indices_or_sections=None):
    if isinstance(indices_or_sections, int):
        return np.dstack(out_bar)
    return unsplit(out_bar, ary, indices_or_sections, 2)


@pushforward(np.dsplit)
def push_dsplit(out, ary, ary_dot, *, indices_or_sections=None):
    return np.dsplit(ary_dot, indices_or_sections)


@pullback(np.append, linear=True)
def pull_append(out_bar, out, arr, values, *, axis=None):
    if axis is None:
        arr_bar = np.reshape(out_bar[: np.size(arr)], np.shape(arr))
        values_bar = np.reshape(out_bar[np.size(arr) :], np.shape(values))
        return arr_bar, values_bar
    arr_bar, values_bar = np.split(out_bar, [np.shape(arr)[axis]], axis)
    return arr_bar, values_bar


@pushforward(np.append)
def push_append(out, arr, values, arr_dot, values_dot, *, axis=None):
    if arr_dot is None:
        arr_dot = np.zeros_like(arr)
    if values_dot is None:
        values_dot = np.zeros_like(values)
    return np.append(arr_dot, values_dot, axis)


def grid_shape(xi, k, indexing):
    """Return the shape of one coordinate in a sparse grid."""
    axis = 1 - k if indexing == "xy" and k < 2 <= len(xi) else k
    return (1,) * axis + (np.size(xi[k]),) + (1,) * (len(xi) - axis - 1)


@pullback(np.meshgrid, linear=True)
def pull_meshgrid(out_bar, out, *xi, sparse=False, indexing="xy"):
    return tuple(
        np.reshape(unbroadcast(x_bar, grid_shape(xi, k, indexing)), np.shape(xi[k]))
        for k, x_bar in enumerate(out_bar)
    )


@pushforward(np.meshgrid)
def push_meshgrid(out, *arrays_and_tangents, sparse=False, indexing="xy"):
    n = len(arrays_and_tangents) // 2
    xi_dot = zeros_for_none(arrays_and_tangents[n:], arrays_and_tangents[:n])
    return np.meshgrid(*xi_dot, sparse=sparse, indexing=indexing)
