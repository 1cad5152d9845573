"""A recursive low-pass filter: every output needs the one before."""

import numpy as np

WRT = (0, 1)
ORACLE = "differences"


def low_pass(x, alpha):
    y = np.empty_like(x)
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = alpha * x[i] + (1.0 - alpha) * y[i - 1]
    return np.sum((y - x) ** 2)


def arguments():
    return np.random.default_rng(3).standard_normal(7), 0.3
