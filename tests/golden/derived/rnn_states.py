import numpy as np


def rnn_states_grad(W, U, xs, targets):
    """Gradient of rnn_states (rnn_states.py) with respect to W and U."""
    h = np.zeros(W.shape[0])
    states = []
    saved = []
    for x in xs:
        saved.append(h)
        h = np.tanh(W @ h + U @ x)
        states.append(h)
    saved_1 = []
    for t, (state, target) in enumerate(zip(states, targets)):
        saved_1.append((state - target, t))

    states_bar = [np.zeros_like(t_1) for t_1 in states]
    while saved_1:
        t_2, t_3 = saved_1.pop()
        states_bar[t_3] += np.broadcast_to(1.0, t_2.shape) * (2.0 * t_2)
    h_bar = np.zeros_like(h)
    W_bar = np.zeros_like(W)
    U_bar = np.zeros_like(U)
    for i in range(len(xs) - 1, -1, -1):
        # states.append(h)
        h_bar += states_bar.pop()
        # h = np.tanh(W @ h + U @ x)
        t_bar = h_bar * (1.0 - h * h)
        x = xs[i]
        U_bar += np.outer(t_bar, x)
        h = saved.pop()
        h_bar = W.T @ t_bar
        W_bar += np.outer(t_bar, h)
    return W_bar, U_bar
