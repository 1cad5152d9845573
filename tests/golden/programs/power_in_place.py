"""Power iteration with a vector that is normalised in place."""

import numpy as np

WRT = (0,)
ORACLE = "differences"


def power_in_place(A, steps):
    v = np.ones(A.shape[0])
    for _ in range(steps):
        v[:] = A @ v
        v /= np.sqrt(np.sum(v * v))
    return v @ A @ v


def arguments():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((4, 4))
    return X + X.T, 4
