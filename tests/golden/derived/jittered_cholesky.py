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


def jittered_cholesky_grad(K, y):
    """Gradient of jittered_cholesky (jittered_cholesky.py) with respect to K and y."""
    jitter = 1e-9
    saved = []
    for attempt in range(6):
        try:
            cholesky = np.linalg.cholesky(K + jitter * np.eye(len(y)))
            L = cholesky
        except np.linalg.LinAlgError:
            jitter *= 100.0
            left = False
            cholesky = None
            arm = 1
        else:
            left = True
            arm = 0
        saved.append((arm, cholesky))
        if left:
            break
    z = np.linalg.solve(L, y)

    # z = np.linalg.solve(L, y)
    b_bar = np.linalg.solve(L.T, z)
    L_bar = put_on_diagonal(1.0 / np.diag(L), L, 0) - np.outer(b_bar, z)
    K_bar = np.zeros_like(K)
    while saved:
        arm, t = saved.pop()
        if arm == 0:
            # L = np.linalg.cholesky(K + jitter * np.eye(len(y)))
            K_bar += onto_triangle(cholesky_cotangent(np.zeros_like(t) + L_bar, t), "L")
            L_bar = 0.0
    return K_bar, b_bar.copy()
