"""scipy.linalg: eigenvectors, triangular factors, functions of matrices, equations with structure.

As in rules/decompositions.py: for values that differ, and vectors of real matrices.
"""

import numpy as np
from scipy import linalg

from s2sad.registry import pullback, pushforward, refuse
from s2sad.rules.decompositions import (
    eigen_cotangent,
    from_triangle,
    onto_triangle,
    over_gaps,
    pull_eigh,
    pull_eigvalsh,
    pull_qr,
    push_eig,
    push_eigh,
    push_eigvalsh,
    push_qr,
)
from s2sad.rules.linalg import pull_lstsq, pull_pinv, push_lstsq, push_pinv
from s2sad.rules.scipy_linalg import (
    check_real,
    check_single,
    lu_cotangent,
    lu_tangents,
    pull_circulant,
    pull_toeplitz,
    push_toeplitz,
)

refuse(
    linalg,
    "cdf2rdf cho_solve_banded cholesky_banded clarkson_woodruff_transform "
    "convolution_matrix cossin eig_banded eigvals_banded expm_cond fiedler "
    "fiedler_companion fractional_matrix_power funm hessenberg ldl leslie matmul_toeplitz "
    "matrix_balance null_space ordqz orth orthogonal_procrustes qr_delete qr_insert "
    "qr_multiply qr_update qz rq rsf2csf schur signm solve_continuous_are solve_discrete_are "
    "subspace_angles",
    because="s2sad has no rule for it",
    instead="Use eigh, svd, qr, lu, cholesky, solve or expm, or write one with @s2sad.pullback.",
)


# eigenvalues and eigenvectors


@pullback(linalg.eigh, masks=True, once="its settings choose at run time what is differentiated")
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
            raise NotImplementedError("eigh has a derivative for type=1")
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
    check_single(a)
    uplo = "L" if lower else "U"
    if eigvals_only:
        subset = {"lower": lower, "type": type, "subset_by_index": subset_by_index}
        w, v = linalg.eigh(a, b, **subset)
        return pencil_tangents(w, v, a_dot, b_dot, b, type, uplo)[0]
    if subset_by_index is not None:
        raise NotImplementedError("eigh: with subset_by_index only eigenvalues have a derivative")
    if b is None:
        return push_eigh(out, a, a_dot, UPLO=uplo)
    return pencil_tangents(out[0], out[1], a_dot, b_dot, b, type, uplo)


def pencil_tangents(w, v, a_dot, b_dot, b, type, uplo):
    """Return the tangents of w and v in a @ v = b @ v * w, where v.T @ b @ v is one."""
    if b is not None:
        check_real(v, b)
        if type != 1:
            raise NotImplementedError("eigh has a derivative for type=1")
    middle, scaled = np.zeros((w.size, w.size), v.dtype), np.zeros(w.size, v.dtype)
    if a_dot is not None:
        middle = np.conj(v.T) @ from_triangle(a_dot, uplo) @ v
    if b_dot is not None:
        inner = v.T @ from_triangle(b_dot, uplo) @ v
        middle, scaled = middle - inner * w, np.diag(inner)
    return np.real(np.diag(middle)), v @ over_gaps(middle, w) - 0.5 * v * scaled


@pullback(
    linalg.eigvalsh, masks=True, once="its settings choose at run time what is differentiated"
)
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
    check_single(a)
    if b is None:
        return push_eigvalsh(out, a, a_dot, UPLO="L" if lower else "U")
    w, v = linalg.eigh(a, b, lower=lower, type=type)
    return pencil_tangents(w, v, a_dot, b_dot, b, type, "L" if lower else "U")[0]


def one_longer(d, e, *rest):
    """Return a diagonal, and as much beside it as there is room for."""
    return d, np.ones(max(len(d) - 1, 0), e.dtype), *rest


@pullback(linalg.eigh_tridiagonal, samples=one_longer)
def pull_eigh_tridiagonal(out_bar, out, d, e, *, eigvals_only=False, check_finite=True):
    if eigvals_only:
        w, v = linalg.eigh_tridiagonal(d, e)
        return tridiagonal_cotangents(out_bar, None, w, v)
    return tridiagonal_cotangents(out_bar[0], out_bar[1], out[0], out[1])


@pushforward(linalg.eigh_tridiagonal)
def push_eigh_tridiagonal(out, d, e, d_dot, e_dot, *, eigvals_only=False, check_finite=True):
    if eigvals_only:
        return push_eigvalsh_tridiagonal(out, d, e, d_dot, e_dot)
    return tridiagonal_tangents(out[0], out[1], d_dot, e_dot)


@pullback(linalg.eigvalsh_tridiagonal, samples=one_longer)
def pull_eigvalsh_tridiagonal(out_bar, out, d, e, *, check_finite=True):
    w, v = linalg.eigh_tridiagonal(d, e)
    return tridiagonal_cotangents(out_bar, None, w, v)


@pushforward(linalg.eigvalsh_tridiagonal)
def push_eigvalsh_tridiagonal(out, d, e, d_dot, e_dot, *, check_finite=True):
    w, v = linalg.eigh_tridiagonal(d, e)
    return tridiagonal_tangents(w, v, d_dot, e_dot)[0]


def tridiagonal_cotangents(w_bar, v_bar, w, v):
    """Return the cotangents of both diagonals: one number stands below and above."""
    whole, _ = pencil_cotangents(w_bar, v_bar, w, v, None, 1, "L")
    return np.diagonal(whole).copy(), np.diagonal(whole, -1).copy()


def tridiagonal_tangents(w, v, d_dot, e_dot):
    """Return the tangents of eigenvalues and eigenvectors, from the tangents of both diagonals."""
    whole = np.zeros_like(v)
    if d_dot is not None:
        whole = whole + np.diag(d_dot)
    if e_dot is not None:
        whole = whole + np.diag(e_dot, -1)
    return pencil_tangents(w, v, whole, None, None, 1, "L")


@pullback(linalg.eigvals, once="only the run shows the order of the eigenvalues")
def pull_scipy_eigvals(out_bar, out, a, *, check_finite=True):
    """The eigenvalues are complex, also of a real matrix."""
    check_single(a)
    w, v = np.linalg.eig(a)
    order = np.argmin(np.abs(out[:, None] - w[None, :]), axis=0)
    a_bar = eigen_cotangent(out_bar[order], None, w, v)
    return a_bar if np.iscomplexobj(a) else np.real(a_bar)


@pushforward(linalg.eigvals)
def push_scipy_eigvals(out, a, a_dot, *, check_finite=True):
    check_single(a)
    w, v = np.linalg.eig(a)
    out_dot = np.zeros_like(out)
    order = np.argmin(np.abs(out[:, None] - w[None, :]), axis=0)
    out_dot[order] = np.diagonal(np.linalg.solve(v, a_dot @ v))
    return out_dot


@pullback(linalg.eig, turns_complex=True)
def pull_scipy_eig(out_bar, out, a, *, right=True, check_finite=True):
    if a.ndim != 2:
        raise NotImplementedError("scipy.linalg.eig has a derivative for single matrices")
    if not right:
        return pull_scipy_eigvals(out_bar, out, a)
    if np.iscomplexobj(a):
        return eigen_cotangent(out_bar[0], out_bar[1], out[0], out[1])
    return np.real(eigen_cotangent(out_bar[0], out_bar[1], out[0], out[1]))


@pushforward(linalg.eig)
def push_scipy_eig(out, a, a_dot, *, right=True, check_finite=True):
    check_single(a)
    if not right:
        return push_scipy_eigvals(out, a, a_dot)
    w_dot, v_dot = push_eig(out, a, a_dot)
    return w_dot.astype(out[0].dtype), v_dot


# factors


def check_scipy_qr(a, mode):
    """Refuse decompositions whose last columns are not unique."""
    if mode not in ("full", "economic", "r"):
        raise NotImplementedError("qr has a derivative for mode full, economic and r")
    if mode != "economic" and a.shape[-2] > a.shape[-1]:
        raise NotImplementedError("qr: of a tall matrix with mode='economic' only")


@pullback(linalg.qr, once="its settings choose at run time what is differentiated")
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
    if mode == "r":
        whole = linalg.qr(a, mode="full", pivoting=pivoting)
        return push_scipy_qr(whole, a, a_dot, pivoting=pivoting)[1:]
    if not pivoting:
        return push_qr(out, a, a_dot)
    order = out[2]
    return *push_qr(out[:2], a[:, order], a_dot[:, order]), None


@pullback(linalg.lu)
def pull_lu(out_bar, out, a, *, permute_l=False, p_indices=False, check_finite=True):
    """After de Hoog, Anderssen and Lukas, 2011; the order of the rows does not change nearby."""
    check_single(a)
    if a.shape[0] != a.shape[1]:
        raise NotImplementedError("lu has a derivative for square matrices")
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


@pushforward(linalg.lu)
def push_lu(out, a, a_dot, *, permute_l=False, p_indices=False, check_finite=True):
    check_single(a)
    if a.shape[0] != a.shape[1]:
        raise NotImplementedError("lu has a derivative for square matrices")
    order, lower, upper = linalg.lu(a, p_indices=True)
    moved = np.empty_like(lower)
    moved[order] = a_dot
    lower_dot, upper_dot = lu_tangents(moved, np.tril(lower, -1) + upper)
    if permute_l:
        return lower_dot[order], upper_dot
    return None if p_indices else np.zeros_like(out[0]), lower_dot, upper_dot


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


@pushforward(linalg.polar)
def push_polar(out, a, a_dot, *, side="right"):
    check_real(a)
    u, p = out
    if side == "left":
        u_dot, p_dot = right_polar_tangents(a_dot.T, u.T, p)
        return u_dot.T, p_dot
    return right_polar_tangents(a_dot, u, p)


def right_polar_tangents(a_dot, u, p):
    """Return the tangents of u and p from the tangent of u @ p."""
    if u.shape[0] < u.shape[1]:
        raise NotImplementedError("polar: the factor p has no inverse for this side")
    middle = u.T @ a_dot
    turn = linalg.solve_sylvester(p, p, middle - middle.T)
    outside = linalg.solve(p, (a_dot - u @ middle).T).T
    return u @ turn + outside, middle - turn @ p


# least squares


@pullback(linalg.pinv, once="its settings choose at run time what is differentiated")
def pull_scipy_pinv(out_bar, out, a, *, rtol=None, check_finite=True):
    return pull_pinv(out_bar, out, a, rtol=kept_by_scipy(a, rtol))


@pushforward(linalg.pinv)
def push_scipy_pinv(out, a, a_dot, *, rtol=None, check_finite=True):
    return push_pinv(out, a, a_dot, rtol=kept_by_scipy(a, rtol))


def kept_by_scipy(a, rtol):
    """Return the share of the largest singular value under which others count for nothing."""
    return max(a.shape[-2:]) * np.finfo(a.dtype).eps if rtol is None else rtol


@pullback(linalg.lstsq, once="its settings choose at run time what is differentiated")
def pull_scipy_lstsq(out_bar, out, a, b, *, cond=None, check_finite=True, lapack_driver=None):
    """Without more rows than columns there are no residuals; their cotangent is then zero."""
    check_single(a)
    x_bar, residuals_bar, _, s_bar = out_bar
    if np.shape(residuals_bar) != np.shape(out[1]):
        if np.any(residuals_bar):
            raise NotImplementedError("lstsq: its residuals are no array or number here")
        residuals_bar = None
    return pull_lstsq((x_bar, residuals_bar, None, s_bar), out, a, b)


@pushforward(linalg.lstsq)
def push_scipy_lstsq(out, a, b, a_dot, b_dot, *, cond=None, check_finite=True, lapack_driver=None):
    check_single(a)
    x_dot, residuals_dot, _, s_dot = push_lstsq(out, a, b, a_dot, b_dot)
    if out[3] is None:
        s_dot = None
    return x_dot, np.reshape(residuals_dot, np.shape(out[1])), None, s_dot


@pullback(linalg.pinvh, masks=True, once="its settings choose at run time what is differentiated")
def pull_pinvh(out_bar, out, a, *, rtol=None, lower=True, check_finite=True):
    uplo = "L" if lower else "U"
    whole = from_triangle(a, uplo)
    a_bar = pull_pinv(out_bar, out, whole, rtol=kept_by_scipy(a, rtol))
    return onto_triangle(a_bar, uplo)


@pushforward(linalg.pinvh)
def push_pinvh(out, a, a_dot, *, rtol=None, lower=True, check_finite=True):
    uplo = "L" if lower else "U"
    whole, whole_dot = from_triangle(a, uplo), from_triangle(a_dot, uplo)
    return push_pinv(out, whole, whole_dot, rtol=kept_by_scipy(a, rtol))


# structure


@pullback(linalg.companion)
def pull_companion(out_bar, out, a):
    """The first row holds -a[1:] / a[0]."""
    first = out_bar[0]
    a_bar = np.zeros(a.shape, out_bar.dtype)
    a_bar[1:] = -first / a[0]
    a_bar[0] = -np.sum(first * out[0]) / a[0]
    return a_bar


@pushforward(linalg.companion)
def push_companion(out, a, a_dot):
    out_dot = np.zeros_like(out)
    out_dot[0] = -(a_dot[1:] + out[0] * a_dot[0]) / a[0]
    return out_dot


@pullback(linalg.hankel, masks=True, linear=True)
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


def unit_toeplitz(c_or_cr, b, *rest):
    """Return the first column, and maybe the first row, of a unit matrix that goes with b."""
    if isinstance(c_or_cr, tuple):
        return tuple(unit_toeplitz(part, b)[0] for part in c_or_cr), b, *rest
    return np.eye(1, len(b), dtype=c_or_cr.dtype)[0], b, *rest


@pullback(linalg.solve_toeplitz, masks=True, samples=unit_toeplitz)
def pull_solve_toeplitz(out_bar, out, c_or_cr, b, *, check_finite=True):
    pair = isinstance(c_or_cr, tuple)
    c, r = c_or_cr if pair else (c_or_cr, np.conj(c_or_cr))
    transposed = np.concatenate([c[:1], r[1:]]), c
    b_bar = linalg.solve_toeplitz(transposed, out_bar)
    whole = -np.reshape(b_bar, (c.size, -1)) @ np.reshape(out, (c.size, -1)).T
    c_bar, r_bar = pull_toeplitz(whole, None, c, r if pair else None)
    return (c_bar, r_bar) if pair else c_bar, b_bar


@pushforward(linalg.solve_toeplitz)
def push_solve_toeplitz(out, c_or_cr, b, c_or_cr_dot, b_dot, *, check_finite=True):
    rest = np.zeros_like(out) if b_dot is None else b_dot
    if isinstance(c_or_cr, tuple):
        c_dot, r_dot = (None, None) if c_or_cr_dot is None else c_or_cr_dot
        rest = rest - push_toeplitz(None, *c_or_cr, c_dot, r_dot) @ out
    elif c_or_cr_dot is not None:
        rest = rest - linalg.toeplitz(c_or_cr_dot) @ out
    return linalg.solve_toeplitz(c_or_cr, rest)


@pullback(linalg.solve_circulant, samples=unit_toeplitz)
def pull_solve_circulant(out_bar, out, c, b, *, singular="raise", tol=None):
    if c.ndim != 1:
        raise NotImplementedError("solve_circulant has a derivative for single matrices")
    turned = np.concatenate([c[:1], c[:0:-1]])
    b_bar = np.real_if_close(linalg.solve_circulant(turned, out_bar, singular, tol))
    whole = -np.reshape(b_bar, (c.size, -1)) @ np.reshape(out, (c.size, -1)).T
    return pull_circulant(whole, None, c), b_bar


@pushforward(linalg.solve_circulant)
def push_solve_circulant(out, c, b, c_dot, b_dot, *, singular="raise", tol=None):
    if c.ndim != 1:
        raise NotImplementedError("solve_circulant has a derivative for single matrices")
    rest = np.zeros_like(out) if b_dot is None else b_dot
    if c_dot is not None:
        rest = rest - linalg.circulant(c_dot) @ out
    return linalg.solve_circulant(c, rest, singular, tol)
