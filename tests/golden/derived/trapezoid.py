import numpy as np


def trapezoid_grad(y, x):
    """Gradient of trapezoid (trapezoid.py) with respect to y and x."""
    t = len(x) - 1
    saved = []
    for i in range(t):
        saved.append((y[i] + y[i + 1], x[i + 1] - x[i]))

    # return area
    x_bar = np.zeros_like(x)
    y_bar = np.zeros_like(y)
    for i in range(t - 1, -1, -1):
        t_1, t_2 = saved.pop()
        # area += 0.5 * (y[i] + y[i + 1]) * (x[i + 1] - x[i])
        t_bar = 0.5 * t_2
        t_bar_1 = 0.5 * t_1
        x_bar[i] -= t_bar_1
        x_bar[i + 1] += t_bar_1
        y_bar[i + 1] += t_bar
        y_bar[i] += t_bar
    return y_bar, x_bar
