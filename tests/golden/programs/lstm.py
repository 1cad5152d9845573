"""An LSTM over a sequence, its states filled into arrays, a row per step."""

import numpy as np

WRT = (0, 1, 2)
ORACLE = "differences"


def lstm(W, U, b, xs, ys):
    n = U.shape[1]
    hs = np.zeros((len(xs) + 1, n))
    cs = np.zeros((len(xs) + 1, n))
    for t in range(len(xs)):
        z = W @ xs[t] + U @ hs[t] + b
        i = 1.0 / (1.0 + np.exp(-z[:n]))
        f = 1.0 / (1.0 + np.exp(-z[n : 2 * n]))
        o = 1.0 / (1.0 + np.exp(-z[2 * n : 3 * n]))
        cs[t + 1] = f * cs[t] + i * np.tanh(z[3 * n :])
        hs[t + 1] = o * np.tanh(cs[t + 1])
    return np.mean((hs[1:] - ys) ** 2)


def arguments():
    rng = np.random.default_rng(3)
    normal = rng.standard_normal
    return normal((8, 3)), normal((8, 2)), normal(8), normal((5, 3)), normal((5, 2))
