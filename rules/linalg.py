"""numpy.linalg. Cotangents of matrices after Giles (2008) unless another source is named.

M. Giles, "An extended collection of matrix derivative results for forward and reverse mode
algorithmic differentiation", 2008. Transposes stand where the literature on real matrices has
them, and conjugates where complex matrices need them by the convention of JAX.
"""

import numpy as np

from s2sad.registry import nondifferentiable, pullback, pushforward
from s2sad.runtime import unbroadcast

nondifferentiable(np.linalg.matrix_rank)


@pullback(np.linalg.solve)
def pull_solve(out_bar, out, a, b):
    if a.ndim == 2 and b.ndim == 1:
        b_bar = np.linalg.solve(a.T, out_bar)
        return -np.outer(b_bar, out), b_bar
    if a.ndim == 2 and b.ndim == 2:
        b_bar = np.linalg.solve(a.T, out_bar)
        return -b_bar @ out.T, b_bar
    if b.ndim == 1:
        b_bar = np.linalg.solve(np.swapaxes(a, -1, -2), out_bar[..., None])
        return -b_bar * out[..., None, :], unbroadcast(b_bar[..., 0], b.shape)
    b_bar = np.linalg.solve(np.swapaxes(a, -1, -2), out_bar)
    a_bar = -b_bar @ np.swapaxes(out, -1, -2)
    return unbroadcast(a_bar, a.shape), unbroadcast(b_bar, b.shape)


@pushforward(np.linalg.solve)
def push_solve(out, a, b, a_dot, b_dot):
    if a_dot is None:
        return np.linalg.solve(a, b_dot)
    if b.ndim == 1 and a.ndim > 2:
        moved = (a_dot @ out[..., None])[..., 0]
    else:
        moved = a_dot @ out
    rest = -moved if b_dot is None else b_dot - moved
    if b.ndim == 1:
        return np.linalg.solve(a, rest[..., None])[..., 0]
    return np.linalg.solve(a, rest)


@pullback(np.linalg.inv)
def pull_inv(out_bar, out, a):
    if a.ndim == 2:
        return -(out.T @ out_bar @ out.T)
    out_T = np.swapaxes(out, -1, -2)
    return -(out_T @ out_bar @ out_T)


@pushforward(np.linalg.inv)
def push_inv(out, a, a_dot):
    return -(out @ a_dot @ out)


def cofactor(a):
    """Return the cofactor matrix, the gradient of det, of any matrix, also of a singular one.

    By the singular value decomposition a = u diag(s) vh: the cofactors of a product are the
    product of the cofactors, those of diag(s) are the products of all the other s.
    """
    u, s, vh = np.linalg.svd(a)
    eye = np.eye(s.shape[-1], dtype=bool)
    others = np.prod(np.where(eye, 1, s[..., None, :]), axis=-1)
    sign = np.linalg.det(u) * np.linalg.det(vh)
    return sign[..., None, None] * (np.conj(u) * others[..., None, :]) @ np.conj(vh)


@pullback(cofactor)
def pull_cofactor(out_bar, out, a):
    """Differentiate det(a) inv(a).T, for matrices that are not singular."""
    inverse = np.linalg.inv(a)
    inverse_T = np.swapaxes(inverse, -1, -2)
    trace = np.sum(out_bar * out, axis=(-1, -2), keepdims=True)
    return trace * inverse_T - out @ np.swapaxes(out_bar, -1, -2) @ inverse_T


@pushforward(cofactor)
def push_cofactor(out, a, a_dot):
    inverse_T = np.swapaxes(np.linalg.inv(a), -1, -2)
    trace = np.sum(inverse_T * a_dot, axis=(-1, -2), keepdims=True)
    return trace * out - inverse_T @ np.swapaxes(a_dot, -1, -2) @ out


@pullback(np.linalg.det)
def pull_det(out_bar, out, a):
    if a.ndim == 2:
        return out_bar * cofactor(a)
    return out_bar[..., None, None] * cofactor(a)


@pushforward(np.linalg.det)
def push_det(out, a, a_dot):
    return np.sum(cofactor(a) * a_dot, axis=(-1, -2))


@pullback(np.linalg.slogdet)
def pull_slogdet(out_bar, out, a):
    """The sign of a real determinant is constant; that of a complex one turns with it."""
    sign_bar, logabsdet_bar = out_bar
    if np.iscomplexobj(a) and sign_bar is not None:
        turn = 1j * np.imag(sign_bar * out[0])
        logabsdet_bar = turn if logabsdet_bar is None else logabsdet_bar + turn
    if logabsdet_bar is None:
        return np.zeros_like(a)
    if a.ndim == 2:
        return logabsdet_bar * np.linalg.inv(a).T
    return logabsdet_bar[..., None, None] * np.swapaxes(np.linalg.inv(a), -1, -2)


@pushforward(np.linalg.slogdet)
def push_slogdet(out, a, a_dot):
    log_dot = np.trace(np.linalg.solve(a, a_dot), axis1=-2, axis2=-1)
    if np.iscomplexobj(a):
        return out[0] * 1j * np.imag(log_dot), np.real(log_dot)
    return np.zeros_like(out[0]), log_dot


def norm_partials(out, x, ord, axis):
    """Return the partial derivatives of a norm, of which `out` kept its axes.

    Zero where the norm is zero; an equal share where several entries, rows, columns or singular
    values attain a maximum or minimum.
    """
    matrix = x.ndim == 2 if axis is None else isinstance(axis, tuple) and len(axis) == 2
    if ord is None or ord == "fro" or (ord == 2 and not matrix):
        return np.conj(x) / np.where(out == 0, 1, out)
    sign = np.conj(np.sign(x))
    if not matrix:
        if ord == 0:
            return np.zeros_like(x)
        if ord == 1:
            return sign
        if abs(ord) == np.inf:
            chosen = np.abs(x) == out
            return sign * chosen / np.sum(chosen, axis=axis, keepdims=True, dtype=out.dtype)
        return sign * (np.abs(x) / np.where(out == 0, 1, out)) ** (ord - 1)
    row_axis, column_axis = axis if axis is not None else (0, 1)
    if ord in (1, -1, np.inf, -np.inf):
        if abs(ord) != 1:
            row_axis, column_axis = column_axis, row_axis
        chosen = np.sum(np.abs(x), axis=row_axis, keepdims=True) == out
        return sign * chosen / np.sum(chosen, axis=column_axis, keepdims=True, dtype=out.dtype)
    u, s, vh = np.linalg.svd(np.moveaxis(x, (row_axis, column_axis), (-2, -1)), full_matrices=False)
    weight = np.sign(s)
    if ord != "nuc":
        chosen = s == (s[..., :1] if ord == 2 else s[..., -1:])
        weight = weight * chosen / np.sum(chosen, axis=-1, keepdims=True, dtype=s.dtype)
    partials = np.conj((u * weight[..., None, :]) @ vh)
    return np.moveaxis(partials, (-2, -1), (row_axis, column_axis))


@pullback(np.linalg.norm, masks=("ord",))
def pull_norm(out_bar, out, x, *, ord=None, axis=None, keepdims=False):
    if axis is not None and not keepdims:
        out_bar = np.expand_dims(out_bar, axis)
        out = np.expand_dims(out, axis)
    if ord is None:
        return out_bar / np.where(out == 0, 1, out) * np.conj(x)
    return out_bar * norm_partials(out, x, ord, axis)


@pushforward(np.linalg.norm)
def push_norm(out, x, x_dot, *, ord=None, axis=None, keepdims=False):
    if axis is not None and not keepdims:
        out = np.expand_dims(out, axis)
    partials = norm_partials(out, x, ord, axis)
    return np.sum(np.real(partials * x_dot), axis=axis, keepdims=keepdims)


def onto_triangle(a_bar, uplo):
    """Move the cotangent of a Hermitian matrix to the triangle that LAPACK reads."""
    a_bar_H = np.conj(np.swapaxes(a_bar, -1, -2))
    diagonal = np.real(a_bar) * np.eye(a_bar.shape[-1], dtype=bool)
    if uplo == "L":
        return np.tril(a_bar + a_bar_H, -1) + diagonal
    return np.triu(a_bar + a_bar_H, 1) + diagonal


def from_triangle(a_dot, uplo):
    """Return the Hermitian matrix whose triangle LAPACK reads."""
    a_dot_H = np.conj(np.swapaxes(a_dot, -1, -2))
    diagonal = np.real(a_dot) * np.eye(a_dot.shape[-1], dtype=bool)
    if uplo == "L":
        return np.tril(a_dot, -1) + np.triu(a_dot_H, 1) + diagonal
    return np.triu(a_dot, 1) + np.tril(a_dot_H, -1) + diagonal


def lower_half(x):
    """Return the lower triangle with half of the diagonal."""
    return np.tril(x) - 0.5 * x * np.eye(x.shape[-1], dtype=bool)


def cholesky_cotangent(L_bar, L):
    """Return the cotangent of L @ L.T, to be moved onto the triangle that was read."""
    L_T = np.swapaxes(L, -1, -2)
    left = np.linalg.solve(L_T, lower_half(L_T @ L_bar))
    return np.swapaxes(np.linalg.solve(np.conj(L_T), np.swapaxes(left, -1, -2)), -1, -2)


def cholesky_tangent(a_dot, L):
    """Return the tangent of L from that of L @ L.T."""
    half = np.linalg.solve(L, a_dot)
    whole = np.conj(np.linalg.solve(L, np.conj(np.swapaxes(half, -1, -2))))
    return L @ lower_half(np.swapaxes(whole, -1, -2))


@pullback(np.linalg.cholesky, masks=True)
def pull_cholesky(out_bar, out, a, *, upper=False):
    """After Murray, "Differentiation of the Cholesky decomposition", 2016.

    NumPy reads one triangle of a: the cotangent of the other one is zero.
    """
    if upper:
        L_bar = np.conj(np.swapaxes(out_bar, -1, -2))
        L = np.conj(np.swapaxes(out, -1, -2))
        return onto_triangle(cholesky_cotangent(L_bar, L), "U")
    return onto_triangle(cholesky_cotangent(out_bar, out), "L")


@pushforward(np.linalg.cholesky)
def push_cholesky(out, a, a_dot, *, upper=False):
    if upper:
        L = np.conj(np.swapaxes(out, -1, -2))
        return np.conj(np.swapaxes(cholesky_tangent(from_triangle(a_dot, "U"), L), -1, -2))
    return cholesky_tangent(from_triangle(a_dot, "L"), out)


def inverse_gaps(x):
    """Return 1 / (x[j] - x[i]), and 0 where i == j."""
    eye = np.eye(x.shape[-1], dtype=x.dtype)
    return (1 - eye) / (x[..., None, :] - x[..., :, None] + eye)


def check_phases(turn):
    """Refuse what depends on the phases of complex eigenvectors: LAPACK chooses those freely.

    The diagonal of `turn` tells how the result changes when an eigenvector is multiplied by a
    phase; as in PyTorch, it may not change at all.
    """
    phases = np.abs(np.imag(np.diagonal(turn, axis1=-2, axis2=-1)))
    if np.any(phases > np.sqrt(np.finfo(turn.dtype).eps) * np.max(np.abs(turn))):
        raise NotImplementedError("eigh: the result depends on the phases of the eigenvectors")


@pullback(np.linalg.eigh, masks=True)
def pull_eigh(out_bar, out, a, *, UPLO="L"):
    """For eigenvalues that differ. The cotangent lies on the triangle that LAPACK reads."""
    w_bar, v_bar = out_bar
    w, v = out
    v_T = np.swapaxes(v, -1, -2)
    if v_bar is None:
        return onto_triangle(np.conj(v) * w_bar[..., None, :] @ v_T, UPLO.upper())
    turn = v_T @ v_bar
    if np.iscomplexobj(a):
        check_phases(turn)
    middle = inverse_gaps(w) * turn
    if w_bar is not None:
        middle = middle + w_bar[..., None, :] * np.eye(w.shape[-1], dtype=w.dtype)
    return onto_triangle(np.conj(v) @ middle @ v_T, UPLO.upper())


@pushforward(np.linalg.eigh)
def push_eigh(out, a, a_dot, *, UPLO="L"):
    if np.iscomplexobj(a):
        raise NotImplementedError("eigh: no tangent of the eigenvectors of a complex matrix")
    w, v = out
    middle = np.swapaxes(v, -1, -2) @ from_triangle(a_dot, UPLO.upper()) @ v
    return np.diagonal(middle, axis1=-2, axis2=-1), v @ (inverse_gaps(w) * middle)


@pullback(np.linalg.eigvalsh, masks=True)
def pull_eigvalsh(out_bar, out, a, *, UPLO="L"):
    _, v = np.linalg.eigh(a, UPLO)
    a_bar = np.conj(v) * out_bar[..., None, :] @ np.swapaxes(v, -1, -2)
    return onto_triangle(a_bar, UPLO.upper())


@pushforward(np.linalg.eigvalsh)
def push_eigvalsh(out, a, a_dot, *, UPLO="L"):
    _, v = np.linalg.eigh(a, UPLO)
    a_dot = from_triangle(a_dot, UPLO.upper())
    return np.real(np.sum(np.conj(v) * (a_dot @ v), axis=-2))


@pullback(np.linalg.svdvals)
def pull_svdvals(out_bar, out, x):
    u, _, vh = np.linalg.svd(x, full_matrices=False)
    return np.conj((u * out_bar[..., None, :]) @ vh)


@pushforward(np.linalg.svdvals)
def push_svdvals(out, x, x_dot):
    u, _, vh = np.linalg.svd(x, full_matrices=False)
    return np.real(np.sum(np.conj(u) * (x_dot @ np.conj(np.swapaxes(vh, -1, -2))), axis=-2))


@pullback(np.linalg.svd)
def pull_svd(out_bar, out, a, *, full_matrices=True, compute_uv=True):
    """For singular values that differ; singular vectors of real matrices only.

    After Townsend, "Differentiating the singular value decomposition", 2016.
    """
    if not compute_uv:
        u, _, vh = np.linalg.svd(a, full_matrices=False)
        return np.conj((u * out_bar[..., None, :]) @ vh)
    u_bar, s_bar, vh_bar = out_bar
    u, s, vh = out
    if u_bar is None and vh_bar is None:
        k = s.shape[-1]
        return np.conj((u[..., :k] * s_bar[..., None, :]) @ vh[..., :k, :])
    check_svd(a, full_matrices)
    return svd_cotangent(u_bar, s_bar, vh_bar, u, s, vh)


def check_svd(a, full_matrices):
    """Refuse the singular vectors that have no derivative here."""
    if full_matrices and a.shape[-1] != a.shape[-2]:
        raise NotImplementedError("svd: the vectors have a derivative with full_matrices=False")
    if np.iscomplexobj(a):
        raise NotImplementedError("svd: no derivative of the singular vectors of a complex matrix")


def svd_cotangent(u_bar, s_bar, vh_bar, u, s, vh):
    """Return the cotangent of u @ diag(s) @ vh; one that is None is zero."""
    u_T, v = np.swapaxes(u, -1, -2), np.swapaxes(vh, -1, -2)
    gaps = inverse_gaps(s * s)
    column, row = s[..., :, None], s[..., None, :]
    middle = np.zeros_like(gaps)
    outside = 0
    if s_bar is not None:
        middle = middle + s_bar[..., None, :] * np.eye(s.shape[-1], dtype=s.dtype)
    if u_bar is not None:
        turn = gaps * (u_T @ u_bar)
        middle = middle + (turn + np.swapaxes(turn, -1, -2)) * row
        outside = outside + (u_bar - u @ (u_T @ u_bar)) / row @ vh
    if vh_bar is not None:
        v_bar = np.swapaxes(vh_bar, -1, -2)
        turn = gaps * (vh @ v_bar)
        middle = middle + column * (turn + np.swapaxes(turn, -1, -2))
        outside = outside + u @ ((vh_bar - (vh_bar @ v) @ vh) / column)
    return u @ middle @ vh + outside


@pushforward(np.linalg.svd)
def push_svd(out, a, a_dot, *, full_matrices=True, compute_uv=True):
    if not compute_uv:
        u, _, vh = np.linalg.svd(a, full_matrices=False)
        return np.real(np.sum(np.conj(u) * (a_dot @ np.conj(np.swapaxes(vh, -1, -2))), axis=-2))
    check_svd(a, full_matrices)
    u, s, vh = out
    u_T, v = np.swapaxes(u, -1, -2), np.swapaxes(vh, -1, -2)
    middle = u_T @ a_dot @ v
    middle_T = np.swapaxes(middle, -1, -2)
    gaps = inverse_gaps(s * s)
    column, row = s[..., :, None], s[..., None, :]
    u_dot = u @ (gaps * (middle * row + column * middle_T)) + (a_dot @ v - u @ middle) / row
    v_dot = v @ (gaps * (column * middle + middle_T * row))
    vh_dot = np.swapaxes(v_dot, -1, -2) + (u_T @ a_dot - middle @ vh) / column
    return u_dot, np.diagonal(middle, axis1=-2, axis2=-1), vh_dot


def check_qr(a, mode):
    """Refuse the QR decompositions that have no derivative here."""
    if mode != "reduced":
        raise NotImplementedError("qr: a derivative for mode='reduced' only")
    if a.shape[-2] < a.shape[-1]:
        raise NotImplementedError("qr: no derivative for a matrix with more columns than rows")
    if np.iscomplexobj(a):
        raise NotImplementedError("qr: no derivative for a complex matrix")


@pullback(np.linalg.qr)
def pull_qr(out_bar, out, a, *, mode="reduced"):
    """After Walter and Lehmann, "Algorithmic differentiation of linear algebra functions", 2012."""
    check_qr(a, mode)
    q_bar, r_bar = out_bar
    q, r = out
    middle = np.zeros_like(r)
    if q_bar is None:
        q_bar = np.zeros_like(q)
    else:
        middle = middle - np.swapaxes(q_bar, -1, -2) @ q
    if r_bar is not None:
        middle = middle + r @ np.swapaxes(r_bar, -1, -2)
    symmetric = np.tril(middle) + np.swapaxes(np.tril(middle, -1), -1, -2)
    return np.swapaxes(np.linalg.solve(r, np.swapaxes(q_bar + q @ symmetric, -1, -2)), -1, -2)


@pushforward(np.linalg.qr)
def push_qr(out, a, a_dot, *, mode="reduced"):
    check_qr(a, mode)
    q, r = out
    scaled = np.swapaxes(
        np.linalg.solve(np.swapaxes(r, -1, -2), np.swapaxes(a_dot, -1, -2)), -1, -2
    )
    middle = np.swapaxes(q, -1, -2) @ scaled
    upper = np.triu(middle) + np.swapaxes(np.tril(middle, -1), -1, -2)
    return scaled - q @ upper, upper @ r


@pullback(np.linalg.pinv)
def pull_pinv(out_bar, out, a):
    """After Golub and Pereyra, 1973, for matrices whose rank does not change nearby."""
    out_T, out_H = np.swapaxes(out, -1, -2), np.conj(np.swapaxes(out, -1, -2))
    bar_T = np.swapaxes(out_bar, -1, -2)
    rows = (bar_T - a @ (out @ bar_T)) @ (out @ out_H)
    columns = (out_H @ out) @ (bar_T - (bar_T @ out) @ a)
    return np.conj(rows + columns) - out_T @ out_bar @ out_T


@pushforward(np.linalg.pinv)
def push_pinv(out, a, a_dot):
    out_H, dot_H = np.conj(np.swapaxes(out, -1, -2)), np.conj(np.swapaxes(a_dot, -1, -2))
    rows = (out @ out_H) @ (dot_H - (dot_H @ a) @ out)
    columns = (dot_H - out @ (a @ dot_H)) @ (out_H @ out)
    return rows + columns - out @ a_dot @ out


@pullback(np.linalg.matrix_power, view="maybe")
def pull_matrix_power(out_bar, out, a, *, n=None):
    if n == 2:
        a_T = np.swapaxes(a, -1, -2)
        return out_bar @ a_T + a_T @ out_bar
    return power_cotangent(out_bar, a, n)


def power_cotangent(out_bar, a, n):
    """Sum the cotangents that a has in each of the n places where it is a factor."""
    if n < 0:
        inverse = np.linalg.inv(a)
        inverse_T = np.swapaxes(inverse, -1, -2)
        return -(inverse_T @ power_cotangent(out_bar, inverse, -n) @ inverse_T)
    a_T = np.swapaxes(a, -1, -2)
    a_bar = np.zeros_like(a)
    right = out_bar
    for _ in range(n):
        a_bar = a_T @ a_bar + right
        right = right @ a_T
    return a_bar


@pushforward(np.linalg.matrix_power)
def push_matrix_power(out, a, a_dot, *, n=None):
    return power_tangent(a, a_dot, n)


def power_tangent(a, a_dot, n):
    """Return the tangent of a power, by the product rule."""
    if n < 0:
        inverse = np.linalg.inv(a)
        return power_tangent(inverse, -(inverse @ a_dot @ inverse), -n)
    out_dot = np.zeros_like(a)
    right = a_dot
    for _ in range(n):
        out_dot = a @ out_dot + right
        right = right @ a
    return out_dot


def product_factors(arrays):
    """Return the matrices of a product, with a vector at either end made a matrix."""
    factors = list(arrays)
    if np.ndim(factors[0]) == 1:
        factors[0] = factors[0][None, :]
    if np.ndim(factors[-1]) == 1:
        factors[-1] = factors[-1][:, None]
    return factors


@pullback(np.linalg.multi_dot)
def pull_multi_dot(out_bar, out, arrays):
    factors = product_factors(arrays)
    left = [np.reshape(out_bar, (factors[0].shape[0], factors[-1].shape[1]))]
    for factor in factors[:-1]:
        left.append(factor.T @ left[-1])
    cotangents = [np.reshape(left[-1], np.shape(arrays[-1]))]
    right = factors[-1].T
    for k in range(len(factors) - 2, -1, -1):
        cotangents.append(np.reshape(left[k] @ right, np.shape(arrays[k])))
        right = right @ factors[k].T
    return cotangents[::-1]


@pushforward(np.linalg.multi_dot)
def push_multi_dot(out, arrays, arrays_dot):
    arrays = list(arrays)
    return sum(
        np.linalg.multi_dot([*arrays[:k], arrays_dot[k], *arrays[k + 1 :]])
        for k in range(len(arrays))
        if arrays_dot[k] is not None
    )
