"""Crank-Nicolson: the matrices are filled by loops, then a solve per step."""

import numpy as np

WRT = (0, 1)
ORACLE = "differences"


def crank_nicolson(u, r, steps):
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
    for _ in range(steps):
        u = np.linalg.solve(A, B @ u)
    return np.sum(u**2)


def arguments():
    return np.random.default_rng(3).standard_normal(5), 0.4, 3
