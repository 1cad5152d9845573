import numpy as np


def log_sum_exp_grad(means, log_weights, data):
    """Gradient of log_sum_exp (log_sum_exp.py) with respect to means and log_weights."""
    saved = []
    for x in data:
        t = x - means
        terms = log_weights - 0.5 * t**2
        top = terms.max()
        exp_t = np.exp(terms - top)
        saved.append((np.sum(exp_t), exp_t, t))

    means_bar = np.zeros_like(means)
    log_weights_bar = np.zeros_like(log_weights)
    while saved:
        sum_exp_t, exp_t, t = saved.pop()
        # total += top + np.log(np.sum(np.exp(terms - top)))
        terms_bar = exp_t / sum_exp_t
        # terms = log_weights - 0.5 * (x - means) ** 2
        log_weights_bar += terms_bar
        means_bar += terms_bar * t
    return means_bar, log_weights_bar
