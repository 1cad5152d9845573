"""What is negative is cut off by a mask, and where it was large it is damped."""

import numpy as np

WRT = (0,)
ORACLE = "differences"


def masked(x, limit):
    y = x * x - 0.5
    y[y < 0.0] = 0.0
    large = y > limit
    y[large] = limit + np.log(y[large] / limit)
    return np.sum(y**2)


def arguments():
    return np.random.default_rng(3).standard_normal(8), 1.0
