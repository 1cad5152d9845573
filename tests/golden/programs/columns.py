"""The columns of a matrix, written through its transpose."""

import numpy as np

WRT = (0,)
ORACLE = "differences"


def columns(A):
    A = A.copy()
    C = A.T
    for j in range(1, len(C)):
        C[j] -= 0.5 * C[j - 1]
        C[j] *= C[j, 0]
    return np.sum(A**2)


def arguments():
    return (np.random.default_rng(3).standard_normal((3, 4)),)
