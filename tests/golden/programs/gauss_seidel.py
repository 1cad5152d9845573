"""Gauss-Seidel: sweeps that read what they have just written."""

import numpy as np

WRT = (0, 1)
ORACLE = "differences"


def gauss_seidel(A, b, sweeps):
    n = len(b)
    x = np.zeros(n)
    for _ in range(sweeps):
        for i in range(n):
            s = b[i]
            for j in range(n):
                if j != i:
                    s -= A[i, j] * x[j]
            x[i] = s / A[i, i]
    return np.sum(x**2)


def arguments():
    rng = np.random.default_rng(3)
    return rng.standard_normal((4, 4)) + 6.0 * np.eye(4), rng.standard_normal(4), 3
