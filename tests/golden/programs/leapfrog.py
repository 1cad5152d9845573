"""Leapfrog for bodies on springs: positions and velocities in place."""

import numpy as np

WRT = (0, 1, 2)
ORACLE = "differences"


def leapfrog(x, v, k, dt, steps):
    x = x.copy()
    v = v.copy()
    force = -k * x**3
    for _ in range(steps):
        v += 0.5 * dt * force
        x += dt * v
        force[:] = -k * x**3
        v += 0.5 * dt * force
    return 0.5 * np.sum(v**2) + 0.25 * np.sum(k * x**4)


def arguments():
    rng = np.random.default_rng(3)
    x, v = rng.standard_normal((2, 4))
    return x, v, 1.0 + rng.random(4), 0.1, 4
