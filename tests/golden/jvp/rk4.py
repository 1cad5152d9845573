import numpy as np


def pendulum_jvp(y, damping, y_dot, damping_dot):
    """Value and tangent of pendulum (rk4.py), given the tangents of y and damping."""
    t_dot = [y_dot[1], -y_dot[0] * np.cos(y[0]) - damping_dot * y[1] - y_dot[1] * damping]
    return np.array([y[1], -np.sin(y[0]) - damping * y[1]]), np.array(t_dot)


def rk4_jvp(rhs, y, damping, dt, steps, y_dot, damping_dot):
    """Value and tangent of rk4 (rk4.py), given the tangents of y and damping."""
    for _ in range(steps):
        k1, k1_dot = pendulum_jvp(y, damping, y_dot, damping_dot)
        t = 0.5 * dt
        k2, k2_dot = pendulum_jvp(y + t * k1, damping, y_dot + t * k1_dot, damping_dot)
        t = 0.5 * dt
        k3, k3_dot = pendulum_jvp(y + t * k2, damping, y_dot + t * k2_dot, damping_dot)
        k4, k4_dot = pendulum_jvp(y + dt * k3, damping, y_dot + dt * k3_dot, damping_dot)
        t = dt / 6.0
        y_dot = y_dot + t * (k1_dot + 2.0 * k2_dot + 2.0 * k3_dot + k4_dot)
        y = y + t * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return y[0], y_dot[0]
