"""An echo: a ring buffer holds the last samples."""

import numpy as np

WRT = (0, 1)
ORACLE = "differences"


def ring_buffer(x, gain, delay):
    ring = np.zeros(delay)
    energy = 0.0
    for i in range(len(x)):
        k = i % delay
        y = x[i] + gain * ring[k]
        ring[k] = y
        energy += y**2
    return energy


def arguments():
    return np.random.default_rng(3).standard_normal(8), 0.6, 3
