import numpy as np


def burgers_grad(u, dt, nu, dx, steps):
    """Gradient of burgers (burgers.py) with respect to u and nu."""
    u = u.copy()
    saved = []
    for _ in range(steps):
        un = u.copy()
        t = dx**2
        t_1 = nu * dt / t
        t_2 = un[2:] - 2.0 * un[1:-1] + un[:-2]
        u[1:-1] = un[1:-1] - un[1:-1] * dt / dx * (un[1:-1] - un[:-2]) + t_1 * t_2
        u[0] = 1.0
        u[-1] = u[-2]
        saved.append((t_2, t, t_1, un))

    # return np.mean(u**2)
    u_bar = 2.0 / u.size * u
    nu_bar = 0.0
    while saved:
        t_2, t, t_1, un = saved.pop()
        # u[-1] = u[-2]
        u_item_bar = u_bar[-1]
        u_bar[-1] = 0.0
        u_bar[-2] += u_item_bar
        # u[0] = 1.0
        u_bar[0] = 0.0
        # u[1:-1] = un[1:-1] - un[1:-1] * dt / dx * (un[1:-1] - un[:-2]) + nu * dt / dx**2 * (un[2:]
        #     - 2.0 * un[1:-1] + un[:-2])
        t_bar = u_bar[1:-1].copy()
        nu_bar = nu_bar + np.dot(t_bar, t_2) * dt / t
        t_bar_1 = t_1 * t_bar
        u_bar[:-2] += t_bar_1
        u_bar[1:-1] -= 2.0 * t_bar_1
        u_bar[2:] += t_bar_1
        t_bar_2 = -t_bar
        t_bar_3 = t_bar_2 * (un[1:-1] - un[:-2])
        t_bar_4 = t_bar_2 * (un[1:-1] * dt / dx)
        u_bar[:-2] -= t_bar_4
        u_bar[1:-1] += t_bar_4
        # t_bar_3 == 0: zero stays zero where the derivative is infinite
        u_bar[1:-1] += dt * t_bar_3 / np.where(t_bar_3 == 0, 1.0, dx)
    return u_bar, nu_bar
