"""The rules of rules/fft.py: odd and even lengths, cut off and filled up, on every axis."""

import numpy as np
import pytest

import s2sad
from s2sad.registry import rule_for
from s2sad.testing import check_rule, differences

rng = np.random.default_rng(11)


def normal(*shape):
    return rng.standard_normal(shape)


def wave(*shape):
    return normal(*shape) + 1j * normal(*shape)


LENGTHS = [1, 2, 3, 4, 5, 6]
NORMS = [None, "backward", "ortho", "forward"]
ALONG = [
    {},
    {"n": 3},
    {"n": 4},
    {"n": 7},
    {"n": 8},
    {"axis": 0},
    {"axis": 0, "n": 2},
    {"axis": 0, "n": 5},
    {"axis": -2, "n": 4},
    {"axis": 1, "n": 1},
]
SEVERAL = [
    {},
    {"axes": (0, 1)},
    {"axes": (1, 0)},
    {"axes": (2, 0)},
    {"axes": (-1, -3)},
    {"s": (3, 4), "axes": (1, 2)},
    {"s": (5, 3), "axes": (0, 2)},
    {"s": (3, 5), "axes": (-1, 0)},
    {"s": (4, -1), "axes": (0, 1)},
    {"s": (-1, 6), "axes": (0, 1)},
]
MANY = [*SEVERAL, {"axes": (1,)}, {"axes": (2, 0, 1)}, {"s": (3, 4, 5), "axes": (0, 1, 2)}]

ANY = [np.fft.fft, np.fft.ifft]
REAL = [np.fft.rfft, np.fft.ihfft]
HALF = [np.fft.irfft, np.fft.hfft]
ANY_SEVERAL = [np.fft.fft2, np.fft.ifft2, np.fft.fftn, np.fft.ifftn]
REAL_SEVERAL = [np.fft.rfft2, np.fft.rfftn]
HALF_SEVERAL = [np.fft.irfft2, np.fft.irfftn]

A = normal(2, 3, 5)
Z = wave(2, 3, 4)


def name(fn):
    return fn.__name__ if callable(fn) else str(fn)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("fn", ANY + REAL + HALF, ids=name)
def test_lengths(fn, n, norm):
    if fn not in HALF or n > 1:
        check_rule(fn, normal(n), norm=norm)
    if fn not in REAL and (fn not in HALF or n > 1):
        check_rule(fn, wave(n), norm=norm)


@pytest.mark.parametrize("settings", ALONG, ids=str)
@pytest.mark.parametrize("fn", ANY + REAL + HALF, ids=name)
def test_along_an_axis(fn, settings):
    check_rule(fn, normal(3, 5), **settings)
    check_rule(fn, normal(3, 6), **settings, norm="ortho")
    if fn not in REAL:
        check_rule(fn, wave(3, 5), **settings)


@pytest.mark.parametrize("settings", SEVERAL, ids=str)
@pytest.mark.parametrize("fn", ANY_SEVERAL + REAL_SEVERAL + HALF_SEVERAL, ids=name)
def test_along_two_axes(fn, settings):
    check_rule(fn, A, **settings)
    if fn not in REAL_SEVERAL:
        check_rule(fn, Z, **settings)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("settings", MANY, ids=str)
@pytest.mark.parametrize("fn", [np.fft.fftn, np.fft.ifftn, np.fft.rfftn, np.fft.irfftn], ids=name)
def test_along_several_axes(fn, settings, norm):
    check_rule(fn, A, **settings, norm=norm)
    if fn is not np.fft.rfftn:
        check_rule(fn, Z, **settings, norm=norm)


@pytest.mark.filterwarnings("ignore:`axes` should not be `None`:DeprecationWarning")
@pytest.mark.parametrize("fn", [np.fft.fftn, np.fft.ifftn, np.fft.rfftn, np.fft.irfftn], ids=name)
def test_lengths_without_axes(fn):
    check_rule(fn, A, s=(2, 4))
    check_rule(fn, A, s=(3, 2, 6))


def test_an_axis_given_twice():
    check_rule(np.fft.fftn, A, axes=(0, 1, 0))
    check_rule(np.fft.ifftn, Z, axes=(-1, 2))
    with pytest.raises(NotImplementedError, match="twice"):
        rule_for(np.fft.fftn).pullback(Z, Z, Z, s=(2, 4), axes=(0, 0))


@pytest.mark.parametrize("fn", [np.fft.fftshift, np.fft.ifftshift], ids=name)
@pytest.mark.parametrize("axes", [None, 0, -1, (0, 2), (1, -1)], ids=str)
def test_shift(fn, axes):
    check_rule(fn, A, axes=axes)
    check_rule(fn, Z, axes=axes)


@pytest.mark.parametrize("fn", [np.fft.fftfreq, np.fft.rfftfreq], ids=name)
def test_frequencies_depend_on_the_spacing(fn):
    check_rule(fn, 5, 1.0)
    check_rule(fn, 6, 0.3)
    check_rule(fn, 7, d=np.float64(2.5))


def test_half_a_spectrum_ignores_some_imaginary_parts():
    bar = rule_for(np.fft.irfft).pullback(normal(6), normal(6), wave(4))
    assert bar[0].imag == bar[-1].imag == 0.0


# --- in programs ---------------------------------------------------------------------------------


def filtered(x, w):
    spectrum = np.fft.rfft(x)
    return np.sum(np.fft.irfft(spectrum * w, len(x)) ** 2)


def power(x, w):
    spectrum = np.fft.fftshift(np.fft.fft(x, axis=0), axes=0)
    return np.sum(w * np.abs(spectrum) ** 2)


def padded(x, w):
    product = np.fft.fft(x, 2 * len(x)) * np.fft.fft(w, 2 * len(x))
    return np.sum(np.fft.ifft(product).real ** 3)


def plane(x, w):
    return np.sum(np.abs(np.fft.ifft2(np.fft.fft2(x) * w)) ** 2)


def box(x, w):
    spectrum = np.fft.rfftn(x, s=(4, 6), axes=(0, 1), norm="ortho") * w
    return np.sum(np.fft.irfftn(spectrum, s=(3, 5), axes=(0, 1)) ** 2)


def hermitian(x, w):
    return np.sum(np.fft.hfft(np.fft.ihfft(x) * w) ** 2)


def frequencies(x, w):
    k = np.fft.rfftfreq(8, d=x)
    return np.sum(w * k * k)


PROGRAMS = [
    (filtered, normal(7), wave(4)),
    (filtered, normal(6), normal(4)),
    (power, normal(5, 2), normal(5, 2)),
    (padded, normal(3), normal(4)),
    (plane, normal(4, 3), wave(4, 3)),
    (plane, wave(2, 5), normal(2, 5)),
    (box, normal(5, 4), wave(4, 4)),
    (hermitian, normal(6), normal(4)),
    (hermitian, normal(7), wave(4)),
    (frequencies, 0.7, normal(5)),
]


@pytest.mark.parametrize("f, x, w", PROGRAMS)
def test_gradient(f, x, w):
    for k, bar in enumerate(s2sad.grad(f, wrt=(0, 1))(x, w)):
        given = (x, w)[k]
        assert np.shape(bar) == np.shape(given) and np.iscomplexobj(bar) == np.iscomplexobj(given)
        direction = np.asarray(rng.standard_normal(np.shape(given)))
        if np.iscomplexobj(given):
            direction = direction * (0.6 + 0.8j)
        directions = [direction if i == k else None for i in range(2)]
        expected, bound = differences(f, (x, w), directions)
        assert abs(np.real(np.sum(bar * direction)) - expected) <= 10 * bound + 1e-12


def test_single_precision():
    x = normal(6).astype(np.float32)
    bar = s2sad.grad(filtered)(x, np.ones(4, np.complex64))
    assert bar.dtype == np.float32 and np.allclose(bar, 2 * x, atol=1e-5)
    assert s2sad.grad(padded)(x, x).dtype == np.float32


def test_text():
    """What a transform takes by default is not written."""
    text = s2sad.grad(plane, wrt=(0, 1)).source(normal(4, 3), wave(4, 3))
    assert "np.real(np.fft.fft2(t_bar * w))" in text
    assert "None" not in text and ".copy()" not in text  # what is shown of a transform is new


@pytest.mark.parametrize("fn", [*HALF, *HALF_SEVERAL], ids=name)
@pytest.mark.parametrize("settings", [{}, {"norm": "ortho"}], ids=str)
def test_half_a_spectrum_may_be_real(fn, settings):
    """Its cotangent is real, too."""
    check_rule(fn, A, **settings)
    gradient = s2sad.grad(lambda a: np.sum(fn(a) ** 3) + np.sum(a))(A)
    assert gradient.dtype == A.dtype
