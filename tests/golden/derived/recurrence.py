import numpy as np


def rnn_grad(W, b, xs):
    """Gradient of rnn (recurrence.py) with respect to W and b."""
    h = np.zeros(W.shape[0])
    saved = []
    for x in xs:
        saved.append(h)
        h = np.tanh(W @ h + x + b)

    # return np.sum(h * h)
    h_bar = 2.0 * h
    W_bar = np.zeros_like(W)
    b_bar = np.zeros_like(b)
    while saved:
        # h = np.tanh(W @ h + x + b)
        t_bar = h_bar * (1.0 - h * h)
        b_bar += t_bar
        h = saved.pop()
        h_bar = W.T @ t_bar
        W_bar += np.outer(t_bar, h)
    return W_bar, b_bar
