import numpy as np


def cholesky_grad(A):
    """Gradient of cholesky (cholesky.py) with respect to A."""
    n = A.shape[0]
    L = np.zeros_like(A)
    saved = []
    for j in range(n):
        sqrt_t = np.sqrt(A[j, j] - np.sum(L[j, :j] ** 2))
        L[j, j] = sqrt_t
        for i in range(j + 1, n):
            t = (A[i, j] - np.dot(L[i, :j], L[j, :j])) / L[j, j]
            saved.append(t)
            L[i, j] = t
        saved.append(sqrt_t)

    L_bar = np.zeros_like(L)
    for j in range(n - 1, -1, -1):
        # logdet += 2.0 * np.log(L[j, j])
        L_bar[j, j] += 2.0 / L[j, j]
    A_bar = np.zeros_like(A)
    for j in range(n - 1, -1, -1):
        sqrt_t = saved.pop()
        for i in range(n - 1, j, -1):
            t = saved.pop()
            # L[i, j] = (A[i, j] - np.dot(L[i, :j], L[j, :j])) / L[j, j]
            t_bar = L_bar[i, j]
            L_item = L[j, j]
            # t_bar == 0: zero stays zero where the derivative is infinite
            t_1 = 1.0 if t_bar == 0 else L_item
            A_item_bar = t_bar / t_1
            L_bar[j, j] -= t_bar * (1.0 if t_bar == 0 else t) / t_1
            dot_L_item_bar = -A_item_bar
            L_bar[i, :j] += dot_L_item_bar * L[j, :j]
            L_bar[j, :j] += dot_L_item_bar * L[i, :j]
            A_bar[i, j] += A_item_bar
        # L[j, j] = np.sqrt(A[j, j] - np.sum(L[j, :j] ** 2))
        sqrt_t_bar = L_bar[j, j]
        A_item_bar_1 = 0.5 * sqrt_t_bar / (1.0 if sqrt_t_bar == 0 else sqrt_t)
        L_bar[j, :j] -= 2.0 * A_item_bar_1 * L[j, :j]
        A_bar[j, j] += A_item_bar_1
    return A_bar
