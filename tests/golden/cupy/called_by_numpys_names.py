import cupy as cp
import numpy as np


def called_by_numpys_names_grad(x):
    """Gradient of called_by_numpys_names (device_programs.py) with respect to x."""
    y = np.sin(x)
    t = x > 0.0
    norm_y = np.linalg.norm(y)

    # return np.sum(np.where(x > 0.0, y * x, x)) + np.linalg.norm(y)
    where_t_bar = cp.full(x.shape, 1.0)
    t_bar = cp.where(t, where_t_bar, 0.0)
    x_bar = (
        cp.where(t, 0.0, where_t_bar)
        + t_bar * y
        + (cp.conj(y) / cp.where(norm_y == 0, cp.inf, norm_y) + t_bar * x) * cp.cos(x)
    )
    return x_bar
