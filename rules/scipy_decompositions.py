"""scipy.linalg: eigenvectors, triangular factors, functions of matrices, equations with structure.

As in rules/decompositions.py: for values that differ, and vectors of real matrices.
"""

import numpy as np
from s2sad.rules.decompositions import (
    eigen_cotangent,
    onto_triangle,
    over_gaps,
    pull_eigh,
    pull_eigvalsh,
    pull_qr,
    push_eigh,
    push_eigvalsh,
    push_qr,
)
from s2sad.rules.linalg import pull_lstsq, pull_pinv, push_pinv
from s2sad.rules.scipy_linalg import (
    check_real,
    check_single,
    lu_cotangent,
    pull_circulant,
    pull_toeplitz,
    upper_right,
)
from scipy import linalg

from s2sad.registry import pullback, pushforward, refuse

refuse(
    linalg,
    "cdf2rdf cho_solve_banded cholesky_banded clarkson_woodruff_transform companion "
    "convolution_matrix cossin eig_banded eigvals_banded expm_cond expm_frechet fiedler "
    "fiedler_companion fractional_matrix_power funm hessenberg ldl leslie matmul_toeplitz "
    "matrix_balance null_space ordqz orth orthogonal_procrustes pinvh qr_delete qr_insert "
    "qr_multiply qr_update qz rq rsf2csf schur signm solve_continuous_are solve_discrete_are "
    "subspace_angles",
    because="there is no rule for it",
    instead="Use eigh, svd, qr, lu, cholesky, solve or expm, or write one with @s2sad.pullback.",
)


# eigenvalues and eigenvectors


@pullback(linalg.eigh, masks=True)
def pull_scipy_eigh(
    out_bar,
    out,
    a,
    b=None,
    *,
    lower=True,
    eigvals_only=False,
    type=1,
    check_finite=True,
    subset_by_index=None,
    driver=None,
):
    check_single(a)
    uplo = "L" if lower else "U"
    if eigvals_only:
        subset = {"lower": lower, "type": type, "subset_by_index": subset_by_index}
        w, v = linalg.eigh(a, b, **subset)
        return pencil_cotangents(out_bar, None, w, v, b, type, uplo)
    if subset_by_index is not None:
        raise NotImplementedError("eigh: with subset_by_index only eigenvalues have a derivative")
    if b is None:
        return pull_eigh(out_bar, out, a, UPLO=uplo), None
    return pencil_cotangents(out_bar[0], out_bar[1], out[0], out[1], b, type, uplo)


def pencil_cotangents(w_bar, v_bar, w, v, b, type, uplo):
    """Return the cotangents of a and b in a @ v = b @ v * w, where v.T @ b @ v is one.

    After Giles, 2008, for pencils.
    """
    if b is not None:
        check_real(v, b)
        if type != 1:
            raise NotImplementedError("eigh: a derivative for type=1")
    middle = np.zeros((w.size, w.size), v.dtype)
    turned = np.zeros_like(middle) if v_bar is None else v.T @ v_bar
    if v_bar is not None:
        middle = over_gaps(turned, w)
    if w_bar is not None:
        middle = middle + np.diag(w_bar)
    a_bar = onto_triangle(np.conj(v) @ middle @ v.T, uplo)
    if b is None:
        return a_bar, None
    scaling = -middle * w - 0.5 * np.diag(np.diag(turned))
    return a_bar, onto_triangle(v @ scaling @ v.T, uplo)


@pushforward(linalg.eigh)
def push_scipy_eigh(
    out,
    a,
    b,
    a_dot,
    b_dot,
    *,
    lower=True,
    eigvals_only=False,
    type=1,
    check_finite=True,
    subset_by_index=None,
    driver=None,
):
    if b is not None or subset_by_index is not None:
        raise NotImplementedError("eigh: forward without b and subset_by_index only")
    if eigvals_only:
        return push_eigvalsh(out, a, a_dot, UPLO="L" if lower else "U")
    return push_eigh(out, a, a_dot, UPLO="L" if lower else "U")


@pullback(linalg.eigvalsh, masks=True)
def pull_eigvalsh_of_pencil(
    out_bar, out, a, b=None, *, lower=True, type=1, check_finite=True, driver=None
):
    check_single(a)
    if b is None:
        return pull_eigvalsh(out_bar, out, a, UPLO="L" if lower else "U"), None
    w, v = linalg.eigh(a, b, lower=lower, type=type)
    return pencil_cotangents(out_bar, None, w, v, b, type, "L" if lower else "U")


@pushforward(linalg.eigvalsh)
def push_eigvalsh_of_pencil(
    out, a, b, a_dot, b_dot, *, lower=True, type=1, check_finite=True, driver=None
):
    if b is not None:
        raise NotImplementedError("eigvalsh: forward without b only")
    return push_eigvalsh(out, a, a_dot, UPLO="L" if lower else "U")


@pullback(linalg.eigh_tridiagonal)
def pull_eigh_tridiagonal(out_bar, out, d, e, *, eigvals_only=False, check_finite=True):
    if eigvals_only:
        w, v = linalg.eigh_tridiagonal(d, e)
        return tridiagonal_cotangents(out_bar, None, w, v)
    return tridiagonal_cotangents(out_bar[0], out_bar[1], out[0], out[1])


@pullback(linalg.eigvalsh_tridiagonal)
def pull_eigvalsh_tridiagonal(out_bar, out, d, e, *, check_finite=True):
    w, v = linalg.eigh_tridiagonal(d, e)
    return tridiagonal_cotangents(out_bar, None, w, v)


def tridiagonal_cotangents(w_bar, v_bar, w, v):
    """Return the cotangents of both diagonals: one number stands below and above."""
    whole, _ = pencil_cotangents(w_bar, v_bar, w, v, None, 1, "L")
    return np.diagonal(whole).copy(), np.diagonal(whole, -1).copy()


@pullback(linalg.eigvals)
def pull_scipy_eigvals(out_bar, out, a, *, check_finite=True):
    """The eigenvalues are complex, also of a real matrix."""
    check_single(a)
    w, v = np.linalg.eig(a)
    order = np.argmin(np.abs(out[:, None] - w[None, :]), axis=0)
    a_bar = eigen_cotangent(out_bar[order], None, w, v)
    return a_bar if np.iscomplexobj(a) else np.real(a_bar)


@pullback(linalg.eig, turns_complex=True)
def pull_scipy_eig(out_bar, out, a, *, right=True, check_finite=True):
    check_single(a)
    if not right:
        return pull_scipy_eigvals(out_bar, out, a)
    a_bar = eigen_cotangent(out_bar[0], out_bar[1], out[0], out[1])
    return a_bar if np.iscomplexobj(a) else np.real(a_bar)


# factors


def check_scipy_qr(a, mode):
    """Refuse the decompositions whose last columns nobody determines."""
    if mode not in ("full", "economic", "r"):
        raise NotImplementedError("qr: a derivative for mode full, economic and r")
    if mode != "economic" and a.shape[-2] > a.shape[-1]:
        raise NotImplementedError("qr: of a tall matrix with mode='economic' only")


@pullback(linalg.qr)
def pull_scipy_qr(out_bar, out, a, *, mode="full", pivoting=False, check_finite=True):
    check_scipy_qr(a, mode)
    if mode == "r":
        whole = linalg.qr(a, mode="full", pivoting=pivoting)
        q_bar, r_bar, q, r, order = None, out_bar[0], whole[0], whole[1], whole[2:]
    else:
        q_bar, r_bar, q, r, order = out_bar[0], out_bar[1], out[0], out[1], out[2:]
    chosen_bar = pull_qr((q_bar, r_bar), (q, r), a[:, order[0]] if pivoting else a)
    if not pivoting:
        return chosen_bar
    a_bar = np.zeros_like(chosen_bar)
    a_bar[:, order[0]] = chosen_bar
    return a_bar


@pushforward(linalg.qr)
def push_scipy_qr(out, a, a_dot, *, mode="full", pivoting=False, check_finite=True):
    check_scipy_qr(a, mode)
    if pivoting or mode == "r":
        raise NotImplementedError("qr: forward without pivoting and with q only")
    return push_qr(out, a, a_dot)


@pullback(linalg.lu)
def pull_lu(out_bar, out, a, *, permute_l=False, p_indices=False, check_finite=True):
    """After de Hoog, Anderssen and Lukas, 2011; the order of the rows does not change nearby."""
    check_single(a)
    if a.shape[0] != a.shape[1]:
        raise NotImplementedError("lu: a derivative for square matrices")
    order, lower, upper = linalg.lu(a, p_indices=True)
    lower_bar, upper_bar = out_bar[-2], out_bar[-1]
    if lower_bar is None:
        lower_bar = np.zeros_like(lower)
    elif permute_l:
        moved, lower_bar = lower_bar, np.zeros_like(lower)
        lower_bar[order] = moved
    upper_bar = np.zeros_like(upper) if upper_bar is None else upper_bar
    both_bar = np.tril(lower_bar, -1) + np.triu(upper_bar)
    return lu_cotangent(both_bar, np.tril(lower, -1) + upper)[order]


@pullback(linalg.polar)
def pull_polar(out_bar, out, a, *, side="right"):
    """The skew part of u.T @ du solves a Sylvester equation with p: Higham, 2008, chapter 8."""
    check_real(a)
    u_bar, p_bar = out_bar
    u, p = out
    if side == "left":
        return right_polar(None if u_bar is None else u_bar.T, p_bar, u.T, p).T
    return right_polar(u_bar, p_bar, u, p)


def right_polar(u_bar, p_bar, u, p):
    """Return the cotangent of u @ p."""
    if u.shape[0] < u.shape[1]:
        raise NotImplementedError("polar: the factor p has no inverse for this side")
    u_bar = np.zeros_like(u) if u_bar is None else u_bar
    p_bar = np.zeros_like(p) if p_bar is None else p_bar
    turned = linalg.solve_sylvester(p, p, u.T @ u_bar - p_bar @ p)
    outside = linalg.solve(p, (u_bar - u @ (u.T @ u_bar)).T).T
    return u @ (turned - turned.T + p_bar) + outside


# least squares


@pullback(linalg.pinv)
def pull_scipy_pinv(out_bar, out, a, *, rtol=None, check_finite=True):
    return pull_pinv(out_bar, out, a, rtol=kept_by_scipy(a, rtol))


@pushforward(linalg.pinv)
def push_scipy_pinv(out, a, a_dot, *, rtol=None, check_finite=True):
    return push_pinv(out, a, a_dot, rtol=kept_by_scipy(a, rtol))


def kept_by_scipy(a, rtol):
    """Return the share of the largest singular value under which others count for nothing."""
    return max(a.shape[-2:]) * np.finfo(a.dtype).eps if rtol is None else rtol


@pullback(linalg.lstsq)
def pull_scipy_lstsq(out_bar, out, a, b, *, cond=None, check_finite=True, lapack_driver=None):
    """Without more rows than columns there are no residuals, whose cotangent is zeros then."""
    check_single(a)
    x_bar, residuals_bar, _, s_bar = out_bar
    if np.shape(residuals_bar) != np.shape(out[1]):
        if np.any(residuals_bar):
            raise NotImplementedError("lstsq: residuals that are no array or number here")
        residuals_bar = None
    return pull_lstsq((x_bar, residuals_bar, None, s_bar), out, a, b)


# functions of matrices


@pullback(linalg.cosm)
def pull_cosm(out_bar, out, A):
    return upper_right(linalg.cosm, A.T, out_bar)


@pushforward(linalg.cosm)
def push_cosm(out, A, A_dot):
    return upper_right(linalg.cosm, A, A_dot)


@pullback(linalg.sinm)
def pull_sinm(out_bar, out, A):
    return upper_right(linalg.sinm, A.T, out_bar)


@pushforward(linalg.sinm)
def push_sinm(out, A, A_dot):
    return upper_right(linalg.sinm, A, A_dot)


@pullback(linalg.tanm)
def pull_tanm(out_bar, out, A):
    return upper_right(linalg.tanm, A.T, out_bar)


@pushforward(linalg.tanm)
def push_tanm(out, A, A_dot):
    return upper_right(linalg.tanm, A, A_dot)


@pullback(linalg.coshm)
def pull_coshm(out_bar, out, A):
    return upper_right(linalg.coshm, A.T, out_bar)


@pushforward(linalg.coshm)
def push_coshm(out, A, A_dot):
    return upper_right(linalg.coshm, A, A_dot)


@pullback(linalg.sinhm)
def pull_sinhm(out_bar, out, A):
    return upper_right(linalg.sinhm, A.T, out_bar)


@pushforward(linalg.sinhm)
def push_sinhm(out, A, A_dot):
    return upper_right(linalg.sinhm, A, A_dot)


@pullback(linalg.tanhm)
def pull_tanhm(out_bar, out, A):
    return upper_right(linalg.tanhm, A.T, out_bar)


@pushforward(linalg.tanhm)
def push_tanhm(out, A, A_dot):
    return upper_right(linalg.tanhm, A, A_dot)


# structure


@pullback(linalg.hankel, masks=True)
def pull_hankel(out_bar, out, c, r=None):
    """The first number of r is not read; without r it is zero."""
    rows, columns = out_bar.shape
    flipped = out_bar[:, ::-1]
    sums = np.array([np.trace(flipped, columns - 1 - k) for k in range(rows + columns - 1)])
    c_bar = np.reshape(sums[:rows], c.shape)
    if r is None:
        return c_bar, None
    return c_bar, np.reshape(np.concatenate([np.zeros_like(sums[:1]), sums[rows:]]), r.shape)


@pushforward(linalg.hankel)
def push_hankel(out, c, r, c_dot, r_dot):
    if r is None:
        return linalg.hankel(c_dot)
    c_dot = np.zeros_like(c) if c_dot is None else c_dot
    first = np.concatenate([c_dot.ravel()[-1:], np.zeros_like(r).ravel()[1:]])
    if r_dot is not None:
        first = np.concatenate([first[:1], r_dot.ravel()[1:]])
    return linalg.hankel(c_dot, first)


@pullback(linalg.khatri_rao)
def pull_khatri_rao(out_bar, out, a, b):
    parts = np.reshape(out_bar, (a.shape[0], b.shape[0], -1))
    return np.einsum("ijk,jk->ik", parts, b), np.einsum("ijk,ik->jk", parts, a)


@pushforward(linalg.khatri_rao)
def push_khatri_rao(out, a, b, a_dot, b_dot):
    if a_dot is None:
        return linalg.khatri_rao(a, b_dot)
    if b_dot is None:
        return linalg.khatri_rao(a_dot, b)
    return linalg.khatri_rao(a_dot, b) + linalg.khatri_rao(a, b_dot)


@pullback(linalg.solve_toeplitz)
def pull_solve_toeplitz(out_bar, out, c_or_cr, b, *, check_finite=True):
    pair = isinstance(c_or_cr, tuple)
    c, r = c_or_cr if pair else (c_or_cr, np.conj(c_or_cr))
    transposed = np.concatenate([c[:1], r[1:]]), c
    b_bar = linalg.solve_toeplitz(transposed, out_bar)
    whole = -np.reshape(b_bar, (c.size, -1)) @ np.reshape(out, (c.size, -1)).T
    c_bar, r_bar = pull_toeplitz(whole, None, c, r if pair else None)
    return (c_bar, r_bar) if pair else c_bar, b_bar


@pullback(linalg.solve_circulant)
def pull_solve_circulant(out_bar, out, c, b, *, singular="raise", tol=None):
    if c.ndim != 1:
        raise NotImplementedError("solve_circulant: a derivative for single matrices")
    turned = np.concatenate([c[:1], c[:0:-1]])
    b_bar = np.real_if_close(linalg.solve_circulant(turned, out_bar, singular, tol))
    whole = -np.reshape(b_bar, (c.size, -1)) @ np.reshape(out, (c.size, -1)).T
    return pull_circulant(whole, None, c), b_bar
