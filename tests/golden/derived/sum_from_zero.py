import numpy as np


def sum_from_zero_grad(x, w):
    """Gradient of sum_from_zero (sum_from_zero.py) with respect to x and w."""
    s = 0.0
    len_w = len(w)
    for i in range(len_w):
        s = s + w[i] * x
    p = 0.0
    saved = []
    for c in w:
        sin_x = np.sin(x)
        p += c * sin_x
        saved.append(sin_x)

    # return np.sum(s * p)
    t_bar = np.broadcast_to(1.0, np.shape(s * p))
    s_bar = t_bar * p
    p_bar = t_bar * s
    w_bar = np.zeros_like(w)
    x_bar = np.zeros_like(x)
    for t in range(len(w) - 1, -1, -1):
        # p += c * np.sin(x)
        c_bar = np.sum(p_bar * saved.pop())
        c = w[t]
        x_bar += p_bar * c * np.cos(x)
        w_bar[t] += c_bar
    for i in range(len_w - 1, -1, -1):
        # s = s + w[i] * x
        x_bar += s_bar * w[i]
        w_bar[i] += np.sum(s_bar * x)
    return x_bar, w_bar
