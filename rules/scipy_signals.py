"""scipy.signal: functions that are linear in the signal, run backwards: filters, resampling.

The rules for convolutions and for lfilter are in rules/scipy_signal.py.
"""

import numpy as np
from scipy import fft, signal

from s2sad.registry import nondifferentiable, pullback, pushforward, refuse
from s2sad.rules.padding import padded_back
from s2sad.rules.scipy_filters import rank_back, rank_forward
from s2sad.rules.scipy_ndimage import filter_back
from s2sad.rules.scipy_signal import whole_cotangent

BORDERS = {"fill": "constant", "wrap": "wrap", "symm": "symmetric"}


# convolutions in two dimensions


def convolve2d_cotangents(out_bar, in1, in2, mode, boundary, fillvalue, before):
    """Return the cotangents of an image with a border, and of what it is convolved with.

    Mode same takes what comes after the first ones, so many `before` each axis.
    """
    if mode == "valid":
        boundary, fillvalue = "fill", 0
    if boundary not in BORDERS:
        raise NotImplementedError("there is a derivative for the boundaries fill, wrap and symm")
    if boundary != "fill" and any(m > n for n, m in zip(in1.shape, in2.shape, strict=True)):
        raise NotImplementedError(
            "there is a derivative where the second image is not the larger one"
        )
    if mode == "same":
        out_bar = np.pad(out_bar, [(b, m - 1 - b) for b, m in zip(before, in2.shape, strict=True)])
    whole = whole_cotangent(out_bar, in1, in2, "full" if mode == "same" else mode)
    widths = [(m - 1, m - 1) for m in in2.shape]
    border = {"mode": BORDERS[boundary]}
    filled = border | ({"constant_values": fillvalue} if boundary == "fill" else {})
    seen = np.pad(1.0 * in1, widths, **filled)
    seen_bar = signal.convolve2d(whole, np.flip(in2))
    in2_bar = np.flip(signal.convolve2d(seen, np.flip(whole), "valid"))
    return padded_back(seen_bar, in1, pad_width=widths, **border), in2_bar


@pullback(
    signal.convolve2d, masks=True, once="the lengths decide which array slides over the other"
)
def pull_convolve2d(out_bar, out, in1, in2, *, mode="full", boundary="fill", fillvalue=0):
    before = [(m - 1) // 2 for m in in2.shape]
    return convolve2d_cotangents(out_bar, in1, in2, mode, boundary, fillvalue, before)


@pushforward(signal.convolve2d)
def push_convolve2d(out, in1, in2, in1_dot, in2_dot, *, mode="full", boundary="fill", fillvalue=0):
    found = np.zeros_like(out)
    if in1_dot is not None:
        found = found + signal.convolve2d(in1_dot, in2, mode, boundary)
    if in2_dot is not None:
        found = found + signal.convolve2d(in1, in2_dot, mode, boundary, fillvalue)
    return found


@pullback(
    signal.correlate2d, masks=True, once="the lengths decide which array slides over the other"
)
def pull_correlate2d(out_bar, out, in1, in2, *, mode="full", boundary="fill", fillvalue=0):
    """A correlation is the convolution with the conjugate of in2 turned around."""
    check_smaller(in1, in2, mode)
    turned, before = np.conj(np.flip(in2)), [m // 2 for m in in2.shape]
    in1_bar, turned_bar = convolve2d_cotangents(
        out_bar, in1, turned, mode, boundary, fillvalue, before
    )
    return in1_bar, np.conj(np.flip(turned_bar))


def check_smaller(in1, in2, mode):
    """Refuse what SciPy turns around: where the second image is the larger one."""
    if mode == "valid" and any(m > n for n, m in zip(in1.shape, in2.shape, strict=True)):
        raise NotImplementedError(
            "there is a derivative where the second image is not the larger one"
        )


@pushforward(signal.correlate2d)
def push_correlate2d(out, in1, in2, in1_dot, in2_dot, *, mode="full", boundary="fill", fillvalue=0):
    found = np.zeros_like(out)
    if in1_dot is not None:
        found = found + signal.correlate2d(in1_dot, in2, mode, boundary)
    if in2_dot is not None:
        found = found + signal.correlate2d(in1, in2_dot, mode, boundary, fillvalue)
    return found


# filters, with no derivative in their coefficients


def check_start(zi):
    """Refuse a filter that starts from a state: it returns one, too."""
    if zi is not None:
        raise NotImplementedError("sosfilt has a derivative without zi= only; lfilter takes it")


def with_one_section(sos, x):
    """Return a sample with the coefficients of a filter."""
    return np.eye(1, 6) + np.eye(1, 6, 3), x


@pullback(signal.sosfilt, unknown=("sos",), samples=with_one_section, linear=True)
def pull_sosfilt(out_bar, out, sos, x, *, axis=-1, zi=None):
    """The filter run backwards in time."""
    check_start(zi)
    return None, np.flip(signal.sosfilt(sos, np.flip(out_bar, axis), axis), axis)


@pushforward(signal.sosfilt)
def push_sosfilt(out, sos, x, sos_dot, x_dot, *, axis=-1, zi=None):
    check_start(zi)
    return signal.sosfilt(sos, x_dot, axis)


EXTENSIONS = {"odd": "reflect", "even": "reflect", "constant": "edge"}


def extension_back(bar, x, edge, padtype):
    """Return the cotangent of what was extended at both ends of its last axis."""
    if edge == 0:
        return bar
    widths = [(0, 0)] * (x.ndim - 1) + [(edge, edge)]
    kind = "odd" if padtype == "odd" else "even"
    return padded_back(bar, x, pad_width=widths, mode=EXTENSIONS[padtype], reflect_type=kind)


def twice_back(out_bar, x, axis, edge, padtype, run, settled):
    """Return the cotangent of a signal that was filtered to and fro, with its ends extended.

    `run` filters from rest along the last axis; what the first number sets the filter's state to
    makes it go through `settled` of some length, times that number.
    """
    x, bar = np.moveaxis(x, axis, -1), np.moveaxis(out_bar, axis, -1)
    bar = np.pad(bar, [(0, 0)] * (x.ndim - 1) + [(edge, edge)])
    after = settled(bar.shape[-1])
    bar = start_back(np.flip(bar, -1), run, after)
    bar = start_back(np.flip(bar, -1), run, after)
    return np.moveaxis(extension_back(bar, x, edge, padtype), -1, axis).astype(x.dtype)


def start_back(bar, run, after):
    """Return the cotangent of a signal that is filtered once; its first number sets the state."""
    found = np.flip(run(np.flip(bar, -1)), -1).copy()
    found[..., 0] += bar @ after
    return found


def edge_length(padtype, padlen, taps):
    """Return by how much SciPy extends a signal."""
    if padtype is None:
        return 0
    return 3 * taps if padlen is None else padlen


def check_gust(method):
    """Refuse the other way to treat the ends."""
    if method != "pad":
        raise NotImplementedError("filtfilt has a derivative with method='pad' only")


def like_the_signal(b, a, x, *settings, **named):
    """Return what has the shape of a filtered signal, and its dtype."""
    return x * (np.ravel(b)[0] * np.ravel(a)[0])


@pullback(signal.filtfilt, unknown=("b", "a"), result=like_the_signal, linear=True)
def pull_filtfilt(
    out_bar, out, b, a, x, *, axis=-1, padtype="odd", padlen=None, method="pad", irlen=None
):
    check_gust(method)
    edge = edge_length(padtype, padlen, max(np.size(a), np.size(b)))

    def settled(length):
        return signal.lfilter(b, a, np.zeros(length), zi=signal.lfilter_zi(b, a))[0]

    def run(v):
        return signal.lfilter(b, a, v)

    return None, None, twice_back(out_bar, x, axis, edge, padtype, run, settled)


@pushforward(signal.filtfilt)
def push_filtfilt(
    out,
    b,
    a,
    x,
    b_dot,
    a_dot,
    x_dot,
    *,
    axis=-1,
    padtype="odd",
    padlen=None,
    method="pad",
    irlen=None,
):
    check_gust(method)
    return signal.filtfilt(b, a, x_dot, axis, padtype, padlen)


def sos_taps(sos):
    """Return the number of taps that SciPy finds in second-order sections."""
    sos = np.atleast_2d(sos)
    return 2 * len(sos) + 1 - min(np.sum(sos[:, 2] == 0), np.sum(sos[:, 5] == 0))


def sos_twice_back(out_bar, x, sos, axis, padtype, padlen):
    """Return the cotangent of a signal that went through second-order sections to and fro."""
    edge = edge_length(padtype, padlen, sos_taps(sos))

    def settled(length):
        return signal.sosfilt(sos, np.zeros(length), zi=signal.sosfilt_zi(sos))[0]

    def run(v):
        return signal.sosfilt(sos, v)

    return twice_back(out_bar, x, axis, edge, padtype, run, settled)


@pullback(signal.sosfiltfilt, unknown=("sos",), samples=with_one_section, linear=True)
def pull_sosfiltfilt(out_bar, out, sos, x, *, axis=-1, padtype="odd", padlen=None):
    return None, sos_twice_back(out_bar, x, sos, axis, padtype, padlen)


@pushforward(signal.sosfiltfilt)
def push_sosfiltfilt(out, sos, x, sos_dot, x_dot, *, axis=-1, padtype="odd", padlen=None):
    return signal.sosfiltfilt(sos, x_dot, axis, padtype, padlen)


def check_decimation(ftype, zero_phase):
    """Refuse filters other than SciPy's default."""
    if ftype != "iir" or not zero_phase:
        raise NotImplementedError("decimate has a derivative with ftype='iir' and zero_phase only")


def long_enough(x, *settings):
    """Return a longer sample: a signal must be longer than the extension at its ends."""
    return np.tile(x, (9,) * x.ndim), *settings


@pullback(signal.decimate, masks=True, samples=long_enough, linear=True)
def pull_decimate(out_bar, out, x, *, q=None, n=None, ftype="iir", axis=-1, zero_phase=True):
    """A Chebyshev filter runs forward and backward; every q-th number of the result is kept."""
    check_decimation(ftype, zero_phase)
    sos = signal.cheby1(8 if n is None else n, 0.05, 0.8 / q, output="sos").astype(x.dtype)
    kept = [slice(None)] * x.ndim
    kept[axis] = slice(None, None, q)
    whole = np.zeros(x.shape, out_bar.dtype)
    whole[tuple(kept)] = out_bar
    return sos_twice_back(whole, x, sos, axis, "odd", None)


@pushforward(signal.decimate)
def push_decimate(out, x, x_dot, *, q=None, n=None, ftype="iir", axis=-1, zero_phase=True):
    check_decimation(ftype, zero_phase)
    return signal.decimate(x_dot, q, n, axis=axis)


def savgol_weights(window_length, polyorder, deriv, delta, dtype):
    """Return the weights of a smoothing filter, found from its answer to a single one."""
    line = np.zeros(2 * window_length + 1, dtype)
    line[window_length] = 1.0
    return signal.savgol_filter(line, window_length, polyorder, deriv, delta, mode="constant")[::-1]


@pullback(signal.savgol_filter, linear=True)
def pull_savgol_filter(
    out_bar,
    out,
    x,
    *,
    window_length=None,
    polyorder=None,
    deriv=0,
    delta=1.0,
    axis=-1,
    mode="interp",
    cval=0.0,
):
    """A convolution; with mode interp the ends are read off polynomials through the last windows.

    What those are of a one at each place of a window is the filter of an identity matrix.
    """
    weights = savgol_weights(window_length, polyorder, deriv, delta, x.dtype)
    if mode != "interp":
        return filter_back(out_bar, x, weights, axis, mode, 0)
    w, half = window_length, window_length // 2
    bar = np.moveaxis(out_bar, axis, 0).copy()
    ends = signal.savgol_filter(np.eye(w, dtype=x.dtype), w, polyorder, deriv, delta, 0)
    n = len(bar)
    first = np.tensordot(ends[:half], bar[:half], (0, 0))
    last = np.tensordot(ends[w - half :], bar[n - half :], (0, 0))
    bar[:half], bar[n - half :] = 0.0, 0.0
    lines = np.moveaxis(x, axis, 0)
    x_bar = filter_back(bar, lines, weights, 0, "constant", 0)
    x_bar[:w] += first
    x_bar[n - w :] += last
    return np.moveaxis(x_bar, 0, axis)


@pushforward(signal.savgol_filter)
def push_savgol_filter(
    out,
    x,
    x_dot,
    *,
    window_length=None,
    polyorder=None,
    deriv=0,
    delta=1.0,
    axis=-1,
    mode="interp",
    cval=0.0,
):
    return signal.savgol_filter(x_dot, window_length, polyorder, deriv, delta, axis, mode)


@pullback(signal.medfilt, masks=True, linear=True)
def pull_medfilt(out_bar, out, volume, *, kernel_size=None):
    """The median of a window, with zeros outside."""
    size = 3 if kernel_size is None else kernel_size
    return rank_back(out_bar, out, volume, size, None, "constant", 0.0, 0, False)


@pushforward(signal.medfilt)
def push_medfilt(out, volume, volume_dot, *, kernel_size=None):
    size = 3 if kernel_size is None else kernel_size
    return rank_forward(out, volume, volume_dot, size, None, "constant", 0.0, 0, False)


# by Fourier transforms


@pullback(signal.hilbert, masks=True, linear=True)
def pull_hilbert(out_bar, out, x, *, N=None, axis=-1):
    """The matrix of a Fourier transform is its own transpose."""
    n, size = x.shape[axis], out.shape[axis]
    weights = np.zeros(size)
    weights[0] = 1.0
    weights[1 : (size + 1) // 2] = 2.0
    if size % 2 == 0:
        weights[size // 2] = 1.0
    bar = fft.ifft(np.moveaxis(out_bar, axis, -1))
    bar = np.real(fft.fft(bar * weights.astype(x.dtype)))[..., :n]
    bar = np.pad(bar, [(0, 0)] * (x.ndim - 1) + [(0, n - bar.shape[-1])])
    return np.moveaxis(bar, -1, axis)


@pushforward(signal.hilbert)
def push_hilbert(out, x, x_dot, *, N=None, axis=-1):
    return signal.hilbert(x_dot, N, axis)


def check_resampling(x, t, window, domain):
    """Refuse resampling of anything but a real signal in time."""
    if t is not None or window is not None or domain != "time" or np.iscomplexobj(x):
        raise NotImplementedError("resample has a derivative of real signals, without t and window")


@pullback(signal.resample, linear=True)
def pull_resample(out_bar, out, x, *, num=None, t=None, axis=0, window=None, domain="time"):
    """Resampled back; the frequency that has no pair in the shorter signal counts otherwise."""
    check_resampling(x, t, window, domain)
    bar = np.moveaxis(out_bar, axis, -1)
    n, m = x.shape[axis], min(num, x.shape[axis])
    found = num / n * signal.resample(bar, n, axis=-1)
    if m % 2 == 0 and num != n:
        height = bar @ np.cos(np.pi * m / num * np.arange(num)) / n
        wave = np.cos(np.pi * m / n * np.arange(n))
        found = found + (1.0 if num < n else -1.0) * height[..., None] * wave
    return np.moveaxis(found, -1, axis).astype(x.dtype)


@pushforward(signal.resample)
def push_resample(out, x, x_dot, *, num=None, t=None, axis=0, window=None, domain="time"):
    check_resampling(x, t, window, domain)
    return signal.resample(x_dot, num, axis=axis)


@pullback(signal.upfirdn, unknown=("h",), linear=True)
def pull_upfirdn(out_bar, out, h, x, *, up=1, down=1, axis=-1, mode="constant", cval=0):
    """With the rates exchanged and the filter turned around."""
    if mode != "constant":
        raise NotImplementedError("upfirdn has a derivative with mode='constant' only")
    if np.iscomplexobj(h):
        raise NotImplementedError("upfirdn has a derivative with real filters only")
    n, before = x.shape[axis], np.size(h) - 1
    whole = np.moveaxis(signal.upfirdn(np.flip(h), out_bar, down, 1, axis), axis, -1)
    short = before + up * n - whole.shape[-1]
    if short > 0:
        whole = np.pad(whole, [(0, 0)] * (x.ndim - 1) + [(0, short)])
    x_bar = whole[..., before : before + up * n : up]
    return None, np.moveaxis(x_bar, -1, axis).astype(x.dtype)


@pushforward(signal.upfirdn)
def push_upfirdn(out, h, x, h_dot, x_dot, *, up=1, down=1, axis=-1, mode="constant", cval=0):
    return signal.upfirdn(h, x_dot, up, down, axis)


CONST = "Make its inputs Const, or compute its result outside the function."
refuse(
    signal,
    "bessel besselap bilinear bilinear_zpk buttap butter buttord cheb1ap cheb1ord cheb2ap cheb2ord "
    "cheby1 cheby2 ellip ellipap ellipord firls firwin firwin2 firwin_2d gammatone iircomb "
    "iirdesign iirfilter iirnotch iirpeak kaiser_atten kaiser_beta kaiserord minimum_phase "
    "savgol_coeffs remez band_stop_obj findfreqs lp2bp lp2bp_zpk lp2bs lp2bs_zpk lp2hp lp2hp_zpk "
    "lp2lp lp2lp_zpk lfiltic normalize place_poles sos2tf sos2zpk ss2tf "
    "ss2zpk tf2sos tf2ss tf2zpk zpk2sos zpk2ss zpk2tf abcd_normalize cont2discrete",
    because="it designs a filter",
    instead=CONST,
)
refuse(
    signal,
    "spectrogram stft istft lombscargle ShortTimeFFT",
    because="s2sad has no rule for it",
    instead="Use welch and csd, or np.fft.rfft of windowed parts, cut by sliding_window_view.",
)
refuse(
    signal,
    "deconvolve residue residuez invres invresz unique_roots",
    because="s2sad has no rule for it",
    instead="Use np.polydiv, np.roots and np.poly.",
)
refuse(
    signal,
    "freqz_sos freqz_zpk sosfreqz freqs freqs_zpk group_delay bode dbode dfreqresp freqresp "
    "czt czt_points zoom_fft CZT ZoomFFT",
    because="s2sad has no rule for it",
    instead="Use freqz, or np.polyval of the coefficients at 1j * w.",
)
refuse(
    signal,
    "StateSpace TransferFunction ZerosPolesGain lti dlti lsim dlsim impulse dimpulse step dstep",
    because="it is about systems that are objects",
    instead="Write the recurrence as a loop, or use scipy.linalg.expm.",
)
refuse(
    signal,
    "argrelextrema argrelmax argrelmin find_peaks find_peaks_cwt peak_prominences peak_widths "
    "correlation_lags choose_conv_method check_COLA check_NOLA closest_STFT_dual_window "
    "max_len_seq vectorstrength unit_impulse",
    because="it finds places, or makes constants",
    instead=CONST,
)
refuse(
    signal,
    "chirp sawtooth square gausspulse sweep_poly gauss_spline",
    because="s2sad has no rule for it",
    instead="Write it with np.sin, np.where and np.exp.",
)
refuse(
    signal,
    "cspline1d cspline1d_eval cspline2d qspline1d qspline1d_eval qspline2d spline_filter "
    "symiirorder1 symiirorder2 sepfir2d envelope hilbert2 medfilt2d order_filter resample_poly "
    "wiener",
    because="s2sad has no rule for it",
    instead="Use convolve, lfilter, hilbert, medfilt or resample.",
)
refuse(
    signal.windows,
    "chebwin dpss exponential gaussian general_cosine general_gaussian general_hamming get_window "
    "kaiser kaiser_bessel_derived taylor tukey",
    because="s2sad has no rule for it",
    instead="Use np.kaiser, or write the window with np.exp and np.cos.",
)
nondifferentiable(
    *(
        getattr(signal.windows, name)
        for name in "barthann bartlett blackman blackmanharris bohman boxcar cosine flattop "
        "hamming hann lanczos nuttall parzen triang".split()
    )
)
