"""The rules of rules/scipy_signal.py, a row for each function and setting."""

import numpy as np
import pytest

from s2sad.testing import check_rule

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
        (S.correlate, (n(5), n(3)), {"mode": mode}),
        (S.correlate, (n(5), n(4)), {"mode": mode}),
        (S.correlate, (w(4, 5), w(3, 2)), {"mode": mode}),
    ]


@pytest.mark.parametrize("fn, args, settings", ROWS)
def test_rule(fn, args, settings):
    check_rule(fn, *args, **settings)
