import numpy as np


def unbroadcast(x_bar, shape):
    """Sum a cotangent over the axes along which its argument, of this shape, was broadcast."""
    found = x_bar.shape if hasattr(x_bar, "shape") else ()
    if found == shape:
        return x_bar
    extra = len(found) - len(shape)
    axes = tuple(i for i, n in enumerate(found) if i < extra or n != 1 and shape[i - extra] == 1)
    x_bar = x_bar.sum(axis=axes)
    return x_bar.reshape(shape) if shape else x_bar


def huber_grad(w, X, y, delta):
    """Gradient of huber (huber.py:8) with respect to w."""
    t = X @ w - y
    r = np.abs(t)
    t_1 = r <= delta
    t_2 = 0.5 * r**2
    t_3 = delta * (r - 0.5 * delta)

    # return np.mean(np.where(r <= delta, 0.5 * r**2, delta * (r - 0.5 * delta)))
    where_t_bar = np.broadcast_to(1.0 / r.size, r.shape)
    w_bar = X.T @ (
        (
            delta * unbroadcast(np.where(t_1, 0.0, where_t_bar), np.shape(t_3))
            + unbroadcast(np.where(t_1, where_t_bar, 0.0), np.shape(t_2)) * r
        )
        * np.sign(t)
    )
    return w_bar
