"""scipy.ndimage: filters along axes, and the values between the points of a grid.

A filter is linear in its image: its pullback is the same filter run backwards, and what the border
was padded with goes back to where it came from.
"""

import math

import numpy as np
from scipy import ndimage

from s2sad.registry import pullback, pushforward
from s2sad.rules.padding import padded_back

PADDED = {"reflect": "symmetric", "mirror": "reflect", "nearest": "edge", "wrap": "wrap"}


def filter_back(out_bar, image, weights, axis, mode, origin):
    """Return the cotangent of an image that was correlated with weights along one axis."""
    size = np.size(weights)
    before = size // 2 + origin
    widths = [(0, 0)] * image.ndim
    widths[axis] = (before, size - 1 - before)
    outside = [(0, 0)] * image.ndim
    outside[axis] = (size - 1, size - 1)
    lines = np.moveaxis(np.pad(out_bar, outside), axis, -1)
    n = image.shape[axis] + size - 1
    weights = np.asarray(weights, out_bar.dtype)
    bar = sum(w * lines[..., size - 1 - k : size - 1 - k + n] for k, w in enumerate(weights))
    bar = np.moveaxis(bar, -1, axis)
    if mode in ("constant", "grid-constant"):
        return padded_back(bar, image, pad_width=widths)
    if mode in ("grid-mirror", "grid-wrap"):
        mode = {"grid-mirror": "reflect", "grid-wrap": "wrap"}[mode]
    return padded_back(bar, image, pad_width=widths, mode=PADDED[mode])


def like_image(input, *rest, **settings):
    """Return a sample like an image, as a filter of the image returns it."""
    return np.zeros_like(input)


@pullback(
    ndimage.correlate1d,
    result=like_image,
    once="with a constant border it is not linear in its arguments",
)
def pull_correlate1d(out_bar, out, input, weights, *, axis=-1, mode="reflect", cval=0.0, origin=0):
    input_bar = filter_back(out_bar, input, weights, axis, mode, origin)
    return input_bar, weights_cotangent(out_bar, input, weights, axis, mode, cval, origin)


def weights_cotangent(out_bar, image, weights, axis, mode, cval, origin):
    """Return the cotangent of the weights: what each of them alone would give."""
    found = []
    for k in range(np.size(weights)):
        alone = np.zeros(np.size(weights))
        alone[k] = 1.0
        found.append(
            np.sum(out_bar * ndimage.correlate1d(image, alone, axis, None, mode, cval, origin))
        )
    return np.array(found)


@pushforward(ndimage.correlate1d)
def push_correlate1d(
    out, input, weights, input_dot, weights_dot, *, axis=-1, mode="reflect", cval=0.0, origin=0
):
    found = np.zeros_like(out)
    if input_dot is not None:
        found = found + ndimage.correlate1d(input_dot, weights, axis, None, mode, 0.0, origin)
    if weights_dot is not None:
        found = found + ndimage.correlate1d(input, weights_dot, axis, None, mode, cval, origin)
    return found


@pullback(
    ndimage.convolve1d,
    result=like_image,
    once="with a constant border it is not linear in its arguments",
)
def pull_convolve1d(out_bar, out, input, weights, *, axis=-1, mode="reflect", cval=0.0, origin=0):
    turned, origin = weights[::-1], convolved_origin(np.size(weights), origin)
    input_bar = filter_back(out_bar, input, turned, axis, mode, origin)
    weights_bar = weights_cotangent(out_bar, input, turned, axis, mode, cval, origin)
    return input_bar, weights_bar[::-1]


def convolved_origin(size, origin):
    """Return the origin of the correlation that a convolution is."""
    return -origin - 1 if size % 2 == 0 else -origin


@pushforward(ndimage.convolve1d)
def push_convolve1d(
    out, input, weights, input_dot, weights_dot, *, axis=-1, mode="reflect", cval=0.0, origin=0
):
    found = np.zeros_like(out)
    if input_dot is not None:
        found = found + ndimage.convolve1d(input_dot, weights, axis, None, mode, 0.0, origin)
    if weights_dot is not None:
        found = found + ndimage.convolve1d(input, weights_dot, axis, None, mode, cval, origin)
    return found


@pullback(ndimage.gaussian_filter1d, result=like_image, linear=True)
def pull_gaussian_filter1d(
    out_bar,
    out,
    input,
    *,
    sigma=None,
    axis=-1,
    order=0,
    mode="reflect",
    cval=0.0,
    truncate=4.0,
    radius=None,
):
    weights = gaussian_weights(sigma, order, truncate, radius)
    return filter_back(out_bar, input, weights, axis, mode, 0)


def gaussian_weights(sigma, order, truncate, radius):
    """Return the weights of a Gaussian filter, found from its answer to a single one."""
    width = int(truncate * float(sigma) + 0.5) if radius is None else radius
    line = np.zeros(2 * width + 1)
    line[width] = 1.0
    settings = {"mode": "constant", "truncate": truncate, "radius": radius}
    return ndimage.gaussian_filter1d(line, sigma, order=order, **settings)[::-1]


@pushforward(ndimage.gaussian_filter1d)
def push_gaussian_filter1d(
    out,
    input,
    input_dot,
    *,
    sigma=None,
    axis=-1,
    order=0,
    mode="reflect",
    cval=0.0,
    truncate=4.0,
    radius=None,
):
    settings = {"mode": mode, "truncate": truncate, "radius": radius}
    return ndimage.gaussian_filter1d(input_dot, sigma, axis, order, **settings)


@pullback(
    ndimage.gaussian_filter,
    result=like_image,
    linear=True,
    once="s2sad does not know modes in a list",
)
def pull_gaussian_filter(
    out_bar, out, input, *, sigma=None, order=0, mode="reflect", cval=0.0, truncate=4.0
):
    for axis in range(input.ndim):
        width = sigma if np.ndim(sigma) == 0 else sigma[axis]
        degree = order if np.ndim(order) == 0 else order[axis]
        border = mode if isinstance(mode, str) else mode[axis]
        if width <= 1e-15:  # SciPy leaves such an axis as it is
            continue
        weights = gaussian_weights(width, degree, truncate, None)
        out_bar = filter_back(out_bar, input, weights, axis, border, 0)
    return out_bar


@pushforward(ndimage.gaussian_filter)
def push_gaussian_filter(
    out, input, input_dot, *, sigma=None, order=0, mode="reflect", cval=0.0, truncate=4.0
):
    return ndimage.gaussian_filter(input_dot, sigma, order, mode=mode, truncate=truncate)


@pullback(ndimage.uniform_filter1d, result=like_image, linear=True)
def pull_uniform_filter1d(
    out_bar, out, input, *, size=None, axis=-1, mode="reflect", cval=0.0, origin=0
):
    return filter_back(out_bar, input, np.full(size, 1.0 / size), axis, mode, origin)


@pushforward(ndimage.uniform_filter1d)
def push_uniform_filter1d(
    out, input, input_dot, *, size=None, axis=-1, mode="reflect", cval=0.0, origin=0
):
    return ndimage.uniform_filter1d(input_dot, size, axis, None, mode, 0.0, origin)


def corner_weights(coordinates, shape):
    """Give for every corner of the grid's cells its place, its factors and their slopes."""
    low = np.floor(coordinates).astype(int)
    part = coordinates - low
    for corner in np.ndindex(*(2,) * len(shape)):
        step = np.reshape(np.array(corner), (-1,) + (1,) * (low.ndim - 1))
        limit = np.reshape(np.array(shape) - 1, step.shape)
        place = np.clip(low + step, 0, limit)
        factors = np.where(step == 1, part, 1.0 - part)
        slopes = np.where(step == 1, 1.0, -1.0)
        yield tuple(place), factors, slopes


def linear_cotangents(out_bar, image, coordinates, mode):
    """Return the cotangents of an image and of the places where it is interpolated linearly.

    Outside the image there is a constant, or its nearest edge.
    """
    limit = np.reshape(np.array(image.shape) - 1, (-1,) + (1,) * (coordinates.ndim - 1))
    inside = (coordinates >= 0) & (coordinates <= limit)
    if mode == "constant":
        out_bar = out_bar * np.all(inside, axis=0)
    image_bar = np.zeros(image.shape, out_bar.dtype)
    coordinates_bar = np.zeros(coordinates.shape, out_bar.dtype)
    for place, factors, slopes in corner_weights(coordinates, image.shape):
        np.add.at(image_bar, place, out_bar * np.prod(factors, axis=0))
        for k in range(len(place)):
            others = np.prod(np.delete(factors, k, axis=0), axis=0)
            coordinates_bar[k] += out_bar * image[place] * slopes[k] * others
    return image_bar, coordinates_bar * inside


# what SciPy pads an image by that goes on with its edges
PADDING = 12
SHORT = 40


def mirrored(places, length):
    """Return places on an axis that is mirrored at its ends, and whether they run backwards."""
    period = max(2 * (length - 1), 1)
    places = np.mod(places, period)
    return np.where(places > length - 1, period - places, places), places > length - 1


def reflected(places, length):
    """Return places on an axis whose ends are repeated, and whether they run backwards."""
    moved = np.mod(places + 0.5, 2 * length)
    return np.where(moved > length, 2 * length - moved, moved) - 0.5, moved > length


def folded(places, length, mode):
    """Return places as a mode folds them into an axis, and whether they run backwards."""
    if mode in ("grid-wrap", "nearest"):
        moved = np.mod(places, length) if mode == "grid-wrap" else np.clip(places, 0, length - 1)
        return moved, np.zeros(places.shape, bool)
    return (reflected if mode == "reflect" else mirrored)(places, length)


def moved_in(coordinates, shape, mode):
    """Return coordinates as a mode moves them into an image, and how they move there."""
    if mode in ("constant", "nearest"):
        return coordinates, np.ones_like(coordinates)
    pairs = [folded(x, n, mode) for x, n in zip(coordinates, shape, strict=True)]
    turned = np.stack([np.where(back, -1.0, 1.0) for _, back in pairs])
    return np.stack([x for x, _ in pairs]), turned


def bump(x, order):
    """Return the B-spline around zero with knots one apart, and its slope, by truncated powers."""
    x = 1.0 * x
    value, slope = np.zeros_like(x), np.zeros_like(x)
    if order == 0:
        return value + 1.0, slope
    for k in range(order + 2):
        right = np.maximum(x + (0.5 * (order + 1) - k), 0.0)
        weight = (-1) ** k * math.comb(order + 1, k) / math.factorial(order)
        value += weight * right**order
        slope += weight * order * right ** (order - 1) * (right > 0.0)
    inside = np.abs(x) < 0.5 * (order + 1)
    return value * inside, slope * inside


def spline_weights(coordinates, shape, order, mode):
    """Give for all the coefficients around places where they are, their factors and slopes."""
    coordinates, turned = moved_in(coordinates, shape, mode)
    first = np.floor(coordinates + 0.5 * (1 - order % 2)).astype(int) - order // 2
    for corner in np.ndindex(*(order + 1,) * len(shape)):
        nodes = first + np.reshape(np.array(corner), (-1,) + (1,) * (first.ndim - 1))
        pairs = zip(nodes, shape, strict=True)
        place = tuple(folded(x, n, mode)[0].astype(int) for x, n in pairs)
        factors, slopes = bump(coordinates - nodes, order)
        yield place, factors, turned * slopes


def held_by(image, order, mode, filtered):
    """Return the coefficients of the splines through an image, and how far it is padded for them.

    After Unser, "Splines: a perfect fit for signal and image processing", 1999.
    """
    if not filtered:
        return image, 0
    pad = PADDING if mode == "nearest" else 0
    return ndimage.spline_filter(np.pad(image, pad, "edge"), order, mode=mode), pad


def reflected_back(bar, order, axis):
    """Return what goes into the filter along an axis whose ends are repeated."""
    size = bar.shape[axis]
    if size >= SHORT:
        return ndimage.spline_filter1d(bar, order, axis, mode="reflect")
    matrix = ndimage.spline_filter1d(np.eye(size), order, 0, mode="reflect")
    return np.moveaxis(np.tensordot(matrix, bar, (0, axis)), 0, axis)


def image_cotangent(held_bar, image, order, mode, filtered, pad):
    """Return the cotangent of an image from the cotangent of its spline coefficients.

    The filter that makes them is its own transpose, but for ends that are mirrored once, not twice.
    On short axes SciPy's filter is only nearly so where ends are repeated: there it is a matrix.
    """
    if not filtered:
        return held_bar
    if mode == "reflect":
        for axis in range(held_bar.ndim):
            held_bar = reflected_back(held_bar, order, axis)
        return held_bar
    factor = 2.0 if mode in ("mirror", "constant") else 1.0
    whole = ndimage.spline_filter(ends(held_bar, factor), order, mode=mode)
    return padded_back(ends(whole, 1.0 / factor), image, pad_width=pad, mode="edge")


def spline_cotangents(out_bar, image, coordinates, order, mode, prefilter):
    """Return the cotangents of an image and of the places where splines go through it."""
    if mode not in ("constant", "grid-wrap", "mirror", "nearest", "reflect"):
        raise NotImplementedError(
            "map_coordinates has a derivative with mode constant, grid-wrap, mirror, nearest "
            "and reflect"
        )
    if mode == "constant":
        limit = np.reshape(np.array(image.shape) - 1, (-1,) + (1,) * (coordinates.ndim - 1))
        out_bar = out_bar * np.all((coordinates >= 0) & (coordinates <= limit), axis=0)
    filtered = prefilter and order > 1
    held, pad = held_by(image, order, mode, filtered)
    held_bar = np.zeros(held.shape, out_bar.dtype)
    coordinates_bar = np.zeros(coordinates.shape, out_bar.dtype)
    for place, factors, slopes in spline_weights(coordinates + pad, held.shape, order, mode):
        np.add.at(held_bar, place, out_bar * np.prod(factors, axis=0))
        for k in range(len(place)):
            others = np.prod(np.delete(factors, k, axis=0), axis=0)
            coordinates_bar[k] += out_bar * held[place] * slopes[k] * others
    image_bar = image_cotangent(held_bar, image, order, mode, filtered, pad)
    return image_bar.astype(out_bar.dtype), coordinates_bar


def ends(x, factor):
    """Return x with its first and last numbers along every axis multiplied."""
    x = np.array(x)
    for axis, n in enumerate(x.shape):
        if n > 1:
            np.moveaxis(x, axis, 0)[[0, -1]] *= factor
    return x


def at_places(input, coordinates, **settings):
    """Return what has the shape of the places and the dtype of an image."""
    return np.zeros(np.shape(coordinates)[1:], input.dtype)


@pullback(
    ndimage.map_coordinates,
    masks=True,
    result=at_places,
    once="the places are gathered in place",
)
def pull_map_coordinates(
    out_bar, out, input, coordinates, *, order=3, mode="constant", cval=0.0, prefilter=True
):
    if order == 1 and mode in ("nearest", "constant"):
        return linear_cotangents(out_bar, input, coordinates, mode)
    return spline_cotangents(out_bar, input, coordinates, order, mode, prefilter)


@pushforward(ndimage.map_coordinates)
def push_map_coordinates(
    out,
    input,
    coordinates,
    input_dot,
    coordinates_dot,
    *,
    order=3,
    mode="constant",
    cval=0.0,
    prefilter=True,
):
    settings = {"order": order, "mode": mode, "prefilter": prefilter}
    found = np.zeros_like(out)
    if input_dot is not None:
        found = found + ndimage.map_coordinates(input_dot, coordinates, **settings)
    if coordinates_dot is not None:
        one = np.ones_like(out)
        _, slopes = pull_map_coordinates(one, out, input, coordinates, **settings)
        found = found + np.sum(slopes * coordinates_dot, axis=0)
    return found
