import numpy as np


def listed_forward(tangent, out, structure):
    """Return the tangent of an array made of a nested list: zeros where integers were made."""
    if out.dtype.kind in "biu":
        return np.zeros(out.shape)
    return np.array(fill_tangent(tangent, structure), out.dtype)


def fill_tangent(tangent, structure):
    """Return the tangent of a nested list, with zeros for the parts that are constant."""
    if isinstance(structure, (list, tuple)):
        parts = [None] * len(structure) if tangent is None else tangent
        return [fill_tangent(t, s) for t, s in zip(parts, structure, strict=True)]
    return 0.0 * structure if tangent is None else tangent


def pendulum_jvp(y, damping, y_dot, damping_dot):
    """Value and tangent of pendulum (rk4.py), given the tangents of y and damping."""
    y_item = y[0]
    y_item_1 = y[1]
    t_dot = -y_dot[0] * np.cos(y_item) - damping_dot * y_item_1 - y_dot[1] * damping
    t = [y[1], -np.sin(y_item) - damping * y_item_1]
    value = np.array(t)
    return value, listed_forward([y_dot[1], t_dot], value, t)


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
