import numpy as np


def inner_view_grad(u, steps):
    """Gradient of inner_view (inner_view.py) with respect to u."""
    u = u.copy()
    inner = u[1:-1]
    saved = []
    for _ in range(steps):
        inner_0 = inner.copy()
        inner *= 0.9
        u_0 = u[0]
        u[0] = inner[0] * inner[1]
        saved.append((inner_0, u_0, u[-1]))
        u[-1] = np.sum(inner)

    # return np.sum(u**2)
    u_bar = 2.0 * u
    inner_bar = u_bar[1:-1]
    while saved:
        # u[-1] = np.sum(inner)
        sum_inner_bar = u_bar[-1]
        u_bar[-1] = 0.0
        inner_0, u_0, u_1 = saved.pop()
        u[-1] = u_1
        inner_bar += np.broadcast_to(sum_inner_bar, inner.shape)
        # u[0] = inner[0] * inner[1]
        t_bar = u_bar[0]
        u_bar[0] = 0.0
        u[0] = u_0
        inner_bar[1] += t_bar * inner[0]
        inner_bar[0] += t_bar * inner[1]
        # inner *= 0.9
        inner[...] = inner_0
        inner_bar *= 0.9
    return u_bar
