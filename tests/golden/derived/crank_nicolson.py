import numpy as np


def crank_nicolson_grad(u, r, steps):
    """Gradient of crank_nicolson (crank_nicolson.py) with respect to u and r."""
    n = len(u)
    A = np.zeros((n, n))
    B = np.zeros((n, n))
    for i in range(n):
        A[i, i] = 1.0 + r
        B[i, i] = 1.0 - r
        if i > 0:
            A[i, i - 1] = -0.5 * r
            B[i, i - 1] = 0.5 * r
        if i < n - 1:
            A[i, i + 1] = -0.5 * r
            B[i, i + 1] = 0.5 * r
    saved = []
    for _ in range(steps):
        saved.append(u)
        u = np.linalg.solve(A, B @ u)

    # return np.sum(u**2)
    u_bar = 2.0 * u
    B_bar = np.zeros_like(B)
    A_bar = np.zeros_like(A)
    while saved:
        # u = np.linalg.solve(A, B @ u)
        b_bar = np.linalg.solve(A.T, u_bar)
        A_bar -= np.outer(b_bar, u)
        u = saved.pop()
        u_bar = B.T @ b_bar
        B_bar += np.outer(b_bar, u)
    r_bar = 0.0
    for i in range(n - 1, -1, -1):
        if i < n - 1:
            # B[i, i + 1] = 0.5 * r
            t_bar = B_bar[i, i + 1]
            B_bar[i, i + 1] = 0.0
            # A[i, i + 1] = -0.5 * r
            t_bar_1 = A_bar[i, i + 1]
            A_bar[i, i + 1] = 0.0
            r_bar = r_bar + 0.5 * t_bar - 0.5 * t_bar_1
        if i > 0:
            # B[i, i - 1] = 0.5 * r
            t_bar_2 = B_bar[i, i - 1]
            B_bar[i, i - 1] = 0.0
            # A[i, i - 1] = -0.5 * r
            t_bar_3 = A_bar[i, i - 1]
            A_bar[i, i - 1] = 0.0
            r_bar = r_bar + 0.5 * t_bar_2 - 0.5 * t_bar_3
        # A[i, i] = 1.0 + r
        r_bar = r_bar - B_bar[i, i] + A_bar[i, i]
    return u_bar, r_bar
