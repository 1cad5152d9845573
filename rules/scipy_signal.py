"""scipy.signal: convolutions and filters, which are linear in their signal."""

import numpy as np
from scipy import signal

from s2sad.registry import pullback, pushforward
from s2sad.runtime import unbroadcast


def check_signal_mode(mode):
    """Refuse a word that is not a mode of a convolution."""
    if mode not in ("full", "same", "valid"):
        raise NotImplementedError("a convolution has a derivative for mode full, same or valid")


def whole_cotangent(out_bar, one, other, mode, axes=None):
    """Return the cotangent of the full convolution; a mode keeps only its middle."""
    check_signal_mode(mode)
    if mode == "full":
        return out_bar
    widths = []
    for axis, k in enumerate(out_bar.shape):
        n, m = one.shape[axis], other.shape[axis]
        whole = n + m - 1 if axes is None or axis in axes else max(n, m)
        before = (whole - k) // 2 if mode == "same" else min(min(n, m) - 1, whole - k)
        widths.append((before, whole - k - before))
    return np.pad(out_bar, widths)


def from_zero(axes, ndim):
    """Return axes counted from the front; None for all of them."""
    if axes is None:
        return None
    listed = axes if isinstance(axes, list | tuple) else (axes,)
    return tuple(int(axis) % ndim for axis in listed)


def like_result_of(convolve):
    """Return what makes something like the result of a convolution, also of a mode not known."""

    def like(in1, in2, mode="full", *rest, **settings):
        if mode:
            return convolve(in1, in2, mode, *rest, **settings)
        lengths = [3 * n + 5 * m + 7 for n, m in zip(in1.shape, in2.shape, strict=True)]
        return np.zeros(lengths, np.result_type(in1, in2))

    return like


@pullback(signal.convolve, masks=True, result=like_result_of(signal.convolve))
def pull_convolve(out_bar, out, in1, in2, *, mode="full", method="auto"):
    whole = whole_cotangent(out_bar, in1, in2, mode)
    in1_bar = signal.convolve(whole, np.flip(in2), "valid", method)
    in2_bar = signal.convolve(whole, np.flip(in1), "valid", method)
    return in1_bar, in2_bar


@pushforward(signal.convolve)
def push_convolve(out, in1, in2, in1_dot, in2_dot, *, mode="full", method="auto"):
    if in1_dot is None:
        return signal.convolve(in1, in2_dot, mode, method)
    if in2_dot is None:
        return signal.convolve(in1_dot, in2, mode, method)
    left, right = signal.convolve(in1_dot, in2, mode, method), signal.convolve(in1, in2_dot, mode)
    return left + right


@pullback(signal.oaconvolve, masks=True, result=like_result_of(signal.oaconvolve))
@pullback(signal.fftconvolve, masks=True, result=like_result_of(signal.fftconvolve))
def pull_fftconvolve(out_bar, out, in1, in2, *, mode="full", axes=None):
    over = from_zero(axes, out_bar.ndim)
    whole = whole_cotangent(out_bar, in1, in2, mode, over)
    in1_bar = signal.fftconvolve(whole, np.flip(in2, over), "valid", over)
    in2_bar = signal.fftconvolve(whole, np.flip(in1, over), "valid", over)
    return unbroadcast(in1_bar, in1.shape), unbroadcast(in2_bar, in2.shape)


@pushforward(signal.fftconvolve, signal.oaconvolve)
def push_fftconvolve(out, in1, in2, in1_dot, in2_dot, *, mode="full", axes=None):
    if in1_dot is None:
        return signal.fftconvolve(in1, in2_dot, mode, axes)
    if in2_dot is None:
        return signal.fftconvolve(in1_dot, in2, mode, axes)
    return signal.fftconvolve(in1_dot, in2, mode, axes) + signal.fftconvolve(
        in1, in2_dot, mode, axes
    )


@pullback(signal.correlate, masks=True, result=like_result_of(signal.correlate))
def pull_correlate(out_bar, out, in1, in2, *, mode="full", method="auto"):
    """A correlation is the convolution with the conjugate of in2 turned around."""
    turned = np.conj(np.flip(in2))
    whole = whole_cotangent(out_bar, in1, turned, mode)
    turned_bar = signal.convolve(whole, np.flip(in1), "valid", method)
    return signal.convolve(whole, np.conj(in2), "valid", method), np.conj(np.flip(turned_bar))


@pushforward(signal.correlate)
def push_correlate(out, in1, in2, in1_dot, in2_dot, *, mode="full", method="auto"):
    if in1_dot is None:
        return signal.correlate(in1, in2_dot, mode, method)
    if in2_dot is None:
        return signal.correlate(in1_dot, in2, mode, method)
    left = signal.correlate(in1_dot, in2, mode, method)
    return left + signal.correlate(in1, in2_dot, mode, method)


def like_filtered(b, a, x, axis=-1, zi=None):
    """Return what has the shape of a filtered signal and its dtype, and of the last state."""
    y = x * (np.ravel(b)[0] * np.ravel(a)[0])
    return y if zi is None else (y, zi * y.dtype.type(1.0))


@pullback(signal.lfilter, result=like_filtered)
def pull_lfilter(out_bar, out, b, a, x, zi=None, *, axis=-1):
    """The filter run backwards in time; a[0] divides all coefficients."""
    if zi is not None:
        return pull_from_state(out_bar, out, b, a, x, zi, axis)
    return *pull_silent(out_bar, out, b, a, x, axis), None


def pull_silent(out_bar, out, b, a, x, axis):
    """Return the cotangents of a filter and its signal; where it starts counts by itself."""
    x, bar, y = (np.moveaxis(v, axis, -1) for v in (x, out_bar, out))
    n = x.shape[-1]
    one = np.ones(1, out.dtype)
    state_bar = np.flip(signal.lfilter(one, a, np.flip(bar, -1)), -1)
    x_bar = np.flip(signal.lfilter(b, a, np.flip(bar, -1)), -1)
    b_bar = [np.sum(state_bar[..., k:] * x[..., : n - k]) for k in range(np.size(b))]
    a_bar = [-np.sum(state_bar[..., k:] * y[..., : n - k]) for k in range(np.size(a))]
    return np.array(b_bar), np.array(a_bar), np.moveaxis(x_bar, -1, axis)


def pull_from_state(out_bar, out, b, a, x, zi, axis):
    """Return the cotangents of a filter that starts from a state, and returns its last one."""
    first = np.ravel(a)[0]
    b, a = b / first, a / first
    y_bar = np.zeros_like(out[0]) if out_bar[0] is None else out_bar[0]
    last_bar = np.zeros_like(out[1]) if out_bar[1] is None else out_bar[1]
    x, y, zi, y_bar, last_bar = (np.moveaxis(v, axis, -1) for v in (x, out[0], zi, y_bar, last_bar))
    n, size = x.shape[-1], zi.shape[-1]
    early = np.zeros((*y.shape[:-1], max(n - size, 0)), y.dtype)
    y_bar = y_bar - np.concatenate((early, last_bar @ kept(a, n, size)), axis=-1)
    b_bar, a_bar, x_bar = pull_silent(y_bar, y, b, a, x, -1)
    x_bar = x_bar + np.concatenate((early, last_bar @ kept(b, n, size)), axis=-1)
    b_bar = b_bar + kept_bar(last_bar, x, np.size(b))
    a_bar = a_bar - kept_bar(last_bar, y, np.size(a))
    zi_bar = y_bar @ answers(n, b, a, size) + last_bar @ np.eye(size, k=n)
    zi_bar = unbroadcast(zi_bar, zi.shape)
    dividing = np.eye(1, np.size(a))[0]  # a[0] divides all coefficients
    a_bar = a_bar - dividing * (np.sum(b_bar * b) + np.sum(a_bar * a))
    return b_bar / first, a_bar / first, np.moveaxis(x_bar, -1, axis), np.moveaxis(zi_bar, -1, axis)


def lags(n, size):
    """Return which coefficient the last state has of each of the last values, row by row."""
    last = min(n, size)
    return np.arange(size)[:, None] + np.arange(last, 0, -1)


def kept(coefficients, n, size):
    """Return what the last state keeps of the last of n values."""
    flat = np.ravel(coefficients)
    return np.pad(flat, (0, 2 * size + 1 - flat.size))[lags(n, size)]


def kept_bar(last_bar, values, count):
    """Return the cotangent of a filter's coefficients for what the last state keeps."""
    n, size = values.shape[-1], last_bar.shape[-1]
    last = values[..., n - min(n, size) :]
    pairs = np.reshape(last_bar, (-1, size)).T @ np.reshape(last, (-1, min(n, size)))
    found = np.zeros(2 * size + 1, pairs.dtype)
    np.add.at(found, lags(n, size), pairs)
    return found[:count]


def answers(count, b, a, size):
    """Return what a filter makes of silence where it starts from one state or another."""
    silence = np.zeros(count)
    return np.stack([signal.lfilter(b, a, silence, zi=unit)[0] for unit in np.eye(size)], axis=-1)


@pushforward(signal.lfilter)
def push_lfilter(out, b, a, x, zi, b_dot, a_dot, x_dot, zi_dot, *, axis=-1):
    if zi is None:
        return push_silent(out, b, a, x, b_dot, a_dot, x_dot, axis)
    first = np.ravel(a)[0]
    b, a = b / first, a / first
    if a_dot is not None:  # a[0] divides all coefficients
        b_dot = (0.0 * b if b_dot is None else b_dot) - np.ravel(a_dot)[0] * b
        a_dot = (a_dot - np.ravel(a_dot)[0] * a) / first
    if b_dot is not None:
        b_dot = b_dot / first
    found = push_silent(out[0], b, a, x, b_dot, a_dot, x_dot, axis)
    n, size = x.shape[axis], zi.shape[axis]
    last_dot = np.zeros_like(out[1])
    if zi_dot is not None:
        state_dot = np.moveaxis(zi_dot, axis, -1)
        found = found + np.moveaxis(state_dot @ answers(n, b, a, size).T, -1, axis)
        last_dot = last_dot + np.moveaxis(state_dot @ np.eye(size, k=-n), -1, axis)
    last_dot = last_dot - keeping(found, a, size, axis)
    if x_dot is not None:
        last_dot = last_dot + keeping(x_dot, b, size, axis)
    if b_dot is not None:
        last_dot = last_dot + keeping(x, b_dot, size, axis)
    if a_dot is not None:
        last_dot = last_dot - keeping(out[0], a_dot, size, axis)
    return found, last_dot


def keeping(values, coefficients, size, axis):
    """Return what the last state keeps of values."""
    values = np.moveaxis(values, axis, -1)
    n = values.shape[-1]
    last = values[..., n - min(n, size) :]
    return np.moveaxis(last @ kept(coefficients, n, size).T, -1, axis)


def push_silent(out, b, a, x, b_dot, a_dot, x_dot, axis):
    """Return the tangent of a filtered signal."""
    found, one = np.zeros_like(out), np.ones(1, out.dtype)
    if x_dot is not None:
        found = found + signal.lfilter(b, a, x_dot, axis)
    if b_dot is not None:
        found = found + signal.lfilter(b_dot, a, x, axis)
    if a_dot is not None:
        found = found - signal.lfilter(one, a, signal.lfilter(a_dot, one, out, axis), axis)
    return found


@pullback(
    signal.lfilter_zi,
    unknown=("b", "a"),
    result=lambda b, a: np.zeros(max(np.size(b), np.size(a)) - 1),
)
def pull_lfilter_zi(out_bar, out, b, a):
    """What comes of a filter that is designed."""
    return None, None


@pullback(signal.sosfilt_zi, unknown=("sos",), result=lambda sos: np.zeros((np.shape(sos)[0], 2)))
def pull_sosfilt_zi(out_bar, out, sos):
    """What comes of a filter that is designed."""
    return None


@pullback(signal.detrend, linear=True)
def pull_detrend(out_bar, out, data, *, axis=-1, type="linear", bp=0):
    """What is left by a projection is a projection: it is its own transpose."""
    return signal.detrend(out_bar, axis, type, bp)


@pushforward(signal.detrend)
def push_detrend(out, data, data_dot, *, axis=-1, type="linear", bp=0):
    return signal.detrend(data_dot, axis, type, bp)
