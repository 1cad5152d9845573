"""A view of the inside is taken once and written by every step."""

import numpy as np

WRT = (0,)
ORACLE = "differences"


def inner_view(u, steps):
    u = u.copy()
    inner = u[1:-1]
    for _ in range(steps):
        inner *= 0.9
        u[0] = inner[0] * inner[1]
        u[-1] = np.sum(inner)
    return np.sum(u**2)


def arguments():
    return np.random.default_rng(3).standard_normal(6), 3
