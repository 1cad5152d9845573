import numpy as np


def early_stopping_jvp(A, b, rate, limit, tolerance, b_dot, rate_dot):
    """Value and tangent of early_stopping (early_stopping.py), given the tangents of b and rate.
    """
    x = np.zeros(len(b))
    x_dot = np.zeros_like(x)
    for step in range(limit):
        slope = A @ x - b
        slope_dot = A @ x_dot - b_dot
        if np.linalg.norm(slope) < tolerance:
            print(f"stopped after {step} steps")
            break
        else:
            x = x - rate * slope
            x_dot = x_dot - rate_dot * slope - rate * slope_dot
    t = 0.5 * x @ A
    return t @ x - b @ x, 0.5 * x_dot @ A @ x + t @ x_dot - b_dot @ x - b @ x_dot
