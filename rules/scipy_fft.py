"""scipy.fft: NumPy's transforms with workers, and the cosine and sine transforms.

What NumPy has, too, has the rules of rules/fft.py. The cosine and sine transforms are after
Makhoul, "A fast cosine transform in one and two dimensions", 1980, as scipy.fft.dct defines them.
"""

import numpy as np
from scipy import fft

from s2sad.registry import nondifferentiable, pullback, pushforward, refuse
from s2sad.rules.fft import (
    fitted,
    half_to_real,
    pull_fftfreq,
    pull_fftshift,
    pull_hfft,
    pull_ifftshift,
    pull_ihfft,
    pull_irfft,
    pull_rfft,
    push_fftfreq,
    push_fftshift,
    push_ifftshift,
    real_to_half,
    transformed,
)

nondifferentiable(fft.next_fast_len, fft.prev_fast_len, fft.get_workers)

refuse(
    fft,
    "fht ifht fhtoffset",
    because="the fast Hankel transform has no rule",
    instead="Write one with @s2sad.pullback: it is linear in its array.",
)


# one axis


@pullback(fft.fft, masks=("n",))
def pull_scipy_fft(out_bar, out, x, *, n=None, axis=-1, norm=None, workers=None):
    if n is None:
        return fft.fft(out_bar, axis=axis, norm=norm, workers=workers)
    return fitted(fft.fft(out_bar, axis=axis, norm=norm, workers=workers), x.shape)


@pushforward(fft.fft)
def push_scipy_fft(out, x, x_dot, *, n=None, axis=-1, norm=None, workers=None):
    return fft.fft(x_dot, n, axis, norm, workers=workers)


@pullback(fft.ifft, masks=("n",))
def pull_scipy_ifft(out_bar, out, x, *, n=None, axis=-1, norm=None, workers=None):
    if n is None:
        return fft.ifft(out_bar, axis=axis, norm=norm, workers=workers)
    return fitted(fft.ifft(out_bar, axis=axis, norm=norm, workers=workers), x.shape)


@pushforward(fft.ifft)
def push_scipy_ifft(out, x, x_dot, *, n=None, axis=-1, norm=None, workers=None):
    return fft.ifft(x_dot, n, axis, norm, workers=workers)


@pullback(fft.rfft, masks=("n",), linear=True)
def pull_scipy_rfft(out_bar, out, x, *, n=None, axis=-1, norm=None, workers=None):
    return pull_rfft(out_bar, out, x, n=n, axis=axis, norm=norm)


@pushforward(fft.rfft)
def push_scipy_rfft(out, x, x_dot, *, n=None, axis=-1, norm=None, workers=None):
    return fft.rfft(x_dot, n, axis, norm, workers=workers)


@pullback(fft.irfft, masks=("n",), linear=True)
def pull_scipy_irfft(out_bar, out, x, *, n=None, axis=-1, norm=None, workers=None):
    return pull_irfft(out_bar, out, x, n=n, axis=axis, norm=norm)


@pushforward(fft.irfft)
def push_scipy_irfft(out, x, x_dot, *, n=None, axis=-1, norm=None, workers=None):
    return fft.irfft(x_dot, n, axis, norm, workers=workers)


@pullback(fft.hfft, masks=("n",), linear=True)
def pull_scipy_hfft(out_bar, out, x, *, n=None, axis=-1, norm=None, workers=None):
    return pull_hfft(out_bar, out, x, n=n, axis=axis, norm=norm)


@pushforward(fft.hfft)
def push_scipy_hfft(out, x, x_dot, *, n=None, axis=-1, norm=None, workers=None):
    return fft.hfft(x_dot, n, axis, norm, workers=workers)


@pullback(fft.ihfft, masks=("n",), linear=True)
def pull_scipy_ihfft(out_bar, out, x, *, n=None, axis=-1, norm=None, workers=None):
    return pull_ihfft(out_bar, out, x, n=n, axis=axis, norm=norm)


@pushforward(fft.ihfft)
def push_scipy_ihfft(out, x, x_dot, *, n=None, axis=-1, norm=None, workers=None):
    return fft.ihfft(x_dot, n, axis, norm, workers=workers)


# several axes


@pullback(fft.fft2, masks=("s",))
def pull_scipy_fft2(out_bar, out, x, *, s=None, axes=(-2, -1), norm=None, workers=None):
    if s is None:
        return fft.fft2(out_bar, axes=axes, norm=norm, workers=workers)
    return fitted(fft.fft2(out_bar, axes=axes, norm=norm, workers=workers), x.shape)


@pushforward(fft.fft2)
def push_scipy_fft2(out, x, x_dot, *, s=None, axes=(-2, -1), norm=None, workers=None):
    return fft.fft2(x_dot, s, axes, norm, workers=workers)


@pullback(fft.ifft2, masks=("s",))
def pull_scipy_ifft2(out_bar, out, x, *, s=None, axes=(-2, -1), norm=None, workers=None):
    if s is None:
        return fft.ifft2(out_bar, axes=axes, norm=norm, workers=workers)
    return fitted(fft.ifft2(out_bar, axes=axes, norm=norm, workers=workers), x.shape)


@pushforward(fft.ifft2)
def push_scipy_ifft2(out, x, x_dot, *, s=None, axes=(-2, -1), norm=None, workers=None):
    return fft.ifft2(x_dot, s, axes, norm, workers=workers)


@pullback(fft.fftn, masks=("s",), linear=True)
def pull_scipy_fftn(out_bar, out, x, *, s=None, axes=None, norm=None, workers=None):
    if s is None:
        return fft.fftn(out_bar, axes=axes, norm=norm, workers=workers)
    axes = several(x.ndim, s, axes)
    return fitted(fft.fftn(out_bar, axes=axes, norm=norm, workers=workers), x.shape)


@pushforward(fft.fftn)
def push_scipy_fftn(out, x, x_dot, *, s=None, axes=None, norm=None, workers=None):
    return fft.fftn(x_dot, s, axes, norm, workers=workers)


@pullback(fft.ifftn, masks=("s",), linear=True)
def pull_scipy_ifftn(out_bar, out, x, *, s=None, axes=None, norm=None, workers=None):
    if s is None:
        return fft.ifftn(out_bar, axes=axes, norm=norm, workers=workers)
    axes = several(x.ndim, s, axes)
    return fitted(fft.ifftn(out_bar, axes=axes, norm=norm, workers=workers), x.shape)


@pushforward(fft.ifftn)
def push_scipy_ifftn(out, x, x_dot, *, s=None, axes=None, norm=None, workers=None):
    return fft.ifftn(x_dot, s, axes, norm, workers=workers)


def several(ndim, s, axes):
    """Return the axes of a transform; a single length or axis needs no tuple."""
    s = (s,) if isinstance(s, int) else s
    return transformed(ndim, s, (axes,) if isinstance(axes, int) else axes)


def turned_norm(norm):
    """Return the norm of the transform in the other direction."""
    if norm == "ortho":
        return norm
    return "backward" if norm == "forward" else "forward"


def real_cotangent(out_bar, x, s, axes, norm):
    """Return the cotangent of a real array from the cotangent of its half spectrum (rfftn)."""
    s = (s,) if isinstance(s, int) else s
    return real_to_half(out_bar, x, s, several(x.ndim, s, axes), norm)


def half_cotangent(out_bar, x, s, axes, norm):
    """Return the cotangent of a half spectrum from the cotangent of its real array (irfftn)."""
    return half_to_real(out_bar, x, s, several(x.ndim, s, axes), norm)


@pullback(fft.rfft2, masks=("s",), linear=True)
def pull_scipy_rfft2(out_bar, out, x, *, s=None, axes=(-2, -1), norm=None, workers=None):
    return real_cotangent(out_bar, x, s, axes, norm)


@pushforward(fft.rfft2)
def push_scipy_rfft2(out, x, x_dot, *, s=None, axes=(-2, -1), norm=None, workers=None):
    return fft.rfft2(x_dot, s, axes, norm, workers=workers)


@pullback(fft.rfftn, masks=("s",), linear=True)
def pull_scipy_rfftn(out_bar, out, x, *, s=None, axes=None, norm=None, workers=None):
    return real_cotangent(out_bar, x, s, axes, norm)


@pushforward(fft.rfftn)
def push_scipy_rfftn(out, x, x_dot, *, s=None, axes=None, norm=None, workers=None):
    return fft.rfftn(x_dot, s, axes, norm, workers=workers)


@pullback(fft.irfft2, masks=("s",), linear=True)
def pull_scipy_irfft2(out_bar, out, x, *, s=None, axes=(-2, -1), norm=None, workers=None):
    return half_cotangent(out_bar, x, s, axes, norm)


@pushforward(fft.irfft2)
def push_scipy_irfft2(out, x, x_dot, *, s=None, axes=(-2, -1), norm=None, workers=None):
    return fft.irfft2(x_dot, s, axes, norm, workers=workers)


@pullback(fft.irfftn, masks=("s",), linear=True)
def pull_scipy_irfftn(out_bar, out, x, *, s=None, axes=None, norm=None, workers=None):
    return half_cotangent(out_bar, x, s, axes, norm)


@pushforward(fft.irfftn)
def push_scipy_irfftn(out, x, x_dot, *, s=None, axes=None, norm=None, workers=None):
    return fft.irfftn(x_dot, s, axes, norm, workers=workers)


@pullback(fft.hfft2, masks=("s",), linear=True)
def pull_scipy_hfft2(out_bar, out, x, *, s=None, axes=(-2, -1), norm=None, workers=None):
    """It is irfft2 of the conjugate, with the norm turned."""
    return np.conj(half_cotangent(out_bar, x, s, axes, turned_norm(norm)))


@pushforward(fft.hfft2)
def push_scipy_hfft2(out, x, x_dot, *, s=None, axes=(-2, -1), norm=None, workers=None):
    return fft.hfft2(x_dot, s, axes, norm, workers=workers)


@pullback(fft.hfftn, masks=("s",), linear=True)
def pull_scipy_hfftn(out_bar, out, x, *, s=None, axes=None, norm=None, workers=None):
    return np.conj(half_cotangent(out_bar, x, s, axes, turned_norm(norm)))


@pushforward(fft.hfftn)
def push_scipy_hfftn(out, x, x_dot, *, s=None, axes=None, norm=None, workers=None):
    return fft.hfftn(x_dot, s, axes, norm, workers=workers)


@pullback(fft.ihfft2, masks=("s",), linear=True)
def pull_scipy_ihfft2(out_bar, out, x, *, s=None, axes=(-2, -1), norm=None, workers=None):
    """It is the conjugate of rfft2, with the norm turned."""
    return real_cotangent(np.conj(out_bar), x, s, axes, turned_norm(norm))


@pushforward(fft.ihfft2)
def push_scipy_ihfft2(out, x, x_dot, *, s=None, axes=(-2, -1), norm=None, workers=None):
    return fft.ihfft2(x_dot, s, axes, norm, workers=workers)


@pullback(fft.ihfftn, masks=("s",), linear=True)
def pull_scipy_ihfftn(out_bar, out, x, *, s=None, axes=None, norm=None, workers=None):
    return real_cotangent(np.conj(out_bar), x, s, axes, turned_norm(norm))


@pushforward(fft.ihfftn)
def push_scipy_ihfftn(out, x, x_dot, *, s=None, axes=None, norm=None, workers=None):
    return fft.ihfftn(x_dot, s, axes, norm, workers=workers)


# cosines and sines

TRANSPOSED = {1: 1, 2: 3, 3: 2, 4: 4}
COSINE_ALONE = {1: (0, -1), 2: (0,), 3: (0,), 4: ()}
SINE_ALONE = {1: (), 2: (-1,), 3: (-1,), 4: ()}


def scaled(x, axes, places, factor):
    """Return x with some numbers along each axis multiplied."""
    x = np.array(x)
    for axis in axes:
        line = np.moveaxis(x, axis, 0)
        for place in places:
            line[place] *= factor
    return x


def transposed(transform, alone, kind, out_bar, x, type, s, axes, norm, workers, orthogonalize):
    """Return the cotangent of x under a cosine or sine transform.

    `kind` is the type of the matrix without inversion. The transposed matrix is one of these, too,
    but for the frequencies that stand alone: the others count twice. Made orthogonal, none does.
    """
    if orthogonalize is None or np.iscomplexobj(x):
        orthogonalize = norm == "ortho"  # SciPy looks at the norm only where x is complex
    axes = several(x.ndim, s, axes)
    if not orthogonalize and kind in (1, 2):
        out_bar = scaled(out_bar, axes, alone[kind], 2.0)
    settings = {"workers": workers, "orthogonalize": orthogonalize}
    x_bar = transform(out_bar, TRANSPOSED[type], None, axes, norm, **settings)
    if not orthogonalize and kind in (1, 3):
        x_bar = scaled(x_bar, axes, alone[kind], 0.5)
    return fitted(x_bar, x.shape)


@pullback(fft.dct, masks=("n",), linear=True)
def pull_dct(
    out_bar, out, x, *, type=2, n=None, axis=-1, norm=None, workers=None, orthogonalize=None
):
    given = type, None, (axis,), norm, workers, orthogonalize
    return transposed(fft.dctn, COSINE_ALONE, type, out_bar, x, *given)


@pushforward(fft.dct)
def push_dct(
    out, x, x_dot, *, type=2, n=None, axis=-1, norm=None, workers=None, orthogonalize=None
):
    return fft.dct(x_dot, type, n, axis, norm, False, workers, orthogonalize)


@pullback(fft.dctn, masks=("s",), linear=True)
def pull_dctn(
    out_bar, out, x, *, type=2, s=None, axes=None, norm=None, workers=None, orthogonalize=None
):
    given = type, s, axes, norm, workers, orthogonalize
    return transposed(fft.dctn, COSINE_ALONE, type, out_bar, x, *given)


@pushforward(fft.dctn)
def push_dctn(
    out, x, x_dot, *, type=2, s=None, axes=None, norm=None, workers=None, orthogonalize=None
):
    settings = {"workers": workers, "orthogonalize": orthogonalize}
    return fft.dctn(x_dot, type, s, axes, norm, **settings)


@pullback(fft.idct, masks=("n",), linear=True)
def pull_idct(
    out_bar, out, x, *, type=2, n=None, axis=-1, norm=None, workers=None, orthogonalize=None
):
    given = type, None, (axis,), norm, workers, orthogonalize
    return transposed(fft.idctn, COSINE_ALONE, TRANSPOSED[type], out_bar, x, *given)


@pushforward(fft.idct)
def push_idct(
    out, x, x_dot, *, type=2, n=None, axis=-1, norm=None, workers=None, orthogonalize=None
):
    return fft.idct(x_dot, type, n, axis, norm, False, workers, orthogonalize)


@pullback(fft.idctn, masks=("s",), linear=True)
def pull_idctn(
    out_bar, out, x, *, type=2, s=None, axes=None, norm=None, workers=None, orthogonalize=None
):
    given = type, s, axes, norm, workers, orthogonalize
    return transposed(fft.idctn, COSINE_ALONE, TRANSPOSED[type], out_bar, x, *given)


@pushforward(fft.idctn)
def push_idctn(
    out, x, x_dot, *, type=2, s=None, axes=None, norm=None, workers=None, orthogonalize=None
):
    settings = {"workers": workers, "orthogonalize": orthogonalize}
    return fft.idctn(x_dot, type, s, axes, norm, **settings)


@pullback(fft.dst, masks=("n",), linear=True)
def pull_dst(
    out_bar, out, x, *, type=2, n=None, axis=-1, norm=None, workers=None, orthogonalize=None
):
    given = type, None, (axis,), norm, workers, orthogonalize
    return transposed(fft.dstn, SINE_ALONE, type, out_bar, x, *given)


@pushforward(fft.dst)
def push_dst(
    out, x, x_dot, *, type=2, n=None, axis=-1, norm=None, workers=None, orthogonalize=None
):
    return fft.dst(x_dot, type, n, axis, norm, False, workers, orthogonalize)


@pullback(fft.dstn, masks=("s",), linear=True)
def pull_dstn(
    out_bar, out, x, *, type=2, s=None, axes=None, norm=None, workers=None, orthogonalize=None
):
    given = type, s, axes, norm, workers, orthogonalize
    return transposed(fft.dstn, SINE_ALONE, type, out_bar, x, *given)


@pushforward(fft.dstn)
def push_dstn(
    out, x, x_dot, *, type=2, s=None, axes=None, norm=None, workers=None, orthogonalize=None
):
    settings = {"workers": workers, "orthogonalize": orthogonalize}
    return fft.dstn(x_dot, type, s, axes, norm, **settings)


@pullback(fft.idst, masks=("n",), linear=True)
def pull_idst(
    out_bar, out, x, *, type=2, n=None, axis=-1, norm=None, workers=None, orthogonalize=None
):
    given = type, None, (axis,), norm, workers, orthogonalize
    return transposed(fft.idstn, SINE_ALONE, TRANSPOSED[type], out_bar, x, *given)


@pushforward(fft.idst)
def push_idst(
    out, x, x_dot, *, type=2, n=None, axis=-1, norm=None, workers=None, orthogonalize=None
):
    return fft.idst(x_dot, type, n, axis, norm, False, workers, orthogonalize)


@pullback(fft.idstn, masks=("s",), linear=True)
def pull_idstn(
    out_bar, out, x, *, type=2, s=None, axes=None, norm=None, workers=None, orthogonalize=None
):
    given = type, s, axes, norm, workers, orthogonalize
    return transposed(fft.idstn, SINE_ALONE, TRANSPOSED[type], out_bar, x, *given)


@pushforward(fft.idstn)
def push_idstn(
    out, x, x_dot, *, type=2, s=None, axes=None, norm=None, workers=None, orthogonalize=None
):
    settings = {"workers": workers, "orthogonalize": orthogonalize}
    return fft.idstn(x_dot, type, s, axes, norm, **settings)


# places

pullback(fft.fftshift)(pull_fftshift)
pushforward(fft.fftshift)(push_fftshift)
pullback(fft.ifftshift)(pull_ifftshift)
pushforward(fft.ifftshift)(push_ifftshift)
pullback(fft.fftfreq, fft.rfftfreq)(pull_fftfreq)
pushforward(fft.fftfreq, fft.rfftfreq)(push_fftfreq)
