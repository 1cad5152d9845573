"""Explicit diffusion in one dimension, in place: the right side is read before it is written."""

import numpy as np

WRT = (0, 1)
ORACLE = "differences"


def diffusion(u, r, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += r * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def arguments():
    return np.random.default_rng(3).standard_normal(8), 0.3, 4
