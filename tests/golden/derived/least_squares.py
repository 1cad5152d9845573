import numpy as np


def loss_value_and_grad(w, X, y, decay):
    """Value and gradient of loss (least_squares.py) with respect to w."""
    r = X @ w - y
    value = 0.5 * np.mean(r**2) + 0.5 * decay * np.dot(w, w)

    # return 0.5 * np.mean(r**2) + 0.5 * decay * np.dot(w, w)
    w_bar = decay * w + X.T @ (r / r.size)
    return value, w_bar
