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
        force[:] = -k * t_2
        v += 0.5 * dt * force
        saved.append((x_0, t_2))
    t_3 = x**4

    # return 0.5 * np.sum(v**2) + 0.25 * np.sum(k * x**4)
    t_bar = np.broadcast_to(0.25, k.shape)
    k_bar = t_bar * t_3
    x_bar = 4.0 * t_bar * k * x**3
    v_bar = v.copy()
    force_bar = np.zeros_like(force)
    while saved:
        x_0, t_2 = saved.pop()
        # v += 0.5 * dt * force
        force_bar += 0.5 * dt * v_bar
        # force[:] = -k * x**3
        t_bar_1 = force_bar[:]
        k_bar -= t_bar_1 * t_2
        x_bar += 3.0 * t_bar_1 * -k * x**2
        force_bar[:] = 0.0
        # x += dt * v
        x = x_0
        v_bar += dt * x_bar
        # v += 0.5 * dt * force
        force_bar += 0.5 * dt * v_bar
    # force = -k * x**3
    k_bar -= force_bar * t_1
    x_bar += 3.0 * force_bar * t * x**2
    return x_bar, v_bar, k_bar
