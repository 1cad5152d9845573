import numpy as np


def columns_grad(A):
    """Gradient of columns (columns.py) with respect to A."""
    A = A.copy()
    C = A.T
    len_C = len(C)
    saved = []
    for j in range(1, len_C):
        C_0 = C[j].copy()
        C[j] -= 0.5 * C[j - 1]
        saved.append((C_0, C[j].copy()))
        C[j] *= C[j, 0]

    # return np.sum(A**2)
    A_bar = 2.0 * A
    C_bar = A_bar.T
    for j in range(len_C - 1, 0, -1):
        # C[j] *= C[j, 0]
        C_0, C_1 = saved.pop()
        C[j] = C_1
        C_item_bar = np.dot(C_bar[j], C[j])
        C_bar[j] *= C[j, 0]
        C_bar[j, 0] += C_item_bar
        # C[j] -= 0.5 * C[j - 1]
        C[j] = C_0
        C_bar[j - 1] -= 0.5 * C_bar[j]
    return A_bar
