import numpy as np


def pendulum_jvp(y, damping, y_dot, damping_dot):
    """Value and tangent of pendulum (rk4.py), given the tangents of y and damping."""
    y_item = y[0]
    y_item_1 = y[1]
    value_dot = np.array(
        [y_dot[1], -y_dot[0] * np.cos(y_item) - damping_dot * y_item_1 - y_dot[1] * damping]
    )
    return np.array([y[1], -np.sin(y_item) - damping * y_item_1]), value_dot


def rk4_jvp(rhs, y, damping, dt, steps, y_dot, damping_dot):
    """Value and tangent of rk4 (rk4.py), given the tangents of y and damping."""
    for _ in range(steps):
        k1, k1_dot = pendulum_jvp(y, damping, y_dot, damping_dot)
        t = 0.5 * dt
        k2, k2_dot = pendulum_jvp(y + t * k1, damping, y_dot + k1_dot * t, damping_dot)
        t_1 = 0.5 * dt
        k3, k3_dot = pendulum_jvp(y + t_1 * k2, damping, y_dot + k2_dot * t_1, damping_dot)
        k4, k4_dot = pendulum_jvp(y + dt * k3, damping, y_dot + k3_dot * dt, damping_dot)
        t_2 = dt / 6.0
        y = y + t_2 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        y_dot = y_dot + t_2 * (k1_dot + 2.0 * k2_dot + 2.0 * k3_dot + k4_dot)
    value_dot = y_dot[0]
    return y[0], value_dot
