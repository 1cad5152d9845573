import math
import numpy as np


def safe_logs_grad(x, w):
    """Gradient of safe_logs (safe_logs.py) with respect to x and w."""
    missing = 0
    len_x = len(x)
    saved = []
    for i in range(len_x):
        arm = 0
        try:
            y = math.log(x[i])
        except ValueError:
            arm = 1
            missing += 1
        else:
            saved.append(y)
        saved.append(arm)
    t = 1.0 + missing

    # return total / (1.0 + missing)
    total_bar = 1.0 / t
    w_bar = np.zeros_like(w)
    x_bar = np.zeros_like(x)
    for i in range(len_x - 1, -1, -1):
        arm = saved.pop()
        if arm == 0:
            y = saved.pop()
            # total = total + w[i] * y * y
            t_bar = total_bar * y
            x_bar[i] += (total_bar * w[i] * y + t_bar * w[i]) / x[i]
            w_bar[i] += t_bar * y
    return x_bar, w_bar
