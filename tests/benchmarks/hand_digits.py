"""The derivative of the loss in examples/digits.py, by hand.

The largest score of a row cancels from logsumexp; its derivative is the softmax.
"""

import numpy as np


def loss_value_and_grad(params, X, y):
    """Value of loss (digits.py:33) and its gradient with respect to params."""
    hidden = X
    saved = []
    for layer in params[:-1]:
        saved.append(hidden)
        hidden = np.tanh(hidden @ layer["W"] + layer["b"])
    last = params[-1]
    scores = hidden @ last["W"] + last["b"]
    top = np.max(scores, axis=1, keepdims=True)
    exponentials = np.exp(scores - top)
    sums = np.sum(exponentials, axis=1)
    rows = np.arange(len(y))
    value = np.mean(top[:, 0] + np.log(sums) - scores[rows, y])

    # return np.mean(logsumexp(scores) - scores[np.arange(len(y)), y])
    scores_bar = exponentials / (len(y) * sums)[:, None]
    scores_bar[rows, y] -= 1.0 / len(y)
    # scores = hidden @ last["W"] + last["b"]
    params_bar = [{"W": hidden.T @ scores_bar, "b": np.sum(scores_bar, axis=0)}]
    hidden_bar = scores_bar @ last["W"].T
    for i in range(len(params) - 2, -1, -1):
        # hidden = np.tanh(hidden @ layer["W"] + layer["b"])
        t_bar = hidden_bar * (1.0 - hidden * hidden)
        hidden = saved.pop()
        params_bar.append({"W": hidden.T @ t_bar, "b": np.sum(t_bar, axis=0)})
        if i > 0:
            hidden_bar = t_bar @ params[i]["W"].T
    params_bar.reverse()
    return value, params_bar
