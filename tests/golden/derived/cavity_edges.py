import numpy as np


def unbroadcast(x_bar, shape):
    """Sum a cotangent over the axes along which its argument, with this shape, was broadcast."""
    found = x_bar.shape if hasattr(x_bar, "shape") else ()
    if found == shape:
        return x_bar
    extra = len(found) - len(shape)
    axes = tuple(i for i, n in enumerate(found) if i < extra or n != 1 and shape[i - extra] == 1)
    x_bar = x_bar.sum(axis=axes)
    return x_bar.reshape(shape) if shape else x_bar


def cavity_edges_grad(p, b, steps):
    """Gradient of cavity_edges (cavity_edges.py) with respect to p and b."""
    p = p.copy()
    saved = []
    for _ in range(steps):
        pn = p.copy()
        t = 0.25 * (pn[1:-1, 2:] + pn[1:-1, :-2] + pn[2:, 1:-1] + pn[:-2, 1:-1])
        t = t - b[1:-1, 1:-1]
        saved.append(t.shape)
        p[1:-1, 1:-1] = t
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0.0

    # return np.sum(p**2)
    p_bar = 2.0 * p
    b_bar = np.zeros_like(b)
    while saved:
        t_shape = saved.pop()
        # p[-1, :] = 0.0
        p_bar[-1, :] = 0.0
        # p[:, 0] = p[:, 1]
        p_bar[:, 1] += p_bar[:, 0]
        p_bar[:, 0] = 0.0
        # p[0, :] = p[1, :]
        p_bar[1, :] += p_bar[0, :]
        p_bar[0, :] = 0.0
        # p[:, -1] = p[:, -2]
        p_bar[:, -2] += p_bar[:, -1]
        p_bar[:, -1] = 0.0
        # p[1:-1, 1:-1] = 0.25 * (pn[1:-1, 2:] + pn[1:-1, :-2] + pn[2:, 1:-1] + pn[:-2, 1:-1]) -
        #     b[1:-1, 1:-1]
        t_bar = unbroadcast(p_bar[1:-1, 1:-1].copy(), t_shape)
        p_bar[1:-1, 1:-1] = 0.0
        b_bar[1:-1, 1:-1] -= t_bar
        t_bar_1 = 0.25 * t_bar
        p_bar[:-2, 1:-1] += t_bar_1
        p_bar[2:, 1:-1] += t_bar_1
        p_bar[1:-1, :-2] += t_bar_1
        p_bar[1:-1, 2:] += t_bar_1
    return p_bar, b_bar
