import cupy as cp
import numpy as np


def called_by_numpys_names_grad(x):
    """Gradient of called_by_numpys_names (device_programs.py) with respect to x."""
    y = np.sin(x)
    t = x > 0.0
    norm_y = np.linalg.norm(y)

    # return np.sum(np.where(x > 0.0, y * x, x)) + np.linalg.norm(y)
    y_bar = y / cp.where(norm_y == 0, cp.inf, norm_y)
    where_t_bar = cp.full(x.shape, 1.0)
    where_t = cp.where(t, where_t_bar, 0.0)
    x_bar = where_t * y
    y_bar += where_t * x
    x_bar += cp.where(t, 0.0, where_t_bar)
    # y = np.sin(x)
    x_bar += y_bar * cp.cos(x)
    return x_bar
