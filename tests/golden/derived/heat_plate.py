import numpy as np


def heat_plate_grad(T, alpha, steps):
    """Gradient of heat_plate (heat_plate.py) with respect to T and alpha."""
    T = T.copy()
    new = T.copy()
    saved = []
    for _ in range(steps):
        t = T[2:, 1:-1] + T[:-2, 1:-1] + T[1:-1, 2:] + T[1:-1, :-2]
        t = t - 4.0 * T[1:-1, 1:-1]
        t_1 = T[1:-1, 1:-1] + alpha * t
        saved.append((new, new[1:-1, 1:-1].copy(), t))
        new[1:-1, 1:-1] = t_1
        T_0 = new
        new = T
        T = T_0

    # return np.sum(T**2)
    T_bar = 2.0 * T
    new_bar = np.zeros_like(new)
    alpha_bar = 0.0
    while saved:
        new, new_0, t = saved.pop()
        # new[1:-1, 1:-1] = T[1:-1, 1:-1] + alpha * (T[2:, 1:-1] + T[:-2, 1:-1] + T[1:-1, 2:] +
        #     T[1:-1, :-2] - 4.0 * T[1:-1, 1:-1])
        t_bar = T_bar[1:-1, 1:-1].copy()
        T_bar[1:-1, 1:-1] = 0.0
        new[1:-1, 1:-1] = new_0
        new_bar[1:-1, 1:-1] += t_bar
        t_bar_1 = alpha * t_bar
        alpha_bar = alpha_bar + np.sum(t_bar * t)
        new_bar[1:-1, 1:-1] -= 4.0 * t_bar_1
        new_bar[1:-1, :-2] += t_bar_1
        new_bar[1:-1, 2:] += t_bar_1
        new_bar[2:, 1:-1] += t_bar_1
        new_bar[:-2, 1:-1] += t_bar_1
        T_bar, new_bar = new_bar, T_bar
    # new = T.copy()
    T_bar += new_bar
    return T_bar, alpha_bar
