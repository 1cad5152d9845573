"""What is left of centred data after projection on one direction."""

import numpy as np

WRT = (0,)
MODE = "vjp"


def principal_axis(w, X):
    w = w / np.linalg.norm(w)
    X = X - X.mean(axis=0)
    left = X - np.outer(X @ w, w)
    return np.sum(left * left) / X.shape[0]


def arguments():
    normal = np.random.default_rng(15).standard_normal
    return normal(3), normal((6, 3))
