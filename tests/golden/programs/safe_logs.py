"""What has no logarithm is left out, and counted."""

import math

import numpy as np

WRT = (0, 1)


def safe_logs(x, w):
    total = 0.0
    missing = 0
    for i in range(len(x)):
        try:
            y = math.log(x[i])
        except ValueError:
            missing += 1
            continue
        total = total + w[i] * y * y
    return total / (1.0 + missing)


def arguments():
    return np.array([1.5, -0.3, 0.7, 2.0]), np.array([0.2, 1.0, -0.4, 0.5])
