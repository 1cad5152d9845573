"""A factorisation that is tried again with a larger diagonal until it succeeds."""

import numpy as np

WRT = (0, 1)
ORACLE = "differences"


def jittered_cholesky(K, y):
    jitter = 1e-9
    for attempt in range(6):
        try:
            L = np.linalg.cholesky(K + jitter * np.eye(len(y)))
            break
        except np.linalg.LinAlgError:
            jitter *= 100.0
    z = np.linalg.solve(L, y)
    return 0.5 * np.dot(z, z) + np.sum(np.log(np.diag(L)))


def arguments():
    a = np.array([1.0, 0.9, 0.4])
    return np.outer(a, a) - 5e-3 * np.eye(3), np.array([0.3, -0.2, 0.5])
