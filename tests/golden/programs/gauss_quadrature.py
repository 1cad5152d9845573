"""Gauss-Legendre quadrature of a closure."""

import numpy as np

WRT = (0, 1)

NODES = (-0.7745966692414834, 0.0, 0.7745966692414834)
WEIGHTS = (5.0 / 9.0, 8.0 / 9.0, 5.0 / 9.0)


def gauss_quadrature(rate, end):
    def integrand(t):
        return np.exp(-rate * t) * np.sin(t)

    half = 0.5 * end
    total = 0.0
    for node, weight in zip(NODES, WEIGHTS):
        total += weight * integrand(half * (node + 1.0))
    return half * total


def arguments():
    return 0.7, 2.0
