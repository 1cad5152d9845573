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
        t = 0.5 * dt
        v += t * force
        v_dot += t * force_dot
        x += dt * v
        x_dot += dt * v_dot
        t = -k
        t_1 = x**3
        force[:] = t * t_1
        force_dot[:] = 3.0 * x_dot * x**2 * t - k_dot * t_1
        t = 0.5 * dt
        v += t * force
        v_dot += t * force_dot
    t = x**4
    value_dot = np.dot(v_dot, v) + 0.25 * np.sum(k_dot * t + 4.0 * x_dot * x**3 * k)
    return 0.5 * np.sum(v**2) + 0.25 * np.sum(k * t), value_dot
