"""A scalar Kalman filter: minus the log-likelihood of what was observed."""

import math

import numpy as np

WRT = (0, 1, 2)


def kalman(a, q, r, observed):
    m, p = 0.0, 1.0
    nll = 0.0
    for y in observed:
        m, p = a * m, a * a * p + q
        s = p + r
        gain = p / s
        residual = y - m
        nll += 0.5 * (math.log(2.0 * math.pi * s) + residual**2 / s)
        m += gain * residual
        p *= 1.0 - gain
    return nll


def arguments():
    return 0.9, 0.2, 0.5, np.array([0.3, 0.7, -0.2, 0.4, 1.1])
