import numpy as np


def f_grad(x):
    """Gradient of f (branches.py) with respect to x."""
    x_0 = x
    if x > 1.0:
        y = x**3
    elif x > 0.0:
        y = x**2
        x = np.exp(x)
    else:
        y = -x

    if x_0 > 1.0:
        # y = x**3
        x_bar = y + 3.0 * x * x_0**2
    elif x_0 > 0.0:
        # y = x**2
        x_bar = y * x + 2.0 * x * x_0
    else:
        # y = -x
        x_bar = y - x
    return x_bar
