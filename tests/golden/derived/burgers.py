import numpy as np


def burgers_grad(u, dt, nu, dx, steps):
    """Gradient of burgers (burgers.py) with respect to u and nu."""
    u = u.copy()
    saved = []
    for _ in range(steps):
        un = u.copy()
        t = un[1:-1] * dt / dx
        t_1 = un[1:-1] - un[:-2]
        t_2 = un[1:-1] - t * t_1
        t_3 = nu * dt / dx**2
        t_4 = un[2:] - 2.0 * un[1:-1] + un[:-2]
        saved.append((t_4, t_3, t_1, t))
        u[1:-1] = t_2 + t_3 * t_4
        u[0] = 1.0
        u[-1] = u[-2]

    # return np.mean(u**2)
    u_bar = 2.0 / u.size * u
    nu_bar = 0.0
    while saved:
        t, t_1, t_2, t_3 = saved.pop()
        # u[-1] = u[-2]
        u_bar[-2] += u_bar[-1]
        u_bar[-1] = 0.0
        # u[0] = 1.0
        u_bar[0] = 0.0
        # u[1:-1] = un[1:-1] - un[1:-1] * dt / dx * (un[1:-1] - un[:-2]) + nu * dt / dx**2 * (un[2:]
        #     - 2.0 * un[1:-1] + un[:-2])
        t_bar = u_bar[1:-1].copy()
        t_bar_1 = t_1 * t_bar
        u_bar[:-2] += t_bar_1
        u_bar[1:-1] -= 2.0 * t_bar_1
        u_bar[2:] += t_bar_1
        nu_bar = nu_bar + np.dot(t_bar, t) * dt / dx**2
        t_bar_2 = -t_bar
        t_bar_3 = t_bar_2 * t_2
        un_item_bar = t_bar_2 * t_3
        u_bar[:-2] -= un_item_bar
        u_bar[1:-1] += un_item_bar
        # t_bar_3 == 0: zero stays zero where the derivative is infinite
        u_bar[1:-1] += dt * t_bar_3 / np.where(t_bar_3 == 0, 1.0, dx)
    return u_bar, nu_bar
