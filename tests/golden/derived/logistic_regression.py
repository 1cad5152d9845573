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

    # return -np.mean(likelihood) + decay * np.sum(w**2)
    w_bar = 2.0 * decay * w
    t_2 = -1.0 / likelihood.size
    # likelihood = y * np.log(p) + (1.0 - y) * np.log(1.0 - p)
    p_bar = -t_2 * t / t_1
    p_bar += t_2 * y / p
    # p = 1.0 / (1.0 + np.exp(-z))
    t = p_bar * p * p * exp_t
    # z = X @ w + b
    w_bar += X.T @ t
    return -np.mean(likelihood) + decay * np.sum(w**2), (w_bar, np.sum(t))
