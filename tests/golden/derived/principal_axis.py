import numpy as np


def principal_axis_vjp(w, X):
    """Value and pullback of principal_axis (principal_axis.py) with respect to w."""
    w_0 = w.copy(order="K")
    norm_w = np.linalg.norm(w_0)
    w = w_0 / norm_w
    X = X - X.mean(axis=0)
    t = X @ w
    left = X - np.outer(t, w)
    np_inf = np.inf

    def pullback(value_bar):
        # left = X - np.outer(X @ w, w)
        outer_t_bar = -2.0 * value_bar / X.shape[0] * left
        w_bar = t @ outer_t_bar
        w_bar += X.T @ (outer_t_bar @ w)
        # w = w / np.linalg.norm(w)
        w_bar_1 = w_bar / norm_w
        w_bar_1 -= np.sum(w_bar * w) / norm_w / np.where(norm_w == 0, np_inf, norm_w) * w_0
        return w_bar_1

    return np.sum(left * left) / X.shape[0], pullback
