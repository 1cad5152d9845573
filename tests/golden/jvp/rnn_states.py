import numpy as np


def rnn_states_jvp(W, U, xs, targets, W_dot, U_dot):
    """Value and tangent of rnn_states (rnn_states.py), given the tangents of W and U."""
    h = np.zeros(W.shape[0])
    h_dot = np.zeros_like(h)
    states = []
    states_dot = []
    for x in xs:
        t_dot = W_dot @ h + W @ h_dot + U_dot @ x
        h = np.tanh(W @ h + U @ x)
        h_dot = t_dot * (1.0 - h * h)
        states.append(h)
        states_dot.append(h_dot)
    loss = 0.0
    loss_dot = 0.0
    for state, target, state_dot in zip(states, targets, states_dot):
        t = state - target
        loss += np.sum(t**2)
        loss_dot = loss_dot + 2.0 * np.dot(state_dot, t)
    return loss, loss_dot
