import numpy as np


def early_stopping_grad(A, b, rate, limit, tolerance):
    """Gradient of early_stopping (early_stopping.py) with respect to b and rate."""
    slope = None
    x = np.zeros(len(b))
    saved = []
    for step in range(limit):
        saved.append(slope)
        slope = A @ x - b
        if np.linalg.norm(slope) < tolerance:
            arm = 0
            print(f"stopped after {step} steps")
            break
        arm = 1
        x = x - rate * slope
    t = 0.5 * x @ A

    # return 0.5 * x @ A @ x - b @ x
    b_bar = -x
    x_bar = t - b + 0.5 * (A @ x)
    rate_bar = 0.0
    while saved:
        if arm == 0:
            slope_bar = np.zeros_like(slope)
        else:
            # x = x - rate * slope
            t_bar = -x_bar
            rate_bar = rate_bar + np.dot(t_bar, slope)
            slope_bar = rate * t_bar
        arm = 1
        # slope = A @ x - b
        b_bar -= slope_bar
        slope = saved.pop()
        x_bar += A.T @ slope_bar
    return b_bar, rate_bar
