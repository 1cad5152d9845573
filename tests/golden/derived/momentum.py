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


def momentum_grad(A, rate, beta, start, steps):
    """Gradient of momentum (momentum.py) with respect to A, rate and beta."""
    n = len(start)
    z = np.zeros(2 * n)
    z[:n] = start
    saved = []
    for _ in range(steps):
        copy = z[n:].copy()
        z[n:] *= beta
        z_item = z[:n]
        t = A @ z_item
        z_item = z_item.copy()
        z[n:] += t
        z_item_1 = z[n:]
        t = rate * z_item_1
        saved.append((z_item_1.copy(), z_item, copy))
        z[:n] -= t

    # return np.sum(z[:n] ** 2)
    z_bar = np.zeros_like(z)
    z_bar[:n] = 2.0 * z[:n]
    A_bar = np.zeros_like(A)
    beta_bar = 0.0
    rate_bar = 0.0
    while saved:
        z_item, z_item_1, t = saved.pop()
        # z[:n] -= rate * z[n:]
        t_bar = unbroadcast(-z_bar[:n], z_item.shape)
        rate_bar = rate_bar + np.dot(t_bar, z_item)
        z_bar[n:] += rate * t_bar
        # z[n:] += A @ z[:n]
        t_bar_1 = z_bar[n:]
        A_bar += np.outer(t_bar_1, z_item_1)
        z_bar[:n] += A.T @ t_bar_1
        # z[n:] *= beta
        z_bar_item = z_bar[n:]
        beta_bar = beta_bar + np.dot(z_bar_item, t)
        z_bar[n:] = beta * z_bar_item
    return A_bar, rate_bar, beta_bar
