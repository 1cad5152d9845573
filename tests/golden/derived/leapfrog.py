import numpy as np


def leapfrog_grad(x, v, k, dt, steps):
    """Gradient of leapfrog (leapfrog.py) with respect to x, v and k."""
    x = x.copy()
    v = v.copy()
    t = -k
    t_1 = x**3
    force = t * t_1
    saved = []
    for _ in range(steps):
        v += 0.5 * dt * force
        x_0 = x.copy()
        x += dt * v
        t_2 = x**3
        t_3 = -k * t_2
        saved.append((t_2, x_0))
        force[:] = t_3
        v += 0.5 * dt * force

    # return 0.5 * np.sum(v**2) + 0.25 * np.sum(k * x**4)
    k_bar = np.broadcast_to(0.25, k.shape) * x**4
    x_bar = k * x**3
    v_bar = v.copy()
    force_bar = np.zeros_like(force)
    while saved:
        t_2, x_0 = saved.pop()
        # v += 0.5 * dt * force
        force_bar += 0.5 * dt * v_bar
        # force[:] = -k * x**3
        x_bar -= 3.0 * force_bar * k * x**2
        k_bar -= force_bar * t_2
        # x += dt * v
        x[...] = x_0
        v_bar += dt * x_bar
        # v += 0.5 * dt * force
        force_bar[...] = 0.5 * dt * v_bar
    # force = -k * x**3
    x_bar += 3.0 * force_bar * t * x**2
    k_bar -= force_bar * t_1
    return x_bar, v_bar, k_bar
