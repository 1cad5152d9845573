import numpy as np


def loss_value_and_grad(w, X, y, decay):
    """Value and gradient of loss (least_squares.py) with respect to w."""
    r = X @ w - y

    # return 0.5 * np.mean(r**2) + 0.5 * decay * np.dot(w, w)
    w_bar = decay * w
    # r = X @ w - y
    w_bar += X.T @ (r / r.size)
    return 0.5 * np.mean(r**2) + 0.5 * decay * np.dot(w, w), w_bar
