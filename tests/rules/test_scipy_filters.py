"""The rules of rules/scipy_filters.py and scipy_geometry.py."""

import numpy as np
import pytest

import s2sad
from s2sad.testing import check_rule

N = pytest.importorskip("scipy.ndimage")
rng = np.random.default_rng(12)
A = rng.standard_normal((5, 6))
MODES = ("reflect", "mirror", "nearest", "wrap", "constant")
LABELS = np.array([[1, 1, 0, 2, 2, 0], [0, 1, 2, 2, 0, 3]] * 2 + [[0, 0, 0, 2, 1, 1]])


def n(*shape):
    return rng.standard_normal(shape)


ROWS = [
    (N.correlate, (n(7), n(3)), {}),
    (N.convolve, (n(7), n(4)), {"origin": 1}),
    (N.maximum_filter, (A,), {"size": (1, 3), "origin": (0, 1)}),
    (N.median_filter, (n(7),), {"size": 4}),
    (N.percentile_filter, (n(7),), {"percentile": 30, "size": 3}),
    (N.shift, (n(7),), {"shift": 1.3}),
    (N.shift, (A,), {"shift": (0.3, -1.2), "order": 1}),
    (N.zoom, (n(5),), {"zoom": 1.7}),
    (N.zoom, (A,), {"zoom": (2, 0.6), "order": 1}),
    (N.zoom, (A,), {"zoom": 1}),
    (N.zoom, (A,), {"zoom": 2, "order": 1, "mode": "grid-constant", "grid_mode": True}),
    (N.rotate, (A,), {"angle": 30.0, "order": 1}),
    (N.rotate, (A,), {"angle": 90}),
    (N.rotate, (A,), {"angle": -20.0, "reshape": False}),
    (N.rotate, (n(3, 4, 2),), {"angle": 25.0, "order": 1, "axes": (0, 1)}),
    (N.affine_transform, (A,), {"matrix": np.array([[0.9, 0.1], [0.0, 1.1]]), "order": 1}),
    (N.affine_transform, (A,), {"matrix": np.array([0.9, 0.8]), "offset": 0.2}),
    (N.affine_transform, (A,), {"matrix": np.eye(3)[:2] + 0.1, "output_shape": (3, 2)}),
]
for mode in MODES:
    ROWS += [
        (N.correlate, (A, n(2, 3)), {"mode": mode, "cval": 0.4}),
        (N.correlate, (A, n(3, 3)), {"mode": mode, "origin": (1, -1)}),
        (N.convolve, (A, n(2, 3)), {"mode": mode, "cval": 0.4, "origin": (0, 1)}),
        (N.maximum_filter, (A,), {"size": 2, "mode": mode}),
        (N.minimum_filter, (A,), {"size": 3, "mode": mode, "cval": 0.1}),
        (N.median_filter, (A,), {"size": 3, "mode": mode, "cval": 0.1}),
        (N.sobel, (A,), {"mode": mode}),
        (N.sobel, (A,), {"axis": 0, "mode": [mode, "wrap"], "cval": 0.3}),
        (N.prewitt, (A,), {"axis": 0, "mode": mode}),
        (N.laplace, (A,), {"mode": mode, "cval": 0.3}),
        (N.laplace, (n(4, 3, 2),), {"mode": ["wrap", mode, "constant"]}),
        (N.gaussian_laplace, (A,), {"sigma": 0.6, "mode": mode}),
        (N.gaussian_laplace, (A,), {"sigma": (0.6, 0.9), "mode": mode, "truncate": 2.0}),
        (N.gaussian_gradient_magnitude, (A,), {"sigma": 0.6, "mode": mode, "cval": 0.3}),
        (N.uniform_filter, (A,), {"size": 3, "mode": mode}),
        (N.uniform_filter, (A,), {"size": (1, 2), "mode": mode, "cval": 0.2, "origin": (0, -1)}),
        (N.shift, (A,), {"shift": 0.7, "mode": mode}),
        (N.zoom, (A,), {"zoom": 1.5, "mode": mode}),
    ]
for fn in (N.sum, N.mean, N.variance, N.maximum, N.minimum):
    ROWS += [
        (fn, (A,), {}),
        (fn, (A,), {"labels": LABELS}),
        (fn, (A,), {"labels": LABELS, "index": 2}),
        (fn, (A,), {"labels": LABELS, "index": [1, 3]}),
    ]


@pytest.mark.parametrize("fn, args, settings", ROWS)
def test_rule(fn, args, settings):
    check_rule(fn, *args, **settings)


def test_center_of_mass():
    def f(x):
        rows, columns = N.center_of_mass(x * x)
        return rows * columns + rows

    s2sad.check_grads(f, (A,), order=1)
    assert s2sad.value_and_grad(f)(A)[0] == f(A)


def test_an_output_is_refused():
    with pytest.raises(s2sad.Error):
        s2sad.grad(lambda x: np.sum(N.sobel(x, 0, np.empty((5, 6)))))(A)
    with pytest.raises(s2sad.Error):
        s2sad.grad(lambda x: np.sum(N.maximum_filter(x, 3, output=np.empty((5, 6)))))(A)
    with pytest.raises(s2sad.Error):
        s2sad.grad(lambda x: np.sum(N.median_filter(x, footprint=np.ones((2, 2)))))(A)
