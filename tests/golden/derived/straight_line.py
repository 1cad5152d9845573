import numpy as np


def f_grad(x, y):
    """Gradient of f (straight_line.py) with respect to x and y."""
    sin_y = np.sin(y)
    z = x * sin_y
    x_0 = x
    x = z * z + x

    # x = z * z + x
    z_bar = 2.0 * y * z
    # z = x * np.sin(y)
    x_bar = y + z_bar * sin_y
    y_bar = x + z_bar * x_0 * np.cos(y)
    return x_bar, y_bar
