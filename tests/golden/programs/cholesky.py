"""Cholesky's factor with loops, and the log-determinant from its diagonal."""

import numpy as np

WRT = (0,)
ORACLE = "differences"


def cholesky(A):
    n = A.shape[0]
    L = np.zeros_like(A)
    for j in range(n):
        L[j, j] = np.sqrt(A[j, j] - np.sum(L[j, :j] ** 2))
        for i in range(j + 1, n):
            L[i, j] = (A[i, j] - np.dot(L[i, :j], L[j, :j])) / L[j, j]
    logdet = 0.0
    for j in range(n):
        logdet += 2.0 * np.log(L[j, j])
    return logdet


def arguments():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((4, 4))
    return (X @ X.T + 4.0 * np.eye(4),)
