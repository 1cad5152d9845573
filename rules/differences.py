"""Differences along an axis, and functions that use them: gradients, phases without jumps."""

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
    f, out_bar = np.moveaxis(1.0 * f, axis, 0), np.moveaxis(out_bar, axis, 0)
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
    f, f_dot = np.moveaxis(1.0 * f, axis, 0), np.moveaxis(f_dot, axis, 0)
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


def slopes_back(out_bar, axis, edge_order, spacing=None):
    """Apply the adjoint of np.gradient along one axis, with points a spacing or a unit apart."""
    out_bar = np.moveaxis(out_bar, axis, -1)
    f_bar = np.zeros_like(out_bar)
    f_bar[..., 2:] += 0.5 * out_bar[..., 1:-1]
    f_bar[..., :-2] -= 0.5 * out_bar[..., 1:-1]
    first, last = out_bar[..., 0], out_bar[..., -1]
    if edge_order == 1:
        f_bar[..., 0] -= first
        f_bar[..., 1] += first
        f_bar[..., -1] += last
        f_bar[..., -2] -= last
    else:
        f_bar[..., 0] -= 1.5 * first
        f_bar[..., 1] += 2.0 * first
        f_bar[..., 2] -= 0.5 * first
        f_bar[..., -1] += 1.5 * last
        f_bar[..., -2] -= 2.0 * last
        f_bar[..., -3] += 0.5 * last
    if spacing is not None:
        f_bar /= spacing
    return np.moveaxis(f_bar, -1, axis)


def fields_back(out_bar, axes, edge_order, spacings=None):
    """Apply the adjoint of np.gradient along several axes."""
    f_bar = np.zeros_like(out_bar[0])
    for i, axis in enumerate(axes):
        if spacings is None:
            f_bar += slopes_back(out_bar[i], axis, edge_order)
        else:
            f_bar += slopes_back(out_bar[i], axis, edge_order, spacings[i])
    return f_bar


def spacing_back(out_bar, out, spacing):
    """Return the cotangent of a spacing: slopes are inversely proportional to it."""
    return -np.sum(np.real(out_bar * out)) / spacing


def apart(out_dot, out, spacing, spacing_dot):
    """Return the tangent of slopes between points whose spacing has a tangent, too."""
    if spacing_dot is None:
        return out_dot
    return out_dot - (out * (spacing_dot / spacing)).astype(out.dtype)


def axes_along(f, axis):
    """Return the axes that np.gradient goes along."""
    return tuple(range(f.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)


def gradient_bars(out_bar, f, spacings, axis, edge_order):
    """Return the cotangents of f and of up to four spacings of any kind."""
    axes = axes_along(f, axis)
    bars = (out_bar,) if len(axes) == 1 else out_bar
    each = spacings if len(spacings) == len(axes) else (spacings or (1.0,)) * len(axes)
    f = 1.0 * f  # of integers, too, the gradient is taken as of floats
    f_bar = np.zeros_like(f)
    found = []
    for k, spacing, bar in zip(axes, each, bars, strict=True):
        one_bar, spacing_bar = gradient_back(bar, f, spacing, k, edge_order)
        f_bar += one_bar
        found.append(spacing_bar)
    if len(spacings) == 1:
        found = [sum(found)]
    return f_bar, *found[: len(spacings)], *(None,) * (4 - len(spacings))


@pullback(np.gradient, once="coordinates that are differentiated, too, are gathered one by one")
def pull_gradient(out_bar, out, f, h0=None, h1=None, h2=None, h3=None, *, axis=None, edge_order=1):
    if f.ndim == 1 or isinstance(axis, int):
        k = 0 if f.ndim == 1 else axis
        if h0 is None:
            return slopes_back(out_bar, k, edge_order), None, None, None, None
        if np.ndim(h0) == 0:
            f_bar = slopes_back(out_bar, k, edge_order, h0)
            return f_bar, spacing_back(out_bar, out, h0), None, None, None
        f_bar = gradient_back(out_bar, f, h0, k, edge_order)[0]
        return f_bar, gradient_back(out_bar, f, h0, k, edge_order)[1], None, None, None
    elif f.ndim == 2 and axis is None:
        if h0 is None:
            return fields_back(out_bar, (0, 1), edge_order), None, None, None, None
        if np.ndim(h0) == 0 and h1 is None:
            f_bar = fields_back(out_bar, (0, 1), edge_order, (h0, h0))
            h0_bar = spacing_back(out_bar[0], out[0], h0) + spacing_back(out_bar[1], out[1], h0)
            return f_bar, h0_bar, None, None, None
        if np.ndim(h0) == 0 and np.ndim(h1) == 0:
            f_bar = fields_back(out_bar, (0, 1), edge_order, (h0, h1))
            h0_bar = spacing_back(out_bar[0], out[0], h0)
            return f_bar, h0_bar, spacing_back(out_bar[1], out[1], h1), None, None
    elif f.ndim == 3 and axis is None:
        if h0 is None:
            return fields_back(out_bar, (0, 1, 2), edge_order), None, None, None, None
        if np.ndim(h0) == 0 and np.ndim(h1) == 0 and np.ndim(h2) == 0 and h2 is not None:
            f_bar = fields_back(out_bar, (0, 1, 2), edge_order, (h0, h1, h2))
            h0_bar = spacing_back(out_bar[0], out[0], h0)
            h1_bar = spacing_back(out_bar[1], out[1], h1)
            return f_bar, h0_bar, h1_bar, spacing_back(out_bar[2], out[2], h2), None
    spacings = tuple(h for h in (h0, h1, h2, h3) if h is not None)
    return gradient_bars(out_bar, f, spacings, axis, edge_order)


@pushforward(np.gradient)
def push_gradient(
    out,
    f,
    h0=None,
    h1=None,
    h2=None,
    h3=None,
    f_dot=None,
    h0_dot=None,
    h1_dot=None,
    h2_dot=None,
    h3_dot=None,
    *,
    axis=None,
    edge_order=1,
):
    if f_dot is None:
        f_dot = np.zeros_like(f)
    if h0 is None:
        return np.gradient(f_dot, axis=axis, edge_order=edge_order)
    if h1 is None:
        if h0_dot is None:
            return np.gradient(f_dot, h0, axis=axis, edge_order=edge_order)
        if np.ndim(h0) == 0 and (f.ndim == 1 or isinstance(axis, int)):
            moved = np.gradient(f_dot, h0, axis=axis, edge_order=edge_order)
            return apart(moved, out, h0, h0_dot)
    elif h2 is None:
        if h0_dot is None and h1_dot is None:
            return np.gradient(f_dot, h0, h1, axis=axis, edge_order=edge_order)
        if np.ndim(h0) == 0 and np.ndim(h1) == 0:
            moved = np.gradient(f_dot, h0, h1, axis=axis, edge_order=edge_order)
            first = apart(moved[0], out[0], h0, h0_dot)
            return first, apart(moved[1], out[1], h1, h1_dot)
    spacings = tuple(h for h in (h0, h1, h2, h3) if h is not None)
    tangents = (h0_dot, h1_dot, h2_dot, h3_dot)[: len(spacings)]
    axes = axes_along(f, axis)
    if len(spacings) < len(axes):
        spacings, tangents = spacings * len(axes), tangents * len(axes)
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
