"""The rules of rules/scipy_signal.py, a row for each function and setting."""

import numpy as np
import pytest

import s2sad
from s2sad.testing import check_rule
from tests import slopes

S = pytest.importorskip("scipy.signal")
rng = np.random.default_rng(3)


def n(*shape):
    return rng.standard_normal(shape)


def w(*shape):
    return n(*shape) + 1j * n(*shape)


ROWS = [
    (S.lfilter, (n(3), np.array([1.0, 0.3, -0.2]), n(7)), {}),
    (S.lfilter, (n(3), np.array([1.3, 0.3]), n(2, 7)), {}),
    (S.lfilter, (n(2), np.array([2.0]), n(7, 2)), {"axis": 0}),
    (S.detrend, (n(6),), {}),
    (S.detrend, (n(3, 6),), {"type": "constant", "axis": 0}),
]
for mode in ("full", "same", "valid"):
    ROWS += [
        (S.convolve, (n(5), n(3)), {"mode": mode}),
        (S.convolve, (n(3), n(6)), {"mode": mode}),
        (S.convolve, (n(4, 5), n(2, 3)), {"mode": mode}),
        (S.fftconvolve, (n(5), n(3)), {"mode": mode}),
        (S.fftconvolve, (n(4, 5), n(2, 3)), {"mode": mode}),
        (S.oaconvolve, (n(5), n(3)), {"mode": mode}),
        (S.fftconvolve, (n(4, 5), n(4, 3)), {"mode": mode, "axes": 1}),
        (S.fftconvolve, (n(4, 5), n(1, 3)), {"mode": mode, "axes": (-1,)}),
        (S.fftconvolve, (n(1, 5), n(4, 3)), {"mode": mode, "axes": 1}),
        (S.oaconvolve, (n(4, 5), n(2, 3)), {"mode": mode, "axes": (0, 1)}),
        (S.correlate, (n(5), n(3)), {"mode": mode}),
        (S.correlate, (n(5), n(4)), {"mode": mode}),
        (S.correlate, (w(4, 5), w(3, 2)), {"mode": mode}),
    ]
    for boundary in ("fill", "wrap", "symm"):
        ROWS += [
            (S.convolve2d, (n(5, 6), n(2, 3)), {"mode": mode, "boundary": boundary}),
            (S.correlate2d, (n(5, 6), n(3, 2)), {"mode": mode, "boundary": boundary}),
        ]
SOS = S.butter(3, 0.3, output="sos")
B, A = S.butter(2, 0.2)
ROWS += [
    (S.convolve2d, (n(2, 3), n(3, 4)), {"mode": "valid"}),
    (S.convolve2d, (n(5, 6), n(2, 3)), {"mode": "same", "fillvalue": 0.7}),
    (S.correlate2d, (w(4, 5), w(2, 2)), {"mode": "full"}),
    (S.hilbert, (n(8),), {}),
    (S.hilbert, (n(7, 2),), {"axis": 0}),
    (S.hilbert, (n(7),), {"N": 10}),
    (S.hilbert, (n(7),), {"N": 4}),
    *[(S.resample, (n(k),), {"num": m}) for k in (6, 7) for m in (4, 5, 6, 7, 10, 11)],
    (S.resample, (n(2, 6),), {"num": 4, "axis": 1}),
    (S.savgol_filter, (n(9),), {"window_length": 5, "polyorder": 2}),
    (S.savgol_filter, (n(2, 5),), {"window_length": 5, "polyorder": 2, "deriv": 1, "delta": 0.3}),
    (S.savgol_filter, (n(9, 2),), {"window_length": 4, "polyorder": 1, "axis": 0}),
    *[
        (S.savgol_filter, (n(9),), {"window_length": 5, "polyorder": 2, "mode": mode, "cval": 0.3})
        for mode in ("mirror", "constant", "nearest", "wrap")
    ],
    (S.medfilt, (n(7),), {}),
    (S.medfilt, (n(5, 6),), {"kernel_size": (3, 1)}),
]


@pytest.mark.parametrize("x, axis", [(n(40), -1), (n(40, 2), 0), (n(2, 40), 1)])
def test_filters_to_and_fro(x, axis):
    """Their coefficients are constants."""
    for fn in (
        lambda x: S.sosfilt(SOS, x, axis=axis),
        lambda x: S.sosfiltfilt(SOS, x, axis=axis),
        lambda x: S.sosfiltfilt(SOS, x, axis=axis, padtype="even", padlen=4),
        lambda x: S.filtfilt(B, A, x, axis=axis),
        lambda x: S.filtfilt(B, A, x, axis=axis, padtype="constant"),
        lambda x: S.filtfilt(B, A, x, axis=axis, padtype=None),
        lambda x: S.decimate(x, 3, axis=axis),
        lambda x: S.decimate(x, 2, n=4, axis=axis),
        lambda x: S.upfirdn([1.0, 0.5, -0.2], x, up=2, axis=axis),
        lambda x: S.upfirdn([1.0, 0.5, -0.2, 0.3], x, up=2, down=3, axis=axis),
        lambda x: S.upfirdn([0.7], x, down=3, axis=axis),
    ):
        s2sad.check_grads(fn, (x,), order=1)
        assert np.array_equal(s2sad.vjp(fn, x)[0], fn(x))


def test_coefficients_to_differentiate_are_refused():
    for fn in (
        lambda b: S.filtfilt(b, [1.0, 0.2], np.arange(20.0)),
        lambda h: S.upfirdn(h, np.arange(5.0)),
        lambda s: S.sosfilt(np.concatenate([s, [1.0, 0.2, 0.1]])[None], np.arange(5.0)),
    ):
        with pytest.raises(s2sad.Error):
            s2sad.vjp(fn, np.array([0.3, 0.2, 0.1]))


@pytest.mark.parametrize("fn, args, settings", ROWS)
def test_rule(fn, args, settings):
    check_rule(fn, *args, **settings)


def through_filters(x):
    b, a = S.butter(3, 0.3)
    sos = S.butter(2, [0.1, 0.4], btype="band", output="sos")
    window = S.get_window(("kaiser", 4.0), len(x))
    y = S.lfilter(b, a, x) + S.sosfiltfilt(sos, x)
    return np.sum(np.convolve(y * window, S.firwin(7, 0.4), "valid") ** 2)


def through_filters_of_several_orders(x):
    total = 0.0
    for order in range(1, 3):
        b, a = S.butter(order, 0.3)
        total = total + np.sum(S.lfilter(b, a, x) ** 2)
    return total


@pytest.mark.parametrize("f", [through_filters, through_filters_of_several_orders])
def test_filters_that_are_designed_of_constants(f):
    s2sad.check_grads(f, (n(32),), order=1)


def test_where_a_filter_cuts_off_is_refused():
    with pytest.raises(s2sad.MissingRuleError, match="butter"):
        s2sad.grad(lambda w: np.sum(S.lfilter(*S.butter(2, w), np.ones(5))))(0.3)
    with pytest.raises(s2sad.MissingRuleError, match="butter"):
        s2sad.grad(lambda w: np.sum(S.butter(2, w)[0]))(0.3)


MODE = "same"


def convolved_by(mode):
    return lambda x: (
        np.sum(S.fftconvolve(x, KERNEL, mode) ** 2) * np.sum(S.convolve(KERNEL, x, mode))
    )


def by_a_word_outside(x):
    return np.sum(S.oaconvolve(x, KERNEL, mode=MODE, axes=0) * S.correlate(x, KERNEL, mode=MODE))


KERNEL = n(2, 3)


@pytest.mark.parametrize("f", [convolved_by("full"), convolved_by("valid")])
def test_modes_that_are_not_written_in_the_call(f):
    slopes.check(f, n(4, 5))


def test_a_mode_that_is_global():
    slopes.check(by_a_word_outside, n(4, 3))


LISTS = [
    lambda x: np.sum(S.convolve(x, [1, 2, 1], mode="same") ** 2),
    lambda x: (
        np.sum(S.fftconvolve(x, [1, 2, 1]) ** 2) + np.sum(S.correlate(x, [1, 2], "valid") ** 2)
    ),
    lambda x: np.sum(S.lfilter([1, 2], [1, 0.3], x) ** 2),
    lambda x: np.sum(
        S.convolve2d([[1, 2, 4], [0, 1, 3]], x[:4].reshape(2, 2), "same", "fill", 0.7)
    ),
]


@pytest.mark.parametrize("f", LISTS)
def test_filters_that_are_lists_of_integers(f):
    x = np.array([0.3, -0.7, 0.4, 1.1, -0.2, 0.6])
    want = [(f(x + 1e-6 * e) - f(x - 1e-6 * e)) / 2e-6 for e in np.eye(6)]
    assert np.allclose(s2sad.grad(f)(x), want, rtol=1e-6)
    assert s2sad.jvp(f, (x,), (x,))[1] == pytest.approx(np.dot(want, x), rel=1e-6)
