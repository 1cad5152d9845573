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
        C_1 = C[j].copy()
        C[j] *= C[j, 0]
        saved.append((C_1, C_0))

    # return np.sum(A**2)
    A_bar = 2.0 * A
    for j in range(len_C - 1, 0, -1):
        C_0, C_1 = saved.pop()
        # C[j] *= C[j, 0]
        C[j] = C_0
        transpose_A_bar = np.transpose(A_bar)
        copy = transpose_A_bar[j].copy()
        transpose_A_bar[j] = 0.0
        np.transpose(A_bar)[j] += C[j, 0] * copy
        np.transpose(A_bar)[j, 0] += np.dot(copy, C[j])
        # C[j] -= 0.5 * C[j - 1]
        C[j] = C_1
        np.transpose(A_bar)[j - 1] -= 0.5 * np.transpose(A_bar)[j]
    return A_bar
