import math
import numpy as np


def safe_logs_grad(x, w):
    """Gradient of safe_logs (safe_logs.py) with respect to x and w."""
    missing = 0
    len_x = len(x)
    saved = []
    for i in range(len_x):
        try:
            y = math.log(x[i])
        except ValueError:
            missing += 1
            y = None
            t = None
            arm = 1
        else:
            t = w[i] * y
            arm = 0
        saved.append((arm, y, t))

    # return total / (1.0 + missing)
    t = 1.0 / (1.0 + missing)
    x_bar = np.zeros_like(x)
    w_bar = np.zeros_like(w)
    for i in range(len_x - 1, -1, -1):
        arm, y, t_1 = saved.pop()
        if arm == 0:
            # total = total + w[i] * y * y
            t_bar = t * y
            w_bar[i] += t_bar * y
            # y = math.log(x[i])
            x_bar[i] += (t * t_1 + t_bar * w[i]) / x[i]
    return x_bar, w_bar
