"""scipy.ndimage: images shifted, zoomed, turned, and measured by labels.

A shift and a zoom are linear in the image, along each axis by itself: what a one becomes at each
place is a row of the matrix there. An affine transform reads the image between its points, as
map_coordinates does.
"""

import numpy as np
from scipy import ndimage, special

from s2sad.registry import pullback, pushforward
from s2sad.rules.scipy_filters import per_axis
from s2sad.rules.scipy_ndimage import pull_map_coordinates


def along_axes(out_bar, ndim, answers):
    """Return a cotangent moved back axis by axis; `answers(k)` are those to a one at each place."""
    for axis in range(ndim):
        moved = np.tensordot(answers(axis).astype(out_bar.dtype), out_bar, (1, axis))
        out_bar = np.moveaxis(moved, 0, axis)
    return out_bar


@pullback(ndimage.shift, masks=True, linear=True)
def pull_shift(
    out_bar, out, input, *, shift=None, order=3, mode="constant", cval=0.0, prefilter=True
):
    settings = {"order": order, "mode": mode, "prefilter": prefilter}

    def answers(axis):
        ones = np.eye(input.shape[axis])
        return np.stack([ndimage.shift(one, per_axis(shift, axis), **settings) for one in ones])

    return along_axes(out_bar, input.ndim, answers)


@pushforward(ndimage.shift)
def push_shift(
    out, input, input_dot, *, shift=None, order=3, mode="constant", cval=0.0, prefilter=True
):
    return ndimage.shift(input_dot, shift, order=order, mode=mode, prefilter=prefilter)


@pullback(ndimage.zoom, linear=True)
def pull_zoom(
    out_bar,
    out,
    input,
    *,
    zoom=None,
    order=3,
    mode="constant",
    cval=0.0,
    prefilter=True,
    grid_mode=False,
):
    settings = {"order": order, "mode": mode, "prefilter": prefilter, "grid_mode": grid_mode}

    def answers(axis):
        ones = np.eye(input.shape[axis])
        return np.stack([ndimage.zoom(one, per_axis(zoom, axis), **settings) for one in ones])

    return along_axes(out_bar, input.ndim, answers)


@pushforward(ndimage.zoom)
def push_zoom(
    out,
    input,
    input_dot,
    *,
    zoom=None,
    order=3,
    mode="constant",
    cval=0.0,
    prefilter=True,
    grid_mode=False,
):
    settings = {"order": order, "mode": mode, "prefilter": prefilter, "grid_mode": grid_mode}
    return ndimage.zoom(input_dot, zoom, **settings)


def places_read(shape, matrix, offset, ndim):
    """Return where an affine transform reads an image, for every place of its result."""
    matrix = np.asarray(matrix, dtype=float)
    if matrix.ndim == 1:
        matrix = np.diag(matrix)
    if matrix.shape[1] == ndim + 1:
        offset = matrix[:ndim, ndim]
        matrix = matrix[:ndim, :ndim]
    indices = np.indices(shape)
    offset = np.zeros(ndim) + np.asarray(offset)
    rows = []
    for k in range(ndim):
        place = np.full(shape, float(offset[k]))
        for step, index in zip(matrix[k], indices, strict=True):
            place += step * index
        rows.append(place)
    return np.stack(rows)


@pullback(
    ndimage.affine_transform,
    masks=True,
    linear=True,
    once="a matrix that is not a literal has a type of its own",
)
def pull_affine_transform(
    out_bar,
    out,
    input,
    *,
    matrix=None,
    offset=0.0,
    output_shape=None,
    order=3,
    mode="constant",
    cval=0.0,
    prefilter=True,
):
    places = places_read(out_bar.shape, matrix, offset, input.ndim)
    settings = {"order": order, "mode": mode, "prefilter": prefilter}
    return pull_map_coordinates(out_bar, None, input, places, **settings)[0]


@pushforward(ndimage.affine_transform)
def push_affine_transform(
    out,
    input,
    input_dot,
    *,
    matrix=None,
    offset=0.0,
    output_shape=None,
    order=3,
    mode="constant",
    cval=0.0,
    prefilter=True,
):
    settings = {"order": order, "mode": mode, "prefilter": prefilter}
    return ndimage.affine_transform(input_dot, matrix, offset, output_shape, **settings)


def places_turned(shape, turned, angle, axes):
    """Return where a rotation reads an image of this shape, for every place of its result."""
    first, second = sorted(k % len(shape) for k in axes)
    c, s = special.cosdg(angle), special.sindg(angle)
    matrix = np.eye(len(shape))
    matrix[first, first], matrix[first, second] = c, s
    matrix[second, first], matrix[second, second] = -s, c
    center = (np.array(turned) - 1) / 2
    offset = (np.array(shape) - 1) / 2 - matrix @ center
    return places_read(turned, matrix, offset, len(shape))


@pullback(ndimage.rotate, masks=True, linear=True)
def pull_rotate(
    out_bar,
    out,
    input,
    *,
    angle=None,
    axes=(1, 0),
    reshape=True,
    order=3,
    mode="constant",
    cval=0.0,
    prefilter=True,
):
    places = places_turned(input.shape, out_bar.shape, angle, axes)
    settings = {"order": order, "mode": mode, "prefilter": prefilter}
    return pull_map_coordinates(out_bar, None, input, places, **settings)[0]


@pushforward(ndimage.rotate)
def push_rotate(
    out,
    input,
    input_dot,
    *,
    angle=None,
    axes=(1, 0),
    reshape=True,
    order=3,
    mode="constant",
    cval=0.0,
    prefilter=True,
):
    settings = {"order": order, "mode": mode, "prefilter": prefilter}
    return ndimage.rotate(input_dot, angle, axes, reshape, **settings)


# what is measured by labels


def regions(input, labels, index):
    """Return which entries belong to each of the labels asked for, along a first axis."""
    if labels is None:
        return np.ones((1, *input.shape), dtype=bool)
    labels = np.broadcast_to(labels, input.shape)
    if index is None:
        return (labels > 0)[None]
    column = np.reshape(np.asarray(index), (-1,) + (1,) * input.ndim)
    return labels == column


def total(out_bar, shares):
    """Return the cotangent of an image of whose entries each region has these shares."""
    return np.tensordot(np.ravel(out_bar), shares, 1)


def gathered(out, shares, input_dot):
    """Return the tangent of what is measured, in its shape."""
    return np.reshape(np.sum(shares * input_dot, axis=tuple(range(1, shares.ndim))), np.shape(out))


@pullback(
    ndimage.sum,
    ndimage.sum_labels,
    masks=True,
    linear=True,
    once="the call decides whether it means one label or several",
)
def pull_sum_labels(out_bar, out, input, *, labels=None, index=None):
    return total(out_bar, regions(input, labels, index).astype(out_bar.dtype))


@pushforward(ndimage.sum, ndimage.sum_labels)
def push_sum_labels(out, input, input_dot, *, labels=None, index=None):
    return gathered(out, regions(input, labels, index), input_dot)


def mean_shares(input, labels, index):
    inside = regions(input, labels, index)
    return inside / np.sum(inside, axis=tuple(range(1, inside.ndim)), keepdims=True)


@pullback(
    ndimage.mean,
    masks=True,
    linear=True,
    once="the call decides whether it means one label or several",
)
def pull_mean(out_bar, out, input, *, labels=None, index=None):
    return total(out_bar, mean_shares(input, labels, index))


@pushforward(ndimage.mean)
def push_mean(out, input, input_dot, *, labels=None, index=None):
    return gathered(out, mean_shares(input, labels, index), input_dot)


def variance_slopes(input, labels, index):
    shares = mean_shares(input, labels, index)
    means = np.sum(shares * input, axis=tuple(range(1, shares.ndim)), keepdims=True)
    return 2.0 * shares * (input - means)


@pullback(
    ndimage.variance, masks=True, once="the shares of labels are gathered for any number of them"
)
def pull_variance(out_bar, out, input, *, labels=None, index=None):
    return total(out_bar, variance_slopes(input, labels, index))


@pushforward(ndimage.variance)
def push_variance(out, input, input_dot, *, labels=None, index=None):
    return gathered(out, variance_slopes(input, labels, index), input_dot)


def extreme_shares(out, input, labels, index):
    """Return equal shares among ties."""
    inside = regions(input, labels, index)
    chosen = inside & (input == np.reshape(out, (-1,) + (1,) * input.ndim))
    return chosen / np.sum(chosen, tuple(range(1, chosen.ndim)), input.dtype, keepdims=True)


@pullback(
    ndimage.maximum,
    ndimage.minimum,
    masks=True,
    linear=True,
    once="the call decides whether it means one label or several",
)
def pull_extreme(out_bar, out, input, *, labels=None, index=None):
    return total(out_bar, extreme_shares(out, input, labels, index))


@pushforward(ndimage.maximum, ndimage.minimum)
def push_extreme(out, input, input_dot, *, labels=None, index=None):
    return gathered(out, extreme_shares(out, input, labels, index), input_dot)


def center_slopes(out, input):
    """Return how the center moves along each axis with the mass at each place."""
    mass = np.sum(input)
    places = np.indices(input.shape)
    return [(place - center) / mass for place, center in zip(places, out, strict=True)]


@pullback(ndimage.center_of_mass, once="the call decides whether it means one label or several")
def pull_center_of_mass(out_bar, out, input):
    slopes = center_slopes(out, input)
    return sum(
        (b * slope).astype(input.dtype)
        for b, slope in zip(out_bar, slopes, strict=True)
        if b is not None
    )


@pushforward(ndimage.center_of_mass)
def push_center_of_mass(out, input, input_dot):
    return tuple(np.sum(slope * input_dot) for slope in center_slopes(out, input))
