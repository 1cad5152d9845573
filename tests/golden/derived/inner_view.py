import numpy as np


def inner_view_grad(u, steps):
    """Gradient of inner_view (inner_view.py) with respect to u."""
    u = u.copy()
    inner = u[1:-1]
    slice_1 = slice(1, -1, None)
    saved = []
    for _ in range(steps):
        inner_0 = inner.copy()
        inner *= 0.9
        u[0] = inner[0] * inner[1]
        sum_inner = np.sum(inner)
        saved.append(inner_0)
        u[-1] = sum_inner

    # return np.sum(u**2)
    u_bar = 2.0 * u
    while saved:
        inner_0 = saved.pop()
        # u[-1] = np.sum(inner)
        sum_inner_bar = u_bar[-1]
        u_bar[-1] = 0.0
        u_bar[slice_1] += np.broadcast_to(sum_inner_bar, inner.shape)
        # u[0] = inner[0] * inner[1]
        t_bar = u_bar[0]
        u_bar[0] = 0.0
        u_bar[slice_1][1] += t_bar * inner[0]
        u_bar[slice_1][0] += t_bar * inner[1]
        # inner *= 0.9
        inner[...] = inner_0
        u_bar[slice_1] *= 0.9
    return u_bar
