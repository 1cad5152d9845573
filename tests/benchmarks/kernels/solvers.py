"""Linear algebra written out: tridiagonal systems, iterations, factorisations, chains.

Each kernel has a function beside it that makes its arguments; KERNELS says by which of them it is
differentiated. Timed by `python tests/benchmarks/measures.py`.
"""

import numpy as np


def thomas(a, b, c, d):
    """Solve a tridiagonal system by forward elimination and back substitution."""
    n = len(d)
    cp = np.zeros(n)
    dp = np.zeros(n)
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i - 1]
        cp[i] = c[i] / m
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m
    x = np.zeros(n)
    x[-1] = dp[-1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return np.dot(x, x)


def thomas_args():
    rng = np.random.default_rng(0)
    n = 400
    return rng.random(n), 4 + rng.random(n), rng.random(n), rng.standard_normal(n)


def conjugate_gradient(A, b, tol, maxiter):
    x = np.zeros_like(b)
    r = b - A @ x
    p = r
    rs = r @ r
    k = 0
    while k < maxiter:
        Ap = A @ p
        alpha = rs / (p @ Ap)
        x = x + alpha * p
        r = r - alpha * Ap
        rs_new = r @ r
        if np.sqrt(rs_new) < tol:
            break
        p = r + (rs_new / rs) * p
        rs = rs_new
        k += 1
    return 0.5 * x @ A @ x - b @ x


def conjugate_gradient_args():
    rng = np.random.default_rng(1)
    n = 80
    M = rng.standard_normal((n, n)) / np.sqrt(n)
    return M @ M.T + np.eye(n), rng.standard_normal(n), 1e-6, 60


def cholesky_by_hand(K, y):
    """Log likelihood of a Gaussian, with Cholesky and substitution by loops."""
    n = K.shape[0]
    L = np.zeros((n, n))
    for j in range(n):
        s = K[j, j] - np.sum(L[j, :j] ** 2)
        L[j, j] = np.sqrt(s)
        for i in range(j + 1, n):
            L[i, j] = (K[i, j] - np.dot(L[i, :j], L[j, :j])) / L[j, j]
    z = np.empty(n)
    for i in range(n):
        z[i] = (y[i] - L[i, :i] @ z[:i]) / L[i, i]
    return -0.5 * z @ z - np.log(np.diag(L)).sum() - 0.5 * n * np.log(2 * np.pi)


def cholesky_by_hand_args():
    rng = np.random.default_rng(2)
    x = np.sort(rng.random(30))
    K = np.exp(-0.5 * (x[:, None] - x[None, :]) ** 2 / 0.04) + 0.1 * np.eye(30)
    return K, rng.standard_normal(30)


def power_iteration(A, v, iterations):
    for _ in range(iterations):
        w = A.dot(v)
        norm = np.linalg.norm(w)
        v = w / norm
    return v.dot(A).dot(v)


def power_iteration_args():
    rng = np.random.default_rng(3)
    A = rng.standard_normal((100, 100))
    return A + A.T, rng.standard_normal(100), 25


def gram_schmidt_qr(A):
    """Modified Gram-Schmidt, columns in a list; the logarithm of the determinant."""
    m, n = A.shape
    Q = []
    R = np.zeros((n, n))
    for k in range(n):
        q = A[:, k]
        for i, qi in enumerate(Q):
            R[i, k] = qi @ q
            q = q - R[i, k] * qi
        R[k, k] = np.linalg.norm(q)
        Q.append(q / R[k, k])
    Q = np.stack(Q, axis=1)
    return np.sum(np.log(np.abs(np.diag(R)))) + np.sum(Q[0] ** 2)


def gram_schmidt_qr_args():
    return (np.random.default_rng(4).standard_normal((40, 16)),)


def matrix_chain(mats, x):
    """A product of many matrices, scaled as it goes."""
    out = x
    log_scale = 0.0
    for M in mats:
        out = M @ out
        s = np.max(np.abs(out))
        out = out / s
        log_scale += np.log(s)
    return log_scale + np.sum(out)


def matrix_chain_args():
    rng = np.random.default_rng(5)
    return [rng.standard_normal((24, 24)) for _ in range(40)], rng.standard_normal((24, 6))


def newton_system(theta, x0, n_iter=12):
    """Newton for a system of nonlinear equations, a Jacobian by hand."""
    x = x0.copy()
    n = x.size
    for _ in range(n_iter):
        F = x**3 + theta * x - 1.0
        F[1:] += 0.1 * x[:-1] ** 2
        J = np.diag(3 * x**2 + theta)
        J[np.arange(1, n), np.arange(n - 1)] = 0.2 * x[:-1]
        x = x - np.linalg.solve(J, F)
    return np.sum(np.sin(x))


def newton_system_args():
    rng = np.random.default_rng(6)
    return 1.0 + rng.random(30), rng.random(30)


def sparse_product(rows, cols, vals, x, times):
    """Matrix in coordinates times a vector, many times; np.add.at gathers."""
    for _ in range(times):
        y = np.zeros(len(x))
        np.add.at(y, rows, vals * x[cols])
        x = np.tanh(y)
    return np.sum(x**2)


def sparse_product_args():
    rng = np.random.default_rng(7)
    n, nnz = 300, 1500
    rows, cols = rng.integers(0, n, nnz), rng.integers(0, n, nnz)
    return rows, cols, rng.standard_normal(nnz), rng.standard_normal(n), 25


KERNELS = {
    "thomas": (0, 1, 2, 3),
    "conjugate_gradient": (0, 1),
    "cholesky_by_hand": (0, 1),
    "power_iteration": (0,),
    "gram_schmidt_qr": (0,),
    "matrix_chain": (0, 1),
    "newton_system": (0,),
    "sparse_product": (2, 3),
}
