"""The rules of rules/scipy_spectra.py, of filters that start from a state, and of correlations."""

import numpy as np
import pytest

import s2sad
from s2sad.testing import check_rule
from tests.slopes import check

signal = pytest.importorskip("scipy.signal")
stats = pytest.importorskip("scipy.stats")
integrate = pytest.importorskip("scipy.integrate")

X = np.sin(0.7 * np.arange(24.0)) + 0.3 * np.cos(1.9 * np.arange(24.0) + 0.2)
Y = np.cos(0.4 * np.arange(24.0)) + 0.2 * np.sin(2.3 * np.arange(24.0))
B, A = np.array([0.2, 0.3, 0.1]), np.array([1.0, -0.4, 0.1])


def power(x):
    f, p = signal.welch(x, fs=2.0, nperseg=8)
    return np.sum(p**2 * f)


def power_otherwise(x):
    _, p = signal.welch(x, 2.0, "hamming", 7, 2, 9, "linear", True, "spectrum")
    _, q = signal.welch(x, window=np.ones(6), noverlap=0, detrend=False, return_onesided=False)
    return np.sum(p**2) + np.sum(q**2)


def along_axes(x):
    _, p = signal.welch(np.outer(x, X[:2]), nperseg=8, axis=0)
    return np.sum(p**2)


def periods(x):
    _, p = signal.periodogram(x, 3.0)
    _, q = signal.periodogram(x, window="hann", nfft=32, scaling="spectrum")
    _, r = signal.periodogram(x, nfft=10)
    return np.sum(p**2) + np.sum(q**2) + np.sum(r**2)


@pytest.mark.parametrize("f", [power, power_otherwise, along_axes, periods])
def test_spectra(f):
    check(f, X)
    assert s2sad.value_and_grad(f)(X)[0] == f(X)


ROWS = [
    (signal.welch, (X[:9],), {"nperseg": 4}),
    (signal.welch, (X[:9],), {"nperseg": 5, "scaling": "spectrum", "detrend": "linear"}),
    (signal.periodogram, (X[:9],), {"window": "hann"}),
    (signal.periodogram, (X[:9],), {"nfft": 12, "return_onesided": False}),
    (signal.csd, (X[:9], Y[:9]), {"nperseg": 4}),
]


@pytest.mark.parametrize("fn, args, settings", ROWS)
def test_rule(fn, args, settings):
    check_rule(fn, *args, **settings)


def across(x, y):
    _, p = signal.csd(x, y, nperseg=8)
    return np.sum(np.abs(p) ** 2) + np.sum(np.real(p)) + np.sum(np.imag(p) ** 3)


def alike(x, y):
    _, c = signal.coherence(x, y, nperseg=8)
    return np.sum(c**2)


@pytest.mark.parametrize("f", [across, alike])
def test_cross_spectra(f):
    check(f, X, Y)
    assert s2sad.value_and_grad(f)(X, Y)[0] == f(X, Y)


def answer(b, a):
    _, h = signal.freqz(b, a, worN=16)
    _, g = signal.freqz(b, worN=np.array([0.3, 1.2]), fs=9.0)
    return np.sum(np.abs(h) ** 2) + np.sum(np.real(g)) + np.sum(np.imag(h))


def from_a_state(x, zi):
    y, last = signal.lfilter(B, A, x, zi=zi)
    return np.sum(y**2)


def settled(x, b):
    y, _ = signal.lfilter(b, A, x, zi=signal.lfilter_zi(B, A) * x[0])
    return np.sum(y**3)


def test_filters():
    check(answer, B, A)
    check(from_a_state, X, np.array([0.3, -0.2]))
    check(settled, X, B)


def test_states_of_several_signals():
    check(from_a_state, X.reshape(3, 8), np.array([[0.3, -0.2], [0.1, 0.4], [1.0, 0.0]]))


def in_pieces(x, b, a, zi):
    """Where one piece ends the next begins; the filter divides by a[0]."""
    y, state = signal.lfilter(b, a, x, axis=0, zi=zi)
    z, state = signal.lfilter(b, a, 2.0 * x, axis=0, zi=state)
    return (
        np.sum(np.sin(y)) + np.sum(z**2) + np.sum(np.cos(state) * np.arange(1, state.shape[-1] + 1))
    )


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_the_state_in_which_a_filter_ends(count):
    a, b = np.array([1.3, -0.4, 0.1, 0.2]), np.array([0.4, 0.2])
    check(in_pieces, X[:count], b, a, np.array([0.3, -0.2, 0.5]))


def test_states_along_another_axis():
    a, b = np.array([0.9, -0.4, 0.3]), np.array([0.4, 0.2, 0.7])
    check(in_pieces, X[:8].reshape(4, 2), b, a, np.array([[0.3, -0.2], [0.1, 0.6]]))


def p_value(x):
    return stats.pearsonr(x, Y).pvalue


def own_median(x):
    return np.sum(signal.welch(x, nperseg=8, average="median")[1])


@pytest.mark.parametrize("f", [p_value, own_median])
def test_refusals(f):
    with pytest.raises(s2sad.UnsupportedError, match="derivative") as caught:
        s2sad.grad(f)(X)
    assert caught.value.place is not None


def correlation(x, y):
    r, p = stats.pearsonr(x, y)
    return r**2 + stats.pearsonr(x, y * y).statistic


def line(x, y):
    found = stats.linregress(x, y)
    slope, intercept, r, _, _ = stats.linregress(x * x, y)
    return found.slope**2 + found.intercept * found.rvalue + slope * intercept + r


@pytest.mark.parametrize("f", [correlation, line])
def test_correlations(f):
    check(f, X, Y)
    assert s2sad.value_and_grad(f)(X, Y)[0] == f(X, Y)


PLACES = np.cumsum(np.abs(Y) + 0.1)


def running(y):
    first = integrate.cumulative_simpson(y, x=PLACES, initial=0.0)
    whole = integrate.cumulative_simpson(y.reshape(8, 3), dx=0.2, axis=0)
    return np.sum(first**2) + np.sum(whole**2)


def test_running_integrals():
    check(running, X)
    with pytest.raises(s2sad.UnsupportedError, match="setting `x`"):
        s2sad.grad(lambda x: np.sum(integrate.cumulative_simpson(Y, x=x)))(PLACES)


def test_an_integral_within_an_integral():
    """What is said to do instead of dblquad."""

    def f(a):
        def inner(x):
            return integrate.quad(lambda y: np.exp(-a * x * y), 0, x)[0]

        return integrate.quad(inner, 0, 2)[0]

    assert s2sad.grad(f)(1.3) == pytest.approx((f(1.301) - f(1.299)) / 0.002, rel=1e-5)
