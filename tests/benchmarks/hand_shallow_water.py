"""The derivative of the loss in examples/shallow_water.py, by hand.

Kept per step: the velocities and the water, from which all else is cheap to have again.
"""

import numpy as np


def simulate_forward(depth, eta, rows, columns, dt, steps):
    """simulate, and what simulate_reverse reads."""
    eta = eta.copy()
    ny, nx = eta.shape
    u = np.zeros((ny, nx + 1))
    v = np.zeros((ny + 1, nx))
    flux_x = np.zeros((ny, nx + 1))
    flux_y = np.zeros((ny + 1, nx))
    records = np.zeros((steps, len(rows)))
    saved = []
    for t in range(steps):
        u[:, 1:-1] -= dt * (eta[:, 1:] - eta[:, :-1])
        v[1:-1, :] -= dt * (eta[1:, :] - eta[:-1, :])
        water = depth + eta
        saved.append((u[:, 1:-1].copy(), v[1:-1, :].copy(), water))
        flux_x[:, 1:-1] = 0.5 * u[:, 1:-1] * (water[:, 1:] + water[:, :-1])
        flux_y[1:-1, :] = 0.5 * v[1:-1, :] * (water[1:, :] + water[:-1, :])
        eta -= dt * (flux_x[:, 1:] - flux_x[:, :-1] + flux_y[1:, :] - flux_y[:-1, :])
        records[t] = eta[rows, columns]
    return records, saved


def simulate_reverse(saved, depth, rows, columns, dt, records_bar):
    """Cotangent of simulate's depth."""
    ny, nx = depth.shape
    depth_bar = np.zeros_like(depth)
    eta_bar = np.zeros_like(depth)
    u_bar = np.zeros((ny, nx - 1))
    v_bar = np.zeros((ny - 1, nx))
    for t in range(len(saved) - 1, -1, -1):
        u, v, water = saved.pop()
        # records[t] = eta[rows, columns]
        np.add.at(eta_bar, (rows, columns), records_bar[t])
        # eta -= dt * (flux_x[:, 1:] - flux_x[:, :-1] + flux_y[1:, :] - flux_y[:-1, :])
        flux_x_bar = dt * (eta_bar[:, 1:] - eta_bar[:, :-1])
        flux_y_bar = dt * (eta_bar[1:, :] - eta_bar[:-1, :])
        # flux_y[1:-1, :] = 0.5 * v[1:-1, :] * (water[1:, :] + water[:-1, :])
        water_bar = np.zeros_like(water)
        v_bar += 0.5 * flux_y_bar * (water[1:, :] + water[:-1, :])
        t_bar = 0.5 * flux_y_bar * v
        water_bar[1:, :] += t_bar
        water_bar[:-1, :] += t_bar
        # flux_x[:, 1:-1] = 0.5 * u[:, 1:-1] * (water[:, 1:] + water[:, :-1])
        u_bar += 0.5 * flux_x_bar * (water[:, 1:] + water[:, :-1])
        t_bar = 0.5 * flux_x_bar * u
        water_bar[:, 1:] += t_bar
        water_bar[:, :-1] += t_bar
        # water = depth + eta
        depth_bar += water_bar
        eta_bar += water_bar
        # v[1:-1, :] -= dt * (eta[1:, :] - eta[:-1, :])
        t_bar = dt * v_bar
        eta_bar[1:, :] -= t_bar
        eta_bar[:-1, :] += t_bar
        # u[:, 1:-1] -= dt * (eta[:, 1:] - eta[:, :-1])
        t_bar = dt * u_bar
        eta_bar[:, 1:] -= t_bar
        eta_bar[:, :-1] += t_bar
    return depth_bar


def loss_value_and_grad(x, eta, seen, rows, columns, dt, steps):
    """Value of loss (shallow_water.py:37) and its gradient with respect to x."""
    depth = x.reshape(eta.shape)
    records, saved = simulate_forward(depth, eta, rows, columns, dt, steps)
    misfit = records - seen
    scale = np.mean(seen**2)
    value = np.mean(misfit**2) / scale

    records_bar = 2.0 / (scale * misfit.size) * misfit
    depth_bar = simulate_reverse(saved, depth, rows, columns, dt, records_bar)
    return value, depth_bar.reshape(x.shape)
