import numpy as np


def cholesky_jvp(A, A_dot):
    """Value and tangent of cholesky (cholesky.py), given the tangent of A."""
    n = A.shape[0]
    L = np.zeros_like(A)
    L_dot = np.zeros_like(L)
    for j in range(n):
        L_item = L[j, :j]
        t_dot = A_dot[j, j] - 2.0 * np.dot(L_dot[j, :j], L_item)
        sqrt_t = np.sqrt(A[j, j] - np.sum(L_item**2))
        L[j, j] = sqrt_t
        # t_dot == 0: zero stays zero where the derivative is infinite
        L_dot[j, j] = 0.5 * t_dot / (1.0 if t_dot == 0 else sqrt_t)
        for i in range(j + 1, n):
            L_item = L[i, :j]
            L_item_1 = L[j, :j]
            t_dot_1 = A_dot[i, j] - np.dot(L_dot[i, :j], L_item_1) - np.dot(L_item, L_dot[j, :j])
            L_item_2 = L[j, j]
            t = (A[i, j] - np.dot(L_item, L_item_1)) / L_item_2
            L_dot[i, j] = t_dot_1 / L_item_2 - L_dot[j, j] * t / L_item_2
            L[i, j] = t
    logdet = 0.0
    logdet_dot = 0.0
    for j in range(n):
        L_item = L[j, j]
        logdet += 2.0 * np.log(L_item)
        logdet_dot = logdet_dot + 2.0 * L_dot[j, j] / L_item
    return logdet, logdet_dot
