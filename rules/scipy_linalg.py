"""scipy.linalg, for single matrices; what it shares with numpy.linalg has the same formulas.

Arguments that SciPy reads one triangle of have their cotangent on that triangle.
"""

import numpy as np
from scipy import linalg

from s2sad.registry import Kin, declare, nondifferentiable, pullback, pushforward
from s2sad.rules.decompositions import (
    COMPLEX_VECTORS,
    cholesky_cotangent,
    cholesky_tangent,
    from_triangle,
    onto_triangle,
    pull_svdvals,
    push_svdvals,
    svd_pulled,
    svd_pushed,
)
from s2sad.rules.linalg import pull_det, pull_inv, pull_norm, push_det, push_inv, push_norm

nondifferentiable(linalg.bandwidth, linalg.issymmetric, linalg.ishermitian, linalg.hilbert)
nondifferentiable(linalg.hadamard, linalg.pascal, linalg.dft, linalg.invhilbert)

_HALF = {"sym", "symmetric", "her", "hermitian", "pos", "positive definite"}


def check_single(a, b=None):
    """Refuse stacks of matrices, and stacks of right sides."""
    if a.ndim != 2 or (b is not None and b.ndim > 2):
        raise NotImplementedError(
            "scipy.linalg has a derivative for single matrices, not for stacks"
        )


def check_real(*arrays):
    """Refuse complex matrices."""
    if any(np.iscomplexobj(a) for a in arrays):
        raise NotImplementedError("scipy.linalg has no derivative here for complex matrices")


# equations


def fold(a_bar, assume_a, lower):
    """Return the cotangent on what SciPy reads of a matrix with an assumed structure."""
    if assume_a in (None, "gen", "general"):
        return a_bar
    if assume_a in _HALF:
        return onto_triangle(a_bar, "L" if lower else "U")
    raise NotImplementedError(f"scipy.linalg has no derivative with assume_a={assume_a!r}")


def unfold(a_dot, assume_a, lower):
    """Return the tangent of the whole matrix with an assumed structure."""
    if assume_a in (None, "gen", "general"):
        return a_dot
    if assume_a in _HALF:
        return from_triangle(a_dot, "L" if lower else "U")
    raise NotImplementedError(f"scipy.linalg has no derivative with assume_a={assume_a!r}")


@pullback(linalg.solve, masks=("assume_a",))
def pull_solve(
    out_bar, out, a, b, *, lower=False, check_finite=True, assume_a=None, transposed=False
):
    check_single(a, b)
    if assume_a in _HALF:
        check_real(a, b)
        b_bar = linalg.solve(a, out_bar, lower=lower, assume_a=assume_a)
    else:
        b_bar = linalg.solve(a if transposed else a.T, out_bar)
    a_bar = -np.outer(b_bar, out) if b.ndim == 1 else -b_bar @ out.T
    return fold(a_bar.T if transposed else a_bar, assume_a, lower), b_bar


@pushforward(linalg.solve)
def push_solve(
    out, a, b, a_dot, b_dot, *, lower=False, check_finite=True, assume_a=None, transposed=False
):
    check_single(a, b)
    rest = np.zeros_like(out) if b_dot is None else b_dot
    if a_dot is not None:
        moved = unfold(a_dot, assume_a, lower)
        rest = rest - (moved.T if transposed else moved) @ out
    return linalg.solve(a, rest, lower=lower, assume_a=assume_a, transposed=transposed)


def solved_transposed(trans):
    """Return whether a code of LAPACK asks for the transposed system."""
    if trans in (2, "C"):
        raise NotImplementedError("scipy.linalg has no derivative with trans=2")
    return trans in (1, "T")


@pullback(linalg.solve_triangular, masks=True)
def pull_solve_triangular(
    out_bar, out, a, b, *, trans=0, lower=False, unit_diagonal=False, check_finite=True
):
    check_single(a, b)
    transposed = solved_transposed(trans)
    settings = {"lower": lower, "unit_diagonal": unit_diagonal}
    b_bar = linalg.solve_triangular(a, out_bar, trans=0 if transposed else 1, **settings)
    a_bar = -np.outer(b_bar, out) if b.ndim == 1 else -b_bar @ out.T
    return triangle(a_bar.T if transposed else a_bar, lower, unit_diagonal), b_bar


def triangle(x, lower, unit_diagonal):
    """Return the triangle of a matrix that is read."""
    if lower:
        return np.tril(x, -1 if unit_diagonal else 0)
    return np.triu(x, 1 if unit_diagonal else 0)


@pushforward(linalg.solve_triangular)
def push_solve_triangular(
    out, a, b, a_dot, b_dot, *, trans=0, lower=False, unit_diagonal=False, check_finite=True
):
    check_single(a, b)
    rest = np.zeros_like(out) if b_dot is None else b_dot
    if a_dot is not None:
        moved = triangle(a_dot, lower, unit_diagonal)
        rest = rest - (moved.T if solved_transposed(trans) else moved) @ out
    return linalg.solve_triangular(a, rest, trans, lower, unit_diagonal)


def diagonals(b_bar, out, below, above):
    """Return the cotangent -b_bar @ out.T of a banded matrix, in the rows that hold its band."""
    n = out.shape[0]
    weight, values = np.reshape(b_bar, (n, -1)), np.reshape(out, (n, -1))
    ab_bar = np.zeros((below + above + 1, n), np.result_type(b_bar, out))
    for k in range(-above, below + 1):
        rows = slice(max(k, 0), n + min(k, 0))
        columns = slice(max(-k, 0), n - max(k, 0))
        ab_bar[above + k, columns] = -np.sum(weight[rows] * values[columns], axis=1)
    return ab_bar


def banded_product(ab, x, below, above):
    """Return the product of a banded matrix and one or several vectors."""
    n = x.shape[0]
    values = np.reshape(x, (n, -1))
    out = np.zeros((n, values.shape[1]), np.result_type(ab, x))
    for k in range(-above, below + 1):
        rows = slice(max(k, 0), n + min(k, 0))
        columns = slice(max(-k, 0), n - max(k, 0))
        out[rows] += ab[above + k, columns, None] * values[columns]
    return np.reshape(out, x.shape)


def banded_transpose(ab, below, above):
    """Return the band of the transposed matrix."""
    n = ab.shape[1]
    found = np.zeros_like(ab)
    for k in range(-above, below + 1):
        rows = slice(max(k, 0), n + min(k, 0))
        columns = slice(max(-k, 0), n - max(k, 0))
        found[below - k, rows] = ab[above + k, columns]
    return found


def unit_band(l_and_u, ab, b, *rest):
    """Return a band of the unit matrix, which goes with the right-hand side."""
    band = np.zeros((l_and_u[0] + l_and_u[1] + 1, len(b)), ab.dtype)
    band[l_and_u[1]] = 1
    return l_and_u, band, b, *rest


@pullback(linalg.solve_banded, masks=True, unknown=("l_and_u",), samples=unit_band)
def pull_solve_banded(out_bar, out, l_and_u, ab, b, *, check_finite=True):
    check_single(ab, b)
    below, above = l_and_u
    b_bar = linalg.solve_banded((above, below), banded_transpose(ab, below, above), out_bar)
    return None, diagonals(b_bar, out, below, above), b_bar


@pushforward(linalg.solve_banded)
def push_solve_banded(out, l_and_u, ab, b, l_and_u_dot, ab_dot, b_dot, *, check_finite=True):
    check_single(ab, b)
    below, above = l_and_u
    rest = np.zeros_like(out) if b_dot is None else b_dot
    if ab_dot is not None:
        rest = rest - banded_product(ab_dot, out, below, above)
    return linalg.solve_banded(l_and_u, ab, rest)


def unit_half_band(ab, b, *rest):
    """Return half a band of the unit matrix, which goes with the right-hand side."""
    return np.ones((1, len(b)), ab.dtype), b, *rest


@pullback(linalg.solveh_banded, masks=True, samples=unit_half_band)
def pull_solveh_banded(out_bar, out, ab, b, *, lower=False, check_finite=True):
    check_single(ab, b)
    check_real(ab, b)
    b_bar = linalg.solveh_banded(ab, out_bar, lower=lower)
    width = ab.shape[0] - 1
    whole = diagonals(b_bar, out, width, width)
    mirrored = diagonals(out, b_bar, width, width)
    ab_bar = whole + mirrored
    ab_bar[width] = whole[width]
    return (ab_bar[width:] if lower else ab_bar[: width + 1]), b_bar


@pushforward(linalg.solveh_banded)
def push_solveh_banded(out, ab, b, ab_dot, b_dot, *, lower=False, check_finite=True):
    check_single(ab, b)
    rest = np.zeros_like(out) if b_dot is None else b_dot
    if ab_dot is not None:
        width = ab.shape[0] - 1
        whole = np.zeros((2 * width + 1, ab.shape[1]), ab_dot.dtype)
        whole[slice(width, None) if lower else slice(0, width + 1)] = ab_dot
        other = banded_transpose(whole, width, width)
        whole[slice(0, width) if lower else slice(width + 1, None)] = other[
            slice(0, width) if lower else slice(width + 1, None)
        ]
        rest = rest - banded_product(whole, out, width, width)
    return linalg.solveh_banded(ab, rest, lower=lower)


@pullback(linalg.solve_sylvester)
def pull_solve_sylvester(out_bar, out, a, b, q):
    check_single(a, q)
    q_bar = linalg.solve_sylvester(a.T, b.T, out_bar)
    return -q_bar @ out.T, -out.T @ q_bar, q_bar


@pushforward(linalg.solve_sylvester)
def push_solve_sylvester(out, a, b, q, a_dot, b_dot, q_dot):
    check_single(a, q)
    rest = np.zeros_like(out) if q_dot is None else q_dot
    if a_dot is not None:
        rest = rest - a_dot @ out
    if b_dot is not None:
        rest = rest - out @ b_dot
    return linalg.solve_sylvester(a, b, rest)


@pullback(linalg.solve_continuous_lyapunov, linalg.solve_lyapunov)
def pull_solve_continuous_lyapunov(out_bar, out, a, q):
    check_single(a, q)
    check_real(a, q)
    q_bar = linalg.solve_continuous_lyapunov(a.T, out_bar)
    return -(q_bar @ out.T + q_bar.T @ out), q_bar


@pushforward(linalg.solve_continuous_lyapunov, linalg.solve_lyapunov)
def push_solve_continuous_lyapunov(out, a, q, a_dot, q_dot):
    rest = np.zeros_like(out) if q_dot is None else q_dot
    if a_dot is not None:
        rest = rest - a_dot @ out - out @ a_dot.T
    return linalg.solve_continuous_lyapunov(a, rest)


@pullback(linalg.solve_discrete_lyapunov)
def pull_solve_discrete_lyapunov(out_bar, out, a, q, *, method=None):
    check_single(a, q)
    check_real(a, q)
    q_bar = linalg.solve_discrete_lyapunov(a.T, out_bar, method)
    return q_bar @ a @ out.T + q_bar.T @ a @ out, q_bar


@pushforward(linalg.solve_discrete_lyapunov)
def push_solve_discrete_lyapunov(out, a, q, a_dot, q_dot, *, method=None):
    rest = np.zeros_like(out) if q_dot is None else q_dot
    if a_dot is not None:
        rest = rest + a_dot @ out @ a.T + a @ out @ a_dot.T
    return linalg.solve_discrete_lyapunov(a, rest, method)


# factorisations


@pullback(linalg.cholesky, masks=True)
def pull_cholesky(out_bar, out, a, *, lower=False, check_finite=True):
    check_single(a)
    if lower:
        return onto_triangle(cholesky_cotangent(out_bar, out), "L")
    return onto_triangle(cholesky_cotangent(np.conj(out_bar.T), np.conj(out.T)), "U")


@pushforward(linalg.cholesky)
def push_cholesky(out, a, a_dot, *, lower=False, check_finite=True):
    if lower:
        return cholesky_tangent(from_triangle(a_dot, "L"), out)
    return np.conj(cholesky_tangent(from_triangle(a_dot, "U"), np.conj(out.T)).T)


@pullback(linalg.cho_factor, masks=True)
def pull_cho_factor(out_bar, out, a, *, lower=False, check_finite=True):
    """Half of the factor is not defined: its cotangent is not looked at."""
    check_single(a)
    check_real(a)
    c_bar, c = out_bar[0], out[0]
    if lower:
        return onto_triangle(cholesky_cotangent(np.tril(c_bar), np.tril(c)), "L")
    return onto_triangle(cholesky_cotangent(np.triu(c_bar).T, np.triu(c).T), "U")


@pullback(linalg.cho_solve, masks=True)
def pull_cho_solve(out_bar, out, c_and_lower, b, *, check_finite=True):
    c, lower = c_and_lower
    check_single(c, b)
    check_real(c, b)
    b_bar = linalg.cho_solve(c_and_lower, out_bar)
    a_bar = -np.outer(b_bar, out) if b.ndim == 1 else -b_bar @ out.T
    both = a_bar + a_bar.T
    c_bar = np.tril(both @ np.tril(c)) if lower else np.triu(np.triu(c) @ both)
    return (c_bar, None), b_bar


@pushforward(linalg.cho_factor)
def push_cho_factor(out, a, a_dot, *, lower=False, check_finite=True):
    check_single(a)
    check_real(a)
    if lower:
        return cholesky_tangent(from_triangle(a_dot, "L"), np.tril(out[0])), None
    return cholesky_tangent(from_triangle(a_dot, "U"), np.triu(out[0]).T).T, None


@pushforward(linalg.cho_solve)
def push_cho_solve(out, c_and_lower, b, c_and_lower_dot, b_dot, *, check_finite=True):
    c, lower = c_and_lower
    check_single(c, b)
    check_real(c, b)
    rest = np.zeros_like(out) if b_dot is None else b_dot
    if c_and_lower_dot is not None and c_and_lower_dot[0] is not None:
        c_dot = c_and_lower_dot[0]
        half = np.tril(c_dot) @ np.tril(c).T if lower else np.triu(c_dot).T @ np.triu(c)
        rest = rest - (half + half.T) @ out
    return linalg.cho_solve(c_and_lower, rest)


def row_order(piv):
    """Return the rows in the order in which LAPACK's interchanges leave them."""
    order = list(range(len(piv)))
    for i, j in enumerate(piv):
        order[i], order[j] = order[j], order[i]
    return np.array(order)


def lu_cotangent(lu_bar, lu):
    """Return the cotangent of the product of both factors that stand in one matrix."""
    L = np.tril(lu, -1) + np.eye(lu.shape[0], dtype=lu.dtype)
    U = np.triu(lu)
    inner = np.tril(L.T @ np.tril(lu_bar, -1), -1) + np.triu(np.triu(lu_bar) @ U.T)
    left = linalg.solve_triangular(L, inner, trans=1, lower=True, unit_diagonal=True)
    return linalg.solve_triangular(U, left.T).T


def lu_tangents(a_dot, lu):
    """Return the tangents of both factors, in one matrix, from the tangent of their product."""
    L = np.tril(lu, -1) + np.eye(lu.shape[0], dtype=lu.dtype)
    left = linalg.solve_triangular(L, a_dot, lower=True, unit_diagonal=True)
    inner = linalg.solve_triangular(np.triu(lu), left.T, trans=1).T
    return L @ np.tril(inner, -1), np.triu(inner) @ np.triu(lu)


@pullback(linalg.lu_factor)
def pull_lu_factor(out_bar, out, a, *, check_finite=True):
    """After de Hoog, Anderssen and Lukas, 2011; the order of the rows does not change nearby."""
    check_single(a)
    if a.shape[0] != a.shape[1]:
        raise NotImplementedError("lu_factor has a derivative for square matrices")
    lu, piv = out
    a_bar = np.empty_like(lu)
    a_bar[row_order(piv)] = lu_cotangent(out_bar[0], lu)
    return a_bar


@pushforward(linalg.lu_factor)
def push_lu_factor(out, a, a_dot, *, check_finite=True):
    check_single(a)
    if a.shape[0] != a.shape[1]:
        raise NotImplementedError("lu_factor has a derivative for square matrices")
    lower_dot, upper_dot = lu_tangents(a_dot[row_order(out[1])], out[0])
    return lower_dot + upper_dot, None


@pullback(linalg.lu_solve)
def pull_lu_solve(out_bar, out, lu_and_piv, b, *, trans=0, check_finite=True):
    lu, piv = lu_and_piv
    check_single(lu, b)
    transposed = solved_transposed(trans)
    b_bar = linalg.lu_solve(lu_and_piv, out_bar, trans=0 if transposed else 1)
    a_bar = -np.outer(b_bar, out) if b.ndim == 1 else -b_bar @ out.T
    moved = (a_bar.T if transposed else a_bar)[row_order(piv)]
    L = np.tril(lu, -1) + np.eye(lu.shape[0], dtype=lu.dtype)
    lu_bar = np.tril(moved @ np.triu(lu).T, -1) + np.triu(L.T @ moved)
    return (lu_bar, None), b_bar


@pushforward(linalg.lu_solve)
def push_lu_solve(out, lu_and_piv, b, lu_and_piv_dot, b_dot, *, trans=0, check_finite=True):
    lu, piv = lu_and_piv
    check_single(lu, b)
    transposed = solved_transposed(trans)
    rest = np.zeros_like(out) if b_dot is None else b_dot
    if lu_and_piv_dot is not None and lu_and_piv_dot[0] is not None:
        lu_dot = lu_and_piv_dot[0]
        L = np.tril(lu, -1) + np.eye(lu.shape[0], dtype=lu.dtype)
        a_dot = np.empty_like(lu)
        a_dot[row_order(piv)] = np.tril(lu_dot, -1) @ np.triu(lu) + L @ np.triu(lu_dot)
        rest = rest - (a_dot.T if transposed else a_dot) @ out
    return linalg.lu_solve(lu_and_piv, rest, trans)


pullback(linalg.svdvals, once=COMPLEX_VECTORS)(pull_svdvals)
pushforward(linalg.svdvals)(push_svdvals)


@pullback(linalg.svd, once=COMPLEX_VECTORS)
def pull_scipy_svd(
    out_bar, out, a, *, full_matrices=True, compute_uv=True, check_finite=True, lapack_driver=None
):
    if not compute_uv:
        return pull_svdvals(out_bar, out, a)
    return svd_pulled(out_bar, out, a, full_matrices)


@pushforward(linalg.svd)
def push_scipy_svd(
    out, a, a_dot, *, full_matrices=True, compute_uv=True, check_finite=True, lapack_driver=None
):
    if not compute_uv:
        return push_svdvals(out, a, a_dot)
    return svd_pushed(out, a, a_dot, full_matrices)


# matrix functions


def upper_right(function, a, e):
    """Return the derivative of a matrix function at a in the direction e.

    It stands in the upper right of the function of [[a, e], [0, a]]: Higham, "Functions of
    Matrices", 2008, theorem 3.6.
    """
    n = a.shape[-1]
    top = np.concatenate([a, e], axis=-1)
    bottom = np.concatenate([np.zeros_like(a), a], axis=-1)
    return function(np.concatenate([top, bottom], axis=-2))[..., :n, n:]


def kin(*functions):
    """Return matrix functions that share a rule."""
    return [Kin(function, {"function": function}) for function in functions]


OF_MATRICES = kin(
    linalg.expm,
    linalg.cosm,
    linalg.sinm,
    linalg.tanm,
    linalg.coshm,
    linalg.sinhm,
    linalg.tanhm,
)


@pullback(*OF_MATRICES)
def pull_matrix_function(out_bar, out, A, *, function):
    return upper_right(function, np.swapaxes(A, -1, -2), out_bar)


@pushforward(*OF_MATRICES)
def push_matrix_function(out, A, A_dot, *, function):
    return upper_right(function, A, A_dot)


def log_slope(a, e):
    """Return the derivative of the logarithm of a matrix with eigenvalues on the cut.

    By divided differences of the eigenvalues' logarithms (Daleckii and Krein, 1965): near the cut
    those of a larger matrix, as in upper_right, may lie on any side of it.
    """
    w, v = np.linalg.eig(a)
    if np.linalg.cond(v) > 0.01 / np.finfo(w.dtype).eps:
        raise NotImplementedError(
            "logm has no derivative at a real matrix that is not diagonalizable"
        )
    logs = np.log(w + 0j)
    gap = w[:, None] - w
    same = gap == 0
    slope = np.where(same, 1 / w, (logs[:, None] - logs) / np.where(same, 1, gap))
    inner = np.linalg.solve(v, e @ v)
    return v @ (slope * inner) @ np.linalg.inv(v)


@pullback(linalg.logm, turns_complex=True)
def pull_logm(out_bar, out, A):
    if np.iscomplexobj(out) and not np.iscomplexobj(A):
        return log_slope(np.swapaxes(A, -1, -2), out_bar)
    return upper_right(linalg.logm, np.swapaxes(A, -1, -2), out_bar)


@pushforward(linalg.logm)
def push_logm(out, A, A_dot):
    if np.iscomplexobj(out) and not np.iscomplexobj(A):
        return log_slope(A, A_dot)
    return upper_right(linalg.logm, A, A_dot)


@pullback(linalg.sqrtm, turns_complex=True)
def pull_sqrtm(out_bar, out, A):
    check_single(A)
    return linalg.solve_sylvester(out.T, out.T, out_bar)


@pushforward(linalg.sqrtm)
def push_sqrtm(out, A, A_dot):
    return linalg.solve_sylvester(out, out, A_dot)


@pullback(linalg.inv)
def pull_scipy_inv(out_bar, out, a, *, check_finite=True):
    return pull_inv(out_bar, out, a)


@pushforward(linalg.inv)
def push_scipy_inv(out, a, a_dot, *, check_finite=True):
    return push_inv(out, a, a_dot)


@pullback(linalg.det)
def pull_scipy_det(out_bar, out, a, *, check_finite=True):
    return pull_det(out_bar, out, a)


@pushforward(linalg.det)
def push_scipy_det(out, a, a_dot, *, check_finite=True):
    return push_det(out, a, a_dot)


@pullback(linalg.norm, masks=("ord",))
def pull_scipy_norm(out_bar, out, a, *, ord=None, axis=None, keepdims=False, check_finite=True):
    return pull_norm(out_bar, np.asarray(out), a, ord=ord, axis=axis, keepdims=keepdims)


@pushforward(linalg.norm)
def push_scipy_norm(out, a, a_dot, *, ord=None, axis=None, keepdims=False, check_finite=True):
    return push_norm(np.asarray(out), a, a_dot, ord=ord, axis=axis, keepdims=keepdims)


# matrices of a given shape


def diagonal_sums(x):
    """Return the sums along the diagonals of a matrix, from the lowest to the highest."""
    rows, columns = x.shape
    return np.array([np.sum(np.diagonal(x, k)) for k in range(1 - rows, columns)])


@pullback(linalg.toeplitz, masks=True)
def pull_toeplitz(out_bar, out, c, r=None):
    """The first number of r is not read; without r it is conj(c)."""
    sums = diagonal_sums(out_bar)
    c_bar = sums[: c.size][::-1]
    above = np.concatenate([np.zeros_like(sums[:1]), sums[c.size :]])
    if r is None:
        return np.reshape(c_bar + np.conj(above), c.shape), None
    return np.reshape(c_bar, c.shape), np.reshape(above, r.shape)


@pushforward(linalg.toeplitz)
def push_toeplitz(out, c, r, c_dot, r_dot):
    if r is None:
        return linalg.toeplitz(c_dot)
    c_dot = np.zeros_like(c) if c_dot is None else c_dot
    return linalg.toeplitz(c_dot, np.zeros_like(r) if r_dot is None else r_dot)


@pullback(linalg.circulant, linear=True)
def pull_circulant(out_bar, out, c):
    at = np.arange(c.shape[-1])
    places = (at[:, None] - at[None, :]) % c.shape[-1]
    c_bar = np.zeros_like(c, dtype=out_bar.dtype)
    np.add.at(c_bar, places, out_bar)
    return c_bar


@pushforward(linalg.circulant)
def push_circulant(out, c, c_dot):
    return linalg.circulant(c_dot)


@pullback(linalg.block_diag, linear=True)
def pull_block_diag(out_bar, out, *arrs):
    cotangents = []
    row, column = 0, 0
    for a in arrs:
        rows, columns = np.atleast_2d(a).shape
        block = out_bar[row : row + rows, column : column + columns]
        cotangents.append(np.reshape(block, np.shape(a)))
        row, column = row + rows, column + columns
    return tuple(cotangents)


@pushforward(linalg.block_diag)
def push_block_diag(out, *arrs_and_tangents):
    half = len(arrs_and_tangents) // 2
    pairs = zip(arrs_and_tangents[:half], arrs_and_tangents[half:], strict=True)
    return linalg.block_diag(*[np.zeros_like(a) if t is None else t for a, t in pairs])


# the derivative of a matrix exponential, as SciPy gives it


def along_two(A, E, F):
    """Return the second derivative of a matrix exponential, along two directions.

    It stands in a corner of the exponential of blocks: Higham, Functions of Matrices, 2008, 3.6.
    """
    none, n = np.zeros_like(A), len(A)
    rows = [[A, E, F, none], [none, A, none, F], [none, none, A, E], [none, none, none, A]]
    whole = np.concatenate([np.concatenate(row, axis=1) for row in rows])
    return linalg.expm(whole)[:n, 3 * n :]


def parts_of_frechet(parts, compute_expm):
    """Return what goes with the exponential, and what with its derivative."""
    return parts if compute_expm else (None, parts)


@pullback(linalg.expm_frechet)
def pull_expm_frechet(out_bar, out, A, E, *, method=None, compute_expm=True, check_finite=True):
    value_bar, slope_bar = parts_of_frechet(out_bar, compute_expm)
    A_bar = along_two(A.T, slope_bar, E.T)
    if value_bar is not None:
        A_bar = A_bar + linalg.expm_frechet(A.T, value_bar, compute_expm=False)
    return A_bar, linalg.expm_frechet(A.T, slope_bar, compute_expm=False)


@pushforward(linalg.expm_frechet)
def push_expm_frechet(
    out, A, E, A_dot, E_dot, *, method=None, compute_expm=True, check_finite=True
):
    value_dot, slope_dot = np.zeros_like(A), np.zeros_like(A)
    if A_dot is not None:
        slope_dot = along_two(A, E, A_dot)
        value_dot = linalg.expm_frechet(A, A_dot, compute_expm=False)
    if E_dot is not None:
        slope_dot = slope_dot + linalg.expm_frechet(A, E_dot, compute_expm=False)
    return (value_dot, slope_dot) if compute_expm else slope_dot


declare(linalg.cholesky, linalg.solve, linalg.inv, linalg.lstsq, raises="the same")
declare(linalg.eigh, linalg.eig, linalg.svd, linalg.qr, linalg.pinv, raises="the same")
declare(linalg.block_diag, linalg.cho_solve, linalg.lu_solve, sequences=True)
declare(linalg.solve_toeplitz, sequences=True)
