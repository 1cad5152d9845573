import numpy as np


def crank_nicolson_grad(u, r, steps):
    """Gradient of crank_nicolson (crank_nicolson.py) with respect to u and r."""
    n = len(u)
    A = np.zeros((n, n))
    B = np.zeros((n, n))
    saved = []
    for i in range(n):
        A[i, i] = 1.0 + r
        B[i, i] = 1.0 - r
        if i > 0:
            A[i, i - 1] = -0.5 * r
            B[i, i - 1] = 0.5 * r
        if i < n - 1:
            arm = 0
            A[i, i + 1] = -0.5 * r
            B[i, i + 1] = 0.5 * r
        else:
            arm = 1
        saved.append(arm)
    saved_1 = []
    for _ in range(steps):
        saved_1.append(u)
        u = np.linalg.solve(A, B @ u)

    # return np.sum(u**2)
    u_bar = 2.0 * u
    A_bar = np.zeros_like(A)
    B_bar = np.zeros_like(B)
    while saved_1:
        # u = np.linalg.solve(A, B @ u)
        b_bar = np.linalg.solve(A.T, u_bar)
        A_bar -= np.outer(b_bar, u)
        u = saved_1.pop()
        B_bar += np.outer(b_bar, u)
        u_bar = B.T @ b_bar
    r_bar = 0.0
    for i in range(n - 1, -1, -1):
        arm = saved.pop()
        if arm == 0:
            # B[i, i + 1] = 0.5 * r
            r_bar = r_bar + 0.5 * B_bar[i, i + 1]
            B_bar[i, i + 1] = 0.0
            # A[i, i + 1] = -0.5 * r
            r_bar = r_bar - 0.5 * A_bar[i, i + 1]
            A_bar[i, i + 1] = 0.0
        if i > 0:
            # B[i, i - 1] = 0.5 * r
            r_bar = r_bar + 0.5 * B_bar[i, i - 1]
            B_bar[i, i - 1] = 0.0
            # A[i, i - 1] = -0.5 * r
            r_bar = r_bar - 0.5 * A_bar[i, i - 1]
            A_bar[i, i - 1] = 0.0
        # B[i, i] = 1.0 - r
        r_bar = r_bar - B_bar[i, i]
        # A[i, i] = 1.0 + r
        r_bar = r_bar + A_bar[i, i]
    return u_bar, r_bar
