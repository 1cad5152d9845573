"""scipy.signal: spectra by Welch's method, and the answers of filters to frequencies.

A spectrum is a product of Fourier transforms of windowed parts, on average: Welch, "The use of fast
Fourier transform for the estimation of power spectra", 1967. What is done to a part is linear, so
that its cotangent is found by the same steps, the last one first.
"""

import numpy as np
from scipy import signal

from s2sad.registry import pullback, pushforward, written_out


def parts_of(x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling):
    """Return how SciPy cuts a signal into parts along its last axis, and treats each part."""
    n = x.shape[-1]
    if isinstance(window, str | tuple):
        length = min(256 if nperseg is None else nperseg, n)
        window = signal.get_window(window, length)
    window = np.asarray(window)
    overlap = window.size // 2 if noverlap is None else noverlap
    nfft = window.size if nfft is None else nfft
    if detrend is not False and not isinstance(detrend, str):
        raise NotImplementedError("a spectrum has a derivative with detrend a word, or False")
    if scaling == "density":
        scale = 1.0 / (fs * np.sum(window * window))
    else:
        scale = 1.0 / np.sum(window) ** 2
    onesided = return_onesided and not np.iscomplexobj(x)
    count = nfft // 2 + 1 if onesided else nfft
    factors = np.full(count, scale)
    if onesided:
        factors[1 : count if nfft % 2 else -1] *= 2.0
    step = window.size - overlap
    return {
        "window": window,
        "step": step,
        "nfft": nfft,
        "detrend": detrend,
        "onesided": onesided,
        "scale": factors,
    }


def level(part, detrend):
    """Return parts without their mean or their line: the rest after a projection."""
    return part if detrend is False else signal.detrend(part, axis=-1, type=detrend)


def transforms(x, parts):
    """Return the Fourier transforms of the parts of a signal."""
    size = parts["window"].size
    starts = np.arange(0, x.shape[-1] - size + 1, parts["step"])
    cut = x[..., starts[:, None] + np.arange(size)]
    windowed = level(cut, parts["detrend"]) * parts["window"]
    return (np.fft.rfft if parts["onesided"] else np.fft.fft)(windowed, parts["nfft"])


def transforms_back(bars, x, parts):
    """Return the cotangent of a signal from the cotangent of the transforms of its parts."""
    size = parts["window"].size
    whole = np.fft.fft(bars, parts["nfft"])[..., :size]
    if whole.shape[-1] < size:
        whole = np.pad(whole, [(0, 0)] * (whole.ndim - 1) + [(0, size - whole.shape[-1])])
    if parts["nfft"] < size:
        whole[..., parts["nfft"] :] = 0.0
    whole = whole if np.iscomplexobj(x) else np.real(whole)
    made = level(whole * parts["window"], parts["detrend"])
    found = np.zeros(x.shape, made.dtype)
    for i in range(made.shape[-2]):
        start = i * parts["step"]
        found[..., start : start + size] += made[..., i, :]
    return found.astype(x.dtype)


def check_average(average):
    """Refuse medians of spectra."""
    if average != "mean":
        raise NotImplementedError("a spectrum has a derivative with average='mean' only")


ONCE = "the parts are gathered in place"


@pullback(signal.welch, masks=True, once=ONCE)
def pull_welch(
    out_bar,
    out,
    x,
    *,
    fs=1.0,
    window="hann",
    nperseg=None,
    noverlap=None,
    nfft=None,
    detrend="constant",
    return_onesided=True,
    scaling="density",
    axis=-1,
    average="mean",
):
    check_average(average)
    x = np.moveaxis(x, axis, -1)
    parts = parts_of(x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling)
    made = transforms(x, parts)
    bar = np.moveaxis(out_bar[1], axis, -1)[..., None, :] * parts["scale"] / made.shape[-2]
    return np.moveaxis(transforms_back(2.0 * bar * np.conj(made), x, parts), -1, axis)


@pushforward(signal.welch)
def push_welch(
    out,
    x,
    x_dot,
    *,
    fs=1.0,
    window="hann",
    nperseg=None,
    noverlap=None,
    nfft=None,
    detrend="constant",
    return_onesided=True,
    scaling="density",
    axis=-1,
    average="mean",
):
    check_average(average)
    x, x_dot = np.moveaxis(x, axis, -1), np.moveaxis(x_dot, axis, -1)
    parts = parts_of(x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling)
    moved = 2.0 * np.real(np.conj(transforms(x, parts)) * transforms(x_dot, parts))
    return np.zeros_like(out[0]), np.moveaxis(np.mean(moved * parts["scale"], axis=-2), -1, axis)


@pullback(signal.csd, masks=True, once=ONCE)
def pull_csd(
    out_bar,
    out,
    x,
    y,
    *,
    fs=1.0,
    window="hann",
    nperseg=None,
    noverlap=None,
    nfft=None,
    detrend="constant",
    return_onesided=True,
    scaling="density",
    axis=-1,
    average="mean",
):
    check_average(average)
    check_alike(x, y)
    x, y = np.moveaxis(x, axis, -1), np.moveaxis(y, axis, -1)
    parts = parts_of(x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling)
    one, other = transforms(x, parts), transforms(y, parts)
    bar = np.moveaxis(out_bar[1], axis, -1)[..., None, :] * parts["scale"] / one.shape[-2]
    x_bar = transforms_back(np.conj(bar * other), x, parts)
    y_bar = transforms_back(bar * np.conj(one), y, parts)
    return np.moveaxis(x_bar, -1, axis), np.moveaxis(y_bar, -1, axis)


@pushforward(signal.csd)
def push_csd(
    out,
    x,
    y,
    x_dot,
    y_dot,
    *,
    fs=1.0,
    window="hann",
    nperseg=None,
    noverlap=None,
    nfft=None,
    detrend="constant",
    return_onesided=True,
    scaling="density",
    axis=-1,
    average="mean",
):
    check_average(average)
    check_alike(x, y)
    x, y = np.moveaxis(x, axis, -1), np.moveaxis(y, axis, -1)
    parts = parts_of(x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling)
    moved = 0.0
    if x_dot is not None:
        along = transforms(np.moveaxis(x_dot, axis, -1), parts)
        moved = moved + np.conj(along) * transforms(y, parts)
    if y_dot is not None:
        along = transforms(np.moveaxis(y_dot, axis, -1), parts)
        moved = moved + np.conj(transforms(x, parts)) * along
    return np.zeros_like(out[0]), np.moveaxis(np.mean(moved * parts["scale"], axis=-2), -1, axis)


def check_alike(x, y):
    """Refuse signals of several shapes, and complex ones."""
    if np.shape(x) != np.shape(y) or np.iscomplexobj(x) or np.iscomplexobj(y):
        raise NotImplementedError("csd has a derivative of real signals of one shape only")


@pullback(signal.periodogram, once=ONCE)
def pull_periodogram(
    out_bar,
    out,
    x,
    *,
    fs=1.0,
    window="boxcar",
    nfft=None,
    detrend="constant",
    return_onesided=True,
    scaling="density",
    axis=-1,
):
    """One part, as long as the signal; a shorter transform takes its first numbers."""
    kept, rest = first_numbers(x, nfft, axis)
    settings = {"window": window, "nperseg": kept.shape[axis], "noverlap": 0, "nfft": nfft}
    settings |= {"detrend": detrend, "return_onesided": return_onesided}
    kept_bar = pull_welch(out_bar, out, kept, fs=fs, scaling=scaling, axis=axis, **settings)
    return np.concatenate([kept_bar, np.zeros_like(rest)], axis=axis)


@pushforward(signal.periodogram)
def push_periodogram(
    out,
    x,
    x_dot,
    *,
    fs=1.0,
    window="boxcar",
    nfft=None,
    detrend="constant",
    return_onesided=True,
    scaling="density",
    axis=-1,
):
    kept, _ = first_numbers(x, nfft, axis)
    settings = {"window": window, "nperseg": kept.shape[axis], "noverlap": 0, "nfft": nfft}
    settings |= {"detrend": detrend, "return_onesided": return_onesided}
    kept_dot, _ = first_numbers(x_dot, nfft, axis)
    return push_welch(out, kept, kept_dot, fs=fs, scaling=scaling, axis=axis, **settings)


def first_numbers(x, nfft, axis):
    """Return as many numbers of a signal as a transform takes, and the rest."""
    count = x.shape[axis] if nfft is None else min(nfft, x.shape[axis])
    return np.split(x, [count], axis=axis)


@written_out(signal.coherence)
def coherence(
    x,
    y,
    fs=1.0,
    window="hann",
    nperseg=None,
    noverlap=None,
    nfft=None,
    detrend="constant",
    axis=-1,
):
    freqs, Pxx = signal.welch(x, fs, window, nperseg, noverlap, nfft, detrend, axis=axis)
    Pyy = signal.welch(y, fs, window, nperseg, noverlap, nfft, detrend, axis=axis)[1]
    Pxy = signal.csd(x, y, fs, window, nperseg, noverlap, nfft, detrend, axis=axis)[1]
    return freqs, np.abs(Pxy) ** 2 / Pxx / Pyy


# filters


def polynomial_powers(count, z):
    """Return the powers of z that multiply the coefficients; the first power is one."""
    return z[..., None] ** np.arange(count)


def on_circle(out, fs):
    """Return where on the unit circle, or inverse of it, the answers are."""
    return np.exp(-1j * out[0] * (2.0 * np.pi / fs))


def check_vectors(b, a, worN, whole, plot):
    """Refuse filters in several columns."""
    if np.ndim(b) > 1 or np.ndim(a) > 1:
        raise NotImplementedError("freqz has a derivative of coefficients in a vector only")


@pullback(signal.freqz, once="s2sad does not know the type of the powers")
def pull_freqz(
    out_bar,
    out,
    b,
    a=1,
    *,
    worN=512,
    whole=False,
    plot=None,
    fs=2.0 * np.pi,
    include_nyquist=False,
):
    check_vectors(b, a, worN, whole, plot)
    z, h, bar = on_circle(out, fs), out[1], out_bar[1]
    over = polynomial_powers(np.size(a), z)
    inverse = 1.0 / (over @ np.ravel(a))
    b_bar = np.real((bar * inverse) @ polynomial_powers(np.size(b), z))
    a_bar = -np.real((bar * h * inverse) @ over)
    return np.reshape(b_bar, np.shape(b)), np.reshape(a_bar, np.shape(a))


@pushforward(signal.freqz)
def push_freqz(
    out,
    b,
    a,
    b_dot,
    a_dot,
    *,
    worN=512,
    whole=False,
    plot=None,
    fs=2.0 * np.pi,
    include_nyquist=False,
):
    check_vectors(b, 1 if a is None else a, worN, whole, plot)
    z, h = on_circle(out, fs), out[1]
    a = 1 if a is None else a
    over = polynomial_powers(np.size(a), z)
    inverse, found = 1.0 / (over @ np.ravel(a)), np.zeros_like(h)
    if b_dot is not None:
        found = found + inverse * (polynomial_powers(np.size(b), z) @ np.ravel(b_dot))
    if a_dot is not None:
        found = found - h * inverse * (over @ np.ravel(a_dot))
    return np.zeros_like(out[0]), found
