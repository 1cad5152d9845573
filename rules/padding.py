"""np.pad: the derivative cuts the padding off and adds its cotangents to its sources."""

import numpy as np

from s2sad.registry import pullback, pushforward
from s2sad.runtime import unbroadcast

COPIES = ("edge", "reflect", "symmetric", "wrap")
STATISTICS = ("mean", "median", "maximum", "minimum")


def pad_widths(pad_width, ndim):
    """Return the widths before and after each axis."""
    if isinstance(pad_width, dict):
        pad_width = [pad_width.get(k, pad_width.get(k - ndim, 0)) for k in range(ndim)]
        pad_width = [(width, width) if np.ndim(width) == 0 else width for width in pad_width]
    return np.broadcast_to(np.array(pad_width), (ndim, 2)).tolist()


def unpad_index(pad_width, shape):
    """Return the index of what was there before the padding."""
    widths = pad_widths(pad_width, len(shape))
    return tuple(slice(before, before + n) for (before, _), n in zip(widths, shape, strict=True))


@pullback(np.pad, linear=True, once="the widths are an array")
def pull_pad(
    out_bar,
    out,
    array,
    constant_values=None,
    *,
    pad_width=None,
    mode="constant",
    end_values=0,
    stat_length=None,
    reflect_type="even",
):
    values_bar = None
    if constant_values is not None:
        values_bar = filled_back(out_bar, pad_width, array.shape, np.shape(constant_values))
    if mode in ("constant", "empty"):
        return out_bar[unpad_index(pad_width, array.shape)], values_bar
    array_bar = unpad(out_bar, array, pad_width, mode, end_values, stat_length, reflect_type)
    return array_bar, None


def padded_back(out_bar, array, *, pad_width, mode="constant", **settings):
    """Return the cotangent of an array that was padded, with numbers or with its own content."""
    return pull_pad(out_bar, None, array, pad_width=pad_width, mode=mode, **settings)[0]


def filled_back(out_bar, pad_width, shape, values_shape):
    """Return the cotangent of the numbers before and after each axis; a corner is the last's."""
    inner = unpad_index(pad_width, shape)
    bars = np.zeros((len(shape), 2), out_bar.dtype)
    for axis, part in enumerate(inner):
        rest = np.moveaxis(out_bar[(slice(None),) * (axis + 1) + inner[axis + 1 :]], axis, 0)
        bars[axis, 0] = np.sum(rest[: part.start])
        bars[axis, 1] = np.sum(rest[part.stop :])
    return unbroadcast(bars, values_shape)


def unpad(out_bar, array, pad_width, mode, end_values, stat_length, reflect_type):
    """Return the cotangent of an array that was padded with its own content, axis by axis."""
    check_mode(mode)
    if mode in ("reflect", "symmetric") and reflect_type == "odd":
        return unpad_odd(out_bar, array, pad_widths(pad_width, array.ndim), mode)
    if mode in COPIES:
        places = np.pad(np.arange(array.size).reshape(array.shape), pad_width, mode)
        array_bar = np.zeros(array.size, out_bar.dtype)
        np.add.at(array_bar, places, out_bar)
        return np.reshape(array_bar, array.shape)
    widths, lengths = pad_widths(pad_width, array.ndim), stat_lengths(stat_length, array.shape)
    stages = [array]
    for axis in range(array.ndim - 1):
        stages.append(padded(stages[-1], widths[axis], axis, mode, end_values, lengths[axis]))
    for axis in reversed(range(array.ndim)):
        x, bar = np.moveaxis(stages[axis], axis, 0), np.moveaxis(out_bar, axis, 0)
        out_bar = np.moveaxis(unpad_axis(bar, x, widths[axis], mode, lengths[axis]), 0, axis)
    return out_bar


def check_mode(mode):
    """Refuse the modes without derivative here."""
    if mode not in (*COPIES, *STATISTICS, "linear_ramp"):
        raise NotImplementedError(f"pad has no derivative with mode={mode!r}")


def unpad_odd(out_bar, array, widths, mode):
    """Return the cotangent of an array with its mirror images turned about its edges."""
    for axis in reversed(range(array.ndim)):
        bar, n = np.moveaxis(out_bar, axis, 0), array.shape[axis]
        first, (before, after) = 1 * (mode == "reflect"), widths[axis]
        if max(before, after) > n - first:
            raise NotImplementedError("pad has a derivative of one odd reflection at each end only")
        left, x_bar = bar[:before], bar[before : before + n].copy()
        right = bar[before + n :]
        x_bar[first : first + before] -= left[::-1]
        x_bar[n - first - after : n - first] -= right[::-1]
        x_bar[0] += 2.0 * np.sum(left, axis=0)
        x_bar[-1] += 2.0 * np.sum(right, axis=0)
        out_bar = np.moveaxis(x_bar, 0, axis)
    return out_bar


def stat_lengths(stat_length, shape):
    """Return how many entries before and after each axis a statistic is taken of."""
    if stat_length is None:
        return [[n, n] for n in shape]
    lengths = np.broadcast_to(np.array(stat_length), (len(shape), 2)).tolist()
    return [[min(length, n) for length in pair] for pair, n in zip(lengths, shape, strict=True)]


def padded(x, width, axis, mode, end_values, length):
    """Return an array padded along one axis."""
    widths = [(0, 0)] * x.ndim
    widths[axis] = tuple(width)
    if mode == "linear_ramp":
        ends = np.broadcast_to(np.array(end_values), (x.ndim, 2)).tolist()
        return np.pad(x, widths, mode, end_values=[tuple(pair) for pair in ends])
    return np.pad(x, widths, mode, stat_length=[tuple(length)] * x.ndim)


def unpad_axis(bar, x, width, mode, length):
    """Return the cotangent of what was padded along the first axis."""
    n = x.shape[0]
    x_bar = bar[width[0] : width[0] + n].copy()
    left, right = bar[: width[0]], bar[width[0] + n :]
    if mode == "linear_ramp":
        rising, falling = ramp(width[0]), ramp(width[1])[::-1]
        x_bar[0] += np.tensordot(rising.astype(bar.dtype), left, 1)
        x_bar[-1] += np.tensordot(falling.astype(bar.dtype), right, 1)
        return x_bar
    if width[0]:
        x_bar[: length[0]] += shares(x[: length[0]], mode) * np.sum(left, axis=0)
    if width[1]:
        x_bar[n - length[1] :] += shares(x[n - length[1] :], mode) * np.sum(right, axis=0)
    return x_bar


def ramp(width):
    """Return how much of the edge is in each entry that leads to it."""
    return np.arange(width) / max(width, 1)


def shares(x, mode):
    """Return how much each entry has in a statistic of the first axis."""
    if mode == "mean":
        return np.ones_like(x) / x.shape[0]
    if mode == "median":
        n = x.shape[0]
        rank = np.argsort(np.argsort(x, 0, kind="stable"), 0, kind="stable")
        middle = (rank == (n - 1) // 2).astype(x.dtype) + (rank == n // 2)
        return (0.5 * middle).astype(x.dtype)
    chosen = x == (np.max(x, axis=0) if mode == "maximum" else np.min(x, axis=0))
    return chosen / np.sum(chosen, axis=0, dtype=x.dtype)


@pushforward(np.pad)
def push_pad(
    out,
    array,
    constant_values,
    array_dot,
    constant_values_dot,
    *,
    pad_width=None,
    mode="constant",
    end_values=0,
    stat_length=None,
    reflect_type="even",
):
    if array_dot is None:
        array_dot = np.zeros_like(array)
    if mode in ("constant", "empty"):
        if constant_values_dot is None:
            return np.pad(array_dot, pad_width)
        return np.pad(array_dot, pad_width, constant_values=constant_values_dot)
    check_mode(mode)
    if mode in COPIES:
        settings = {"reflect_type": reflect_type} if mode in ("reflect", "symmetric") else {}
        return np.pad(array_dot, pad_width, mode, **settings)
    if mode == "linear_ramp":
        return np.pad(array_dot, pad_width, mode)
    widths, lengths = pad_widths(pad_width, array.ndim), stat_lengths(stat_length, array.shape)
    for axis in range(array.ndim):
        x, x_dot = np.moveaxis(array, axis, 0), np.moveaxis(array_dot, axis, 0)
        (before, after), (head, tail) = widths[axis], lengths[axis]
        first = np.sum(shares(x[:head], mode) * x_dot[:head], axis=0)
        last = np.sum(shares(x[-tail:], mode) * x_dot[-tail:], axis=0)
        moved = np.concatenate([first[None]] * before + [x_dot] + [last[None]] * after)
        array = padded(array, widths[axis], axis, mode, end_values, lengths[axis])
        array_dot = np.moveaxis(moved, 0, axis)
    return array_dot
