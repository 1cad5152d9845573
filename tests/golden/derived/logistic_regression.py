import numpy as np


def logistic_regression_value_and_grad(w, b, X, y, decay):
    """Value and gradient of logistic_regression (logistic_regression.py) with respect to w and b.
    """
    z = X @ w + b
    exp_t = np.exp(-z)
    p = 1.0 / (1.0 + exp_t)
    t = 1.0 - y
    t_1 = 1.0 - p
    likelihood = y * np.log(p) + t * np.log(t_1)
    value = -np.mean(likelihood) + decay * np.sum(w**2)

    # return -np.mean(likelihood) + decay * np.sum(w**2)
    w_bar = 2.0 * decay * w
    likelihood_bar = np.broadcast_to(-1.0 / likelihood.size, likelihood.shape)
    # likelihood = y * np.log(p) + (1.0 - y) * np.log(1.0 - p)
    z_bar = (likelihood_bar * y / p - likelihood_bar * t / t_1) * p * p * exp_t
    # z = X @ w + b
    b_bar = np.sum(z_bar)
    w_bar += X.T @ z_bar
    return value, (w_bar, b_bar)
