import numpy as np


def low_pass_grad(x, alpha):
    """Gradient of low_pass (low_pass.py) with respect to x and alpha."""
    y = np.empty_like(x)
    y[0] = x[0]
    len_x = len(x)
    saved = []
    for i in range(1, len_x):
        y_item = y[i - 1]
        y[i] = alpha * x[i] + (1.0 - alpha) * y_item
        saved.append(y_item)
    t = y - x

    # return np.sum((y - x) ** 2)
    t_bar = 2.0 * t
    y_bar = t_bar.copy()
    x_bar = -t_bar
    alpha_bar = 0.0
    for i in range(len_x - 1, 0, -1):
        y_item = saved.pop()
        # y[i] = alpha * x[i] + (1.0 - alpha) * y[i - 1]
        t_bar_1 = y_bar[i]
        alpha_bar = alpha_bar - t_bar_1 * y_item
        y_bar[i - 1] += t_bar_1 * (1.0 - alpha)
        alpha_bar = alpha_bar + t_bar_1 * x[i]
        x_bar[i] += t_bar_1 * alpha
    # y[0] = x[0]
    x_bar[0] += y_bar[0]
    return x_bar, alpha_bar
