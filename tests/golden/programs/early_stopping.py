"""Gradient descent on a quadratic, stopped early; the derivative of where it ends."""

import numpy as np

WRT = (1, 2)


def early_stopping(A, b, rate, limit, tolerance):
    x = np.zeros(len(b))
    for step in range(limit):
        slope = A @ x - b
        if np.linalg.norm(slope) < tolerance:
            print(f"stopped after {step} steps")
            break
        x = x - rate * slope
    return 0.5 * x @ A @ x - b @ x


def arguments():
    return np.diag([2.0, 1.0, 0.5]), np.array([1.0, -1.0, 0.3]), 0.4, 60, 1e-3
