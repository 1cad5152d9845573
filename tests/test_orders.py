"""Second derivatives of rules, backward and forward, against differences of first ones."""

import numpy as np
import pytest

from s2sad.orders import check_second
from s2sad.registry import elementwise

RNG = np.random.default_rng(3)
A = RNG.uniform(0.2, 0.9, (3, 4)) * RNG.choice([-1.0, 1.0], (3, 4))
S = A[:, :3] @ A[:, :3].T + 2.0 * np.eye(3)
Z = A + 1j * A[::-1]
V, W = A[0], A[1]

ROWS = [
    *[(fn, (A,), {}) for fn in (np.exp, np.sin, np.tanh, np.arctan, np.expm1, np.square, np.abs)],
    *[(fn, (np.abs(A),), {}) for fn in (np.log, np.sqrt, np.log1p, np.cbrt, np.reciprocal)],
    *[(fn, (A, W), {}) for fn in (np.multiply, np.true_divide, np.hypot, np.arctan2)],
    *[(fn, (A, W), {}) for fn in (np.maximum, np.logaddexp, np.copysign)],
    *[(fn, (A,), {"axis": 1}) for fn in (np.sum, np.mean, np.max, np.min, np.cumsum)],
    *[(fn, (A,), {"axis": 0}) for fn in (np.sort, np.diff, np.flip, np.median)],
    *[(fn, (A, A.T), {}) for fn in (np.matmul, np.dot)],
    *[(fn, (S,), {}) for fn in (np.linalg.inv, np.linalg.det, np.linalg.cholesky, np.trace)],
    *[(fn, (Z,), {}) for fn in (np.exp, np.conj, np.real, np.abs, np.fft.fft, np.fft.ifft2)],
    *[(fn, (V,), {}) for fn in (np.fft.rfft, np.fft.hfft, np.diag, np.ediff1d, np.linalg.norm)],
    (np.power, (np.abs(A), W), {}),
    (np.linalg.solve, (S, V[:3]), {}),
    (np.pad, (V,), {"pad_width": 2, "mode": "reflect"}),
    (np.append, (V, W), {}),
    (np.concatenate, ([V, W],), {}),
    (np.stack, ([V, W],), {"axis": 1}),
    (np.meshgrid, (V, W), {"indexing": "ij"}),
    (np.clip, (A, -0.5, 0.5), {}),
    (np.where, (A > 0.0, A, 2.0 * A), {}),
    (np.take, (V,), {"indices": np.array([1, 1, 0])}),
    (np.tile, (V, 2), {}),
    (np.outer, (V, W), {}),
]


@pytest.mark.parametrize("fn, args, settings", ROWS, ids=lambda v: getattr(v, "__name__", None))
def test_second_derivatives(fn, args, settings):
    check_second(fn, *args, **settings)


def test_a_wrong_second_derivative_is_found():
    def cube(x):
        return np.power(x, 3.0)

    @elementwise(cube)
    def partial(out, x):
        return 3.0 * np.floor(1e9 * x) / 1e9 * x

    with pytest.raises(AssertionError, match="differences give"):
        check_second(cube, A)
