"""Settings that are words, which come from an argument, a default, a global or an object."""

from dataclasses import dataclass

import numpy as np
import pytest

import s2sad
from tests import slopes

X = np.array([0.3, 1.0, -0.4, 2.0, 0.7, -1.1])
MODE = "same"
SETTINGS = {"mode": "valid"}


def convolved(x, mode="same"):
    return np.sum(np.convolve(x, x[:3], mode=mode) ** 2)


def correlated(x, mode):
    return np.sum(np.correlate(x, x[:3], mode) ** 2)


def spectrum(x, norm):
    return np.sum(np.fft.irfft(np.fft.rfft(x, norm=norm) ** 2, norm=norm) ** 2)


def padded(x, mode):
    return np.sum(np.pad(x, 2, mode) ** 2)


def percentiles(x, method):
    return np.sum(np.percentile(x.reshape(2, 3), [20, 70], axis=1, method=method) ** 2)


def laid_out(x, order):
    A = x.reshape(2, 3) ** 2
    return np.ravel(A, order=order) @ np.arange(6) + A.flatten(order) @ np.arange(6) ** 2


def grid(x, indexing):
    a, b = np.meshgrid(x, x[:3], indexing=indexing)
    return np.sum(a * b * np.arange(18).reshape(a.shape))


def taken(x, mode):
    return np.sum(np.take(x, [1, -2, 1], mode=mode) ** 2) * x[0]


def length(x, order):
    return np.linalg.norm(x.reshape(2, 3), order)


def one_triangle(x, triangle):
    return np.sum(np.linalg.eigvalsh(np.outer(x, np.arange(6.0)) + np.diag(X), triangle) ** 3)


WORDS = [
    *((convolved, word) for word in ("same", "full", "valid")),
    *((correlated, word) for word in ("same", "full", "valid")),
    *((spectrum, word) for word in ("ortho", "forward")),
    *((padded, word) for word in ("edge", "wrap", "linear_ramp", "maximum")),
    *((percentiles, word) for word in ("linear", "hazen", "lower")),
    *((laid_out, word) for word in "CF"),
    *((grid, word) for word in ("ij", "xy")),
    *((taken, word) for word in ("wrap", "clip")),
    *((length, word) for word in ("fro", "nuc")),
    *((one_triangle, word) for word in "LU"),
]


@pytest.mark.parametrize(("f", "word"), WORDS)
def test_words_that_are_given(f, word):
    along = np.array([0.3, -0.7, 0.4, 1.1, -0.2, 0.6])

    def slope(g):
        return (g(X + 1e-6 * along) - g(X - 1e-6 * along)) / 2e-6

    want = slope(lambda x: f(x, word))
    assert s2sad.grad(f)(X, word) @ along == pytest.approx(want, rel=1e-6, abs=1e-6)
    assert s2sad.jvp(f, (X, word), (along, None))[1] == pytest.approx(want, rel=1e-6, abs=1e-6)
    second = slope(lambda x: s2sad.grad(f)(x, word))
    assert np.allclose(s2sad.hvp(f, (X, word), (along, None)), second, rtol=1e-5, atol=1e-6)


@dataclass
class Filter:
    mode: str = "full"

    def energy(self, x):
        return np.sum(np.convolve(x, x[:3], mode=self.mode) ** 2)


def test_words_from_elsewhere():
    filter_ = Filter()
    assert np.array_equal(s2sad.grad(convolved)(X), s2sad.grad(convolved)(X, "same"))
    for f, word in (
        (lambda x: convolved(x, MODE), "same"),
        (lambda x: convolved(x, SETTINGS["mode"]), "valid"),
        (filter_.energy, "full"),
    ):
        assert np.allclose(s2sad.grad(f)(X), s2sad.grad(convolved)(X, word))


DECIDING = [
    (lambda x, word: np.einsum(word, x, x), "i,i->"),
    (lambda x, word: np.sum(np.linalg.qr(x.reshape(2, 3), mode=word)[1] ** 2), "reduced"),
]


@pytest.mark.parametrize(("f", "word"), DECIDING)
def test_words_that_decide_what_a_result_is(f, word):
    slopes.check(f, X, word, constant=(1,))


def test_words_that_nobody_knows():
    def f(x, words):
        return sum([np.einsum(word, x, x) for word in words])

    with pytest.raises(s2sad.UnsupportedError, match="string that s2sad does not know") as caught:
        s2sad.grad(f, wrt=0)(X, ["i,i->", "i,i"])
    assert "Write the string where it is used" in str(caught.value)
