"""Jacobi iterations for a pressure, with walls of two kinds written each time."""

import numpy as np

WRT = (0, 1)
ORACLE = "differences"


def cavity_edges(p, b, steps):
    p = p.copy()
    for _ in range(steps):
        pn = p.copy()
        p[1:-1, 1:-1] = (
            0.25 * (pn[1:-1, 2:] + pn[1:-1, :-2] + pn[2:, 1:-1] + pn[:-2, 1:-1]) - b[1:-1, 1:-1]
        )
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0.0
    return np.sum(p**2)


def arguments():
    rng = np.random.default_rng(3)
    return rng.standard_normal((5, 5)), rng.standard_normal((5, 5)), 4
