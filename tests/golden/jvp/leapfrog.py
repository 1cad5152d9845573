import numpy as np


def leapfrog_jvp(x, v, k, dt, steps, x_dot, v_dot, k_dot):
    """Value and tangent of leapfrog (leapfrog.py), given the tangents of x, v and k."""
    x = x.copy()
    x_dot = x_dot.copy()
    v = v.copy()
    v_dot = v_dot.copy()
    t = -k
    t_1 = x**3
    force = t * t_1
    force_dot = 3.0 * x_dot * x**2 * t - k_dot * t_1
    for _ in range(steps):
        t_2 = 0.5 * dt
        v_dot += t_2 * force_dot
        v += t_2 * force
        x_dot += dt * v_dot
        x += dt * v
        t_3 = -k
        t_4 = x**3
        force[:] = t_3 * t_4
        force_dot[:] = 3.0 * x_dot * x**2 * t_3 - k_dot * t_4
        t_5 = 0.5 * dt
        v_dot += t_5 * force_dot
        v += t_5 * force
    t_6 = x**4
    value_dot = np.dot(v_dot, v) + 0.25 * np.sum(k_dot * t_6 + 4.0 * x_dot * x**3 * k)
    return 0.5 * np.sum(v**2) + 0.25 * np.sum(k * t_6), value_dot
