"""numpy.fft. A transform is a symmetric matrix: its transpose is the same transform.

By the convention of JAX nothing is conjugated. Transforms that keep half of a spectrum form pairs:
hfft is the transpose of rfft, and ihfft is the transpose of irfft, and vice versa, except for a
factor 2 at the frequencies that stand for two in half a spectrum.
"""

import numpy as np

from s2sad.registry import pullback, pushforward


def fitted(x, shape):
    """Return x cut off, or filled up with zeros, at the end of each axis to have this shape."""
    x = x[tuple(slice(n) for n in shape)]
    return np.pad(x, [(0, n - m) for n, m in zip(shape, x.shape, strict=True)])


def weighted(spectrum, n, axis, weight):
    """Return half the spectrum of n values with a weight on the frequencies that stand for two."""
    k = np.arange(n // 2 + 1)
    weights = np.where((k > 0) & (2 * k < n), weight, 1).astype(np.real(spectrum).dtype)
    return np.moveaxis(np.moveaxis(spectrum, axis, -1) * weights, -1, axis)


def transformed(ndim, s, axes):
    """Return the axes of an n-dimensional transform, in order."""
    if axes is None:
        return tuple(range(ndim)) if s is None else tuple(range(ndim - len(s), ndim))
    axes = tuple(axis % ndim for axis in axes)
    if s is not None and len(set(axes)) < len(axes):
        raise NotImplementedError("fft has no derivative where an axis with a length stands twice")
    return axes


@pullback(np.fft.fft, masks=("n",))
def pull_fft(out_bar, out, a, *, n=None, axis=-1, norm=None):
    if n is None:
        return np.fft.fft(out_bar, axis=axis, norm=norm)
    return fitted(np.fft.fft(out_bar, axis=axis, norm=norm), a.shape)


@pushforward(np.fft.fft)
def push_fft(out, a, a_dot, *, n=None, axis=-1, norm=None):
    return np.fft.fft(a_dot, n, axis, norm)


@pullback(np.fft.ifft, masks=("n",))
def pull_ifft(out_bar, out, a, *, n=None, axis=-1, norm=None):
    if n is None:
        return np.fft.ifft(out_bar, axis=axis, norm=norm)
    return fitted(np.fft.ifft(out_bar, axis=axis, norm=norm), a.shape)


@pushforward(np.fft.ifft)
def push_ifft(out, a, a_dot, *, n=None, axis=-1, norm=None):
    return np.fft.ifft(a_dot, n, axis, norm)


@pullback(np.fft.rfft, masks=("n",))
def pull_rfft(out_bar, out, a, *, n=None, axis=-1, norm=None):
    if n is None:
        n = a.shape[axis]
        return np.fft.hfft(weighted(out_bar, n, axis, 0.5), n, axis, norm)
    return fitted(np.fft.hfft(weighted(out_bar, n, axis, 0.5), n, axis, norm), a.shape)


@pushforward(np.fft.rfft)
def push_rfft(out, a, a_dot, *, n=None, axis=-1, norm=None):
    return np.fft.rfft(a_dot, n, axis, norm)


@pullback(np.fft.ihfft, masks=("n",))
def pull_ihfft(out_bar, out, a, *, n=None, axis=-1, norm=None):
    if n is None:
        n = a.shape[axis]
        return np.fft.irfft(weighted(out_bar, n, axis, 0.5), n, axis, norm)
    return fitted(np.fft.irfft(weighted(out_bar, n, axis, 0.5), n, axis, norm), a.shape)


@pushforward(np.fft.ihfft)
def push_ihfft(out, a, a_dot, *, n=None, axis=-1, norm=None):
    return np.fft.ihfft(a_dot, n, axis, norm)


@pullback(np.fft.irfft, masks=("n",))
def pull_irfft(out_bar, out, a, *, n=None, axis=-1, norm=None):
    a_bar = weighted(np.fft.ihfft(out_bar, None, axis, norm), out.shape[axis], axis, 2)
    if not np.iscomplexobj(a):
        a_bar = np.real(a_bar)
    if n is None:
        return a_bar
    return fitted(a_bar, a.shape)


@pushforward(np.fft.irfft)
def push_irfft(out, a, a_dot, *, n=None, axis=-1, norm=None):
    return np.fft.irfft(a_dot, n, axis, norm)


@pullback(np.fft.hfft, masks=("n",))
def pull_hfft(out_bar, out, a, *, n=None, axis=-1, norm=None):
    a_bar = weighted(np.fft.rfft(out_bar, None, axis, norm), out.shape[axis], axis, 2)
    if not np.iscomplexobj(a):
        a_bar = np.real(a_bar)
    if n is None:
        return a_bar
    return fitted(a_bar, a.shape)


@pushforward(np.fft.hfft)
def push_hfft(out, a, a_dot, *, n=None, axis=-1, norm=None):
    return np.fft.hfft(a_dot, n, axis, norm)


@pullback(np.fft.fft2, masks=("s",))
def pull_fft2(out_bar, out, a, *, s=None, axes=(-2, -1), norm=None):
    if s is None:
        return np.fft.fft2(out_bar, axes=axes, norm=norm)
    axes = transformed(a.ndim, s, axes)
    return fitted(np.fft.fft2(out_bar, axes=axes, norm=norm), a.shape)


@pushforward(np.fft.fft2)
def push_fft2(out, a, a_dot, *, s=None, axes=(-2, -1), norm=None):
    return np.fft.fft2(a_dot, s, axes, norm)


@pullback(np.fft.ifft2, masks=("s",))
def pull_ifft2(out_bar, out, a, *, s=None, axes=(-2, -1), norm=None):
    if s is None:
        return np.fft.ifft2(out_bar, axes=axes, norm=norm)
    axes = transformed(a.ndim, s, axes)
    return fitted(np.fft.ifft2(out_bar, axes=axes, norm=norm), a.shape)


@pushforward(np.fft.ifft2)
def push_ifft2(out, a, a_dot, *, s=None, axes=(-2, -1), norm=None):
    return np.fft.ifft2(a_dot, s, axes, norm)


@pullback(np.fft.fftn, masks=("s",), linear=True)
def pull_fftn(out_bar, out, a, *, s=None, axes=None, norm=None):
    if s is None:
        return np.fft.fftn(out_bar, axes=axes, norm=norm)
    axes = transformed(a.ndim, s, axes)
    return fitted(np.fft.fftn(out_bar, axes=axes, norm=norm), a.shape)


@pushforward(np.fft.fftn)
def push_fftn(out, a, a_dot, *, s=None, axes=None, norm=None):
    return np.fft.fftn(a_dot, s, axes, norm)


@pullback(np.fft.ifftn, masks=("s",), linear=True)
def pull_ifftn(out_bar, out, a, *, s=None, axes=None, norm=None):
    if s is None:
        return np.fft.ifftn(out_bar, axes=axes, norm=norm)
    axes = transformed(a.ndim, s, axes)
    return fitted(np.fft.ifftn(out_bar, axes=axes, norm=norm), a.shape)


@pushforward(np.fft.ifftn)
def push_ifftn(out, a, a_dot, *, s=None, axes=None, norm=None):
    return np.fft.ifftn(a_dot, s, axes, norm)


def real_to_half(out_bar, a, s, axes, norm):
    """Return the cotangent of a real array from the cotangent of its half spectrum (rfftn).

    The other axes are transformed first, then the axis that was halved.
    """
    axes = transformed(a.ndim, s, axes)
    n = a.shape[axes[-1]] if s is None or s[-1] == -1 else s[-1]
    half = np.fft.fftn(out_bar, axes=axes[:-1], norm=norm) if len(axes) > 1 else out_bar
    a_bar = np.fft.hfft(weighted(half, n, axes[-1], 0.5), n, axes[-1], norm)
    return fitted(a_bar, a.shape)


def half_to_real(out_bar, a, s, axes, norm):
    """Return the cotangent of a half spectrum from the cotangent of its real array (irfftn)."""
    axes = transformed(a.ndim, s, axes)
    half = np.fft.ihfft(out_bar, None, axes[-1], norm)
    half = weighted(half, out_bar.shape[axes[-1]], axes[-1], 2)
    a_bar = np.fft.ifftn(half, axes=axes[:-1], norm=norm) if len(axes) > 1 else half
    return fitted(a_bar if np.iscomplexobj(a) else np.real(a_bar), a.shape)


@pullback(np.fft.rfft2, masks=("s",))
def pull_rfft2(out_bar, out, a, *, s=None, axes=(-2, -1), norm=None):
    return real_to_half(out_bar, a, s, axes, norm)


@pushforward(np.fft.rfft2)
def push_rfft2(out, a, a_dot, *, s=None, axes=(-2, -1), norm=None):
    return np.fft.rfft2(a_dot, s, axes, norm)


@pullback(np.fft.rfftn, masks=("s",), linear=True)
def pull_rfftn(out_bar, out, a, *, s=None, axes=None, norm=None):
    return real_to_half(out_bar, a, s, axes, norm)


@pushforward(np.fft.rfftn)
def push_rfftn(out, a, a_dot, *, s=None, axes=None, norm=None):
    return np.fft.rfftn(a_dot, s, axes, norm)


@pullback(np.fft.irfft2, masks=("s",))
def pull_irfft2(out_bar, out, a, *, s=None, axes=(-2, -1), norm=None):
    return half_to_real(out_bar, a, s, axes, norm)


@pushforward(np.fft.irfft2)
def push_irfft2(out, a, a_dot, *, s=None, axes=(-2, -1), norm=None):
    return np.fft.irfft2(a_dot, s, axes, norm)


@pullback(np.fft.irfftn, masks=("s",), linear=True)
def pull_irfftn(out_bar, out, a, *, s=None, axes=None, norm=None):
    return half_to_real(out_bar, a, s, axes, norm)


@pushforward(np.fft.irfftn)
def push_irfftn(out, a, a_dot, *, s=None, axes=None, norm=None):
    return np.fft.irfftn(a_dot, s, axes, norm)


@pullback(np.fft.fftshift)
def pull_fftshift(out_bar, out, x, *, axes=None):
    return np.fft.ifftshift(out_bar, axes)


@pushforward(np.fft.fftshift)
def push_fftshift(out, x, x_dot, *, axes=None):
    return np.fft.fftshift(x_dot, axes)


@pullback(np.fft.ifftshift)
def pull_ifftshift(out_bar, out, x, *, axes=None):
    return np.fft.fftshift(out_bar, axes)


@pushforward(np.fft.ifftshift)
def push_ifftshift(out, x, x_dot, *, axes=None):
    return np.fft.ifftshift(x_dot, axes)


@pullback(np.fft.fftfreq, np.fft.rfftfreq)
def pull_fftfreq(out_bar, out, n, d=1.0):
    """Every frequency is divided by the spacing."""
    return None, -np.sum(out_bar * out) / d


@pushforward(np.fft.fftfreq, np.fft.rfftfreq)
def push_fftfreq(out, n, d, n_dot, d_dot):
    return -out * d_dot / d
