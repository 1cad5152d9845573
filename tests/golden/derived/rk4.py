import numpy as np


def pendulum_forward(y, damping):
    """pendulum (rk4.py), with the values that pendulum_reverse reads."""
    y_item = y[0]
    y_item_1 = y[1]
    return np.array([y[1], -np.sin(y_item) - damping * y_item_1]), (y_item, y_item_1)


def pendulum_reverse(kept, y, damping, value_bar):
    """Adjoint of pendulum (rk4.py) with respect to y and damping, given the adjoint of its result.
    """
    y_item, y_item_1 = kept
    # return np.array([y[1], -np.sin(y[0]) - damping * y[1]])
    y_item_bar, t_bar = value_bar
    t_bar_1 = -t_bar
    damping_bar = t_bar_1 * y_item_1
    y_bar = np.zeros_like(y)
    y_bar[1] = t_bar_1 * damping
    y_bar[0] -= t_bar * np.cos(y_item)
    y_bar[1] += y_item_bar
    return y_bar, damping_bar


def rk4_grad(rhs, y, damping, dt, steps):
    """Gradient of rk4 (rk4.py) with respect to y and damping."""
    saved = []
    for _ in range(steps):
        k1, pendulum_saved = pendulum_forward(y, damping)
        t = y + 0.5 * dt * k1
        k2, pendulum_saved_1 = pendulum_forward(t, damping)
        t_1 = y + 0.5 * dt * k2
        k3, pendulum_saved_2 = pendulum_forward(t_1, damping)
        t_2 = y + dt * k3
        k4, pendulum_saved_3 = pendulum_forward(t_2, damping)
        saved.append(
            (y, pendulum_saved_3, pendulum_saved_2, pendulum_saved_1, pendulum_saved, t, t_1, t_2)
        )
        y = y + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)

    # return y[0]
    y_bar = np.zeros_like(y)
    y_bar[0] = 1.0
    damping_bar = 0.0
    while saved:
        y, pendulum_saved_3, pendulum_saved_2, pendulum_saved_1, pendulum_saved, t, t_1, t_2 = (
            saved.pop()
        )
        # y = y + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        t_bar = dt / 6.0 * y_bar
        # k4 = rhs(y + dt * k3, damping)
        y_bar_1, damping_bar_1 = pendulum_reverse(pendulum_saved_3, t_2, damping, t_bar)
        damping_bar = damping_bar + damping_bar_1
        y_bar += y_bar_1
        k3_bar = 2.0 * t_bar
        k3_bar += dt * y_bar_1
        # k3 = rhs(y + 0.5 * dt * k2, damping)
        y_bar_2, damping_bar_2 = pendulum_reverse(pendulum_saved_2, t_1, damping, k3_bar)
        damping_bar = damping_bar + damping_bar_2
        y_bar += y_bar_2
        k2_bar = 2.0 * t_bar
        k2_bar += 0.5 * dt * y_bar_2
        # k2 = rhs(y + 0.5 * dt * k1, damping)
        y_bar_3, damping_bar_3 = pendulum_reverse(pendulum_saved_1, t, damping, k2_bar)
        damping_bar = damping_bar + damping_bar_3
        y_bar += y_bar_3
        k1_bar = t_bar + 0.5 * dt * y_bar_3
        # k1 = rhs(y, damping)
        y_bar_4, damping_bar_4 = pendulum_reverse(pendulum_saved, y, damping, k1_bar)
        y_bar += y_bar_4
        damping_bar = damping_bar + damping_bar_4
    return y_bar, damping_bar
