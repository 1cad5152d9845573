import numpy as np


def masked_grad(x, limit):
    """Gradient of masked (masked.py) with respect to x."""
    y = x * x - 0.5
    t = y < 0.0
    y[t] = 0.0
    large = y > limit
    t_1 = y[large] / limit
    y[large] = limit + np.log(t_1)

    # return np.sum(y**2)
    y_bar = 2.0 * y
    # y[large] = limit + np.log(y[large] / limit)
    log_t_bar = y_bar[large]
    y_bar[large] = 0.0
    # log_t_bar == 0: zero stays zero where the derivative is infinite
    t_bar = log_t_bar / np.where(log_t_bar == 0, 1.0, t_1)
    y_bar[large] += t_bar / np.where(t_bar == 0, 1.0, limit)
    # y[y < 0.0] = 0.0
    y_bar[t] = 0.0
    return 2.0 * y_bar * x
