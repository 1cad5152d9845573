"""The classical Runge-Kutta method for any right-hand side, here a pendulum with friction."""

import numpy as np

WRT = (1, 2)


def pendulum(y, damping):
    return np.array([y[1], -np.sin(y[0]) - damping * y[1]])


def rk4(rhs, y, damping, dt, steps):
    for _ in range(steps):
        k1 = rhs(y, damping)
        k2 = rhs(y + 0.5 * dt * k1, damping)
        k3 = rhs(y + 0.5 * dt * k2, damping)
        k4 = rhs(y + dt * k3, damping)
        y = y + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return y[0]


def arguments():
    return pendulum, np.array([0.4, 0.1]), 0.2, 0.1, 7
