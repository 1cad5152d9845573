"""Decompositions of numpy.linalg: Cholesky, eigenvalues, singular values, QR.

Conventions for complex matrices as in rules/linalg.py.
"""

import numpy as np

from s2sad.registry import pullback, pushforward


def onto_triangle(a_bar, uplo):
    """Move the cotangent of a Hermitian matrix to the triangle that LAPACK reads."""
    a_bar_H = np.conj(np.swapaxes(a_bar, -1, -2))
    diagonal = np.real(a_bar) * np.eye(a_bar.shape[-1], dtype=bool)
    if uplo in ("L", "l"):
        return np.tril(a_bar + a_bar_H, -1) + diagonal
    return np.triu(a_bar + a_bar_H, 1) + diagonal


def from_triangle(a_dot, uplo):
    """Return the Hermitian matrix whose triangle LAPACK reads."""
    a_dot_H = np.conj(np.swapaxes(a_dot, -1, -2))
    diagonal = np.real(a_dot) * np.eye(a_dot.shape[-1], dtype=bool)
    if uplo in ("L", "l"):
        return np.tril(a_dot, -1) + np.triu(a_dot_H, 1) + diagonal
    return np.triu(a_dot, 1) + np.tril(a_dot_H, -1) + diagonal


def lower_half(x):
    """Return the lower triangle with half of the diagonal."""
    return np.tril(x) - 0.5 * x * np.eye(x.shape[-1], dtype=bool)


def cholesky_cotangent(L_bar, L):
    """Return the cotangent of L @ L.T; the caller moves it onto the triangle that was read."""
    L_T = np.swapaxes(L, -1, -2)
    left = np.linalg.solve(L_T, lower_half(L_T @ L_bar))
    return np.swapaxes(np.linalg.solve(np.conj(L_T), np.swapaxes(left, -1, -2)), -1, -2)


def cholesky_tangent(a_dot, L):
    """Return the tangent of L from the tangent of L @ L.T."""
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


def over_gaps(turn, x):
    """Return turn[i, j] / (x[j] - x[i]), and 0 where i == j, or where both are 0.

    So equal values do no harm if nothing depends on their vectors.
    """
    gap = x[..., None, :] - x[..., :, None]
    asked = ((turn != 0) | (gap != 0)) & ~np.eye(x.shape[-1], dtype=bool)
    return np.where(asked, turn, 0) / np.where(asked, gap, 1)


def check_phases(turn):
    """Refuse results that depend on the phases of complex eigenvectors, which LAPACK chooses.

    The diagonal of `turn` tells how the result changes when an eigenvector is multiplied by a
    phase; as in PyTorch, the result must not change at all.
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
        return onto_triangle(np.conj(v) * w_bar[..., None, :] @ v_T, UPLO)
    turn = v_T @ v_bar
    if np.iscomplexobj(a):
        check_phases(turn)
    middle = over_gaps(turn, w)
    if w_bar is not None:
        middle = middle + w_bar[..., None, :] * np.eye(w.shape[-1], dtype=w.dtype)
    return onto_triangle(np.conj(v) @ middle @ v_T, UPLO)


@pushforward(np.linalg.eigh)
def push_eigh(out, a, a_dot, *, UPLO="L"):
    if np.iscomplexobj(a):
        raise NotImplementedError("eigh: no tangent of the eigenvectors of a complex matrix")
    w, v = out
    middle = np.swapaxes(v, -1, -2) @ from_triangle(a_dot, UPLO) @ v
    return np.diagonal(middle, axis1=-2, axis2=-1), v @ over_gaps(middle, w)


@pullback(np.linalg.eigvalsh, masks=True)
def pull_eigvalsh(out_bar, out, a, *, UPLO="L"):
    v = np.linalg.eigh(a, UPLO)[1]
    a_bar = np.conj(v) * out_bar[..., None, :] @ np.swapaxes(v, -1, -2)
    return onto_triangle(a_bar, UPLO)


@pushforward(np.linalg.eigvalsh)
def push_eigvalsh(out, a, a_dot, *, UPLO="L"):
    v = np.linalg.eigh(a, UPLO)[1]
    a_dot = from_triangle(a_dot, UPLO)
    return np.real(np.sum(np.conj(v) * (a_dot @ v), axis=-2))


COMPLEX_VECTORS = "singular vectors of a complex matrix have no derivative"


@pullback(np.linalg.svdvals, once=COMPLEX_VECTORS)
def pull_svdvals(out_bar, out, x):
    u, _, vh = np.linalg.svd(x, full_matrices=False)
    return np.conj((u * out_bar[..., None, :]) @ vh)


@pushforward(np.linalg.svdvals)
def push_svdvals(out, x, x_dot):
    u, _, vh = np.linalg.svd(x, full_matrices=False)
    return np.real(np.sum(np.conj(u) * (x_dot @ np.conj(np.swapaxes(vh, -1, -2))), axis=-2))


@pullback(np.linalg.svd, masks=("hermitian",), once=COMPLEX_VECTORS)
def pull_svd(out_bar, out, a, *, full_matrices=True, compute_uv=True, hermitian=False):
    """For singular values that differ; singular vectors of real matrices only.

    If the matrix is Hermitian, only one triangle is read.
    """
    if hermitian:
        whole = from_triangle(a, "L")
        return onto_triangle(pull_svd(out_bar, out, whole, compute_uv=compute_uv), "L")
    if not compute_uv:
        return pull_svdvals(out_bar, out, a)
    return svd_pulled(out_bar, out, a, full_matrices)


def svd_pulled(out_bar, out, a, full_matrices):
    """Return the cotangent of a matrix from the cotangents of its singular values and vectors."""
    u_bar, s_bar, vh_bar = out_bar
    u, s, vh = out
    free = np.iscomplexobj(a) or (full_matrices and a.shape[-1] != a.shape[-2])
    if free and s_bar is not None and not (is_asked(u_bar) or is_asked(vh_bar)):
        k = s.shape[-1]
        return np.conj((u[..., :k] * s_bar[..., None, :]) @ vh[..., :k, :])
    check_svd(a, full_matrices)
    return svd_cotangent(u_bar, s_bar, vh_bar, u, s, vh)


def is_asked(bar):
    """Return whether something depends on a result: its cotangent is not all zeros."""
    return bar is not None and np.any(bar)


def check_svd(a, full_matrices):
    """Refuse the singular vectors that have no derivative here."""
    if full_matrices and a.shape[-1] != a.shape[-2]:
        raise NotImplementedError("svd: the vectors have a derivative with full_matrices=False")
    if np.iscomplexobj(a):
        raise NotImplementedError(
            "svd has no derivative of the singular vectors of a complex matrix"
        )


def svd_cotangent(u_bar, s_bar, vh_bar, u, s, vh):
    """Return the cotangent of u @ diag(s) @ vh; a cotangent of None means zero.

    After Townsend, "Differentiating the singular value decomposition", 2016.
    """
    u_T, v = np.swapaxes(u, -1, -2), np.swapaxes(vh, -1, -2)
    column, row = s[..., :, None], s[..., None, :]
    middle = np.zeros((*s.shape, s.shape[-1]), s.dtype)
    outside = 0
    if s_bar is not None:
        middle = middle + s_bar[..., None, :] * np.eye(s.shape[-1], dtype=s.dtype)
    if u_bar is not None:
        turn = over_gaps(u_T @ u_bar, s * s)
        middle = middle + (turn + np.swapaxes(turn, -1, -2)) * row
        outside = outside + (u_bar - u @ (u_T @ u_bar)) / row @ vh
    if vh_bar is not None:
        v_bar = np.swapaxes(vh_bar, -1, -2)
        turn = over_gaps(vh @ v_bar, s * s)
        middle = middle + column * (turn + np.swapaxes(turn, -1, -2))
        outside = outside + u @ ((vh_bar - (vh_bar @ v) @ vh) / column)
    return u @ middle @ vh + outside


@pushforward(np.linalg.svd)
def push_svd(out, a, a_dot, *, full_matrices=True, compute_uv=True, hermitian=False):
    if hermitian:
        a_dot = from_triangle(a_dot, "L")
        return push_svd(out, from_triangle(a, "L"), a_dot, compute_uv=compute_uv)
    if not compute_uv:
        return push_svdvals(out, a, a_dot)
    return svd_pushed(out, a, a_dot, full_matrices)


def svd_pushed(out, a, a_dot, full_matrices):
    """Return the tangents of singular values and vectors."""
    u, s, vh = out
    if full_matrices and a.shape[-1] != a.shape[-2]:
        return values_only_forward(a_dot, u, s, vh)
    check_svd(a, full_matrices)
    u_T, v = np.swapaxes(u, -1, -2), np.swapaxes(vh, -1, -2)
    middle = u_T @ a_dot @ v
    middle_T = np.swapaxes(middle, -1, -2)
    column, row = s[..., :, None], s[..., None, :]
    u_dot = u @ over_gaps(middle * row + column * middle_T, s * s) + (a_dot @ v - u @ middle) / row
    v_dot = v @ over_gaps(column * middle + middle_T * row, s * s)
    vh_dot = np.swapaxes(v_dot, -1, -2) + (u_T @ a_dot - middle @ vh) / column
    return u_dot, np.diagonal(middle, axis1=-2, axis2=-1), vh_dot


def values_only_forward(a_dot, u, s, vh):
    """Return the tangents of an svd whose vectors are not unique: nan for the vectors."""
    k = s.shape[-1]
    turned = np.conj(u[..., :k]) * (a_dot @ np.conj(np.swapaxes(vh[..., :k, :], -1, -2)))
    return np.full_like(u, np.nan), np.real(np.sum(turned, axis=-2)), np.full_like(vh, np.nan)


@pullback(np.linalg.qr, once="more rows are asked for than are decided: the mode is complete")
def pull_qr(out_bar, out, a, *, mode="reduced"):
    """After Walter and Lehmann, "Algorithmic differentiation of linear algebra functions", 2012."""
    if mode == "complete" and a.shape[-2] > a.shape[-1]:
        raise NotImplementedError("qr: of a tall matrix some columns are any that fill up q")
    if mode == "raw":
        raise NotImplementedError("qr has no derivative of LAPACK's reflections, mode='raw'")
    if np.iscomplexobj(a):
        raise NotImplementedError("qr has no derivative for a complex matrix")
    if mode == "r":
        return triangle_cotangent(out_bar, a)
    return qr_cotangent(out_bar[0], out_bar[1], out[0], out[1], a)


def triangle_cotangent(r_bar, a):
    """Return the cotangent of a matrix from the cotangent of its factor r alone."""
    q, r = np.linalg.qr(a)
    return qr_cotangent(None, r_bar, q, r, a)


def qr_cotangent(q_bar, r_bar, q, r, a):
    """Return the cotangent of q @ r; in a wide matrix the first columns determine q."""
    rows = a.shape[-2]
    r_bar = np.zeros_like(r) if r_bar is None else r_bar
    q_bar = np.zeros_like(q) if q_bar is None else q_bar
    if rows >= a.shape[-1]:
        return tall_qr_cotangent(q_bar, r_bar, q, r)
    others = r_bar[..., rows:]
    q_bar = q_bar + a[..., rows:] @ np.swapaxes(others, -1, -2)
    first = tall_qr_cotangent(q_bar, r_bar[..., :rows], q, r[..., :rows])
    return np.concatenate([first, q @ others], axis=-1)


def tall_qr_cotangent(q_bar, r_bar, q, r):
    """Return the cotangent of q @ r, for at least as many rows as columns."""
    middle = r @ np.swapaxes(r_bar, -1, -2) - np.swapaxes(q_bar, -1, -2) @ q
    symmetric = np.tril(middle) + np.swapaxes(np.tril(middle, -1), -1, -2)
    return np.swapaxes(np.linalg.solve(r, np.swapaxes(q_bar + q @ symmetric, -1, -2)), -1, -2)


@pushforward(np.linalg.qr)
def push_qr(out, a, a_dot, *, mode="reduced"):
    if mode == "complete" and a.shape[-2] > a.shape[-1]:
        raise NotImplementedError("qr: of a tall matrix some columns are any that fill up q")
    if mode == "raw":
        raise NotImplementedError("qr has no derivative of LAPACK's reflections, mode='raw'")
    if np.iscomplexobj(a):
        raise NotImplementedError("qr has no derivative for a complex matrix")
    if mode == "r":
        return triangle_tangent(a, a_dot)
    return qr_tangent(out[0], out[1], a, a_dot)


def triangle_tangent(a, a_dot):
    """Return the tangent of the factor r alone."""
    q, r = np.linalg.qr(a)
    return qr_tangent(q, r, a, a_dot)[1]


def qr_tangent(q, r, a, a_dot):
    """Return the tangents of both factors; in a wide matrix the first columns determine q."""
    rows = a.shape[-2]
    if rows >= a.shape[-1]:
        return tall_qr_tangent(q, r, a_dot)
    q_dot, first = tall_qr_tangent(q, r[..., :rows], a_dot[..., :rows])
    others = np.swapaxes(q_dot, -1, -2) @ a[..., rows:]
    others = others + np.swapaxes(q, -1, -2) @ a_dot[..., rows:]
    return q_dot, np.concatenate([first, others], axis=-1)


def tall_qr_tangent(q, r, a_dot):
    """Return the tangents of the factors, for at least as many rows as columns."""
    scaled = np.swapaxes(
        np.linalg.solve(np.swapaxes(r, -1, -2), np.swapaxes(a_dot, -1, -2)), -1, -2
    )
    middle = np.swapaxes(q, -1, -2) @ scaled
    upper = np.triu(middle) + np.swapaxes(np.tril(middle, -1), -1, -2)
    return scaled - q @ upper, upper @ r


def real_component(v):
    """Return where LAPACK makes the eigenvectors real: at their largest component, as 0 and 1."""
    size = np.where(np.imag(v) == 0, np.abs(v), -1.0)
    chosen = np.argmax(size, axis=-2)
    return np.expand_dims(np.arange(v.shape[-1]), -1) == np.expand_dims(chosen, -2)


def eigen_cotangent(w_bar, v_bar, w, v):
    """Return the cotangent of a matrix with the eigenvalues w, all different, and eigenvectors v.

    LAPACK's eigenvectors have length 1, and are real in their largest component.
    """
    v_T = np.swapaxes(v, -1, -2)
    eye = np.eye(w.shape[-1], dtype=bool)
    middle = np.zeros_like(v) if w_bar is None else w_bar[..., None, :] * eye
    if v_bar is not None:
        middle = middle + over_gaps(v_T @ unscaled_cotangent(v_bar, v), w)
    return np.linalg.solve(v_T, middle @ v_T)


def unscaled_cotangent(v_bar, v):
    """Return the cotangent of eigenvectors of any length and phase."""
    along = np.sum(v_bar * v, axis=-2, keepdims=True)
    raw_bar = v_bar - np.real(along) * np.conj(v)
    if np.iscomplexobj(v):
        chosen = real_component(v)
        height = np.real(np.sum(v * chosen, axis=-2, keepdims=True))
        raw_bar = raw_bar - 1j * (chosen * np.imag(along) / height)
    return raw_bar


@pullback(np.linalg.eig, turns_complex=True)
def pull_eig(out_bar, out, a):
    """For eigenvalues that differ. A real matrix has a real cotangent."""
    if np.iscomplexobj(a):
        return eigen_cotangent(out_bar[0], out_bar[1], out[0], out[1])
    return np.real(eigen_cotangent(out_bar[0], out_bar[1], out[0], out[1]))


@pushforward(np.linalg.eig)
def push_eig(out, a, a_dot):
    w, v = out
    middle = np.linalg.solve(v, a_dot @ v)
    raw_dot = v @ over_gaps(middle, w)
    v_dot = raw_dot - v * np.real(np.sum(np.conj(v) * raw_dot, axis=-2, keepdims=True))
    if np.iscomplexobj(v):
        chosen = real_component(v)
        height = np.real(np.sum(v * chosen, axis=-2, keepdims=True))
        turn = np.imag(np.sum(raw_dot * chosen, axis=-2, keepdims=True)) / height
        v_dot = v_dot - 1j * turn * v
    return np.diagonal(middle, axis1=-2, axis2=-1), v_dot


@pullback(np.linalg.eigvals, turns_complex=True)
def pull_eigvals(out_bar, out, a):
    if np.iscomplexobj(a):
        return eigenvalues_back(out_bar, a)
    return np.real(eigenvalues_back(out_bar, a))


def eigenvalues_back(w_bar, a):
    """Return the cotangent of a matrix from the cotangent of its eigenvalues alone."""
    w, v = np.linalg.eig(a)
    return eigen_cotangent(w_bar, None, w, v)


@pushforward(np.linalg.eigvals)
def push_eigvals(out, a, a_dot):
    _, v = np.linalg.eig(a)
    return np.diagonal(np.linalg.solve(v, a_dot @ v), axis1=-2, axis2=-1)
