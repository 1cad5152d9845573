"""Sliding windows: what a window shows goes back to where it was seen."""

import numpy as np

from s2sad.registry import pullback, pushforward, refuse

refuse(
    np.lib.stride_tricks,
    "as_strided",
    because="it reads memory without checking what lies there",
    instead="Use sliding_window_view, np.reshape, or an index.",
)


def window_axes(ndim, window_shape, axis):
    """Return pairs of axis and length, one for each axis of a window."""
    shape = (window_shape,) if np.ndim(window_shape) == 0 else tuple(window_shape)
    if axis is None:
        axis = range(ndim)
    axes = (axis,) if np.ndim(axis) == 0 else tuple(axis)
    return [(a % ndim, n) for a, n in zip(axes, shape, strict=True)]


@pullback(np.lib.stride_tricks.sliding_window_view, view="maybe", masks=True, linear=True)
def pull_sliding_window_view(out_bar, out, x, *, window_shape=None, axis=None):
    """An axis may be slid along twice."""
    axes = window_axes(x.ndim, window_shape, axis)
    x_bar = np.zeros_like(x, dtype=out_bar.dtype)
    for offsets in np.ndindex(*[n for _, n in axes]):
        starts = [0] * x.ndim
        for (a, _), offset in zip(axes, offsets, strict=True):
            starts[a] += offset
        seen = tuple(slice(s, s + n) for s, n in zip(starts, out.shape, strict=False))
        x_bar[seen] += out_bar[(..., *offsets)]
    return x_bar


@pushforward(np.lib.stride_tricks.sliding_window_view)
def push_sliding_window_view(out, x, x_dot, *, window_shape=None, axis=None):
    return np.lib.stride_tricks.sliding_window_view(x_dot, window_shape, axis)
