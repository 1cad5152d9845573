import numpy as np


def unbroadcast(x_bar, shape):
    """Sum a cotangent over the axes along which its argument, with this shape, was broadcast."""
    found = x_bar.shape if hasattr(x_bar, "shape") else ()
    if found == shape:
        return x_bar
    extra = len(found) - len(shape)
    axes = tuple(i for i, n in enumerate(found) if i < extra or n != 1 and shape[i - extra] == 1)
    x_bar = x_bar.sum(axis=axes)
    return x_bar.reshape(shape) if shape else x_bar


def wave_history_grad(start, c, steps, seen):
    """Gradient of wave_history (wave_history.py) with respect to start and c."""
    n = len(start)
    U = np.zeros((steps + 1, n))
    U[0] = start
    U[1] = start
    saved = []
    for t in range(1, steps):
        t_0 = U[t, 2:] - 2.0 * U[t, 1:-1] + U[t, :-2]
        U[t + 1, 1:-1] = 2.0 * U[t, 1:-1] - U[t - 1, 1:-1] + c**2 * t_0
        saved.append(t_0)
    U_item = U[:, n // 2]

    # return np.sum((U[:, n // 2] - seen) ** 2)
    U_bar = np.zeros_like(U)
    U_bar[:, n // 2] = unbroadcast(2.0 * (U_item - seen), U_item.shape)
    c_bar = 0.0
    for t in range(steps - 1, 0, -1):
        t_0 = saved.pop()
        # U[t + 1, 1:-1] = 2.0 * U[t, 1:-1] - U[t - 1, 1:-1] + c**2 * (U[t, 2:] - 2.0 * U[t, 1:-1] +
        #     U[t, :-2])
        t_bar = U_bar[t + 1, 1:-1]
        t_bar_1 = np.dot(t_bar, t_0)
        t_bar_2 = c**2 * t_bar
        U_bar[t, :-2] += t_bar_2
        U_bar[t, 2:] += t_bar_2
        U_bar[t, 1:-1] -= 2.0 * t_bar_2
        c_bar = c_bar + 2.0 * t_bar_1 * c
        U_bar[t - 1, 1:-1] -= t_bar
        U_bar[t, 1:-1] += 2.0 * t_bar
    # U[1] = start
    start_bar = U_bar[1].copy()
    # U[0] = start
    start_bar += U_bar[0]
    return start_bar, c_bar
