"""A recurrent network that keeps its states in a list and reads them all at the end."""

import numpy as np

WRT = (0, 1)


def rnn_states(W, U, xs, targets):
    h = np.zeros(W.shape[0])
    states = []
    for x in xs:
        h = np.tanh(W @ h + U @ x)
        states.append(h)
    loss = 0.0
    for state, target in zip(states, targets):
        loss += np.sum((state - target) ** 2)
    return loss


def arguments():
    normal = np.random.default_rng(2).standard_normal
    return 0.3 * normal((3, 3)), normal((3, 2)), normal((4, 2)), normal((4, 3))
