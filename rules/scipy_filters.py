"""scipy.ndimage: filters by windows of several axes, and those made of filters along each.

What a window sees is the image padded; whatever is linear goes back through the same window.
"""

import numpy as np
from scipy import ndimage

from s2sad.registry import pullback, pushforward, refuse
from s2sad.rules.padding import padded_back
from s2sad.rules.scipy_ndimage import filter_back, like_image, pull_gaussian_filter

PADDED = {
    "reflect": "symmetric",
    "mirror": "reflect",
    "nearest": "edge",
    "wrap": "wrap",
    "grid-mirror": "symmetric",
    "grid-wrap": "wrap",
}


def pad_settings(mode, cval):
    """Return what np.pad calls a border."""
    if mode in ("constant", "grid-constant"):
        return {"mode": "constant", "constant_values": cval}
    if mode not in PADDED:
        raise NotImplementedError("there is a derivative with one mode for all axes only")
    return {"mode": PADDED[mode]}


def window_widths(shape, origin):
    """Return how far a window reaches out of the image, before and after each axis."""
    origins = [origin] * len(shape) if np.ndim(origin) == 0 else list(origin)
    before = [n // 2 + o for n, o in zip(shape, origins, strict=True)]
    return [(b, n - 1 - b) for b, n in zip(before, shape, strict=True)]


def parts_seen(shape, window):
    """Give for each entry of a window its place, and the part of a padded image that it sees."""
    for place in np.ndindex(*window):
        yield place, tuple(slice(k, k + n) for k, n in zip(place, shape, strict=True))


def correlate_cotangents(out_bar, image, weights, mode, cval, origin):
    """Return the cotangents of an image and of the weights of a correlation."""
    widths, settings = window_widths(weights.shape, origin), pad_settings(mode, cval)
    padded = np.pad(image, widths, **settings)
    padded_bar = np.zeros(padded.shape, out_bar.dtype)
    weights_bar = np.zeros(weights.shape, out_bar.dtype)
    for place, part in parts_seen(image.shape, weights.shape):
        padded_bar[part] += weights[place] * out_bar
        weights_bar[place] = np.sum(out_bar * padded[part])
    return padded_back(padded_bar, image, pad_width=widths, mode=settings["mode"]), weights_bar


@pullback(
    ndimage.correlate,
    result=like_image,
    once="with a constant border it is not linear in its arguments",
)
def pull_correlate(out_bar, out, input, weights, *, mode="reflect", cval=0.0, origin=0):
    return correlate_cotangents(out_bar, input, weights, mode, cval, origin)


@pushforward(ndimage.correlate)
def push_correlate(
    out, input, weights, input_dot, weights_dot, *, mode="reflect", cval=0.0, origin=0
):
    found = np.zeros_like(out)
    if input_dot is not None:
        found = found + ndimage.correlate(input_dot, weights, None, mode, 0.0, origin)
    if weights_dot is not None:
        found = found + ndimage.correlate(input, weights_dot, None, mode, cval, origin)
    return found


def turned_origins(shape, origin):
    """Return the origins of the correlation, by weights turned around, that a convolution is."""
    origins = [origin] * len(shape) if np.ndim(origin) == 0 else list(origin)
    return [-o - 1 if n % 2 == 0 else -o for n, o in zip(shape, origins, strict=True)]


@pullback(
    ndimage.convolve,
    result=like_image,
    once="with a constant border it is not linear in its arguments",
)
def pull_convolve(out_bar, out, input, weights, *, mode="reflect", cval=0.0, origin=0):
    origins = turned_origins(weights.shape, origin)
    turned = np.flip(weights)
    input_bar, turned_bar = correlate_cotangents(out_bar, input, turned, mode, cval, origins)
    return input_bar, np.flip(turned_bar)


@pushforward(ndimage.convolve)
def push_convolve(
    out, input, weights, input_dot, weights_dot, *, mode="reflect", cval=0.0, origin=0
):
    found = np.zeros_like(out)
    if input_dot is not None:
        found = found + ndimage.convolve(input_dot, weights, None, mode, 0.0, origin)
    if weights_dot is not None:
        found = found + ndimage.convolve(input, weights_dot, None, mode, cval, origin)
    return found


# filters along each axis


def per_axis(value, axis):
    """Return the setting of one axis."""
    return value if isinstance(value, str) or np.ndim(value) == 0 else value[axis]


def check_axes(image):
    """Refuse 0-d images, which have no slope."""
    if image.ndim == 0:
        raise NotImplementedError("there is a derivative of images that have axes only")


@pullback(
    ndimage.uniform_filter,
    result=like_image,
    linear=True,
    once="s2sad does not know modes in a list",
)
def pull_uniform_filter(out_bar, out, input, *, size=3, mode="reflect", cval=0.0, origin=0):
    for axis in range(input.ndim):
        width = int(per_axis(size, axis))
        if width > 1:
            weights = np.full(width, 1.0 / width)
            border, place = per_axis(mode, axis), per_axis(origin, axis)
            out_bar = filter_back(out_bar, input, weights, axis, border, place)
    return out_bar


@pushforward(ndimage.uniform_filter)
def push_uniform_filter(out, input, input_dot, *, size=3, mode="reflect", cval=0.0, origin=0):
    return ndimage.uniform_filter(input_dot, size, None, mode, 0.0, origin)


def slope_back(out_bar, image, across, axis, mode):
    """Return the cotangent of an image from the cotangent of a slope of it, with means across."""
    for k in range(image.ndim):
        weights = (-1, 0, 1) if k == axis % image.ndim else across
        out_bar = filter_back(out_bar, image, weights, k, per_axis(mode, k), 0)
    return out_bar


@pullback(ndimage.sobel, result=like_image, linear=True, once="s2sad does not know modes in a list")
def pull_sobel(out_bar, out, input, *, axis=-1, mode="reflect", cval=0.0):
    return slope_back(out_bar, input, (1, 2, 1), axis, mode)


@pushforward(ndimage.sobel)
def push_sobel(out, input, input_dot, *, axis=-1, mode="reflect", cval=0.0):
    return ndimage.sobel(input_dot, axis, None, mode)


@pullback(
    ndimage.prewitt, result=like_image, linear=True, once="s2sad does not know modes in a list"
)
def pull_prewitt(out_bar, out, input, *, axis=-1, mode="reflect", cval=0.0):
    return slope_back(out_bar, input, (1, 1, 1), axis, mode)


@pushforward(ndimage.prewitt)
def push_prewitt(out, input, input_dot, *, axis=-1, mode="reflect", cval=0.0):
    return ndimage.prewitt(input_dot, axis, None, mode)


@pullback(
    ndimage.laplace, result=like_image, linear=True, once="s2sad does not know modes in a list"
)
def pull_laplace(out_bar, out, input, *, mode="reflect", cval=0.0):
    check_axes(input)
    return sum(
        filter_back(out_bar, input, (1, -2, 1), k, per_axis(mode, k), 0) for k in range(input.ndim)
    )


@pushforward(ndimage.laplace)
def push_laplace(out, input, input_dot, *, mode="reflect", cval=0.0):
    return ndimage.laplace(input_dot, None, mode)


def order_along(axis, order, ndim):
    """Return the orders of a derivative along one axis."""
    return [order if k == axis else 0 for k in range(ndim)]


@pullback(
    ndimage.gaussian_laplace,
    result=like_image,
    linear=True,
    once="s2sad does not know modes in a list",
)
def pull_gaussian_laplace(
    out_bar, out, input, *, sigma=None, mode="reflect", cval=0.0, truncate=4.0
):
    check_axes(input)
    found = np.zeros_like(out_bar)
    for axis in range(input.ndim):
        order, border = order_along(axis, 2, input.ndim), per_axis(mode, axis)
        settings = {"sigma": sigma, "order": order, "mode": border, "truncate": truncate}
        found += pull_gaussian_filter(out_bar, out, input, **settings)
    return found


@pushforward(ndimage.gaussian_laplace)
def push_gaussian_laplace(
    out, input, input_dot, *, sigma=None, mode="reflect", cval=0.0, truncate=4.0
):
    return ndimage.gaussian_laplace(input_dot, sigma, None, mode, truncate=truncate)


@pullback(
    ndimage.gaussian_gradient_magnitude,
    result=like_image,
    once="s2sad does not know modes in a list, and it is a norm of filters",
)
def pull_gaussian_gradient_magnitude(
    out_bar, out, input, *, sigma=None, mode="reflect", cval=0.0, truncate=4.0
):
    """Zero where the gradient is."""
    check_axes(input)
    found, height = np.zeros_like(out_bar), np.where(out == 0, 1, out)
    for axis in range(input.ndim):
        order, border = order_along(axis, 1, input.ndim), per_axis(mode, axis)
        settings = {"order": order, "mode": border, "truncate": truncate}
        slope = ndimage.gaussian_filter(input, sigma, cval=cval, **settings)
        found += pull_gaussian_filter(out_bar * slope / height, out, input, sigma=sigma, **settings)
    return found


@pushforward(ndimage.gaussian_gradient_magnitude)
def push_gaussian_gradient_magnitude(
    out, input, input_dot, *, sigma=None, mode="reflect", cval=0.0, truncate=4.0
):
    check_axes(input)
    found = np.zeros_like(out)
    for axis in range(input.ndim):
        order, border = order_along(axis, 1, input.ndim), per_axis(mode, axis)
        settings = {"order": order, "mode": border, "truncate": truncate}
        slope = ndimage.gaussian_filter(input, sigma, cval=cval, **settings)
        found += slope * ndimage.gaussian_filter(input_dot, sigma, **settings)
    return found / np.where(out == 0, 1, out)


# filters by rank


def check_rank_filter(image, size, footprint):
    """Return the shape of a window of ones."""
    if footprint is not None:
        raise NotImplementedError("a filter by rank has a derivative by size= only")
    if np.iscomplexobj(image):
        raise NotImplementedError("a filter by rank has a derivative for real images only")
    return (int(size),) * image.ndim if np.ndim(size) == 0 else tuple(int(n) for n in size)


def neighbours(image, window, mode, cval, origin):
    """Return what each window sees, along a first axis, and where in the image that lies.

    What lies in none has the place after the last one.
    """
    widths, settings = window_widths(window, origin), pad_settings(mode, cval)
    padded = np.pad(image, widths, **settings)
    places = np.reshape(np.arange(image.size), image.shape)
    settings = settings | ({"constant_values": image.size} if "constant_values" in settings else {})
    places = np.pad(places, widths, **settings)
    parts = [part for _, part in parts_seen(image.shape, window)]
    return np.stack([padded[p] for p in parts]), np.stack([places[p] for p in parts])


def rank_shares(out, image, size, footprint, mode, cval, origin, ties):
    """Return the share of each neighbour in the result of a rank filter, and its position.

    Equal neighbours share a maximum or minimum; for ranks in between, one neighbour is taken.
    """
    window = check_rank_filter(image, size, footprint)
    values, places = neighbours(image, window, mode, cval, origin)
    chosen = values == out
    if ties:
        return chosen / np.sum(chosen, axis=0, dtype=out.dtype), places
    first = np.argmax(chosen, axis=0)
    column = np.reshape(np.arange(len(values)), (-1,) + (1,) * out.ndim)
    return (column == first).astype(out.dtype), places


def rank_back(out_bar, out, image, size, footprint, mode, cval, origin, ties):
    shares, places = rank_shares(out, image, size, footprint, mode, cval, origin, ties)
    image_bar = np.zeros(image.size + 1, out_bar.dtype)
    np.add.at(image_bar, places, shares * out_bar)
    return np.reshape(image_bar[:-1], image.shape)


def rank_forward(out, image, image_dot, size, footprint, mode, cval, origin, ties):
    shares, places = rank_shares(out, image, size, footprint, mode, cval, origin, ties)
    return np.sum(shares * np.append(image_dot, np.zeros(1, out.dtype))[places], axis=0)


@pullback(
    ndimage.maximum_filter, ndimage.minimum_filter, result=like_image, masks=True, linear=True
)
def pull_extreme_filter(
    out_bar, out, input, *, size=None, footprint=None, mode="reflect", cval=0.0, origin=0
):
    return rank_back(out_bar, out, input, size, footprint, mode, cval, origin, True)


@pushforward(ndimage.maximum_filter, ndimage.minimum_filter)
def push_extreme_filter(
    out, input, input_dot, *, size=None, footprint=None, mode="reflect", cval=0.0, origin=0
):
    return rank_forward(out, input, input_dot, size, footprint, mode, cval, origin, True)


@pullback(ndimage.median_filter, result=like_image, masks=True, linear=True)
def pull_median_filter(
    out_bar, out, input, *, size=None, footprint=None, mode="reflect", cval=0.0, origin=0
):
    return rank_back(out_bar, out, input, size, footprint, mode, cval, origin, False)


@pushforward(ndimage.median_filter)
def push_median_filter(
    out, input, input_dot, *, size=None, footprint=None, mode="reflect", cval=0.0, origin=0
):
    return rank_forward(out, input, input_dot, size, footprint, mode, cval, origin, False)


@pullback(ndimage.percentile_filter, result=like_image, masks=True, linear=True)
def pull_percentile_filter(
    out_bar,
    out,
    input,
    *,
    percentile=None,
    size=None,
    footprint=None,
    mode="reflect",
    cval=0.0,
    origin=0,
):
    return rank_back(out_bar, out, input, size, footprint, mode, cval, origin, False)


@pushforward(ndimage.percentile_filter)
def push_percentile_filter(
    out,
    input,
    input_dot,
    *,
    percentile=None,
    size=None,
    footprint=None,
    mode="reflect",
    cval=0.0,
    origin=0,
):
    return rank_forward(out, input, input_dot, size, footprint, mode, cval, origin, False)


CONST = "Make its inputs Const, or compute its result outside the function."
refuse(
    ndimage,
    "binary_closing binary_dilation binary_erosion binary_fill_holes binary_hit_or_miss "
    "binary_opening binary_propagation distance_transform_bf distance_transform_cdt "
    "distance_transform_edt find_objects generate_binary_structure histogram iterate_structure "
    "label maximum_position minimum_position value_indices watershed_ift",
    because="it counts, labels, or finds places",
    instead=CONST,
)
refuse(
    ndimage,
    "black_tophat grey_closing grey_dilation grey_erosion grey_opening morphological_gradient "
    "morphological_laplace white_tophat maximum_filter1d minimum_filter1d rank_filter",
    because="s2sad has no rule for it",
    instead="Use maximum_filter and minimum_filter.",
)
refuse(
    ndimage,
    "generic_filter generic_filter1d generic_gradient_magnitude generic_laplace "
    "geometric_transform labeled_comprehension vectorized_filter",
    because="it calls a function of yours",
    instead="Call the function on np.lib.stride_tricks.sliding_window_view.",
)
refuse(
    ndimage,
    "fourier_ellipsoid fourier_gaussian fourier_shift fourier_uniform extrema median "
    "standard_deviation spline_filter spline_filter1d",
    because="s2sad has no rule for it",
    instead="Use functions of np.fft and NumPy, or variance, maximum and minimum of labels.",
)
