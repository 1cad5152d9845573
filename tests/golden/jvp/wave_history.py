import numpy as np


def wave_history_jvp(start, c, steps, seen, start_dot, c_dot):
    """Value and tangent of wave_history (wave_history.py), given the tangents of start and c."""
    n = len(start)
    U = np.zeros((steps + 1, n))
    U_dot = np.zeros_like(U)
    U[0] = start
    U_dot[0] = start_dot
    U[1] = start
    U_dot[1] = start_dot
    for t in range(1, steps):
        t_0 = c**2
        t_1 = U[t, 2:] - 2.0 * U[t, 1:-1] + U[t, :-2]
        t_2 = 2.0 * U_dot[t, 1:-1] - U_dot[t - 1, 1:-1] + 2.0 * c_dot * c * t_1
        U[t + 1, 1:-1] = 2.0 * U[t, 1:-1] - U[t - 1, 1:-1] + t_0 * t_1
        U_dot[t + 1, 1:-1] = t_2 + t_0 * (U_dot[t, 2:] - 2.0 * U_dot[t, 1:-1] + U_dot[t, :-2])
    t_0 = U[:, n // 2] - seen
    return np.sum(t_0**2), 2.0 * np.sum(U_dot[:, n // 2] * t_0)
