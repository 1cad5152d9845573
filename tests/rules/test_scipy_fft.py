"""The rules of rules/scipy_fft.py: every transform, cut off and filled up, on every axis."""

import numpy as np
import pytest

import s2sad
from s2sad.testing import check_rule
from tests import slopes

F = pytest.importorskip("scipy.fft")
rng = np.random.default_rng(12)


def normal(*shape):
    return rng.standard_normal(shape)


def wave(*shape):
    return normal(*shape) + 1j * normal(*shape)


def name(value):
    return value.__name__ if callable(value) else str(value)


ANY = [F.fft, F.ifft]
REAL = [F.rfft, F.ihfft]
HALF = [F.irfft, F.hfft]
ANY_SEVERAL = [F.fft2, F.ifft2, F.fftn, F.ifftn]
REAL_SEVERAL = [F.rfft2, F.rfftn, F.ihfft2, F.ihfftn]
HALF_SEVERAL = [F.irfft2, F.irfftn, F.hfft2, F.hfftn]
CURVES = [F.dct, F.idct, F.dst, F.idst]
SURFACES = [F.dctn, F.idctn, F.dstn, F.idstn]

ALONG = [
    {},
    {"n": 3},
    {"n": 8, "norm": "ortho"},
    {"axis": 0, "norm": "forward"},
    {"axis": -2, "n": 4, "workers": 2},
]
SEVERAL = [
    {},
    {"axes": (1, 0), "norm": "forward"},
    {"axes": (-1, -3), "norm": "ortho"},
    {"s": (3, 4), "axes": (1, 2), "workers": 2},
    {"s": (5, 3), "axes": (2, 0), "norm": "forward"},
    {"s": (4, -1), "axes": (0, 1)},
]
NORMS = [
    {},
    {"norm": "forward"},
    {"norm": "ortho"},
    {"norm": "ortho", "orthogonalize": False},
    {"norm": "backward", "orthogonalize": True},
]


@pytest.mark.parametrize("settings", ALONG, ids=str)
@pytest.mark.parametrize("fn", ANY + REAL + HALF, ids=name)
def test_along_an_axis(fn, settings):
    check_rule(fn, normal(3, 5), **settings)
    check_rule(fn, normal(3, 6), **settings)
    if fn not in REAL:
        check_rule(fn, wave(3, 5), **settings)


@pytest.mark.parametrize("settings", SEVERAL, ids=str)
@pytest.mark.parametrize("fn", ANY_SEVERAL + REAL_SEVERAL + HALF_SEVERAL, ids=name)
def test_along_several_axes(fn, settings):
    check_rule(fn, normal(2, 3, 5), **settings)
    if fn not in REAL_SEVERAL:
        check_rule(fn, wave(2, 3, 4), **settings)


@pytest.mark.parametrize("fn", [F.fftn, F.ifftn, F.rfftn, F.irfftn, F.hfftn, F.ihfftn], ids=name)
def test_lengths_without_axes_and_a_single_one(fn):
    check_rule(fn, normal(2, 3, 5), s=(2, 4))
    check_rule(fn, normal(2, 3, 5), s=4, axes=1)
    check_rule(fn, normal(2, 3, 5), axes=0 if fn not in HALF_SEVERAL else 1)


@pytest.mark.parametrize("settings", NORMS, ids=str)
@pytest.mark.parametrize("type", [1, 2, 3, 4])
@pytest.mark.parametrize("fn", CURVES, ids=name)
def test_cosines_and_sines(fn, type, settings):
    check_rule(fn, normal(2), type=type, **settings)
    check_rule(fn, normal(3, 5), type=type, **settings)
    check_rule(fn, wave(4), type=type, **settings)
    check_rule(fn, normal(3, 5), type=type, n=4, axis=0, **settings)
    check_rule(fn, normal(3, 5), type=type, n=3, workers=2, **settings)
    if type != 1 or fn in (F.dst, F.idst):
        check_rule(fn, normal(1), type=type, **settings)


@pytest.mark.parametrize("settings", NORMS, ids=str)
@pytest.mark.parametrize("type", [1, 2, 3, 4])
@pytest.mark.parametrize("fn", SURFACES, ids=name)
def test_cosines_and_sines_along_several_axes(fn, type, settings):
    check_rule(fn, normal(2, 3, 4), type=type, **settings)
    check_rule(fn, normal(2, 3, 4), type=type, axes=(2, 0), **settings)
    check_rule(fn, normal(2, 3, 4), type=type, s=(2, 6), **settings)
    check_rule(fn, wave(3, 2), type=type, s=(4, 3), axes=(1, 0), **settings)


@pytest.mark.parametrize("fn", [F.fftshift, F.ifftshift], ids=name)
@pytest.mark.parametrize("axes", [None, 0, (0, 2)], ids=str)
def test_shift(fn, axes):
    check_rule(fn, normal(2, 3, 5), axes=axes)


@pytest.mark.parametrize("fn", [F.fftfreq, F.rfftfreq], ids=name)
def test_frequencies_depend_on_the_spacing(fn):
    check_rule(fn, 5, 1.0)
    check_rule(fn, 6, d=np.float64(0.3))


# --- in programs ---------------------------------------------------------------------------------


def filtered(x, w):
    n = F.next_fast_len(2 * len(x))
    spectrum = F.rfft(x, n, workers=1)
    return np.sum(F.irfft(spectrum * w[: n // 2 + 1], n)[: len(x)] ** 2)


def power(x, w):
    spectrum = F.fftshift(F.fft(x))
    return np.sum(w[: len(x)] * np.abs(spectrum) ** 2)


def compressed(x, w):
    c = F.dct(x, norm="ortho")
    c = np.where(np.abs(c) > 0.3, c, 0.0)
    return np.sum((F.idct(c, norm="ortho") - w[: len(x)]) ** 2)


def poisson(x, w):
    plane = np.outer(x, w[:4])
    k = np.arange(1, 5)
    spectrum = F.dstn(plane, type=1) / (np.arange(1, len(x) + 1)[:, None] ** 2 + k**2)
    return np.sum(F.idstn(spectrum, type=1) ** 2 * np.sin(plane))


def energy(x, w):
    k = F.rfftfreq(len(x), d=w[0] ** 2)
    return np.sum(np.abs(F.rfft(x)) ** 2 * k)


@pytest.mark.parametrize("f", [filtered, power, compressed, poisson, energy])
def test_gradient(f):
    slopes.check(f, normal(5), normal(7))


def test_what_destroys_its_argument_is_refused():
    def over(x):
        return np.sum(np.abs(F.fft(x, overwrite_x=True)))

    with pytest.raises(s2sad.Error, match="overwrite_x"):
        s2sad.grad(over)(normal(5))


def test_the_hankel_transform_is_refused():
    def hankel(x):
        return np.sum(F.fht(x, 0.1, 0.5))

    with pytest.raises(s2sad.Error, match="Hankel"):
        s2sad.grad(hankel)(normal(5))


HALVES = ["irfft", "hfft", "irfft2", "irfftn", "hfft2", "hfftn"]


@pytest.mark.parametrize("name", HALVES)
def test_half_a_spectrum_may_be_real(name):
    check_rule(getattr(F, name), np.random.default_rng(1).normal(size=(3, 4)))
