import numpy as np


def heat_plate_grad(T, alpha, steps):
    """Gradient of heat_plate (heat_plate.py) with respect to T and alpha."""
    T = T.copy()
    new = T.copy()
    saved = []
    for _ in range(steps):
        T_item = T[:-2, 1:-1]
        t = T[2:, 1:-1] + T_item + T[1:-1, 2:] + T[1:-1, :-2] - 4.0 * T[1:-1, 1:-1]
        new[1:-1, 1:-1] = T[1:-1, 1:-1] + alpha * t
        t_1 = T
        T = new
        new = t_1
        saved.append(t)

    # return np.sum(T**2)
    T_bar = 2.0 * T
    alpha_bar = 0.0
    new_bar = np.zeros_like(new)
    while saved:
        t = saved.pop()
        # T, new = new, T
        t_bar = new_bar
        new_bar = T_bar
        T_bar = t_bar
        # new[1:-1, 1:-1] = T[1:-1, 1:-1] + alpha * (T[2:, 1:-1] + T[:-2, 1:-1] + T[1:-1, 2:] +
        #     T[1:-1, :-2] - 4.0 * T[1:-1, 1:-1])
        t_bar_1 = new_bar[1:-1, 1:-1].copy()
        new_bar[1:-1, 1:-1] = 0.0
        alpha_bar = alpha_bar + np.sum(t_bar_1 * t)
        t_bar_2 = alpha * t_bar_1
        T_bar[1:-1, 1:-1] -= 4.0 * t_bar_2
        T_bar[1:-1, :-2] += t_bar_2
        T_bar[1:-1, 2:] += t_bar_2
        T_bar[:-2, 1:-1] += t_bar_2
        T_bar[2:, 1:-1] += t_bar_2
        T_bar[1:-1, 1:-1] += t_bar_1
    # new = T.copy()
    T_bar += new_bar
    return T_bar, alpha_bar
