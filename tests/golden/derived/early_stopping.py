import numpy as np


def early_stopping_grad(A, b, rate, limit, tolerance):
    """Gradient of early_stopping (early_stopping.py) with respect to b and rate."""
    x = np.zeros(len(b))
    saved = []
    for step in range(limit):
        slope = A @ x - b
        t = np.linalg.norm(slope) < tolerance
        saved.append((t, slope))
        if t:
            print(f"stopped after {step} steps")
            break
        else:
            x = x - rate * slope

    # return 0.5 * x @ A @ x - b @ x
    b_bar = -x
    x_bar = -b
    x_bar += 0.5 * x @ A
    x_bar += 0.5 * (A @ x)
    rate_bar = 0.0
    while saved:
        t, slope = saved.pop()
        if t:
            # x = x - rate * slope
            slope_bar = np.zeros_like(slope)
        else:
            # x = x - rate * slope
            t_bar = -x_bar
            slope_bar = rate * t_bar
            rate_bar = rate_bar + np.sum(t_bar * slope)
        # slope = A @ x - b
        b_bar -= slope_bar
        x_bar = A.T @ slope_bar + x_bar
    return b_bar, rate_bar
