"""Second derivatives of rules, backward and forward, against differences of first ones."""

import math

import numpy as np
import pytest
from scipy import special

import s2sad
from s2sad.registry import elementwise, pullback
from s2sad.testing import check_rule
from s2sad.tools.orders import FirstOrderOnly, check_second

RNG = np.random.default_rng(3)
A = RNG.uniform(0.2, 0.9, (3, 4)) * RNG.choice([-1.0, 1.0], (3, 4))
S = A[:, :3] @ A[:, :3].T + 2.0 * np.eye(3)
Z = A + 1j * A[::-1]
V, W = A[0], A[1]
ZEROS = np.where(np.eye(3, 4) > 0.0, 0.0, A)
SINGULAR = np.concatenate((A, A[:1] + A[1:2]))

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
    *[(np.prod, (A,), {"axis": axis}) for axis in (None, 1, (0, 1))],
    *[(fn, (ZEROS,), {"axis": 1}) for fn in (np.prod, np.nanprod, np.cumprod, np.nancumprod)],
    *[(fn, (A,), {}) for fn in (np.cumprod, np.nanprod, np.linalg.vector_norm, np.sinc, np.cov)],
    *[(fn, (A,), {"axis": 1}) for fn in (np.std, np.var, np.nanmean, np.nanmax)],
    *[(fn, (A,), {"q": q}) for fn, q in ((np.quantile, 0.3), (np.percentile, [35.0, 50.0]))],
    (np.nanquantile, (A,), {"q": 0.3, "axis": 1}),
    (np.einsum, ("ij,kj->ik", A, A + 1.0), {}),
    (np.einsum, ("ij,jk,k->i", A, A.T, V[:3]), {}),
    (np.einsum, ("ij,jk->ik", Z, A.T), {}),
    (np.einsum, ("ii", S), {}),
    (np.tensordot, (A, A.T), {"axes": 1}),
    (np.kron, (A, S), {}),
    (np.cross, (S, V[:3]), {}),
    (np.convolve, (V, W), {"mode": "same"}),
    (np.correlate, (V, W), {"mode": "full"}),
    *[(fn.outer, (V, W), {}) for fn in (np.multiply, np.hypot, np.logaddexp, np.arctan2)],
    *[(np.linalg.det, (m,), {}) for m in (SINGULAR, SINGULAR + 1j * SINGULAR[:, ::-1])],
    *[(np.linalg.det, (np.stack((S, SINGULAR[:3, :3])),), {})],
    *[(np.linalg.norm, (V,), {"ord": order}) for order in (1, 3, np.inf)],
    *[(np.linalg.norm, (A,), {"ord": order}) for order in (1, 2, "nuc", "fro", -np.inf)],
    *[(fn, (A,), {}) for fn in (np.linalg.svdvals, np.linalg.pinv, np.linalg.cond)],
    (np.linalg.svd, (A,), {"full_matrices": False}),
    (np.linalg.svd, (A,), {"compute_uv": False}),
    (np.linalg.eigvalsh, (S,), {"UPLO": "U"}),
    *[(fn, (S + 0j,), {}) for fn in (np.linalg.eig, np.linalg.eigvals, np.linalg.slogdet)],
    (np.linalg.multi_dot, ([A, A.T, V[:3]],), {}),
    (np.i0, (np.array([0.0, 0.3, -1.0, 8.0, 9.0]),), {}),
    *[(fn, (np.array([0.5, 2.0]), np.zeros(2)), {}) for fn in (np.power, special.boxcox)],
    (special.exprel, (np.array([0.0, 1e-3, 0.5, -2.0]),), {}),
    (np.std, (A,), {"where": A > -0.8, "ddof": 1}),
    (np.diff, (A,), {"prepend": 1, "axis": 0}),
    (np.meshgrid, (0.5, V), {}),
    (np.column_stack, ([V, W],), {}),
    (np.split, (V, [1, 3]), {}),
]


@pytest.mark.sampled(4)
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


def moved_vectors(a):
    v = np.linalg.eigh(a)[1]
    return np.sum(v * v * A[:, :3])


def test_vectors_that_nothing_depends_on_yet():
    """The cotangents of the vectors are 0 there, and their tangents are not."""
    check_second(moved_vectors, np.diag([1.0, 2.0, 4.0]))


def squared_once(x):
    return np.multiply(x, x)


def again(x):
    return np.multiply(x, x)


def backward(x):
    return np.multiply(x, x)


def partials(out, x):
    return 2.0 * x + 1e-300 * special.kolmogorov(x)  # which has no rule


elementwise(squared_once)(partials)
elementwise(again, once="there is no rule for kolmogorov")(partials)


@pullback(backward)
def pull_backward(out_bar, out, x):
    return 2.0 * out_bar * x


def test_a_refusal_is_accepted_where_the_rule_says_so():
    with pytest.raises(AssertionError, match="cannot be differentiated twice(.|\n)*once="):
        check_rule(squared_once, V)
    with pytest.warns(FirstOrderOnly, match="again cannot .* no rule for kolmogorov"):
        check_rule(again, V)
    with pytest.warns(FirstOrderOnly, match="backward cannot .* no pushforward"):
        check_rule(backward, V)


def fourth(x):
    return np.power(x, 4.0)


def cubed(x):
    return x**3


@elementwise(fourth)
def fourth_partial(out, x):
    return 4.0 * cubed(x)


@elementwise(cubed)
def cubed_partial(out, x):
    return 2.0 * x * x


def test_check_rule_finds_a_wrong_second_derivative():
    with pytest.raises(AssertionError, match="gradient differentiated backward gives"):
        check_rule(fourth, np.abs(V))


def test_rules_that_are_lambdas():
    def times(a, b):
        return np.multiply(a, b)

    elementwise(times)(lambda out, a, b: (b, a))
    check_rule(times, V, W)


AT_ORIGIN = {
    "norm": lambda x: np.linalg.norm(x),
    "rows": lambda x: np.sum(np.linalg.norm(np.reshape(x, (1, 2)), axis=1)),
    "vector norm": lambda x: np.linalg.vector_norm(x),
    "hypot": lambda x: np.hypot(x[0], x[1]),
    "math.hypot": lambda x: math.hypot(x[0], x[1]),
    "math.dist": lambda x: math.dist([x[0], x[1]], [0.0, 0.0]),
    "absolute": lambda x: np.abs(x[0] + 1j * x[1]),
    "std": lambda x: np.std(x),
}


@pytest.mark.parametrize("name", AT_ORIGIN)
def test_at_the_origin_second_derivatives_are_zero_as_first_ones_are(name):
    assert not np.any(s2sad.grad(AT_ORIGIN[name])(np.zeros(2)))
    assert not np.any(s2sad.hessian(AT_ORIGIN[name])(np.zeros(2)))


def squared(x):
    return np.sum(np.tensordot(x, x, ([1], [1])) ** 2)


def slope(x):
    return np.sum(s2sad.hvp(squared, (x,), (A,))[0] ** 2)


def test_third_derivatives_of_what_is_linear_in_each_array():
    s2sad.check_grads(slope, (A,), order=1)


def running(x):
    return np.sum(np.cumprod(x, axis=1) * np.kron(x[0], x[1, :1]))


def twice(x):
    return np.sum(s2sad.grad(running)(x) * x)


def test_emitted_derivatives_of_derivatives_bring_the_rules_helpers_along(tmp_path):
    path = s2sad.grad(twice).emit(tmp_path / "emitted.py", A)
    text = path.read_text()
    assert "import s2sad" not in text and "from s2sad" not in text
    space = {}
    exec(compile(text, str(path), "exec"), space)
    assert np.allclose(space["twice_grad"](A), s2sad.grad(twice)(A), rtol=1e-14)


def test_psi_of_complex_numbers_is_refused():
    def f(x):
        return np.sum(np.abs(special.psi(x + 1j)))

    with pytest.raises(s2sad.UnsupportedError, match="real numbers only"):
        s2sad.grad(f)(np.ones(2))


def test_a_rule_that_asks_for_complex_numbers_is_real_for_real_ones():
    """Both parts of slogdet are used: which branch its rule takes is decided by kinds."""

    def f(a):
        sign, logdet = np.linalg.slogdet(a)
        return sign * logdet + np.trace(a)

    found = s2sad.hvp(f, (S,), (A[:, :3],))
    inverse = np.linalg.inv(S)
    assert found.dtype == float
    assert np.allclose(found, -(inverse @ A[:, :3] @ inverse).T)
