"""The largest eigenvalue of a symmetric matrix by power iteration."""

import numpy as np

WRT = (0,)


def power_iteration(A, v, steps):
    for _ in range(steps):
        v = A @ v
        v = v / np.linalg.norm(v)
    return v @ A @ v


def arguments():
    B = np.random.default_rng(4).standard_normal((3, 3))
    return B + B.T, np.ones(3), 6
