import numpy as np


def f_grad(x):
    """Gradient of f (branches.py) with respect to x."""
    if x > 1.0:
        arm = 0
        y = x**3
    elif x > 0.0:
        arm = 1
        y = x**2
        x_0 = x
        x = np.exp(x)
    else:
        arm = 2
        y = -x

    # return x * y
    x_bar = y
    if arm == 0:
        # y = x**3
        x_bar = x_bar + 3.0 * x * x**2
    elif arm == 1:
        # x = np.exp(x)
        x_bar = x_bar * x
        # y = x**2
        x_bar = x_bar + 2.0 * x * x_0
    else:
        # y = -x
        x_bar = x_bar - x
    return x_bar
