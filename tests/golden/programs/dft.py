"""One amplitude of a discrete Fourier transform, by its definition."""

import math

import numpy as np

WRT = (0,)


def dft(signal, k):
    real = imaginary = 0.0
    n = len(signal)
    for t, s in enumerate(signal):
        angle = 2.0 * math.pi * k * t / n
        real += s * math.cos(angle)
        imaginary -= s * math.sin(angle)
    return math.sqrt(real**2 + imaginary**2)


def arguments():
    return np.array([0.3, 1.2, -0.7, 0.4, 0.9, -1.1]), 2
