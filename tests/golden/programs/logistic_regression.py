"""Logistic regression with a ridge penalty, labels 0 and 1."""

import numpy as np

WRT = (0, 1)
MODE = "value_and_grad"


def logistic_regression(w, b, X, y, decay):
    z = X @ w + b
    p = 1.0 / (1.0 + np.exp(-z))
    likelihood = y * np.log(p) + (1.0 - y) * np.log(1.0 - p)
    return -np.mean(likelihood) + decay * np.sum(w**2)


def arguments():
    normal = np.random.default_rng(1).standard_normal
    return normal(3), 0.1, normal((6, 3)), np.array([0.0, 1.0, 1.0, 0.0, 1.0, 0.0]), 0.01
