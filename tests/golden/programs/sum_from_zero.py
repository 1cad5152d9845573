"""A sum of arrays that starts as the number 0, and one that is added to in place."""

import numpy as np

WRT = (0, 1)


def sum_from_zero(x, w):
    s = 0.0
    for i in range(len(w)):
        s = s + w[i] * x
    p = 0.0
    for c in w:
        p += c * np.sin(x)
    return np.sum(s * p)


def arguments():
    normal = np.random.default_rng(5).standard_normal
    return normal(4), normal(3)
