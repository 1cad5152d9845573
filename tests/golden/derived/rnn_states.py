import numpy as np


def zeros_like(x):
    """Return zeros in x's structure; None for what carries no derivative."""
    if isinstance(x, float | complex | np.inexact):
        return type(x)(0.0)
    if hasattr(type(x), "dtype"):
        return np.zeros_like(x) if x.dtype.kind in "fc" else None
    if isinstance(x, list):
        return [zeros_like(part) for part in x]
    if isinstance(x, tuple):
        parts = [zeros_like(part) for part in x]
        return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
    if isinstance(x, dict):
        zeros = x.copy()
        for key in x:
            zeros[key] = zeros_like(x[key])
        return zeros
    if isinstance(x, type) or type(x).__module__ == "builtins":
        return None
    if callable(x) and not hasattr(type(x).__call__, "__code__"):
        return None
    names = x.__dict__ if hasattr(x, "__dict__") else getattr(x, "__dataclass_fields__", None)
    if names is None:
        return None
    zeros = object.__new__(type(x))
    for name in names:
        object.__setattr__(zeros, name, zeros_like(getattr(x, name)))
    return zeros


def rnn_states_grad(W, U, xs, targets):
    """Gradient of rnn_states (rnn_states.py:8) with respect to W and U."""
    h = np.zeros(W.shape[0])
    states = []
    saved = []
    for x in xs:
        saved.append(h)
        h = np.tanh(W @ h + U @ x)
        states.append(h)
    saved_1 = []
    for state, target in zip(states, targets):
        t = state - target
        saved_1.append((t, t**2))

    # return loss
    states_bar = zeros_like(states)
    for i_1 in range(min(len(states), len(targets)) - 1, -1, -1):
        t, t_1 = saved_1.pop()
        # loss += np.sum((state - target) ** 2)
        states_bar[i_1] += 2.0 * np.broadcast_to(1.0, t_1.shape) * t
    U_bar = np.zeros_like(U)
    W_bar = np.zeros_like(W)
    h_bar = np.zeros_like(h)
    for i in range(len(xs) - 1, -1, -1):
        x = xs[i]
        # states.append(h)
        h_bar += states_bar.pop()
        # h = np.tanh(W @ h + U @ x)
        t_bar = h_bar * (1.0 - h * h)
        h = saved.pop()
        U_bar += np.outer(t_bar, x)
        W_bar += np.outer(t_bar, h)
        h_bar = W.T @ t_bar
    return W_bar, U_bar
