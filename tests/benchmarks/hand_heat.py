"""The derivative of the loss in examples/heat.py, by hand: linear steps, so nothing is kept."""

import numpy as np


def simulate(start, alpha, steps):
    """The temperatures after so many steps of explicit diffusion."""
    T = start.copy()
    for _ in range(steps):
        Tn = T.copy()
        T[1:-1, 1:-1] = Tn[1:-1, 1:-1] + alpha * (
            Tn[2:, 1:-1] + Tn[:-2, 1:-1] + Tn[1:-1, 2:] + Tn[1:-1, :-2] - 4.0 * Tn[1:-1, 1:-1]
        )
        T[0, :] = T[1, :]
        T[-1, :] = T[-2, :]
        T[:, 0] = T[:, 1]
        T[:, -1] = T[:, -2]
    return T


def simulate_reverse(alpha, steps, T_bar):
    """Cotangent of simulate's start; T_bar is used up."""
    for _ in range(steps):
        # T[:, -1] = T[:, -2]
        T_bar[:, -2] += T_bar[:, -1]
        T_bar[:, -1] = 0.0
        # T[:, 0] = T[:, 1]
        T_bar[:, 1] += T_bar[:, 0]
        T_bar[:, 0] = 0.0
        # T[-1, :] = T[-2, :]
        T_bar[-2, :] += T_bar[-1, :]
        T_bar[-1, :] = 0.0
        # T[0, :] = T[1, :]
        T_bar[1, :] += T_bar[0, :]
        T_bar[0, :] = 0.0
        # T[1:-1, 1:-1] = ..., from Tn = T.copy()
        t_bar = alpha * T_bar[1:-1, 1:-1]
        T_bar[1:-1, 1:-1] -= 4.0 * t_bar
        T_bar[1:-1, :-2] += t_bar
        T_bar[1:-1, 2:] += t_bar
        T_bar[:-2, 1:-1] += t_bar
        T_bar[2:, 1:-1] += t_bar
    return T_bar


def loss_value_and_grad(x, final, alpha, steps, weight):
    """Value of loss (heat.py:30) and its gradient with respect to x."""
    start = x.reshape(final.shape)
    misfit = simulate(start, alpha, steps) - final
    down = start[1:, :] - start[:-1, :]
    across = start[:, 1:] - start[:, :-1]
    value = np.mean(misfit**2) + weight * (np.mean(down**2) + np.mean(across**2))

    start_bar = simulate_reverse(alpha, steps, 2.0 / misfit.size * misfit)
    across_bar = 2.0 * weight / across.size * across
    start_bar[:, :-1] -= across_bar
    start_bar[:, 1:] += across_bar
    down_bar = 2.0 * weight / down.size * down
    start_bar[:-1, :] -= down_bar
    start_bar[1:, :] += down_bar
    return value, start_bar.reshape(x.shape)
