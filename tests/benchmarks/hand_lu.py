"""The derivative of the loss in examples/lu.py, by hand: through the loops, as they stand."""

import numpy as np


def solve_forward(A, b):
    """solve, and what solve_reverse reads."""
    A = A.copy()
    x = b.copy()
    n = len(x)
    saved = []
    for k in range(n):
        p = k + np.argmax(np.abs(A[k:, k]))
        if p != k:
            A[[k, p]] = A[[p, k]]
            x[[k, p]] = x[[p, k]]
        for i in range(k + 1, n):
            A_ik = A[i, k]
            A[i, k] /= A[k, k]
            saved.append((A_ik, A[i, k + 1 :].copy(), x[i]))
            A[i, k + 1 :] -= A[i, k] * A[k, k + 1 :]
            x[i] -= A[i, k] * x[k]
        saved.append(p)
    saved_x = []
    for i in range(n - 1, -1, -1):
        t = x[i] - A[i, i + 1 :] @ x[i + 1 :]
        saved_x.append((x[i], t))
        x[i] = t / A[i, i]
    return x.copy(), (A, x, saved, saved_x)


def solve_reverse(kept, x_bar):
    """Cotangent of solve's A; x_bar is used up."""
    A, x, saved, saved_x = kept
    n = len(x)
    A_bar = np.zeros_like(A)
    for i in range(n):
        # x[i] = (x[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
        x_i, t = saved_x.pop()
        x[i] = x_i
        t_bar = x_bar[i] / A[i, i]
        A_bar[i, i] -= t_bar * t / A[i, i]
        A_bar[i, i + 1 :] -= t_bar * x[i + 1 :]
        x_bar[i + 1 :] -= t_bar * A[i, i + 1 :]
        x_bar[i] = t_bar
    for k in range(n - 1, -1, -1):
        p = saved.pop()
        for i in range(n - 1, k, -1):
            A_ik, row, x_i = saved.pop()
            # x[i] -= A[i, k] * x[k]
            x[i] = x_i
            A_bar[i, k] -= x_bar[i] * x[k]
            x_bar[k] -= x_bar[i] * A[i, k]
            # A[i, k + 1 :] -= A[i, k] * A[k, k + 1 :]
            A[i, k + 1 :] = row
            row_bar = A_bar[i, k + 1 :]
            A_bar[k, k + 1 :] -= A[i, k] * row_bar
            A_bar[i, k] -= np.dot(row_bar, A[k, k + 1 :])
            # A[i, k] /= A[k, k]
            A_bar[k, k] -= A_bar[i, k] * A[i, k] / A[k, k]
            A[i, k] = A_ik
            A_bar[i, k] /= A[k, k]
        if p != k:
            # x[[k, p]] = x[[p, k]]
            x[[k, p]] = x[[p, k]]
            x_bar[[k, p]] = x_bar[[p, k]]
            # A[[k, p]] = A[[p, k]]
            A[[k, p]] = A[[p, k]]
            A_bar[[k, p]] = A_bar[[p, k]]
    return A_bar


def network(conductance, edges, n):
    """The matrix of a network of resistors; node 0 is held to ground by a resistor of its own."""
    G = np.zeros((n, n))
    G[0, 0] = 1.0
    for e in range(len(edges)):
        i, j = edges[e]
        g = conductance[e]
        G[i, i] += g
        G[j, j] += g
        G[i, j] -= g
        G[j, i] -= g
    return G


def network_reverse(edges, G_bar):
    """Cotangent of network's conductance."""
    conductance_bar = np.zeros(len(edges))
    for e in range(len(edges) - 1, -1, -1):
        i, j = edges[e]
        conductance_bar[e] = G_bar[i, i] + G_bar[j, j] - G_bar[i, j] - G_bar[j, i]
    return conductance_bar


def loss_value_and_grad(logs, edges, currents, measured):
    """Value of loss (lu.py:45) and its gradient with respect to logs."""
    conductance = np.exp(logs)
    G = network(conductance, edges, currents.shape[1])
    total = 0.0
    saved = []
    for current, seen in zip(currents, measured, strict=True):
        x, kept = solve_forward(G, current)
        misfit = x - seen
        total += np.mean(misfit**2)
        saved.append((kept, misfit))
    value = total / len(currents)

    G_bar = np.zeros_like(G)
    while saved:
        kept, misfit = saved.pop()
        G_bar += solve_reverse(kept, 2.0 / (len(currents) * misfit.size) * misfit)
    return value, network_reverse(edges, G_bar) * conductance
