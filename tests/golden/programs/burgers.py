"""Burgers' equation as taught: a copy of the last step, a stencil, two boundary values."""

import numpy as np

WRT = (0, 2)
ORACLE = "differences"


def burgers(u, dt, nu, dx, steps):
    u = u.copy()
    for _ in range(steps):
        un = u.copy()
        u[1:-1] = (
            un[1:-1]
            - un[1:-1] * dt / dx * (un[1:-1] - un[:-2])
            + nu * dt / dx**2 * (un[2:] - 2.0 * un[1:-1] + un[:-2])
        )
        u[0] = 1.0
        u[-1] = u[-2]
    return np.mean(u**2)


def arguments():
    return 1.0 + 0.1 * np.random.default_rng(3).standard_normal(9), 0.05, 0.1, 0.5, 5
