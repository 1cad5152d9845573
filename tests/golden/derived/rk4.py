import numpy as np


def pendulum_forward(y, damping):
    """pendulum (rk4.py), with the values that pendulum_reverse reads."""
    return np.array([y[1], -np.sin(y[0]) - damping * y[1]]), (y, damping)


def pendulum_reverse(kept, value_bar):
    """Adjoint of pendulum (rk4.py) with respect to y and damping, given the adjoint of its result.
    """
    y, damping = kept

    # return np.array([y[1], -np.sin(y[0]) - damping * y[1]])
    t_bar = -value_bar[1]
    y_bar = np.zeros_like(y)
    y_bar[1] = t_bar * damping
    y_bar[0] = -value_bar[1] * np.cos(y[0])
    y_bar[1] += value_bar[0]
    return y_bar, t_bar * y[1]


def rk4_grad(rhs, y, damping, dt, steps):
    """Gradient of rk4 (rk4.py) with respect to y and damping."""
    saved = []
    for _ in range(steps):
        k1, pendulum_saved = pendulum_forward(y, damping)
        k2, pendulum_saved_1 = pendulum_forward(y + 0.5 * dt * k1, damping)
        k3, pendulum_saved_2 = pendulum_forward(y + 0.5 * dt * k2, damping)
        k4, pendulum_saved_3 = pendulum_forward(y + dt * k3, damping)
        saved.append((pendulum_saved_3, pendulum_saved_2, pendulum_saved_1, pendulum_saved))
        y = y + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)

    # return y[0]
    y_bar = np.zeros_like(y)
    y_bar[0] = 1.0
    damping_bar = 0.0
    while saved:
        pendulum_saved, pendulum_saved_1, pendulum_saved_2, pendulum_saved_3 = saved.pop()
        # y = y + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        t_bar = dt / 6.0 * y_bar
        k3_bar = 2.0 * t_bar
        k2_bar = 2.0 * t_bar
        # k4 = rhs(y + dt * k3, damping)
        t_bar_1, t = pendulum_reverse(pendulum_saved, t_bar.copy())
        y_bar = y_bar + t_bar_1
        k3_bar += dt * t_bar_1
        # k3 = rhs(y + 0.5 * dt * k2, damping)
        t_bar_2, t_1 = pendulum_reverse(pendulum_saved_1, k3_bar)
        y_bar += t_bar_2
        k2_bar += 0.5 * dt * t_bar_2
        # k2 = rhs(y + 0.5 * dt * k1, damping)
        t_bar_3, t_2 = pendulum_reverse(pendulum_saved_2, k2_bar)
        y_bar += t_bar_3
        k1_bar = 0.5 * dt * t_bar_3
        k1_bar += t_bar
        # k1 = rhs(y, damping)
        t_3, t_4 = pendulum_reverse(pendulum_saved_3, k1_bar)
        y_bar += t_3
        damping_bar = damping_bar + t + t_1 + t_2 + t_4
    return y_bar, damping_bar
