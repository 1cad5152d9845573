"""Heat in a plate: a five-point stencil into a second buffer; the buffers change places."""

import numpy as np

WRT = (0, 1)
ORACLE = "differences"


def heat_plate(T, alpha, steps):
    T = T.copy()
    new = T.copy()
    for _ in range(steps):
        new[1:-1, 1:-1] = T[1:-1, 1:-1] + alpha * (
            T[2:, 1:-1] + T[:-2, 1:-1] + T[1:-1, 2:] + T[1:-1, :-2] - 4.0 * T[1:-1, 1:-1]
        )
        T, new = new, T
    return np.sum(T**2)


def arguments():
    return np.random.default_rng(3).standard_normal((5, 6)), 0.1, 4
