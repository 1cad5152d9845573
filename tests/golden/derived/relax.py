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


def relax_grad(u, f, tolerance):
    """Gradient of relax (relax.py) with respect to u and f."""
    u = u.copy()
    change = 1.0
    saved = []
    while change > tolerance:
        old = u[1:-1].copy()
        t = 0.5 * (u[2:] + u[:-2]) + f[1:-1]
        saved.append(t.shape)
        u[1:-1] = t
        change = np.max(np.abs(u[1:-1] - old))

    # return np.sum(u**2)
    u_bar = 2.0 * u
    f_bar = np.zeros_like(f)
    while saved:
        t_shape = saved.pop()
        # u[1:-1] = 0.5 * (u[2:] + u[:-2]) + f[1:-1]
        t_bar = unbroadcast(u_bar[1:-1].copy(), t_shape)
        u_bar[1:-1] = 0.0
        f_bar[1:-1] += t_bar
        t = 0.5 * t_bar
        u_bar[2:] += t
        u_bar[:-2] += t
    return u_bar, f_bar
