import numpy as np


def huber_grad(w, X, y, delta):
    """Gradient of huber (huber.py) with respect to w."""
    t = X @ w - y
    r = np.abs(t)
    t_1 = r <= delta

    # return np.mean(np.where(r <= delta, 0.5 * r**2, delta * (r - 0.5 * delta)))
    where_t_bar = np.broadcast_to(1.0 / r.size, r.shape)
    r_bar = delta * np.where(t_1, 0.0, where_t_bar)
    r_bar += np.where(t_1, where_t_bar, 0.0) * r
    return X.T @ (r_bar * np.sign(t))
