"""A trajectory written row by row: coupled logistic maps."""

import numpy as np

WRT = (0, 1)
ORACLE = "differences"


def logistic_map(x0, r, steps):
    xs = np.empty((steps + 1, len(x0)))
    xs[0] = x0
    for t in range(steps):
        xs[t + 1] = r * xs[t] * (1.0 - xs[t])
    return np.mean(xs[-1])


def arguments():
    return np.array([0.2, 0.4, 0.7]), 2.9, 4
