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
        p = p + c * sin_x
        saved.append(sin_x)
    t = s * p

    # return np.sum(s * p)
    t_bar = np.broadcast_to(1.0, np.shape(t))
    s_bar = t_bar * p
    p_bar = t_bar * s
    w_bar = np.zeros_like(w)
    x_bar = np.zeros_like(x)
    for i_1 in range(len(w) - 1, -1, -1):
        c = w[i_1]
        # p += c * np.sin(x)
        w_bar[i_1] += np.dot(p_bar, saved.pop())
        x_bar += c * p_bar * np.cos(x)
    for i in range(len_w - 1, -1, -1):
        # s = s + w[i] * x
        x_bar += w[i] * s_bar
        w_bar[i] += np.dot(s_bar, x)
    return x_bar, w_bar
