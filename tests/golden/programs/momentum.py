"""Gradient descent with momentum on a quadratic, on slices of one state array."""

import numpy as np

WRT = (0, 1, 2)
ORACLE = "differences"


def momentum(A, rate, beta, start, steps):
    n = len(start)
    z = np.zeros(2 * n)
    z[:n] = start
    for _ in range(steps):
        z[n:] *= beta
        z[n:] += A @ z[:n]
        z[:n] -= rate * z[n:]
    return np.sum(z[:n] ** 2)


def arguments():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((3, 3))
    return X @ X.T, 0.1, 0.7, rng.standard_normal(3), 4
