"""The wave equation, all of its history kept in one array, a row per time."""

import numpy as np

WRT = (0, 1)
ORACLE = "differences"


def wave_history(start, c, steps, seen):
    n = len(start)
    U = np.zeros((steps + 1, n))
    U[0] = start
    U[1] = start
    for t in range(1, steps):
        U[t + 1, 1:-1] = (
            2.0 * U[t, 1:-1] - U[t - 1, 1:-1] + c**2 * (U[t, 2:] - 2.0 * U[t, 1:-1] + U[t, :-2])
        )
    return np.sum((U[:, n // 2] - seen) ** 2)


def arguments():
    rng = np.random.default_rng(3)
    return rng.standard_normal(7), 0.8, 5, rng.standard_normal(6)
