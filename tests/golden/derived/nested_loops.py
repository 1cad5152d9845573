import numpy as np


def f_grad(a, n):
    """Gradient of f (nested_loops.py) with respect to a."""
    s = 1.0
    saved = []
    for i in range(n):
        t = s
        for j in range(i, n):
            saved.append(t)
            t = np.sin(t * a) + j
        s = s + t * t
        saved.append(t)

    a_bar = 0.0
    s_bar = 1.0
    for i in range(n - 1, -1, -1):
        t = saved.pop()
        # s = s + t * t
        t_bar = 2.0 * s_bar * t
        for _ in range(i, n):
            t = saved.pop()
            # t = np.sin(t * a) + j
            t_bar_1 = t_bar * np.cos(t * a)
            t_bar = t_bar_1 * a
            a_bar = a_bar + t_bar_1 * t
        # t = s
        s_bar = s_bar + t_bar
    return a_bar
