import numpy as np


def trapezoid_grad(y, x):
    """Gradient of trapezoid (trapezoid.py) with respect to y and x."""
    len_x = len(x)
    saved = []
    for i in range(len_x - 1):
        saved.append((x[i + 1] - x[i], 0.5 * (y[i] + y[i + 1])))

    y_bar = np.zeros_like(y)
    x_bar = np.zeros_like(x)
    for i in range(len_x - 2, -1, -1):
        t, t_1 = saved.pop()
        # area += 0.5 * (y[i] + y[i + 1]) * (x[i + 1] - x[i])
        x_bar[i] -= t_1
        x_bar[i + 1] += t_1
        y_item_bar = 0.5 * t
        y_bar[i + 1] += y_item_bar
        y_bar[i] += y_item_bar
    return y_bar, x_bar
