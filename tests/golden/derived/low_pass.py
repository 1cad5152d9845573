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

    # return np.sum((y - x) ** 2)
    y_bar = 2.0 * (y - x)
    x_bar = -y_bar
    alpha_bar = 0.0
    for i in range(len_x - 1, 0, -1):
        y_item = saved.pop()
        # y[i] = alpha * x[i] + (1.0 - alpha) * y[i - 1]
        t_bar = y_bar[i]
        y_bar[i - 1] += t_bar * (1.0 - alpha)
        alpha_bar = alpha_bar - t_bar * y_item + t_bar * x[i]
        x_bar[i] += t_bar * alpha
    # y[0] = x[0]
    x_bar[0] += y_bar[0]
    return x_bar, alpha_bar
