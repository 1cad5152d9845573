"""Relaxation in place until a step changes little."""

import numpy as np

WRT = (0, 1)
ORACLE = "differences"


def relax(u, f, tolerance):
    u = u.copy()
    change = 1.0
    while change > tolerance:
        old = u[1:-1].copy()
        u[1:-1] = 0.5 * (u[2:] + u[:-2]) + f[1:-1]
        change = np.max(np.abs(u[1:-1] - old))
    return np.sum(u**2)


def arguments():
    rng = np.random.default_rng(3)
    return rng.standard_normal(6), rng.standard_normal(6), 0.3
