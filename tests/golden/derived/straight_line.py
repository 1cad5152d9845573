import numpy as np


def f_grad(x, y):
    """Gradient of f (straight_line.py) with respect to x and y."""
    sin_y = np.sin(y)
    z = x * sin_y
    x_0 = z * z + x

    # x = z * z + x
    z_bar = 2.0 * y * z
    return y + z_bar * sin_y, x_0 + z_bar * x * np.cos(y)
