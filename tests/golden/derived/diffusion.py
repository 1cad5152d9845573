import numpy as np


def diffusion_grad(u, r, steps):
    """Gradient of diffusion (diffusion.py) with respect to u and r."""
    u = u.copy()
    saved = []
    for _ in range(steps):
        t = u[2:] - 2.0 * u[1:-1] + u[:-2]
        t_1 = r * t
        saved.append(t)
        u[1:-1] += t_1

    # return np.sum(u**2)
    u_bar = 2.0 * u
    r_bar = 0.0
    while saved:
        t = saved.pop()
        # u[1:-1] += r * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        t_bar = u_bar[1:-1]
        t_bar_1 = r * t_bar
        r_bar = r_bar + np.dot(t_bar, t)
        u_bar[:-2] += t_bar_1
        u_bar[2:] += t_bar_1
        u_bar[1:-1] -= 2.0 * t_bar_1
    return u_bar, r_bar
