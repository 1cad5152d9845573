"""Differences along an axis, and what is made of them: gradients, phases without jumps."""

import numpy as np

from s2sad.registry import pullback, pushforward
from s2sad.runtime import unbroadcast


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


def end_shape(end, shape, axis):
    """Return the shape of what np.diff adds at one end of an array of this shape."""
    shape = list(shape)
    shape[axis] = 0 if end is None else 1 if np.ndim(end) == 0 else np.shape(end)[axis]
    return shape


def three_parts(out_bar, a, n, axis, prepend, append):
    """Return the cotangents of a and of the ends that np.diff added."""
    before = end_shape(prepend, a.shape, axis)[axis]
    shape = list(a.shape)
    shape[axis] += before + end_shape(append, a.shape, axis)[axis]
    whole = undiff(out_bar, shape, n, axis)
    parts = np.split(whole, (before, before + a.shape[axis]), axis)
    first_bar = None if prepend is None else unbroadcast(parts[0], np.shape(prepend))
    last_bar = None if append is None else unbroadcast(parts[2], np.shape(append))
    return parts[1], first_bar, last_bar


@pullback(np.diff, view="maybe", linear=True)
def pull_diff(out_bar, out, a, prepend=None, append=None, *, n=1, axis=-1):
    if prepend is not None or append is not None:
        return three_parts(out_bar, a, n, axis, prepend, append)
    if n == 1 and axis == -1:
        a_bar = np.zeros(a.shape, out_bar.dtype)
        a_bar[..., 1:] += out_bar
        a_bar[..., :-1] -= out_bar
        return a_bar, None, None
    return undiff(out_bar, a.shape, n, axis), None, None


def end_tangent(end, end_dot, a, axis):
    """Return the tangent of what np.diff adds at one end."""
    shape = end_shape(end, a.shape, axis)
    return np.zeros(shape, a.dtype) if end_dot is None else np.broadcast_to(end_dot, shape)


@pushforward(np.diff)
def push_diff(out, a, prepend, append, a_dot, prepend_dot, append_dot, *, n=1, axis=-1):
    if a_dot is None:
        a_dot = np.zeros_like(a)
    if prepend is None and append is None:
        return np.diff(a_dot, n, axis)
    before = end_tangent(prepend, prepend_dot, a, axis)
    after = end_tangent(append, append_dot, a, axis)
    return np.diff(np.concatenate((before, a_dot, after), axis), n, axis)


@pullback(np.ediff1d)
def pull_ediff1d(out_bar, out, ary, to_end=None, to_begin=None):
    begin = 0 if to_begin is None else np.size(to_begin)
    end = begin + max(np.size(ary) - 1, 0)
    ary_bar = undiff(out_bar[begin:end], (np.size(ary),), 1, 0)
    end_bar = None if to_end is None else np.reshape(out_bar[end:], np.shape(to_end))
    begin_bar = None if to_begin is None else np.reshape(out_bar[:begin], np.shape(to_begin))
    return np.reshape(ary_bar, np.shape(ary)), end_bar, begin_bar


@pushforward(np.ediff1d)
def push_ediff1d(out, ary, to_end, to_begin, ary_dot, to_end_dot, to_begin_dot):
    if ary_dot is None:
        ary_dot = np.zeros_like(ary)
    if to_end is not None and to_end_dot is None:
        to_end_dot = np.zeros(np.shape(to_end))
    if to_begin is not None and to_begin_dot is None:
        to_begin_dot = np.zeros(np.shape(to_begin))
    return np.ediff1d(ary_dot, to_end_dot, to_begin_dot)


def widths_of(spacing, n, dtype):
    """Return the widths of the n - 1 intervals for which np.gradient is given a spacing."""
    if np.ndim(spacing) == 0:
        return np.full(n - 1, spacing, dtype)
    return np.diff(np.asarray(spacing, np.result_type(spacing, dtype)))


def blend(widths, edge_order):
    """Return which two slopes each derivative of np.gradient blends, and the share of the second.

    Inside these are the slopes to the left and to the right, weighed by the widths crosswise; at
    the ends one slope, or a line through two. With the share goes its derivative's sign.
    """
    n = widths.size + 1
    first = np.clip(np.arange(n) - 1, 0, max(n - 3, 0))
    second = np.minimum(first + 1, n - 2)
    sign = np.ones(n, widths.dtype)
    sign[0], sign[-1] = (-1, -1) if edge_order == 2 else (0, 0)
    share = sign * widths[first] / (widths[first] + widths[second])
    share[-1] += edge_order
    return first, second, share, sign


def gradient_back(out_bar, f, spacing, axis, edge_order):
    """Return the cotangents of f and of the spacing of one axis of np.gradient."""
    f, out_bar = np.moveaxis(f, axis, 0), np.moveaxis(out_bar, axis, 0)
    column = (-1,) + (1,) * (f.ndim - 1)
    rest = tuple(range(1, f.ndim))
    widths = widths_of(spacing, len(f), np.real(f).dtype)
    first, second, share, sign = blend(widths, edge_order)
    slopes = np.diff(f, axis=0) / np.reshape(widths, column)
    slopes_bar = np.zeros_like(slopes)
    np.add.at(slopes_bar, first, (1 - np.reshape(share, column)) * out_bar)
    np.add.at(slopes_bar, second, np.reshape(share, column) * out_bar)
    f_bar = np.zeros_like(f)
    f_bar[1:] += slopes_bar / np.reshape(widths, column)
    f_bar[:-1] -= slopes_bar / np.reshape(widths, column)
    bend = sign * np.sum(np.real(out_bar * (slopes[second] - slopes[first])), axis=rest)
    bend = bend / (widths[first] + widths[second]) ** 2
    widths_bar = -np.sum(np.real(slopes_bar * slopes), axis=rest) / widths
    np.add.at(widths_bar, first, bend * widths[second])
    np.subtract.at(widths_bar, second, bend * widths[first])
    if np.ndim(spacing) == 0:
        return np.moveaxis(f_bar, 0, axis), np.sum(widths_bar)
    return np.moveaxis(f_bar, 0, axis), undiff(widths_bar, np.shape(spacing), 1, 0)


def gradient_forward(f, f_dot, spacing, spacing_dot, axis, edge_order):
    """Return the tangent of np.gradient along one axis."""
    f, f_dot = np.moveaxis(f, axis, 0), np.moveaxis(f_dot, axis, 0)
    column = (-1,) + (1,) * (f.ndim - 1)
    widths = widths_of(spacing, len(f), np.real(f).dtype)
    first, second, share, sign = blend(widths, edge_order)
    slopes = np.diff(f, axis=0) / np.reshape(widths, column)
    widths_dot = widths_of(
        0.0 * spacing if spacing_dot is None else spacing_dot, len(f), widths.dtype
    )
    slopes_dot = np.diff(f_dot, axis=0) - slopes * np.reshape(widths_dot, column)
    slopes_dot = slopes_dot / np.reshape(widths, column)
    turn = widths_dot[first] * widths[second] - widths[first] * widths_dot[second]
    turn = sign * turn / (widths[first] + widths[second]) ** 2
    share, turn = np.reshape(share, column), np.reshape(turn, column)
    out_dot = (1 - share) * slopes_dot[first] + share * slopes_dot[second]
    out_dot = out_dot + turn * (slopes[second] - slopes[first])
    return np.moveaxis(out_dot, 0, axis).astype(f.dtype)


def gradient_axes(f, axis, varargs):
    """Return the axes that np.gradient goes along, and the spacing of each."""
    axes = range(f.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    spacings = varargs if len(varargs) == len(axes) else (varargs or (1.0,)) * len(axes)
    return axes, spacings


@pullback(np.gradient, once="its slopes are gathered axis by axis, for spacings of any kind")
def pull_gradient(out_bar, out, f, *varargs, axis=None, edge_order=1):
    axes, spacings = gradient_axes(f, axis, varargs)
    bars = (out_bar,) if len(axes) == 1 else out_bar
    f_bar = np.zeros_like(f)
    spacings_bar = []
    for k, spacing, bar in zip(axes, spacings, bars, strict=True):
        if bar is None:
            bar = np.zeros_like(f)
        one_bar, spacing_bar = gradient_back(bar, f, spacing, k, edge_order)
        f_bar += one_bar
        spacings_bar.append(spacing_bar)
    if len(varargs) == 1 < len(axes):
        spacings_bar = [sum(spacings_bar)]
    return (f_bar, *spacings_bar[: len(varargs)])


@pushforward(np.gradient)
def push_gradient(out, f, *varargs_and_tangents, axis=None, edge_order=1):
    n = len(varargs_and_tangents) // 2
    varargs, f_dot, tangents = (
        varargs_and_tangents[:n],
        varargs_and_tangents[n],
        varargs_and_tangents[n + 1 :],
    )
    if f_dot is None:
        f_dot = np.zeros_like(f)
    axes, spacings = gradient_axes(f, axis, varargs)
    if len(tangents) < len(axes):
        tangents = (tangents or (None,)) * len(axes)
    found = tuple(
        gradient_forward(f, f_dot, spacing, spacing_dot, k, edge_order)
        for k, spacing, spacing_dot in zip(axes, spacings, tangents, strict=True)
    )
    return found[0] if len(axes) == 1 else found


@pullback(np.unwrap)
def pull_unwrap(out_bar, out, p, *, discont=None, axis=-1, period=6.283185307179586):
    """What is added to the phases is a whole number of periods."""
    return out_bar


@pushforward(np.unwrap)
def push_unwrap(out, p, p_dot, *, discont=None, axis=-1, period=6.283185307179586):
    return p_dot
