import numpy as np


def principal_axis_vjp(w, X):
    """Value and pullback of principal_axis (principal_axis.py) with respect to w."""
    w = w.copy()
    X = X.copy(order="K")
    norm_w = np.linalg.norm(w)
    w_0 = w
    w = w / norm_w
    X = X - X.mean(axis=0)
    t = X @ w
    left = X - np.outer(t, w)
    X_shape_item = X.shape[0]
    value = np.sum(left * left) / X_shape_item

    def pullback(value_bar):
        # return np.sum(left * left) / X.shape[0]
        outer_t_bar = -2.0 * value_bar / X_shape_item * left
        # left = X - np.outer(X @ w, w)
        w_bar = t @ outer_t_bar + X.T @ (outer_t_bar @ w)
        # w = w / np.linalg.norm(w)
        w_bar = w_bar / norm_w - np.sum(w_bar * w) / norm_w * np.conj(w_0) / np.where(
            norm_w == 0, np.inf, norm_w
        )
        return w_bar

    return value, pullback
