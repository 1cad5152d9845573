import numpy as np


def put_on_diagonal(d, a, offset, axis1=0, axis2=1):
    """Return zeros like a, with d on the diagonal."""
    a_bar = np.zeros_like(a)
    i = np.arange(d.shape[-1])
    rows = np.moveaxis(a_bar, (axis1, axis2), (-2, -1))
    rows[..., i - min(offset, 0), i + max(offset, 0)] = d
    return a_bar


def cholesky_cotangent(L_bar, L):
    """Return the cotangent of L @ L.T; the caller moves it onto the triangle that was read."""
    L_T = np.swapaxes(L, -1, -2)
    left = np.linalg.solve(L_T, lower_half(L_T @ L_bar))
    return np.swapaxes(np.linalg.solve(np.conj(L_T), np.swapaxes(left, -1, -2)), -1, -2)


def onto_triangle(a_bar, uplo):
    """Move the cotangent of a Hermitian matrix to the triangle that LAPACK reads."""
    a_bar_H = np.conj(np.swapaxes(a_bar, -1, -2))
    diagonal = np.real(a_bar) * np.eye(a_bar.shape[-1], dtype=bool)
    if uplo in ("L", "l"):
        return np.tril(a_bar + a_bar_H, -1) + diagonal
    return np.triu(a_bar + a_bar_H, 1) + diagonal


def lower_half(x):
    """Return the lower triangle with half of the diagonal."""
    return np.tril(x) - 0.5 * x * np.eye(x.shape[-1], dtype=bool)


def gaussian_process_grad(scale, noise, x, y):
    """Gradient of gaussian_process (gaussian_process.py) with respect to scale and noise."""
    d = x[:, None] - x[None, :]
    t = d / scale
    exp_t = np.exp(-0.5 * t**2)
    eye_len_x = np.eye(len(x))
    K = exp_t + noise * eye_len_x
    L = np.linalg.cholesky(K)
    alpha = np.linalg.solve(K, y)

    # L = np.linalg.cholesky(K)
    onto_triangle_1 = onto_triangle(
        cholesky_cotangent(put_on_diagonal(1.0 / np.diag(L), L, 0), L), "L"
    )
    K_bar = onto_triangle_1 - np.outer(np.linalg.solve(K.T, 0.5 * y), alpha)
    return np.sum(K_bar * exp_t * t * t) / scale, np.sum(K_bar * eye_len_x)
